//! Reads RWKV World's vocabulary: lines `id SP literal SP length`, in which the literal is a Python literal of a
//! `str` or `bytes`.
//!
//! The reference evaluates the literal with Python; this module parses the literal: `'…'` or `"…"`, with `b` before the
//! quote for bytes, and with the escapes of Python. The escape `\N{…}` is an error, because it would need the names of
//! all characters. As in Python, an unknown escape keeps its backslash. The bytes of a `str` are its UTF-8. Cost: one
//! pass over the lines, and two maps.

use std::collections::HashMap;

use polytok_memory::{self as memory, Grow, GrowMap};

use super::texts::find_repeated_text;
use super::{decimal, empty_columns, lines, push_row, show, text};
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// Reads all lines, in file order.
pub fn read(data: &[u8]) -> Result<VocabColumns> {
    memory::catch(|| {
        let mut columns = empty_columns();
        let mut line_of_id = HashMap::new();
        for (number, line) in lines(data) {
            let wrong = |what: String| Error::Format(format!("line {number}: {what}: {}", show(line)));
            let (id, text) = read_line(line).map_err(wrong)?;
            if let Some(first) = line_of_id.checked_insert(id, number) {
                return Err(wrong(format!("the id {id} repeats line {first}")));
            }
            push_row(&mut columns, &text, id, 0.0, Kind::Normal)?;
        }
        check_texts(&columns)?;
        Ok(columns)
    })
}

fn check_texts(columns: &VocabColumns) -> Result<()> {
    let Some((first, row)) = find_repeated_text(columns) else {
        return Ok(());
    };
    let what = format!("the token {} repeats line {}", show(text(columns, row)), first + 1);
    Err(Error::Format(format!("line {}: {what}", row + 1)))
}

fn read_line(line: &[u8]) -> std::result::Result<(u32, Vec<u8>), String> {
    let first = memchr::memchr(b' ', line).ok_or("not `id literal length`")?;
    let last = memchr::memrchr(b' ', line).filter(|&last| last > first).ok_or("not `id literal length`")?;
    let id = decimal(&line[..first]).ok_or("the id is not a number from 0 to 4294967295")?;
    let length = decimal(&line[last + 1..]).ok_or("the length is not a number")?;
    let text = parse_literal(&line[first + 1..last])?;
    if text.is_empty() {
        return Err("the token is empty".into());
    }
    if text.len() != length as usize {
        return Err(format!("the token has {} bytes, not {length}", text.len()));
    }
    Ok((id, text))
}

/// Returns the bytes of a Python literal; for a `str`, its UTF-8.
fn parse_literal(literal: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let (is_bytes, quoted) = match literal {
        [b'b' | b'B', quoted @ ..] => (true, quoted),
        quoted => (false, quoted),
    };
    let body = match quoted {
        [quote @ (b'\'' | b'"'), body @ .., end] if end == quote => LiteralBody { left: body, quote: *quote, is_bytes },
        _ => return Err("the literal is not in quotes".into()),
    };
    if is_bytes && !body.left.is_ascii() {
        return Err("a bytes literal can have only ASCII characters".into());
    }
    if std::str::from_utf8(body.left).is_err() {
        return Err("the line is not valid UTF-8".into());
    }
    body.parse()
}

/// The part of a literal between its quotes.
struct LiteralBody<'a> {
    left: &'a [u8],
    quote: u8,
    is_bytes: bool,
}

