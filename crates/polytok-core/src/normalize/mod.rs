//! Rewrites text, and records for each byte of the rewritten text where it comes from. Each kind of step has a file.

pub mod accents;
pub mod bert;
mod by_char;
pub mod byte_level;
pub mod charsmap;
pub mod escape;
pub mod growth;
pub mod invalid;
pub mod joint;
pub mod kept_text;
pub mod lowercase;
pub mod nmt;
pub mod origin;
mod origin_runs;
pub mod output;
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

use polytok_memory::{self as memory, Collect, Copied, Grow, TryCollect};

use crate::error::{Result, not_utf8};
use crate::space_mark;
use crate::spec::{Normalize, SentencePieceVersion};
use crate::trie::Trie;
use crate::utf8::valid;
use crate::vocab::Vocab;
pub use by_char::{CharMap, CharRewrites, RewriteBuffers};
pub use escape::{Escape, Prefix};
use growth::{BoundedOutput, growth_error, limit};
use kept_text::KeptText;
use origin::Origin;
pub use origin_runs::OriginRuns;
use output::{AlignedOutput, Output, Span, char_spans};
use sentencepiece::SentencePieceNormalizer;

/// A compiled step of normalization.
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

/// The compiled steps of normalization, in the order in which they run.
pub struct Normalizer {
    steps: Vec<NormalizeStep>,
}

impl Normalizer {
    /// Compiles the steps. SentencePiece's step does not rewrite the `user_defined` pieces.
    pub fn compile(
        steps: Vec<Normalize>,
        vocab: &Vocab,
        user_defined: Option<&Arc<Trie>>,
        version: SentencePieceVersion,
    ) -> Result<Normalizer> {
        let steps = steps
            .into_iter()
            .map(|step| NormalizeStep::compile(step, vocab, user_defined, version))
            .checked_try_collect()?;
        Ok(Normalizer { steps })
    }

