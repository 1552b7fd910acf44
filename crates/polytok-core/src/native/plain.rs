//! Reads the JSON values of the section `spec`. python/polytok/plain.py writes them: an object of a class of the Spec
//! has the name of the class under `$` and omits the fields that have their default value.
//!
//! Each read removes a field from its object, and a field that nothing reads is an error: a later version may have
//! added this field, and ignoring it could change ids.

use std::collections::HashMap;

use polytok_memory::{Copied, TryCollect};

use super::json::{self, Json};
use crate::error::{Error, Result};

/// The fields of an object, and the section `data`, which has the byte strings to which the fields refer.
pub struct Fields<'a> {
    fields: HashMap<String, Json>,
    data: &'a [u8],
}

/// A function that reads the fields of one object.
type ReadObject<T> = fn(&mut Fields<'_>) -> Result<T>;

impl<'a> Fields<'a> {
    /// Reads the object in a section.
    pub fn read_section<T>(section: &[u8], data: &'a [u8], read: ReadObject<T>) -> Result<T> {
        let value = json::parse(section).map_err(|error| spec_error(&format!("it is not JSON: {error}")))?;
        Fields::read_object(value, data, read)
    }

    fn read_object<T>(value: Json, data: &'a [u8], read: ReadObject<T>) -> Result<T> {
        let Json::Object(fields) = value else {
            return Err(spec_error("a value is not an object"));
        };
        let mut fields = Fields { fields, data };
        let object = read(&mut fields)?;
        match fields.fields.keys().min() {
            Some(name) => Err(spec_error(&format!("the field {name:?} is unknown"))),
            None => Ok(object),
        }
    }

    /// Returns the name of the object's class.
    pub fn class(&mut self) -> Result<String> {
        self.text("$", None)
    }

    /// Removes a field that the engine does not need.
    pub fn skip(&mut self, name: &str) {
        self.fields.remove(name);
    }

    /// Returns a text. Without a default, the object must have the field.
    pub fn text(&mut self, name: &str, default: Option<&str>) -> Result<String> {
        match (self.fields.remove(name), default) {
            (Some(Json::Text(text)), _) => Ok(text),
            (None, Some(default)) => Ok(default.to_owned()),
            _ => Err(wrong_field(name, "a text")),
        }
    }

    /// Returns a text, or None if the field is missing or null.
    pub fn optional_text(&mut self, name: &str) -> Result<Option<String>> {
        if self.is_none(name) { Ok(None) } else { self.text(name, None).map(Some) }
    }

    /// Returns a truth value.
    pub fn bool(&mut self, name: &str, default: bool) -> Result<bool> {
        match self.scalar(name)? {
            None => Ok(default),
            Some(Json::Bool(value)) => Ok(value),
            Some(_) => Err(wrong_field(name, "true or false")),
        }
    }

    /// Returns a number. Without a default, the object must have the field.
    pub fn number(&mut self, name: &str, default: Option<usize>) -> Result<usize> {
        let value = match self.scalar(name)? {
            None => default,
            Some(value) => value.as_number(),
        };
        value.ok_or_else(|| wrong_field(name, "a number"))
    }

    /// Returns a number, None if the field is null, or the default if the field is missing.
    pub fn optional_number(&mut self, name: &str, default: Option<usize>) -> Result<Option<usize>> {
        match self.fields.get(name) {
            Some(Json::Null) => {
                self.skip(name);
                Ok(None)
            }
            None => Ok(default),
            Some(_) => self.number(name, None).map(Some),
        }
    }

    /// Returns the value that the field names.
    pub fn named<T: Copy>(&mut self, name: &str, default: Option<&str>, values: &[(&str, T)]) -> Result<T> {
        let text = self.text(name, default)?;
        let value = values.iter().find(|(value_name, _)| *value_name == text).map(|&(_, value)| value);
        value.ok_or_else(|| spec_error(&format!("{name} has the unknown value {text:?}")))
    }

    /// Returns a byte string.
    pub fn bytes(&mut self, name: &str, default: &[u8]) -> Result<Vec<u8>> {
        let Some(value) = self.fields.remove(name) else {
            return Ok(default.checked_to_vec());
        };
        let bytes =
            (value.field("$").as_text() == Some("bytes")).then(|| referenced_bytes(&value, self.data)).flatten();
        bytes.map(Copied::checked_to_vec).ok_or_else(|| wrong_field(name, "a reference to bytes"))
    }

    /// Returns the numbers of a list.
    pub fn numbers(&mut self, name: &str) -> Result<Vec<u32>> {
        let items = self.items(name)?.unwrap_or_default();
        let numbers = items.into_iter().map(|item| {
            let value = to_scalar(item, self.data);
            let number = value.as_ref().and_then(Json::as_number).and_then(|number| u32::try_from(number).ok());
            number.ok_or_else(|| wrong_field(name, "a list of ids"))
        });
        numbers.checked_try_collect()
    }

    /// Returns the objects of a list; the default is no objects.
    pub fn list<T>(&mut self, name: &str, read: ReadObject<T>) -> Result<Vec<T>> {
        Ok(self.optional_list(name, read)?.unwrap_or_default())
    }

    /// Returns the objects of a list, or None if the field is missing or null.
    pub fn optional_list<T>(&mut self, name: &str, read: ReadObject<T>) -> Result<Option<Vec<T>>> {
        let Some(items) = self.items(name)? else {
            return Ok(None);
        };
        items.into_iter().map(|item| Fields::read_object(item, self.data, read)).checked_try_collect().map(Some)
    }

    /// Returns the object in a field, or None if the field is missing or null.
    pub fn object<T>(&mut self, name: &str, read: ReadObject<T>) -> Result<Option<T>> {
        match self.fields.remove(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => Fields::read_object(value, self.data, read).map(Some),
        }
    }

    /// Removes the field if it is null. Reports whether the field is null or missing.
    fn is_none(&mut self, name: &str) -> bool {
        match self.fields.get(name) {
            None => true,
            Some(Json::Null) => self.fields.remove(name).is_some(),
            Some(_) => false,
        }
    }

    /// Returns the items of a tuple or list, or None if the field is missing or null.
    fn items(&mut self, name: &str) -> Result<Option<Vec<Json>>> {
        match self.fields.remove(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::List(items)) => Ok(Some(items)),
            Some(Json::Object(mut tuple)) if tuple.get("$").and_then(Json::as_text) == Some("tuple") => {
                match tuple.remove("items") {
                    Some(Json::List(items)) => Ok(Some(items)),
                    _ => Err(wrong_field(name, "a list")),
                }
            }
            Some(_) => Err(wrong_field(name, "a list")),
        }
    }

    fn scalar(&mut self, name: &str) -> Result<Option<Json>> {
        let Some(value) = self.fields.remove(name) else {
            return Ok(None);
        };
        to_scalar(value, self.data).map(Some).ok_or_else(|| wrong_field(name, "a number"))
    }
}

