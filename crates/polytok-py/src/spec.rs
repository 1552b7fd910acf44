//! The Python dataclasses of polytok.spec, field by field, as the engine's Spec.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use polytok_core::error::Error;
use polytok_core::spec::{
    Behavior, Decode, Kind, Line, Matching, Model, Normalize, Pattern, Priority, ScalarRules, SentencePieceNormalize,
    Spec, SpecialToken, Split, Symbols, TemplatePart, UnigramRules, Unknown, VocabColumns,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::to_python;

fn spec_error(message: String) -> PyErr {
    to_python(Error::Spec(message))
}

/// A field of a dataclass.
fn field<'py, T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<T> {
    object.getattr(name)?.extract().map_err(Into::into)
}

/// A column of a dataclass as a Rust vector.
fn column<T: numpy::Element + Clone>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let array: PyReadonlyArray1<'_, T> = object.getattr(name)?.extract().map_err(|_| {
        spec_error(format!("vocab.{name} is not a one-dimensional array of {}", std::any::type_name::<T>()))
    })?;
    Ok(array.as_array().to_vec())
}

/// Reads a whole Spec.
pub fn spec(object: &Bound<'_, PyAny>) -> PyResult<Spec> {
    let post = object.getattr("post")?;
    let mut normalize = Vec::new();
    for step in object.getattr("normalize")?.try_iter()? {
        normalize.push(normalize_step(&step?)?);
    }
    let mut split = Vec::new();
    for step in object.getattr("split")?.try_iter()? {
        let pattern = Pattern { text: field(&step?, "pattern")?, is_regex: true, unicode: None };
        split.push(Split::Pattern { pattern, behavior: Behavior::Matches, invert: false });
    }
    let mut special = Vec::new();
    for token in object.getattr("special")?.try_iter()? {
        let token = token?;
        special.push(SpecialToken {
            text: field::<String>(&token, "text")?.into_bytes(),
            id: field(&token, "id")?,
            ..SpecialToken::default()
        });
    }
    Ok(Spec {
        vocab: vocab(&object.getattr("vocab")?)?,
        special,
        matching: Matching::Longest,
        normalize,
        split,
        model: model(&object.getattr("model")?)?,
        unknown: match field::<String>(object, "unknown")?.as_str() {
            "error" => Unknown::Error,
            "unk" => Unknown::Unk,
            "bytes" => Unknown::Bytes,
            other => return Err(spec_error(format!("unknown={other:?} is none of \"error\", \"unk\", \"bytes\""))),
        },
        single: vec![
            TemplatePart::Insert(field(&post, "before")?),
            TemplatePart::Slot,
            TemplatePart::Insert(field(&post, "after")?),
        ],
        trim: None,
        decode: decode(&object.getattr("decode")?)?,
        line: line(&field::<String>(object, "line")?)?,
    })
}

/// The SentencePiece line of this name.
pub fn line(name: &str) -> PyResult<Line> {
    match name {
        "0.2.1" => Ok(Line::V0_2_1),
        "0.2.3" => Ok(Line::V0_2_3),
        other => Err(spec_error(format!("line={other:?} is neither \"0.2.3\" nor \"0.2.1\""))),
    }
}

fn vocab(object: &Bound<'_, PyAny>) -> PyResult<VocabColumns> {
    let kinds = |numbers: Vec<u8>| -> PyResult<Vec<Kind>> {
        numbers.into_iter().map(|number| Kind::try_from(number).map_err(to_python)).collect()
    };
    let active_kinds = match object.getattr("active_kinds")?.is_none() {
        true => None,
        false => Some(kinds(column(object, "active_kinds")?)?),
    };
    Ok(VocabColumns {
        blob: object.getattr("blob")?.cast::<PyBytes>()?.as_bytes().to_vec(),
        offsets: column(object, "offsets")?,
        ids: column(object, "ids")?,
        scores: column(object, "scores")?,
        kinds: kinds(column(object, "kinds")?)?,
        active_kinds,
        wide_scores: None,
    })
}

fn normalize_step(step: &Bound<'_, PyAny>) -> PyResult<Normalize> {
    match field::<String>(step, "kind")?.as_str() {
        "sentencepiece" => Ok(Normalize::SentencePiece(sentencepiece_normalize(step)?)),
        "prefix_space" => Ok(Normalize::PrefixSpace),
        other => Err(spec_error(format!("normalize: unknown step {other:?}"))),
    }
}

fn sentencepiece_normalize(step: &Bound<'_, PyAny>) -> PyResult<SentencePieceNormalize> {
    Ok(SentencePieceNormalize {
        charsmap: step.getattr("charsmap")?.cast::<PyBytes>()?.as_bytes().to_vec(),
        add_dummy_prefix: field(step, "add_dummy_prefix")?,
        remove_extra_whitespaces: field(step, "remove_extra_whitespaces")?,
        escape_whitespaces: field(step, "escape_whitespaces")?,
        whitespace_as_suffix: field(step, "whitespace_as_suffix")?,
    })
}

fn model(object: &Bound<'_, PyAny>) -> PyResult<Model> {
    match field::<String>(object, "kind")?.as_str() {
        "bpe" => bpe(object),
        "unigram" => Ok(Model::Unigram(UnigramRules::SentencePiece)),
        "longest" => Ok(Model::Longest),
        "word" => Ok(Model::Word),
        "char" => Ok(Model::Char),
        other => Err(spec_error(format!("unknown model {other:?}"))),
    }
}

fn bpe(object: &Bound<'_, PyAny>) -> PyResult<Model> {
    let priority = match field::<String>(object, "priority")?.as_str() {
        "rank" => Priority::Rank,
        "score" => Priority::Score,
        "merges" => {
            let wrong = || spec_error("model.merges is not an array of uint32 with three columns".into());
            let array: PyReadonlyArray2<'_, u32> = object.getattr("merges")?.extract().map_err(|_| wrong())?;
            let rows = array.as_array();
            if rows.ncols() != 3 {
                return Err(wrong());
            }
            Priority::Merges(rows.rows().into_iter().map(|row| [row[0], row[1], row[2]]).collect())
        }
        other => {
            return Err(spec_error(format!("model.priority={other:?} is none of \"merges\", \"rank\", \"score\"")));
        }
    };
    let symbols = match field::<String>(object, "symbols")?.as_str() {
        "bytes" => Symbols::Bytes,
        "chars" => Symbols::Chars,
        "groups" => Symbols::Groups,
        other => {
            return Err(spec_error(format!("model.symbols={other:?} is none of \"bytes\", \"chars\", \"groups\"")));
        }
    };
    Ok(Model::Bpe {
        priority,
        symbols,
        whole_piece_first: field(object, "whole_piece_first")?,
        reserved: false,
        scalars: ScalarRules::default(),
    })
}

fn decode(object: &Bound<'_, PyAny>) -> PyResult<Decode> {
    match field::<String>(object, "kind")?.as_str() {
        "bytes" => Ok(Decode::Bytes),
        "llama2c" => Ok(Decode::Llama2c),
        "sentencepiece" => {
            let denormalize = object.getattr("denormalize")?;
            Ok(Decode::SentencePiece {
                add_dummy_prefix: field(object, "add_dummy_prefix")?,
                remove_extra_whitespaces: field(object, "remove_extra_whitespaces")?,
                unk_surface: object.getattr("unk_surface")?.cast::<PyBytes>()?.as_bytes().to_vec(),
                denormalize: if denormalize.is_none() { None } else { Some(sentencepiece_normalize(&denormalize)?) },
            })
        }
        other => Err(spec_error(format!("unknown decode step {other:?}"))),
    }
}
