//! Reads the texts of one field from JSON lines.
//!
//! The rules are those of Python's `json`. If a key occurs twice, the last value counts. NaN, Infinity and -Infinity
//! are numbers. A control character in a string is an error, and bytes that are not UTF-8 are an error anywhere in the
//! line. A byte order mark at the start of a line is skipped, and so are blank lines. If the whole line is a JSON
//! string, this string is the text. An escaped surrogate that is not part of a pair is kept as three bytes, as in
//! Python; all other bytes of a text are UTF-8.
//!
//! serde_json is not used, because it cannot return a string's bytes and report whether they contain a surrogate; it
//! does not read NaN; and it does not check the values that it skips. Cost: linear. Open brackets are kept on a stack
//! on the heap, so that values can be nested to any depth.

use std::sync::Arc;

use memchr::{memchr, memchr2, memrchr};
use polytok_memory::{self as memory, Grow};

use super::{TextEncoding, Texts};
use crate::utf8::valid;

/// The reason why a line has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTextReason {
    /// The line is not JSON. The number is the offset of the error in the line; the flag is true if the error is a byte
    /// that is not UTF-8.
    InvalidJson(usize, bool),
    /// The field is missing.
    MissingField,
    /// The field is null.
    Null,
    /// The field is not a string.
    NotAString,
    /// The line has more bytes than this limit.
    TooLong(usize),
}

impl NoTextReason {
    /// Describes the reason in words; `field` is the name of the field.
    pub fn describe(self, field: &str) -> String {
        match self {
            NoTextReason::InvalidJson(at, false) => format!("not JSON: error at byte {at} of the line"),
            NoTextReason::InvalidJson(at, true) => format!("not JSON: byte {at} of the line is not UTF-8"),
            NoTextReason::MissingField => format!("no field '{field}'"),
            NoTextReason::Null => format!("the field '{field}' is null"),
            NoTextReason::NotAString => format!("the field '{field}' is not a text"),
            NoTextReason::TooLong(max_bytes) => format!("longer than {max_bytes} bytes"),
        }
    }
}

/// Reads the texts of the field at `path` from JSON lines. Lines of more than `max_bytes` are not parsed. Returns the
/// texts, the number of bytes read, and a list of the lines without a text: the start of each line and the reason.
pub fn json_lines(
    data: &[u8],
    path: &[Vec<u8>],
    is_last: bool,
    max_bytes: usize,
) -> (Texts, usize, Vec<(usize, NoTextReason)>) {
    let bytes_used = if is_last { data.len() } else { memrchr(b'\n', data).map_or(0, |at| at + 1) };
    let data = &data[..bytes_used];
    let is_utf8 = valid(data).is_ok();
    let mut collector = FieldTextCollector {
        texts: memory::with_capacity(bytes_used),
        path,
        has_surrogate: false,
        closing_brackets: Vec::new(),
    };
    let (mut spans, mut record_starts, mut lines_without_text) = (Vec::new(), Vec::new(), Vec::new());
    let mut from = 0;
    while from < bytes_used {
        let end = memchr(b'\n', &data[from..]).map_or(bytes_used, |length| from + length);
        let text_start = collector.texts.len();
        let line = &data[from..end];
        let outcome = if line.len() > max_bytes {
            Some(Err(NoTextReason::TooLong(max_bytes)))
        } else {
            collector.push(line, is_utf8)
        };
        match outcome {
            Some(Ok(())) => {
                spans.checked_push(text_start..collector.texts.len());
                record_starts.checked_push(from);
            }
            Some(Err(reason)) => lines_without_text.checked_push((from, reason)),
            None => {}
        }
        from = end + 1;
    }
    let encoding = if collector.has_surrogate { TextEncoding::Surrogates } else { TextEncoding::Utf8 };
    (
        Texts { record_starts: Some(record_starts), encoding, ..Texts::new(Arc::new(collector.texts), spans) },
        bytes_used,
        lines_without_text,
    )
}

/// Collects the texts of a field in one buffer.
struct FieldTextCollector<'a> {
    texts: Vec<u8>,
    path: &'a [Vec<u8>],
    /// True if a text can contain a surrogate.
    has_surrogate: bool,
    closing_brackets: Vec<u8>,
}

