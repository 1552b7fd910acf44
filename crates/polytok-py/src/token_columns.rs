//! The tokens of a text for an encoding with offsets, words and windows. Python often reads only the ids of such an
//! encoding, so a column is converted to a Python list when it is read.

use polytok_core::sink::Token;
use polytok_core::tokenizer::EncodeOptions;
use polytok_core::utf8::CharOffsets;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::errors::to_python;
use crate::text;
use crate::tokenizer::{PyTokenizer, run_detached};

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
        options: EncodeOptions,
    ) -> PyResult<PyTokenColumns> {
        let (text, engine) = (text::text(text)?, tokenizer.get().engine());
        let options = EncodeOptions { add_special: false, ..options };
        let (mut tokens, mut first_tokens) =
            run_detached(tokenizer.py(), text.len(), || engine.window_tokens(&text, options)).map_err(to_python)?;
        count_characters(&text, &mut tokens);
        if let Some(tokens) = &mut first_tokens {
            count_characters(&text, tokens);
        }
        Ok(PyTokenColumns { tokenizer: tokenizer.clone().unbind(), tokens, first_tokens })
    }

    /// Encodes each text of a list of words. The word of a token is the index of its text in the list.
    pub fn encode_words(
        tokenizer: &Bound<'_, PyTokenizer>,
        words: &[Bound<'_, PyAny>],
        options: EncodeOptions,
    ) -> PyResult<PyTokenColumns> {
        let mut all = PyTokenColumns { tokenizer: tokenizer.clone().unbind(), tokens: vec![], first_tokens: None };
        for (number, word) in words.iter().enumerate() {
            let PyTokenColumns { mut tokens, first_tokens, .. } = PyTokenColumns::encode(tokenizer, word, options)?;
            tokens.iter_mut().for_each(|token| token.word = Some(number as u32));
            all.tokens.append(&mut tokens);
            if let Some(mut tokens) = first_tokens {
                all.first_tokens.get_or_insert_default().append(&mut tokens);
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
        let ids: Vec<u32> = self.rows(start, stop)?.iter().map(|token| token.id.0).collect();
        self.tokenizer.get().list(py, &ids)
    }

    /// Lists the spans of a window of tokens.
    #[pyo3(signature = (start=0, stop=None))]
    fn offsets(&self, start: usize, stop: Option<usize>) -> PyResult<Vec<(u32, u32)>> {
        let mut spans: Vec<_> = self.rows(start, stop)?.iter().map(|token| (token.start, token.end)).collect();
        if let (Some(span), Some(tokens)) = (spans.first_mut(), &self.first_tokens) {
            *span = (tokens[start].start, tokens[start].end);
        }
        Ok(spans)
    }

    /// Lists the index of the piece that contains each token; -1 for a token that is not part of a piece.
    #[pyo3(signature = (start=0, stop=None))]
    fn words(&self, start: usize, stop: Option<usize>) -> PyResult<Vec<i64>> {
        Ok(self.rows(start, stop)?.iter().map(|token| token.word.map_or(-1, i64::from)).collect())
    }

    /// Lists the id of each token with its text, if the token is special or is an unknown token whose text differs from
    /// the text of its entry.
    #[pyo3(signature = (start=0, stop=None))]
    fn texts<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: Option<usize>,
    ) -> PyResult<Vec<(u32, Option<Bound<'py, PyBytes>>)>> {
        let engine = self.tokenizer.get().engine();
        let text = |token| {
            let unknown = engine.unknown_text(token).filter(|_| engine.spells_unknown());
            token.special_text().or(unknown).map(|text| PyBytes::new(py, text))
        };
        Ok(self.rows(start, stop)?.iter().map(|token| (token.id.0, text(token))).collect())
    }
}
