//! Text to rewritten text, with offsets kept: one file per step.

pub mod accents;
pub mod bert;
pub mod byte_level;
pub mod charsmap;
pub mod lowercase;
pub mod nmt;
pub mod output;
pub mod precompiled;
pub mod replace;
pub mod sentencepiece;
pub mod strip;
mod transform;
mod unchanged;
pub mod unicode_form;
pub mod user_defined;

use std::sync::Arc;

use crate::error::Result;
use crate::spec::{Line, Normalize};
use crate::trie::Trie;
use sentencepiece::SentencePieceNormalizer;

/// A compiled step.
pub enum Normalizer {
    /// SentencePiece's.
    SentencePiece(Box<SentencePieceNormalizer>),
    /// One space before a text that is not empty.
    PrefixSpace,
}

impl Normalizer {
    /// Compiles a step; `user_defined` pieces are not rewritten.
    pub fn compile(step: &Normalize, user_defined: Option<Arc<Trie>>, line: Line) -> Result<Normalizer> {
        Ok(match step {
            Normalize::SentencePiece(spec) => {
                Normalizer::SentencePiece(Box::new(SentencePieceNormalizer::compile(spec, user_defined, line)?))
            }
            Normalize::PrefixSpace => Normalizer::PrefixSpace,
            other => return Err(crate::error::Error::Spec(format!("normalize: {other:?} is not run"))),
        })
    }

    /// Appends the normalized text.
    pub fn normalize(&self, text: &[u8], out: &mut Vec<u8>) {
        match self {
            Normalizer::SentencePiece(step) => step.normalize(text, out),
            Normalizer::PrefixSpace if text.is_empty() => {}
            Normalizer::PrefixSpace => {
                out.push(b' ');
                out.extend_from_slice(text);
            }
        }
    }

    /// The same, and for each byte of it, and for its end, the byte of `text` it comes from. Empty text has no offsets.
    pub fn normalize_with_offsets(&self, text: &[u8], out: &mut Vec<u8>, offsets: &mut Vec<u32>) {
        match self {
            Normalizer::SentencePiece(step) => step.normalize_with_offsets(text, out, offsets),
            Normalizer::PrefixSpace => {
                self.normalize(text, out);
                if !text.is_empty() {
                    offsets.push(0);
                    offsets.extend(0..=text.len() as u32);
                }
            }
        }
    }
}
