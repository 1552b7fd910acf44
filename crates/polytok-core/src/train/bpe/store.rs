//! Stores words as symbols in a file, for learning within a memory limit.
//!
//! A word is written as its count, the number of its symbols, and the symbols, all as LEB128. In the first round most
//! symbols take one byte, in later rounds two bytes.

use std::io::{self, BufWriter, Read, Write};

use polytok_memory::{self as memory, Grow};

use crate::error::Result;
use crate::train::counter::RunFile;
use crate::train::counter::runs::push_number;

/// The size of the buffer between the engine and a file, in bytes. std ends the process if this memory is
/// refused, so it is less than 64 KiB.
const BUFFER_BYTES: usize = 1 << 15;

/// The highest number of bytes of an encoded number.
const MAX_NUMBER_LEN: usize = 10;

/// Writes words to a file.
pub struct StoreWriter {
    out: BufWriter<Box<dyn RunFile>>,
    word: Vec<u8>,
}

impl StoreWriter {
    /// Creates a writer to an empty file.
    pub fn new(file: Box<dyn RunFile>) -> StoreWriter {
        StoreWriter { out: BufWriter::with_capacity(BUFFER_BYTES, file), word: Vec::new() }
    }

    /// Adds a word.
    pub fn push(&mut self, symbols: &[u32], count: u64) -> Result<()> {
        self.word.clear();
        push_number(&mut self.word, count);
        push_number(&mut self.word, symbols.len() as u64);
        symbols.iter().for_each(|&symbol| push_number(&mut self.word, u64::from(symbol)));
        Ok(self.out.write_all(&self.word)?)
    }

    /// Ends the file and returns a reader of its words.
    pub fn finish(self) -> Result<WordStore> {
        let file = self.out.into_inner().map_err(|error| error.into_error())?;
        Ok(WordStore { file })
    }
}

/// A file of words, each stored as symbols.
pub struct WordStore {
    file: Box<dyn RunFile>,
}

impl WordStore {
    /// Calls `visit` with the symbols and the count of every word, in the order of the file.
    pub fn for_each_word(&mut self, mut visit: impl FnMut(&[u32], u64) -> Result<()>) -> Result<()> {
        self.file.rewind()?;
        let mut numbers = NumberReader { file: &mut self.file, block: memory::zeroed(BUFFER_BYTES), at: 0, end: 0 };
        let mut symbols = Vec::new();
        while numbers.fill()? {
            let count = numbers.next()?;
            symbols.clear();
            for _ in 0..numbers.next()? {
                symbols.checked_push(numbers.next()? as u32);
            }
            visit(&symbols, count)?;
        }
        Ok(())
    }
}

/// Reads numbers from a file, in blocks.
struct NumberReader<'f> {
    file: &'f mut Box<dyn RunFile>,
    block: Vec<u8>,
    at: usize,
    end: usize,
}

impl NumberReader<'_> {
    /// Makes sure that the block contains the whole next number. Returns false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        while self.end - self.at < MAX_NUMBER_LEN {
            self.block.copy_within(self.at..self.end, 0);
            (self.at, self.end) = (0, self.end - self.at);
            match self.file.read(&mut self.block[self.end..])? {
                0 => return Ok(self.end > 0),
                count => self.end += count,
            }
        }
        Ok(true)
    }

    #[inline]
    fn next(&mut self) -> io::Result<u64> {
        if self.end - self.at < MAX_NUMBER_LEN {
            self.fill()?;
        }
        let (mut number, mut shift) = (0, 0);
        for (index, &byte) in self.block[self.at..self.end].iter().take(MAX_NUMBER_LEN).enumerate() {
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                self.at += index + 1;
                return Ok(number);
            }
        }
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}
