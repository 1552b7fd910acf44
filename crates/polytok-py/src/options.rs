//! The options of an encoding, resolved for one tokenizer. The module python/polytok/options.py checks them.

use std::collections::HashSet;

use polytok_core::error::Error;
use polytok_core::special::SpecialSet;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use pyo3::prelude::*;

use crate::errors::to_python;

/// Options whose special tokens to recognize and to refuse are sets.
#[pyclass(frozen, name = "ResolvedOptions")]
pub struct PyResolvedOptions {
    #[pyo3(get)]
    add_special: bool,
    special: Option<SpecialSet>,
    reject: Option<SpecialSet>,
    /// True if the caller names the special tokens to recognize, instead of the default or "all".
    names_tokens: bool,
    /// True if special tokens that are not recognized are an error.
    pub is_strict: bool,
}

impl PyResolvedOptions {
    /// Creates options from the texts of the special tokens to recognize and to refuse. Each text must be the text of a
    /// special token.
    pub fn new(
        tokenizer: &Tokenizer,
        add_special: bool,
        special: &HashSet<Vec<u8>>,
        reject: &HashSet<Vec<u8>>,
        names_tokens: bool,
        is_strict: bool,
    ) -> PyResult<PyResolvedOptions> {
        let chosen = || tokenizer.special_set(|text| special.contains(text)).map_err(to_python);
        // Without a set, the engine uses the set of the special tokens that are always recognized.
        let special = if special.is_empty() { None } else { chosen()? };
        let reject = tokenizer.specials().refused(|text| reject.contains(text)).map_err(to_python)?;
        Ok(PyResolvedOptions { add_special, special, reject, names_tokens, is_strict })
    }
}

/// The options of an encoding; None means the defaults.
pub type Options<'a, 'py> = Option<&'a Bound<'py, PyResolvedOptions>>;

/// Converts options to those of the engine.
pub fn engine_options<'a>(options: Options<'a, '_>) -> EncodeOptions<'a> {
    options.map_or_else(EncodeOptions::default, |options| {
        let PyResolvedOptions { add_special, special, reject, is_strict, .. } = options.get();
        EncodeOptions {
            add_special: *add_special,
            special: special.as_ref(),
            reject: reject.as_ref(),
            trusted: None,
            is_strict: *is_strict,
        }
    })
}

/// Returns an error if the options name special tokens, which a text in parts recognizes where it is trusted.
pub fn check_names(options: Options<'_, '_>) -> PyResult<()> {
    if options.is_some_and(|options| options.get().names_tokens) {
        return Err(to_python(Error::Argument(
            "special= names special tokens, but in a polytok.Parts all are recognized, where the text is trusted; leave \
             special= out, or pass special=\"all\""
                .into(),
        )));
    }
    Ok(())
}
