//! Reads and writes tekken.json's vocabulary: an array of `{"rank": r, "token_bytes": base64, "token_str": text or
//! null}`, in which `r` is the index of the entry.
//!
//! The rules of mistral-common apply: an entry has exactly these keys, the first 256 entries are the bytes, no token
//! repeats, and only the first `live` entries are used; the remaining entries are kept unchanged. `token_str` is for
//! human readers and nearly always equal to the decoded bytes, so this string is stored only if it differs from the
//! decoded bytes. Base64 must be strict, which mistral-common does not require. The entries are read one by one,
//! without a JSON tree. Cost: each entry is scanned twice, first to find its end, and then to read its fields.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use polytok_memory::{self as memory, Grow};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::texts::find_repeated_text;
use super::{base64, empty_columns, push_row, quote, rows, show, text};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// The entries of a vocabulary.
#[derive(Debug)]
pub struct TekkenEntries {
    /// The live entries.
    pub columns: VocabColumns,
    /// Each row whose `token_str` differs from the decoded bytes, with its `token_str`.
    pub unequal_texts: Vec<(u32, Option<String>)>,
    /// The range of the JSON text that contains the entries after the first `live` entries.
    pub unused: Option<Range<usize>>,
}

/// The layout of a vocabulary's JSON: the texts around the fields of an entry and between two entries.
#[derive(Debug)]
pub struct Layout {
    /// The text before the rank.
    pub rank: String,
    /// The text between rank and base64.
    pub bytes: String,
    /// The text between base64 and string.
    pub text: String,
    /// The text after the string.
    pub end: String,
    /// The text between two entries.
    pub separator: String,
    /// True if characters beyond ASCII are escaped.
    pub ascii: bool,
}

/// Returns the range of the array `vocab` in a JSON document, which is the value of a top-level key.
pub fn vocab_range(data: &[u8]) -> Result<Range<usize>> {
    let TekkenDocument(vocab) = serde_json::from_slice(data).map_err(|error| Error::Format(error.to_string()))?;
    Ok(range_in(data, vocab.get()))
}

/// Reads the array; the entry at index `i` gets the id `first_id + i`.
pub fn read(vocab: &[u8], live: u32, first_id: u32) -> Result<TekkenEntries> {
    memory::catch(|| {
        let mut reader = TekkenReader {
            vocab,
            live,
            first_id,
            entries: TekkenEntries { columns: empty_columns(), unequal_texts: Vec::new(), unused: None },
        };
        let mut json = serde_json::Deserializer::from_slice(vocab);
        let count = json.deserialize_seq(&mut reader).map_err(|error| Error::Format(error_text(&error)))?;
        if count < live {
            return Err(Error::Format(format!("vocab: {count} entries, but the configuration requires {live}")));
        }
        let entries = reader.entries;
        if let Some((first, row)) = find_repeated_text(&entries.columns) {
            let token = show(text(&entries.columns, row));
            return Err(Error::Format(format!("vocab: entry {row}: the token {token} repeats entry {first}")));
        }
        Ok(entries)
    })
}

/// Writes the entries of all rows, without the brackets of the array. The rank of an entry is its row.
pub fn write(columns: &VocabColumns, unequal_texts: &[(u32, Option<String>)], layout: &Layout) -> Vec<u8> {
    let mut out = memory::with_capacity(columns.blob.len() * 3 + 64 * columns.ids.len());
    let mut remaining_texts = unequal_texts.iter().peekable();
    for (row, bytes) in rows(columns).enumerate() {
        if row > 0 {
            out.checked_extend_from_slice(layout.separator.as_bytes());
        }
        out.checked_extend_from_slice(layout.rank.as_bytes());
        out.checked_extend_from_slice(row.to_string().as_bytes());
        out.checked_extend_from_slice(layout.bytes.as_bytes());
        out.checked_push(b'"');
        base64::encode(bytes, &mut out);
        out.checked_push(b'"');
        out.checked_extend_from_slice(layout.text.as_bytes());
        match remaining_texts.next_if(|(text_row, _)| *text_row as usize == row) {
            Some((_, text)) => write_text(text.as_deref(), layout.ascii, &mut out),
            None => write_text(std::str::from_utf8(bytes).ok(), layout.ascii, &mut out),
        }
        out.checked_extend_from_slice(layout.end.as_bytes());
    }
    out
}

fn write_text(text: Option<&str>, ascii: bool, out: &mut Vec<u8>) {
    let quoted = text.map_or_else(|| "null".into(), quote);
    if !ascii {
        return out.checked_extend_from_slice(quoted.as_bytes());
    }
    for character in quoted.chars() {
        if (' '..='~').contains(&character) {
            out.checked_push(character as u8);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.checked_extend_from_slice(format!("\\u{unit:04x}").as_bytes());
            }
        }
    }
}

/// Returns the range of `part` in `data`; `part` must be a slice of `data`.
fn range_in(data: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - data.as_ptr().addr();
    start..start + part.len()
}

