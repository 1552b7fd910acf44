//! Writes and reads counts files. A counts file has a description of the texts, which the caller chooses, and the words
//! in the order of their bytes.
//!
//! The file has these parts, in this order: `MAGIC`; the length of the description (eight bytes); the description; the
//! XXH3 hash of all preceding bytes; the words, encoded as in a run; the sequence; the number of words, the next
//! ordinal, and the XXH3 hash of all preceding bytes (eight bytes each).

use std::io::{self, Read, Write};

use polytok_memory as memory;
use xxhash_rust::xxh3::Xxh3;

use super::runs::{WordReader, WordWriter};
use super::{WORDS_PER_REPORT, WordCounter};
use crate::error::{Error, Result};
use crate::train::progress::Progress;

/// The first bytes of a counts file, which include the version.
const MAGIC: &[u8; 17] = b"polytok counts 1\n";

/// The highest number of bytes of a description.
const MAX_DESCRIPTION: u64 = 1 << 24;

/// Wraps a file, and computes the checksum of all bytes that are written or read.
struct ChecksumFile<F> {
    file: F,
    checksum: Xxh3,
}

impl<F: Write> Write for ChecksumFile<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.checksum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<F: Read> Read for ChecksumFile<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        self.checksum.update(&bytes[..count]);
        Ok(count)
    }
}

/// Writes a counts file. The counter still has its words afterwards.
pub fn write_counts(
    counter: &mut WordCounter,
    description: &str,
    out: impl Write,
    progress: &mut dyn Progress,
) -> Result<()> {
    memory::catch(|| {
        let mut out = ChecksumFile { file: out, checksum: Xxh3::new() };
        out.write_all(MAGIC)?;
        out.write_all(&(description.len() as u64).to_le_bytes())?;
        out.write_all(description.as_bytes())?;
        let checksum = out.checksum.digest();
        out.write_all(&checksum.to_le_bytes())?;
        let mut writer = WordWriter::new(out);
        let mut count = 0u64;
        let next = counter.next_ordinal();
        counter.stream(&mut |word, entry| {
            count += 1;
            if count.is_multiple_of(WORDS_PER_REPORT) {
                progress.report("writing counts", count, 0)?;
            }
            Ok(writer.push(word, entry)?)
        })?;
        writer.end()?;
        let mut out = writer.out;
        counter.sequence.write(&mut out)?;
        out.write_all(&count.to_le_bytes())?;
        out.write_all(&next.to_le_bytes())?;
        let checksum = out.checksum.digest();
        out.write_all(&checksum.to_le_bytes())?;
        Ok(out.flush()?)
    })
}

/// A counts file that is being read.
pub struct CountsFile<R: Read> {
    reader: WordReader<ChecksumFile<R>>,
    description: String,
}

impl<R: Read> CountsFile<R> {
    /// Opens a counts file and reads the description. `file` should be buffered.
    pub fn open(file: R) -> Result<CountsFile<R>> {
        let mut file = ChecksumFile { file, checksum: Xxh3::new() };
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(read_error)?;
        if magic != *MAGIC {
            return Err(Error::Format(
                "this is not a counts file, or its version is unknown; give a file that polytok wrote".into(),
            ));
        }
        let len = number(&mut file)?;
        if len > MAX_DESCRIPTION {
            return Err(damage_error(&format!("its description has {len} bytes, more than {MAX_DESCRIPTION}")));
        }
        let mut description = Vec::new();
        if (&mut file).take(len).read_to_end(&mut description).map_err(read_error)? as u64 != len {
            return Err(damage_error("it ends early"));
        }
        let checksum = file.checksum.digest();
        if number(&mut file)? != checksum {
            return Err(damage_error("the checksum of its description does not match"));
        }
        let description = String::from_utf8(description).map_err(|_| damage_error("its description is not UTF-8"))?;
        Ok(CountsFile { reader: WordReader::new(file), description })
    }

    /// Returns the description of the texts.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Adds all words to a counter, after the words that the counter already has. After an error, discard the counter.
    pub fn add_to(mut self, counter: &mut WordCounter, progress: &mut dyn Progress) -> Result<()> {
        memory::catch(|| {
            let base = counter.next_ordinal();
            let (mut previous_word, mut count, mut last_ordinal) = (Vec::new(), 0u64, 0);
            while let Some(entry) = self.reader.next().map_err(read_error)? {
                let word = &self.reader.word;
                if count > 0 && *word <= previous_word || entry.count == 0 {
                    return Err(damage_error(&format!("word {count} is out of order, or its count is 0")));
                }
                let ordinal = base.checked_add(entry.ordinal).ok_or_else(|| damage_error("an ordinal is too large"))?;
                counter.add_at(word, entry.count, ordinal)?;
                previous_word.clone_from(word);
                last_ordinal = last_ordinal.max(entry.ordinal);
                count += 1;
                if count.is_multiple_of(WORDS_PER_REPORT) {
                    progress.report("reading counts", count, 0)?;
                }
            }
            let max_bytes = counter.limit().map_or(usize::MAX, |limit| limit.bytes);
            counter.sequence.read(&mut self.reader.file, max_bytes)?;
            self.finish(count, last_ordinal).map(|next| counter.skip_to(base.saturating_add(next)))
        })
    }

    /// Checks the end of the file and returns the next ordinal.
    fn finish(mut self, count: u64, last_ordinal: u64) -> Result<u64> {
        let file = &mut self.reader.file;
        let (words, next) = (number(file)?, number(file)?);
        let checksum = file.checksum.digest();
        if number(file)? != checksum {
            return Err(damage_error("its checksum does not match"));
        }
        if words != count || (count > 0 && last_ordinal >= next) {
            return Err(damage_error("the numbers at its end do not match its words"));
        }
        match file.read(&mut [0]).map_err(read_error)? {
            0 => Ok(next),
            _ => Err(damage_error("bytes follow its end")),
        }
    }
}

fn number(file: &mut impl Read) -> Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes).map_err(read_error)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn damage_error(damage: &str) -> Error {
    Error::Format(format!("the counts file is damaged: {damage}; count the texts again"))
}

/// Converts an I/O error to an error that says that it is about a counts file.
pub(super) fn read_error(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => damage_error("it ends early"),
        io::ErrorKind::InvalidData => damage_error(&error.to_string()),
        _ => error.into(),
    }
}
