//! Rewrites text and records where each byte of the result comes from: one file per step.

pub mod accents;
pub mod bert;
pub mod byte_level;
pub mod charsmap;
pub mod escape;
pub mod growth;
pub mod invalid;
pub mod lowercase;
pub mod nmt;
pub mod origin;
pub mod output;
mod plain;
pub mod precompiled;
pub mod replace;
pub mod sentencepiece;
pub mod strip;
mod transform;
pub mod ugm;
mod unchanged;
pub mod unicode_form;
pub mod user_defined;
pub mod wpm;

use std::sync::Arc;

use crate::error::{Result, not_utf8};
use crate::space_mark;
use crate::spec::{Line, Normalize};
use crate::trie::Trie;
use crate::utf8::valid;
use crate::vocab::Vocab;
pub use escape::{Escape, Prefix};
use growth::{Bounded, limit, too_long};
use origin::Origin;
use output::{Aligned, Output, Span, spans_of};
pub use plain::Plain;
use sentencepiece::SentencePieceNormalizer;

/// A compiled step.
enum Step {
    SentencePiece(Box<SentencePieceNormalizer>),
    PrefixSpace,
    Bert(bert::Bert),
    Strip(strip::Strip),
    StripAccents(accents::StripAccents),
    Unicode(unicode_form::UnicodeForm),
    Lowercase(lowercase::Lowercase),
    Nmt(nmt::Nmt),
    Precompiled(Box<precompiled::Precompiled>),
    Replace(replace::Replace),
    Prepend(String),
    ReplaceInvalid(invalid::ReplaceInvalid),
    Ugm(Box<ugm::UgmNormalize>),
    Wpm(Box<wpm::WpmNormalize>),
    ByteLevel,
}

/// All steps, in turn.
pub struct Normalizer {
    steps: Vec<Step>,
}

impl Normalizer {
    /// Compiles the steps; `user_defined` pieces are not rewritten by SentencePiece's.
    pub fn compile(
        steps: Vec<Normalize>,
        vocab: &Vocab,
        user_defined: Option<&Arc<Trie>>,
        line: Line,
    ) -> Result<Normalizer> {
        let steps =
            steps.into_iter().map(|step| Step::compile(step, vocab, user_defined, line)).collect::<Result<_>>()?;
        Ok(Normalizer { steps })
    }

    /// Whether nothing is rewritten.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// What is done to a text that is UTF-8, if that is nothing but making spaces visible.
    pub fn escape(&self) -> Option<Escape> {
        let escape = |prefix, covers_first| Some(Escape { prefix, covers_first, mends: false });
        match &self.steps[..] {
            [Step::SentencePiece(step)] => step.escape(),
            [Step::PrefixSpace, Step::Replace(step)] if step.is_escape() => escape(Prefix::Always, false),
            [Step::Replace(step)] | [Step::ReplaceInvalid(_), Step::Replace(step)] if step.is_escape() => {
                escape(Prefix::Never, false)
            }
            [Step::Prepend(mark), Step::Replace(step)]
            | [Step::ReplaceInvalid(_), Step::Prepend(mark), Step::Replace(step)]
                if step.is_escape() && mark == space_mark::TEXT =>
            {
                escape(Prefix::Always, true)
            }
            _ => None,
        }
    }

    /// Whether text that is UTF-8 stays as it is.
    pub fn keeps_text(&self) -> bool {
        matches!(self.steps[..], [] | [Step::ReplaceInvalid(_)])
    }

    /// SentencePiece's step, if it is the only one.
    pub fn sentencepiece(&self) -> Option<&SentencePieceNormalizer> {
        if let [Step::SentencePiece(step)] = &self.steps[..] { Some(step) } else { None }
    }

    /// BERT's step, if it is the only one for text that is UTF-8.
    pub fn bert(&self) -> Option<&bert::Bert> {
        if let [Step::Bert(step)] | [Step::ReplaceInvalid(_), Step::Bert(step)] = &self.steps[..] {
            Some(step)
        } else {
            None
        }
    }

