//! The tokens of a text for an encoding with offsets, words and windows. Python often reads only the ids of such an
//! encoding, so a column is converted to a Python list when it is read.

use polytok_core::sink::Token;
use polytok_core::tokenizer::EncodeOptions;
use polytok_core::utf8::CharOffsets;
use polytok_memory::{Collect, Grow, TryCollect};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::catch;
use crate::gil::{run_detached, run_detached_if_long};
use crate::ints::new_int;
use crate::lists;
use crate::objects;
use crate::options::Options;
use crate::token_rows::span_rows;
use crate::tokenizer::PyTokenizer;

/// The tokens of a text or of a list of words, without the template.
#[pyclass(frozen, name = "TokenColumns")]
pub struct PyTokenColumns {
    tokenizer: Py<PyTokenizer>,
    /// The tokens. Their spans count characters.
    tokens: Vec<Token>,
    /// Each token with the span that it has if it is the first token of a window; None if this span is the same.
    first_tokens: Option<Vec<Token>>,
}

impl PyTokenColumns {
    /// Encodes a text to columns of tokens, without the template.
    pub fn encode(
        tokenizer: &Bound<'_, PyTokenizer>,
        text: &Bound<'_, PyAny>,
        options: Options<'_, '_>,
    ) -> PyResult<PyTokenColumns> {
        let ((text, options), engine) = (tokenizer.get().input(text, options)?, tokenizer.get().engine());
        let options = EncodeOptions { add_special: false, ..options };
        let encode = || {
            let (mut tokens, mut first_tokens) = engine.window_tokens(&text, options)?;
            count_characters(&text, &mut tokens);
            if let Some(tokens) = &mut first_tokens {
                count_characters(&text, tokens);
            }
            Ok((tokens, first_tokens))
        };
        let (tokens, first_tokens) = run_detached(tokenizer.py(), text.len(), encode)?;
        Ok(PyTokenColumns { tokenizer: tokenizer.clone().unbind(), tokens, first_tokens })
    }

    /// Encodes each text of a list of words. The word of a token is the index of its text in the list.
    pub fn encode_words(
        tokenizer: &Bound<'_, PyTokenizer>,
        words: &[Bound<'_, PyAny>],
        options: Options<'_, '_>,
    ) -> PyResult<PyTokenColumns> {
        let mut all = PyTokenColumns { tokenizer: tokenizer.clone().unbind(), tokens: vec![], first_tokens: None };
        for (number, word) in words.iter().enumerate() {
            let mut columns = PyTokenColumns::encode(tokenizer, word, options)?;
            let (mut tokens, first_tokens) = (std::mem::take(&mut columns.tokens), columns.first_tokens.take());
            tokens.iter_mut().for_each(|token| token.word = Some(number as u32));
            catch(|| all.tokens.checked_extend(tokens.drain(..)))?;
            if let Some(tokens) = first_tokens {
                catch(|| all.first_tokens.get_or_insert_default().checked_extend(tokens))?;
            }
        }
        Ok(all)
    }

    /// Returns the tokens from `start` to `stop`; without `stop`, to the end.
    fn rows(&self, start: usize, stop: Option<usize>) -> PyResult<&[Token]> {
        let rows = self.tokens.get(start..stop.unwrap_or(self.tokens.len()));
        rows.ok_or_else(|| PyIndexError::new_err("the text has fewer tokens"))
    }
}

/// Converts the spans of tokens from bytes to characters.
fn count_characters(text: &[u8], tokens: &mut [Token]) {
    if text.is_ascii() {
        return;
    }
    let chars = CharOffsets::new(text);
    for token in tokens {
        token.start = chars.char_at(token.start);
        token.end = chars.count_to(token.end);
    }
}

#[pymethods]
impl PyTokenColumns {
    fn __len__(&self) -> usize {
        self.tokens.len()
    }

    #[pyo3(signature = (start=0, stop=None))]
    fn ids<'py>(&self, py: Python<'py>, start: usize, stop: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.rows(start, stop)?;
        let ids = catch(|| rows.iter().map(|token| token.id.0).checked_collect())?;
        self.tokenizer.get().list(py, &ids)
    }

    /// Lists the spans of a window of tokens.
    #[pyo3(signature = (start=0, stop=None))]
    fn offsets<'py>(&self, py: Python<'py>, start: usize, stop: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let rows = self.rows(start, stop)?;
        let span = |(at, token): (usize, &Token)| {
            let first_tokens = self.first_tokens.as_ref().filter(|_| at == 0);
            let token = first_tokens.map_or(token, |tokens| &tokens[start]);
            (token.start, token.end)
        };
        span_rows(py, rows.iter().enumerate().map(span))
    }

    /// Lists the index of the piece that contains each token; -1 for a token that is not part of a piece.
    #[pyo3(signature = (start=0, stop=None))]
    fn words<'py>(&self, py: Python<'py>, start: usize, stop: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let (rows, no_word) = (self.rows(start, stop)?, (-1_i64).into_pyobject(py)?.into_any());
        let mut last = (None, no_word.clone());
        let word = |token: &Token| {
            if token.word != last.0 {
                let number = token.word.map_or_else(|| Ok(no_word.clone()), |word| new_int(py, word))?;
                last = (token.word, number);
            }
            Ok(last.1.clone())
        };
        lists::list(py, rows.iter().map(word))
    }

    /// Lists the tokens that are special, or unknown with another text than their entry, as pairs: the token's index,
    /// and its text.
    #[pyo3(signature = (start=0, stop=None))]
    fn own_texts<'py>(&self, py: Python<'py>, start: usize, stop: Option<usize>) -> PyResult<Bound<'py, PyList>> {
        let engine = self.tokenizer.get().engine();
        let own_text = |(at, token): (usize, &Token)| {
            let unknown = || engine.unknown_text(token.own_text.as_deref()).filter(|_| engine.spells_unknown());
            let text = token.special_text().or_else(unknown)?;
            Some(objects::bytes(py, text).map(|text| (at, text)))
        };
        let rows = self.rows(start, stop)?.iter().enumerate();
        let texts: Vec<(usize, Bound<PyBytes>)> = catch(|| rows.filter_map(own_text).checked_try_collect())??;
        lists::of_values(py, texts)
    }
}

/// Frees many tokens without the GIL, because this takes milliseconds.
impl Drop for PyTokenColumns {
    fn drop(&mut self) {
        let tokens = (std::mem::take(&mut self.tokens), self.first_tokens.take());
        let bytes = size_of_val(tokens.0.as_slice());
        Python::attach(|py| run_detached_if_long(py, bytes, || drop(tokens)));
    }
}
