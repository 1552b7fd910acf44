//! Stores pairs of texts in the order of the input, for training that depends on this order. Each distinct text is
//! stored once.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::ops::Range;

use polytok_memory::{self as memory, Collect, Copied, Grow, GrowMap};

use super::entry::WordEntry;
use super::runs::{WordReader, WordWriter, push_number};
use crate::error::{Error, Result};

/// The number of bytes that each distinct text takes in addition to its own bytes: slots in a growing table, and the
/// overhead of an allocation.
const TEXT_OVERHEAD: usize = 96;

/// Pairs of texts in the order of the input.
#[derive(Default)]
pub struct Sequence {
    numbers: HashMap<Box<[u8]>, u32>,
    pairs: Vec<[u32; 2]>,
    bytes: usize,
}

impl Sequence {
    /// Appends a pair.
    pub fn push(&mut self, pair: [&[u8]; 2]) -> Result<()> {
        let numbers = [self.number(pair[0])?, self.number(pair[1])?];
        self.pairs.checked_push(numbers);
        Ok(())
    }

    fn number(&mut self, text: &[u8]) -> Result<u32> {
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let overflow = |_| {
            Error::Argument(
                "the sentences have more than 2^32 distinct last words; train on a sample of the text \
                 (input_sentence_size)"
                    .into(),
            )
        };
        let next = u32::try_from(self.numbers.len()).map_err(overflow)?;
        self.numbers.checked_insert(text.checked_to_vec().into(), next);
        self.bytes += TEXT_OVERHEAD + text.len();
        Ok(next)
    }

    /// Returns the number of bytes of memory that a new pair takes. One text of the pair is `text`; the other text is
    /// stored already.
    pub fn bytes_of_new_pair(&self, text: &[u8]) -> usize {
        let new_text_bytes = if self.numbers.contains_key(text) { 0 } else { TEXT_OVERHEAD + text.len() };
        size_of::<[u32; 2]>() + new_text_bytes
    }

    /// Returns the number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Reports whether the sequence has no pairs.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Estimates the number of bytes of memory; the estimate does not exceed the true size.
    pub fn memory(&self) -> usize {
        self.bytes + size_of::<[u32; 2]>() * self.pairs.len()
    }

    /// Returns all pairs in order.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = [&[u8]; 2]> + ExactSizeIterator {
        let texts = self.texts();
        self.pairs.iter().map(move |pair| pair.map(|number| texts[number as usize]))
    }

    /// Returns the distinct texts, in the order of their numbers.
    fn texts(&self) -> Vec<&[u8]> {
        let mut texts = memory::filled(&[][..], self.numbers.len());
        self.numbers.iter().for_each(|(text, number)| texts[*number as usize] = text);
        texts
    }

    /// Concatenates slices of several sequences. A slice consists of the index of a sequence and a range of pairs of
    /// this sequence.
    pub fn concat(parts: &[Sequence], slices: impl IntoIterator<Item = (usize, Range<usize>)>) -> Result<Sequence> {
        let texts: Vec<Vec<&[u8]>> = parts.iter().map(Sequence::texts).checked_collect();
        let mut new_numbers: Vec<Vec<Option<u32>>> =
            texts.iter().map(|texts| memory::filled(None, texts.len())).checked_collect();
        let mut joined = Sequence::default();
        for (part, range) in slices {
            for pair in &parts[part].pairs[range] {
                let mut numbers = [0; 2];
                for (number, old) in numbers.iter_mut().zip(pair.map(|old| old as usize)) {
                    *number = match new_numbers[part][old] {
                        Some(number) => number,
                        None => *new_numbers[part][old].insert(joined.number(texts[part][old])?),
                    };
                }
                joined.pairs.checked_push(numbers);
            }
        }
        Ok(joined)
    }

    /// Writes the distinct texts (encoded as words), the number of pairs, and, for each pair, the numbers of its texts.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut writer = WordWriter::new(&mut *out);
        for text in self.texts() {
            writer.push(text, WordEntry { count: 0, ordinal: 0 })?;
        }
        writer.end()?;
        let mut numbers = Vec::new();
        push_number(&mut numbers, self.pairs.len() as u64);
        for number in self.pairs.as_flattened() {
            if numbers.len() >= 1 << 12 {
                out.write_all(&numbers)?;
                numbers.clear();
            }
            push_number(&mut numbers, u64::from(*number));
        }
        out.write_all(&numbers)
    }

    /// Reads pairs from a file and appends them. Returns an error if this sequence then takes more than `limit` bytes.
    pub(super) fn read(&mut self, file: &mut impl Read, limit: usize) -> Result<()> {
        let mut reader = WordReader::new(file);
        let mut new_numbers = Vec::new();
        while reader.next().map_err(super::saved::read_error)?.is_some() {
            new_numbers.checked_push(self.number(&reader.word)?);
            self.check(limit)?;
        }
        let mut number = || reader.number().map_err(super::saved::read_error);
        for _ in 0..number()? {
            let mut pair = [0; 2];
            for new in &mut pair {
                let old_number = usize::try_from(number()?).ok().and_then(|old_number| new_numbers.get(old_number));
                *new = *old_number.ok_or_else(|| super::saved::damage_error("a pair of its sequence has no text"))?;
            }
            self.pairs.checked_push(pair);
            self.check(limit)?;
        }
        Ok(())
    }

    fn check(&self, limit: usize) -> Result<()> {
        if self.memory() <= limit {
            return Ok(());
        }
        Err(Error::Argument("the sequence of sentences exceeds its share of max_memory; raise max_memory".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(pairs: &[[&str; 2]]) -> Sequence {
        let mut sequence = Sequence::default();
        pairs.iter().for_each(|pair| sequence.push(pair.map(str::as_bytes)).unwrap());
        sequence
    }

    fn list(sequence: &Sequence) -> Vec<[&str; 2]> {
        sequence.pairs().map(|pair| pair.map(|text| std::str::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn slices_are_concatenated() {
        let parts = [sequence(&[["a", "b"], ["", ""], ["c", "a"]]), sequence(&[["b", "b"]])];
        let all = Sequence::concat(&parts, [(0, 2..3), (1, 0..1), (0, 0..2)]).unwrap();
        assert_eq!(list(&all), [["c", "a"], ["b", "b"], ["a", "b"], ["", ""]]);
        assert_eq!((all.len(), all.numbers.len()), (4, 4));
    }

    #[test]
    fn reading_appends_the_pairs_of_a_file() {
        let mut file = Vec::new();
        sequence(&[["a", "b"], ["b", "é"]]).write(&mut file).unwrap();
        let mut all = sequence(&[["x", "b"]]);
        all.read(&mut &file[..], usize::MAX).unwrap();
        assert_eq!(list(&all), [["x", "b"], ["a", "b"], ["b", "é"]]);
        for end in 0..file.len() {
            assert!(Sequence::default().read(&mut &file[..end], usize::MAX).is_err());
        }
        assert!(Sequence::default().read(&mut &file[..], 50).is_err());
    }
}
