//! Reads the Spec of a native file without the columns: the section `spec`, field by field, and the special tokens.
//!
//! The classes, the fields and their defaults are those of python/polytok/spec/. python/polytok/formats/ptok.py compares
//! what this module reads from each file that it writes with the Spec, so a difference between the two definitions is an
//! error.

use polytok_memory::Copied;

use super::Image;
use super::plain::{Fields, spec_error};
use crate::error::Result;
use crate::space_mark;
use crate::spec::{
    Decode, DecodeStep, Model, Named, Normalize, Pattern, Priority, Replace, ScalarRules, SentencePieceNormalize, Spec,
    Split, TemplatePart, TrimOffsets, UnigramRules, VocabColumns,
};
use crate::token_id::TokenId;

impl Image {
    /// Returns the Spec without the vocabulary and without the merges, which are columns of the file.
    pub fn outline(&self) -> Result<Spec> {
        let section = |name: &str| self.section(name).ok_or_else(|| spec_error(&format!("section {name} is missing")));
        let mut spec = Fields::read_section(section("spec")?, section("data")?, read_spec)?;
        spec.special = self.special_tokens()?;
        Ok(spec)
    }

    /// Returns the merges of a model whose merges are a list.
    pub fn merges(&self) -> Result<Vec<[u32; 3]>> {
        match self.table::<[u32; 3]>("model.merges") {
            Some(merges) => Ok(merges?.checked_to_vec()),
            None => Err(spec_error("section model.merges is missing")),
        }
    }
}

fn read_spec(fields: &mut Fields) -> Result<Spec> {
    for python_only in ["names", "origin"] {
        fields.skip(python_only);
    }
    let model = fields.object("model", read_model)?.ok_or_else(|| spec_error("the model is missing"))?;
    let spec = Spec::new(VocabColumns::default(), model);
    Ok(Spec {
        matching: fields.named("matching", Some("longest"), Named::NAMES)?,
        normalize: fields.list("normalize", read_normalize)?,
        split: fields.list("split", read_split)?,
        unknown: fields.named("unknown", Some("error"), Named::NAMES)?,
        single: fields.object("post", read_template)?.unwrap_or(spec.single),
        trim: fields.object("trim", read_trim)?.unwrap_or(spec.trim),
        decode: fields.object("decode", read_decode)?.unwrap_or(spec.decode),
        sentencepiece_version: fields.named("sentencepiece_version", Some("0.2.3"), Named::NAMES)?,
        ..spec
    })
}

fn read_model(fields: &mut Fields) -> Result<Model> {
    Ok(match &*fields.class()? {
        "Bpe" => read_bpe(fields)?,
        "Unigram" => {
            let byte_fallback = fields.bool("byte_fallback", false)?;
            Model::Unigram(match &*fields.text("rules", Some("sentencepiece"))? {
                "sentencepiece" => UnigramRules::SentencePiece,
                "huggingface" => UnigramRules::HuggingFace { byte_fallback },
                "llama.cpp" => UnigramRules::LlamaCpp,
                other => return Err(spec_error(&format!("rules has the unknown value {other:?}"))),
            })
        }
        "Longest" => Model::Longest,
        "Word" => Model::Word,
        "Char" => Model::Char,
        "WordPiece" => Model::WordPiece {
            continuing_prefix: fields.text("continuing_prefix", Some("##"))?,
            max_chars: fields.optional_number("max_chars", Some(100))?,
            phantom_space: fields.bool("phantom_space", false)?,
        },
        "WordLevel" => Model::WordLevel,
        "Plamo2" => Model::Plamo2,
        other => return Err(unknown_class(other)),
    })
}

fn read_bpe(fields: &mut Fields) -> Result<Model> {
    fields.skip("merges"); // an empty column; the merges have a section of their own
    Ok(Model::Bpe {
        priority: match &*fields.text("priority", None)? {
            "rank" => Priority::Rank,
            "score" => Priority::Score,
            "merges" => Priority::Merges(Vec::new()),
            other => return Err(spec_error(&format!("priority has the unknown value {other:?}"))),
        },
        symbols: fields.named("symbols", Some("bytes"), Named::NAMES)?,
        whole_piece_first: fields.bool("whole_piece_first", false)?,
        reserved: fields.bool("reserved", false)?,
        scalars: ScalarRules {
            continuing_prefix: fields.text("continuing_prefix", Some(""))?,
            word_suffix: fields.text("word_suffix", Some(""))?,
            byte_fallback: fields.bool("byte_fallback", false)?,
            fuse_unknown: fields.bool("fuse_unknown", false)?,
        },
    })
}