    /// llama.cpp's step for BERT, if it is the only one for text that is UTF-8.
    pub fn wpm(&self) -> Option<&wpm::WpmNormalize> {
        if let [Step::Wpm(step)] | [Step::ReplaceInvalid(_), Step::Wpm(step)] = &self.steps[..] {
            Some(step)
        } else {
            None
        }
    }

    /// Whether every text gets a space before it.
    pub fn has_prefix_space(&self) -> bool {
        matches!(self.steps.last(), Some(Step::PrefixSpace))
    }

    /// The normalized text, in `out`; `spare` is memory for intermediate results.
    pub fn normalize(&self, text: &[u8], out: &mut Vec<u8>, spare: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let Some((first, rest)) = self.steps.split_first() else {
            out.extend_from_slice(text);
            return Ok(());
        };
        let most = limit(text.len());
        first.run(text, most, out)?;
        for step in rest {
            spare.clear();
            step.run(out, most, spare)?;
            std::mem::swap(out, spare);
        }
        Ok(())
    }

    /// The normalized text, in `out`, and where its bytes come from. `may_be_offsets`: the origin may be offsets, which
    /// are cheaper than spans.
    pub fn normalize_with_origin(&self, text: &[u8], may_be_offsets: bool, out: &mut Vec<u8>) -> Result<Origin> {
        if may_be_offsets
            && let Some(step) = self.sentencepiece()
            && let Some((normalized, offsets)) = step.whole_chars(text)
        {
            *out = normalized;
            return Ok(Origin::Offsets(offsets));
        }
        let (normalized, spans) = self.normalize_with_spans(text)?;
        *out = normalized;
        Ok(Origin::Spans(spans))
    }

    /// The normalized text, and for each byte of it what it stands for.
    fn normalize_with_spans(&self, text: &[u8]) -> Result<(Vec<u8>, Vec<Span>)> {
        let mut normalized = text.to_vec();
        let bytes = || (0..text.len() as u32).map(|at| (at, at + 1)).collect();
        // Bytes that are only moved keep their own places.
        let mut spans = if matches!(self.steps[..], [Step::PrefixSpace]) { bytes() } else { spans_of(text) };
        for step in &self.steps {
            let mut out = Aligned::new(&spans);
            step.run_aligned(&normalized, &spans, limit(text.len()), &mut out)?;
            (normalized, spans) = (out.text, out.spans);
        }
        Ok((normalized, spans))
    }
}

