//! Streams, which decode ids as they arrive.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use polytok_core::error::{Error, Result};
use polytok_core::streams::{ByteOptions, StreamBuffers, StreamError, TextOptions, TextStream};
use polytok_core::tokenizer::Tokenizer;

use crate::error::{PolytokStatus, run};
use crate::memory::{array, object, result};
use crate::tokenizer::{POLYTOK_SKIP_SPECIAL, PolytokTokenizer, check_flags};

/// A stream of ids that are decoded to text. One thread can use it at a time.
pub struct PolytokStream {
    tokenizer: Arc<Tokenizer>,
    stream: TextStream,
    buffers: StreamBuffers,
    /// The text that the last call returned.
    text: String,
}

/// Creates a stream. `flags` is 0 or `POLYTOK_SKIP_SPECIAL`. The stream keeps the data of the tokenizer, so the
/// tokenizer can be freed first. The caller frees the stream with `polytok_stream_free`.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, and `stream` must point to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_stream_new(
    tokenizer: *const PolytokTokenizer,
    flags: u32,
    stream: *mut *mut PolytokStream,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, tokenizer) = unsafe { (result("stream", stream, ptr::null_mut())?, object("tokenizer", tokenizer)?) };
        check_flags(flags, POLYTOK_SKIP_SPECIAL)?;
        let bytes = ByteOptions { skip_special: flags & POLYTOK_SKIP_SPECIAL != 0, ..ByteOptions::default() };
        *out = Box::into_raw(Box::new(PolytokStream {
            tokenizer: tokenizer.tokenizer.clone(),
            stream: TextStream::new(Arc::new(TextOptions { bytes, ..TextOptions::default() })),
            buffers: StreamBuffers::default(),
            text: String::new(),
        }));
        Ok(())
    })
}

/// Decodes the next `ids_len` ids, and writes to `text` and `text_len` the text that later ids cannot change, in UTF-8,
/// without a NUL at its end. Bytes that are not UTF-8 become U+FFFD. The text belongs to the stream, and is valid until
/// the next call with this stream. After an error the stream is as before the call.
///
/// # Safety
///
/// `stream` must be a stream of this library that no other thread uses now, `ids` must point to `ids_len` ids, `text` to
/// memory for a pointer, and `text_len` to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_stream_push(
    stream: *mut PolytokStream,
    ids: *const u32,
    ids_len: usize,
    text: *mut *const c_char,
    text_len: *mut usize,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let ids = unsafe { array("ids", ids, ids_len) };
        // SAFETY: as above.
        unsafe {
            with_stream(stream, text, text_len, |PolytokStream { tokenizer, stream, buffers, text }| {
                let ids = ids?;
                stream.check(tokenizer, ids)?;
                stream.push(tokenizer, ids, buffers, text).map_err(engine_error)
            })
        }
    })
}

/// Writes to `text` and `text_len` the remaining text, as `polytok_stream_push` does, and prepares the stream for the
/// next text.
///
/// # Safety
///
/// `stream` must be a stream of this library that no other thread uses now, `text` must point to memory for a pointer,
/// and `text_len` to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_stream_finish(
    stream: *mut PolytokStream,
    text: *mut *const c_char,
    text_len: *mut usize,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        unsafe {
            with_stream(stream, text, text_len, |PolytokStream { tokenizer, stream, buffers, text }| {
                stream.finish(tokenizer, buffers, text).map_err(engine_error)
            })
        }
    })
}

/// Frees a stream. `stream` can be null.
///
/// # Safety
///
/// `stream` must be null, or a stream that this library returned and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_stream_free(stream: *mut PolytokStream) {
    if !stream.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(stream) });
    }
}

/// Calls a function that fills the text of a stream, and lends the text to the caller.
///
/// # Safety
///
/// As for `polytok_stream_finish`.
unsafe fn with_stream(
    stream: *mut PolytokStream,
    text: *mut *const c_char,
    text_len: *mut usize,
    fill: impl FnOnce(&mut PolytokStream) -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let (text, text_len, stream) = unsafe {
        let (text, text_len) = (result("text", text, ptr::null())?, result("text_len", text_len, 0)?);
        (text, text_len, stream.as_mut().ok_or_else(|| Error::Argument("stream is null; pass a stream".into()))?)
    };
    stream.text.clear();
    fill(stream)?;
    (*text, *text_len) = (stream.text.as_ptr().cast(), stream.text.len());
    Ok(())
}

/// Converts the error of a stream. Bytes that are not UTF-8 are replaced, so they are no error here.
fn engine_error(error: StreamError) -> Error {
    match error {
        StreamError::Decode(error) => error,
        StreamError::InvalidBytes(_) => Error::Encode("the bytes of the ids are not UTF-8".into()),
    }
}
