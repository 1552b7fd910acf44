//! Splits a text at special tokens. Only this module knows which special tokens are recognized.
//!
//! A special token is recognized if the caller allows this token, or if the Spec says that the token is always
//! recognized. Vocabulary rows of kind Control are special tokens too. The leftmost match is taken; if several tokens
//! match at one offset, [`Matching`] decides between the longest and the first listed (minbpe). `partition` implements
//! llama.cpp's order.
//!
//! If tiktoken finds a token that is not allowed, it searches again one byte after the start of this token, so it finds
//! the same tokens as a search for only the allowed tokens. Hugging Face searches for all tokens of a vocabulary with
//! tokens that are always recognized, and continues after the end of a token that is not allowed; so this token hides
//! the tokens that overlap with it.
//!
//! The twin is python/polytok/reference/special.py.

use finder::SpecialFinder;
use hashbrown::{HashMap, HashSet};
use polytok_memory::{self as memory, Collect, Copied, Grow, GrowMap, TryCollect};

use crate::error::{Error, Result};
use crate::spec::{Kind, Matching, SpecialToken};
use crate::token_id::TokenId;
use crate::vocab::Vocab;

pub(crate) mod automaton;
mod finder;
pub mod joint;
mod linear;
mod partition;
pub mod trusted;
mod white_space;

/// All special tokens of a vocabulary.
pub struct Specials {
    tokens: Vec<SpecialToken>,
    /// The index in `tokens` of the first token with each id.
    index_by_id: HashMap<TokenId, usize>,
    matching: Matching,
    always: Option<SpecialSet>,
    /// By id, what decoding prints for the tokens that are searched for in normalized text and whose text normalization
    /// changes.
    printed_by_id: HashMap<TokenId, PrintedToken>,
}

/// What Hugging Face's decoder prints for a special token: the normalized text. This text also decides whether decoding
/// can skip the token.
struct PrintedToken {
    text: Vec<u8>,
    is_skippable: bool,
}

/// A set of special tokens, compiled for searching.
pub struct SpecialSet {
    /// The finder of the tokens that are searched for in the text before normalization.
    raw: Option<SpecialFinder>,
    /// The finder of the tokens that are searched for in the normalized text.
    normalized: Option<SpecialFinder>,
}

/// A part of a text, with the start and end offsets of the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Text between special tokens.
    Text(usize, usize),
    /// A special token, with its id. The part includes the white space that `lstrip` and `rstrip` add, so it can
    /// overlap with the part before it.
    Special(TokenId, usize, usize),
}