impl Step {
    fn compile(step: Normalize, vocab: &Vocab, user_defined: Option<&Arc<Trie>>, line: Line) -> Result<Step> {
        Ok(match step {
            Normalize::SentencePiece(spec) => {
                Step::SentencePiece(Box::new(SentencePieceNormalizer::compile(spec, user_defined.cloned(), line)?))
            }
            Normalize::PrefixSpace => Step::PrefixSpace,
            Normalize::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                let options = bert::Options { clean_text, handle_chinese_chars, strip_accents, lowercase };
                Step::Bert(bert::Bert::compile(options))
            }
            Normalize::Strip { left, right } => Step::Strip(strip::Strip::compile(left, right)),
            Normalize::StripAccents => Step::StripAccents(accents::StripAccents::compile()),
            Normalize::Unicode(form) => Step::Unicode(unicode_form::UnicodeForm::compile(form)),
            Normalize::Lowercase => Step::Lowercase(lowercase::Lowercase::compile()),
            Normalize::Nmt => Step::Nmt(nmt::Nmt::compile()),
            Normalize::Precompiled(blob) => Step::Precompiled(Box::new(precompiled::Precompiled::compile(blob)?)),
            Normalize::Replace(spec) => Step::Replace(replace::Replace::compile(&spec)?),
            Normalize::Prepend(prefix) => Step::Prepend(prefix),
            Normalize::ByteLevel => Step::ByteLevel,
            Normalize::ReplaceInvalid { lenient } => Step::ReplaceInvalid(invalid::ReplaceInvalid::compile(lenient)),
            Normalize::Ugm { charsmap, add_space_prefix, remove_extra_whitespaces } => Step::Ugm(Box::new(
                ugm::UgmNormalize::compile(charsmap, add_space_prefix, remove_extra_whitespaces, vocab)?,
            )),
            Normalize::Wpm { lowercase, strip_accents } => {
                Step::Wpm(Box::new(wpm::WpmNormalize::compile(lowercase, strip_accents)?))
            }
        })
    }

    /// Writes at most `most` bytes; more is an error.
    fn run(&self, text: &[u8], most: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            Step::SentencePiece(step) => {
                step.normalize(text, out);
                if out.len() > most { Err(too_long("normalization")) } else { Ok(()) }
            }
            _ => Bounded::run(most, out, |out| self.apply(text, out))?,
        }
    }

    fn run_aligned(&self, text: &[u8], source: &[Span], most: usize, out: &mut Aligned) -> Result<()> {
        match self {
            Step::SentencePiece(step) => {
                let mut offsets = Vec::new();
                step.normalize_with_offsets(text, &mut out.text, &mut offsets);
                out.spans.extend(offsets.windows(2).map(|ends| stretch(source, ends[0] as usize, ends[1] as usize)));
                if out.text.len() > most { Err(too_long("normalization")) } else { Ok(()) }
            }
            _ => Bounded::run(most, out, |out| self.apply(text, out))?,
        }
    }

    fn apply<O: Output>(&self, text: &[u8], out: &mut O) -> Result<()> {
        match self {
            Step::SentencePiece(_) => {}
            Step::PrefixSpace if text.is_empty() => {}
            Step::PrefixSpace => {
                out.insert(b" ", 0);
                out.keep(text, 0, text.len());
            }
            Step::ReplaceInvalid(step) => step.apply(text, out),
            Step::Ugm(step) => step.apply(text, out),
            Step::Wpm(step) => step.apply(text, out),
            Step::Replace(step) if step.is_plain() => step.apply(text, out)?,
            Step::ByteLevel => byte_level::ByteLevel.apply(text, (0, text.len()), out),
            _ => self.apply_to_text(valid(text).map_err(not_utf8)?, out)?,
        }
        Ok(())
    }

    /// The steps that take characters.
    fn apply_to_text<O: Output>(&self, text: &str, out: &mut O) -> Result<()> {
        match self {
            Step::Bert(step) => step.apply(text, out),
            Step::Strip(step) => step.apply(text, out),
            Step::StripAccents(step) => step.apply(text, out),
            Step::Unicode(step) => step.apply(text, out),
            Step::Lowercase(step) => step.apply(text, out),
            Step::Nmt(step) => step.apply(text, out),
            Step::Precompiled(step) => step.apply(text, out),
            Step::Replace(step) => step.apply(text.as_bytes(), out)?,
            Step::Prepend(prefix) if !text.is_empty() => {
                // It stands for what the first character stands for.
                out.change(prefix.as_bytes(), 0);
                out.keep(text.as_bytes(), 0, text.len());
            }
            Step::Prepend(_) => {}
            // `apply` runs these.
            Step::SentencePiece(_) | Step::PrefixSpace | Step::ReplaceInvalid(_) | Step::Ugm(_) | Step::Wpm(_) => {}
            Step::ByteLevel => {}
        }
        Ok(())
    }
}

/// What the bytes from `from` to `to` stand for.
fn stretch(source: &[Span], from: usize, to: usize) -> Span {
    let end = source.last().map_or(0, |span| span.1);
    let start = source.get(from).map_or(end, |span| span.0);
    if from < to { (start, source[to - 1].1) } else { (start, start) }
}
