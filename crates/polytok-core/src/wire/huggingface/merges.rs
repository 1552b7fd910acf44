//! Converts merges from pairs of texts to ids.
//!
//! A merge is written as a pair of texts, or as a line of two texts with exactly one space between them. A line that
//! starts with `#version` is skipped, as in the package `tokenizers`. The merged text is the left text and then the
//! right text without the continuing prefix. A pair can repeat; the engine uses the last occurrence, as the package
//! `tokenizers` does.

use hashbrown::HashMap;
use polytok_memory::{self as memory, Grow};

use super::super::{lines, rows, show};
use super::TextColumn;
use crate::error::{Error, Result};
use crate::spec::VocabColumns;

/// The texts of merges: the left and the right text of the first merge, then those of the second merge, and so on.
#[derive(Debug, Default)]
pub(super) struct MergeTexts {
    pub(super) texts: TextColumn,
    pub(super) pairs: bool,
}

impl MergeTexts {
    fn len(&self) -> usize {
        self.texts.len() / 2
    }

    /// Adds a merge that is written as a line.
    pub(super) fn push_line(&mut self, line: &str) -> std::result::Result<(), String> {
        if self.pairs {
            return Err("a merge is a text, but earlier merges are pairs; write all merges in the same form".into());
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

    /// Starts a merge that is written as a pair; the caller appends its two texts.
    pub(super) fn start_pair(&mut self) -> std::result::Result<(), String> {
        if !self.pairs && self.texts.len() > 0 {
            return Err("a merge is a pair, but earlier merges are texts; write all merges in the same form".into());
        }
        self.pairs = true;
        Ok(())
    }
}

/// Returns the left, right and merged id of each merge.
pub(super) fn resolve(merges: &MergeTexts, columns: &VocabColumns, prefix: Option<&str>) -> Result<Vec<[u32; 3]>> {
    let ids: HashMap<&[u8], u32> = memory::map(rows(columns).zip(columns.ids.iter().copied()));
    let mut merged_text = Vec::new();
    let mut ids_of_merges = memory::with_capacity(merges.len());
    for index in 0..merges.len() {
        let unknown_error =
            |text: &[u8]| Error::Format(format!("merge {index}: the token {} is not in the vocabulary", show(text)));
        let find = |text: &[u8]| ids.get(text).copied().ok_or_else(|| unknown_error(text));
        let (left, right) = (merges.texts.get(2 * index), merges.texts.get(2 * index + 1));
        let right_tail = right.get(prefix.map_or(0, str::len)..).filter(|tail| std::str::from_utf8(tail).is_ok());
        let Some(right_tail) = right_tail else {
            let what = "is shorter than the continuing prefix";
            return Err(Error::Format(format!("merge {index}: the right token {} {what}", show(right))));
        };
        merged_text.clear();
        merged_text.checked_extend_from_slice(left);
        merged_text.checked_extend_from_slice(right_tail);
        ids_of_merges.checked_push([find(left)?, find(right)?, find(&merged_text)?]);
    }
    Ok(ids_of_merges)
}

/// Reads a `merges.txt`, which has one merge per line.
pub fn merges_file(data: &[u8], columns: &VocabColumns) -> Result<Vec<[u32; 3]>> {
    memory::catch(|| {
        let mut merges = MergeTexts::default();
        for (number, line) in lines(data) {
            let line_error = |what: String| Error::Format(format!("line {number}: {what}"));
            let line = std::str::from_utf8(line).map_err(|_| line_error("the line is not UTF-8".into()))?;
            merges.push_line(line).map_err(line_error)?;
        }
        resolve(&merges, columns, None)
    })
}
