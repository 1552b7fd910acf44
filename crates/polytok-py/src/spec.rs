//! Converts the Python dataclasses of polytok.spec to the engine's Spec, field by field.

use polytok_core::error::Error;
use polytok_core::spec::{
    Decode, DecodeStep, Model, Named, Normalize, Pattern, Priority, Replace, ScalarRules, SentencePieceNormalize,
    SentencePieceVersion, Spec, SpecialToken, Split, TemplatePart, TrimOffsets, UnigramRules, VocabColumns,
};
use polytok_core::token_id::TokenId;
use polytok_memory::{Copied, TryCollect};
use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::columns::{self, Merges};
use crate::errors::{catch, to_python};

fn spec_error(message: String) -> PyErr {
    to_python(Error::Spec(message))
}

/// Reads a field of a dataclass.
fn field<'py, T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
    object: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<T> {
    object.getattr(name)?.extract().map_err(Into::into)
}

/// Reads a whole Spec.
pub fn spec(object: &Bound<'_, PyAny>) -> PyResult<Spec> {
    let columns = vocab(&object.getattr("vocab")?)?;
    read_fields(object, columns, merges)
}

/// Reads a Spec without the columns, which are in a file.
pub fn outline(object: &Bound<'_, PyAny>) -> PyResult<Spec> {
    read_fields(object, VocabColumns::default(), |_| Ok(Vec::new()))
}

/// A function that reads the merges of a model.
type ReadMerges = fn(&Bound<'_, PyAny>) -> PyResult<Merges>;

fn read_fields(object: &Bound<'_, PyAny>, vocab: VocabColumns, merges: ReadMerges) -> PyResult<Spec> {
    read_all_fields(object, vocab, merges).map_err(|error| {
        match error.is_instance_of::<PyUnicodeEncodeError>(object.py()) {
            true => spec_error(format!("a text of the Spec has half of a surrogate pair: {error}")),
            false => error,
        }
    })
}

fn read_all_fields(object: &Bound<'_, PyAny>, vocab: VocabColumns, merges: ReadMerges) -> PyResult<Spec> {
    Ok(Spec {
        vocab,
        special: list(object, "special", special_token)?,
        matching: read_named(object, "matching")?,
        normalize: list(object, "normalize", normalize_step)?,
        split: list(object, "split", split_step)?,
        model: model(&object.getattr("model")?, merges)?,
        unknown: read_named(object, "unknown")?,
        single: list(&object.getattr("post")?, "single", template_part)?,
        trim: trim_offsets(&object.getattr("trim")?)?,
        decode: decode(&object.getattr("decode")?)?,
        sentencepiece_version: sentencepiece_version(&field::<String>(object, "sentencepiece_version")?)?,
    })
}

fn trim_offsets(trim: &Bound<'_, PyAny>) -> PyResult<TrimOffsets> {
    if trim.is_none() {
        return Ok(TrimOffsets::Nothing);
    }
    let keeps_prefix = field::<bool>(trim, "add_prefix_space")?;
    Ok(if keeps_prefix { TrimOffsets::SpaceExceptPrefix } else { TrimOffsets::Space })
}

/// Reads a field that names a value.
fn read_named<T: Named>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<T> {
    let value_name: String = field(object, name)?;
    let value = T::NAMES.iter().find(|(known, _)| *known == value_name).map(|&(_, value)| value);
    let known = || T::NAMES.iter().map(|(known, _)| format!("{known:?}")).collect::<Vec<_>>().join(", ");
    value.ok_or_else(|| spec_error(format!("{name}={value_name:?} is none of {}", known())))
}

/// Reads a field that is a sequence.
fn list<T>(object: &Bound<'_, PyAny>, name: &str, read: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>) -> PyResult<Vec<T>> {
    let items = object.getattr(name)?.try_iter()?;
    catch(|| items.map(|item| read(&item?)).checked_try_collect())?
}

/// Reads the steps of a Spec's `normalize`.
pub fn read_normalize_steps(steps: &Bound<'_, PyAny>) -> PyResult<Vec<Normalize>> {
    let steps = steps.try_iter()?;
    catch(|| steps.map(|step| normalize_step(&step?)).checked_try_collect())?
}

/// Reads the steps of a Spec's `split`.
pub fn split_steps(steps: &Bound<'_, PyAny>) -> PyResult<Vec<Split>> {
    let steps = steps.try_iter()?;
    catch(|| steps.map(|step| split_step(&step?)).checked_try_collect())?
}

/// Reads a field of bytes.
fn bytes(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<u8>> {
    let bytes = object.getattr(name)?;
    let bytes = bytes.cast::<PyBytes>()?.as_bytes();
    catch(|| bytes.checked_to_vec())
}

/// Reads the field `kind`, which names the dataclass of a step or a model.
fn kind(object: &Bound<'_, PyAny>) -> PyResult<String> {
    field(object, "kind")
}

fn special_token(token: &Bound<'_, PyAny>) -> PyResult<SpecialToken> {
    let text = token.getattr("text")?;
    Ok(SpecialToken {
        text: match text.cast::<PyBytes>() {
            Ok(bytes) => catch(|| bytes.as_bytes().checked_to_vec())?,
            Err(_) => text.extract::<String>()?.into_bytes(),
        },
        id: TokenId(field(token, "id")?),
        always: !field::<bool>(token, "special")?,
        single_word: field(token, "single_word")?,
        lstrip: field(token, "lstrip")?,
        rstrip: field(token, "rstrip")?,
        normalized: field(token, "normalized")?,
    })
}

fn template_part(part: &Bound<'_, PyAny>) -> PyResult<TemplatePart> {
    match part.hasattr("ids")? {
        true => Ok(TemplatePart::Insert(TokenId::vec_of(field(part, "ids")?))),
        false => Ok(TemplatePart::Slot),
    }
}

fn pattern(step: &Bound<'_, PyAny>) -> PyResult<Pattern> {
    Ok(Pattern { text: field(step, "pattern")?, is_regex: field(step, "is_regex")?, unicode: field(step, "unicode")? })
}

fn replace(step: &Bound<'_, PyAny>) -> PyResult<Replace> {
    Ok(Replace { pattern: pattern(step)?, content: field(step, "content")? })
}

/// Reads a dataclass of polytok.spec.split.
pub fn split_step(step: &Bound<'_, PyAny>) -> PyResult<Split> {
    Ok(match kind(step)?.as_str() {
        "pattern" => Split::Pattern {
            pattern: pattern(step)?,
            behavior: read_named(step, "behavior")?,
            invert: field(step, "invert")?,
        },
        "metaspace" => Split::Metaspace {
            replacement: field(step, "replacement")?,
            prepend: read_named(step, "prepend")?,
            split: field(step, "split")?,
        },
        "piece_space" => Split::PieceSpace,
        "byte_level" => Split::ByteLevel,
        "script" => Split::Script,
        "fixed_length" => Split::FixedLength(field(step, "length")?),
        "digit_groups" => Split::DigitGroups { unicode: field(step, "unicode")? },
        other => return Err(spec_error(format!("split: unknown step {other:?}"))),
    })
}

/// Reads the name of a SentencePiece version.
pub fn sentencepiece_version(name: &str) -> PyResult<SentencePieceVersion> {
    let version = SentencePieceVersion::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, version)| version);
    version.ok_or_else(|| spec_error(format!("sentencepiece_version={name:?} is neither \"0.2.3\" nor \"0.2.1\"")))
}