/// Returns the text of an error; removes the line and the column that serde_json adds to polytok's own errors.
fn error_text(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let own_text = text.strip_suffix(&position).filter(|text| text.starts_with("entry "));
    format!("vocab: {}", own_text.unwrap_or(&text))
}

/// The value of the key `vocab` of a JSON object; the object must have the key exactly once.
struct TekkenDocument<'a>(&'a RawValue);

impl<'de> Deserialize<'de> for TekkenDocument<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> std::result::Result<Self, D::Error> {
        struct TopLevelKeys;
        impl<'de> Visitor<'de> for TopLevelKeys {
            type Value = TekkenDocument<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object with the key \"vocab\"")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut vocab = None;
                while let Some(BorrowedText(key)) = map.next_key()? {
                    if key == "vocab" {
                        set_field_once(&mut vocab, map.next_value()?, "vocab")?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                vocab.map(TekkenDocument).ok_or_else(|| A::Error::missing_field("vocab"))
            }
        }
        json.deserialize_map(TopLevelKeys)
    }
}

/// Reads the entries in order.
struct TekkenReader<'a> {
    vocab: &'a [u8],
    live: u32,
    first_id: u32,
    entries: TekkenEntries,
}

impl<'de> Visitor<'de> for &mut TekkenReader<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of entries")
    }

    /// Reads up to `live` entries, skips the remaining entries, and returns the number of entries that were read.
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<u32, A::Error> {
        for index in 0..self.live {
            let Some(entry) = seq.next_element::<&RawValue>()? else { return Ok(index) };
            self.read_entry(index, entry.get()).map_err(|what| A::Error::custom(format!("entry {index}: {what}")))?;
        }
        while let Some(entry) = seq.next_element::<&RawValue>()? {
            let range = range_in(self.vocab, entry.get());
            let start = self.entries.unused.as_ref().map_or(range.start, |unused| unused.start);
            self.entries.unused = Some(start..range.end);
        }
        Ok(self.live)
    }
}

impl TekkenReader<'_> {
    /// Reads the entry at `index` and appends a row for the entry.
    fn read_entry(&mut self, index: u32, json: &str) -> std::result::Result<(), String> {
        let entry: TekkenEntry = serde_json::from_str(json).map_err(|error| error.to_string())?;
        if entry.rank != u64::from(index) {
            return Err(format!("the rank is {}", entry.rank));
        }
        let mut bytes = Vec::new();
        base64::decode(entry.token_bytes.as_bytes(), &mut bytes)
            .ok_or_else(|| format!("token_bytes is not base64: {}", show(entry.token_bytes.as_bytes())))?;
        if index < 256 && bytes != [index as u8] {
            return Err(format!(
                "the first 256 entries must be the 256 single bytes in ascending order, but this entry is {}",
                show(&bytes)
            ));
        }
        let text = entry.token_str.as_deref();
        if text != std::str::from_utf8(&bytes).ok() {
            self.entries.unequal_texts.checked_push((index, text.map(str::to_owned)));
        }
        push_row(&mut self.entries.columns, &bytes, self.first_id + index, 0.0, Kind::Normal)
            .map_err(|error| error.to_string())
    }
}

/// An entry; each of the three keys must occur exactly once.
struct TekkenEntry<'a> {
    rank: u64,
    token_bytes: Cow<'a, str>,
    token_str: Option<Cow<'a, str>>,
}

impl<'de> Deserialize<'de> for TekkenEntry<'de> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> std::result::Result<Self, D::Error> {
        json.deserialize_map(EntryKeys)
    }
}

struct EntryKeys;

impl<'de> Visitor<'de> for EntryKeys {
    type Value = TekkenEntry<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of rank, token_bytes and token_str")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<TekkenEntry<'de>, A::Error> {
        let (mut rank, mut token_bytes, mut token_str) = (None, None, None);
        while let Some(BorrowedText(key)) = map.next_key()? {
            match &*key {
                "rank" => set_field_once(&mut rank, map.next_value()?, "rank")?,
                "token_bytes" => set_field_once(&mut token_bytes, map.next_value::<BorrowedText>()?.0, "token_bytes")?,
                "token_str" => set_field_once(&mut token_str, map.next_value::<Option<BorrowedText>>()?, "token_str")?,
                other => return Err(A::Error::unknown_field(other, &["rank", "token_bytes", "token_str"])),
            }
        }
        let missing = |name| move || A::Error::missing_field(name);
        Ok(TekkenEntry {
            rank: rank.ok_or_else(missing("rank"))?,
            token_bytes: token_bytes.ok_or_else(missing("token_bytes"))?,
            token_str: token_str.ok_or_else(missing("token_str"))?.map(|text| text.0),
        })
    }
}

/// A string, which is borrowed from the JSON if the string has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct BorrowedText<'a>(#[serde(borrow)] Cow<'a, str>);

