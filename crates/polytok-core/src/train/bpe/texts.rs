//! Stores the texts of symbols by id, and finds ids by text.

use hashbrown::HashTable;
use polytok_memory::{self as memory, Collect, Copied, Grow};

use crate::error::{Error, Result};

/// The texts of symbols in the order of their ids.
pub struct SymbolTexts {
    joined_texts: Vec<u8>,
    ends: Vec<usize>,
    ids: HashTable<u32>,
    /// The prefix that is removed from the text of a right half.
    prefix: Vec<u8>,
}

fn hash(text: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text)
}

impl SymbolTexts {
    /// Creates an empty list. `prefix` is removed from the texts of right halves.
    pub fn new(prefix: &[u8]) -> SymbolTexts {
        SymbolTexts {
            joined_texts: Vec::new(),
            ends: Vec::new(),
            ids: HashTable::new(),
            prefix: prefix.checked_to_vec(),
        }
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Reports whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the text of an id below [`SymbolTexts::len`].
    pub fn get(&self, id: u32) -> &[u8] {
        text_slice(&self.joined_texts, &self.ends, id)
    }

    /// Returns the id of a text.
    pub fn find(&self, text: &[u8]) -> Option<u32> {
        self.ids.find(hash(text), |&id| self.get(id) == text).copied()
    }

    /// Returns the id of a text, and adds the text if it is new.
    pub fn add(&mut self, text: &[u8]) -> Result<u32> {
        if let Some(id) = self.find(text) {
            return Ok(id);
        }
        let id = self.len() as u32;
        self.joined_texts.checked_extend_from_slice(text);
        if self.joined_texts.len() > u32::MAX as usize {
            return Err(Error::Argument(
                "all entries together exceed 4 GiB; lower vocab_size, or limit the length of entries".into(),
            ));
        }
        self.ends.checked_push(self.joined_texts.len());
        let SymbolTexts { joined_texts, ends, ids, .. } = self;
        let rehash = |&id: &u32| hash(text_slice(joined_texts, ends, id));
        memory::reserve_slot(ids, rehash);
        ids.insert_unique(hash(text), id, rehash);
        Ok(id)
    }

    /// Adds the text of a pair, if it is new, and returns its id.
    pub fn join(&mut self, left: u32, right: u32) -> Result<u32> {
        let right = self.get(right);
        let joined = memory::concat(&[self.get(left), right.strip_prefix(&self.prefix[..]).unwrap_or(right)]);
        self.add(&joined)
    }

    /// Returns the concatenation of all texts, and the offsets of the texts.
    pub fn into_columns(self) -> (Vec<u8>, Vec<u32>) {
        let offsets = std::iter::once(0).chain(self.ends.iter().map(|&end| end as u32)).checked_collect();
        (self.joined_texts, offsets)
    }
}

fn text_slice<'a>(joined_texts: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let start = id.checked_sub(1).map_or(0, |before| ends[before as usize]);
    &joined_texts[start..ends[id as usize]]
}