fn vocab(object: &Bound<'_, PyAny>) -> PyResult<VocabColumns> {
    let vocab = columns::read_vocab(object)?;
    let has_active_kinds = !columns::stored(object, "active_kinds")?.is_none();
    let active_kinds = has_active_kinds.then(|| columns::read_kinds(object, "active_kinds")).transpose()?;
    Ok(VocabColumns { active_kinds, ..vocab })
}

/// Reads a dataclass of polytok.spec.normalize.
pub fn normalize_step(step: &Bound<'_, PyAny>) -> PyResult<Normalize> {
    Ok(match kind(step)?.as_str() {
        "sentencepiece" => Normalize::SentencePiece(sentencepiece_normalize(step)?),
        "prefix_space" => Normalize::PrefixSpace,
        "replace_invalid" => Normalize::ReplaceInvalid { lenient: field(step, "lenient")? },
        "bert" => Normalize::Bert {
            clean_text: field(step, "clean_text")?,
            handle_chinese_chars: field(step, "handle_chinese_chars")?,
            strip_accents: field(step, "strip_accents")?,
            lowercase: field(step, "lowercase")?,
        },
        "strip" => Normalize::Strip { left: field(step, "left")?, right: field(step, "right")? },
        "strip_accents" => Normalize::StripAccents,
        "unicode" => Normalize::Unicode(read_named(step, "form")?),
        "lowercase" => Normalize::Lowercase,
        "nmt" => Normalize::Nmt,
        "precompiled" => Normalize::Precompiled(bytes(step, "charsmap")?),
        "replace" => Normalize::Replace(replace(step)?),
        "prepend" => Normalize::Prepend(field(step, "text")?),
        "byte_level" => Normalize::ByteLevel,
        "ugm" => Normalize::Ugm {
            charsmap: bytes(step, "charsmap")?,
            add_space_prefix: field(step, "add_space_prefix")?,
            remove_extra_whitespaces: field(step, "remove_extra_whitespaces")?,
        },
        "wpm" => Normalize::Wpm { lowercase: field(step, "lowercase")?, strip_accents: field(step, "strip_accents")? },
        other => return Err(spec_error(format!("normalize: unknown step {other:?}"))),
    })
}

fn sentencepiece_normalize(step: &Bound<'_, PyAny>) -> PyResult<SentencePieceNormalize> {
    Ok(SentencePieceNormalize {
        charsmap: bytes(step, "charsmap")?,
        add_dummy_prefix: field(step, "add_dummy_prefix")?,
        remove_extra_whitespaces: field(step, "remove_extra_whitespaces")?,
        escape_whitespaces: field(step, "escape_whitespaces")?,
        whitespace_as_suffix: field(step, "whitespace_as_suffix")?,
    })
}

