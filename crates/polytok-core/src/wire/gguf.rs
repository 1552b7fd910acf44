//! Reads GGUF's metadata: finds the position of every value, and reads and writes arrays of strings.
//!
//! A file starts with a header (magic, version, number of tensors, number of keys); keys with typed values come next,
//! with numbers in little or big endian. The tensors after these metadata are never read. The Python module
//! polytok.formats.gguf reads the values at the positions found here. An array of arrays is an error, as in llama.cpp.
//! Reference: ggml's gguf.cpp. Cost: one pass over the metadata. Memory is reserved only for data that the file has.

mod texts;

use std::collections::HashSet;
use std::ops::Range;
pub use texts::{byte_level, byte_level_texts, merge_lines, resolve_merges};

use polytok_memory::{self as memory, Grow, GrowSet};

use crate::error::{Error, Result};
use crate::wire::show;

/// The maximum number of keys; no known model has more. Without this limit a hostile file could fill the memory,
/// because a key takes much more memory than bytes in the file.
const MAX_KEYS: u64 = 1 << 13;
/// The maximum length of a string, as in llama.cpp.
const MAX_STRING_BYTES: u64 = 1 << 30;
const STRING_TYPE: u32 = 8;
const ARRAY_TYPE: u32 = 9;

/// The keys of a file, in order.
#[derive(Debug)]
pub struct Metadata {
    /// The version: 2 or 3, which have the same layout.
    pub version: u32,
    /// True if numbers are big endian.
    pub big_endian: bool,
    /// The number of tensors.
    pub tensors: u64,
    /// The keys.
    pub entries: Vec<GgufEntry>,
    /// The end of the metadata.
    pub end: usize,
}

/// A key and the position of its value.
#[derive(Debug)]
pub struct GgufEntry {
    /// The key's bytes.
    pub key: Range<usize>,
    /// The number of the type of the value in GGUF.
    pub kind: u32,
    /// The number of the type of the elements of an array; equal to `kind` if the value is not an array.
    pub element: u32,
    /// The number of elements of an array; 1 if the value is not an array.
    pub count: u64,
    /// The range of the value's bytes, without the type and the length of an array and without the length of a string.
    pub value: Range<usize>,
}

/// A column of texts, stored consecutively.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GgufTexts {
    /// The bytes of all texts.
    pub blob: Vec<u8>,
    /// The start of each text in `blob`, and the end of the last text.
    pub offsets: Vec<u32>,
}

/// Reads the metadata of a file; `data` is the file, or a part from the start of the file that contains all metadata.
pub fn read(data: &[u8]) -> Result<Metadata> {
    memory::catch(|| {
        let mut reader = GgufReader { data, at: 0, big_endian: false };
        if reader.take_bytes(4, "the magic")? != b"GGUF" {
            return Err(Error::Format("the file does not begin with GGUF".into()));
        }
        reader.big_endian = data.get(4..6) == Some(&[0, 0]);
        let version = reader.read_u32("the version")?;
        if !matches!(version, 2 | 3) {
            return Err(Error::Format(format!("byte 4: version {version} of GGUF is not 2 or 3")));
        }
        let tensors = reader.read_u64("the number of tensors")?;
        let count = reader.read_u64("the number of keys")?;
        if count > MAX_KEYS {
            return Err(Error::Format(format!("byte 16: {count} keys exceed the limit of {MAX_KEYS}")));
        }
        let mut seen_keys = HashSet::new();
        let mut entries = Vec::new();
        for _ in 0..count {
            let at = reader.at;
            let entry = reader.read_entry()?;
            let key = &data[entry.key.clone()];
            if key.is_empty() {
                return Err(Error::Format(format!("byte {at}: a key without a name")));
            }
            if !seen_keys.checked_insert(key) {
                return Err(Error::Format(format!("byte {at}: the key {} occurs twice", show(key))));
            }
            entries.checked_push(entry);
        }
        Ok(Metadata { version, big_endian: reader.big_endian, tensors, entries, end: reader.at })
    })
}

/// Reads an array of `count` strings from the bytes of its value.
pub fn strings(value: &[u8], count: u64, big_endian: bool) -> Result<GgufTexts> {
    memory::catch(|| {
        let mut reader = GgufReader { data: value, at: 0, big_endian };
        let mut texts = GgufTexts { blob: Vec::new(), offsets: vec![0] };
        for _ in 0..count {
            let text = reader.read_string("an element")?;
            texts.push(&value[text])?;
        }
        Ok(texts)
    })
}

/// Returns the bytes of an array of strings, in the form that `strings` reads.
pub fn write_strings(texts: &GgufTexts, big_endian: bool) -> Result<Vec<u8>> {
    memory::catch(|| {
        let mut out = memory::with_capacity(texts.blob.len() + 8 * texts.len());
        for text in texts.iter() {
            let length = text.len() as u64;
            out.checked_extend_from_slice(&if big_endian { length.to_be_bytes() } else { length.to_le_bytes() });
            out.checked_extend_from_slice(text);
        }
        Ok(out)
    })
}

impl GgufTexts {
    /// Creates an empty column.
    pub fn new() -> GgufTexts {
        GgufTexts { blob: Vec::new(), offsets: vec![0] }
    }

