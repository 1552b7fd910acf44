//! Cutting a text at special tokens: the only place that knows what is allowed and what is not.
//!
//! Nothing is special unless the caller allows it, but for tokens that are recognised `always`. The leftmost match counts, and of several
//! at one place the longest, or the one listed first (minbpe), as [`Matching`] says; llama.cpp's order is in `partition`.
//! Rows of kind Control are special tokens too. tiktoken restarts its search one byte behind a hit that is not allowed,
//! which finds the same as searching the allowed ones alone. Hugging Face, whose files have tokens that are recognised always, passes
//! over such a hit instead, so that it still hides others; flags follow its `AddedVocabulary::find_matches`.
//! Twin: python/polytok/reference/special.py.

use aho_corasick::{AhoCorasick, MatchKind};
use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::spec::{Kind, Matching, SpecialToken};
use crate::utf8::decode_strict;
use crate::vocab::Vocab;

mod partition;

/// All special tokens of a vocabulary.
pub struct Specials {
    tokens: Vec<SpecialToken>,
    /// The first token listed of each id.
    by_id: HashMap<u32, usize>,
    matching: Matching,
    always: Option<SpecialSet>,
    /// Tokens that are searched in normalized text, where that is not their own.
    printed: HashMap<u32, Printed>,
}

/// What Hugging Face takes for a token: its normalized text, by which it also knows whether the token is to be skipped.
struct Printed {
    text: Vec<u8>,
    is_skippable: bool,
}

/// Some of them, ready to be searched for.
pub struct SpecialSet {
    raw: Option<Finder>,
    normalized: Option<Finder>,
}

/// The tokens that are searched for in one text.
struct Finder {
    automaton: AhoCorasick,
    tokens: Vec<SpecialToken>,
    /// Whether a token that is found is recognised.
    kept: Vec<bool>,
    matching: Matching,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Ordinary text.
    Text(usize, usize),
    /// A special token.
    Special(u32, usize, usize),
}

impl Specials {
    /// The Spec's, and the vocabulary's control rows. `normalize` is what the text goes through before tokens that are
    /// `normalized` are searched in it.
    pub fn new(
        listed: Vec<SpecialToken>,
        vocab: &Vocab,
        matching: Matching,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Specials> {
        let rows = vocab.rows_of(Kind::Control);
        let listed_ids: hashbrown::HashSet<u32> = listed.iter().map(|token| token.id).collect();
        let mut tokens = listed;
        let control =
            |row| SpecialToken { text: vocab.bytes(row).to_vec(), id: vocab.id(row), ..SpecialToken::default() };
        tokens.extend(rows.map(control).filter(|token| !listed_ids.contains(&token.id)));
        let mut by_id = HashMap::new();
        for (i, token) in tokens.iter().enumerate() {
            by_id.entry(token.id).or_insert(i);
        }
        let mut specials = Specials { tokens, by_id, matching, always: None, printed: HashMap::new() };
        for token in specials.tokens.iter().filter(|token| token.normalized) {
            let text = normalize(&token.text)?;
            if text != token.text {
                let is_skippable = specials.tokens.iter().any(|other| !other.always && other.text == text);
                specials.printed.insert(token.id, Printed { text, is_skippable });
            }
        }
        if specials.tokens.iter().any(|token| token.always) {
            specials.always = specials.set(|_| false, normalize)?;
        }
        Ok(specials)
    }

    /// All tokens, the Spec's first.
    pub fn tokens(&self) -> &[SpecialToken] {
        &self.tokens
    }

    /// The text of an id; of several, the first listed.
    #[inline]
    pub fn text(&self, id: u32) -> Option<&[u8]> {
        self.by_id.get(&id).map(|&i| self.tokens[i].text.as_slice())
    }

    /// The text that stands for an id when Hugging Face's decoders begin.
    pub fn printed(&self, id: u32) -> Option<&[u8]> {
        self.printed.get(&id).map_or_else(|| self.text(id), |printed| Some(printed.text.as_slice()))
    }

    /// Whether decoding may skip an id.
    #[inline]
    pub fn is_skippable(&self, id: u32) -> bool {
        let is_skippable =
            |&i: &usize| self.printed.get(&id).map_or(!self.tokens[i].always, |token| token.is_skippable);
        self.by_id.get(&id).is_some_and(is_skippable)
    }

    /// The tokens that are recognised when the caller allows none.
    #[inline]
    pub fn always(&self) -> Option<&SpecialSet> {
        self.always.as_ref()
    }

    /// The set of the tokens for which `keep` holds, and of those that are recognised always; None if it is empty.
    pub fn set(
        &self,
        keep: impl Fn(&[u8]) -> bool,
        normalize: &dyn Fn(&[u8]) -> Result<Vec<u8>>,
    ) -> Result<Option<SpecialSet>> {
        let hides = self.tokens.iter().any(|token| token.always) && self.matching == Matching::Longest;
        let kept = |token: &SpecialToken| token.always || keep(&token.text);
        let searched = self.tokens.iter().filter(|token| !token.text.is_empty() && (hides || kept(token)));
        let (of_normalized, of_raw): (Vec<_>, Vec<_>) =
            searched.map(|token| (token.clone(), kept(token))).partition(|(token, _)| token.normalized);
        let normalized_texts: Vec<Vec<u8>> =
            of_normalized.iter().map(|(token, _)| normalize(&token.text)).collect::<Result<_>>()?;
        let raw_texts = of_raw.iter().map(|(token, _)| token.text.clone()).collect();
        let raw = Finder::new(of_raw, raw_texts, self.matching)?;
        let normalized = Finder::new(of_normalized, normalized_texts, self.matching)?;
        let is_empty = raw.is_none() && normalized.is_none();
        Ok((!is_empty).then_some(SpecialSet { raw, normalized }))
    }

    /// The set of the tokens for which `keep` holds, to be refused; None if it is empty.
    pub fn refused(&self, keep: impl Fn(&[u8]) -> bool) -> Result<Option<SpecialSet>> {
        let kept: Vec<(SpecialToken, bool)> = self
            .tokens
            .iter()
            .filter(|token| !token.always && !token.text.is_empty() && keep(&token.text))
            .map(|token| (token.clone(), true))
            .collect();
        let texts = kept.iter().map(|(token, _)| token.text.clone()).collect();
        Ok(Finder::new(kept, texts, self.matching)?.map(|finder| SpecialSet { raw: Some(finder), normalized: None }))
    }
}

impl SpecialSet {
    /// Calls `part` for every part of the text, in order; empty stretches are left out.
    #[inline]
    pub fn cut(&self, text: &[u8], part: impl FnMut(Part) -> Result<()>) -> Result<()> {
        cut(self.raw.as_ref(), text, part)
    }