fn model(object: &Bound<'_, PyAny>, merges: ReadMerges) -> PyResult<Model> {
    Ok(match kind(object)?.as_str() {
        "bpe" => return bpe(object, merges),
        "unigram" => Model::Unigram(match field::<String>(object, "rules")?.as_str() {
            "sentencepiece" => UnigramRules::SentencePiece,
            "huggingface" => UnigramRules::HuggingFace { byte_fallback: field(object, "byte_fallback")? },
            "llama.cpp" => UnigramRules::LlamaCpp,
            other => return Err(spec_error(format!("model.rules={other:?} is unknown"))),
        }),
        "longest" => Model::Longest,
        "word" => Model::Word,
        "char" => Model::Char,
        "wordpiece" => Model::WordPiece {
            continuing_prefix: field(object, "continuing_prefix")?,
            max_chars: field(object, "max_chars")?,
            phantom_space: field(object, "phantom_space")?,
        },
        "word_level" => Model::WordLevel,
        "plamo2" => Model::Plamo2,
        other => return Err(spec_error(format!("unknown model {other:?}"))),
    })
}

fn merges(object: &Bound<'_, PyAny>) -> PyResult<Merges> {
    columns::read_merges(&columns::stored(object, "merges")?)?
        .ok_or_else(|| spec_error("model.merges is not an array of uint32 with three columns".into()))
}

fn bpe(object: &Bound<'_, PyAny>, merges: ReadMerges) -> PyResult<Model> {
    let priority = match field::<String>(object, "priority")?.as_str() {
        "rank" => Priority::Rank,
        "score" => Priority::Score,
        "merges" => Priority::Merges(merges(object)?),
        other => {
            return Err(spec_error(format!("model.priority={other:?} is none of \"merges\", \"rank\", \"score\"")));
        }
    };
    Ok(Model::Bpe {
        priority,
        symbols: read_named(object, "symbols")?,
        whole_piece_first: field(object, "whole_piece_first")?,
        reserved: field(object, "reserved")?,
        scalars: ScalarRules {
            continuing_prefix: field(object, "continuing_prefix")?,
            word_suffix: field(object, "word_suffix")?,
            byte_fallback: field(object, "byte_fallback")?,
            fuse_unknown: field(object, "fuse_unknown")?,
        },
    })
}

fn decode(object: &Bound<'_, PyAny>) -> PyResult<Decode> {
    Ok(match kind(object)?.as_str() {
        "bytes" => Decode::Bytes { skips_unknown: field(object, "skips_unknown")? },
        "llama2c" => Decode::Llama2c,
        "sentencepiece" => {
            let denormalize = object.getattr("denormalize")?;
            Decode::SentencePiece {
                add_dummy_prefix: field(object, "add_dummy_prefix")?,
                remove_extra_whitespaces: field(object, "remove_extra_whitespaces")?,
                unk_surface: bytes(object, "unk_surface")?,
                denormalize: if denormalize.is_none() { None } else { Some(sentencepiece_normalize(&denormalize)?) },
            }
        }
        "chain" => {
            let is_joined = object.getattr("steps")?.is_none();
            let steps = if is_joined { None } else { Some(list(object, "steps", decode_step)?) };
            Decode::Chain { steps, byte_level: field(object, "byte_level")? }
        }
        "llama.cpp" => Decode::LlamaCpp {
            family: read_named(object, "family")?,
            strip_space: field(object, "strip_space")?,
            clean_spaces: field(object, "clean_spaces")?,
            escaped_spaces: field(object, "escaped_spaces")?,
        },
        other => return Err(spec_error(format!("unknown decode step {other:?}"))),
    })
}

fn decode_step(step: &Bound<'_, PyAny>) -> PyResult<DecodeStep> {
    Ok(match kind(step)?.as_str() {
        "byte_level" => DecodeStep::ByteLevel,
        "bpe" => DecodeStep::Bpe { suffix: field(step, "suffix")? },
        "wordpiece" => DecodeStep::WordPiece { prefix: field(step, "prefix")?, cleanup: field(step, "cleanup")? },
        "metaspace" => {
            DecodeStep::Metaspace { replacement: field(step, "replacement")?, prepend: read_named(step, "prepend")? }
        }
        "ctc" => DecodeStep::Ctc {
            pad: field(step, "pad")?,
            delimiter: field(step, "delimiter")?,
            cleanup: field(step, "cleanup")?,
        },
        "replace" => DecodeStep::Replace(replace(step)?),
        "strip" => DecodeStep::Strip {
            content: field(step, "content")?,
            start: field(step, "start")?,
            stop: field(step, "stop")?,
        },
        "byte_fallback" => DecodeStep::ByteFallback,
        "fuse" => DecodeStep::Fuse,
        other => return Err(spec_error(format!("decode: unknown step {other:?}"))),
    })
}