impl LiteralBody<'_> {
    fn parse(mut self) -> std::result::Result<Vec<u8>, String> {
        let mut out = memory::with_capacity(self.left.len());
        while let Some((&byte, left)) = self.left.split_first() {
            self.left = left;
            match byte {
                b'\\' => self.parse_escape(&mut out)?,
                _ if byte == self.quote => {
                    return Err("the literal ends before the length begins".into());
                }
                _ => out.checked_push(byte),
            }
        }
        Ok(out)
    }

    fn parse_escape(&mut self, out: &mut Vec<u8>) -> std::result::Result<(), String> {
        let (&byte, left) = self.left.split_first().ok_or("the literal ends within an escape")?;
        let code_point = match byte {
            b'0'..=b'7' => self.take_octal(),
            b'x' => self.take_hex(2)?,
            b'u' if !self.is_bytes => self.take_hex(4)?,
            b'U' if !self.is_bytes => self.take_hex(8)?,
            b'N' if !self.is_bytes => {
                return Err("\\N{…} escapes are not read; write the character, or \\u with its number".into());
            }
            _ => {
                self.left = left;
                push_simple_escape(byte, out);
                return Ok(());
            }
        };
        self.push_number(code_point, out)
    }

    fn push_number(&self, number: u32, out: &mut Vec<u8>) -> std::result::Result<(), String> {
        if self.is_bytes {
            // Three octal digits can be a number above 255, of which Python uses the low byte.
            out.checked_push(number as u8);
            return Ok(());
        }
        let character = char::from_u32(number).ok_or_else(|| format!("U+{number:04X} is not a Unicode character"))?;
        out.checked_extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Reads one to three octal digits.
    fn take_octal(&mut self) -> u32 {
        let digits = self.left.iter().take(3).take_while(|digit| (b'0'..=b'7').contains(digit)).count();
        let (octal, left) = self.left.split_at(digits);
        self.left = left;
        octal.iter().fold(0, |number, digit| number << 3 | u32::from(digit - b'0'))
    }

    /// Skips the letter of the escape, and reads exactly `count` hexadecimal digits.
    fn take_hex(&mut self, count: usize) -> std::result::Result<u32, String> {
        let short = || format!("an escape needs {count} hexadecimal digits");
        let digits = self.left.get(1..=count).ok_or_else(short)?;
        self.left = &self.left[1 + count..];
        digits.iter().try_fold(0u32, |number, &digit| {
            (digit as char).to_digit(16).map(|value| number << 4 | value).ok_or_else(short)
        })
    }
}

fn push_simple_escape(byte: u8, out: &mut Vec<u8>) {
    let character = match byte {
        b'\\' | b'\'' | b'"' => byte,
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0B,
        _ => {
            out.checked_push(b'\\');
            byte
        }
    };
    out.checked_push(character);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_like_python() {
        for (literal, bytes) in [
            (r"'a b'", &b"a b"[..]),
            (r#""it's""#, b"it's"),
            (r#"'\'\"\\'"#, b"'\"\\"),
            (r"'\a\b\f\n\r\t\v\0'", b"\x07\x08\x0C\n\r\t\x0B\0"),
            (r"'\x41\xe9'", "A\u{E9}".as_bytes()),
            (r"b'\xe9\377\777A'", b"\xE9\xFF\xFFA"),
            (r"'\u20ac\U0001F600'", "\u{20AC}\u{1F600}".as_bytes()),
            (r"'\1012'", b"A2"),
            (r"'\q'", b"\\q"),
            (r"b'\u20ac'", b"\\u20ac"),
            (r"B'\N{BULLET}'", b"\\N{BULLET}"),
            ("'é'", "é".as_bytes()),
        ] {
            assert_eq!(parse_literal(literal.as_bytes()).as_deref(), Ok(bytes), "{literal}");
        }
    }

    #[test]
    fn damage_is_an_error_that_names_the_line() {
        for (data, what) in [
            ("1 'a' 1\n\n", "line 2: not `id literal length`"),
            ("1 1", "not `id literal length`"),
            ("x 'a' 1", "the id is not a number"),
            ("1 'a' x", "the length is not a number"),
            ("1 'a' 2", "the token has 1 bytes, not 2"),
            ("1 '' 0", "empty"),
            ("1 a 1", "not in quotes"),
            ("1 ' 1", "not in quotes"),
            ("1 'a'b' 3", "ends before"),
            (r"1 'a\' 1", "ends within an escape"),
            (r"1 '\x4' 1", "2 hexadecimal digits"),
            (r"1 '\x+4' 1", "2 hexadecimal digits"),
            (r"1 '\ud800' 3", "U+D800"),
            (r"1 '\U00110000' 4", "U+110000"),
            (r"1 '\N{BULLET}' 3", r"or \u with its number"),
            ("1 b'é' 2", "ASCII"),
            ("1 'a' 1\n1 'b' 1", "line 2: the id 1 repeats line 1"),
            ("1 'a' 1\n2 'a' 1", "line 2: the token \"a\" repeats line 1"),
        ] {
            let error = read(data.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(read(b"1 '\xFF' 1").unwrap_err().to_string().contains("valid UTF-8"));
    }
}
