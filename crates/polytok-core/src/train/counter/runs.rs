//! Writes and reads files of words. Words are sorted, so each record stores only the bytes after the prefix that the
//! word shares with the preceding word. A record consists of five parts: the length of the shared prefix plus one, the
//! number of unshared bytes, the count, the ordinal, and the unshared bytes. A 0 follows the last record.
//!
//! Numbers are encoded as LEB128. The number of bytes that words can share with their predecessors is limited
//! ([`PrefixSharing`]), so that a small file cannot expand without limit. The caller creates and deletes the files;
//! this module only writes and reads them.

use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use polytok_memory::{self as memory, Grow};

use super::entry::WordEntry;
use crate::error::{Error, Result};

/// The number of bytes that are buffered for each file. std ends the process if this memory is refused, so it
/// is less than 64 KiB.
const BUFFER_BYTES: usize = 1 << 15;

/// A file that is written once, and then read from its beginning.
pub trait RunFile: Read + Write + Seek + Send + Sync {}

impl<F: Read + Write + Seek + Send + Sync> RunFile for F {}

/// Creates files for words that do not fit into memory, and makes sure that the files are deleted.
pub trait Spill: Send + Sync {
    /// Creates an empty file.
    fn create(&self) -> io::Result<Box<dyn RunFile>>;
}

/// Converts an I/O error of a file of words.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::File(format!("cannot write or read a file of counts: {error}"))
    }
}

/// The number of shared bytes that every file can have, even a file without unshared bytes.
const FREE_SHARED_BYTES: u64 = 1 << 26;

/// The number of further shared bytes that are allowed for each unshared byte in the file.
const SHARED_PER_UNSHARED_BYTE: u64 = 1 << 8;

/// Counts the shared and unshared bytes of the words so far, to limit the size of a file after expansion. At the limit,
/// the writer writes the next word without a shared prefix. The reader rejects a file that exceeds the limit.
#[derive(Default)]
struct PrefixSharing {
    shared_bytes: u64,
    unshared_bytes: u64,
}

impl PrefixSharing {
    fn allows(&self, shared_bytes: u64) -> bool {
        self.shared_bytes.saturating_add(shared_bytes)
            <= self.unshared_bytes.saturating_mul(SHARED_PER_UNSHARED_BYTE).saturating_add(FREE_SHARED_BYTES)
    }

    fn add(&mut self, shared_bytes: u64, unshared_bytes: u64) {
        self.shared_bytes = self.shared_bytes.saturating_add(shared_bytes);
        self.unshared_bytes = self.unshared_bytes.saturating_add(unshared_bytes);
    }
}

/// Writes words as records.
pub(super) struct WordWriter<W: Write> {
    pub(super) out: W,
    previous_word: Vec<u8>,
    sharing: PrefixSharing,
}

impl<W: Write> WordWriter<W> {
    pub(super) fn new(out: W) -> WordWriter<W> {
        WordWriter { out, previous_word: Vec::new(), sharing: PrefixSharing::default() }
    }

    pub(super) fn push(&mut self, word: &[u8], entry: WordEntry) -> io::Result<()> {
        let shared = word.iter().zip(&self.previous_word).take_while(|(one, other)| one == other).count();
        let shared = if self.sharing.allows(shared as u64) { shared } else { 0 };
        self.sharing.add(shared as u64, (word.len() - shared) as u64);
        let mut numbers = memory::with_capacity(40);
        push_number(&mut numbers, shared as u64 + 1);
        push_number(&mut numbers, (word.len() - shared) as u64);
        push_number(&mut numbers, entry.count);
        push_number(&mut numbers, entry.ordinal);
        self.out.write_all(&numbers)?;
        self.out.write_all(&word[shared..])?;
        self.previous_word.truncate(shared);
        self.previous_word.checked_extend_from_slice(&word[shared..]);
        Ok(())
    }

    /// Writes the end mark.
    pub(super) fn end(&mut self) -> io::Result<()> {
        self.out.write_all(&[0])
    }
}

/// Appends a number, seven bits to a byte.
pub(crate) fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        out.checked_push(number as u8 | 128);
        number >>= 7;
    }
    out.checked_push(number as u8);
}

/// Reads the words of a [`WordWriter`].
pub(super) struct WordReader<R: Read> {
    pub(super) file: R,
    pub(super) word: Vec<u8>,
    sharing: PrefixSharing,
}

impl<R: Read> WordReader<R> {
    pub(super) fn new(file: R) -> WordReader<R> {
        WordReader { file, word: Vec::new(), sharing: PrefixSharing::default() }
    }

    /// Reads the next word. Returns `None` after the last word.
    pub(super) fn next(&mut self) -> io::Result<Option<WordEntry>> {
        let Some(shared) = self.number()?.checked_sub(1) else { return Ok(None) };
        let (own_len, count, ordinal) = (self.number()?, self.number()?, self.number()?);
        if shared > self.word.len() as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "a word shares more bytes with the preceding word than that word has",
            ));
        }
        if !self.sharing.allows(shared) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its words share more bytes than a file of this size can",
            ));
        }
        self.sharing.add(shared, own_len);
        self.word.truncate(shared as usize);
        // The buffer grows with the bytes that are read, so a wrong length in the file does not allocate memory.
        if (&mut self.file).take(own_len).read_to_end(&mut self.word)? as u64 != own_len {
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

/// Reads a file of sorted words; holds the entry of the current word.
pub(super) struct WordRun {
    reader: WordReader<BufReader<Box<dyn RunFile>>>,
    pub(super) entry: WordEntry,
}

impl WordRun {
    /// Returns the current word.
    pub(super) fn word(&self) -> &[u8] {
        &self.reader.word
    }

    /// Reads the next word. Returns false at the end.
    pub(super) fn advance(&mut self) -> Result<bool> {
        let entry = self.reader.next()?;
        self.entry = entry.unwrap_or(self.entry);
        Ok(entry.is_some())
    }

    /// Returns to the beginning of the file.
    pub(super) fn rewind(&mut self) -> Result<()> {
        self.reader.word.clear();
        self.reader.sharing = PrefixSharing::default();
        Ok(self.reader.file.rewind()?)
    }
}

/// Writes a run.
pub(super) struct RunWriter(WordWriter<BufWriter<Box<dyn RunFile>>>);

impl RunWriter {
    pub(super) fn new(file: Box<dyn RunFile>) -> RunWriter {
        RunWriter(WordWriter::new(BufWriter::with_capacity(BUFFER_BYTES, file)))
    }

    pub(super) fn push(&mut self, word: &[u8], entry: WordEntry) -> Result<()> {
        Ok(self.0.push(word, entry)?)
    }

    pub(super) fn finish(mut self) -> Result<WordRun> {
        self.0.end()?;
        let file = self.0.out.into_inner().map_err(|error| error.into_error())?;
        let reader = WordReader::new(BufReader::with_capacity(BUFFER_BYTES, file));
        Ok(WordRun { reader, entry: WordEntry { count: 0, ordinal: 0 } })
    }
}
