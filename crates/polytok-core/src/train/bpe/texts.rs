//! The texts of symbols, by id and back.

use hashbrown::HashTable;

use crate::error::{Error, Result};

/// Texts in the order of their ids.
pub struct Texts {
    blob: Vec<u8>,
    ends: Vec<usize>,
    ids: HashTable<u32>,
    /// Taken off the right half of a pair.
    prefix: Vec<u8>,
}

fn hash(text: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text)
}

impl Texts {
    /// None yet. Right halves of pairs lose the prefix.
    pub fn new(prefix: &[u8]) -> Texts {
        Texts { blob: Vec::new(), ends: Vec::new(), ids: HashTable::new(), prefix: prefix.to_vec() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of an id below [`Texts::len`].
    pub fn get(&self, id: u32) -> &[u8] {
        stretch(&self.blob, &self.ends, id)
    }

    /// The id of a text.
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        self.ids.find(hash(text), |&id| self.get(id) == text).copied()
    }

    /// The id of a text, which is the next one if the text is new.
    pub fn add(&mut self, text: &[u8]) -> Result<u32> {
        if let Some(id) = self.find(text) {
            return Ok(id);
        }
        let id = self.len() as u32;
        self.blob.extend_from_slice(text);
        if self.blob.len() > u32::MAX as usize {
            return Err(Error::Argument(
                "the entries have more than 4 GiB in all: lower vocab_size, or limit the length of entries".into(),
            ));
        }
        self.ends.push(self.blob.len());
        let Texts { blob, ends, ids, .. } = self;
        ids.insert_unique(hash(text), id, |&id| hash(stretch(blob, ends, id)));
        Ok(id)
    }

    /// The id of what a pair becomes.
    pub fn join(&mut self, left: u32, right: u32) -> Result<u32> {
        let right = self.get(right);
        let joined = [self.get(left), right.strip_prefix(&self.prefix[..]).unwrap_or(right)].concat();
        self.add(&joined)
    }

    /// The texts one after the other, and where each starts and the last ends.
    pub fn into_columns(self) -> (Vec<u8>, Vec<u32>) {
        let offsets = std::iter::once(0).chain(self.ends.iter().map(|&end| end as u32)).collect();
        (self.blob, offsets)
    }
}

fn stretch<'a>(blob: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let start = id.checked_sub(1).map_or(0, |before| ends[before as usize]);
    &blob[start..ends[id as usize]]
}
