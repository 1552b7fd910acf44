//! From texts to normalized sentences in which no piece crosses what is reserved.
//!
//! Reference: `LoadSentences`. A sentence that is empty, too long or has U+2585 is left out, which is counted. The
//! others are normalized without heed of reserved pieces; then each longest match of a reserved piece becomes the
//! boundary character. In 0.2.3 the delimiter becomes the boundary too.

use super::options::{RARE, SentencePieceOptions, SentenceUnit};
use crate::error::{Error, Result};
use crate::normalize::growth::{limit, too_much_growth};
use crate::normalize::sentencepiece::SentencePieceNormalizer;
use crate::spec::Line;
use crate::trie::Trie;

/// Bytes of a sentence at the most, so that places in what it becomes have 32 bits.
const LONGEST: usize = 1 << 30;

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Longer than `max_sentence_length`.
    pub long: u64,
    /// With U+2585 in them.
    pub reserved: u64,
}

impl std::ops::AddAssign for Skipped {
    fn add_assign(&mut self, other: Skipped) {
        self.long += other.long;
        self.reserved += other.reserved;
    }
}

/// Reads sentences.
pub struct Loader {
    normalizer: SentencePieceNormalizer,
    meta: Trie,
    /// The bytes that reserved pieces begin with.
    meta_starts: [bool; 256],
    boundary: String,
    rare: memchr::memmem::Finder<'static>,
    delimiter: Option<memchr::memmem::Finder<'static>>,
    sentences: SentenceUnit,
    is_tsv: bool,
    keeps_reserved: bool,
    longest: usize,
}

impl Loader {
    /// Compiles the normalizer and the reserved pieces.
    pub fn compile(options: &SentencePieceOptions) -> Result<Loader> {
        let delimiter = Some(options.pretokenization_delimiter.as_bytes());
        let delimiter = delimiter.filter(|text| !text.is_empty() && options.line == Line::V0_2_3);
        Ok(Loader {
            normalizer: SentencePieceNormalizer::compile(options.normalize.clone(), None, options.line)?,
            meta: Trie::build(options.meta.iter().map(|text| (&text[..], 0)))?,
            meta_starts: std::array::from_fn(|byte| {
                options.meta.iter().any(|text| text.first() == Some(&(byte as u8)))
            }),
            boundary: options.boundary().to_string(),
            rare: memchr::memmem::Finder::new(RARE.encode_utf8(&mut [0; 4])).into_owned(),
            delimiter: delimiter.map(|text| memchr::memmem::Finder::new(text).into_owned()),
            sentences: options.sentences,
            is_tsv: options.is_tsv,
            keeps_reserved: options.keeps_reserved,
            longest: options.max_sentence_length,
        })
    }

    /// What one sentence is.
    pub fn sentences(&self) -> SentenceUnit {
        self.sentences
    }

    /// Calls `sentence(raw, times)` for each sentence of a text that is not left out.
    pub fn read(
        &self,
        text: &[u8],
        skipped: &mut Skipped,
        mut sentence: impl FnMut(&[u8], u64) -> Result<()>,
    ) -> Result<()> {
        let mut each = |raw: &[u8]| {
            let (raw, times) = if self.is_tsv { with_frequency(raw)? } else { (raw, 1) };
            if raw.is_empty() {
                Ok(())
            } else if raw.len() > self.longest {
                skipped.long += 1;
                Ok(())
            } else if !self.keeps_reserved && self.rare.find(raw).is_some() {
                skipped.reserved += 1;
                Ok(())
            } else {
                sentence(raw, times)
            }
        };
        match self.sentences {
            SentenceUnit::Texts => each(text),
            SentenceUnit::Items => each(without_line_ends(text)),
            SentenceUnit::Lines => Lines { rest: Some(text) }.try_for_each(each),
        }
    }

    /// The sentence to train on, in `out`; `spare` is memory.
    pub fn prepare(&self, raw: &[u8], spare: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
        if raw.len() > LONGEST {
            return Err(Error::Argument("a sentence is longer than 1 GiB; split it, or train on lines".into()));
        }
        spare.clear();
        out.clear();
        self.normalizer.normalize(raw, spare);
        if spare.len() > limit(raw.len()) {
            return Err(too_much_growth("normalization"));
        }
        if memchr::memchr(b' ', spare).is_some() {
            return Err(Error::Argument("a normalized sentence contains a space; set escape_whitespaces".into()));
        }
        self.cut_meta(spare, out);
        if let Some(delimiter) = &self.delimiter {
            std::mem::swap(spare, out);
            out.clear();
            let mut from = 0;
            for at in delimiter.find_iter(spare) {
                out.extend_from_slice(&spare[from..at]);
                out.extend_from_slice(self.boundary.as_bytes());
                from = at + delimiter.needle().len();
            }
            out.extend_from_slice(&spare[from..]);
        }
        Ok(())
    }

