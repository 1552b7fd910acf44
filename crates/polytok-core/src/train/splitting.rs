//! Texts to the pieces that words are counted from: normalized as a whole, then split.

use std::sync::Arc;

use crate::error::Result;
use crate::normalize::Normalizer;
use crate::spec::{Line, Normalize, Split, VocabColumns};
use crate::split::chain::{Chain, not_utf8};
use crate::trie::Trie;
use crate::vocab::Vocab;

/// The steps, compiled.
pub struct Splitting {
    normalizer: Normalizer,
    splits: Chain,
    normalized: Vec<u8>,
    spare: Vec<u8>,
}

impl Splitting {
    /// Compiles the steps.
    pub fn compile(normalize: &[Normalize], split: &[Split]) -> Result<Splitting> {
        let vocab = Vocab::new(VocabColumns { offsets: vec![0], ..VocabColumns::default() })?;
        let normalizer = Normalizer::compile(normalize, &vocab, None::<&Arc<Trie>>, Line::default())?;
        Ok(Splitting { normalizer, splits: Chain::compile(split)?, normalized: Vec::new(), spare: Vec::new() })
    }

    /// Calls `piece` for each piece of a text, left to right.
    pub fn each(&mut self, text: &[u8], mut piece: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let text = if self.normalizer.is_empty() {
            text
        } else {
            self.normalizer.normalize(text, &mut self.normalized, &mut self.spare)?;
            &self.normalized
        };
        if self.splits.is_empty() {
            return if text.is_empty() { Ok(()) } else { piece(text) };
        }
        if self.splits.rewrites() {
            let pieces = self.splits.pieces(text, 0, None)?;
            return pieces.ranges.iter().try_for_each(|&(start, end)| piece(&pieces.text[start..end]));
        }
        let characters = std::str::from_utf8(text).map_err(|error| not_utf8(error.valid_up_to()))?;
        let mut result = Ok(());
        self.splits.split(characters, |start, end| {
            if result.is_ok() {
                result = piece(&text[start..end]);
            }
        })?;
        result
    }
}
