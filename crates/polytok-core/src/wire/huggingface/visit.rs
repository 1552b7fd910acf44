//! Reads a JSON document value by value with serde_json's visitors.

use std::fmt;

use polytok_memory::{Grow, GrowText};
use serde::Deserializer;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::quote;
use super::{MAX_DEPTH, MergeTexts, TextColumn};
use crate::error::{Error, Result};
use crate::utf8;

/// The contents of a file before merges are converted to ids.
#[derive(Default)]
pub(super) struct JsonDocument {
    pub(super) vocab: Option<JsonVocab>,
    pub(super) merges: Option<MergeTexts>,
    pub(super) continuing_prefix: Option<String>,
    pub(super) rest: String,
}

/// The texts of a vocabulary with their ids; with their scores instead if the vocabulary is a list.
#[derive(Default)]
pub(super) struct JsonVocab {
    pub(super) texts: TextColumn,
    pub(super) ids: Vec<u32>,
    pub(super) scores: Option<JsonScores>,
}

/// The scores of a list: the numbers that the package `tokenizers` reads, and the exact numbers. The package uses
/// serde_json without the feature float_roundtrip, so its numbers can differ from the exact numbers by one unit in the
/// last place.
#[derive(Debug, Default)]
pub(super) struct JsonScores {
    pub(super) read: Vec<f64>,
    pub(super) exact: Vec<f64>,
}

/// Reads a tokenizer.json.
pub(super) fn document(data: &[u8]) -> Result<JsonDocument> {
    let mut document = JsonDocument::default();
    parse(data, TopVisitor(&mut document))?;
    Ok(document)
}

/// Reads a vocab.json.
pub(super) fn vocab(data: &[u8]) -> Result<Option<JsonVocab>> {
    let mut entries = None;
    parse(data, VocabVisitor(&mut entries))?;
    Ok(entries)
}

/// Checks that the document has an object named `model`; reads the document only up to the start of this object.
pub(super) fn probe(data: &[u8]) -> Result<()> {
    let mut has_model = false;
    match parse_with(serde_json::Deserializer::from_slice(data), ModelProbe(&mut has_model)) {
        _ if has_model => Ok(()),
        Err(error) => Err(error),
        Ok(()) => Err(Error::Format("the document has no object named `model`, so it is not a tokenizer.json".into())),
    }
}

/// Reads a whole document. Checking all bytes for UTF-8 first takes a tenth of the time of checking each string alone;
/// strings are checked alone only in bytes that are not UTF-8, because the error says which string is wrong.
fn parse<'de>(data: &'de [u8], seed: impl DeserializeSeed<'de, Value = ()>) -> Result<()> {
    match utf8::valid(data) {
        Ok(text) => parse_with(serde_json::Deserializer::from_str(text), seed),
        Err(_) => parse_with(serde_json::Deserializer::from_slice(data), seed),
    }
}

fn parse_with<'de, R: serde_json::de::Read<'de>>(
    mut json: serde_json::Deserializer<R>,
    seed: impl DeserializeSeed<'de, Value = ()>,
) -> Result<()> {
    let wrong = |error: serde_json::Error| Error::Format(format!("JSON: {error}"));
    seed.deserialize(&mut json).map_err(wrong)?;
    json.end().map_err(wrong)
}

/// Implements `DeserializeSeed` for a type that is also a visitor.
macro_rules! visit {
    ($seed:ident, $method:ident) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = ();

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
                deserializer.$method(self)
            }
        }
    };
}

/// Sets the flag to true if the document has an object named `model`.
struct ModelProbe<'a>(&'a mut bool);
visit!(ModelProbe, deserialize_map);

impl<'de> Visitor<'de> for ModelProbe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "model" {
                map.next_value_seed(ObjectProbe(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

/// Sets the flag to true if a value is an object.
struct ObjectProbe<'a>(&'a mut bool);
visit!(ObjectProbe, deserialize_map);

impl<'de> Visitor<'de> for ObjectProbe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> std::result::Result<(), A::Error> {
        *self.0 = true;
        Err(A::Error::custom("the rest is not read"))
    }
}

struct TopVisitor<'a>(&'a mut JsonDocument);
visit!(TopVisitor, deserialize_map);

impl<'de> Visitor<'de> for TopVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tokenizer, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let document = self.0;
        document.rest.checked_push_char('{');
        while let Some(key) = map.next_key::<String>()? {
            if key == "model" {
                push_key(&mut document.rest, &key);
                map.next_value_seed(ModelVisitor(document))?;
            } else {
                push_member(&mut document.rest, &key, map.next_value()?)?;
            }
        }
        document.rest.checked_push_char('}');
        Ok(())
    }
}

