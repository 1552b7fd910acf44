//! A file of counts: what was counted is told in words of the caller's, then come the words in the order of their bytes.
//!
//! `MAGIC`, the length of the description as eight bytes, the description, the XXH3 of all that, the words as in a run, the sequence, then
//! as eight bytes each: how many words there are, the next ordinal, and the XXH3 of all that stands before it.

use std::io::{self, Read, Write};

use xxhash_rust::xxh3::Xxh3;

use super::runs::{WordReader, WordWriter};
use super::{EACH, WordCounter};
use crate::error::{Error, Result};
use crate::train::progress::Progress;

/// The first bytes, with the version.
const MAGIC: &[u8; 17] = b"polytok counts 1\n";

/// Longest description in bytes.
const LONGEST: u64 = 1 << 24;

/// A writer or reader with the checksum of what went through it.
struct Summed<F> {
    file: F,
    sum: Xxh3,
}

impl<F: Write> Write for Summed<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl<F: Read> Read for Summed<F> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(bytes)?;
        self.sum.update(&bytes[..count]);
        Ok(count)
    }
}

/// Writes a file. `counter` keeps what it counted.
pub fn write_counts(
    counter: &mut WordCounter,
    description: &str,
    out: impl Write,
    progress: &mut dyn Progress,
) -> Result<()> {
    let mut out = Summed { file: out, sum: Xxh3::new() };
    out.write_all(MAGIC)?;
    out.write_all(&(description.len() as u64).to_le_bytes())?;
    out.write_all(description.as_bytes())?;
    let sum = out.sum.digest();
    out.write_all(&sum.to_le_bytes())?;
    let mut writer = WordWriter::new(out);
    let mut count = 0u64;
    let next = counter.next_ordinal();
    counter.stream(&mut |word, entry| {
        count += 1;
        if count.is_multiple_of(EACH) {
            progress.report("writing counts", count, 0)?;
        }
        Ok(writer.push(word, entry)?)
    })?;
    writer.end()?;
    let mut out = writer.out;
    counter.sequence.write(&mut out)?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&next.to_le_bytes())?;
    let sum = out.sum.digest();
    out.write_all(&sum.to_le_bytes())?;
    Ok(out.flush()?)
}

/// A file that is being read.
pub struct CountsFile<R: Read> {
    reader: WordReader<Summed<R>>,
    description: String,
}

impl<R: Read> CountsFile<R> {
    /// Reads up to the description. `file` had better be buffered.
    pub fn open(file: R) -> Result<CountsFile<R>> {
        let mut file = Summed { file, sum: Xxh3::new() };
        let mut magic = [0; MAGIC.len()];
        file.read_exact(&mut magic).map_err(damaged)?;
        if magic != *MAGIC {
            return Err(Error::Format("this is no counts file of a version that is known".into()));
        }
        let len = number(&mut file)?;
        if len > LONGEST {
            return Err(wrong("its description is too long"));
        }
        let mut description = Vec::new();
        if (&mut file).take(len).read_to_end(&mut description).map_err(damaged)? as u64 != len {
            return Err(wrong("it ends early"));
        }
        let sum = file.sum.digest();
        if number(&mut file)? != sum {
            return Err(wrong("the checksum of its description is another"));
        }
        let description = String::from_utf8(description).map_err(|_| wrong("its description is no UTF-8"))?;
        Ok(CountsFile { reader: WordReader::new(file), description })
    }

    /// What was counted.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Adds all words to a counter, behind those that it has. After an error the counter is of no use.
    pub fn add_to(mut self, counter: &mut WordCounter, progress: &mut dyn Progress) -> Result<()> {
        let base = counter.next_ordinal();
        let (mut before, mut count, mut last) = (Vec::new(), 0u64, 0);
        while let Some(entry) = self.reader.next().map_err(damaged)? {
            let word = &self.reader.word;
            if count > 0 && *word <= before || entry.count == 0 {
                return Err(wrong(&format!("word {count} is out of order, or has no count")));
            }
            let ordinal = base.checked_add(entry.ordinal).ok_or_else(|| wrong("an ordinal is too large"))?;
            counter.add_at(word, entry.count, ordinal)?;
            before.clone_from(word);
            last = last.max(entry.ordinal);
            count += 1;
            if count.is_multiple_of(EACH) {
                progress.report("reading counts", count, 0)?;
            }
        }
        let most = counter.limit().map_or(usize::MAX, |limit| limit.bytes);
        counter.sequence.read(&mut self.reader.file, most)?;
        self.finish(count, last).map(|next| counter.skip_to(base.saturating_add(next)))
    }

    /// Checks the end; the next ordinal.
    fn finish(mut self, count: u64, last: u64) -> Result<u64> {
        let file = &mut self.reader.file;
        let (told, next) = (number(file)?, number(file)?);
        let sum = file.sum.digest();
        if number(file)? != sum {
            return Err(wrong("its checksum is another"));
        }
        if told != count || (count > 0 && last >= next) {
            return Err(wrong("the numbers at its end are not those of its words"));
        }
        match file.read(&mut [0]).map_err(damaged)? {
            0 => Ok(next),
            _ => Err(wrong("something stands behind its end")),
        }
    }
}

fn number(file: &mut impl Read) -> Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes).map_err(damaged)?;
    Ok(u64::from_le_bytes(bytes))
}

pub(super) fn wrong(what: &str) -> Error {
    Error::Format(format!("the counts file is damaged: {what}"))
}

/// The error for what a read says.
pub(super) fn damaged(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => wrong("it ends early"),
        io::ErrorKind::InvalidData => wrong(&error.to_string()),
        _ => error.into(),
    }
}
