//! SentencePiece's Unigram trainer: texts in, pieces with their scores out.

use polytok_core::train::sentencepiece::corpus::Corpus;
use polytok_core::train::sentencepiece::options::Options;
use polytok_core::train::unigram::sentences::Sentences;
use polytok_core::train::unigram::{Fit, pieces};
use polytok_core::train::words::Words;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use super::counts::{self, PyLimit};
use super::progress::Reporter;
use super::sentencepiece::{PyOptions, ScoredPieces, finish, finished};
use crate::errors::to_python;

/// A Unigram vocabulary in the making.
#[pyclass(name = "UnigramTrainer")]
pub struct PyUnigramTrainer {
    options: Options,
    fit: Fit,
    /// In a box, for its parts are aligned to more than what Python gives.
    corpus: Option<Box<Corpus<Sentences>>>,
}

#[pymethods]
impl PyUnigramTrainer {
    /// `limit` is a number of bytes and a folder, for counting, and `room` are the bytes that learning may take.
    #[new]
    #[allow(clippy::too_many_arguments)] // what Python says by name
    #[pyo3(signature = (options, limit, room, *, seeds, seed_size, shrinking_factor, sub_iterations, lanes))]
    fn new(
        options: PyOptions,
        limit: PyLimit,
        room: Option<usize>,
        seeds: Option<Vec<(PyBackedBytes, u64)>>,
        seed_size: usize,
        shrinking_factor: f32,
        sub_iterations: usize,
        lanes: usize,
    ) -> PyResult<PyUnigramTrainer> {
        let options = options.to_core().map_err(to_python)?;
        let threads = options.threads.max(1);
        let limit = counts::limit(limit.map(|(bytes, folder)| (bytes / threads, folder)));
        let sinks = (0..threads).map(|_| Sentences::new(&options, limit.clone())).collect();
        let corpus = Corpus::new(&options, sinks).map_err(to_python)?;
        let seeds = seeds.map(|seeds| {
            let mut words = Words::default();
            seeds.iter().for_each(|(text, count)| words.push(text, *count));
            words
        });
        let fit = Fit { seeds, seed_size, shrinking_factor, sub_iterations, lanes, room };
        Ok(PyUnigramTrainer { options, fit, corpus: Some(Box::new(corpus)) })
    }

    /// Reads more texts.
    fn push(&mut self, py: Python<'_>, texts: Vec<PyBackedBytes>) -> PyResult<()> {
        let Some(corpus) = &mut self.corpus else { return Err(to_python(finished())) };
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        Reporter::new(None).run(py, |_| corpus.push(&texts))
    }

    /// How many sentences were left out until now: too long ones, and those with a reserved character.
    fn skipped(&self) -> (u64, u64) {
        let skipped = self.corpus.as_ref().map(|corpus| corpus.skipped()).unwrap_or_default();
        (skipped.long, skipped.reserved)
    }

    /// At most that many pieces with their scores, in the order of their ids.
    fn finish<'py>(
        &mut self,
        py: Python<'py>,
        most: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<ScoredPieces<'py>> {
        let Some(corpus) = self.corpus.take() else { return Err(to_python(finished())) };
        let (options, fit) = (&self.options, &self.fit);
        finish(py, progress, |progress| {
            corpus.finish().and_then(|(sinks, _)| pieces(sinks, most, options, fit, progress))
        })
    }
}