/// Sets a value; returns an error if the key repeats.
fn set_field_once<T, E: serde::de::Error>(
    slot: &mut Option<T>,
    value: T,
    name: &'static str,
) -> std::result::Result<(), E> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(E::duplicate_field(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(rank: usize, bytes: &[u8], text: &str) -> String {
        let mut encoded = Vec::new();
        base64::encode(bytes, &mut encoded);
        let encoded = String::from_utf8(encoded).unwrap();
        format!(r#"{{"rank":{rank},"token_bytes":"{encoded}","token_str":{text}}}"#)
    }

    /// Returns the JSON of a vocabulary with the 256 bytes and the entries `longer_entries`.
    fn array(longer_entries: &[String]) -> String {
        let text = |byte: u8| {
            if byte < 128 { serde_json::json!(char::from(byte).to_string()).to_string() } else { "null".into() }
        };
        let bytes = (0..=255u8).map(|byte| entry(byte.into(), &[byte], &text(byte)));
        format!("[{}]", bytes.chain(longer_entries.iter().cloned()).collect::<Vec<_>>().join(","))
    }

    fn compact_layout(ascii: bool) -> Layout {
        Layout {
            rank: "{\"rank\":".into(),
            bytes: ",\"token_bytes\":".into(),
            text: ",\"token_str\":".into(),
            end: "}".into(),
            separator: ",".into(),
            ascii,
        }
    }

    #[test]
    fn vocabularies_are_written_back() {
        let longer_entries = [
            entry(256, "é😀\n".as_bytes(), "\"é😀\\n\""),
            entry(257, b"ab", "null"),
            entry(258, b"\xFF\xFE", "\"\u{FFFD}\""),
        ];
        let data = array(&longer_entries);
        let read = read(data.as_bytes(), 259, 1000).unwrap();
        assert_eq!((read.columns.ids[0], read.columns.ids[258]), (1000, 1258));
        assert_eq!(read.unequal_texts, [(257, None), (258, Some("\u{FFFD}".into()))]);
        assert_eq!(read.unused, None);
        let again = write(&read.columns, &read.unequal_texts, &compact_layout(false));
        assert_eq!(again, &data.as_bytes()[1..data.len() - 1]);
        let ascii = String::from_utf8(write(&read.columns, &read.unequal_texts, &compact_layout(true))).unwrap();
        assert!(ascii.contains(r#""\u00e9\ud83d\ude00\n""#) && ascii.contains(r#""\u007f""#), "{ascii}");
    }

    #[test]
    fn entries_after_the_live_ones_are_kept() {
        let data = array(&[entry(256, b"ab", "\"ab\""), "7".into(), "{\"rank\" : null}".into()]);
        let entries = read(data.as_bytes(), 257, 0).unwrap();
        assert_eq!(entries.columns.ids.len(), 257);
        assert_eq!(&data[entries.unused.unwrap()], "7,{\"rank\" : null}");
    }

    #[test]
    fn damage_is_an_error_that_names_the_entry() {
        for (json, what) in [
            (entry(255, b"ab", "null"), "vocab: entry 256: the rank is 255"),
            (entry(256, b"a", "null"), "vocab: entry 256: the token \"a\" repeats entry 97"),
            (entry(256, b"ab", "1"), "vocab: entry 256: invalid type: integer `1`"),
            (r#"{"rank":256,"token_bytes":"YWI","token_str":null}"#.into(), "entry 256: token_bytes is not base64"),
            (r#"{"rank":256,"token_bytes":"YWI="}"#.into(), "entry 256: missing field `token_str`"),
            (r#"{"rank":256,"rank":256}"#.into(), "entry 256: duplicate field `rank`"),
            (r#"{"rank":256,"more":1}"#.into(), "entry 256: unknown field `more`"),
            (r#"{"rank":99999999999999999999}"#.into(), "entry 256: invalid type"),
            (r#"[256,"YWI=",null]"#.into(), "entry 256: invalid type: sequence"),
        ] {
            let error = read(array(&[json]).as_bytes(), 257, 0).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        let error = read(b"[]", 1, 0).unwrap_err().to_string();
        assert_eq!(error, "vocab: 0 entries, but the configuration requires 1");
        assert!(read(br#"[{"rank":0,"token_bytes":"YQ==","token_str":"a"}]"#, 1, 0).is_err());
    }

    #[test]
    fn only_the_top_level_vocab_is_read() {
        let data = br#" {"a":{"vocab":[1]}, "vocab" : [ 2 ] , "b":0}"#;
        assert_eq!(&data[vocab_range(data).unwrap()], b"[ 2 ]");
        for (data, what) in [
            (&b"{}"[..], "missing field `vocab`"),
            (b"[]", "invalid type: sequence"),
            (b"{\"vocab\":1,\"vocab\":2}", "duplicate field `vocab`"),
            (b"{\"vocab\":[", "EOF"),
            (b"{\"vocab\":[]} x", "trailing"),
        ] {
            let error = vocab_range(data).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let deep = "[".repeat(1_000_000);
        assert!(vocab_range(format!("{{\"a\":{deep}").as_bytes()).is_err());
        assert!(read(deep.as_bytes(), 1, 0).is_err());
        let closed = format!("{{\"a\":{deep}{},\"vocab\":[]}}", "]".repeat(1_000_000));
        assert!(vocab_range(closed.as_bytes()).is_ok());
    }
}
