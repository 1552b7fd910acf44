//! Pairs of texts in the order in which they were seen, for what counts alone cannot tell; each distinct text is held once.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::ops::Range;

use super::entry::Entry;
use super::runs::{WordReader, WordWriter, put_number};
use crate::error::{Error, Result};

/// Bytes for each distinct text besides its own: its slots in a table that grows, and what the heap takes.
const TEXT: usize = 96;

/// Pairs of texts, in their order.
#[derive(Default)]
pub struct Sequence {
    numbers: HashMap<Box<[u8]>, u32>,
    pairs: Vec<[u32; 2]>,
    bytes: usize,
}

impl Sequence {
    /// Adds a pair at the end.
    pub fn push(&mut self, pair: [&[u8]; 2]) -> Result<()> {
        let numbers = [self.number(pair[0])?, self.number(pair[1])?];
        self.pairs.push(numbers);
        Ok(())
    }

    fn number(&mut self, text: &[u8]) -> Result<u32> {
        if let Some(&number) = self.numbers.get(text) {
            return Ok(number);
        }
        let too_many = |_| Error::Argument("more than 2^32 distinct texts are to be held in their order".into());
        let next = u32::try_from(self.numbers.len()).map_err(too_many)?;
        self.numbers.insert(text.into(), next);
        self.bytes += TEXT + text.len();
        Ok(next)
    }

    /// Bytes that one more pair would take with this text, and one that is known.
    pub fn cost(&self, text: &[u8]) -> usize {
        let new = if self.numbers.contains_key(text) { 0 } else { TEXT + text.len() };
        size_of::<[u32; 2]>() + new
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Bytes taken, as of a part of them that is never too much.
    pub fn memory(&self) -> usize {
        self.bytes + size_of::<[u32; 2]>() * self.pairs.len()
    }

    /// All pairs, to be looked at in any order.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = [&[u8]; 2]> + ExactSizeIterator {
        let texts = self.texts();
        self.pairs.iter().map(move |pair| pair.map(|number| texts[number as usize]))
    }

    /// The distinct texts, by number.
    fn texts(&self) -> Vec<&[u8]> {
        let mut texts = vec![&[][..]; self.numbers.len()];
        self.numbers.iter().for_each(|(text, number)| texts[*number as usize] = text);
        texts
    }

    /// Stretches of several sequences, each of a number and a range, one behind the other.
    pub fn joined(parts: &[Sequence], stretches: impl IntoIterator<Item = (usize, Range<usize>)>) -> Result<Sequence> {
        let texts: Vec<Vec<&[u8]>> = parts.iter().map(Sequence::texts).collect();
        let mut known: Vec<Vec<Option<u32>>> = texts.iter().map(|texts| vec![None; texts.len()]).collect();
        let mut all = Sequence::default();
        for (part, range) in stretches {
            for pair in &parts[part].pairs[range] {
                let mut numbers = [0; 2];
                for (number, old) in numbers.iter_mut().zip(pair.map(|old| old as usize)) {
                    *number = match known[part][old] {
                        Some(number) => number,
                        None => *known[part][old].insert(all.number(texts[part][old])?),
                    };
                }
                all.pairs.push(numbers);
            }
        }
        Ok(all)
    }

    /// The distinct texts as words, how many pairs there are, and their numbers.
    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut writer = WordWriter::new(&mut *out);
        for text in self.texts() {
            writer.push(text, Entry { count: 0, ordinal: 0 })?;
        }
        writer.end()?;
        let mut numbers = Vec::new();
        put_number(&mut numbers, self.pairs.len() as u64);
        for number in self.pairs.as_flattened() {
            if numbers.len() >= 1 << 12 {
                out.write_all(&numbers)?;
                numbers.clear();
            }
            put_number(&mut numbers, u64::from(*number));
        }
        out.write_all(&numbers)
    }

    /// Adds what was written, behind all that is here; at most so many bytes in all.
    pub(super) fn read(&mut self, file: &mut impl Read, most: usize) -> Result<()> {
        let mut reader = WordReader::new(file);
        let mut renamed = Vec::new();
        while reader.next().map_err(super::saved::damaged)?.is_some() {
            renamed.push(self.number(&reader.word)?);
            self.check(most)?;
        }
        let mut number = || reader.number().map_err(super::saved::damaged);
        for _ in 0..number()? {
            let mut pair = [0; 2];
            for new in &mut pair {
                let old = usize::try_from(number()?).ok().and_then(|old| renamed.get(old));
                *new = *old.ok_or_else(|| super::saved::wrong("a text of its sequence is none that it has"))?;
            }
            self.pairs.push(pair);
            self.check(most)?;
        }
        Ok(())
    }

    fn check(&self, most: usize) -> Result<()> {
        if self.memory() <= most {
            return Ok(());
        }
        Err(Error::Argument("of each sentence some bytes are held in memory, and they take more than the part of max_memory that is theirs: raise it".into()))
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

    fn listed(sequence: &Sequence) -> Vec<[&str; 2]> {
        sequence.pairs().map(|pair| pair.map(|text| std::str::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn stretches_are_joined() {
        let parts = [sequence(&[["a", "b"], ["", ""], ["c", "a"]]), sequence(&[["b", "b"]])];
        let joined = Sequence::joined(&parts, [(0, 2..3), (1, 0..1), (0, 0..2)]).unwrap();
        assert_eq!(listed(&joined), [["c", "a"], ["b", "b"], ["a", "b"], ["", ""]]);
        assert_eq!((joined.len(), joined.numbers.len()), (4, 4));
    }

    #[test]
    fn what_is_written_is_read_behind() {
        let mut file = Vec::new();
        sequence(&[["a", "b"], ["b", "é"]]).write(&mut file).unwrap();
        let mut all = sequence(&[["x", "b"]]);
        all.read(&mut &file[..], usize::MAX).unwrap();
        assert_eq!(listed(&all), [["x", "b"], ["a", "b"], ["b", "é"]]);
        for end in 0..file.len() {
            assert!(Sequence::default().read(&mut &file[..end], usize::MAX).is_err());
        }
        assert!(Sequence::default().read(&mut &file[..], 50).is_err());
    }
}
