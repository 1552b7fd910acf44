//! Wraps SentencePiece's trainers, which convert texts to counts, and counts to scored pieces.

use std::borrow::BorrowMut;
use std::sync::Arc;

use numpy::PyArray1;
use polytok_core::error::{Error, Result};
use polytok_core::spec::{SentencePieceNormalize, SentencePieceVersion};
use polytok_core::train::counter::{Limit, WordCounter};
use polytok_core::train::progress::Progress;
use polytok_core::train::sentencepiece::alphabet::{Alphabet, CharCounts};
use polytok_core::train::sentencepiece::corpus::Corpus;
use polytok_core::train::sentencepiece::loader::SkippedSentences;
use polytok_core::train::sentencepiece::options::{SentencePieceOptions, SentenceUnit};
use polytok_core::train::sentencepiece::units::{self, UnitCounter};
use polytok_core::train::sentencepiece::validity::Validity;
use polytok_core::train::sentencepiece::word_and_char::{self, WordSink};
use polytok_core::train::sentencepiece::{ScoredPiece, bpe, charsmap};
use polytok_core::train::unigram::sentences::{self, SentenceCounter};
use polytok_core::train::unigram::{self, UnigramOptions};
use polytok_memory::{self as memory, Collect, Copied};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBytes, PyList};

use super::counts::{self, PyMemoryLimit, PyWordCounter, finished_error};
use super::exclusive::Exclusive;
use super::progress::Reporter;
use super::unigram::PyUnigramOptions;
use crate::errors::{catch, to_python};
use crate::gil::detach;
use crate::lists;
use crate::objects::{self, Items};

/// Pieces and their scores.
pub type ScoredPieces<'py> = (Bound<'py, PyList>, Bound<'py, PyArray1<f32>>);

/// Adds the class and the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    objects::add_class::<PySentenceCounter>(module)?;
    module.add_function(wrap_pyfunction!(train_sentencepiece, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_charsmap, module)?)?;
    module.add_function(wrap_pyfunction!(sentencepiece_compile_rules, module)?)
}

/// Compiles the named rules to a character map.
#[pyfunction]
fn sentencepiece_charsmap<'py>(py: Python<'py>, name: &str, version: &str) -> PyResult<Bound<'py, PyBytes>> {
    let compiled = detach(py, || charsmap::compile(&charsmap::named::rules(name, core_version(version)?)?))?;
    objects::bytes(py, &compiled)
}

/// Compiles a file of rules to a character map.
#[pyfunction]
fn sentencepiece_compile_rules<'py>(py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
    let compiled = detach(py, || charsmap::compile(&charsmap::parse(file)?))?;
    objects::bytes(py, &compiled)
}

fn core_version(version: &str) -> Result<SentencePieceVersion> {
    match version {
        "0.2.1" => Ok(SentencePieceVersion::V0_2_1),
        "0.2.3" => Ok(SentencePieceVersion::V0_2_3),
        other => Err(Error::Argument(format!("sentencepiece_version={other:?} is not \"0.2.3\" or \"0.2.1\""))),
    }
}

/// The options of a trainer, read from a dictionary whose keys are the names of the engine's options.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyTrainerOptions {
    sentencepiece_version: String,
    vocab_size: usize,
    meta: Items<Vec<u8>>,
    charsmap: PyBackedBytes,
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
    required_chars: PyBackedStr,
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