fn read_normalize(fields: &mut Fields) -> Result<Normalize> {
    Ok(match &*fields.class()? {
        "SentencePieceNormalize" => Normalize::SentencePiece(read_sentencepiece_fields(fields)?),
        "PrefixSpace" => Normalize::PrefixSpace,
        "ReplaceInvalid" => Normalize::ReplaceInvalid { lenient: fields.bool("lenient", false)? },
        "BertNormalize" => Normalize::Bert {
            clean_text: fields.bool("clean_text", true)?,
            handle_chinese_chars: fields.bool("handle_chinese_chars", true)?,
            strip_accents: fields.bool("strip_accents", true)?,
            lowercase: fields.bool("lowercase", true)?,
        },
        "Strip" => Normalize::Strip { left: fields.bool("left", true)?, right: fields.bool("right", true)? },
        "StripAccents" => Normalize::StripAccents,
        "UnicodeForm" => Normalize::Unicode(fields.named("form", None, Named::NAMES)?),
        "Lowercase" => Normalize::Lowercase,
        "Nmt" => Normalize::Nmt,
        "Precompiled" => Normalize::Precompiled(fields.bytes("charsmap", b"")?),
        "Replace" => Normalize::Replace(read_replace(fields)?),
        "Prepend" => Normalize::Prepend(fields.text("text", None)?),
        "ByteLevel" => Normalize::ByteLevel,
        "UgmNormalize" => Normalize::Ugm {
            charsmap: fields.bytes("charsmap", b"")?,
            add_space_prefix: fields.bool("add_space_prefix", false)?,
            remove_extra_whitespaces: fields.bool("remove_extra_whitespaces", false)?,
        },
        "WpmNormalize" => Normalize::Wpm {
            lowercase: fields.bool("lowercase", true)?,
            strip_accents: fields.bool("strip_accents", true)?,
        },
        other => return Err(unknown_class(other)),
    })
}

fn read_sentencepiece(fields: &mut Fields) -> Result<SentencePieceNormalize> {
    match &*fields.class()? {
        "SentencePieceNormalize" => read_sentencepiece_fields(fields),
        other => Err(unknown_class(other)),
    }
}

fn read_sentencepiece_fields(fields: &mut Fields) -> Result<SentencePieceNormalize> {
    Ok(SentencePieceNormalize {
        charsmap: fields.bytes("charsmap", b"")?,
        add_dummy_prefix: fields.bool("add_dummy_prefix", true)?,
        remove_extra_whitespaces: fields.bool("remove_extra_whitespaces", true)?,
        escape_whitespaces: fields.bool("escape_whitespaces", true)?,
        whitespace_as_suffix: fields.bool("whitespace_as_suffix", false)?,
    })
}

fn read_pattern(fields: &mut Fields, is_regex: bool) -> Result<Pattern> {
    Ok(Pattern {
        text: fields.text("pattern", None)?,
        is_regex: fields.bool("is_regex", is_regex)?,
        unicode: fields.optional_text("unicode")?,
    })
}

fn read_replace(fields: &mut Fields) -> Result<Replace> {
    Ok(Replace { pattern: read_pattern(fields, false)?, content: fields.text("content", None)? })
}

fn read_split(fields: &mut Fields) -> Result<Split> {
    Ok(match &*fields.class()? {
        "PatternSplit" => Split::Pattern {
            pattern: read_pattern(fields, true)?,
            behavior: fields.named("behavior", Some("matches"), Named::NAMES)?,
            invert: fields.bool("invert", false)?,
        },
        "Metaspace" => Split::Metaspace {
            replacement: fields.text("replacement", Some(space_mark::TEXT))?,
            prepend: fields.named("prepend", Some("always"), Named::NAMES)?,
            split: fields.bool("split", true)?,
        },
        "PieceSpace" => Split::PieceSpace,
        "ByteLevel" => Split::ByteLevel,
        "ScriptSplit" => Split::Script,
        "FixedLength" => Split::FixedLength(fields.number("length", None)?),
        "DigitGroups" => Split::DigitGroups { unicode: fields.optional_text("unicode")? },
        other => return Err(unknown_class(other)),
    })
}

