//! Text to rewritten text, and what each byte of it stands for: one file per step.

pub mod accents;
pub mod bert;
pub mod byte_level;
pub mod charsmap;
pub mod invalid;
pub mod lowercase;
pub mod nmt;
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

use crate::error::{Error, Result};
use crate::spec::{Line, Normalize};
use crate::trie::Trie;
use output::{Aligned, Output, Span, spans_of};
use sentencepiece::SentencePieceNormalizer;

/// A compiled step.
enum Step {
    SentencePiece(Box<SentencePieceNormalizer>),
    PrefixSpace,
}

/// All steps, one after the other.
pub struct Normalizer {
    steps: Vec<Step>,
}

impl Normalizer {
    /// Compiles the steps; `user_defined` pieces are not rewritten by SentencePiece's.
    pub fn compile(steps: &[Normalize], user_defined: Option<&Arc<Trie>>, line: Line) -> Result<Normalizer> {
        let steps = steps.iter().map(|step| Step::compile(step, user_defined, line)).collect::<Result<_>>()?;
        Ok(Normalizer { steps })
    }

    /// Nothing is rewritten.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Every text gets a space before it.
    pub fn has_prefix_space(&self) -> bool {
        matches!(self.steps.last(), Some(Step::PrefixSpace))
    }

    /// The normalized text, in `out`; `spare` is memory for the steps between.
    pub fn normalize(&self, text: &[u8], out: &mut Vec<u8>, spare: &mut Vec<u8>) -> Result<()> {
        out.clear();
        let Some((first, rest)) = self.steps.split_first() else {
            out.extend_from_slice(text);
            return Ok(());
        };
        first.run(text, out)?;
        for step in rest {
            spare.clear();
            step.run(out, spare)?;
            std::mem::swap(out, spare);
        }
        Ok(())
    }

    /// The same, and for each byte of it what it stands for.
    pub fn normalize_with_spans(&self, text: &[u8]) -> Result<(Vec<u8>, Vec<Span>)> {
        let mut normalized = text.to_vec();
        let bytes = || (0..text.len() as u32).map(|at| (at, at + 1)).collect();
        // Bytes that are only moved keep their own places.
        let mut spans = if matches!(self.steps[..], [Step::PrefixSpace]) { bytes() } else { spans_of(text) };
        for step in &self.steps {
            let mut out = Aligned::new(&spans);
            step.run_aligned(&normalized, &spans, &mut out)?;
            (normalized, spans) = (out.text, out.spans);
        }
        Ok((normalized, spans))
    }
}

impl Step {
    fn compile(step: &Normalize, user_defined: Option<&Arc<Trie>>, line: Line) -> Result<Step> {
        Ok(match step {
            Normalize::SentencePiece(spec) => {
                Step::SentencePiece(Box::new(SentencePieceNormalizer::compile(spec, user_defined.cloned(), line)?))
            }
            Normalize::PrefixSpace => Step::PrefixSpace,
            other => return Err(Error::Spec(format!("normalize: {other:?} is not run"))),
        })
    }

    fn run(&self, text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match self {
            Step::SentencePiece(step) => {
                step.normalize(text, out);
                Ok(())
            }
            _ => self.apply(text, out),
        }
    }

    fn run_aligned(&self, text: &[u8], source: &[Span], out: &mut Aligned) -> Result<()> {
        match self {
            Step::SentencePiece(step) => {
                let mut offsets = Vec::new();
                step.normalize_with_offsets(text, &mut out.text, &mut offsets);
                out.spans.extend(offsets.windows(2).map(|ends| stretch(source, ends[0] as usize, ends[1] as usize)));
                Ok(())
            }
            _ => self.apply(text, out),
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
