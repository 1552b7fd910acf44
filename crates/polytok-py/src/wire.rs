//! Reads the large columns of vocabulary files to arrays and writes arrays to files: wraps the functions of
//! polytok_core::wire, for python/polytok/formats.

use polytok_core::error::Error;
use polytok_core::spec::{SentencePieceVersion, VocabColumns};
use polytok_core::wire::sentencepiece_check::{ModelType, PieceRules, check_pieces};
use polytok_core::wire::{llama2c, minbpe, pairs, rank_file, rwkv, sentencepiece, tekken};
use polytok_memory::Collect;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::columns::{self, Merges, PyColumn};
use crate::errors::{self, catch};
use crate::lists;
use crate::objects::{self, Items};

mod gguf;
mod huggingface;

pyo3::import_exception!(polytok.errors, FormatError);

fn raised(error: Error) -> PyErr {
    if let Error::Memory(_) = error {
        return errors::to_python(error);
    }
    FormatError::new_err(error.to_string())
}

/// The columns of a vocabulary as Python objects: blob, offsets, ids, scores, kinds. Scores are float64 if the format
/// stores float64.
type PyColumns<'py> = (Bound<'py, PyBytes>, PyColumn<'py>, PyColumn<'py>, PyColumn<'py>, PyColumn<'py>);

fn to_python(py: Python<'_>, columns: VocabColumns) -> PyResult<PyColumns<'_>> {
    let kinds = catch(|| columns.kinds.iter().map(|&kind| kind as u8).checked_collect())?;
    let scores = match columns.wide_scores {
        Some(wide) => columns::view(py, &wide)?,
        None => columns::view(py, &columns.scores)?,
    };
    Ok((
        objects::bytes(py, &columns.blob)?,
        columns::view(py, &columns.offsets)?,
        columns::view(py, &columns.ids)?,
        scores,
        columns::view(py, &kinds)?,
    ))
}

/// Reads the columns of a `polytok.spec.Vocab`, and checks their lengths against each other.
pub fn read_vocab(vocab: &Bound<'_, PyAny>) -> PyResult<VocabColumns> {
    let columns = columns::read_vocab(vocab)?;
    polytok_core::wire::check_lengths(&columns).map_err(raised)?;
    Ok(columns)
}

/// Reads merges; raises FormatError if they have another type or shape.
fn read_merges(merges: &Bound<'_, PyAny>) -> PyResult<Merges> {
    let wrong = || raised(Error::Format("merges are not an array of uint32 with three columns".into()));
    columns::read_merges(merges)?.ok_or_else(wrong)
}

/// Raises FormatError unless the bytes have the structure of a SentencePiece model.
#[pyfunction]
fn sentencepiece_probe(data: &[u8]) -> PyResult<()> {
    sentencepiece::probe(data).map_err(raised)
}

/// Reads a SentencePiece model. Returns the columns of the pieces, the unusual fields of pieces, all other fields as a
/// protobuf message, and the character map.
#[pyfunction]
fn sentencepiece_read<'py>(py: Python<'py>, data: &[u8]) -> PyResult<(PyColumns<'py>, [Bound<'py, PyBytes>; 3])> {
    let pieces = sentencepiece::read_pieces(data).map_err(raised)?;
    let bytes = |bytes: &[u8]| objects::bytes(py, bytes);
    let others = [bytes(&pieces.details)?, bytes(&pieces.rest)?, bytes(pieces.charsmap.unwrap_or_default())?];
    Ok((to_python(py, pieces.columns)?, others))
}

/// Writes the pieces of a SentencePiece model.
#[pyfunction]
fn sentencepiece_write<'py>(
    py: Python<'py>,
    vocab: &Bound<'py, PyAny>,
    details: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let data = sentencepiece::write_pieces(&read_vocab(vocab)?, details).map_err(raised)?;
    objects::bytes(py, &data)
}

/// Raises FormatError at the first piece that SentencePiece would refuse.
#[pyfunction]
fn sentencepiece_check(vocab: &Bound<'_, PyAny>, model_type: u8, byte_fallback: bool, version: &str) -> PyResult<()> {
    let rules = PieceRules {
        model: match model_type {
            2 => ModelType::Bpe,
            3 => ModelType::Word,
            4 => ModelType::Char,
            _ => ModelType::Unigram,
        },
        byte_fallback,
        version: if version == "0.2.1" { SentencePieceVersion::V0_2_1 } else { SentencePieceVersion::V0_2_3 },
    };
    check_pieces(&read_vocab(vocab)?, &rules).map_err(raised)
}