/// Reads the template around one text; the engine does not need the template of pairs.
fn read_template(fields: &mut Fields) -> Result<Vec<TemplatePart>> {
    fields.skip("pair");
    match &*fields.class()? {
        "Template" => Ok(fields.optional_list("single", read_template_part)?.unwrap_or(vec![TemplatePart::Slot])),
        other => Err(unknown_class(other)),
    }
}

fn read_template_part(fields: &mut Fields) -> Result<TemplatePart> {
    fields.skip("type_id");
    match &*fields.class()? {
        "Insert" => Ok(TemplatePart::Insert(TokenId::vec_of(fields.numbers("ids")?))),
        "Slot" => {
            fields.skip("text");
            Ok(TemplatePart::Slot)
        }
        other => Err(unknown_class(other)),
    }
}

fn read_trim(fields: &mut Fields) -> Result<TrimOffsets> {
    match &*fields.class()? {
        "TrimOffsets" => Ok(match fields.bool("add_prefix_space", true)? {
            true => TrimOffsets::SpaceExceptPrefix,
            false => TrimOffsets::Space,
        }),
        other => Err(unknown_class(other)),
    }
}

fn read_decode(fields: &mut Fields) -> Result<Decode> {
    Ok(match &*fields.class()? {
        "BytesDecode" => Decode::Bytes { skips_unknown: fields.bool("skips_unknown", false)? },
        "SentencePieceDecode" => Decode::SentencePiece {
            add_dummy_prefix: fields.bool("add_dummy_prefix", true)?,
            remove_extra_whitespaces: fields.bool("remove_extra_whitespaces", true)?,
            unk_surface: fields.bytes("unk_surface", " \u{2047} ".as_bytes())?,
            denormalize: fields.object("denormalize", read_sentencepiece)?,
        },
        "Llama2cDecode" => Decode::Llama2c,
        "ChainDecode" => Decode::Chain {
            steps: fields.optional_list("steps", read_decode_step)?,
            byte_level: fields.bool("byte_level", false)?,
        },
        "LlamaCppDecode" => Decode::LlamaCpp {
            family: fields.named("family", None, Named::NAMES)?,
            strip_space: fields.bool("strip_space", false)?,
            clean_spaces: fields.bool("clean_spaces", false)?,
            escaped_spaces: fields.bool("escaped_spaces", false)?,
        },
        other => return Err(unknown_class(other)),
    })
}

fn read_decode_step(fields: &mut Fields) -> Result<DecodeStep> {
    Ok(match &*fields.class()? {
        "ByteLevelDecode" => DecodeStep::ByteLevel,
        "BpeDecode" => DecodeStep::Bpe { suffix: fields.text("suffix", Some("</w>"))? },
        "WordPieceDecode" => {
            DecodeStep::WordPiece { prefix: fields.text("prefix", Some("##"))?, cleanup: fields.bool("cleanup", true)? }
        }
        "MetaspaceDecode" => DecodeStep::Metaspace {
            replacement: fields.text("replacement", Some(space_mark::TEXT))?,
            prepend: fields.named("prepend", Some("always"), Named::NAMES)?,
        },
        "CtcDecode" => DecodeStep::Ctc {
            pad: fields.text("pad", Some("<pad>"))?,
            delimiter: fields.text("delimiter", Some("|"))?,
            cleanup: fields.bool("cleanup", true)?,
        },
        "ReplaceDecode" => DecodeStep::Replace(read_replace(fields)?),
        "StripDecode" => DecodeStep::Strip {
            content: read_char(&fields.text("content", None)?)?,
            start: fields.number("start", None)?,
            stop: fields.number("stop", None)?,
        },
        "ByteFallbackDecode" => DecodeStep::ByteFallback,
        "FuseDecode" => DecodeStep::Fuse,
        other => return Err(unknown_class(other)),
    })
}

fn read_char(text: &str) -> Result<char> {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some(char), None) => Ok(char),
        _ => Err(spec_error("the field \"content\" is not one character")),
    }
}

fn unknown_class(name: &str) -> crate::error::Error {
    spec_error(&format!("the class {name:?} is unknown here"))
}
