//! Splits a text at special tokens in llama.cpp's order: the longest token first, wherever it is in the text, then the
//! next longest in the remaining parts.
//!
//! Reference: `tokenizer_st_partition` of llama.cpp. Tokens are searched for from the longest to the shortest; in
//! normalized text, these are the lengths of their normalized texts. Tokens
//! of equal length are searched for in the order of the vocabulary; the reference has no fixed order here, because its
//! sort is not stable. Each token splits the parts of the text that do not belong to longer tokens, from left to right.
//! The white space next to a token with `lstrip` or `rstrip` is dropped.
//!
//! The reference visits all parts of the text for each token, which is quadratic if a text has many different tokens.
//! Here one search lists the places of all tokens, and a set has the bytes that longer tokens have taken. The list is
//! limited, because tokens can overlap, such as runs of spaces of every length; the tokens that occur most often are
//! then searched for one by one. Cost: the length of the text and the number of places, and once more the length of the
//! text for each token that is searched for alone.

use std::cmp::Reverse;

use memchr::memmem;
use polytok_memory::{self as memory, Collect, Copied, Grow};

use super::TextPart;
use super::finder::SpecialFinder;
use crate::error::Result;
use crate::spec::SpecialToken;
use crate::token_id::TokenId;

/// The list of places has at most one place for this number of bytes of the text. Places that do not overlap are all
/// listed, except those of tokens of one byte.
const MIN_BYTES_PER_PLACE: usize = 2;

/// The maximum number of places in the list for a short text.
const MIN_LISTED_PLACES: usize = 64;

/// A place where a token occurs in a text: the index of the token and the offset of its first byte.
type Place = (usize, usize);

impl SpecialFinder {
    /// Calls `part` for every part of the text that is not empty, from left to right. A token from one offset to another
    /// counts only if `is_found` returns true.
    pub(super) fn partition(
        &self,
        text: &[u8],
        is_found: impl Fn(&SpecialToken, usize, usize) -> bool,
        part: impl FnMut(TextPart) -> Result<()>,
    ) -> Result<()> {
        let order = |index: usize| (Reverse(self.texts[index].len()), index);
        let (mut places, mut searched_tokens) = self.find_places(text);
        places.sort_unstable_by_key(|&(index, start)| (order(index), start));
        searched_tokens.sort_unstable_by_key(|&index| order(index));
        let mut places = places.into_iter().peekable();
        let taken = ByteFlags::new(text.len());
        let mut partition =
            Partition { finder: self, text, is_found, taken, next: (usize::MAX, 0), tokens: Vec::new() };
        for searched_index in searched_tokens {
            while let Some((index, start)) = places.next_if(|place| order(place.0) < order(searched_index)) {
                partition.take(index, start);
            }
            partition.take_everywhere(searched_index);
        }
        places.for_each(|(index, start)| _ = partition.take(index, start));
        partition.finish(part)
    }

    /// Returns the list of places, and the indices of the tokens whose places are not in the list.
    fn find_places(&self, text: &[u8]) -> (Vec<Place>, Vec<usize>) {
        let max_places = (text.len() / MIN_BYTES_PER_PLACE).max(MIN_LISTED_PLACES);
        let (mut places, mut searched_tokens, mut is_searched) = (Vec::new(), Vec::new(), Vec::new());
        for found in self.automaton.overlapping(text) {
            let index = found.index;
            // Normalization can leave nothing of a token's text.
            if found.is_empty() || is_searched.get(index) == Some(&true) {
                continue;
            }
            places.checked_push((index, found.start));
            if places.len() > max_places {
                is_searched.checked_resize(self.tokens.len(), false);
                for index in remove_most_frequent(&mut places, self.tokens.len()) {
                    is_searched[index] = true;
                    searched_tokens.checked_push(index);
                }
            }
        }
        (places, searched_tokens)
    }
}

