//! Wraps the engine's decoding streams in Python classes. The module python/polytok/stream.py checks the options.
//!
//! A class locks its streams only while no Python code can run: ids are read before, and lists, and exceptions whose
//! creation runs Python code, are created after the lock is held. So no thread waits for a lock that it holds itself.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use polytok_core::error::Error;
use polytok_core::streams::stop::StopTexts;
use polytok_core::streams::{
    ByteOptions, ByteStream, InvalidBytes, StreamBuffers, StreamError, TextOptions, TextStream, UnknownIds,
};
use polytok_core::tokenizer::Tokenizer;
use polytok_memory::{self as memory, Collect, Copied, Grow, TryCollect};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::errors::{catch, to_python};
use crate::gil::lock;
use crate::ids::{self, Ids, MAX_ATTACHED_IDS};
use crate::lists::{self, NewList};
use crate::objects::{self, Items};
use crate::text::{self, PyText};

/// An id that stands for integers that no id can have.
const NO_ID: u32 = u32::MAX;

/// The option `unknown`.
pub fn unknown_ids(unknown: Option<&str>) -> UnknownIds {
    match unknown {
        None => UnknownIds::AsDecoder,
        Some("skip") => UnknownIds::Skip,
        Some(_) => UnknownIds::Error,
    }
}

/// The options of a stream of text.
pub fn text_options(bytes: ByteOptions, errors: &str, stop: &Items<Bound<'_, PyAny>>) -> PyResult<Arc<TextOptions>> {
    let invalid_bytes = match errors {
        "strict" => InvalidBytes::Strict,
        "ignore" => InvalidBytes::Ignore,
        _ => InvalidBytes::Replace,
    };
    let texts = stop.0.iter().map(|stop| text::text(stop));
    let stop = catch(|| -> PyResult<StopTexts> {
        let texts: Vec<PyText> = texts.checked_try_collect()?;
        let texts: Vec<Cow<str>> = texts.iter().map(|text| memory::lossy(text)).checked_collect();
        StopTexts::new(&texts).map_err(to_python)
    })??;
    Ok(Arc::new(TextOptions { bytes, invalid_bytes, stop }))
}

/// Converts an error of a stream; bytes that are not UTF-8 raise Python's own error.
fn stream_error(py: Python<'_>, error: StreamError) -> PyErr {
    match error {
        StreamError::Decode(error) => to_python(error),
        StreamError::InvalidBytes(bytes) => match text::decoded(py, &bytes, "strict") {
            Err(error) => error,
            Ok(_) => to_python(Error::Argument("the bytes are not UTF-8".into())),
        },
    }
}

/// Reads an id or several ids. If unknown ids are skipped, integers that no id can have become [`NO_ID`].
fn read_ids(item: &Bound<'_, PyAny>, unknown: UnknownIds) -> PyResult<Ids> {
    let result = match ids::read_id(item) {
        Ok(id) => Ok(Ids::Long(vec![id])),
        Err(error) if ids::is_id_error(item.py(), &error) => Err(error),
        Err(_) => ids::ids(item),
    };
    match result {
        Err(error) if unknown == UnknownIds::Skip && ids::is_id_error(item.py(), &error) => {
            let id_or_none = |item: &Bound<'_, PyAny>| match ids::read_id(item) {
                Err(error) if ids::is_id_error(item.py(), &error) => Ok(NO_ID),
                other => other,
            };
            if item.try_iter().is_err() {
                return id_or_none(item).map(|id| Ids::Long(vec![id]));
            }
            let items = item.try_iter()?;
            catch(|| items.map(|item| id_or_none(&item?)).checked_try_collect())?.map(Ids::Long)
        }
        other => other,
    }
}

/// A stream of bytes.
#[pyclass(frozen, name = "ByteStream")]
pub struct PyByteStream {
    tokenizer: Arc<Tokenizer>,
    unknown: UnknownIds,
    stream: Mutex<ByteStream>,
}

impl PyByteStream {
    pub fn new(tokenizer: Arc<Tokenizer>, options: ByteOptions) -> PyByteStream {
        PyByteStream { tokenizer, unknown: options.unknown, stream: Mutex::new(ByteStream::new(options)) }
    }
}

#[pymethods]
impl PyByteStream {
    /// Decodes an id or several ids, and returns the bytes that are complete now.
    fn push<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let ids = read_ids(ids, self.unknown)?;
        let mut out = Vec::new();
        let mut stream = lock(py, &self.stream);
        // All ids are checked before any id is decoded, so that an error does not change the stream.
        let result = stream.check(&self.tokenizer, ids.as_slice());
        result.and_then(|()| stream.push(&self.tokenizer, ids.as_slice(), &mut out)).map_err(to_python)?;
        drop(stream);
        objects::bytes(py, &out)
    }

    /// Returns the remaining bytes, and resets the stream.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut out = Vec::new();
        lock(py, &self.stream).finish(&self.tokenizer, &mut out).map_err(to_python)?;
        objects::bytes(py, &out)
    }
}