/// Returns a truth value or a number. A Spec can have numpy's scalars, which are written as arrays without dimensions.
fn to_scalar(value: Json, data: &[u8]) -> Option<Json> {
    if value.field("$").as_text() != Some("array") {
        return Some(value);
    }
    let bytes = matches!(value.field("shape"), Json::List(sizes) if sizes.is_empty())
        .then(|| referenced_bytes(&value, data))
        .flatten()?;
    let is_negative = value.field("type").as_text()?.contains('i') && bytes.last().is_some_and(|&byte| byte >= 0x80);
    if bytes.len() > size_of::<u64>() || is_negative {
        return None;
    }
    let number = bytes.iter().rev().fold(0_u64, |number, &byte| number << 8 | u64::from(byte));
    let is_bool = value.field("type").as_text() == Some("|b1");
    Some(if is_bool { Json::Bool(number != 0) } else { Json::Number(number) })
}

/// Returns the bytes in the section `data` to which a value refers.
fn referenced_bytes<'a>(value: &Json, data: &'a [u8]) -> Option<&'a [u8]> {
    let [start, end] = value.field("at").items() else { return None };
    data.get(start.as_number()?..end.as_number()?)
}

/// Returns the error for a section that is not a Spec.
pub fn spec_error(what: &str) -> Error {
    Error::Format(format!("the section spec is not a Spec: {what}; update polytok, or write the file again"))
}

fn wrong_field(name: &str, expected: &str) -> Error {
    spec_error(&format!("the field {name:?} is missing or is not {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Values = (bool, usize, Vec<u8>, Vec<u32>, Option<usize>);

    fn read(section: &str) -> Result<Values> {
        Fields::read_section(section.as_bytes(), b"\x07\0\xff", |fields| {
            Ok((
                fields.bool("flag", true)?,
                fields.number("number", Some(3))?,
                fields.bytes("bytes", b"-")?,
                fields.numbers("ids")?,
                fields.optional_number("limit", Some(100))?,
            ))
        })
    }

    #[test]
    fn fields_have_their_values_or_defaults() {
        assert_eq!(read("{}").unwrap(), (true, 3, b"-".to_vec(), vec![], Some(100)));
        let section = r#"{"flag": false, "number": {"$": "array", "type": "<u2", "shape": [], "at": [0, 2]},
            "bytes": {"$": "bytes", "at": [1, 3]}, "ids": {"$": "tuple", "items": [4, 5]}, "limit": null}"#;
        assert_eq!(read(section).unwrap(), (false, 7, b"\0\xff".to_vec(), vec![4, 5], None));
        let numpy_flag = r#"{"flag": {"$": "array", "type": "|b1", "shape": [], "at": [1, 2]}, "ids": [6]}"#;
        assert_eq!(read(numpy_flag).unwrap(), (false, 3, b"-".to_vec(), vec![6], Some(100)));
    }

    #[test]
    fn wrong_fields_are_errors_that_name_the_field() {
        let nested = format!("{{\"flag\": {}", "[".repeat(100_000));
        for (section, what) in [
            ("", "not JSON"),
            (nested.as_str(), "not JSON"),
            ("[]", "not an object"),
            (r#"{"later": 1}"#, "the field \"later\" is unknown"),
            (r#"{"flag": 1}"#, "\"flag\" is missing or is not true or false"),
            (r#"{"number": -1}"#, "\"number\""),
            (r#"{"number": {"$": "array", "type": "<i1", "shape": [], "at": [2, 3]}}"#, "\"number\""),
            (r#"{"number": {"$": "array", "type": "<u1", "shape": [1], "at": [0, 1]}}"#, "\"number\""),
            (r#"{"number": {"$": "array"}}"#, "\"number\""),
            (r#"{"bytes": {"$": "bytes", "at": [2, 4]}}"#, "\"bytes\""),
            (r#"{"bytes": {"$": "bytes", "at": [2, 1]}}"#, "\"bytes\""),
            (r#"{"bytes": "x"}"#, "\"bytes\""),
            (r#"{"ids": [4294967296]}"#, "\"ids\""),
            (r#"{"ids": {"$": "tuple"}}"#, "\"ids\""),
        ] {
            let error = read(section).unwrap_err().to_string();
            assert!(error.starts_with("the section spec is not a Spec") && error.contains(what), "{section}: {error}");
        }
    }
}
