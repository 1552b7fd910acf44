//! Spans of tokens by way of their ids.
//!
//! Where the tokens of a text, side by side, are that text, nobody need carry spans through splitting and merging: the text is
//! encoded to ids as always, by the cache, and each token stands where the one before it ends. Every token's bytes are compared
//! with the text, so that text which no token spells (unknown characters, bytes' pieces, what no pattern matches) is noticed;
//! then the text is encoded anew, with spans.
//! Invariant: what is pushed is what encoding with spans pushes. Only models whose tokens cover no other text than their own bytes
//! take part. Cost: that of the ids, and a comparison for each; at worst both ways are gone.

use crate::post::Sink;
use crate::spec::Kind;
use crate::tokenizer::{Compiled, Scratch, Tokenizer};

/// Memory for one stretch of text.
#[derive(Default)]
pub struct TilingScratch {
    ids: Vec<u32>,
    /// Where each token ends.
    ends: Vec<u32>,
    /// Where pieces of the split start.
    words: Vec<u32>,
}

impl TilingScratch {
    /// Gives back what is larger than this many numbers.
    pub fn release(&mut self, kept: usize) {
        for buffer in [&mut self.ids, &mut self.ends, &mut self.words] {
            if buffer.capacity() > kept {
                *buffer = Vec::new();
            }
        }
    }
}

impl Tokenizer {
    /// Pushes the tokens of a normalized text with their spans; false, and nothing is pushed, if they must be found otherwise.
    pub(crate) fn encode_tiled<S: Sink>(&self, text: &[u8], scratch: &mut Scratch, sink: &mut S) -> bool {
        let may_tile = match &self.model {
            // How many words there are depends on the pieces that are matched beforehand.
            Compiled::Bpe(bpe, _) => bpe.covers_own_bytes() && !(self.splits.is_empty() && bpe.has_frozen()),
            Compiled::Unigram(_) | Compiled::Longest(_) => true,
            _ => false,
        };
        if !may_tile {
            return false;
        }
        let mut tiling = std::mem::take(&mut scratch.tiling);
        tiling.ids.clear();
        let tiles = self.encode_normalized(text, scratch, &mut tiling.ids).is_ok()
            && self.find_ends(text, &mut tiling)
            && self.find_words(text, &mut tiling);
        if tiles {
            tiling.push(sink);
        }
        scratch.tiling = tiling;
        tiles
    }

    /// Finds the end of each token; false if the tokens are not the text.
    fn find_ends(&self, text: &[u8], TilingScratch { ids, ends, .. }: &mut TilingScratch) -> bool {
        let is_spelled = |row: usize| matches!(self.vocab.kind(row), Kind::Normal | Kind::UserDefined);
        let mut at = 0;
        ends.clear();
        ends.reserve(ids.len());
        for &id in &*ids {
            let piece = self.vocab.row(id).filter(|&row| is_spelled(row)).map_or(&[][..], |row| self.vocab.bytes(row));
            if piece.is_empty() || !text[at..].starts_with(piece) {
                return false;
            }
            at += piece.len();
            ends.push(at as u32);
        }
        at == text.len()
    }

    /// Finds where words start; false if the text cannot be split.
    fn find_words(&self, text: &[u8], TilingScratch { words, .. }: &mut TilingScratch) -> bool {
        words.clear();
        if self.splits.is_empty() {
            words.push(0);
            return true;
        }
        let Ok(text) = std::str::from_utf8(text) else { return false };
        self.splits.split(text, |start, _| words.push(start as u32)).is_ok()
    }
}