/// Reads the columns of llama2.c's tokenizer.bin.
#[pyfunction]
fn llama2c_read<'py>(py: Python<'py>, data: &[u8]) -> PyResult<PyColumns<'py>> {
    to_python(py, llama2c::read(data).map_err(raised)?)
}

/// Writes llama2.c's tokenizer.bin.
#[pyfunction]
fn llama2c_write<'py>(py: Python<'py>, vocab: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    objects::bytes(py, &llama2c::write(&read_vocab(vocab)?).map_err(raised)?)
}

/// Reads the columns of RWKV World's vocabulary file.
#[pyfunction]
fn rwkv_read<'py>(py: Python<'py>, data: &[u8]) -> PyResult<PyColumns<'py>> {
    to_python(py, rwkv::read(data).map_err(raised)?)
}

/// Reads minbpe's lines of merges to a column with three numbers for each merge, and to the columns of the vocabulary.
#[pyfunction]
fn minbpe_read<'py>(
    py: Python<'py>,
    data: &[u8],
    first_line: usize,
    cap: usize,
) -> PyResult<(PyColumn<'py>, PyColumns<'py>)> {
    let read = minbpe::read_merges(data, first_line, cap).map_err(raised)?;
    Ok((columns::view_merges(py, &read.merges)?, to_python(py, read.columns)?))
}

/// Reads the columns of the default vocabulary.
#[pyfunction]
fn pairs_read<'py>(py: Python<'py>, data: &[u8]) -> PyResult<PyColumns<'py>> {
    to_python(py, pairs::read(data).map_err(raised)?)
}

/// Reads the columns of a tiktoken rank file.
#[pyfunction]
fn rank_file_read<'py>(py: Python<'py>, data: &[u8]) -> PyResult<PyColumns<'py>> {
    to_python(py, rank_file::read(data).map_err(raised)?)
}

/// Writes a tiktoken rank file.
#[pyfunction]
fn rank_file_write<'py>(py: Python<'py>, vocab: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let columns = read_vocab(vocab)?;
    objects::bytes(py, &catch(|| rank_file::write(&columns))?)
}

/// Returns the offsets in tekken.json at which the vocabulary begins and ends.
#[pyfunction]
fn tekken_vocab_range(data: &[u8]) -> PyResult<(usize, usize)> {
    let range = tekken::vocab_range(data).map_err(raised)?;
    Ok((range.start, range.end))
}

/// The columns of the live entries, the rows whose `token_str` differs from the decoded bytes, and the offsets at which
/// the remaining entries begin and end.
type TekkenVocab<'py> = (PyColumns<'py>, Bound<'py, PyList>, Option<(usize, usize)>);

/// Reads the vocabulary of tekken.json.
#[pyfunction]
fn tekken_read<'py>(py: Python<'py>, vocab: &[u8], live: u32, first_id: u32) -> PyResult<TekkenVocab<'py>> {
    let read = tekken::read(vocab, live, first_id).map_err(raised)?;
    let unequal_texts = lists::of_values(py, read.unequal_texts)?;
    Ok((to_python(py, read.columns)?, unequal_texts, read.unused.map(|unused| (unused.start, unused.end))))
}

/// Writes the entries of tekken.json's vocabulary, with the texts of `layout` around the fields of an entry.
#[pyfunction]
fn tekken_write<'py>(
    py: Python<'py>,
    vocab: &Bound<'py, PyAny>,
    odd_texts: Items<(u32, Option<String>)>,
    layout: [String; 5],
    ascii: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let [rank, bytes, text, end, separator] = layout;
    let layout = tekken::Layout { rank, bytes, text, end, separator, ascii };
    let columns = read_vocab(vocab)?;
    objects::bytes(py, &catch(|| tekken::write(&columns, &odd_texts.0, &layout))?)
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    gguf::register(module)?;
    huggingface::register(module)?;
    module.add_function(wrap_pyfunction!(sentencepiece_probe, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_read, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_write, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_check, module)?)?;
    module.add_function(wrap_pyfunction!(llama2c_read, module)?)?;
    module.add_function(wrap_pyfunction!(llama2c_write, module)?)?;
    module.add_function(wrap_pyfunction!(rwkv_read, module)?)?;
    module.add_function(wrap_pyfunction!(minbpe_read, module)?)?;
    module.add_function(wrap_pyfunction!(tekken_vocab_range, module)?)?;
    module.add_function(wrap_pyfunction!(tekken_read, module)?)?;
    module.add_function(wrap_pyfunction!(tekken_write, module)?)?;
    module.add_function(wrap_pyfunction!(pairs_read, module)?)?;
    module.add_function(wrap_pyfunction!(rank_file_read, module)?)?;
    module.add_function(wrap_pyfunction!(rank_file_write, module)?)
}