    /// Whether tokens are searched in normalized text.
    #[inline]
    pub fn has_normalized(&self) -> bool {
        self.normalized.is_some()
    }

    /// The same as `cut`, for a normalized text.
    pub fn cut_normalized(&self, text: &[u8], part: impl FnMut(Part) -> Result<()>) -> Result<()> {
        cut(self.normalized.as_ref(), text, part)
    }

    /// An error if one of the set stands anywhere in the text.
    pub fn reject(&self, text: &[u8]) -> Result<()> {
        let Some(finder) = &self.raw else { return Ok(()) };
        let Some(found) = finder.automaton.find(text) else { return Ok(()) };
        let token = String::from_utf8_lossy(&finder.tokens[found.pattern().as_usize()].text);
        Err(Error::Special(format!(
            "the text holds the special token {token:?} at byte {}, which is not allowed here: allow it with \
             special={{{token:?}}} or special=\"all\", or encode it as plain text with reject_special=False",
            found.start()
        )))
    }
}

fn cut(finder: Option<&Finder>, text: &[u8], mut part: impl FnMut(Part) -> Result<()>) -> Result<()> {
    match finder {
        None if text.is_empty() => Ok(()),
        None => part(Part::Text(0, text.len())),
        Some(finder) if finder.matching == Matching::LongestFirst => finder.partition(text, part),
        Some(finder) => finder.cut(text, part),
    }
}

impl Finder {
    /// `texts` are what is searched for, in the order of the tokens.
    fn new(tokens: Vec<(SpecialToken, bool)>, texts: Vec<Vec<u8>>, matching: Matching) -> Result<Option<Finder>> {
        if tokens.is_empty() {
            return Ok(None);
        }
        let kind = match matching {
            Matching::Longest => MatchKind::LeftmostLongest,
            Matching::Listed => MatchKind::LeftmostFirst,
            Matching::LongestFirst => MatchKind::Standard,
        };
        let automaton = AhoCorasick::builder()
            .match_kind(kind)
            .build(&texts)
            .map_err(|error| Error::Spec(format!("special tokens: {error}")))?;
        let (tokens, kept) = tokens.into_iter().unzip();
        Ok(Some(Finder { automaton, tokens, kept, matching }))
    }

    fn cut(&self, text: &[u8], mut part: impl FnMut(Part) -> Result<()>) -> Result<()> {
        let mut at = 0;
        for found in self.automaton.find_iter(text) {
            let token = &self.tokens[found.pattern().as_usize()];
            let (mut start, mut end) = (found.start(), found.end());
            if !self.kept[found.pattern().as_usize()] || (token.single_word && touches_word(text, start, end)) {
                continue;
            }
            if token.lstrip {
                start = trimmed_end(&text[..start]).max(at);
            }
            if token.rstrip {
                end += spaces_at_start(&text[end..]);
            }
            if start > at {
                part(Part::Text(at, start))?;
            }
            if end > start {
                part(Part::Special(token.id, start, end))?;
            }
            at = end;
        }
        if at < text.len() {
            part(Part::Text(at, text.len()))?;
        }
        Ok(())
    }
}

/// Whether a word character stands before `start` or behind `end`; bytes that are no UTF-8 are none.
fn touches_word(text: &[u8], start: usize, end: usize) -> bool {
    let before = last_char(&text[..start]).map(|(_, character)| character);
    let behind = first_char(&text[end..]).map(|(character, _)| character);
    [before, behind].into_iter().flatten().any(regex_syntax::is_word_character)
}

/// Where the white space at the end of a text starts.
fn trimmed_end(text: &[u8]) -> usize {
    let mut end = text.len();
    while let Some((at, character)) = last_char(&text[..end]) {
        if !character.is_whitespace() {
            break;
        }
        end = at;
    }
    end
}

/// The last character of a text and where it starts, if it is one.
fn last_char(text: &[u8]) -> Option<(usize, char)> {
    let from = (1..=text.len().min(4)).map(|back| text.len() - back).find(|&at| text[at] & 0xC0 != 0x80)?;
    let character = std::str::from_utf8(&text[from..]).ok()?.chars().next()?;
    Some((from, character))
}

/// The first character of a text and its length, if it is one.
fn first_char(text: &[u8]) -> Option<(char, usize)> {
    if text.is_empty() { None } else { decode_strict(text) }
}

/// The length of the white space at the start of a text.
fn spaces_at_start(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some((character, len)) = first_char(&text[at..]) {
        if !character.is_whitespace() {
            break;
        }
        at += len;
    }
    at
}