impl TilingScratch {
    fn push<S: Sink>(&self, sink: &mut S) {
        let mut words = self.words.iter().peekable();
        let mut start = 0;
        for (&id, &end) in self.ids.iter().zip(&self.ends) {
            while words.next_if(|&&word| word <= start).is_some() {
                sink.begin_word();
            }
            sink.push(id, start, end);
            start = end;
        }
        words.for_each(|_| sink.begin_word());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::Result;
    use crate::native::tests::specs;
    use crate::normalize::output::Span;
    use crate::post::{Token, Tokens};
    use crate::spec::{Behavior, Pattern, SentencePieceNormalize, Spec, SpecialToken, Split, Unknown};
    use crate::tokenizer::EncodeOptions;

    /// The slow way.
    #[derive(Default)]
    struct Slow(Tokens);

    impl Sink for Slow {
        const SPANS: bool = true;

        fn begin_part(&mut self, at: u32, spans: Option<&[Span]>) {
            self.0.begin_part(at, spans);
        }

        fn begin_word(&mut self) {
            self.0.begin_word();
        }

        fn push(&mut self, id: u32, start: u32, end: u32) {
            self.0.push(id, start, end);
        }

        fn push_all(&mut self, ids: &[u32]) {
            self.0.push_all(ids);
        }

        fn push_unknown(&mut self, id: u32, text: &[u8], start: u32, end: u32) {
            self.0.push_unknown(id, text, start, end);
        }

        fn extend_unknown(&mut self, text: &[u8], start: u32, end: u32) {
            self.0.extend_unknown(text, start, end);
        }

        fn special(&mut self, id: u32, text: &[u8], start: u32, end: u32) {
            self.0.special(id, text, start, end);
        }
    }

    fn split(text: &str, behavior: Behavior) -> Vec<Split> {
        let pattern = Pattern { text: text.into(), is_regex: true, unicode: None };
        vec![Split::Pattern { pattern, behavior, invert: false }]
    }

    fn variants() -> Vec<Tokenizer> {
        let mut all = specs();
        let bytes = Spec { unknown: Unknown::Drop, ..all[0].clone() };
        all.push(Spec { split: split(r" ?\p{L}+|\s+|[^\s\p{L}]+", Behavior::Matches), ..bytes.clone() });
        all.push(Spec { split: split(r"[ab]+", Behavior::Matches), ..bytes.clone() });
        all.push(Spec { split: split(r"c", Behavior::Removed), ..bytes });
        let normalize = SentencePieceNormalize {
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            ..SentencePieceNormalize::default()
        };
        for kind in [1, 3] {
            all.push(Spec {
                normalize: vec![crate::spec::Normalize::SentencePiece(normalize.clone())],
                ..all[kind].clone()
            });
        }
        let special = |text: &str, id| SpecialToken { text: text.into(), id, always: true, ..SpecialToken::default() };
        all.iter_mut().for_each(|spec| spec.special = vec![special("[x]", 50)]);
        all.into_iter().map(|spec| Tokenizer::compile(spec).unwrap()).collect()
    }

    fn slow(tokenizer: &Tokenizer, text: &[u8]) -> Result<Vec<Token>> {
        let mut sink = Slow::default();
        tokenizer
            .with_scratch(|scratch| tokenizer.encode_plain(text, EncodeOptions::default(), scratch, &mut sink))
            .map(|()| sink.0.finish())
    }

    proptest! {
        #[test]
        fn tokens_are_those_of_the_slow_way(
            parts in proptest::collection::vec(
                prop_oneof![
                    6 => prop::sample::select(vec!["a", "b", "c", "ab", "abc", "\u{2581}", " ", "é", "caab"]),
                    1 => prop::sample::select(vec!["<unk>", "<s>", "[x]", "z", "😀", "\n", "  "]),
                ],
                0..40,
            ),
            broken in proptest::option::of(0..60usize),
        ) {
            let mut text = parts.concat().into_bytes();
            if let Some(byte) = broken.and_then(|at| text.get_mut(at)) {
                *byte = 0xE9;
            }
            for tokenizer in variants() {
                let found = tokenizer.plain_tokens(&text, EncodeOptions::default());
                let expected = slow(&tokenizer, &text);
                prop_assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(|error| error.to_string()));
            }
        }
    }
}
