//! JSON values whose memory the system can refuse; serde_json's own values and lists end the process then. serde_json
//! itself takes memory only for a text that has escapes: `parse` requests as much before.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;

use polytok_memory::{self as memory, Grow, GrowMap};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Parses a document.
pub fn parse<'de, T: Deserialize<'de>>(document: &'de [u8]) -> serde_json::Result<T> {
    memory::require(document.len());
    serde_json::from_slice(document)
}

/// A value.
#[derive(Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Number(u64),
    /// A number that is negative or not whole; the file has none.
    OtherNumber,
    Text(String),
    List(Vec<Json>),
    Object(HashMap<String, Json>),
}

impl Json {
    /// Returns a field of an object; null if the value has no such field.
    pub fn field(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.get(name).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    /// Returns the items of a list; no items for another value.
    pub fn items(&self) -> &[Json] {
        if let Json::List(items) = self { items } else { &[] }
    }

    /// Returns the text; None for another value.
    pub fn as_text(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the number; None for another value.
    pub fn as_number(&self) -> Option<usize> {
        if let Json::Number(number) = self { usize::try_from(*number).ok() } else { None }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Json, D::Error> {
        json.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Json, E> {
        Ok(Json::OtherNumber)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::OtherNumber)
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(memory::text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Json, A::Error> {
        collect(seq).map(Json::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut fields = HashMap::new();
        while let Some(JsonText(name)) = map.next_key()? {
            fields.checked_insert(name, map.next_value()?);
        }
        Ok(Json::Object(fields))
    }
}

/// A text.
pub struct JsonText(pub String);

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<JsonText, D::Error> {
        json.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl Visitor<'_> for TextVisitor {
    type Value = JsonText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonText, E> {
        Ok(JsonText(memory::text(text)))
    }
}

/// A list.
pub struct JsonList<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonList<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<JsonList<T>, D::Error> {
        json.deserialize_seq(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = JsonList<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<JsonList<T>, A::Error> {
        collect(seq).map(JsonList)
    }
}

fn collect<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut seq: A) -> Result<Vec<T>, A::Error> {
    let mut items = Vec::new();
    while let Some(item) = seq.next_element()? {
        items.checked_push(item);
    }
    Ok(items)
}
