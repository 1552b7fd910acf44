//! Tokenizers: loads them, encodes, counts and decodes.

use std::ffi::c_char;
use std::ptr;
use std::sync::Arc;

use polytok_core::error::{Error, Result};
use polytok_core::native::Image;
use polytok_core::special::SpecialSet;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use polytok_core::wire::rank_file;

use crate::error::{PolytokStatus, run};
use crate::memory::{PolytokBytes, PolytokIds, array, give, object, result, text};

/// A flag for encoding: the ids of the template, such as BOS and EOS, are added around the text.
pub const POLYTOK_ADD_SPECIAL: u32 = 1;
/// A flag for encoding: special tokens in the text are encoded to their ids. Without this flag they are plain text, as
/// text from outside should be.
pub const POLYTOK_PARSE_SPECIAL: u32 = 2;
/// A flag for decoding: special tokens print nothing.
pub const POLYTOK_SKIP_SPECIAL: u32 = 4;

/// A tokenizer. It never changes, and any number of threads can use it at the same time.
pub struct PolytokTokenizer {
    pub(crate) tokenizer: Arc<Tokenizer>,
    /// All special tokens; None if there are none.
    all_special: Option<SpecialSet>,
}

/// A special token of a rank file.
#[repr(C)]
#[derive(Debug)]
pub struct PolytokSpecialToken {
    /// The text, in UTF-8, with a NUL at its end.
    pub text: *const c_char,
    /// The id.
    pub id: u32,
}

/// Loads the bytes of a `.ptok` file. The bytes are copied, so the caller can free them after the call. The caller frees
/// the tokenizer with `polytok_tokenizer_free`.
///
/// # Safety
///
/// `data` must point to `len` bytes, and `tokenizer` to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_load_ptok(
    data: *const u8,
    len: usize,
    tokenizer: *mut *mut PolytokTokenizer,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, data) = unsafe { (result("tokenizer", tokenizer, ptr::null_mut())?, array("data", data, len)?) };
        give_tokenizer(Tokenizer::from_image(Image::copy(data)?)?, out)
    })
}

/// Loads the bytes of one of tiktoken's rank files. `pattern` is the regular expression that splits texts; null if texts
/// are not split. The file has no special tokens, so the caller passes `special_len` of them. Everything is copied. The
/// caller frees the tokenizer with `polytok_tokenizer_free`.
///
/// # Safety
///
/// `data` must point to `len` bytes, `pattern` to a text that ends with a NUL, or be null, `special` to `special_len`
/// special tokens, and `tokenizer` to memory for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_load_rank_file(
    data: *const u8,
    len: usize,
    pattern: *const c_char,
    special: *const PolytokSpecialToken,
    special_len: usize,
    tokenizer: *mut *mut PolytokTokenizer,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, data, special) = unsafe {
            let out = result("tokenizer", tokenizer, ptr::null_mut())?;
            (out, array("data", data, len)?, array("special", special, special_len)?)
        };
        // SAFETY: as above.
        let special_texts = special.iter().map(|token| Ok((unsafe { text("the text", token.text) }?, token.id)));
        let special = special_texts.collect::<Result<Vec<_>>>()?;
        // SAFETY: as above.
        let pattern = if pattern.is_null() { None } else { Some(unsafe { text("pattern", pattern) }?) };
        give_tokenizer(Tokenizer::compile(rank_file::spec(data, pattern, &special)?)?, out)
    })
}

fn give_tokenizer(tokenizer: Tokenizer, out: &mut *mut PolytokTokenizer) -> Result<()> {
    let all_special = tokenizer.special_set(|_| true)?;
    *out = Box::into_raw(Box::new(PolytokTokenizer { tokenizer: Arc::new(tokenizer), all_special }));
    Ok(())
}

/// Frees a tokenizer, which no other thread may use any more. Streams of the tokenizer stay usable. `tokenizer` can be
/// null.
///
/// # Safety
///
/// `tokenizer` must be null, or a tokenizer that this library returned and that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_tokenizer_free(tokenizer: *mut PolytokTokenizer) {
    if !tokenizer.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(tokenizer) });
    }
}

/// Encodes a text of `len` bytes, usually UTF-8. `flags` is 0, or `POLYTOK_ADD_SPECIAL` and `POLYTOK_PARSE_SPECIAL`
/// joined by `|`. The caller frees the ids with `polytok_ids_free`.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, `text` must point to `len` bytes, and `ids` to memory for a
/// `PolytokIds`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_encode(
    tokenizer: *const PolytokTokenizer,
    text: *const u8,
    len: usize,
    flags: u32,
    ids: *mut PolytokIds,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, tokenizer, text) = unsafe {
            let out = result("ids", ids, PolytokIds { data: ptr::null_mut(), len: 0 })?;
            (out, object("tokenizer", tokenizer)?, array("text", text, len)?)
        };
        let mut ids = Vec::new();
        tokenizer.tokenizer.encode(text, encode_options(tokenizer, flags)?, &mut ids)?;
        (out.data, out.len) = give(ids);
        Ok(())
    })
}

