//! Decodes ids as they arrive: ids to bytes, bytes to characters, and the search for stop texts.
//!
//! A stream of text holds back the bytes that the decoder holds back, the bytes of an incomplete character, and text
//! that can be the start of a stop text. So the text that a stream returns does not depend on the number of ids in each
//! call.

pub mod stop;

use std::sync::Arc;

use polytok_memory::{self as memory, Collect, Copied, Grow, GrowText, Refused};
use stop::{StopState, StopTexts};

use crate::decode::DecodeState;
use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;

/// What a stream does with an id that no token has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownIds {
    /// As the decoder of the family: Hugging Face's decoders skip such an id, in other families it is an error.
    #[default]
    AsDecoder,
    /// The id prints nothing.
    Skip,
    /// The id is an error.
    Error,
}

/// What a stream does with bytes that are not UTF-8, as Python's error handlers with these names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InvalidBytes {
    /// Each invalid part becomes a U+FFFD.
    #[default]
    Replace,
    /// The bytes are dropped.
    Ignore,
    /// The bytes are an error.
    Strict,
}

/// The options of a stream of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByteOptions {
    /// True if special tokens are skipped.
    pub skip_special: bool,
    /// What to do with an id that no token has.
    pub unknown: UnknownIds,
    /// True if each character of a run of byte tokens is returned when its bytes are complete ([`DecodeState::new`]).
    pub is_eager: bool,
}

/// The options of a stream of text.
#[derive(Debug, Default)]
pub struct TextOptions {
    /// The options of decoding to bytes.
    pub bytes: ByteOptions,
    /// What to do with bytes that are not UTF-8.
    pub invalid_bytes: InvalidBytes,
    /// The texts that end the text.
    pub stop: StopTexts,
}

/// An error of a stream of text.
#[derive(Debug)]
pub enum StreamError {
    /// An error of the decoder.
    Decode(Error),
    /// These bytes are not UTF-8.
    InvalidBytes(Vec<u8>),
}

impl From<Refused> for StreamError {
    fn from(refused: Refused) -> StreamError {
        StreamError::Decode(refused.into())
    }
}

impl From<Error> for StreamError {
    fn from(error: Error) -> StreamError {
        StreamError::Decode(error)
    }
}

/// A result of a stream of text.
pub type StreamResult = std::result::Result<(), StreamError>;

/// A stream of ids that are decoded to bytes.
#[derive(Clone, Debug, Default)]
pub struct ByteStream {
    options: ByteOptions,
    state: DecodeState,
}

impl ByteStream {
    /// Returns a stream at the start of a text.
    pub fn new(options: ByteOptions) -> ByteStream {
        ByteStream { options, state: DecodeState::new(options.is_eager) }
    }

    /// Returns an error if the stream cannot decode one of the ids.
    pub fn check(&self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<()> {
        let is_error = |id: u32| match self.options.unknown {
            UnknownIds::AsDecoder => !tokenizer.can_decode(id),
            UnknownIds::Skip => false,
            UnknownIds::Error => tokenizer.token_bytes(id).is_none(),
        };
        ids.iter().find(|&&id| is_error(id)).map_or(Ok(()), |&id| Err(Error::Id(id)))
    }

    /// Decodes ids that [`ByteStream::check`] accepts, and appends the bytes that are complete.
    pub fn push(&mut self, tokenizer: &Tokenizer, ids: &[u32], out: &mut Vec<u8>) -> Result<()> {
        memory::catch(|| {
            let is_known = |id: &u32| tokenizer.token_bytes(*id).is_some();
            if self.options.unknown != UnknownIds::Skip || ids.iter().all(is_known) {
                return tokenizer.decode_more(ids, self.options.skip_special, &mut self.state, out);
            }
            let known_ids: Vec<u32> = ids.iter().copied().filter(is_known).checked_collect();
            tokenizer.decode_more(&known_ids, self.options.skip_special, &mut self.state, out)
        })
    }

    /// Appends the remaining bytes, and prepares the stream for the next text.
    pub fn finish(&mut self, tokenizer: &Tokenizer, out: &mut Vec<u8>) -> Result<()> {
        memory::catch(|| tokenizer.decode_finish(&mut self.state, out))
    }
}

/// A stream of ids that are decoded to text.
#[derive(Clone, Debug)]
pub struct TextStream {
    options: Arc<TextOptions>,
    bytes: ByteStream,
    /// The bytes of a character that is not complete yet.
    incomplete_char: Vec<u8>,
    stop_state: StopState,
    /// The index of the stop text that was found.
    stopped: Option<usize>,
    /// The number of ids that were decoded.
    consumed: u64,
    is_finished: bool,
}

/// Buffers that several streams use in turn.
#[derive(Debug, Default)]
pub struct StreamBuffers {
    bytes: Vec<u8>,
    text: String,
}

impl TextStream {
    /// Returns a stream at the start of a text.
    pub fn new(options: Arc<TextOptions>) -> TextStream {
        TextStream {
            bytes: ByteStream::new(options.bytes),
            options,
            incomplete_char: Vec::new(),
            stop_state: StopState::default(),
            stopped: None,
            consumed: 0,
            is_finished: false,
        }
    }

    /// The options of the stream.
    pub fn options(&self) -> &TextOptions {
        &self.options
    }

