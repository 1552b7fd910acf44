//! Wraps the engine's tokenizer in a Python class. The module python/polytok/tokenizer.py resolves the options.

use std::sync::{Arc, OnceLock};

use numpy::{Element, PyArray1};
use polytok_core::batch::{Batch, BatchOptions, BatchText, Id, count_batch, encode_batch};
use polytok_core::error::Error;
use polytok_core::model::unigram::sample::SampleOptions;
use polytok_core::normalize::output::Span;
use polytok_core::sink::Spans;
use polytok_core::spec::SpecialToken;
use polytok_core::streams::ByteOptions;
use polytok_core::tokenizer::cuts::CutState;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use polytok_core::utf8::CharOffsets;
use polytok_memory::{self as memory, Collect, Copied, Grow};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::{catch, row_error, to_python};
use crate::gil::{detach, run_detached, run_detached_if_long};
use crate::ids::{KeptIds, MAX_ATTACHED_IDS};
use crate::ints::Ints;
use crate::kept::KeptObjects;
use crate::lists;
use crate::objects::{self, ItemSet, Items};
use crate::options::{Options, PyResolvedOptions, check_names, engine_options};
use crate::streams::{PyByteStream, PyTextStream, PyTextStreams, text_options, unknown_ids};
use crate::text::{PyParts, PyText, StoredText};
use crate::texts::PyTexts;
use crate::token_columns::PyTokenColumns;
use crate::token_rows::token_rows;
use crate::{arrow, ids, spec, text};

/// The assumed number of bytes of a text per id, from which the memory for the ids is computed.
const ASSUMED_BYTES_PER_ID: usize = 3;

/// A compiled tokenizer.
#[pyclass(frozen, name = "Tokenizer")]
pub struct PyTokenizer {
    tokenizer: Arc<Tokenizer>,
    /// True if every id fits in 16 bits.
    is_narrow: bool,
    ints: Ints,
    /// The pieces of ids, as bytes.
    pieces: KeptObjects,
    /// Returns the tokenizer for texts that are not trusted as a whole, or None if this tokenizer encodes them itself.
    create_guard: OnceLock<Py<PyAny>>,
}

impl From<Tokenizer> for PyTokenizer {
    fn from(tokenizer: Tokenizer) -> PyTokenizer {
        let is_narrow = tokenizer.max_id().is_none_or(|id| id <= u16::MAX as u32);
        PyTokenizer {
            tokenizer: Arc::new(tokenizer),
            is_narrow,
            ints: Ints::default(),
            pieces: KeptObjects::default(),
            create_guard: OnceLock::new(),
        }
    }
}

/// The ids of a batch in one array, and the offset in this array at which each row begins.
type BatchArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

/// The spans of tokens: ids, starts and ends in characters, starts and ends in bytes.
type SpanColumns<'py> = (
    Bound<'py, PyAny>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
);

/// A decoded text, the piece of each id, starts and ends in characters.
type OffsetColumns<'py> =
    (Bound<'py, PyString>, Bound<'py, PyList>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>);

/// Converts the starts and ends of spans from bytes to characters.
fn char_spans(text: &[u8], Spans { starts, ends, .. }: &Spans) -> (Vec<u32>, Vec<u32>) {
    if text.is_ascii() {
        return (starts.checked_to_vec(), ends.checked_to_vec());
    }
    let chars = CharOffsets::new(text);
    let char_starts = starts.iter().map(|&start| chars.char_at(start)).checked_collect();
    (char_starts, ends.iter().map(|&end| chars.count_to(end)).checked_collect())
}

/// Lists segmentations as pairs of a list of ids and a score.
fn scored_lists<'py>(py: Python<'py>, segmentations: Vec<(Vec<u32>, f32)>) -> PyResult<Bound<'py, PyList>> {
    lists::of_results(py, segmentations.into_iter().map(|(ids, score)| Ok((lists::of_values(py, ids)?, score))))
}

#[pymethods]
impl PyTokenizer {
    #[new]
    fn new(py: Python<'_>, spec: &Bound<'_, PyAny>) -> PyResult<PyTokenizer> {
        let spec = spec::spec(spec)?;
        let compiled = detach(py, || Tokenizer::compile(spec))?;
        Ok(PyTokenizer::from(compiled))
    }

