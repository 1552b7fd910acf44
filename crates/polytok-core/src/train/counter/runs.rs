//! Words in a file. The record of a word is: the length of the prefix that it shares with the word before, plus one;
//! the number of its other bytes; its count; its ordinal; its other bytes. A 0 follows the last word.
//!
//! Numbers are LEB128. The size of the file bounds the bytes that words share ([`Sharing`]), so that a small file
//! cannot expand without end. The caller owns the files; the engine only writes and reads them.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use super::entry::WordEntry;
use crate::error::{Error, Result};

/// Bytes between the engine and a file.
const BUFFER: usize = 1 << 16;

/// A file to write, and then to read from its beginning.
pub trait RunFile: Read + Write + Seek + Send + Sync {}

impl<F: Read + Write + Seek + Send + Sync> RunFile for F {}

/// Creates files for words that do not fit into memory, and makes sure that the files are deleted.
pub trait Spill: Send + Sync {
    /// Creates an empty file.
    fn create(&self) -> io::Result<Box<dyn RunFile>>;
}

/// The error for a file that cannot be written or read.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::File(format!("cannot write or read a file of counts: {error}"))
    }
}

/// Bytes that words can share in any file.
const FREE: u64 = 1 << 26;

/// Additional bytes that words can share for each byte of a word in the file.
const FOR_EACH: u64 = 1 << 8;

/// The bytes that the words so far share. When the bound is reached, the writer writes a whole word; the reader rejects
/// a file that exceeds the bound.
#[derive(Default)]
struct Sharing {
    shared: u64,
    own: u64,
}

impl Sharing {
    fn allows(&self, shared: u64) -> bool {
        self.shared.saturating_add(shared) <= self.own.saturating_mul(FOR_EACH).saturating_add(FREE)
    }

    fn add(&mut self, shared: u64, own: u64) {
        self.shared = self.shared.saturating_add(shared);
        self.own = self.own.saturating_add(own);
    }
}

/// Writes words.
pub(super) struct WordWriter<W: Write> {
    pub(super) out: W,
    before: Vec<u8>,
    sharing: Sharing,
}

impl<W: Write> WordWriter<W> {
    pub(super) fn new(out: W) -> WordWriter<W> {
        WordWriter { out, before: Vec::new(), sharing: Sharing::default() }
    }

    pub(super) fn push(&mut self, word: &[u8], entry: WordEntry) -> io::Result<()> {
        let shared = word.iter().zip(&self.before).take_while(|(one, other)| one == other).count();
        let shared = if self.sharing.allows(shared as u64) { shared } else { 0 };
        self.sharing.add(shared as u64, (word.len() - shared) as u64);
        let mut numbers = Vec::with_capacity(40);
        put_number(&mut numbers, shared as u64 + 1);
        put_number(&mut numbers, (word.len() - shared) as u64);
        put_number(&mut numbers, entry.count);
        put_number(&mut numbers, entry.ordinal);
        self.out.write_all(&numbers)?;
        self.out.write_all(&word[shared..])?;
        self.before.truncate(shared);
        self.before.extend_from_slice(&word[shared..]);
        Ok(())
    }

    /// Writes the end mark.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.out.write_all(&[0])
    }
}

/// Appends a number, seven bits to a byte.
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        out.push(number as u8 | 128);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads the words of a [`WordWriter`].
pub(super) struct WordReader<R: Read> {
    pub(super) file: R,
    pub(super) word: Vec<u8>,
    sharing: Sharing,
}

impl<R: Read> WordReader<R> {
    pub(super) fn new(file: R) -> WordReader<R> {
        WordReader { file, word: Vec::new(), sharing: Sharing::default() }
    }

    /// Reads the next word; None after the last.
    pub(super) fn next(&mut self) -> io::Result<Option<WordEntry>> {
        let Some(shared) = self.number()?.checked_sub(1) else { return Ok(None) };
        let (rest, count, ordinal) = (self.number()?, self.number()?, self.number()?);
        if shared > self.word.len() as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a word shares more bytes than the word before has",
            ));
        }
        if !self.sharing.allows(shared) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its words share more bytes than a file of this size can hold",
            ));
        }
        self.sharing.add(shared, rest);
        self.word.truncate(shared as usize);
        // Memory grows with the bytes that are read, so a false length takes none.
        if (&mut self.file).take(rest).read_to_end(&mut self.word)? as u64 != rest {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(WordEntry { count, ordinal }))
    }

    pub(super) fn number(&mut self) -> io::Result<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte)?;
            let bits = (byte[0] & 127) as u64;
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte[0] < 128 {
                return Ok(number);
            }
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "a number has more than 64 bits"))
    }
}

/// A file of sorted words.
pub(super) struct WordRun {
    reader: WordReader<BufReader<Box<dyn RunFile>>>,
    pub(super) entry: WordEntry,
}

impl WordRun {
    /// The current word.
    pub(super) fn word(&self) -> &[u8] {
        &self.reader.word
    }

    /// Reads the next word; false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let entry = self.reader.next()?;
        self.entry = entry.unwrap_or(self.entry);
        Ok(entry.is_some())
    }

    /// Goes back to the beginning.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.reader.word.clear();
        self.reader.sharing = Sharing::default();
        Ok(self.reader.file.rewind()?)
    }
}

/// Writes a run.
pub(super) struct RunWriter(WordWriter<BufWriter<Box<dyn RunFile>>>);

impl RunWriter {
    pub(super) fn new(file: Box<dyn RunFile>) -> RunWriter {
        RunWriter(WordWriter::new(BufWriter::with_capacity(BUFFER, file)))
    }

    pub(super) fn push(&mut self, word: &[u8], entry: WordEntry) -> Result<()> {
        Ok(self.0.push(word, entry)?)
    }

    pub(super) fn finish(mut self) -> Result<WordRun> {
        self.0.end()?;
        let file = self.0.out.into_inner().map_err(|error| error.into_error())?;
        let reader = WordReader::new(BufReader::with_capacity(BUFFER, file));
        Ok(WordRun { reader, entry: WordEntry { count: 0, ordinal: 0 } })
    }
}
