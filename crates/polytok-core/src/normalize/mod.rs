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
pub use plain::PlainText;
use sentencepiece::SentencePieceNormalizer;

/// A compiled step.
enum NormalizeStep {
    SentencePiece(Box<SentencePieceNormalizer>),
    PrefixSpace,
    Bert(bert::Bert),
    Strip(strip::Strip),
    StripAccents(accents::StripAccents),
    Unicode(unicode_form::UnicodeForm),
    Lowercase(lowercase::Lowercase),
    Nmt(nmt::Nmt),
    Precompiled(Box<precompiled::Precompiled>),
    Replace(replace::Replacer),
    Prepend(String),
    ReplaceInvalid(invalid::ReplaceInvalid),
    Ugm(Box<ugm::UgmNormalize>),
    Wpm(Box<wpm::WpmNormalize>),
    ByteLevel,
}

/// All steps, in turn.
pub struct Normalizer {
    steps: Vec<NormalizeStep>,
}

impl Normalizer {
    /// Compiles the steps; `user_defined` pieces are not rewritten by SentencePiece's.
    pub fn compile(
        steps: Vec<Normalize>,
        vocab: &Vocab,
        user_defined: Option<&Arc<Trie>>,
        line: Line,
    ) -> Result<Normalizer> {
        let steps = steps
            .into_iter()
            .map(|step| NormalizeStep::compile(step, vocab, user_defined, line))
            .collect::<Result<_>>()?;
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
            [NormalizeStep::SentencePiece(step)] => step.escape(),
            [NormalizeStep::PrefixSpace, NormalizeStep::Replace(step)] if step.is_escape() => {
                escape(Prefix::Always, false)
            }
            [NormalizeStep::Replace(step)] | [NormalizeStep::ReplaceInvalid(_), NormalizeStep::Replace(step)]
                if step.is_escape() =>
            {
                escape(Prefix::Never, false)
            }
            [NormalizeStep::Prepend(mark), NormalizeStep::Replace(step)]
            | [NormalizeStep::ReplaceInvalid(_), NormalizeStep::Prepend(mark), NormalizeStep::Replace(step)]
                if step.is_escape() && mark == space_mark::TEXT =>
            {
                escape(Prefix::Always, true)
            }
            _ => None,
        }
    }

    /// Whether text that is UTF-8 stays as it is.
    pub fn keeps_text(&self) -> bool {
        matches!(self.steps[..], [] | [NormalizeStep::ReplaceInvalid(_)])
    }

    /// SentencePiece's step, if it is the only one.
    pub fn sentencepiece(&self) -> Option<&SentencePieceNormalizer> {
        if let [NormalizeStep::SentencePiece(step)] = &self.steps[..] { Some(step) } else { None }
    }

    /// BERT's step, if it is the only one for text that is UTF-8.
    pub fn bert(&self) -> Option<&bert::Bert> {
        if let [NormalizeStep::Bert(step)] | [NormalizeStep::ReplaceInvalid(_), NormalizeStep::Bert(step)] =
            &self.steps[..]
        {
            Some(step)
        } else {
            None
        }
    }

    /// llama.cpp's step for BERT, if it is the only one for text that is UTF-8.
    pub fn wpm(&self) -> Option<&wpm::WpmNormalize> {
        if let [NormalizeStep::Wpm(step)] | [NormalizeStep::ReplaceInvalid(_), NormalizeStep::Wpm(step)] =
            &self.steps[..]
        {
            Some(step)
        } else {
            None
        }
    }

    /// Whether every text gets a space before it.
    pub fn has_prefix_space(&self) -> bool {
        matches!(self.steps.last(), Some(NormalizeStep::PrefixSpace))
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
        let mut spans = if matches!(self.steps[..], [NormalizeStep::PrefixSpace]) { bytes() } else { spans_of(text) };
        for step in &self.steps {
            let mut out = Aligned::new(&spans);
            step.run_aligned(&normalized, &spans, limit(text.len()), &mut out)?;
            (normalized, spans) = (out.text, out.spans);
        }
        Ok((normalized, spans))
    }
}