    /// Creates options from the texts of the special tokens to recognize and to refuse. Each text must be the text of a
    /// special token.
    #[pyo3(signature = (add_special, special, reject, names_tokens=false, is_strict=false))]
    fn options(
        &self,
        add_special: bool,
        special: ItemSet<Vec<u8>>,
        reject: ItemSet<Vec<u8>>,
        names_tokens: bool,
        is_strict: bool,
    ) -> PyResult<PyResolvedOptions> {
        PyResolvedOptions::new(&self.tokenizer, add_special, &special.0, &reject.0, names_tokens, is_strict)
    }

    /// The maximum size, in bytes, of the cache of each thread.
    #[getter]
    fn cache_limit(&self) -> usize {
        self.tokenizer.pool().limit()
    }

    #[setter]
    fn set_cache_limit(&self, bytes: usize) {
        self.engines().for_each(|engine| engine.pool().set_limit(bytes));
    }

    /// Sets the function that returns the tokenizer for texts that are not trusted as a whole, or None; it is called
    /// when the first such text is encoded.
    fn set_guard(&self, create_guard: Py<PyAny>) {
        let _ = self.create_guard.set(create_guard);
    }

    /// The size, in bytes, of all caches except the caches of running threads.
    #[getter]
    fn cache_bytes(&self) -> usize {
        self.engines().map(|engine| engine.pool().cache_bytes()).sum()
    }

    fn clear_cache(&self) {
        self.engines().for_each(|engine| engine.pool().clear());
    }

    fn warm_up(&self, py: Python<'_>) -> PyResult<()> {
        detach(py, || {
            self.tokenizer.warm_up();
            Ok(())
        })
    }

