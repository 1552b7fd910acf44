//! Cutting a text at special tokens: the only place that knows what is allowed and what is not.
//!
//! Nothing is special unless the caller allows it. Of the allowed texts the leftmost match counts, and of several at one
//! place the longest; minbpe (BPE with a list of merges) takes the one listed first instead, as its alternation does.
//! Rows of kind Control are special tokens too. tiktoken restarts its search one byte behind a hit that is not allowed,
//! which finds the same as searching the allowed ones alone. Twin: python/polytok/reference/special.py.

use aho_corasick::{AhoCorasick, MatchKind};
use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::spec::{Kind, SpecialToken};
use crate::vocab::Vocab;

/// All special tokens of a vocabulary.
pub struct Specials {
    tokens: Vec<SpecialToken>,
    /// The first token listed of each id.
    by_id: HashMap<u32, usize>,
    in_order: bool,
}

/// Some of them, ready to be searched for.
pub struct SpecialSet {
    finder: AhoCorasick,
    ids: Vec<u32>,
    texts: Vec<Vec<u8>>,
}

/// A part of a text.
pub enum Part {
    /// Ordinary text.
    Text(usize, usize),
    /// A special token.
    Special(u32, usize, usize),
}

impl Specials {
    /// The Spec's, and the vocabulary's control rows. `in_order` tries them in this order instead of the longest first.
    pub fn new(listed: Vec<SpecialToken>, vocab: &Vocab, in_order: bool) -> Specials {
        let rows = (0..vocab.len()).filter(|&row| vocab.kind(row) == Kind::Control);
        let mut tokens = listed;
        tokens.extend(rows.map(|row| SpecialToken {
            text: vocab.bytes(row).to_vec(),
            id: vocab.id(row),
            ..SpecialToken::default()
        }));
        let mut by_id = HashMap::new();
        for (i, token) in tokens.iter().enumerate() {
            by_id.entry(token.id).or_insert(i);
        }
        Specials { tokens, by_id, in_order }
    }

    /// All tokens, the Spec's first.
    pub fn tokens(&self) -> &[SpecialToken] {
        &self.tokens
    }

    /// The text of an id; of several, the first listed.
    pub fn text(&self, id: u32) -> Option<&[u8]> {
        self.by_id.get(&id).map(|&i| self.tokens[i].text.as_slice())
    }

    /// The set of the tokens for which `keep` holds; None if it is empty.
    pub fn set(&self, keep: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        let mut kept: Vec<&SpecialToken> =
            self.tokens.iter().filter(|token| !token.text.is_empty() && keep(&token.text)).collect();
        if !self.in_order {
            kept.sort_by_key(|token| std::cmp::Reverse(token.text.len()));
        }
        if kept.is_empty() {
            return Ok(None);
        }
        let texts: Vec<Vec<u8>> = kept.iter().map(|token| token.text.clone()).collect();
        let finder = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(&texts)
            .map_err(|error| Error::Spec(format!("special tokens: {error}")))?;
        Ok(Some(SpecialSet { finder, ids: kept.iter().map(|token| token.id).collect(), texts }))
    }
}

impl SpecialSet {
    /// Calls `part` for every part of the text, in order; empty stretches are left out.
    pub fn cut(&self, text: &[u8], mut part: impl FnMut(Part) -> Result<()>) -> Result<()> {
        let mut at = 0;
        for found in self.finder.find_iter(text) {
            if found.start() > at {
                part(Part::Text(at, found.start()))?;
            }
            part(Part::Special(self.ids[found.pattern().as_usize()], found.start(), found.end()))?;
            at = found.end();
        }
        if at < text.len() {
            part(Part::Text(at, text.len()))?;
        }
        Ok(())
    }

    /// An error if one of the set stands anywhere in the text.
    pub fn reject(&self, text: &[u8]) -> Result<()> {
        let Some(found) = self.finder.find(text) else { return Ok(()) };
        let token = String::from_utf8_lossy(&self.texts[found.pattern().as_usize()]);
        Err(Error::Special(format!(
            "the text holds the special token {token:?} at byte {}, which is not allowed here: allow it with \
             special={{{token:?}}} or special=\"all\", or encode it as plain text with reject_special=False",
            found.start()
        )))
    }
}