impl NormalizeStep {
    fn compile(step: Normalize, vocab: &Vocab, user_defined: Option<&Arc<Trie>>, line: Line) -> Result<NormalizeStep> {
        Ok(match step {
            Normalize::SentencePiece(spec) => NormalizeStep::SentencePiece(Box::new(SentencePieceNormalizer::compile(
                spec,
                user_defined.cloned(),
                line,
            )?)),
            Normalize::PrefixSpace => NormalizeStep::PrefixSpace,
            Normalize::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                let options = bert::BertOptions { clean_text, handle_chinese_chars, strip_accents, lowercase };
                NormalizeStep::Bert(bert::Bert::compile(options))
            }
            Normalize::Strip { left, right } => NormalizeStep::Strip(strip::Strip::compile(left, right)),
            Normalize::StripAccents => NormalizeStep::StripAccents(accents::StripAccents::compile()),
            Normalize::Unicode(form) => NormalizeStep::Unicode(unicode_form::UnicodeForm::compile(form)),
            Normalize::Lowercase => NormalizeStep::Lowercase(lowercase::Lowercase::compile()),
            Normalize::Nmt => NormalizeStep::Nmt(nmt::Nmt::compile()),
            Normalize::Precompiled(blob) => {
                NormalizeStep::Precompiled(Box::new(precompiled::Precompiled::compile(blob)?))
            }
            Normalize::Replace(spec) => NormalizeStep::Replace(replace::Replacer::compile(&spec)?),
            Normalize::Prepend(prefix) => NormalizeStep::Prepend(prefix),
            Normalize::ByteLevel => NormalizeStep::ByteLevel,
            Normalize::ReplaceInvalid { lenient } => {
                NormalizeStep::ReplaceInvalid(invalid::ReplaceInvalid::compile(lenient))
            }
            Normalize::Ugm { charsmap, add_space_prefix, remove_extra_whitespaces } => NormalizeStep::Ugm(Box::new(
                ugm::UgmNormalize::compile(charsmap, add_space_prefix, remove_extra_whitespaces, vocab)?,
            )),
            Normalize::Wpm { lowercase, strip_accents } => {
                NormalizeStep::Wpm(Box::new(wpm::WpmNormalize::compile(lowercase, strip_accents)?))
            }
        })
    }

    /// Writes at most `most` bytes; more is an error.
    fn run(&self, text: &[u8], most: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            NormalizeStep::SentencePiece(step) => {
                step.normalize(text, out);
                if out.len() > most { Err(too_long("normalization")) } else { Ok(()) }
            }
            _ => Bounded::run(most, out, |out| self.apply(text, out))?,
        }
    }

    fn run_aligned(&self, text: &[u8], source: &[Span], most: usize, out: &mut Aligned) -> Result<()> {
        match self {
            NormalizeStep::SentencePiece(step) => {
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
            NormalizeStep::SentencePiece(_) => {}
            NormalizeStep::PrefixSpace if text.is_empty() => {}
            NormalizeStep::PrefixSpace => {
                out.insert(b" ", 0);
                out.keep(text, 0, text.len());
            }
            NormalizeStep::ReplaceInvalid(step) => step.apply(text, out),
            NormalizeStep::Ugm(step) => step.apply(text, out),
            NormalizeStep::Wpm(step) => step.apply(text, out),
            NormalizeStep::Replace(step) if step.is_plain() => step.apply(text, out)?,
            NormalizeStep::ByteLevel => byte_level::ByteLevel.apply(text, (0, text.len()), out),
            _ => self.apply_to_text(valid(text).map_err(not_utf8)?, out)?,
        }
        Ok(())
    }

    /// The steps that take characters.
    fn apply_to_text<O: Output>(&self, text: &str, out: &mut O) -> Result<()> {
        match self {
            NormalizeStep::Bert(step) => step.apply(text, out),
            NormalizeStep::Strip(step) => step.apply(text, out),
            NormalizeStep::StripAccents(step) => step.apply(text, out),
            NormalizeStep::Unicode(step) => step.apply(text, out),
            NormalizeStep::Lowercase(step) => step.apply(text, out),
            NormalizeStep::Nmt(step) => step.apply(text, out),
            NormalizeStep::Precompiled(step) => step.apply(text, out),
            NormalizeStep::Replace(step) => step.apply(text.as_bytes(), out)?,
            NormalizeStep::Prepend(prefix) if !text.is_empty() => {
                // It stands for what the first character stands for.
                out.change(prefix.as_bytes(), 0);
                out.keep(text.as_bytes(), 0, text.len());
            }
            NormalizeStep::Prepend(_) => {}
            // `apply` runs these.
            NormalizeStep::SentencePiece(_)
            | NormalizeStep::PrefixSpace
            | NormalizeStep::ReplaceInvalid(_)
            | NormalizeStep::Ugm(_)
            | NormalizeStep::Wpm(_) => {}
            NormalizeStep::ByteLevel => {}
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