    /// Lists every special token as (text, id).
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let row = |token: &SpecialToken| Ok((objects::bytes(py, &token.text)?, token.id.0));
        lists::of_results(py, self.tokenizer.specials().tokens().iter().map(row))
    }

    #[pyo3(signature = (text, options=None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut ids = KeptIds::default();
        self.append_ids(py, text, options, &mut ids.0)?;
        self.list(py, &ids.0)
    }

    #[pyo3(signature = (text, options=None))]
    fn encode_array<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, self.ids(py, text, options)?)
    }

    /// Encodes texts; returns the ids of all texts in one array, and the offsets of the rows (int64).
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Items<Bound<'py, PyAny>>,
        options: Options<'_, 'py>,
        threads: usize,
    ) -> PyResult<BatchArrays<'py>> {
        let texts = self.inputs(py, &texts.0, options)?;
        let encode = engine_options(options);
        let options = BatchOptions { encode, threads, ..Default::default() };
        self.batch(py, &texts, &options, |(_, error)| to_python(error))
    }

    /// Counts the ids of each text; returns an array (int64).
    fn count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: Items<Bound<'py, PyAny>>,
        options: Options<'_, 'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let texts = self.inputs(py, &texts.0, options)?;
        let options = engine_options(options);
        let counts = py.detach(|| count_batch(&self.tokenizer, &texts, options, threads));
        objects::array(py, counts.map_err(|(_, error)| to_python(error))?)
    }

    /// Encodes a column of texts as `encode_batch` does; adds an id before and an id after each text.
    #[pyo3(signature = (texts, options, threads, begin=None, end=None))]
    fn encode_texts<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyTexts>,
        options: Options<'_, 'py>,
        threads: usize,
        begin: Option<u32>,
        end: Option<u32>,
    ) -> PyResult<BatchArrays<'py>> {
        if let Some(id) = [begin, end].into_iter().flatten().find(|&id| Some(id) > self.tokenizer.max_id()) {
            return Err(to_python(Error::Id(id)));
        }
        let encode = engine_options(options);
        let slices = catch(|| texts.get().0.slices())?;
        self.batch(py, &slices, &BatchOptions { encode, begin, end, threads }, row_error)
    }

    /// Encodes an Arrow column of texts to an Arrow column of lists of ids.
    fn encode_arrow<'py>(
        &self,
        column: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let encode = engine_options(options);
        arrow::encode(&self.tokenizer, self.is_narrow, column, &BatchOptions { encode, threads, ..Default::default() })
    }

    /// Counts the ids of an Arrow column of texts, as an Arrow column of int64.
    fn count_arrow<'py>(
        &self,
        column: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let encode = engine_options(options);
        arrow::count(&self.tokenizer, column, &BatchOptions { encode, threads, ..Default::default() })
    }

    #[pyo3(signature = (text, options=None))]
    fn count<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>, options: Options<'_, 'py>) -> PyResult<usize> {
        let (text, options) = self.input(text, options)?;
        run_detached(py, text.len(), || self.tokenizer.count(&text, options))
    }

    /// Returns the last cut in `text[start..=end]`: an offset at which the text can be encoded in two parts, whatever
    /// follows the text. Offsets are in bytes; None if no cut is proven there.
    #[pyo3(signature = (text, start, end, options=None))]
    fn safe_cut<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        start: usize,
        end: usize,
        options: Options<'_, 'py>,
    ) -> PyResult<Option<usize>> {
        let (text, options) = self.input(text, options)?;
        Ok(self.tokenizer.safe_cut(&text, start, end, false, options))
    }

    /// Returns the last left cut in `text[start..=end]`: an offset at which a token ends, whatever follows the text, and
    /// before which no token depends on it. Offsets are in bytes; None if no left cut is proven there.
    #[pyo3(signature = (text, start, end, options=None))]
    fn left_cut<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        start: usize,
        end: usize,
        options: Options<'_, 'py>,
    ) -> PyResult<Option<usize>> {
        let (text, options) = self.input(text, options)?;
        Ok(self.tokenizer.safe_cut(&text, start, end, true, options))
    }

    /// Returns the ids that the template inserts before and after the text; None if the template does not have the text
    /// exactly once.
    fn template_ids(&self) -> Option<(Vec<u32>, Vec<u32>)> {
        self.tokenizer.affixes(true)
    }

    /// Returns the ids of the text after a cut, without the template. The text before the cut has an effect on the ids
    /// only as the context of the cut.
    #[pyo3(signature = (text, cut, options=None))]
    fn encode_from<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        cut: usize,
        options: Options<'_, 'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = text::text(text)?;
        let options = engine_options(options);
        let mut ids = Vec::new();
        run_detached(py, text.len(), || {
            let start = self.tokenizer.context_start(&text, cut);
            self.tokenizer.encode_from(&text[start..], cut - start, &mut CutState::default(), options, &mut ids)
        })?;
        self.list(py, &ids)
    }

    /// Lists every token as a `Token`.
    #[pyo3(signature = (text, options=None))]
    fn tokens<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (text, options) = self.input(text, options)?;
        let encode = || {
            let tokens = self.tokenizer.tokens(&text, options)?;
            Ok((tokens, (!text.is_ascii()).then(|| CharOffsets::new(&text))))
        };
        let (tokens, chars) = run_detached(py, text.len(), encode)?;
        let rows = token_rows(py, &self.tokenizer, (&self.ints, &self.pieces), &tokens, chars.as_ref());
        run_detached_if_long(py, text.len(), || drop((tokens, chars)));
        rows
    }

    /// Returns the ids of the tokens, and the starts and ends of their spans in characters and in bytes.
    #[pyo3(signature = (text, options=None))]
    fn spans<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
    ) -> PyResult<SpanColumns<'py>> {
        let (text, options) = self.input(text, options)?;
        let encode = || {
            let spans = self.tokenizer.spans(&text, options)?;
            let char_spans = char_spans(&text, &spans);
            Ok((spans, char_spans))
        };
        let (spans, (starts, ends)) = run_detached(py, text.len(), encode)?;
        let column = |values| objects::array(py, values);
        let (starts, ends) = (column(starts)?, column(ends)?);
        Ok((self.array(py, spans.ids)?, starts, ends, column(spans.starts)?, column(spans.ends)?))
    }

    /// Encodes a text to columns of tokens, without the template.
    #[pyo3(signature = (text, options=None))]
    fn token_columns<'py>(
        tokenizer: &Bound<'py, Self>,
        text: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
    ) -> PyResult<PyTokenColumns> {
        PyTokenColumns::encode(tokenizer, text, options)
    }

    /// Encodes a list of words to columns of tokens, without the template.
    #[pyo3(signature = (words, options=None))]
    fn token_columns_of_words<'py>(
        tokenizer: &Bound<'py, Self>,
        words: Items<Bound<'py, PyAny>>,
        options: Options<'_, 'py>,
    ) -> PyResult<PyTokenColumns> {
        PyTokenColumns::encode_words(tokenizer, &words.0, options)
    }

    #[pyo3(signature = (ids, skip_special=false))]
    fn decode_bytes<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        objects::bytes(py, &self.bytes_of(py, ids::ids(ids)?.as_slice(), skip_special)?)
    }

    /// Decodes ids to a text. Bytes that are not UTF-8 are handled by the Python error handler `errors`.
    #[pyo3(signature = (ids, skip_special=false, errors="replace"))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        self.text_of(py, ids::ids(ids)?.as_slice(), skip_special, errors)
    }

    /// Decodes rows of ids to texts.
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyAny>,
        skip_special: bool,
        errors: &str,
    ) -> PyResult<Bound<'py, PyList>> {
        let texts = objects::empty_list(py)?;
        for row in rows.try_iter()? {
            texts.append(self.text_of(py, ids::ids(&row?)?.as_slice(), skip_special, errors)?)?;
        }
        Ok(texts)
    }

    /// Decodes ids to a text; returns the text, the piece of each id, and the starts and ends of the ids in characters.
    fn decode_with_offsets<'py>(
        &self,
        py: Python<'py>,
        ids: &Bound<'py, PyAny>,
        skip_special: bool,
        errors: &str,
    ) -> PyResult<OffsetColumns<'py>> {
        let ids = ids::ids(ids)?;
        let ids = ids.as_slice();
        let replacement = match errors {
            "strict" => None,
            "ignore" => Some(""),
            _ => Some("\u{FFFD}"),
        };
        let decode = || self.tokenizer.decode_with_offsets(ids, skip_special, replacement);
        let Some(decoded) = run_detached(py, ids.len(), decode)? else {
            return Err(text::decoded(py, &self.bytes_of(py, ids, skip_special)?, errors)
                .map_or_else(|error| error, |_| to_python(Error::Argument("the bytes are not UTF-8".into()))));
        };
        let mut start = 0;
        let piece = |&end: &usize| {
            objects::string(py, &decoded.text[std::mem::replace(&mut start, end)..end]).map(Bound::into_any)
        };
        let pieces = lists::list(py, decoded.piece_ends.iter().map(piece))?;
        let text = objects::string(py, &decoded.text)?;
        Ok((text, pieces, objects::array(py, decoded.starts)?, objects::array(py, decoded.ends)?))
    }

    /// Creates a decoding stream of bytes.
    fn byte_stream(&self, skip_special: bool, is_eager: bool, unknown: Option<&str>) -> PyByteStream {
        let options = ByteOptions { skip_special, unknown: unknown_ids(unknown), is_eager };
        PyByteStream::new(self.tokenizer.clone(), options)
    }

    /// Creates a decoding stream of text.
    fn text_stream(
        &self,
        skip_special: bool,
        is_eager: bool,
        unknown: Option<&str>,
        errors: &str,
        stop: Items<Bound<'_, PyAny>>,
    ) -> PyResult<PyTextStream> {
        let options = ByteOptions { skip_special, unknown: unknown_ids(unknown), is_eager };
        Ok(PyTextStream::new(self.tokenizer.clone(), text_options(options, errors, &stop)?))
    }

    /// Creates a collection of decoding streams of text, which is empty.
    fn text_streams(&self) -> PyTextStreams {
        PyTextStreams::new(self.tokenizer.clone())
    }

    /// Lists the n best segmentations as (ids, score).
    fn nbest<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>, n: usize) -> PyResult<Bound<'py, PyList>> {
        let text = text::text(text)?;
        scored_lists(py, detach(py, || self.tokenizer.nbest(&text, n))?)
    }

    fn sample<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        nbest_size: i32,
        alpha: f32,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = text::text(text)?;
        lists::of_values(py, detach(py, || self.tokenizer.sample(&text, nbest_size, alpha, seed))?)
    }

    #[expect(clippy::too_many_arguments, reason = "the options of one Python call")]
    fn sample_with_score<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        num_samples: usize,
        alpha: f32,
        without_replacement: bool,
        include_best: bool,
        seed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        let text = text::text(text)?;
        let options = SampleOptions { num_samples, alpha, without_replacement, include_best };
        scored_lists(py, detach(py, || self.tokenizer.sample_with_score(&text, options, seed))?)
    }

    fn entropy(&self, py: Python<'_>, text: &Bound<'_, PyAny>, alpha: f32) -> PyResult<f32> {
        let text = text::text(text)?;
        detach(py, || self.tokenizer.entropy(&text, alpha))
    }

    fn token_bytes<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let id = ids::read_id(id)?;
        let bytes = self.tokenizer.token_bytes(id).ok_or_else(|| crate::errors::id_error(id))?;
        objects::bytes(py, bytes)
    }

    fn id_of(&self, piece: &[u8]) -> Option<u32> {
        self.tokenizer.id_of(piece)
    }

    /// Returns the largest id; None if the vocabulary is empty.
    fn max_id(&self) -> Option<u32> {
        self.tokenizer.max_id()
    }
}

