//! SentencePiece's trainers: texts in, pieces with their scores out.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1};
use polytok_core::error::{Error, Result};
use polytok_core::spec::{Line, SentencePieceNormalize};
use polytok_core::train::counter::WordCounter;
use polytok_core::train::progress::Progress;
use polytok_core::train::sentencepiece::alphabet::{Alphabet, CharCounts};
use polytok_core::train::sentencepiece::corpus::Corpus;
use polytok_core::train::sentencepiece::options::{Options, Sentences};
use polytok_core::train::sentencepiece::units::{self, Units};
use polytok_core::train::sentencepiece::validity::Validity;
use polytok_core::train::sentencepiece::whole::{self, WordSink};
use polytok_core::train::sentencepiece::{Scored, bpe};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::progress::Reporter;
use crate::errors::to_python;

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
        let unknown = |what: &str, value: &str| Err(Error::Argument(format!("unknown {what}: {value:?}")));
        Ok(Options {
            line: match self.line.as_str() {
                "0.2.1" => Line::V0_2_1,
                "0.2.3" => Line::V0_2_3,
                other => return unknown("line", other),
            },
            sentences: match self.sentences.as_str() {
                "lines" => Sentences::Lines,
                "items" => Sentences::Items,
                "texts" => Sentences::Texts,
                other => return unknown("sentences", other),
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
    sinks: Option<Sinks>,
}

#[pymethods]
impl PySentencePieceTrainer {
    /// `model` is "bpe", "word" or "char".
    #[new]
    fn new(model: &str, options: PyOptions) -> PyResult<PySentencePieceTrainer> {
        let options = options.to_core().map_err(to_python)?;
        let sinks = sinks(model, &options).map_err(to_python)?;
        Ok(PySentencePieceTrainer { options, sinks: Some(sinks) })
    }

    /// Reads more texts.
    fn push(&mut self, py: Python<'_>, texts: Vec<PyBackedBytes>) -> PyResult<()> {
        let Some(sinks) = &mut self.sinks else { return Err(to_python(finished())) };
        let texts: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        Reporter::new(None).run(py, |_| match sinks {
            Sinks::Units(corpus) => corpus.push(&texts),
            Sinks::Words(corpus) => corpus.push(&texts),
            Sinks::Chars(corpus) => corpus.push(&texts),
        })
    }

    /// How many sentences were left out until now: too long ones, and those with a reserved character.
    fn skipped(&self) -> (u64, u64) {
        let skipped = match &self.sinks {
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
    ) -> PyResult<(Vec<Bound<'py, PyBytes>>, Bound<'py, PyArray1<f32>>)> {
        let Some(sinks) = self.sinks.take() else { return Err(to_python(finished())) };
        let options = &self.options;
        let found = Reporter::new(progress).run(py, |progress| train(sinks, options, most, progress))?;
        let (pieces, scores): (Vec<_>, Vec<f32>) =
            found.iter().map(|(piece, score)| (PyBytes::new(py, piece), score)).unzip();
        Ok((pieces, scores.into_pyarray(py)))
    }
}

fn finished() -> Error {
    Error::Argument("this training is finished".into())
}

fn sinks(model: &str, options: &Options) -> Result<Sinks> {
    let threads = 0..options.threads.max(1);
    Ok(match model {
        "bpe" => {
            let validity = Arc::new(Validity::new(options)?);
            let sink = |_| Units::new(validity.clone(), WordCounter::default());
            Sinks::Units(Corpus::new(options, threads.map(sink).collect())?)
        }
        "word" => Sinks::Words(Corpus::new(options, threads.map(|_| WordSink::default()).collect())?),
        "char" => Sinks::Chars(Corpus::new(options, threads.map(|_| CharCounts::default()).collect())?),
        other => return Err(Error::Argument(format!("unknown model {other:?}"))),
    })
}

fn train(sinks: Sinks, options: &Options, most: usize, progress: &mut dyn Progress) -> Result<Vec<Scored>> {
    match sinks {
        Sinks::Chars(corpus) => whole::chars(corpus.finish()?.0, most, options),
        Sinks::Words(corpus) => whole::words(corpus.finish()?.0, most, options, progress),
        Sinks::Units(corpus) => {
            let units = units::gathered(corpus.finish()?.0, progress)?;
            let alphabet = Alphabet::choose(&units::characters(&units)?, options)?;
            alphabet.check_fits(most, options)?;
            let validity = Validity::new(options)?;
            bpe::pieces(&units, &alphabet, &validity, most, progress)
        }
    }
}
