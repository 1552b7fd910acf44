//! Splits a text at special tokens. Only this module knows which of them are recognised.
//!
//! A special token is recognised if the caller allows it, or `always` if its vocabulary says so. The leftmost match
//! counts; of several at one place, the longest one or the one listed first (minbpe), as [`Matching`] says. `partition`
//! has llama.cpp's order. Rows of kind Control are special tokens too. tiktoken restarts its search one byte after the
//! start of a match that is not allowed, which finds the same as a search for the allowed tokens alone. Hugging Face,
//! whose vocabularies have tokens that are recognised always, skips such a match instead, so that it still hides the
//! tokens that it overlaps.
//!
//! Twin: python/polytok/reference/special.py.

use hashbrown::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::spec::{Kind, Matching, SpecialToken};
use crate::token_id::TokenId;
use crate::vocab::Vocab;
use finder::SpecialFinder;

mod finder;
mod partition;
mod white_space;

/// All special tokens of a vocabulary.
pub struct Specials {
    tokens: Vec<SpecialToken>,
    /// The first token listed of each id.
    by_id: HashMap<TokenId, usize>,
    matching: Matching,
    always: Option<SpecialSet>,
    /// The tokens that are searched for in normalized text and whose own text normalization changes, by id.
    printed: HashMap<TokenId, Printed>,
}

/// A token as Hugging Face prints it: by its normalized text, which also decides whether decoding may skip it.
struct Printed {
    text: Vec<u8>,
    is_skippable: bool,
}

/// Some special tokens, compiled for searching: those searched for in the text itself, and those in normalized text.
pub struct SpecialSet {
    raw: Option<SpecialFinder>,
    normalized: Option<SpecialFinder>,
}

/// A part of a text, with its first byte and the byte after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Ordinary text.
    Text(usize, usize),
    /// The id of a special token. Its span includes the white space that `lstrip` and `rstrip` add, so it can overlap
    /// the span before it.
    Special(TokenId, usize, usize),
}