/// A stream of text.
#[pyclass(frozen, name = "TextStream")]
pub struct PyTextStream {
    tokenizer: Arc<Tokenizer>,
    unknown: UnknownIds,
    stream: Mutex<(TextStream, StreamBuffers, String)>,
}

impl PyTextStream {
    pub fn new(tokenizer: Arc<Tokenizer>, options: Arc<TextOptions>) -> PyTextStream {
        let unknown = options.bytes.unknown;
        let stream = (TextStream::new(options), StreamBuffers::default(), String::new());
        PyTextStream { tokenizer, unknown, stream: Mutex::new(stream) }
    }

    fn push_slice<'py>(&self, py: Python<'py>, ids: &[u32]) -> PyResult<Bound<'py, PyString>> {
        let mut guard = lock(py, &self.stream);
        let (stream, buffers, out) = &mut *guard;
        out.clear();
        stream.check(&self.tokenizer, ids).map_err(to_python)?;
        let text = stream.push(&self.tokenizer, ids, buffers, out).map(|()| objects::string(py, out));
        drop(guard);
        text.map_err(|error| stream_error(py, error))?
    }
}

#[pymethods]
impl PyTextStream {
    /// Decodes an id or several ids, and returns the text that is complete now.
    fn push<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyString>> {
        if let Ok(id) = ids.cast_exact::<PyInt>().map_err(PyErr::from).and_then(|id| id.extract::<u32>()) {
            return self.push_slice(py, &[id]);
        }
        let ids = read_ids(ids, self.unknown)?;
        let ids = ids.as_slice();
        if ids.len() <= MAX_ATTACHED_IDS {
            return self.push_slice(py, ids);
        }
        let mut guard = lock(py, &self.stream);
        let (stream, buffers, _) = &mut *guard;
        let text = py.detach(|| {
            let mut out = String::new();
            stream.check(&self.tokenizer, ids)?;
            stream.push(&self.tokenizer, ids, buffers, &mut out)?;
            Ok(out)
        });
        drop(guard);
        objects::string(py, &text.map_err(|error| stream_error(py, error))?)
    }

    /// Returns the remaining text, and resets the stream.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let mut guard = lock(py, &self.stream);
        let (stream, buffers, out) = &mut *guard;
        out.clear();
        let text = stream.finish(&self.tokenizer, buffers, out).map(|()| objects::string(py, out));
        drop(guard);
        text.map_err(|error| stream_error(py, error))?
    }

    #[getter]
    fn stopped(&self, py: Python<'_>) -> Option<String> {
        lock(py, &self.stream).0.stopped().map(str::to_owned)
    }

    #[getter]
    fn consumed(&self, py: Python<'_>) -> u64 {
        lock(py, &self.stream).0.consumed()
    }
}

/// Several streams of text; each has a place, which is free after the stream is removed.
#[pyclass(frozen, name = "TextStreams")]
pub struct PyTextStreams {
    tokenizer: Arc<Tokenizer>,
    streams: Mutex<Streams>,
}

#[derive(Default)]
struct Streams {
    places: Vec<Option<TextStream>>,
    buffers: StreamBuffers,
    out: String,
}

impl Streams {
    fn stream(&mut self, place: usize) -> polytok_core::error::Result<&mut TextStream> {
        let count = self.places.len();
        match self.places.get_mut(place) {
            Some(Some(stream)) => Ok(stream),
            Some(None) => Err(Error::Argument(format!("there is no decoder {place}: its place is free"))),
            None => Err(Error::Argument(format!("there is no decoder {place}: there are {count} places"))),
        }
    }
}

/// The ids of one call: the ids for each place end at an index of all ids.
#[derive(Default)]
struct PlaceIds {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl PlaceIds {
    fn at(&self, place: usize) -> &[u32] {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.ids[start..self.ends[place]]
    }
}

impl PyTextStreams {
    pub fn new(tokenizer: Arc<Tokenizer>) -> PyTextStreams {
        PyTextStreams { tokenizer, streams: Mutex::default() }
    }

    /// Reads the ids for each place: None, an id or several ids.
    fn read<'py>(&self, items: &Bound<'py, PyAny>) -> PyResult<PlaceIds> {
        let mut read = PlaceIds::default();
        if let Ok(array) = items.cast::<PyUntypedArray>()
            && array.ndim() == 1
            && matches!(array.dtype().kind(), b'i' | b'u')
            && let Ok(ids) = ids::ids(items)
        {
            read.ids = catch(|| ids.as_slice().checked_to_vec())?;
            read.ends = catch(|| (1..=read.ids.len()).checked_collect())?;
            return Ok(read);
        }
        match items.cast::<PyList>() {
            Ok(list) => list.iter().try_for_each(|item| self.read_item(&item, &mut read))?,
            Err(_) => items.try_iter()?.try_for_each(|item| self.read_item(&item?, &mut read))?,
        }
        Ok(read)
    }

