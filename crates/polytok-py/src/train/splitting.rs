//! Counts the words of texts.

use polytok_core::error::Result;
use polytok_core::train::splitting::Splitting;
use polytok_core::train::words::Words;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashMap;

use super::progress::Reporter;
use super::words::PyWords;
use crate::spec::{normalize_step, split_step};

/// Cuts texts as a Spec with these steps does, and counts the pieces in the order in which they are first seen.
#[pyclass]
pub struct WordSplitter {
    splitting: Splitting,
    numbers: HashMap<Vec<u8>, usize>,
    counts: Vec<u64>,
}

#[pymethods]
impl WordSplitter {
    #[new]
    fn new(normalize: Vec<Bound<'_, PyAny>>, split: Vec<Bound<'_, PyAny>>) -> PyResult<WordSplitter> {
        let normalize = normalize.iter().map(normalize_step).collect::<PyResult<Vec<_>>>()?;
        let split = split.iter().map(split_step).collect::<PyResult<Vec<_>>>()?;
        let splitting = Splitting::compile(&normalize, &split).map_err(crate::errors::to_python)?;
        Ok(WordSplitter { splitting, numbers: HashMap::new(), counts: Vec::new() })
    }

    /// Counts the pieces of texts.
    fn push(&mut self, py: Python<'_>, texts: Vec<Bound<'_, PyBytes>>) -> PyResult<()> {
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let WordSplitter { splitting, numbers, counts } = self;
        Reporter::new(None).run(py, |_| {
            texts.into_iter().try_for_each(|text| {
                splitting.each(text, |piece| -> Result<()> {
                    match numbers.get(piece) {
                        Some(&number) => counts[number] += 1,
                        None => {
                            numbers.insert(piece.to_vec(), counts.len());
                            counts.push(1);
                        }
                    }
                    Ok(())
                })
            })
        })
    }

    /// What was counted.
    fn words(&self) -> PyWords {
        let mut sorted: Vec<(&Vec<u8>, &usize)> = self.numbers.iter().collect();
        sorted.sort_unstable_by_key(|&(_, number)| number);
        let mut words = Words::default();
        sorted.into_iter().for_each(|(word, &number)| words.push(word, self.counts[number]));
        PyWords(words)
    }
}
