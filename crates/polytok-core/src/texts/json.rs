//! Lines of JSON into the texts of one field.
//!
//! A line is read as Python's `json` reads it: of equal keys the last one counts; NaN, Infinity and -Infinity are numbers; a control
//! character in a string is an error. A byte order mark before a line is passed over, and so are blank lines. An escaped surrogate
//! without its other half becomes U+FFFD, as in every text of Python. Bytes are not checked for UTF-8 here: those of the text
//! itself are its own matter, and those beside it are nobody's.
//!
//! Why not serde_json: it can give a string's bytes, but then not tell whether there is one; has no NaN; and cannot say which of a
//! text's surrogates were escaped. Cost: linear; nesting is counted on a stack of our own, so that none is too deep.

use std::sync::Arc;

use memchr::{memchr, memchr2};

use super::Texts;

/// Why a line has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It is not JSON.
    Broken,
    /// There is no such field.
    Missing,
    /// The field is null.
    Null,
    /// The field is no string.
    NotText,
}

impl Left {
    /// In words.
    pub fn reason(self) -> &'static str {
        match self {
            Left::Broken => "not JSON",
            Left::Missing => "field is missing",
            Left::Null => "field is null",
            Left::NotText => "field is not text",
        }
    }
}

/// Cuts lines of JSON into the texts of the field with this path. Also tells how many bytes were used up, and the places of
/// the lines without a text.
pub fn json_lines(data: &[u8], path: &[Vec<u8>], is_last: bool) -> (Texts, usize, Vec<(usize, Left)>) {
    let (mut texts, mut spans, mut places, mut left) =
        (Vec::with_capacity(data.len()), Vec::new(), Vec::new(), Vec::new());
    let (mut from, mut stack) = (0, Vec::new());
    while from < data.len() {
        let end = memchr(b'\n', &data[from..]).map(|length| from + length);
        if end.is_none() && !is_last {
            break;
        }
        let line = &data[from..end.unwrap_or(data.len())];
        let before = texts.len();
        match field(line, path, &mut texts, &mut stack) {
            Some(Ok(())) => {
                spans.push(before..texts.len());
                places.push(from);
            }
            Some(Err(why)) => left.push((from, why)),
            None => {}
        }
        from = end.map_or(data.len(), |end| end + 1);
    }
    (Texts::new(Arc::new(texts), spans).with_places(places), from, left)
}

/// Appends the text of a line's field; None if the line is blank.
fn field(line: &[u8], path: &[Vec<u8>], out: &mut Vec<u8>, stack: &mut Vec<u8>) -> Option<Result<(), Left>> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let mut reader = Reader { line, at: 0, stack };
    reader.peek()?;
    let before = out.len();
    let found = reader.find(path, out).filter(|_| reader.peek().is_none()).unwrap_or(Err(Left::Broken));
    if found.is_err() {
        out.truncate(before);
    }
    Some(found)
}

/// Reads values; None is what is not JSON.
struct Reader<'a> {
    line: &'a [u8],
    at: usize,
    /// What closes the lists and objects that are open.
    stack: &'a mut Vec<u8>,
}

impl Reader<'_> {
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
            let is_it = self.key(key)?;
            self.expect(b':')?;
            if is_it {
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
            b'n' => self.skip().map(|()| Err(Left::Null)),
            _ => self.skip().map(|()| Err(Left::NotText)),
        }
    }

    /// Reads a key and tells whether it is this one.
    fn key(&mut self, key: &[u8]) -> Option<bool> {
        let mut rest = Some(key);
        self.peek()?;
        self.string(|part| rest = rest.and_then(|rest| rest.strip_prefix(part)))?;
        Some(rest.is_some_and(<[u8]>::is_empty))
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
            self.at += length + 1;
            if rest[length] == b'"' {
                return Some(());
            }
            let mut buffer = [0; 4];
            take(self.escape()?.encode_utf8(&mut buffer).as_bytes());
        }
    }

    /// Reads what follows a backslash.
    #[inline]
    fn escape(&mut self) -> Option<char> {
        let byte = *self.line.get(self.at)?;
        self.at += 1;
        Some(match byte {
            b'n' => '\n',
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'u' => self.unicode()?,
            _ => return None,
        })
    }

    /// Reads what follows `\u`: a character, or the first half of one and the second, escaped.
    fn unicode(&mut self) -> Option<char> {
        let first = self.hex()?;
        if let 0xD800..0xDC00 = first
            && self.line[self.at..].starts_with(b"\\u")
        {
            let before = self.at;
            self.at += 2;
            let second = self.hex()?;
            if let 0xDC00..0xE000 = second {
                return char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00));
            }
            self.at = before;
        }
        Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// Reads four digits.
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
