//! Merges: pairs of texts to ids.
//!
//! A merge written as one text is two texts with exactly one space between; one that starts with `#version` is skipped,
//! as tokenizers does. The merged text is the left one and the right one without the continuing prefix. Pairs that come
//! twice are kept: the engine lets the last count, as tokenizers does.

use hashbrown::HashMap;

use super::super::{lines, rows, show};
use super::TextColumn;
use crate::error::{Error, Result};
use crate::spec::VocabColumns;

/// The texts of merges: left, right, left, right …
#[derive(Debug, Default)]
pub(super) struct MergeTexts {
    pub(super) texts: TextColumn,
    pub(super) pairs: bool,
}

impl MergeTexts {
    fn len(&self) -> usize {
        self.texts.len() / 2
    }

    /// Adds a merge that is one text.
    pub(super) fn push_line(&mut self, line: &str) -> std::result::Result<(), String> {
        if self.pairs {
            return Err("a merge is a text, but the ones before are pairs".into());
        }
        if line.starts_with("#version") {
            return Ok(());
        }
        match line.split_once(' ') {
            Some((left, right)) if !right.contains(' ') => {
                let fits = self.texts.push(left.as_bytes()) && self.texts.push(right.as_bytes());
                if fits { Ok(()) } else { Err("the merges together are longer than 4 GiB".into()) }
            }
            _ => {
                Err(format!("merge {} is not two texts with one space between: {}", self.len(), show(line.as_bytes())))
            }
        }
    }

    /// Says that a merge follows that is a pair.
    pub(super) fn start_pair(&mut self) -> std::result::Result<(), String> {
        if !self.pairs && self.texts.len() > 0 {
            return Err("a merge is a pair, but the ones before are texts".into());
        }
        self.pairs = true;
        Ok(())
    }
}

/// The ids of all merges.
pub(super) fn resolve(merges: &MergeTexts, columns: &VocabColumns, prefix: Option<&str>) -> Result<Vec<[u32; 3]>> {
    let ids: HashMap<&[u8], u32> = rows(columns).zip(columns.ids.iter().copied()).collect();
    let mut merged = Vec::new();
    let mut resolved = Vec::with_capacity(merges.len());
    for index in 0..merges.len() {
        let unknown =
            |text: &[u8]| Error::Format(format!("merge {index}: the token {} is out of the vocabulary", show(text)));
        let find = |text: &[u8]| ids.get(text).copied().ok_or_else(|| unknown(text));
        let (left, right) = (merges.texts.get(2 * index), merges.texts.get(2 * index + 1));
        let joined = right.get(prefix.map_or(0, str::len)..).filter(|rest| std::str::from_utf8(rest).is_ok());
        let Some(joined) = joined else {
            let what = "is shorter than the continuing prefix";
            return Err(Error::Format(format!("merge {index}: the right token {} {what}", show(right))));
        };
        merged.clear();
        merged.extend_from_slice(left);
        merged.extend_from_slice(joined);
        resolved.push([find(left)?, find(right)?, find(&merged)?]);
    }
    Ok(resolved)
}

/// The merges of a `merges.txt`: one per line.
pub fn merges_file(data: &[u8], columns: &VocabColumns) -> Result<Vec<[u32; 3]>> {
    let mut merges = MergeTexts::default();
    for (number, line) in lines(data) {
        let wrong = |what: String| Error::Format(format!("line {number}: {what}"));
        let line = std::str::from_utf8(line).map_err(|_| wrong("not UTF-8".into()))?;
        merges.push_line(line).map_err(wrong)?;
    }
    resolve(&merges, columns, None)
}