impl Specials {
    /// Collects the special tokens: the tokens that the Spec lists, and the control rows of the vocabulary. `normalize`
    /// normalizes the text of the tokens that are searched for in normalized text.
    pub fn new(
        listed_tokens: Vec<SpecialToken>,
        vocab: &Vocab,
        matching: Matching,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Specials> {
        let rows = vocab.rows_of(Kind::Control);
        let listed_ids: HashSet<TokenId> = memory::set(listed_tokens.iter().map(|token| token.id));
        let mut tokens = listed_tokens;
        let control_token = |row| SpecialToken {
            text: vocab.bytes(row).checked_to_vec(),
            id: vocab.id(row),
            ..SpecialToken::default()
        };
        tokens.checked_extend(rows.map(control_token).filter(|token| !listed_ids.contains(&token.id)));
        let mut index_by_id = HashMap::new();
        for (i, token) in tokens.iter().enumerate() {
            index_by_id.reserve_entry();
            index_by_id.entry(token.id).or_insert(i);
        }
        let mut specials = Specials { tokens, index_by_id, matching, always: None, printed_by_id: HashMap::new() };
        specials.printed_by_id = printed_tokens(&specials.tokens, normalize)?;
        if specials.tokens.iter().any(|token| token.always) {
            specials.always = specials.set(|_| false, normalize)?;
        }
        Ok(specials)
    }

    /// Returns all special tokens; the tokens that the Spec lists are first.
    pub fn tokens(&self) -> &[SpecialToken] {
        &self.tokens
    }

    /// Returns the text of the first listed token that has the id.
    #[inline]
    pub fn text(&self, id: TokenId) -> Option<&[u8]> {
        self.index_by_id.get(&id).map(|&i| self.tokens[i].text.as_slice())
    }

    /// Returns the text of a special token that Hugging Face's decoders get as input.
    pub fn printed_text(&self, id: TokenId) -> Option<&[u8]> {
        self.printed_by_id.get(&id).map_or_else(|| self.text(id), |printed_by_id| Some(printed_by_id.text.as_slice()))
    }

    /// Reports whether decoding can skip an id.
    #[inline]
    pub fn is_skippable(&self, id: TokenId) -> bool {
        let is_skippable =
            |&i: &usize| self.printed_by_id.get(&id).map_or(!self.tokens[i].always, |token| token.is_skippable);
        self.index_by_id.get(&id).is_some_and(is_skippable)
    }

    /// Returns the set of the tokens that are recognized even if the caller allows no token.
    #[inline]
    pub fn always(&self) -> Option<&SpecialSet> {
        self.always.as_ref()
    }

    /// Returns the set of all tokens that are recognized if the caller allows the tokens for whose text `is_allowed`
    /// returns true; None if the set is empty.
    pub fn set(
        &self,
        is_allowed: impl Fn(&[u8]) -> bool,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Option<SpecialSet>> {
        let can_hide_tokens = self.tokens.iter().any(|token| token.always) && self.matching == Matching::Longest;
        let is_recognized = |token: &SpecialToken| token.always || is_allowed(&token.text);
        self.set_of(|token| Some(is_recognized(token)).filter(|&is_found| is_found || can_hide_tokens), normalize)
    }

    /// Returns the set of the tokens for which `role` returns Some; Some(true) if the token is recognized, and
    /// Some(false) if the token only hides the tokens that it overlaps.
    fn set_of(
        &self,
        role: impl Fn(&SpecialToken) -> Option<bool>,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Option<SpecialSet>> {
        let (mut normalized_tokens, mut raw_tokens) = (Vec::new(), Vec::new());
        for token in self.tokens.iter().filter(|token| !token.text.is_empty()) {
            let Some(is_recognized) = role(token) else { continue };
            let tokens = if token.normalized { &mut normalized_tokens } else { &mut raw_tokens };
            tokens.checked_push((token.clone(), is_recognized));
        }
        let normalized_texts: Vec<Vec<u8>> =
            normalized_tokens.iter().map(|(token, _)| normalize(&token.text)).checked_try_collect()?;
        let raw_texts = raw_tokens.iter().map(|(token, _)| token.text.clone()).checked_collect();
        let raw = SpecialFinder::new(raw_tokens, raw_texts, self.matching)?;
        let normalized = SpecialFinder::new(normalized_tokens, normalized_texts, self.matching)?;
        let is_empty = raw.is_none() && normalized.is_none();
        Ok((!is_empty).then_some(SpecialSet { raw, normalized }))
    }

    /// Returns the set of the tokens for whose text `is_refused` returns true, except the tokens that are always
    /// recognized; None if the set is empty.
    pub fn refused(&self, is_refused: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        memory::catch(|| {
            let refused_tokens: Vec<(SpecialToken, bool)> = self
                .tokens
                .iter()
                .filter(|token| !token.always && !token.text.is_empty() && is_refused(&token.text))
                .map(|token| (token.clone(), true))
                .checked_collect();
            let texts = refused_tokens.iter().map(|(token, _)| token.text.clone()).checked_collect();
            Ok(SpecialFinder::new(refused_tokens, texts, self.matching)?
                .map(|finder| SpecialSet { raw: Some(finder), normalized: None }))
        })
    }
}

impl SpecialSet {
    /// Splits a text at the tokens of the set: calls `part` for every part that is not empty, from left to right.
    #[inline]
    pub fn split(&self, text: &[u8], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        split(self.raw.as_ref(), text, part)
    }

    /// Reports whether the set has a token that is searched for in normalized text.
    #[inline]
    pub fn has_normalized(&self) -> bool {
        self.normalized.is_some()
    }

    /// Splits a normalized text at the tokens that are searched for in normalized text.
    pub fn split_normalized(&self, text: &[u8], part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
        split(self.normalized.as_ref(), text, part)
    }

    /// Returns an error if the text contains a token of the set.
    pub fn reject(&self, text: &[u8]) -> Result<()> {
        let Some(finder) = &self.raw else { return Ok(()) };
        let Some(found) = finder.first(text) else { return Ok(()) };
        let token = String::from_utf8_lossy(&finder.tokens[found.index].text);
        Err(Error::Special(format!(
            "the text contains the special token {token:?} at byte {}, which is not allowed here; allow it with \
             special={{{token:?}}} or special=\"all\", or encode it as plain text with reject_special=False",
            found.start
        )))
    }
}

/// Returns, by id, what decoding prints for the tokens that are searched for in normalized text and whose text
/// normalization changes.
fn printed_tokens(
    tokens: &[SpecialToken],
    normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
) -> Result<HashMap<TokenId, PrintedToken>> {
    let skippable_texts: HashSet<&[u8]> =
        memory::set(tokens.iter().filter(|token| !token.always).map(|token| token.text.as_slice()));
    let mut printed_by_id = HashMap::new();
    for token in tokens.iter().filter(|token| token.normalized) {
        let text = normalize(&token.text)?;
        if text != token.text {
            let is_skippable = skippable_texts.contains(text.as_slice());
            printed_by_id.checked_insert(token.id, PrintedToken { text, is_skippable });
        }
    }
    Ok(printed_by_id)
}

/// Splits a text at the tokens of a finder; without a finder the text is one part.
fn split(finder: Option<&SpecialFinder>, text: &[u8], mut part: impl FnMut(TextPart) -> Result<()>) -> Result<()> {
    match finder {
        Some(finder) => finder.split(text, part),
        None if text.is_empty() => Ok(()),
        None => part(TextPart::Text(0, text.len())),
    }
}
