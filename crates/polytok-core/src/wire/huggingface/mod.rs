//! Hugging Face's `tokenizer.json`: its vocabulary and merges as columns, everything else as JSON text.
//!
//! One pass over the bytes; the big parts are never held as a tree. `model.vocab` is an object of texts and ids, or
//! Unigram's list of texts and scores; `model.merges` is a list of pairs, written `"a b"` or `["a", "b"]`. Of a key that
//! comes twice the last counts, as it does in tokenizers. Nothing recurses deeper than tokenizers allows (128 levels).
//! Reference: huggingface/tokenizers 0.23, `tokenizer/serialization.rs`, `models/*/serialization.rs`.

mod byte_level;
mod merges;
mod visit;
mod write;

pub use byte_level::to_bytes;
pub use merges::merges_file;
pub use write::{VocabParts, write};

use hashbrown::HashMap;

use super::{no_rows, push_row, show};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};
use merges::MergeTexts;

/// How deep JSON may be nested; serde_json's own limit, which tokenizers has too.
const MAX_DEPTH: usize = 128;

/// What a file holds.
#[derive(Debug)]
pub struct Read {
    /// The vocabulary in file order, every row of kind Normal; with `wide_scores` if it is a list.
    pub columns: VocabColumns,
    /// Left, right and merged id of each merge.
    pub merges: Option<Vec<[u32; 3]>>,
    /// The scores of a list exactly as they stand there, where tokenizers reads some in another way.
    pub exact_scores: Option<Vec<f64>>,
    /// The merges are pairs, not texts with a space.
    pub pairs: bool,
    /// How many texts came again later, and were replaced.
    pub replaced: usize,
    /// The document without vocabulary and merges, as JSON.
    pub rest: String,
}

/// Whether the bytes start as a tokenizer.json does: an object that has an object named `model`.
pub fn probe(data: &[u8]) -> Result<()> {
    visit::probe(data)
}

/// Reads a file.
pub fn read(data: &[u8]) -> Result<Read> {
    let document = visit::document(data)?;
    let (mut columns, exact_scores) = columns_of(document.vocab)?;
    let is_map = columns.wide_scores.is_none();
    let replaced = if is_map { drop_replaced(&mut columns)? } else { retire_replaced(&mut columns) };
    let prefix = document.continuing_prefix.as_deref();
    let merges = document.merges.as_ref().map(|texts| merges::resolve(texts, &columns, prefix)).transpose()?;
    let pairs = document.merges.is_none_or(|texts| texts.pairs);
    Ok(Read { columns, merges, exact_scores, pairs, replaced, rest: document.rest })
}

/// Reads a `vocab.json`: one object of texts and ids. Gives the number of texts that came again later, too.
pub fn vocab_file(data: &[u8]) -> Result<(VocabColumns, usize)> {
    let (mut columns, _) = columns_of(visit::vocab(data)?)?;
    if columns.wide_scores.is_some() {
        return Err(Error::Format("a list, not an object of texts and ids".into()));
    }
    let dropped = drop_replaced(&mut columns)?;
    Ok((columns, dropped))
}

/// The row of each text; of several the last.
pub fn rows_of(columns: &VocabColumns, texts: &[Vec<u8>]) -> Vec<Option<usize>> {
    let mut found: HashMap<&[u8], Option<usize>> = texts.iter().map(|text| (&text[..], None)).collect();
    for (row, text) in super::rows(columns).enumerate() {
        if let Some(place) = found.get_mut(text) {
            *place = Some(row);
        }
    }
    texts.iter().map(|text| found[&text[..]]).collect()
}

fn columns_of(entries: Option<visit::JsonVocab>) -> Result<(VocabColumns, Option<Vec<f64>>)> {
    let Some(entries) = entries else {
        return Err(Error::Format("the model has no vocab".into()));
    };
    let visit::JsonVocab { texts, ids, scores } = entries;
    let len = texts.len();
    let ids = if scores.is_some() { (0..len as u32).collect() } else { ids };
    let (read, exact) = scores.map(|scores| (scores.read, scores.exact)).unzip();
    let exact = if read == exact { None } else { exact };
    let columns = VocabColumns {
        blob: texts.blob,
        offsets: texts.offsets,
        ids,
        scores: vec![0.0; len],
        kinds: vec![Kind::Normal; len],
        wide_scores: read,
        active_kinds: None,
    };
    Ok((columns, exact))
}

/// Takes out the rows whose text comes again, and checks that no id does.
fn drop_replaced(columns: &mut VocabColumns) -> Result<usize> {
    let replaced = replaced_rows(columns);
    if !replaced.is_empty() {
        let mut kept = no_rows();
        for row in (0..columns.ids.len()).filter(|row| replaced.binary_search(row).is_err()) {
            push_row(&mut kept, super::text(columns, row), columns.ids[row], 0.0, Kind::Normal)?;
        }
        *columns = kept;
    }
    check_ids(columns)?;
    Ok(replaced.len())
}

/// The rows of a list cannot be taken out, they count: those whose text comes again cannot be reached.
fn retire_replaced(columns: &mut VocabColumns) -> usize {
    let replaced = replaced_rows(columns);
    for &row in &replaced {
        columns.kinds[row] = Kind::Unused;
    }
    replaced.len()
}

/// The rows whose text a later row has, in ascending order.
fn replaced_rows(columns: &VocabColumns) -> Vec<usize> {
    let mut last = HashMap::with_capacity(columns.ids.len());
    let mut replaced: Vec<usize> =
        super::rows(columns).enumerate().filter_map(|(row, text)| last.insert(text, row)).collect();
    replaced.sort_unstable();
    replaced
}

fn check_ids(columns: &VocabColumns) -> Result<()> {
    if columns.ids.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let mut row_of_id = HashMap::with_capacity(columns.ids.len());
    for (row, &id) in columns.ids.iter().enumerate() {
        if let Some(first) = row_of_id.insert(id, row) {
            let (first, again) = (show(super::text(columns, first)), show(super::text(columns, row)));
            return Err(Error::Format(format!("the vocabulary gives the id {id} to {first} and to {again}")));
        }
    }
    Ok(())
}

/// Texts, one after the other.
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

    /// Appends; false when the blob outgrows its 32-bit offsets.
    fn push(&mut self, text: &[u8]) -> bool {
        self.blob.extend_from_slice(text);
        u32::try_from(self.blob.len()).map(|end| self.offsets.push(end)).is_ok()
    }

    fn get(&self, index: usize) -> &[u8] {
        &self.blob[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }
}

#[cfg(test)]
mod tests;