    /// Creates a column. Returns an error if the offsets do not match the blob.
    pub fn try_new(blob: Vec<u8>, offsets: Vec<u32>) -> Result<GgufTexts> {
        if offsets.first() == Some(&0)
            && offsets.is_sorted()
            && offsets.last().map(|&end| end as usize) == Some(blob.len())
        {
            return Ok(GgufTexts { blob, offsets });
        }
        Err(Error::Format(
            "the offsets of the texts do not match their bytes; pass offsets that rise from 0 to the number of bytes"
                .into(),
        ))
    }

    /// Returns the number of texts.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Reports whether the column is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a text.
    pub fn get(&self, index: usize) -> &[u8] {
        &self.blob[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// Returns all texts.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index))
    }

    /// Appends a text.
    pub fn push(&mut self, text: &[u8]) -> Result<()> {
        self.blob.checked_extend_from_slice(text);
        let end = u32::try_from(self.blob.len())
            .map_err(|_| Error::Format("the texts of an array together are longer than 4 GiB".into()))?;
        self.offsets.checked_push(end);
        Ok(())
    }
}

/// Reads values at a position that moves forward.
struct GgufReader<'a> {
    data: &'a [u8],
    at: usize,
    big_endian: bool,
}

impl<'a> GgufReader<'a> {
    fn take_bytes(&mut self, length: u64, what: &str) -> Result<&'a [u8]> {
        let remaining_data = &self.data[self.at..];
        let bytes = usize::try_from(length).ok().and_then(|length| remaining_data.get(..length)).ok_or_else(|| {
            let (at, left) = (self.at, remaining_data.len());
            Error::Format(format!("byte {at}: {what} takes {length} bytes, but only {left} bytes remain in the file"))
        })?;
        self.at += bytes.len();
        Ok(bytes)
    }

    fn read_u32(&mut self, what: &str) -> Result<u32> {
        let bytes = self.take_bytes(4, what)?.try_into().unwrap_or_default();
        Ok(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn read_u64(&mut self, what: &str) -> Result<u64> {
        let bytes = self.take_bytes(8, what)?.try_into().unwrap_or_default();
        Ok(if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// Reads a string and returns the range of its bytes.
    fn read_string(&mut self, what: &str) -> Result<Range<usize>> {
        let at = self.at;
        let length = self.read_u64("a length")?;
        if length > MAX_STRING_BYTES {
            return Err(Error::Format(format!("byte {at}: {what} of {length} bytes is longer than llama.cpp reads")));
        }
        self.take_bytes(length, what)?;
        Ok(self.at - length as usize..self.at)
    }

    fn read_entry(&mut self) -> Result<GgufEntry> {
        let key = self.read_string("a key")?;
        let add_key = |error: Error| match error {
            Error::Format(what) => Error::Format(format!("key {}: {what}", show(&self.data[key.clone()]))),
            other => other,
        };
        let mut value_reader = GgufReader { data: self.data, at: self.at, big_endian: self.big_endian };
        let (kind, element, count, value) = value_reader.read_value().map_err(add_key)?;
        self.at = value_reader.at;
        Ok(GgufEntry { key, kind, element, count, value })
    }

    fn read_value(&mut self) -> Result<(u32, u32, u64, Range<usize>)> {
        let kind = self.read_u32("its type")?;
        if kind == STRING_TYPE {
            return Ok((kind, kind, 1, self.read_string("its value")?));
        }
        if kind != ARRAY_TYPE {
            let start = self.at;
            self.take_bytes(self.number_size(kind)?, "its value")?;
            return Ok((kind, kind, 1, start..self.at));
        }
        let element = self.read_u32("its elements' type")?;
        let count = self.read_u64("its length")?;
        let start = self.at;
        self.skip_elements(element, count)?;
        Ok((kind, element, count, start..self.at))
    }

    fn skip_elements(&mut self, element: u32, count: u64) -> Result<()> {
        let element_size = if element == STRING_TYPE { 8 } else { self.number_size(element)? };
        let (at, left) = (self.at, self.data.len() - self.at);
        let bytes = count.checked_mul(element_size).filter(|&bytes| bytes <= left as u64).ok_or_else(|| {
            Error::Format(format!(
                "byte {at}: {count} elements take more than the {left} bytes that remain in the file"
            ))
        })?;
        if element != STRING_TYPE {
            self.take_bytes(bytes, "its elements")?;
            return Ok(());
        }
        for _ in 0..count {
            self.read_string("an element")?;
        }
        Ok(())
    }

    /// Returns the size in bytes of a number of the type `kind`.
    fn number_size(&self, kind: u32) -> Result<u64> {
        match kind {
            0 | 1 | 7 => Ok(1),
            2 | 3 => Ok(2),
            4..=6 => Ok(4),
            10..=12 => Ok(8),
            ARRAY_TYPE => {
                Err(Error::Format(format!("byte {}: an array of arrays, which llama.cpp does not read", self.at)))
            }
            _ => Err(Error::Format(format!("byte {}: GGUF has no type {kind}", self.at))),
        }
    }
}

#[cfg(test)]
mod tests;
