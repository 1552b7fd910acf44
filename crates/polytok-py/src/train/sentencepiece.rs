//! SentencePiece's trainers: texts in, pieces with their scores out.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use polytok_core::error::{Error, Result};
use polytok_core::spec::{Line, SentencePieceNormalize};
use polytok_core::train::counter::{Limit, WordCounter};
use polytok_core::train::progress::Progress;
use polytok_core::train::sentencepiece::alphabet::{Alphabet, CharCounts};
use polytok_core::train::sentencepiece::corpus::Corpus;
use polytok_core::train::sentencepiece::options::{Options, Sentences};
use polytok_core::train::sentencepiece::units::{self, Units};
use polytok_core::train::sentencepiece::validity::Validity;
use polytok_core::train::sentencepiece::whole::{self, WordSink};
use polytok_core::train::sentencepiece::{Scored, bpe, charsmap};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::counts::{self, PyLimit};
use super::progress::Reporter;
use crate::errors::to_python;

/// Pieces and their scores.
pub type ScoredPieces<'py> = (Vec<Bound<'py, PyBytes>>, Bound<'py, PyArray1<f32>>);

/// Adds the class and the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySentencePieceTrainer>()?;
    module.add_function(wrap_pyfunction!(sentencepiece_charsmap, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_compile_rules, module)?)
}

/// The character map of rules that have a name.
#[pyfunction]
fn sentencepiece_charsmap<'py>(py: Python<'py>, name: &str, line: &str) -> PyResult<Bound<'py, PyBytes>> {
    let compiled = py.detach(|| charsmap::compile(&charsmap::named::rules(name, core_line(line)?)?));
    Ok(PyBytes::new(py, &compiled.map_err(to_python)?))
}

/// The character map of a file of rules.
#[pyfunction]
fn sentencepiece_compile_rules<'py>(py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
    let compiled = py.detach(|| charsmap::compile(&charsmap::parse(file)?));
    Ok(PyBytes::new(py, &compiled.map_err(to_python)?))
}

fn core_line(line: &str) -> Result<Line> {
    match line {
        "0.2.1" => Ok(Line::V0_2_1),
        "0.2.3" => Ok(Line::V0_2_3),
        other => Err(Error::Argument(format!("unknown line: {other:?}"))),
    }
}

/// The options as a dictionary, by the names of the engine's.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyOptions {
    line: String,
    vocab_size: usize,
    meta: Vec<Vec<u8>>,
    charsmap: Vec<u8>,
    add_dummy_prefix: bool,
    remove_extra_whitespaces: bool,
    sentences: String,
    is_tsv: bool,
    max_sentence_length: usize,
    keeps_reserved: bool,
    input_sentence_size: usize,
    shuffle_input_sentence: bool,
    character_coverage: f32,
    auto_character_coverage: bool,
    required_chars: String,
    use_all_vocab: bool,
    max_sentencepiece_length: usize,
    split_by_unicode_script: bool,
    split_by_whitespace: bool,
    split_by_number: bool,
    split_digits: bool,
    treat_whitespace_as_suffix: bool,
    allow_whitespace_only_pieces: bool,
    pretokenization_delimiter: String,
    threads: usize,
}

impl PyOptions {
    /// The engine's.
    pub fn to_core(&self) -> Result<Options> {
        Ok(Options {
            line: core_line(&self.line)?,
            sentences: match self.sentences.as_str() {
                "lines" => Sentences::Lines,
                "items" => Sentences::Items,
                "texts" => Sentences::Texts,
                other => return Err(Error::Argument(format!("unknown kind of sentences: {other:?}"))),
            },
            normalize: SentencePieceNormalize {
                charsmap: self.charsmap.clone(),
                add_dummy_prefix: self.add_dummy_prefix,
                remove_extra_whitespaces: self.remove_extra_whitespaces,
                escape_whitespaces: true,
                whitespace_as_suffix: self.treat_whitespace_as_suffix,
            },
            vocab_size: self.vocab_size,
            meta: self.meta.clone(),
            is_tsv: self.is_tsv,
            max_sentence_length: self.max_sentence_length,
            keeps_reserved: self.keeps_reserved,
            input_sentence_size: self.input_sentence_size,
            shuffle_input_sentence: self.shuffle_input_sentence,
            character_coverage: self.character_coverage,
            auto_character_coverage: self.auto_character_coverage,
            required_chars: self.required_chars.clone(),
            use_all_vocab: self.use_all_vocab,
            max_sentencepiece_length: self.max_sentencepiece_length,
            split_by_unicode_script: self.split_by_unicode_script,
            split_by_whitespace: self.split_by_whitespace,
            split_by_number: self.split_by_number,
            split_digits: self.split_digits,
            treat_whitespace_as_suffix: self.treat_whitespace_as_suffix,
            allow_whitespace_only_pieces: self.allow_whitespace_only_pieces,
            pretokenization_delimiter: self.pretokenization_delimiter.clone(),
            threads: self.threads,
        })
    }
}

/// What is read, by what is counted.
enum Sinks {
    Units(Corpus<Units>),
    Words(Corpus<WordSink>),
    Chars(Corpus<CharCounts>),
}