impl FieldTextCollector<'_> {
    /// Appends the text of a line's field. Returns `None` if the line is blank.
    fn push(&mut self, line: &[u8], is_utf8: bool) -> Option<Result<(), NoTextReason>> {
        let text_start = self.texts.len();
        if !is_utf8 && let Err(at) = valid(line) {
            return Some(Err(NoTextReason::InvalidJson(at, true)));
        }
        let json = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let mut reader =
            JsonReader { line: json, at: 0, has_surrogate: false, closing_brackets: &mut self.closing_brackets };
        let path = if reader.peek()? == b'"' { &[] } else { self.path };
        let outcome = match reader.find(path, &mut self.texts) {
            Some(outcome) if reader.peek().is_none() => outcome,
            _ => Err(NoTextReason::InvalidJson(line.len() - json.len() + reader.at, false)),
        };
        match outcome {
            Ok(()) => self.has_surrogate |= reader.has_surrogate,
            Err(_) => self.texts.truncate(text_start),
        }
        Some(outcome)
    }
}

/// The result of comparing a key of the line with a requested key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyMatch {
    Same,
    Different,
}

/// Reads the values of a line. The methods return `None` if the line is not JSON.
struct JsonReader<'a> {
    line: &'a [u8],
    at: usize,
    /// True if a surrogate that is not part of a pair has been read.
    has_surrogate: bool,
    /// The closing brackets of the open lists and objects.
    closing_brackets: &'a mut Vec<u8>,
}

