//! Reads and writes Hugging Face's `tokenizer.json`: vocabulary and merges as columns, everything else as JSON text.
//!
//! The reader makes one pass over the bytes, and builds no JSON tree of the vocabulary and the merges. `model.vocab` is
//! an object of texts and ids, or Unigram's list of texts and scores; `model.merges` is a list of pairs, written `"a
//! b"` or `["a", "b"]`. If a key occurs twice, the last value counts, as in the package `tokenizers`. JSON can be
//! nested at most 128 levels deep, as in the package. Reference: huggingface/tokenizers 0.23,
//! `tokenizer/serialization.rs`, `models/*/serialization.rs`.

mod byte_level;
mod merges;
mod visit;
mod write;

pub use byte_level::to_bytes;
use hashbrown::HashMap;
use merges::MergeTexts;
pub use merges::merges_file;
use polytok_memory::{self as memory, Collect, Grow, GrowMap};
pub use write::{VocabParts, write};

use super::{empty_columns, push_row, show};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// The maximum depth of nested JSON: the limit of serde_json, which also applies in the package `tokenizers`.
const MAX_DEPTH: usize = 128;

/// The contents of a tokenizer.json.
#[derive(Debug)]
pub struct Read {
    /// The vocabulary in file order; every row has the kind Normal. If the vocabulary is a list, `wide_scores` has its
    /// scores.
    pub columns: VocabColumns,
    /// The left, right and merged id of each merge.
    pub merges: Option<Vec<[u32; 3]>>,
    /// The scores as written in the file, if the package `tokenizers` rounds some of them wrongly when it reads them.
    pub exact_scores: Option<Vec<f64>>,
    /// True if the merges are written as pairs, false if they are texts with a space.
    pub pairs: bool,
    /// The number of rows that are replaced by a later row with the same text.
    pub replaced: usize,
    /// The JSON of the document without the vocabulary and the merges.
    pub rest: String,
}

/// Checks that the bytes start like a tokenizer.json: a JSON object whose key `model` has an object as its value.
pub fn probe(data: &[u8]) -> Result<()> {
    visit::probe(data)
}

/// Reads a tokenizer.json.
pub fn read(data: &[u8]) -> Result<Read> {
    memory::catch(|| {
        let document = visit::document(data)?;
        let (mut columns, exact_scores) = columns_of(document.vocab)?;
        let is_map = columns.wide_scores.is_none();
        let replaced = if is_map { drop_replaced_rows(&mut columns)? } else { mark_replaced_rows(&mut columns) };
        let prefix = document.continuing_prefix.as_deref();
        let merges = document.merges.as_ref().map(|texts| merges::resolve(texts, &columns, prefix)).transpose()?;
        let pairs = document.merges.is_none_or(|texts| texts.pairs);
        Ok(Read { columns, merges, exact_scores, pairs, replaced, rest: document.rest })
    })
}

/// Reads a `vocab.json`: one object of texts and ids. Also returns the number of rows that are replaced by a later row
/// with the same text.
pub fn vocab_file(data: &[u8]) -> Result<(VocabColumns, usize)> {
    memory::catch(|| {
        let (mut columns, _) = columns_of(visit::vocab(data)?)?;
        if columns.wide_scores.is_some() {
            return Err(Error::Format("the vocabulary is a list, but must be an object of texts and ids".into()));
        }
        let replaced = drop_replaced_rows(&mut columns)?;
        Ok((columns, replaced))
    })
}

/// Returns the row of each text; the last row if several rows have the text.
pub fn rows_of(columns: &VocabColumns, texts: &[Vec<u8>]) -> Vec<Option<usize>> {
    let mut row_of_text: HashMap<&[u8], Option<usize>> =
        memory::map(texts.iter().map(|text| (&text[..], None::<usize>)));
    for (row, text) in super::rows(columns).enumerate() {
        if let Some(last_row) = row_of_text.get_mut(text) {
            *last_row = Some(row);
        }
    }
    texts.iter().map(|text| row_of_text[&text[..]]).checked_collect()
}

fn columns_of(entries: Option<visit::JsonVocab>) -> Result<(VocabColumns, Option<Vec<f64>>)> {
    let Some(entries) = entries else {
        return Err(Error::Format("the model has no vocab".into()));
    };
    let visit::JsonVocab { texts, ids, scores } = entries;
    let len = texts.len();
    let ids = if scores.is_some() { (0..len as u32).checked_collect() } else { ids };
    let (read_scores, exact_scores) = scores.map(|scores| (scores.read, scores.exact)).unzip();
    let exact_scores = if read_scores == exact_scores { None } else { exact_scores };
    let columns = VocabColumns {
        blob: texts.blob,
        offsets: texts.offsets,
        ids,
        scores: memory::filled(0.0, len),
        kinds: memory::filled(Kind::Normal, len),
        wide_scores: read_scores,
        active_kinds: None,
    };
    Ok((columns, exact_scores))
}

/// Removes the rows whose text a later row repeats, and checks that no two remaining rows have the same id.
fn drop_replaced_rows(columns: &mut VocabColumns) -> Result<usize> {
    let replaced = replaced_rows(columns);
    if !replaced.is_empty() {
        let mut remaining_rows = empty_columns();
        for row in (0..columns.ids.len()).filter(|row| replaced.binary_search(row).is_err()) {
            push_row(&mut remaining_rows, super::text(columns, row), columns.ids[row], 0.0, Kind::Normal)?;
        }
        *columns = remaining_rows;
    }
    check_ids(columns)?;
    Ok(replaced.len())
}

/// Sets the kind Unused for every row whose text a later row repeats. These rows stay, because in a list the id of a
/// row is its index.
fn mark_replaced_rows(columns: &mut VocabColumns) -> usize {
    let replaced = replaced_rows(columns);
    for &row in &replaced {
        columns.kinds[row] = Kind::Unused;
    }
    replaced.len()
}

/// Returns the rows whose text a later row repeats, in ascending order.
fn replaced_rows(columns: &VocabColumns) -> Vec<usize> {
    let mut last_row_of_text = HashMap::new();
    let mut replaced: Vec<usize> = super::rows(columns)
        .enumerate()
        .filter_map(|(row, text)| last_row_of_text.checked_insert(text, row))
        .checked_collect();
    replaced.sort_unstable();
    replaced
}

fn check_ids(columns: &VocabColumns) -> Result<()> {
    if columns.ids.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut row_of_id = HashMap::new();
    for (row, &id) in columns.ids.iter().enumerate() {
        if let Some(first) = row_of_id.checked_insert(id, row) {
            let (first_text, second_text) = (show(super::text(columns, first)), show(super::text(columns, row)));
            return Err(Error::Format(format!(
                "the vocabulary has the id {id} twice, for {first_text} and {second_text}"
            )));
        }
    }
    Ok(())
}

/// A column of texts, stored consecutively.
#[derive(Debug)]
struct TextColumn {
    blob: Vec<u8>,
    offsets: Vec<u32>,
}

impl Default for TextColumn {
    fn default() -> TextColumn {
        TextColumn { blob: Vec::new(), offsets: vec![0] }
    }
}

impl TextColumn {
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Appends a text. Returns false if the blob is too long for 32-bit offsets.
    fn push(&mut self, text: &[u8]) -> bool {
        self.blob.checked_extend_from_slice(text);
        u32::try_from(self.blob.len()).map(|end| self.offsets.checked_push(end)).is_ok()
    }

    fn get(&self, index: usize) -> &[u8] {
        &self.blob[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

#[cfg(test)]
mod tests;
