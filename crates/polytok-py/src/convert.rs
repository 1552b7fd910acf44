//! Wraps the functions of polytok_core::convert, which derive vocabulary entries, for python/polytok/conversion.

use numpy::PyArray1;
use polytok_core::convert::derivation::derivations;
use polytok_core::error::{Error, Result};
use polytok_core::spec::{Priority, SentencePieceVersion, Symbols};
use polytok_core::vocab::Vocab;
use polytok_core::vocab::dictionary::ReachRule;
use pyo3::prelude::*;

use crate::columns;
use crate::gil::detach;
use crate::objects;
use crate::wire::read_vocab;

type PyDerivations<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u8>>);

/// Returns for each row the two ids that its last merge joins, and how the row is derived (see convert/derivation.rs).
/// ``symbols`` is "bytes" or "chars"; with ``reserved``, rows of every kind are included.
#[pyfunction]
#[pyo3(signature = (vocab, priority, merges, symbols, reserved))]
fn bpe_derivations<'py>(
    py: Python<'py>,
    vocab: &Bound<'py, PyAny>,
    priority: &str,
    merges: Option<Bound<'py, PyAny>>,
    symbols: &str,
    reserved: bool,
) -> PyResult<PyDerivations<'py>> {
    let columns = read_vocab(vocab)?;
    let rows = match merges {
        Some(merges) => columns::read_merges(&merges)?,
        None => None,
    };
    let derive = || -> Result<_> {
        let wrong = |what: &str| Err(Error::Spec(format!("derivations: {what}")));
        let priority = match (priority, rows) {
            ("rank", None) => Priority::Rank,
            ("score", None) => Priority::Score,
            ("merges", Some(rows)) => Priority::Merges(rows),
            _ => return wrong("priority is none of rank, score, merges (with merges, in three columns)"),
        };
        let (symbols, reach) = match symbols {
            "bytes" => (Symbols::Bytes, ReachRule::PlainRows),
            "chars" if reserved => (Symbols::Chars, ReachRule::AllRows),
            "chars" => (Symbols::Chars, ReachRule::SentencePiece(SentencePieceVersion::default())),
            _ => return wrong("symbols are neither bytes nor chars"),
        };
        derivations(Vocab::new(columns)?, &priority, symbols, reach)
    };
    let found = detach(py, derive)?;
    Ok((objects::array(py, found.left)?, objects::array(py, found.right)?, objects::array(py, found.kinds)?))
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bpe_derivations, module)?)
}