/// Writes to `count` the number of ids that `polytok_encode` would return. This is faster, and stores no ids.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, `text` must point to `len` bytes, and `count` to memory for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_count(
    tokenizer: *const PolytokTokenizer,
    text: *const u8,
    len: usize,
    flags: u32,
    count: *mut usize,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, tokenizer, text) =
            unsafe { (result("count", count, 0)?, object("tokenizer", tokenizer)?, array("text", text, len)?) };
        *out = tokenizer.tokenizer.count(text, encode_options(tokenizer, flags)?)?;
        Ok(())
    })
}

/// Decodes `len` ids. `flags` is 0 or `POLYTOK_SKIP_SPECIAL`. The bytes are UTF-8 if the ids are those of a text; other
/// ids can end in the middle of a character. The caller frees the bytes with `polytok_bytes_free`.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, `ids` must point to `len` ids, and `bytes` to memory for a
/// `PolytokBytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_decode(
    tokenizer: *const PolytokTokenizer,
    ids: *const u32,
    len: usize,
    flags: u32,
    bytes: *mut PolytokBytes,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, tokenizer, ids) = unsafe {
            let out = result("bytes", bytes, PolytokBytes { data: ptr::null_mut(), len: 0 })?;
            (out, object("tokenizer", tokenizer)?, array("ids", ids, len)?)
        };
        check_flags(flags, POLYTOK_SKIP_SPECIAL)?;
        (out.data, out.len) = give(tokenizer.tokenizer.decode(ids, flags & POLYTOK_SKIP_SPECIAL != 0)?);
        Ok(())
    })
}

/// Writes to `data` and `len` the bytes of the entry or special token with this id. The bytes belong to the tokenizer:
/// they are valid until it is freed, and the caller must not free or change them.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, `data` must point to memory for a pointer, and `len` to memory for a
/// number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_token_bytes(
    tokenizer: *const PolytokTokenizer,
    id: u32,
    data: *mut *const u8,
    len: *mut usize,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (data, len, tokenizer) =
            unsafe { (result("data", data, ptr::null())?, result("len", len, 0)?, object("tokenizer", tokenizer)?) };
        let bytes = tokenizer.tokenizer.token_bytes(id).ok_or(Error::Id(id))?;
        (*data, *len) = (bytes.as_ptr(), bytes.len());
        Ok(())
    })
}

/// Writes to `id` the id of the entry or special token with these bytes. The status is `POLYTOK_STATUS_ARGUMENT` if
/// there is none.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, `bytes` must point to `len` bytes, and `id` to memory for an id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_token_id(
    tokenizer: *const PolytokTokenizer,
    bytes: *const u8,
    len: usize,
    id: *mut u32,
) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, tokenizer, bytes) =
            unsafe { (result("id", id, 0)?, object("tokenizer", tokenizer)?, array("bytes", bytes, len)?) };
        let no_entry = || Error::Argument("no entry of the vocabulary has these bytes".into());
        *out = tokenizer.tokenizer.id_of(bytes).ok_or_else(no_entry)?;
        Ok(())
    })
}

/// Writes to `id` the largest id that an encoding can contain. The status is `POLYTOK_STATUS_ARGUMENT` if the vocabulary
/// is empty.
///
/// # Safety
///
/// `tokenizer` must be a tokenizer of this library, and `id` must point to memory for an id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_max_id(tokenizer: *const PolytokTokenizer, id: *mut u32) -> PolytokStatus {
    run(|| {
        // SAFETY: the caller's promise.
        let (out, tokenizer) = unsafe { (result("id", id, 0)?, object("tokenizer", tokenizer)?) };
        *out = tokenizer.tokenizer.max_id().ok_or_else(|| Error::Argument("the vocabulary is empty".into()))?;
        Ok(())
    })
}

fn encode_options(tokenizer: &PolytokTokenizer, flags: u32) -> Result<EncodeOptions<'_>> {
    check_flags(flags, POLYTOK_ADD_SPECIAL | POLYTOK_PARSE_SPECIAL)?;
    let special = if flags & POLYTOK_PARSE_SPECIAL == 0 { None } else { tokenizer.all_special.as_ref() };
    Ok(EncodeOptions { add_special: flags & POLYTOK_ADD_SPECIAL != 0, special, ..EncodeOptions::default() })
}

/// Returns an error if `flags` has a flag that is not `known`.
pub fn check_flags(flags: u32, known: u32) -> Result<()> {
    if flags & !known == 0 {
        return Ok(());
    }
    Err(Error::Argument(format!("flags is {flags}, and this function takes only the flags in {known}")))
}