/// Removes at least half of the places from a list: those of the tokens that have the most places. Returns the indices
/// of these tokens.
fn remove_most_frequent(places: &mut Vec<Place>, token_count: usize) -> Vec<usize> {
    let mut counts = memory::filled(0, token_count);
    places.iter().for_each(|&(index, _)| counts[index] += 1);
    let max_count = largest_listed_count(&counts, places.len() / 2);
    places.retain(|&(index, _)| counts[index] <= max_count);
    (0..token_count).filter(|&index| counts[index] > max_count).checked_collect()
}

/// Returns the largest count such that all tokens that have at most this number of places have at most `max_places`
/// places together.
fn largest_listed_count(counts: &[usize], max_places: usize) -> usize {
    let mut sorted_counts = counts.checked_to_vec();
    sorted_counts.sort_unstable();
    let mut total = 0;
    let first_searched = sorted_counts.into_iter().find(|count| {
        total += count;
        total > max_places
    });
    first_searched.map_or(usize::MAX, |count| count - 1)
}

/// The tokens that were found in a text so far.
struct Partition<'a, F> {
    finder: &'a SpecialFinder,
    text: &'a [u8],
    is_found: F,
    /// The bytes that belong to a token, or are the white space that a token drops.
    taken: ByteFlags,
    /// The last token that was tried, by its index, and the offset before which it cannot begin again.
    next: (usize, usize),
    tokens: Vec<FoundToken>,
}

/// A token in a text, and the range that it takes: the token and the white space that it drops.
struct FoundToken {
    id: TokenId,
    start: usize,
    end: usize,
    taken_start: usize,
    taken_end: usize,
}

impl<F: Fn(&SpecialToken, usize, usize) -> bool> Partition<'_, F> {
    /// Takes the token of an index that occurs at `start`, if the bytes of the token are free and the token is found
    /// there. Returns an offset before which the token cannot begin again.
    fn take(&mut self, index: usize, start: usize) -> usize {
        if index != self.next.0 || start >= self.next.1 {
            self.next = (index, self.try_take(index, start));
        }
        self.next.1
    }

    fn try_take(&mut self, index: usize, start: usize) -> usize {
        let token = &self.finder.tokens[index];
        let end = start + self.finder.texts[index].len();
        if let Some(taken_at) = self.taken.last_in(start, end) {
            return taken_at + 1;
        }
        if !(self.is_found)(token, start, end) {
            return start + 1;
        }
        let is_free_space = |at: &usize| is_space(self.text[*at]) && !self.taken.has(*at);
        let taken_start = start - (0..start).rev().take_while(|at| token.lstrip && is_free_space(at)).count();
        let taken_end = end + (end..self.text.len()).take_while(|at| token.rstrip && is_free_space(at)).count();
        self.taken.insert(taken_start, taken_end);
        self.tokens.checked_push(FoundToken { id: token.id, start, end, taken_start, taken_end });
        taken_end
    }

    /// Searches for a token in the whole text, and takes the token wherever that is possible.
    fn take_everywhere(&mut self, index: usize) {
        let finder = memmem::Finder::new(&self.finder.texts[index]);
        let mut from = 0;
        while let Some(distance) = self.text.get(from..).and_then(|rest| finder.find(rest)) {
            let next = self.take(index, from + distance);
            from = self.taken.next_free(next);
        }
    }

    /// Calls `part` for every part that is not empty.
    fn finish(mut self, mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        self.tokens.sort_unstable_by_key(|token| token.start);
        let mut at = 0;
        for token in &self.tokens {
            if at < token.taken_start {
                part(TextPart::Text(at, token.taken_start))?;
            }
            part(TextPart::Special(token.id, token.start, token.end))?;
            at = token.taken_end;
        }
        if at < self.text.len() { part(TextPart::Text(at, self.text.len())) } else { Ok(()) }
    }
}

/// Reports whether C's `isspace` accepts a byte.
fn is_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | b' ')
}

/// A flag for each byte of a text.
struct ByteFlags(Vec<u64>);

impl ByteFlags {
    fn new(len: usize) -> ByteFlags {
        ByteFlags(memory::zeroed(len / 64 + 1))
    }

