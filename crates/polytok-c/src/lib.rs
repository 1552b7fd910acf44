//! polytok for C: loads tokenizers, encodes, counts, decodes, and decodes streams. The header is include/polytok.h,
//! which the tests generate from this crate and compare with the committed file. docs/from-c.md shows its use.
//!
//! Each function that can fail returns a [`PolytokStatus`]. No panic leaves a function: it becomes a status. A null
//! pointer that a function cannot use is an error, too.

mod error;
mod memory;
mod stream;
mod tokenizer;

pub use error::{PolytokStatus, polytok_error_message};
pub use memory::{PolytokBytes, PolytokIds, polytok_bytes_free, polytok_ids_free};
pub use stream::{PolytokStream, polytok_stream_finish, polytok_stream_free, polytok_stream_new, polytok_stream_push};
pub use tokenizer::{
    POLYTOK_ADD_SPECIAL, POLYTOK_PARSE_SPECIAL, POLYTOK_SKIP_SPECIAL, PolytokSpecialToken, PolytokTokenizer,
    polytok_count, polytok_decode, polytok_encode, polytok_load_ptok, polytok_load_rank_file, polytok_max_id,
    polytok_token_bytes, polytok_token_id, polytok_tokenizer_free,
};

use std::ffi::c_char;

/// Returns the version of the library, for example "0.1.0". The text is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn polytok_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