impl PyTrainerOptions {
    /// Converts the options to the engine's type.
    pub fn to_core(&self) -> Result<SentencePieceOptions> {
        Ok(SentencePieceOptions {
            version: core_version(&self.sentencepiece_version)?,
            sentences: match self.sentences.as_str() {
                "lines" => SentenceUnit::Lines,
                "items" => SentenceUnit::Items,
                "texts" => SentenceUnit::Texts,
                other => {
                    return Err(Error::Argument(format!(
                        "sentences={other:?} is not \"lines\", \"items\" or \"texts\""
                    )));
                }
            },
            normalize: SentencePieceNormalize {
                charsmap: self.charsmap.checked_to_vec(),
                add_dummy_prefix: self.add_dummy_prefix,
                remove_extra_whitespaces: self.remove_extra_whitespaces,
                escape_whitespaces: true,
                whitespace_as_suffix: self.treat_whitespace_as_suffix,
            },
            vocab_size: self.vocab_size,
            meta: self.meta.0.iter().map(|text| text.checked_to_vec()).checked_collect(),
            is_tsv: self.is_tsv,
            max_sentence_length: self.max_sentence_length,
            keeps_reserved: self.keeps_reserved,
            input_sentence_size: self.input_sentence_size,
            shuffle_input_sentence: self.shuffle_input_sentence,
            character_coverage: self.character_coverage,
            auto_character_coverage: self.auto_character_coverage,
            required_chars: memory::text(&self.required_chars),
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

/// The corpus of a counter; the kind of the sinks depends on the model.
enum CorpusKind {
    Units(Corpus<UnitCounter>),
    Words(Corpus<WordSink>),
    Chars(Corpus<CharCounts>),
    Sentences(Corpus<SentenceCounter>),
}

/// Evaluates an expression for the corpus of a [`CorpusKind`] of any kind.
macro_rules! with_corpus {
    ($kind:expr, $corpus:ident => $result:expr) => {
        match $kind {
            CorpusKind::Units($corpus) => $result,
            CorpusKind::Words($corpus) => $result,
            CorpusKind::Chars($corpus) => $result,
            CorpusKind::Sentences($corpus) => $result,
        }
    };
}

/// A counter of sentences.
#[pyclass(frozen, name = "SentenceCounter")]
pub struct PySentenceCounter(Exclusive<Sentences>);

/// Sentences that are being read.
struct Sentences {
    /// Boxed, because it holds vectors of 32 bytes and Python aligns its objects to 16.
    corpus: Option<Box<CorpusKind>>,
    skipped: SkippedSentences,
}

#[pymethods]
impl PySentenceCounter {
    /// Creates a counter for a model: "bpe", "unigram", "word" or "char". `limit` is a number of bytes and a folder.
    #[new]
    fn new(model: &str, options: PyTrainerOptions, limit: PyMemoryLimit) -> PyResult<PySentenceCounter> {
        let options = catch(|| options.to_core())?.map_err(to_python)?;
        let limit = counts::limit(limit.map(|(bytes, folder)| (bytes / options.threads.max(1), folder)));
        let corpus = catch(|| new_corpus(model, &options, limit.as_ref()))?.map_err(to_python)?;
        let sentences = Sentences { corpus: Some(Box::new(corpus)), skipped: SkippedSentences::default() };
        Ok(PySentenceCounter(Exclusive::new(sentences)))
    }

    /// Reads more texts.
    fn push(&self, py: Python<'_>, texts: Items<PyBackedBytes>) -> PyResult<()> {
        let mut state = self.0.get()?;
        let Sentences { corpus, skipped } = &mut *state;
        let Some(kind) = corpus else { return Err(finished_error()) };
        let texts = catch(|| texts.0.iter().map(|text| &text[..]).checked_collect())?;
        Reporter::new(None).run(py, |_| with_corpus!(&mut **kind, corpus => corpus.push(&texts)))?;
        *skipped = with_corpus!(&**kind, corpus => corpus.skipped());
        Ok(())
    }

    /// Returns the number of sentences that were skipped because of their length, and the number of sentences that were
    /// skipped because of a reserved character.
    fn skipped(&self) -> PyResult<(u64, u64)> {
        let SkippedSentences { long, reserved } = self.0.get()?.skipped;
        Ok((long, reserved))
    }

    /// Returns the counted words, and ends the counter.
    fn finish(&self, py: Python<'_>) -> PyResult<PyWordCounter> {
        let corpus = self.0.get()?.corpus.take().ok_or_else(finished_error)?;
        Reporter::new(None).run(py, |_| merged_counts(*corpus)).map(PyWordCounter::from)
    }
}

fn new_corpus(model: &str, options: &SentencePieceOptions, limit: Option<&Limit>) -> Result<CorpusKind> {
    let threads = 0..options.threads.max(1);
    let counter = || WordCounter::new(limit.cloned());
    Ok(match model {
        "bpe" => {
            let validity = Arc::new(Validity::new(options)?);
            let sink = |_| UnitCounter::new(validity.clone(), counter(), options);
            CorpusKind::Units(Corpus::new(options, threads.map(sink).collect())?)
        }
        "word" => CorpusKind::Words(Corpus::new(options, threads.map(|_| WordSink::new(counter())).collect())?),
        "char" => CorpusKind::Chars(Corpus::new(options, threads.map(|_| CharCounts::default()).collect())?),
        "unigram" => CorpusKind::Sentences(Corpus::new(options, SentenceCounter::each(options, limit))?),
        other => return Err(unknown_model(other)),
    })
}

fn unknown_model(model: &str) -> Error {
    Error::Argument(format!("model={model:?} is not \"bpe\", \"unigram\", \"word\" or \"char\""))
}

/// Ends reading and merges the counts of all sinks.
fn merged_counts(corpus: CorpusKind) -> Result<WordCounter> {
    let (counts, next_ordinal) = match corpus {
        CorpusKind::Units(corpus) => corpus.finish().map(|(sinks, next)| (units::merge_units(sinks), next))?,
        CorpusKind::Words(corpus) => corpus.finish().map(|(sinks, next)| (word_and_char::merge_words(sinks), next))?,
        CorpusKind::Chars(corpus) => corpus.finish().map(|(sinks, next)| (word_and_char::merge_chars(sinks), next))?,
        CorpusKind::Sentences(corpus) => corpus.finish().map(|(sinks, next)| (sentences::gather(sinks), next))?,
    };
    let mut counted = counts?;
    counted.skip_to(next_ordinal);
    Ok(counted)
}

/// Learns at most `most` pieces from words that were counted with the same options. Returns the pieces and the scores
/// in the order of the ids. Learning uses at most `room` bytes. `fit` has the options of Unigram training. If `keep` is
/// false, the memory of the counts is freed during learning.
#[pyfunction]
#[pyo3(signature = (model, counted, options, most, *, keep, room, fit, progress))]
#[allow(clippy::too_many_arguments)] // Python passes them by name
fn train_sentencepiece<'py>(
    py: Python<'py>,
    model: &str,
    counted: &PyWordCounter,
    options: PyTrainerOptions,
    most: usize,
    keep: bool,
    room: Option<usize>,
    fit: Option<PyUnigramOptions>,
    progress: Option<Py<PyAny>>,
) -> PyResult<ScoredPieces<'py>> {
    let options = catch(|| options.to_core())?.map_err(to_python)?;
    let learner = PieceLearner { model, options, most, room, fit: catch(|| fit.map(|fit| fit.to_core(room)))? };
    let mut state = counted.0.get()?;
    let counted = &mut *state;
    let scored_pieces = Reporter::new(progress).run(py, |progress| match keep {
        true => learner.run(counted, progress),
        false => learner.run(std::mem::take(counted), progress),
    })?;
    drop(state);
    let pieces = lists::of_results(py, scored_pieces.iter().map(|(piece, _)| objects::bytes(py, piece)))?;
    let scores = catch(|| scored_pieces.iter().map(|&(_, score)| score).checked_collect())?;
    Ok((pieces, objects::array(py, scores)?))
}

/// The parameters of learning pieces from counts.
struct PieceLearner<'m> {
    model: &'m str,
    options: SentencePieceOptions,
    most: usize,
    room: Option<usize>,
    fit: Option<UnigramOptions>,
}

impl PieceLearner<'_> {
    fn run(&self, mut counted: impl BorrowMut<WordCounter>, progress: &mut dyn Progress) -> Result<Vec<ScoredPiece>> {
        let (options, most) = (&self.options, self.most);
        match (self.model, &self.fit) {
            ("bpe", _) => self.bpe(counted, progress),
            ("word", _) => word_and_char::words(counted.borrow_mut(), most, options, progress),
            ("char", _) => word_and_char::chars(counted.borrow_mut(), most, options),
            ("unigram", Some(fit)) => unigram::pieces(counted, most, options, fit, progress),
            (other, _) => Err(unknown_model(other)),
        }
    }

    fn bpe(&self, mut units: impl BorrowMut<WordCounter>, progress: &mut dyn Progress) -> Result<Vec<ScoredPiece>> {
        let (options, most, room) = (&self.options, self.most, self.room);
        let (counts, validity) = (units::characters(units.borrow_mut())?, Validity::new(options)?);
        if options.auto_character_coverage {
            let alphabet = Alphabet::of_all_chars(&counts, options)?;
            return bpe::coverage::pieces(units, &alphabet, &validity, most, room, progress);
        }
        let alphabet = Alphabet::choose(&counts, options)?;
        alphabet.check_fits(most, options)?;
        bpe::pieces(units, &alphabet, &validity, most, room, progress)
    }
}