    /// Where a piece may begin a character begins, for both are UTF-8.
    fn cut_meta(&self, text: &[u8], out: &mut Vec<u8>) {
        let (mut from, mut at) = (0, 0);
        while let Some(skipped) = text[at..].iter().position(|&byte| self.meta_starts[byte as usize]) {
            at += skipped;
            match self.meta.longest_prefix(&text[at..]) {
                Some((len, _)) => {
                    out.extend_from_slice(&text[from..at]);
                    out.extend_from_slice(self.boundary.as_bytes());
                    at += len;
                    from = at;
                }
                None => at += 1,
            }
        }
        out.extend_from_slice(&text[from..]);
    }
}

struct Lines<'t> {
    rest: Option<&'t [u8]>,
}

impl<'t> Iterator for Lines<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        let rest = self.rest.filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest);
        self.rest = end.map(|end| &rest[end + 1..]);
        Some(&rest[..end.unwrap_or(rest.len())])
    }
}

fn without_line_ends(text: &[u8]) -> &[u8] {
    let len = text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
    &text[..len]
}

/// A line of a tab-separated file: a text and how often it counts.
fn with_frequency(line: &[u8]) -> Result<(&[u8], u64)> {
    let wrong = |what: &str| {
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        Error::Argument(format!("a line of tab-separated text {what}: {shown:?}; it is a text, a tab, and a count"))
    };
    let mut parts = line.split(|&byte| byte == b'\t');
    let (Some(text), Some(count), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(wrong("has not one tab"));
    };
    let count = std::str::from_utf8(count).ok().and_then(|count| count.trim().parse().ok());
    match count {
        Some(times @ 1..) => Ok((text, times)),
        _ => Err(wrong("has no count of at least 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(options: &SentencePieceOptions, text: &str) -> (Vec<(String, u64)>, Skipped) {
        let loader = Loader::compile(options).unwrap();
        let (mut found, mut skipped) = (Vec::new(), Skipped::default());
        let (mut spare, mut out) = (Vec::new(), Vec::new());
        let read = loader.read(text.as_bytes(), &mut skipped, |raw, times| {
            loader.prepare(raw, &mut spare, &mut out)?;
            found.push((String::from_utf8(out.clone()).unwrap(), times));
            Ok(())
        });
        read.unwrap();
        (found, skipped)
    }

    #[test]
    fn sentences_are_normalized_and_cut() {
        let options =
            SentencePieceOptions { meta: vec![b"<s>".to_vec(), b"<sep>".to_vec()], ..SentencePieceOptions::default() };
        let (found, skipped) = sentences(&options, "a  b<sep>c\n\nx▅y\r\n<s<s>");
        assert_eq!(found, [("▁a▁b\u{1F}c".into(), 1), ("▁<s\u{1F}".into(), 1)]);
        assert_eq!(skipped, Skipped { long: 0, reserved: 1 });
        let items = SentencePieceOptions { sentences: SentenceUnit::Items, max_sentence_length: 3, ..options.clone() };
        assert_eq!(sentences(&items, "a\nb\r\n\n").0, [("▁a\nb".into(), 1)]);
        assert_eq!(sentences(&items, "a\nbc").1.long, 1);
        let delimiter = SentencePieceOptions { pretokenization_delimiter: "||".into(), ..options };
        assert_eq!(sentences(&delimiter, "a||b").0, [("▁a\u{1F}b".into(), 1)]);
    }

    #[test]
    fn tables_have_counts() {
        let options = SentencePieceOptions { is_tsv: true, ..SentencePieceOptions::default() };
        assert_eq!(sentences(&options, "a b\t3\nc\t1").0, [("▁a▁b".into(), 3), ("▁c".into(), 1)]);
        let loader = Loader::compile(&options).unwrap();
        for wrong in ["a", "a\t0", "a\tx", "a\t1\t2", "\t"] {
            assert!(loader.read(wrong.as_bytes(), &mut Skipped::default(), |_, _| Ok(())).is_err(), "{wrong:?}");
        }
    }
}