    /// The stop text that ended the text.
    pub fn stopped(&self) -> Option<&str> {
        self.stopped.map(|index| self.options.stop.text(index))
    }

    /// The number of decoded ids of the text. If a stop text was found, the last of these ids completed it.
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Returns an error if the stream cannot decode one of the ids. After a stop text all ids are ignored.
    pub fn check(&self, tokenizer: &Tokenizer, ids: &[u32]) -> Result<()> {
        if self.is_stopped() { Ok(()) } else { self.bytes.check(tokenizer, ids) }
    }

    /// Decodes ids that [`TextStream::check`] accepts, and appends the text that they complete. If bytes are not UTF-8
    /// and this is an error, the stream does not change.
    pub fn push(
        &mut self,
        tokenizer: &Tokenizer,
        ids: &[u32],
        buffers: &mut StreamBuffers,
        out: &mut String,
    ) -> StreamResult {
        if ids.is_empty() || self.is_stopped() {
            return Ok(());
        }
        memory::catch(|| {
            if self.options.invalid_bytes != InvalidBytes::Strict {
                return self.push_checked(tokenizer, ids, buffers, out);
            }
            let (backup, len) = (self.clone(), out.len());
            self.push_checked(tokenizer, ids, buffers, out).inspect_err(|_| {
                *self = backup;
                out.truncate(len);
            })
        })
    }

    /// Appends the remaining text, and prepares the stream for the next text. The stop text and the number of ids stay
    /// until the next id arrives.
    pub fn finish(&mut self, tokenizer: &Tokenizer, buffers: &mut StreamBuffers, out: &mut String) -> StreamResult {
        memory::catch(|| self.finish_text(tokenizer, buffers, out))
    }

    fn finish_text(&mut self, tokenizer: &Tokenizer, buffers: &mut StreamBuffers, out: &mut String) -> StreamResult {
        self.is_finished = true;
        buffers.bytes.clear();
        buffers.text.clear();
        let result = self.bytes.finish(tokenizer, &mut buffers.bytes).map_err(StreamError::from);
        let result = result.and_then(|()| self.append_chars(buffers, true));
        self.incomplete_char.clear();
        let mut stop_state = std::mem::take(&mut self.stop_state);
        result?;
        if self.stopped.is_some() {
            return Ok(());
        }
        if self.options.stop.is_empty() {
            out.checked_push_str(&buffers.text);
            return Ok(());
        }
        self.stopped = self.options.stop.search(&mut stop_state, &buffers.text, out);
        self.options.stop.finish(stop_state, out);
        Ok(())
    }

    /// Reports whether a stop text ended the current text.
    fn is_stopped(&self) -> bool {
        self.stopped.is_some() && !self.is_finished
    }

    fn push_checked(
        &mut self,
        tokenizer: &Tokenizer,
        ids: &[u32],
        buffers: &mut StreamBuffers,
        out: &mut String,
    ) -> StreamResult {
        if std::mem::take(&mut self.is_finished) {
            (self.stopped, self.consumed) = (None, 0);
        }
        if self.options.stop.is_empty() {
            self.decode(tokenizer, ids, buffers)?;
            out.checked_push_str(&buffers.text);
            return Ok(());
        }
        for id in ids.chunks(1) {
            self.decode(tokenizer, id, buffers)?;
            self.stopped = self.options.stop.search(&mut self.stop_state, &buffers.text, out);
            if self.stopped.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Decodes ids to the text in `buffers`.
    fn decode(&mut self, tokenizer: &Tokenizer, ids: &[u32], buffers: &mut StreamBuffers) -> StreamResult {
        buffers.bytes.clear();
        buffers.text.clear();
        self.bytes.push(tokenizer, ids, &mut buffers.bytes)?;
        self.consumed += ids.len() as u64;
        self.append_chars(buffers, false)
    }

    /// Converts the bytes in `buffers` to text. If `is_end` is false, the bytes of an incomplete character at the end
    /// are kept for the next call.
    fn append_chars(&mut self, buffers: &mut StreamBuffers, is_end: bool) -> StreamResult {
        let StreamBuffers { bytes, text } = buffers;
        if self.incomplete_char.is_empty()
            && let Ok(valid_text) = std::str::from_utf8(bytes)
        {
            text.checked_push_str(valid_text);
            return Ok(());
        }
        let mut pending = std::mem::take(&mut self.incomplete_char);
        pending.checked_extend_from_slice(bytes);
        let mut end = 0;
        for chunk in pending.utf8_chunks() {
            text.checked_push_str(chunk.valid());
            end += chunk.valid().len() + chunk.invalid().len();
            if chunk.invalid().is_empty() {
                break;
            }
            if !is_end && end == pending.len() && is_incomplete_char(chunk.invalid()) {
                self.incomplete_char = chunk.invalid().checked_to_vec();
                break;
            }
            match self.options.invalid_bytes {
                InvalidBytes::Replace => text.checked_push_str("\u{FFFD}"),
                InvalidBytes::Ignore => {}
                InvalidBytes::Strict => return Err(StreamError::InvalidBytes(pending)),
            }
        }
        Ok(())
    }
}

/// Reports whether more bytes can complete `bytes` to a character.
fn is_incomplete_char(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}
