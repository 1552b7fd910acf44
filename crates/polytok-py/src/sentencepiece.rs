//! The results of SentencePiece's processor that other tokenizers do not have: messages, and normalized texts with their
//! offsets.

use polytok_core::error::Error;
use polytok_core::utf8::{CharOffsets, is_start};
use polytok_memory::Collect;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::gil::run_detached;
use crate::ids;
use crate::ints::new_int;
use crate::lists;
use crate::objects;
use crate::text;
use crate::token_rows::span_rows;
use crate::tokenizer::PyTokenizer;

/// Encodes a text to the message SentencePieceText.
#[pyfunction]
fn sentencepiece_text<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, PyTokenizer>,
    text: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let text = text::text(text)?;
    let engine = tokenizer.get().engine();
    objects::bytes(py, &run_detached(py, text.len(), || engine.sentencepiece_text(&text))?)
}

/// Decodes ids to the message SentencePieceText.
#[pyfunction]
fn sentencepiece_text_of_ids<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, PyTokenizer>,
    ids: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let ids = ids::ids(ids)?;
    let ids = ids.as_slice();
    let engine = tokenizer.get().engine();
    objects::bytes(py, &run_detached(py, ids.len(), || engine.sentencepiece_text_of_ids(ids))?)
}

/// Decodes ids; returns the text, as a `str` or as bytes, and the span of each id in it.
#[pyfunction]
fn sentencepiece_decode_with_spans<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, PyTokenizer>,
    ids: &Bound<'py, PyAny>,
    returns_str: bool,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
    let ids = ids::ids(ids)?;
    let ids = ids.as_slice();
    let engine = tokenizer.get().engine();
    let decode = || {
        let (text, ends) = engine.decode_pieces(ids)?;
        let chars = (returns_str && !text.is_ascii()).then(|| CharOffsets::new(&text));
        let offset = |&end: &usize| chars.as_ref().map_or(end as u32, |chars| chars.char_at(end as u32));
        let ends: Vec<u32> = ends.iter().map(offset).checked_collect();
        Ok((text, ends))
    };
    let (text, ends) = run_detached(py, ids.len(), decode)?;
    let mut start = 0;
    let spans = span_rows(py, ends.iter().map(|&end| (std::mem::replace(&mut start, end), end)))?;
    Ok((text_object(py, &text, returns_str)?, spans))
}

/// Returns the normalized text, as a `str` or as bytes.
#[pyfunction]
fn sentencepiece_normalize<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, PyTokenizer>,
    text: &Bound<'py, PyAny>,
    returns_str: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let text = text::text(text)?;
    let engine = tokenizer.get().engine();
    let normalized = run_detached(py, text.len(), || engine.normalized(&text))?;
    text_object(py, &normalized, returns_str)
}

/// Returns the normalized text, and the offset in `text` that each character of the result comes from (for bytes: that
/// each byte comes from), followed by the end of the normalized part. Offsets are in the same unit.
#[pyfunction]
fn sentencepiece_normalize_with_offsets<'py>(
    py: Python<'py>,
    tokenizer: &Bound<'py, PyTokenizer>,
    text: &Bound<'py, PyAny>,
    returns_str: bool,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyList>)> {
    let text = text::text(text)?;
    let engine = tokenizer.get().engine();
    let normalize = || {
        let Some((normalized, offsets)) = engine.normalized_with_offsets(&text)? else {
            return Err(Error::Argument("this tokenizer does not have SentencePiece's normalizer".into()));
        };
        let offsets = if returns_str { char_offsets(&text, &normalized, &offsets) } else { offsets };
        Ok((normalized, offsets))
    };
    let (normalized, offsets) = run_detached(py, text.len(), normalize)?;
    let offsets = lists::list(py, offsets.iter().map(|&offset| new_int(py, offset)))?;
    Ok((text_object(py, &normalized, returns_str)?, offsets))
}

/// Returns the offsets of the first bytes of the normalized characters, and the last offset, in characters of the text.
fn char_offsets(text: &[u8], normalized: &[u8], offsets: &[u32]) -> Vec<u32> {
    let chars = (!text.is_ascii()).then(|| CharOffsets::new(text));
    let ends = normalized.iter().map(|&byte| is_start(byte)).chain([true]);
    let starts = offsets.iter().zip(ends).filter(|&(_, is_start)| is_start).map(|(&offset, _)| offset);
    starts.map(|offset| chars.as_ref().map_or(offset, |chars| chars.char_at(offset))).checked_collect()
}

fn text_object<'py>(py: Python<'py>, text: &[u8], returns_str: bool) -> PyResult<Bound<'py, PyAny>> {
    Ok(match returns_str {
        true => text::decoded(py, text, "replace")?.into_any(),
        false => objects::bytes(py, text)?.into_any(),
    })
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(sentencepiece_text, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_text_of_ids, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_decode_with_spans, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_normalize, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_normalize_with_offsets, module)?)
}