impl PyTokenizer {
    /// The tokenizer of the engine.
    pub fn engine(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns the text of an argument, which can be a text in parts, and the options for encoding it.
    pub fn input<'a>(
        &self,
        object: &'a Bound<'_, PyAny>,
        options: Options<'a, '_>,
    ) -> PyResult<(PyText<'a>, EncodeOptions<'a>)> {
        // Most texts are str, and most of these are ASCII.
        if let Some(text) = text::ascii(object) {
            return Ok((text, engine_options(options)));
        }
        let Ok(parts) = object.cast::<PyParts>() else { return Ok((text::text(object)?, engine_options(options))) };
        let parts = parts.get();
        self.prepare(object.py(), parts, options)?;
        let trusted = Some(parts.trusted());
        Ok((PyText::Stored(&parts.text), EncodeOptions { trusted, ..engine_options(options) }))
    }

    /// Returns a text that is added to another text, with its trusted runs if it is in parts. Creates the guard for text
    /// in parts.
    pub fn addition<'a>(
        &self,
        object: &'a Bound<'_, PyAny>,
        options: Options<'_, '_>,
    ) -> PyResult<(PyText<'a>, Option<&'a [Span]>)> {
        let Ok(parts) = object.cast::<PyParts>() else { return Ok((text::text(object)?, None)) };
        let PyParts { text, runs, .. } = parts.get();
        check_names(options)?;
        self.create_guard(object.py())?;
        Ok((PyText::Stored(text), Some(runs)))
    }

    /// Returns the texts of an argument, of which some can be in parts.
    fn inputs<'a>(
        &self,
        py: Python<'_>,
        objects: &'a [Bound<'_, PyAny>],
        options: Options<'_, '_>,
    ) -> PyResult<Vec<StoredText<'a>>> {
        let mut texts = catch(|| memory::with_capacity(objects.len()))?;
        for object in objects {
            texts.push(StoredText::with_parts(object)?);
        }
        for text in &texts {
            if let StoredText::Parts(parts) = text {
                self.prepare(py, parts, options)?;
            }
        }
        Ok(texts)
    }

    /// Checks the options for a text in parts, and creates the guard if this text needs it.
    fn prepare(&self, py: Python<'_>, parts: &PyParts, options: Options<'_, '_>) -> PyResult<()> {
        check_names(options)?;
        if options.is_some_and(|options| options.get().is_strict) {
            self.tokenizer.reject_untrusted(&parts.text, &parts.runs).map_err(to_python)?;
        }
        if parts.trusted().is_whole { Ok(()) } else { self.create_guard(py) }
    }

    /// Creates the guard, the tokenizer for texts that are not trusted as a whole, if it does not exist.
    fn create_guard(&self, py: Python<'_>) -> PyResult<()> {
        if self.tokenizer.guard_tokenizer().is_some() {
            return Ok(());
        }
        let Some(create_guard) = self.create_guard.get() else { return Ok(()) };
        let guard: Option<Py<PyTokenizer>> = create_guard.call0(py)?.extract(py)?;
        let guard = guard.map(|guard| guard.get().tokenizer.clone());
        if let Some(guard) = &guard {
            guard.pool().set_limit(self.tokenizer.pool().limit());
        }
        self.tokenizer.set_guard(guard).map_err(to_python)
    }

    /// The tokenizer, and its guard if there is one.
    fn engines(&self) -> impl Iterator<Item = &Tokenizer> {
        [Some(self.engine()), self.tokenizer.guard_tokenizer().flatten()].into_iter().flatten()
    }

    /// Creates a list of ids.
    pub fn list<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyList>> {
        self.ints.list(py, &self.tokenizer, ids)
    }

    /// Converts ids to a numpy array of uint16 if every id of the vocabulary fits, else of uint32.
    fn array<'py>(&self, py: Python<'py>, ids: Vec<u32>) -> PyResult<Bound<'py, PyAny>> {
        match self.is_narrow {
            true => {
                let narrow = || catch(|| ids.iter().map(|&id| id as u16).checked_collect());
                let narrow_ids = run_detached_if_long(py, size_of_val(ids.as_slice()), narrow)?;
                Ok(objects::array(py, narrow_ids)?.into_any())
            }
            false => Ok(objects::array(py, ids)?.into_any()),
        }
    }

    /// Encodes texts; returns the ids of all texts in one array, and the offsets of the rows.
    fn batch<'py>(
        &self,
        py: Python<'py>,
        texts: &[impl BatchText],
        options: &BatchOptions,
        error: fn((usize, Error)) -> PyErr,
    ) -> PyResult<BatchArrays<'py>> {
        match self.is_narrow {
            true => self.batch_of::<u16>(py, texts, options, error),
            false => self.batch_of::<u32>(py, texts, options, error),
        }
    }

    fn batch_of<'py, T: Id + Element + 'static>(
        &self,
        py: Python<'py>,
        texts: &[impl BatchText],
        options: &BatchOptions,
        error: fn((usize, Error)) -> PyErr,
    ) -> PyResult<BatchArrays<'py>> {
        let encode = || encode_batch(&self.tokenizer, texts, options);
        let Batch::<T> { ids, offsets } = py.detach(encode).map_err(error)?;
        Ok((objects::array(py, ids)?.into_any(), objects::array(py, offsets)?))
    }

    /// Decodes ids to bytes. For a short list of ids, releasing the GIL costs more time than it saves.
    fn bytes_of(&self, py: Python<'_>, ids: &[u32], skip_special: bool) -> PyResult<Vec<u8>> {
        let decode = || self.tokenizer.decode(ids, skip_special);
        if ids.len() <= MAX_ATTACHED_IDS { decode().map_err(to_python) } else { detach(py, decode) }
    }

    fn text_of<'py>(
        &self,
        py: Python<'py>,
        ids: &[u32],
        skip_special: bool,
        errors: &str,
    ) -> PyResult<Bound<'py, PyString>> {
        text::decoded(py, &self.bytes_of(py, ids, skip_special)?, errors)
    }

    fn ids<'py>(&self, py: Python<'py>, text: &Bound<'py, PyAny>, options: Options<'_, 'py>) -> PyResult<Vec<u32>> {
        let mut ids = Vec::new();
        self.append_ids(py, text, options, &mut ids)?;
        Ok(ids)
    }

    fn append_ids<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        options: Options<'_, 'py>,
        ids: &mut Vec<u32>,
    ) -> PyResult<()> {
        let (text, options) = self.input(text, options)?;
        run_detached(py, text.len(), || {
            ids.checked_reserve(text.len() / ASSUMED_BYTES_PER_ID + 16);
            self.tokenizer.encode(&text, options, ids)
        })
    }
}