    fn read_item<'py>(&self, item: &Bound<'py, PyAny>, read: &mut PlaceIds) -> PyResult<()> {
        if let Ok(number) = item.cast_exact::<PyInt>()
            && let Ok(id) = number.extract::<u32>()
        {
            catch(|| read.ids.checked_push(id))?;
        } else if !item.is_none() {
            let place = read.ends.len();
            let unknown = lock(item.py(), &self.streams)
                .stream(place)
                .map_or(UnknownIds::AsDecoder, |stream| stream.options().bytes.unknown);
            let ids = read_ids(item, unknown)?;
            catch(|| read.ids.checked_extend_from_slice(ids.as_slice()))?;
        }
        catch(|| read.ends.checked_push(read.ids.len()))
    }

    /// Decodes the ids for each place. All ids are checked before any id is decoded, so that an unknown id does not
    /// change a stream.
    fn push_read<'py>(&self, py: Python<'py>, read: &PlaceIds) -> PyResult<Bound<'py, PyList>> {
        let mut list = NewList::with_room(py, read.ends.len())?;
        let mut guard = lock(py, &self.streams);
        let count = guard.places.len();
        if read.ends.len() != count {
            let message = format!(
                "ids has {} items, but there are {count} places for decoders; pass None for a decoder without new ids",
                read.ends.len()
            );
            return Err(to_python(Error::Argument(message)));
        }
        for place in (0..count).filter(|&place| !read.at(place).is_empty()) {
            let checked = guard.stream(place).and_then(|stream| stream.check(&self.tokenizer, read.at(place)));
            checked.map_err(to_python)?;
        }
        let Streams { places, buffers, out } = &mut *guard;
        let mut texts = catch(|| memory::with_capacity(count))?;
        for (place, stream) in places.iter_mut().enumerate() {
            out.clear();
            if let Some(stream) = stream
                && let Err(error) = stream.push(&self.tokenizer, read.at(place), buffers, out)
            {
                drop(guard);
                return Err(stream_error(py, error));
            }
            texts.push(objects::string(py, out)?);
        }
        drop(guard);
        texts.into_iter().try_for_each(|text| list.push(text.into_any()))?;
        Ok(list.finish())
    }
}

#[pymethods]
impl PyTextStreams {
    fn __len__(&self, py: Python<'_>) -> usize {
        lock(py, &self.streams).places.len()
    }

    /// Adds streams with the same options; returns their places. Free places are used first.
    #[expect(clippy::too_many_arguments, reason = "the options of one Python call")]
    fn add<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        skip_special: bool,
        is_eager: bool,
        unknown: Option<&str>,
        errors: &str,
        stop: Items<Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let options =
            text_options(ByteOptions { skip_special, unknown: unknown_ids(unknown), is_eager }, errors, &stop)?;
        let mut streams = lock(py, &self.streams);
        let free_places = catch(|| {
            let places = streams.places.iter().enumerate();
            let mut free_places: Vec<usize> =
                places.filter(|(_, stream)| stream.is_none()).map(|(place, _)| place).take(count).checked_collect();
            let new_places = streams.places.len()..streams.places.len().saturating_add(count - free_places.len());
            free_places.checked_extend(new_places.clone());
            streams.places.checked_resize(new_places.end, None);
            free_places
        })?;
        for &place in &free_places {
            streams.places[place] = Some(TextStream::new(options.clone()));
        }
        drop(streams);
        lists::of_values(py, free_places)
    }

    /// Removes a stream; its place is free.
    fn remove(&self, py: Python<'_>, place: usize) -> PyResult<()> {
        let mut streams = lock(py, &self.streams);
        streams.stream(place).map_err(to_python)?;
        streams.places[place] = None;
        Ok(())
    }

    /// Decodes an id, several ids or None for each place, and returns the text that is complete now for each place.
    fn push<'py>(&self, py: Python<'py>, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        self.push_read(py, &self.read(ids)?)
    }

    /// Returns the remaining text of a stream, and resets the stream.
    fn finish<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Bound<'py, PyString>> {
        let mut guard = lock(py, &self.streams);
        guard.stream(place).map_err(to_python)?;
        let Streams { places, buffers, out } = &mut *guard;
        out.clear();
        if let Some(stream) = &mut places[place]
            && let Err(error) = stream.finish(&self.tokenizer, buffers, out)
        {
            drop(guard);
            return Err(stream_error(py, error));
        }
        objects::string(py, out)
    }

    /// The stop text that was found for each place.
    #[getter]
    fn stopped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let stopped = |stream: &Option<TextStream>| stream.as_ref()?.stopped().map(str::to_owned);
        let texts = catch(|| lock(py, &self.streams).places.iter().map(stopped).checked_collect())?;
        lists::of_values(py, texts)
    }

    /// The number of decoded ids for each place.
    #[getter]
    fn consumed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let consumed = |stream: &Option<TextStream>| stream.as_ref().map_or(0, TextStream::consumed);
        let counts = catch(|| lock(py, &self.streams).places.iter().map(consumed).checked_collect())?;
        lists::of_values(py, counts)
    }
}