/// A vocabulary in the making.
#[pyclass(name = "SentencePieceTrainer")]
pub struct PySentencePieceTrainer {
    options: Options,
    /// In a box, for it holds vectors of 32 bytes, and Python aligns its objects to 16.
    sinks: Option<Box<Sinks>>,
    /// How many bytes learning may take.
    room: Option<usize>,
}

#[pymethods]
impl PySentencePieceTrainer {
    /// `model` is "bpe", "word" or "char"; `limit` is a number of bytes and a folder, for counting, and `room` are the bytes that learning may take.
    #[new]
    #[pyo3(signature = (model, options, limit, room))]
    fn new(model: &str, options: PyOptions, limit: PyLimit, room: Option<usize>) -> PyResult<PySentencePieceTrainer> {
        let options = options.to_core().map_err(to_python)?;
        let limit = counts::limit(limit.map(|(bytes, folder)| (bytes / options.threads.max(1), folder)));
        let sinks = sinks(model, &options, limit.as_ref()).map_err(to_python)?;
        Ok(PySentencePieceTrainer { options, sinks: Some(Box::new(sinks)), room })
    }

    /// Reads more texts.
    fn push(&mut self, py: Python<'_>, texts: Vec<PyBackedBytes>) -> PyResult<()> {
        let Some(sinks) = &mut self.sinks else { return Err(to_python(finished())) };
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        Reporter::new(None).run(py, |_| match &mut **sinks {
            Sinks::Units(corpus) => corpus.push(&texts),
            Sinks::Words(corpus) => corpus.push(&texts),
            Sinks::Chars(corpus) => corpus.push(&texts),
        })
    }

    /// How many sentences were left out until now: too long ones, and those with a reserved character.
    fn skipped(&self) -> (u64, u64) {
        let skipped = match self.sinks.as_deref() {
            Some(Sinks::Units(corpus)) => corpus.skipped(),
            Some(Sinks::Words(corpus)) => corpus.skipped(),
            Some(Sinks::Chars(corpus)) => corpus.skipped(),
            None => Default::default(),
        };
        (skipped.long, skipped.reserved)
    }

    /// At most that many pieces with their scores, in the order of their ids.
    fn finish<'py>(
        &mut self,
        py: Python<'py>,
        most: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<ScoredPieces<'py>> {
        let Some(sinks) = self.sinks.take() else { return Err(to_python(finished())) };
        let (options, room) = (&self.options, self.room);
        finish(py, progress, |progress| train(*sinks, options, most, room, progress))
    }
}

/// What a long work finds.
pub fn finish<'py>(
    py: Python<'py>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&mut Reporter) -> Result<Vec<Scored>> + Send,
) -> PyResult<ScoredPieces<'py>> {
    let found = Reporter::new(progress).run(py, work)?;
    let (pieces, scores): (Vec<_>, Vec<f32>) =
        found.iter().map(|(piece, score)| (PyBytes::new(py, piece), score)).unzip();
    Ok((pieces, scores.into_pyarray(py)))
}

/// The error for a trainer that has given its result.
pub fn finished() -> Error {
    Error::Argument("this training is finished".into())
}

fn sinks(model: &str, options: &Options, limit: Option<&Limit>) -> Result<Sinks> {
    let threads = 0..options.threads.max(1);
    Ok(match model {
        "bpe" => {
            let validity = Arc::new(Validity::new(options)?);
            let sink = |_| Units::new(validity.clone(), WordCounter::new(limit.cloned()), options);
            Sinks::Units(Corpus::new(options, threads.map(sink).collect())?)
        }
        "word" => {
            let half = limit.map(|limit| Limit { bytes: limit.bytes / 2, ..limit.clone() });
            let sink = |_| WordSink::new(WordCounter::new(half.clone()), WordCounter::new(half.clone()));
            Sinks::Words(Corpus::new(options, threads.map(sink).collect())?)
        }
        "char" => Sinks::Chars(Corpus::new(options, threads.map(|_| CharCounts::default()).collect())?),
        other => return Err(Error::Argument(format!("unknown model {other:?}"))),
    })
}

fn train(
    sinks: Sinks,
    options: &Options,
    most: usize,
    room: Option<usize>,
    progress: &mut dyn Progress,
) -> Result<Vec<Scored>> {
    match sinks {
        Sinks::Chars(corpus) => whole::chars(corpus.finish()?.0, most, options),
        Sinks::Words(corpus) => whole::words(corpus.finish()?.0, most, options, progress),
        Sinks::Units(corpus) => {
            let mut units = units::gathered(corpus.finish()?.0)?;
            let (counts, validity) = (units::characters(&mut units)?, Validity::new(options)?);
            if options.auto_character_coverage {
                let alphabet = Alphabet::all(&counts, options)?;
                return bpe::coverage::pieces(units, &alphabet, &validity, most, room, progress);
            }
            let alphabet = Alphabet::choose(&counts, options)?;
            alphabet.check_fits(most, options)?;
            bpe::pieces(units, &alphabet, &validity, most, room, progress)
        }
    }
}