    fn has(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    /// Sets the flags from `start` to `end`.
    fn insert(&mut self, start: usize, end: usize) {
        for (word, mask) in masks(start, end) {
            self.0[word] |= mask;
        }
    }

    /// Returns the last flag that is set from `start` to `end`.
    fn last_in(&self, start: usize, end: usize) -> Option<usize> {
        let set_bits = |(word, mask): (usize, u64)| Some((word, self.0[word] & mask)).filter(|(_, bits)| *bits != 0);
        masks(start, end).rev().find_map(set_bits).map(|(word, bits)| word * 64 + bits.ilog2() as usize)
    }

    /// Returns the first flag from `from` on that is not set; an offset after the text if there is none.
    fn next_free(&self, from: usize) -> usize {
        let free_bits =
            |word: usize| !self.0[word] & if word == from / 64 { u64::MAX << (from % 64) } else { u64::MAX };
        let word = (from / 64..self.0.len()).find(|&word| free_bits(word) != 0);
        word.map_or(self.0.len() * 64, |word| word * 64 + free_bits(word).trailing_zeros() as usize)
    }
}

/// Returns the words of the flags from `start` to `end`, each with a mask of these flags.
fn masks(start: usize, end: usize) -> impl DoubleEndedIterator<Item = (usize, u64)> {
    (start / 64..end.div_ceil(64)).map(move |word| {
        let first = start.max(word * 64) % 64;
        let count = end.min(word * 64 + 64) - start.max(word * 64);
        (word, u64::MAX >> (64 - count) << first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Matching;

    fn finder(tokens: Vec<SpecialToken>) -> SpecialFinder {
        let texts = tokens.iter().map(|token| token.text.clone()).collect();
        let tokens = tokens.into_iter().map(|token| (token, true)).collect();
        SpecialFinder::new(tokens, texts, Matching::LongestFirst).unwrap().unwrap()
    }

    fn token(id: u32, text: &str, strips: u32) -> SpecialToken {
        let (lstrip, rstrip) = (strips & 1 == 1, strips & 2 == 2);
        SpecialToken { text: text.into(), id: TokenId(id), lstrip, rstrip, ..SpecialToken::default() }
    }

    fn partition(finder: &SpecialFinder, text: &[u8], is_found: impl Fn(usize) -> bool) -> Vec<TextPart> {
        let mut parts = Vec::new();
        let collect_part = |part| {
            parts.push(part);
            Ok(())
        };
        finder.partition(text, |_, start, _| is_found(start), collect_part).unwrap();
        parts
    }

    /// The parts as the reference finds them: each token divides all parts of the text.
    fn partition_in_turn(tokens: &[SpecialToken], text: &[u8], is_found: impl Fn(usize) -> bool) -> Vec<TextPart> {
        let texts: Vec<Vec<u8>> = tokens.iter().map(|token| token.text.clone()).collect();
        partition_texts_in_turn(tokens, &texts, text, is_found)
    }

    fn partition_texts_in_turn(
        tokens: &[SpecialToken],
        texts: &[Vec<u8>],
        text: &[u8],
        is_found: impl Fn(usize) -> bool,
    ) -> Vec<TextPart> {
        let mut sorted_tokens: Vec<_> = tokens.iter().zip(texts).filter(|(_, text)| !text.is_empty()).collect();
        sorted_tokens.sort_by_key(|(_, text)| Reverse(text.len()));
        let mut parts = vec![TextPart::Text(0, text.len())];
        for (token, token_text) in sorted_tokens {
            let mut divided_parts = Vec::new();
            for part in parts {
                let TextPart::Text(mut at, end) = part else {
                    divided_parts.push(part);
                    continue;
                };
                let mut from = at;
                while let Some(distance) = memmem::find(&text[from..end], token_text) {
                    let (start, token_end) = (from + distance, from + distance + token_text.len());
                    if !is_found(start) {
                        from = start + 1;
                        continue;
                    }
                    let before =
                        text[at..start].iter().rev().take_while(|byte| token.lstrip && is_space(**byte)).count();
                    let after = text[token_end..end].iter().take_while(|byte| token.rstrip && is_space(**byte)).count();
                    divided_parts
                        .extend([TextPart::Text(at, start - before), TextPart::Special(token.id, start, token_end)]);
                    at = token_end + after;
                    from = at;
                }
                divided_parts.push(TextPart::Text(at, end));
            }
            parts = divided_parts;
        }
        parts.retain(|part| !matches!(part, TextPart::Text(start, end) if start == end));
        parts
    }

    proptest::proptest! {
        #[test]
        fn parts_are_those_of_the_reference(
            tokens in proptest::collection::vec(("[ab \n]{1,5}", 0..4u32), 1..8),
            text in "[ab \n]{0,300}",
            hidden in 1..7usize,
        ) {
            let tokens: Vec<_> = (0..).zip(&tokens).map(|(id, (text, strips))| token(id, text, *strips)).collect();
            let is_found = |start: usize| start % hidden != 1;
            let expected = partition_in_turn(&tokens, text.as_bytes(), is_found);
            proptest::prop_assert_eq!(partition(&finder(tokens), text.as_bytes(), is_found), expected);
        }

        #[test]
        fn tokens_have_the_length_of_their_normalized_texts(
            tokens in proptest::collection::vec(("[ab \n]{1,5}", "[ab \n]{0,5}", 0..4u32), 1..8),
            text in "[ab \n]{0,300}",
        ) {
            let (texts, strips): (Vec<_>, Vec<_>) =
                tokens.iter().map(|(_, text, strips)| (text.clone().into_bytes(), *strips)).unzip();
            let tokens: Vec<_> =
                (0..).zip(&tokens).zip(strips).map(|((id, (text, ..)), strips)| token(id, text, strips)).collect();
            let expected = partition_texts_in_turn(&tokens, &texts, text.as_bytes(), |_| true);
            let listed = tokens.into_iter().map(|token| (token, true)).collect();
            let finder = SpecialFinder::new(listed, texts, Matching::LongestFirst).unwrap().unwrap();
            proptest::prop_assert_eq!(partition(&finder, text.as_bytes(), |_| true), expected);
        }
    }

    /// Found by fuzzing: the length of the original text was used, beyond the end of the normalized text.
    #[test]
    fn a_token_has_the_length_of_its_normalized_text() {
        let tokens = vec![(token(1, "<A A>", 0), true), (token(2, "  ", 0), true)];
        let texts = vec![b"<a>".to_vec(), Vec::new()];
        let finder = SpecialFinder::new(tokens, texts, Matching::LongestFirst).unwrap().unwrap();
        let special = |start| TextPart::Special(TokenId(1), start, start + 3);
        assert_eq!(partition(&finder, b"<a>b<a>", |_| true), [special(0), TextPart::Text(3, 4), special(4)]);
        assert_eq!(
            partition(&finder, &b"<a>".repeat(99), |_| true),
            (0..99).map(|i| special(3 * i)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_text_of_many_different_tokens_has_a_place_for_each() {
        let texts: Vec<String> = (0..200_000).map(|number| format!("<{number}>")).collect();
        let finder = finder((0..).zip(&texts).map(|(id, text)| token(id, text, 0)).collect());
        let parts = partition(&finder, texts.concat().as_bytes(), |_| true);
        let ids = (0..).zip(&parts).all(|(id, part)| matches!(part, TextPart::Special(found, ..) if found.0 == id));
        assert!(parts.len() == texts.len() && ids);
    }

    #[test]
    fn tokens_that_occur_too_often_are_searched_for_alone() {
        let tokens: Vec<_> = (1..=31).map(|count| token(count, &"\n".repeat(count as usize), 0)).collect();
        let text = vec![b'\n'; 100_003];
        let finder = finder(tokens.clone());
        assert_eq!(finder.find_places(&text).1.len(), 31);
        assert_eq!(partition(&finder, &text, |_| true), partition_in_turn(&tokens, &text, |_| true));
    }
}
