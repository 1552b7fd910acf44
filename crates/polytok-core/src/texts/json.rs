//! Lines of JSON into the texts of one field.
//!
//! A line is read as Python's `json` reads it: of equal keys the last one counts; NaN, Infinity and -Infinity are numbers; a control
//! character in a string is an error, and so are bytes that are no UTF-8, wherever they stand. A byte order mark before a line
//! is passed over, and so are blank lines. A line that is a string is a text itself. An escaped surrogate without its other half is
//! kept as its three bytes, as Python keeps it: nothing else in such a text can be no UTF-8.
//!
//! Why not serde_json: it can give a string's bytes, but then not tell whether there is one; has no NaN; and does not check what it
//! passes over. Cost: linear; nesting is counted on a stack of our own, so that none is too deep.

use std::sync::Arc;

use memchr::{memchr, memchr2, memrchr};

use super::{TextEncoding, Texts};
use crate::utf8::valid;

/// Why a line has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It is not JSON: the place in the line, and whether it is for want of UTF-8.
    Broken(usize, bool),
    /// There is no such field, or it is null.
    Missing,
    /// The field is no string.
    NotText,
}

impl Left {
    /// In words, with the name of the field.
    pub fn reason(self, field: &str) -> String {
        match self {
            Left::Broken(at, false) => format!("not JSON: at byte {at} of the line"),
            Left::Broken(at, true) => format!("not JSON: no UTF-8 at byte {at} of the line"),
            Left::Missing => format!("no field '{field}'"),
            Left::NotText => format!("the field '{field}' is no text"),
        }
    }
}

/// Cuts lines of JSON into the texts of the field with this path. Also tells how many bytes were used up, and the places of
/// the lines without a text.
pub fn json_lines(data: &[u8], path: &[Vec<u8>], is_last: bool) -> (Texts, usize, Vec<(usize, Left)>) {
    let used = if is_last { data.len() } else { memrchr(b'\n', data).map_or(0, |at| at + 1) };
    let data = &data[..used];
    let is_utf8 = valid(data).is_ok();
    let mut fields = FieldTexts { texts: Vec::with_capacity(used), path, has_surrogate: false, stack: Vec::new() };
    let (mut spans, mut places, mut left) = (Vec::new(), Vec::new(), Vec::new());
    let mut from = 0;
    while from < used {
        let end = memchr(b'\n', &data[from..]).map_or(used, |length| from + length);
        let before = fields.texts.len();
        match fields.push(&data[from..end], is_utf8) {
            Some(Ok(())) => {
                spans.push(before..fields.texts.len());
                places.push(from);
            }
            Some(Err(why)) => left.push((from, why)),
            None => {}
        }
        from = end + 1;
    }
    let encoding = if fields.has_surrogate { TextEncoding::Surrogates } else { TextEncoding::Utf8 };
    (Texts { places: Some(places), encoding, ..Texts::new(Arc::new(fields.texts), spans) }, used, left)
}

/// The texts of a field, one behind the other.
struct FieldTexts<'a> {
    texts: Vec<u8>,
    path: &'a [Vec<u8>],
    /// There may be one in the texts.
    has_surrogate: bool,
    stack: Vec<u8>,
}

impl FieldTexts<'_> {
    /// Appends the text of a line's field; None if the line is blank.
    fn push(&mut self, line: &[u8], is_utf8: bool) -> Option<Result<(), Left>> {
        let before = self.texts.len();
        if !is_utf8 && let Err(at) = valid(line) {
            return Some(Err(Left::Broken(at, true)));
        }
        let json = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let mut reader = JsonReader { line: json, at: 0, has_surrogate: false, stack: &mut self.stack };
        let path = if reader.peek()? == b'"' { &[] } else { self.path };
        let found = match reader.find(path, &mut self.texts) {
            Some(found) if reader.peek().is_none() => found,
            _ => Err(Left::Broken(line.len() - json.len() + reader.at, false)),
        };
        match found {
            Ok(()) => self.has_surrogate |= reader.has_surrogate,
            Err(_) => self.texts.truncate(before),
        }
        Some(found)
    }
}

/// The result of a comparison of an object's key with the key that is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyMatch {
    Same,
    Different,
}

/// Reads values; None is what is not JSON.
struct JsonReader<'a> {
    line: &'a [u8],
    at: usize,
    /// A surrogate was met that lacks its other half.
    has_surrogate: bool,
    /// What closes the lists and objects that are open.
    stack: &'a mut Vec<u8>,
}

