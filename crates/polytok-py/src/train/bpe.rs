//! Wraps the trainers of BPE and WordPiece.

use numpy::{PyArray1, PyArray2};
use polytok_core::error::Result;
use polytok_core::train::bpe::{
    self, Affixes, AlphabetOptions, Merge, MergeLimits, MergeObserver, MergeRules, TieRule, WordUnit,
};
use polytok_memory::Collect;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use super::counts::PyWordCounter;
use super::progress::Reporter;
use crate::errors::catch;
use crate::lists;
use crate::objects::{self, Items};

/// The kind of the initial symbols of words, and the affixes of the characters of a word.
#[derive(FromPyObject)]
struct Units {
    unit: String,
    prefix: String,
    suffix: String,
}

impl Units {
    fn to_core(&self) -> PyResult<(WordUnit, Affixes)> {
        let unit = match self.unit.as_str() {
            "bytes" => WordUnit::Bytes,
            "byte_level" => WordUnit::ByteLevel,
            "chars" => WordUnit::Chars,
            other => {
                return Err(PyValueError::new_err(format!(
                    "unit={other:?} is not \"bytes\", \"byte_level\" or \"chars\""
                )));
            }
        };
        let (prefix, suffix) = (self.prefix.clone().into_bytes(), self.suffix.clone().into_bytes());
        Ok((unit, Affixes { prefix, suffix }))
    }
}

/// Chooses the initial symbols as the trainer of the package `tokenizers` does, and returns the texts of the symbols.
#[pyfunction]
#[pyo3(signature = (words, units, special, initial, limit))]
fn bpe_alphabet<'py>(
    py: Python<'py>,
    words: &PyWordCounter,
    units: Units,
    special: Items<String>,
    initial: Items<char>,
    limit: Option<usize>,
) -> PyResult<Bound<'py, PyList>> {
    let (unit, affixes) = units.to_core()?;
    let special = catch(|| special.0.into_iter().map(String::into_bytes).checked_collect())?;
    let options = AlphabetOptions { special_tokens: special, initial_chars: initial.0, limit };
    let mut state = words.0.get()?;
    let words = &mut *state;
    let texts = Reporter::new(None).run(py, |_| bpe::alphabet(words, &options, unit, &affixes))?;
    drop(state);
    lists::of_results(py, (0..texts.len() as u32).map(|id| objects::bytes(py, texts.get(id))))
}

/// The options of learning merges.
#[derive(FromPyObject)]
struct PyRules {
    size: usize,
    min_count: u64,
    below_length: Option<usize>,
    first_seen: bool,
    room: Option<usize>,
}

impl PyRules {
    fn to_core(&self, units: &Units) -> PyResult<MergeRules> {
        let (unit, affixes) = units.to_core()?;
        let length_limit = self.below_length.unwrap_or(usize::MAX);
        let limits = MergeLimits { symbols: self.size, min_count: self.min_count, length_limit };
        let ties = if self.first_seen { TieRule::FirstSeen } else { TieRule::LowerIds };
        Ok(MergeRules { unit, affixes, ties, limits, usable_memory: self.room })
    }
}

/// Calls a Python function for each merge, with the number of the merge, the total of merges, the left, right and
/// merged symbol, the text of the merged symbol, and the count of the pair.
impl MergeObserver for Reporter {
    fn on_merge(&mut self, number: usize, of: usize, merge: Merge, text: &[u8]) -> Result<()> {
        let Merge { left, right, id, count, .. } = merge;
        self.report_each(|py, each| {
            each.call1(py, (number, of, left, right, id, objects::bytes(py, text)?, count)).map(drop)
        })
    }
}

type PyLearnt<'py> = (
    Bound<'py, PyBytes>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray2<u32>>,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u32>>,
    bool,
);

/// Learns merges over words. Returns the texts of all symbols (blob, offsets), the merges (left, right,
/// merged), the count of each pair, the number of symbols before each merge, and whether learning used at most `room`
/// bytes of memory.
#[pyfunction]
#[pyo3(signature = (words, units, initial, rules, progress, each))]
fn bpe_learn<'py>(
    py: Python<'py>,
    words: &PyWordCounter,
    units: Units,
    initial: Items<Vec<u8>>,
    rules: PyRules,
    progress: Option<Py<PyAny>>,
    each: Option<Py<PyAny>>,
) -> PyResult<PyLearnt<'py>> {
    let rules = rules.to_core(&units)?;
    let mut state = words.0.get()?;
    let words = &mut *state;
    let learned = Reporter::with_each(progress, each)
        .run(py, |reporter| bpe::learn(words, initial.0.into_iter(), &rules, reporter))?;
    drop(state);
    let (blob, offsets) = learned.texts.into_columns();
    let merges = learned.merges.iter();
    let counts: Vec<u64> = catch(|| merges.clone().map(|merge| merge.count).checked_collect())?;
    let before: Vec<u32> = catch(|| merges.map(|merge| merge.symbols as u32).checked_collect())?;
    Ok((
        objects::bytes(py, &blob)?,
        objects::array(py, offsets)?,
        columns(py, &learned.merges)?,
        objects::array(py, counts)?,
        objects::array(py, before)?,
        learned.within_limit,
    ))
}

/// Returns merges as an array with three columns.
fn columns<'py>(py: Python<'py>, merges: &[Merge]) -> PyResult<Bound<'py, PyArray2<u32>>> {
    use numpy::PyArrayMethods;
    let flat: Vec<u32> =
        catch(|| merges.iter().flat_map(|merge| [merge.left, merge.right, merge.id]).checked_collect())?;
    objects::array(py, flat)?.reshape([merges.len(), 3])
}

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bpe_alphabet, module)?)?;
    module.add_function(wrap_pyfunction!(bpe_learn, module)?)
}