struct ModelVisitor<'a>(&'a mut JsonDocument);
visit!(ModelVisitor, deserialize_map);

impl<'de> Visitor<'de> for ModelVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a model, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let document = self.0;
        (document.vocab, document.merges, document.continuing_prefix) = (None, None, None);
        document.rest.checked_push_char('{');
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "vocab" => map.next_value_seed(VocabVisitor(&mut document.vocab))?,
                "merges" => map.next_value_seed(MergesVisitor(document.merges.insert(MergeTexts::default())))?,
                _ => {
                    let raw: &RawValue = map.next_value()?;
                    if key == "continuing_subword_prefix" {
                        document.continuing_prefix = serde_json::from_str(raw.get()).map_err(A::Error::custom)?;
                    }
                    push_member(&mut document.rest, &key, raw)?;
                }
            }
        }
        document.rest.checked_push_char('}');
        Ok(())
    }
}

struct VocabVisitor<'a>(&'a mut Option<JsonVocab>);
visit!(VocabVisitor, deserialize_any);

impl<'de> Visitor<'de> for VocabVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a vocabulary: an object of texts and ids, or a list of texts and scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<(), A::Error> {
        let entries = self.0.insert(JsonVocab::default());
        while map.next_key_seed(TextVisitor(&mut entries.texts))?.is_some() {
            entries.ids.checked_push(map.next_value()?);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let entries = self.0.insert(JsonVocab { scores: Some(JsonScores::default()), ..JsonVocab::default() });
        while seq.next_element_seed(ScoredTextVisitor(entries))?.is_some() {}
        Ok(())
    }
}

/// Reads a text and its score.
struct ScoredTextVisitor<'a>(&'a mut JsonVocab);
visit!(ScoredTextVisitor, deserialize_seq);

impl<'de> Visitor<'de> for ScoredTextVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text and its score")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        let JsonVocab { texts, scores, .. } = self.0;
        let missing = |len| A::Error::invalid_length(len, &"a text and its score");
        seq.next_element_seed(TextVisitor(texts))?.ok_or_else(|| missing(0))?;
        let raw: &RawValue = seq.next_element()?.ok_or_else(|| missing(1))?;
        let scores = scores.get_or_insert_default();
        scores.read.checked_push(serde_json::from_str(raw.get()).map_err(A::Error::custom)?);
        scores.exact.checked_push(raw.get().parse().map_err(A::Error::custom)?);
        Ok(())
    }
}

/// Reads a string and appends it to a column.
struct TextVisitor<'a>(&'a mut TextColumn);
visit!(TextVisitor, deserialize_str);

impl Visitor<'_> for TextVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<(), E> {
        match self.0.push(text.as_bytes()) {
            true => Ok(()),
            false => Err(E::custom("the texts together are longer than 4 GiB")),
        }
    }
}

struct MergesVisitor<'a>(&'a mut MergeTexts);
visit!(MergesVisitor, deserialize_seq);

impl<'de> Visitor<'de> for MergesVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of merges")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        while seq.next_element_seed(MergeVisitor(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

struct MergeVisitor<'a>(&'a mut MergeTexts);
visit!(MergeVisitor, deserialize_any);

impl<'de> Visitor<'de> for MergeVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a merge, `\"a b\"` or `[\"a\", \"b\"]`, all merges in the same form")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<(), E> {
        self.0.push_line(text).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> std::result::Result<(), A::Error> {
        self.0.start_pair().map_err(A::Error::custom)?;
        let missing = |len| A::Error::invalid_length(len, &"two texts");
        seq.next_element_seed(TextVisitor(&mut self.0.texts))?.ok_or_else(|| missing(0))?;
        seq.next_element_seed(TextVisitor(&mut self.0.texts))?.ok_or_else(|| missing(1))
    }
}

/// Appends a key and its value to an object's text.
fn push_member<E: serde::de::Error>(out: &mut String, key: &str, value: &RawValue) -> std::result::Result<(), E> {
    if nesting_depth(value.get()) > MAX_DEPTH {
        return Err(E::custom(format_args!("{key} is nested deeper than {MAX_DEPTH} levels")));
    }
    push_key(out, key);
    out.checked_push_str(value.get());
    Ok(())
}

/// Appends a key and a colon to an object's text.
fn push_key(out: &mut String, key: &str) {
    if !out.ends_with('{') {
        out.checked_push_char(',');
    }
    out.checked_push_str(&quote(key));
    out.checked_push_char(':');
}

/// Returns the maximum depth of nesting in well-formed JSON.
fn nesting_depth(json: &str) -> usize {
    let (mut open, mut deepest, mut in_string) = (0usize, 0, false);
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => drop(bytes.next()),
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                open += 1;
                deepest = deepest.max(open);
            }
            b']' | b'}' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}