impl Specials {
    /// The tokens that the Spec lists and the vocabulary's control rows. `normalize` runs on a text before the tokens
    /// that are `normalized` are searched for in it.
    pub fn new(
        listed: Vec<SpecialToken>,
        vocab: &Vocab,
        matching: Matching,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Specials> {
        let rows = vocab.rows_of(Kind::Control);
        let listed_ids: HashSet<TokenId> = listed.iter().map(|token| token.id).collect();
        let mut tokens = listed;
        let control =
            |row| SpecialToken { text: vocab.bytes(row).to_vec(), id: vocab.id(row), ..SpecialToken::default() };
        tokens.extend(rows.map(control).filter(|token| !listed_ids.contains(&token.id)));
        let mut by_id = HashMap::new();
        for (i, token) in tokens.iter().enumerate() {
            by_id.entry(token.id).or_insert(i);
        }
        let mut specials = Specials { tokens, by_id, matching, always: None, printed: HashMap::new() };
        specials.printed = printed(&specials.tokens, normalize)?;
        if specials.tokens.iter().any(|token| token.always) {
            specials.always = specials.set(|_| false, normalize)?;
        }
        Ok(specials)
    }

    /// All tokens, the Spec's first.
    pub fn tokens(&self) -> &[SpecialToken] {
        &self.tokens
    }

    /// The text of an id; if several tokens have it, of the first listed.
    #[inline]
    pub fn text(&self, id: TokenId) -> Option<&[u8]> {
        self.by_id.get(&id).map(|&i| self.tokens[i].text.as_slice())
    }

    /// The text of an id that Hugging Face's decoders start from.
    pub fn printed(&self, id: TokenId) -> Option<&[u8]> {
        self.printed.get(&id).map_or_else(|| self.text(id), |printed| Some(printed.text.as_slice()))
    }

    /// Whether decoding may skip an id.
    #[inline]
    pub fn is_skippable(&self, id: TokenId) -> bool {
        let is_skippable =
            |&i: &usize| self.printed.get(&id).map_or(!self.tokens[i].always, |token| token.is_skippable);
        self.by_id.get(&id).is_some_and(is_skippable)
    }

    /// The tokens that are recognised when the caller allows none.
    #[inline]
    pub fn always(&self) -> Option<&SpecialSet> {
        self.always.as_ref()
    }

    /// The set of the tokens whose text `is_allowed`, and of those that are recognised always; None if there are none.
    pub fn set(
        &self,
        is_allowed: impl Fn(&[u8]) -> bool,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Option<SpecialSet>> {
        let hides = self.tokens.iter().any(|token| token.always) && self.matching == Matching::Longest;
        let is_recognized = |token: &SpecialToken| token.always || is_allowed(&token.text);
        let searched = self.tokens.iter().filter(|token| !token.text.is_empty() && (hides || is_recognized(token)));
        let (of_normalized, of_raw): (Vec<_>, Vec<_>) =
            searched.map(|token| (token.clone(), is_recognized(token))).partition(|(token, _)| token.normalized);
        let normalized_texts: Vec<Vec<u8>> =
            of_normalized.iter().map(|(token, _)| normalize(&token.text)).collect::<Result<_>>()?;
        let raw_texts = of_raw.iter().map(|(token, _)| token.text.clone()).collect();
        let raw = SpecialFinder::new(of_raw, raw_texts, self.matching)?;
        let normalized = SpecialFinder::new(of_normalized, normalized_texts, self.matching)?;
        let is_empty = raw.is_none() && normalized.is_none();
        Ok((!is_empty).then_some(SpecialSet { raw, normalized }))
    }

    /// The set of the tokens that no text may contain, those whose text `is_refused`; None if there are none.
    pub fn refused(&self, is_refused: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        let refused: Vec<(SpecialToken, bool)> = self
            .tokens
            .iter()
            .filter(|token| !token.always && !token.text.is_empty() && is_refused(&token.text))
            .map(|token| (token.clone(), true))
            .collect();
        let texts = refused.iter().map(|(token, _)| token.text.clone()).collect();
        Ok(SpecialFinder::new(refused, texts, self.matching)?
            .map(|finder| SpecialSet { raw: Some(finder), normalized: None }))
    }
}

impl SpecialSet {
    /// Splits a text: calls `part` for every part of it, in order, except empty ones.
    #[inline]
    pub fn cut(&self, text: &[u8], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        cut(self.raw.as_ref(), text, part)
    }

    /// Whether any token is searched for in normalized text.
    #[inline]
    pub fn has_normalized(&self) -> bool {
        self.normalized.is_some()
    }

    /// The same as `cut`, for a normalized text.
    pub fn cut_normalized(&self, text: &[u8], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        cut(self.normalized.as_ref(), text, part)
    }

    /// An error if the text contains a token of the set.
    pub fn reject(&self, text: &[u8]) -> Result<()> {
        let Some(finder) = &self.raw else { return Ok(()) };
        let Some(found) = finder.automaton.find(text) else { return Ok(()) };
        let token = String::from_utf8_lossy(&finder.tokens[found.pattern().as_usize()].text);
        Err(Error::Special(format!(
            "the text contains the special token {token:?} at byte {}, which is not allowed here; allow it with \
             special={{{token:?}}} or special=\"all\", or encode it as plain text with reject_special=False",
            found.start()
        )))
    }
}

/// The tokens that are searched for in normalized text and whose own text normalization changes.
fn printed(tokens: &[SpecialToken], normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>) -> Result<HashMap<TokenId, Printed>> {
    let skippable: HashSet<&[u8]> =
        tokens.iter().filter(|token| !token.always).map(|token| token.text.as_slice()).collect();
    let mut printed = HashMap::new();
    for token in tokens.iter().filter(|token| token.normalized) {
        let text = normalize(&token.text)?;
        if text != token.text {
            let is_skippable = skippable.contains(text.as_slice());
            printed.insert(token.id, Printed { text, is_skippable });
        }
    }
    Ok(printed)
}

fn cut(finder: Option<&SpecialFinder>, text: &[u8], mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
    match finder {
        Some(finder) => finder.cut(text, part),
        None if text.is_empty() => Ok(()),
        None => part(TextPart::Text(0, text.len())),
    }
}