    /// Reports whether the normalizer has no steps.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns how the steps make spaces visible; None if they also change UTF-8 text in another way.
    pub fn as_escape(&self) -> Option<Escape> {
        let escape = |prefix, covers_first| Some(Escape { prefix, covers_first, replaces_invalid: false });
        match &self.steps[..] {
            [NormalizeStep::SentencePiece(step)] => step.as_escape(),
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

    /// Reports whether the normalizer leaves all UTF-8 text unchanged.
    pub fn keeps_text(&self) -> bool {
        matches!(self.steps[..], [] | [NormalizeStep::ReplaceInvalid(_)])
    }

    /// Reports whether the normalizer keeps each character of a text, which is UTF-8. Can be false if this is hard to
    /// decide.
    fn keeps_all(&self, text: &[u8]) -> bool {
        let keeps = |text| {
            self.steps.iter().all(|step| match step {
                NormalizeStep::ReplaceInvalid(_) => true,
                NormalizeStep::Unicode(step) => step.keeps(text),
                _ => false,
            })
        };
        valid(text).is_ok_and(keeps)
    }

    /// Returns SentencePiece's step, if it is the only step.
    pub fn sentencepiece(&self) -> Option<&SentencePieceNormalizer> {
        if let [NormalizeStep::SentencePiece(step)] = &self.steps[..] { Some(step) } else { None }
    }

    /// Returns BERT's step, if it is the only step that can change text that is UTF-8.
    pub fn bert(&self) -> Option<&bert::Bert> {
        if let [NormalizeStep::Bert(step)] | [NormalizeStep::ReplaceInvalid(_), NormalizeStep::Bert(step)] =
            &self.steps[..]
        {
            Some(step)
        } else {
            None
        }
    }

    /// Returns llama.cpp's step for BERT, if it is the only step that can change text that is UTF-8.
    pub fn wpm(&self) -> Option<&wpm::WpmNormalize> {
        if let [NormalizeStep::Wpm(step)] | [NormalizeStep::ReplaceInvalid(_), NormalizeStep::Wpm(step)] =
            &self.steps[..]
        {
            Some(step)
        } else {
            None
        }
    }

    /// Reports whether the normalizer copies the user-defined pieces of a text, except their spaces, as SentencePiece
    /// does. Other steps change pieces as they change other text; a space before the text changes none.
    pub fn copies_user_defined(&self) -> bool {
        let first = self.steps.iter().find(|step| !matches!(step, NormalizeStep::PrefixSpace));
        matches!(first, Some(NormalizeStep::SentencePiece(_) | NormalizeStep::Ugm(_)))
    }

    /// Reports whether the last step inserts a space before every text.
    pub fn has_prefix_space(&self) -> bool {
        matches!(self.steps.last(), Some(NormalizeStep::PrefixSpace))
    }

    /// Writes the normalized text to `out`; `spare` is memory for intermediate results.
    pub fn normalize(&self, text: &[u8], out: &mut Vec<u8>, spare: &mut Vec<u8>) -> Result<()> {
        NormalizeStep::run_all(&self.steps, text, limit(text.len()), out, spare)
    }

    /// Writes the normalized text to `out` and returns the origin of its bytes. If `may_be_offsets` is true, the origin
    /// can be offsets, which cost less than spans.
    pub fn normalize_with_origin(&self, text: &[u8], may_be_offsets: bool, out: &mut Vec<u8>) -> Result<Origin> {
        if may_be_offsets
            && let Some(step) = self.sentencepiece()
            && let Some((normalized, offsets)) = step.normalize_whole_chars(text)
        {
            *out = normalized;
            return Ok(Origin::Offsets(offsets));
        }
        if self.keeps_all(text) {
            out.clear();
            out.checked_extend_from_slice(text);
            return Ok(Origin::Kept(KeptText::new(text)));
        }
        let (normalized, spans) = self.normalize_with_spans(text)?;
        *out = normalized;
        Ok(Origin::Spans(spans))
    }

    /// Returns the normalized text and the offset in `text` that each of its bytes comes from, followed by the end of the
    /// normalized part. None unless SentencePiece's step is the only step.
    pub fn normalize_with_offsets(&self, text: &[u8]) -> Result<Option<(Vec<u8>, Vec<u32>)>> {
        let Some(step) = self.sentencepiece() else { return Ok(None) };
        let (mut normalized, mut offsets) = (Vec::new(), memory::with_capacity(text.len() + text.len() / 2 + 4));
        step.normalize_with_offsets(text, &mut normalized, &mut offsets);
        if normalized.len() > limit(text.len()) {
            return Err(growth_error("normalization"));
        }
        if offsets.is_empty() {
            offsets.checked_push(text.len() as u32);
        }
        Ok(Some((normalized, offsets)))
    }

    /// Returns the normalized text and, for each of its bytes, the span of `text` that the byte comes from.
    fn normalize_with_spans(&self, text: &[u8]) -> Result<(Vec<u8>, Vec<Span>)> {
        let byte_spans = || (0..text.len() as u32).map(|at| (at, at + 1)).checked_collect();
        // The only step moves bytes and changes no byte, so the span of each byte is that byte, not its whole
        // character.
        let spans =
            if matches!(self.steps[..], [NormalizeStep::PrefixSpace]) { byte_spans() } else { char_spans(text) };
        NormalizeStep::run_all_with_spans(&self.steps, text, spans)
    }
}

impl NormalizeStep {
    fn compile(
        step: Normalize,
        vocab: &Vocab,
        user_defined: Option<&Arc<Trie>>,
        version: SentencePieceVersion,
    ) -> Result<NormalizeStep> {
        Ok(match step {
            Normalize::SentencePiece(spec) => NormalizeStep::SentencePiece(Box::new(SentencePieceNormalizer::compile(
                spec,
                user_defined.cloned(),
                version,
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

    /// Runs steps in turn. Each step writes at most `max_len` bytes; `out` has the output of the last step.
    fn run_all(
        steps: &[NormalizeStep],
        text: &[u8],
        max_len: usize,
        out: &mut Vec<u8>,
        spare: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        let Some((first, later_steps)) = steps.split_first() else {
            out.checked_extend_from_slice(text);
            return Ok(());
        };
        first.run(text, max_len, out)?;
        for step in later_steps {
            spare.clear();
            step.run(out, max_len, spare)?;
            std::mem::swap(out, spare);
        }
        Ok(())
    }

    /// Runs steps in turn. Returns the output of the last step with the spans of its bytes; `spans` has those of `text`.
    fn run_all_with_spans(steps: &[NormalizeStep], text: &[u8], mut spans: Vec<Span>) -> Result<(Vec<u8>, Vec<Span>)> {
        let mut normalized = text.checked_to_vec();
        for step in steps {
            let mut out = AlignedOutput::new(&spans);
            step.run_aligned(&normalized, &spans, limit(text.len()), &mut out)?;
            (normalized, spans) = (out.text, out.spans);
        }
        Ok((normalized, spans))
    }

    /// Writes the rewritten text to `out`. More than `max_len` bytes are an error.
    fn run(&self, text: &[u8], max_len: usize, out: &mut Vec<u8>) -> Result<()> {
        match self {
            NormalizeStep::SentencePiece(step) => {
                step.normalize(text, out);
                if out.len() > max_len { Err(growth_error("normalization")) } else { Ok(()) }
            }
            _ => BoundedOutput::run(max_len, out, |out| self.apply(text, out))?,
        }
    }

    /// Writes the rewritten text to `out` like `run`, with a span for each byte. `source` has the spans of the bytes of
    /// `text`.
    fn run_aligned(&self, text: &[u8], source: &[Span], max_len: usize, out: &mut AlignedOutput) -> Result<()> {
        match self {
            NormalizeStep::SentencePiece(step) => {
                let mut offsets = Vec::new();
                step.normalize_with_offsets(text, &mut out.text, &mut offsets);
                out.spans.checked_extend(
                    offsets.windows(2).map(|ends| join_spans(source, ends[0] as usize, ends[1] as usize)),
                );
                if out.text.len() > max_len { Err(growth_error("normalization")) } else { Ok(()) }
            }
            _ => BoundedOutput::run(max_len, out, |out| self.apply(text, out))?,
        }
    }

    /// Runs any step except SentencePiece's, which writes its own offsets. Most steps need text that is UTF-8.
    fn apply<O: Output>(&self, text: &[u8], out: &mut O) -> Result<()> {
        let utf8 = || valid(text).map_err(not_utf8);
        match self {
            NormalizeStep::SentencePiece(_) => {}
            NormalizeStep::PrefixSpace => {
                if !text.is_empty() {
                    out.insert(b" ", 0);
                    out.keep(text, 0, text.len());
                }
            }
            NormalizeStep::ReplaceInvalid(step) => step.apply(text, out),
            NormalizeStep::Ugm(step) => step.apply(text, out),
            NormalizeStep::Wpm(step) => step.apply(text, out),
            NormalizeStep::ByteLevel => byte_level::ByteLevel.apply(text, (0, text.len()), out),
            NormalizeStep::Replace(step) if step.is_literal() => step.apply(text, out)?,
            NormalizeStep::Replace(step) => step.apply(utf8()?.as_bytes(), out)?,
            NormalizeStep::Bert(step) => step.apply(utf8()?, out),
            NormalizeStep::Strip(step) => step.apply(utf8()?, out),
            NormalizeStep::StripAccents(step) => step.apply(utf8()?, out),
            NormalizeStep::Unicode(step) => step.apply(utf8()?, out),
            NormalizeStep::Lowercase(step) => step.apply(utf8()?, out),
            NormalizeStep::Nmt(step) => step.apply(utf8()?, out),
            NormalizeStep::Precompiled(step) => step.apply(utf8()?, out),
            NormalizeStep::Prepend(prefix) => prepend(prefix, utf8()?, out),
        }
        Ok(())
    }
}

/// Writes `text` after `prefix`, which has the span of the first character. An empty text stays empty.
fn prepend<O: Output>(prefix: &str, text: &str, out: &mut O) {
    if !text.is_empty() {
        out.change(prefix.as_bytes(), 0);
        out.keep(text.as_bytes(), 0, text.len());
    }
}

/// Joins the spans of the bytes from `from` to `to`. An empty range has an empty span.
fn join_spans(source: &[Span], from: usize, to: usize) -> Span {
    let end = source.last().map_or(0, |span| span.1);
    let start = source.get(from).map_or(end, |span| span.0);
    if from < to { (start, source[to - 1].1) } else { (start, start) }
}