impl JsonReader<'_> {
    /// Returns the next byte that is not white space.
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

    /// Skips white space, then reads `byte`. Returns `None` if another byte follows.
    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Reads a value, finds the field at `path` in it, and appends the field's text. The recursion is as deep as the
    /// path.
    fn find(&mut self, path: &[Vec<u8>], out: &mut Vec<u8>) -> Option<Result<(), NoTextReason>> {
        let Some((key, remaining_path)) = path.split_first() else { return self.read_text(out) };
        if self.peek()? != b'{' {
            self.skip()?;
            return Some(Err(NoTextReason::MissingField));
        }
        self.at += 1;
        let (mut outcome, text_start) = (Err(NoTextReason::MissingField), out.len());
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(outcome);
        }
        loop {
            let key_match = self.read_key(key)?;
            self.expect(b':')?;
            if key_match == KeyMatch::Same {
                out.truncate(text_start);
                outcome = self.find(remaining_path, out)?;
            } else {
                self.skip()?;
            }
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => break self.at += 1,
                _ => return None,
            }
        }
        Some(outcome)
    }

    /// Reads a value, and appends it to `out` if it is a string.
    fn read_text(&mut self, out: &mut Vec<u8>) -> Option<Result<(), NoTextReason>> {
        match self.peek()? {
            b'"' => self.read_string(|part| out.checked_extend_from_slice(part)).map(Ok),
            b'n' => self.skip().map(|()| Err(NoTextReason::Null)),
            _ => self.skip().map(|()| Err(NoTextReason::NotAString)),
        }
    }

    /// Reads a key of the line and compares it with `key`.
    fn read_key(&mut self, key: &[u8]) -> Option<KeyMatch> {
        let mut remaining_key = Some(key);
        self.peek()?;
        self.read_string(|part| {
            remaining_key = remaining_key.and_then(|remaining_key| remaining_key.strip_prefix(part))
        })?;
        Some(if remaining_key.is_some_and(<[u8]>::is_empty) { KeyMatch::Same } else { KeyMatch::Different })
    }

    /// Reads a string and passes its decoded parts to `receive_part` in order.
    #[inline]
    fn read_string(&mut self, mut receive_part: impl FnMut(&[u8])) -> Option<()> {
        self.expect(b'"')?;
        loop {
            let unread_line = &self.line[self.at..];
            let length = memchr2(b'"', b'\\', unread_line)?;
            let part = &unread_line[..length];
            if has_control_character(part) {
                return None;
            }
            receive_part(part);
            self.at += length;
            // Often several escapes follow each other directly.
            while self.line.get(self.at) == Some(&b'\\') {
                self.at += 1;
                self.read_escape(&mut receive_part)?;
            }
            if self.line.get(self.at) == Some(&b'"') {
                self.at += 1;
                return Some(());
            }
        }
    }

    /// Reads the rest of an escape after its backslash.
    #[inline]
    fn read_escape(&mut self, receive_part: &mut impl FnMut(&[u8])) -> Option<()> {
        let byte = *self.line.get(self.at)?;
        self.at += 1;
        receive_part(match byte {
            b'n' => b"\n",
            b'"' => b"\"",
            b'\\' => b"\\",
            b'/' => b"/",
            b't' => b"\t",
            b'r' => b"\r",
            b'b' => b"\x08",
            b'f' => b"\x0C",
            b'u' => return self.read_unicode_escape(receive_part),
            _ => return None,
        });
        Some(())
    }

    /// Reads the digits of a `\u` escape. After the escape of a first surrogate, also reads the escape of its second
    /// surrogate.
    #[inline]
    fn read_unicode_escape(&mut self, receive_part: &mut impl FnMut(&[u8])) -> Option<()> {
        let code = self.read_hex()?;
        let mut buffer = [0; 4];
        if let Some(character) = char::from_u32(code).or_else(|| self.join_surrogates(code)) {
            receive_part(character.encode_utf8(&mut buffer).as_bytes());
        } else {
            self.has_surrogate = true;
            receive_part(&[0xED, 0x80 | (code >> 6 & 0x3F) as u8, 0x80 | (code & 0x3F) as u8]);
        }
        Some(())
    }

    /// Reads the escape of a second surrogate, if one follows, and returns the character of the pair.
    fn join_surrogates(&mut self, first: u32) -> Option<char> {
        if first >= 0xDC00 || !self.line[self.at..].starts_with(b"\\u") {
            return None;
        }
        let escape_start = self.at;
        self.at += 2;
        match self.read_hex() {
            Some(second @ 0xDC00..0xE000) => char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)),
            _ => {
                self.at = escape_start;
                None
            }
        }
    }

    /// Reads four hexadecimal digits.
    #[inline]
    fn read_hex(&mut self) -> Option<u32> {
        let digits = self.line.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |number, &digit| Some(number << 4 | (digit as char).to_digit(16)?))
    }

    /// Skips a value, nested to any depth.
    fn skip(&mut self) -> Option<()> {
        self.closing_brackets.clear();
        loop {
            match self.peek()? {
                b'"' => self.read_string(|_| ())?,
                open @ (b'[' | b'{') => {
                    self.at += 1;
                    // In ASCII, `]` is `[` + 2, and `}` is `{` + 2.
                    self.closing_brackets.checked_push(open + 2);
                    if self.peek()? != open + 2 {
                        self.skip_key()?;
                        continue;
                    }
                }
                _ => self.skip_scalar()?,
            }
            loop {
                let Some(&close) = self.closing_brackets.last() else { return Some(()) };
                match self.peek()? {
                    b',' => {
                        self.at += 1;
                        self.skip_key()?;
                        break;
                    }
                    byte if byte == close => {
                        self.at += 1;
                        self.closing_brackets.pop();
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Skips a key, if the innermost open bracket is an object.
    fn skip_key(&mut self) -> Option<()> {
        if self.closing_brackets.last() == Some(&b'}') {
            self.peek()?;
            self.read_string(|_| ())?;
            self.expect(b':')?;
        }
        Some(())
    }

    /// Skips a number or a literal such as `true`.
    fn skip_scalar(&mut self) -> Option<()> {
        const LITERALS: [&[u8]; 6] = [b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity"];
        let unread_line = &self.line[self.at..];
        self.at += match LITERALS.iter().find(|name| unread_line.starts_with(name)) {
            Some(name) => name.len(),
            None => number_len(unread_line)?,
        };
        Some(())
    }
}

/// Returns the length of the number at the start of a text.
fn number_len(text: &[u8]) -> Option<usize> {
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign_len = usize::from(text.first() == Some(&b'-'));
    let mut at = sign_len + digits(sign_len);
    if at == sign_len || (text[sign_len] == b'0' && at > sign_len + 1) {
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

/// Reports whether a text has a control character. The loop has no early exit, so that the compiler can vectorize it.
#[inline]
fn has_control_character(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |has, &byte| has | (byte < b' '))
}