impl JsonReader<'_> {
    /// The next byte that is no white space.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.line.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Passes over this byte, after white space.
    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// The field of a value. Recursion is as deep as the path.
    fn find(&mut self, path: &[Vec<u8>], out: &mut Vec<u8>) -> Option<Result<(), Left>> {
        let Some((key, rest)) = path.split_first() else { return self.text(out) };
        if self.peek()? != b'{' {
            self.skip()?;
            return Some(Err(Left::Missing));
        }
        self.at += 1;
        let (mut found, before) = (Err(Left::Missing), out.len());
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(found);
        }
        loop {
            let key_match = self.key(key)?;
            self.expect(b':')?;
            if key_match == KeyMatch::Same {
                out.truncate(before);
                found = self.find(rest, out)?;
            } else {
                self.skip()?;
            }
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break self.at += 1,
                _ => return None,
            }
        }
        Some(found)
    }

    /// A value that should be a string, which is appended.
    fn text(&mut self, out: &mut Vec<u8>) -> Option<Result<(), Left>> {
        match self.peek()? {
            b'"' => self.string(|part| out.extend_from_slice(part)).map(Ok),
            b'n' => self.skip().map(|()| Err(Left::Missing)),
            _ => self.skip().map(|()| Err(Left::NotText)),
        }
    }

    /// Reads the next key of an object and compares it with `key`.
    fn key(&mut self, key: &[u8]) -> Option<KeyMatch> {
        let mut rest = Some(key);
        self.peek()?;
        self.string(|part| rest = rest.and_then(|rest| rest.strip_prefix(part)))?;
        Some(if rest.is_some_and(<[u8]>::is_empty) { KeyMatch::Same } else { KeyMatch::Different })
    }

    /// Reads a string part by part.
    #[inline]
    fn string(&mut self, mut take: impl FnMut(&[u8])) -> Option<()> {
        self.expect(b'"')?;
        loop {
            let rest = &self.line[self.at..];
            let length = memchr2(b'"', b'\\', rest)?;
            let part = &rest[..length];
            if has_control(part) {
                return None;
            }
            take(part);
            self.at += length;
            // Escapes often follow each other.
            while self.line.get(self.at) == Some(&b'\\') {
                self.at += 1;
                self.escape(&mut take)?;
            }
            if self.line.get(self.at) == Some(&b'"') {
                self.at += 1;
                return Some(());
            }
        }
    }

    /// Reads what follows a backslash.
    #[inline]
    fn escape(&mut self, take: &mut impl FnMut(&[u8])) -> Option<()> {
        let byte = *self.line.get(self.at)?;
        self.at += 1;
        take(match byte {
            b'n' => b"\n",
            b'"' => b"\"",
            b'\\' => b"\\",
            b'/' => b"/",
            b't' => b"\t",
            b'r' => b"\r",
            b'b' => b"\x08",
            b'f' => b"\x0C",
            b'u' => return self.unicode(take),
            _ => return None,
        });
        Some(())
    }

    /// Reads what follows `\u`: a character, or the first half of one and the second, escaped.
    #[inline]
    fn unicode(&mut self, take: &mut impl FnMut(&[u8])) -> Option<()> {
        let code = self.hex()?;
        let mut buffer = [0; 4];
        if let Some(character) = char::from_u32(code).or_else(|| self.joined(code)) {
            take(character.encode_utf8(&mut buffer).as_bytes());
        } else {
            self.has_surrogate = true;
            take(&[0xED, 0x80 | (code >> 6 & 0x3F) as u8, 0x80 | (code & 0x3F) as u8]);
        }
        Some(())
    }

    /// The character of a first half, if the second follows it.
    fn joined(&mut self, first: u32) -> Option<char> {
        if first >= 0xDC00 || !self.line[self.at..].starts_with(b"\\u") {
            return None;
        }
        let before = self.at;
        self.at += 2;
        match self.hex() {
            Some(second @ 0xDC00..0xE000) => char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)),
            _ => {
                self.at = before;
                None
            }
        }
    }

    /// Reads four digits.
    #[inline]
    fn hex(&mut self) -> Option<u32> {
        let digits = self.line.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |number, &digit| Some(number << 4 | (digit as char).to_digit(16)?))
    }

    /// Passes over a value, however deep.
    fn skip(&mut self) -> Option<()> {
        self.stack.clear();
        loop {
            match self.peek()? {
                b'"' => self.string(|_| ())?,
                open @ (b'[' | b'{') => {
                    self.at += 1;
                    // ] and } are two behind [ and {.
                    self.stack.push(open + 2);
                    if self.peek()? != open + 2 {
                        self.skip_key()?;
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            loop {
                let Some(&close) = self.stack.last() else { return Some(()) };
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        self.skip_key()?;
                        break;
                    }
                    byte if byte == close => {
                        self.at += 1;
                        self.stack.pop();
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Passes over a key, where there has to be one.
    fn skip_key(&mut self) -> Option<()> {
        if self.stack.last() == Some(&b'}') {
            self.peek()?;
            self.string(|_| ())?;
            self.expect(b':')?;
        }
        Some(())
    }

    /// Passes over a number or a name.
    fn scalar(&mut self) -> Option<()> {
        const NAMES: [&[u8]; 6] = [b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity"];
        let rest = &self.line[self.at..];
        self.at += match NAMES.iter().find(|name| rest.starts_with(name)) {
            Some(name) => name.len(),
            None => number(rest)?,
        };
        Some(())
    }
}

/// The length of the number at the start.
fn number(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = usize::from(text.first() == Some(&b'-'));
    let mut at = whole + digits(whole);
    if at == whole || (text[whole] == b'0' && at > whole + 1) {
        return None;
    }
    if text.get(at) == Some(&b'.') {
        at += 1 + Some(digits(at + 1)).filter(|&count| count > 0)?;
    }
    if let Some(b'e' | b'E') = text.get(at) {
        at += 1 + usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        at += Some(digits(at)).filter(|&count| count > 0)?;
    }
    Some(at)
}

/// Whether there is a control character. All bytes are looked at, which the compiler makes wide.
#[inline]
fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |has, &byte| has | (byte < b' '))
}
