//! Replaces each character that no entry contains by a *stand-in*: a character of one byte that is in no entry either.
//!
//! A Unigram model of Hugging Face gives all such characters the same score, merges adjacent ones into one token, and
//! does not look at the characters themselves unless it encodes them as bytes. So the ids stay the same, while words of
//! scripts that the vocabulary lacks become equal and a third as long: most of them are cached. White space and U+2581
//! stay, because they separate words. ASCII characters stay, and so do characters beyond U+FFFF, because they are rare.
//! Each character is replaced once, for the table of the normalizer's output (`normalize::by_char`).

use std::sync::Arc;

use polytok_memory as memory;

use crate::lazy::Lazy;
use crate::model::unigram::wide::WideUnigram;
use crate::normalize::CharMap;
use crate::space_mark;
use crate::utf8::valid;
use crate::vocab::Vocab;

/// The number of characters that the table has a bit for: those up to U+FFFF.
const CHARS: usize = 1 << 16;

/// Replaces the characters that no entry contains. The table is built for the first character that is not ASCII.
pub(super) struct StandIns {
    vocab: Arc<Vocab>,
    unknown_chars: Lazy<Option<UnknownChars>>,
}

impl StandIns {
    /// Returns None if the ids can depend on unknown characters.
    pub fn new(model: &WideUnigram, vocab: &Arc<Vocab>) -> Option<Arc<StandIns>> {
        let stand_ins = || Arc::new(StandIns { vocab: vocab.clone(), unknown_chars: Lazy::default() });
        model.has_same_id_for_unknown().then(stand_ins)
    }

    /// Returns the function that replaces characters.
    pub fn char_map(self: &Arc<StandIns>) -> CharMap {
        let stand_ins = self.clone();
        Arc::new(move |c| match c.is_ascii() {
            true => c,
            false => stand_ins.unknown_chars().map_or(c, |unknown_chars| unknown_chars.replace(c)),
        })
    }

    /// Returns the number of stand-ins at the start of a text.
    pub fn run_len(&self, text: &[u8]) -> usize {
        let stand_in = self.unknown_chars().map(|unknown_chars| unknown_chars.stand_in);
        text.iter().take_while(|&&byte| Some(byte) == stand_in).count()
    }

    fn unknown_chars(&self) -> Option<&UnknownChars> {
        self.unknown_chars.get(|| UnknownChars::new(&self.vocab)).as_ref()
    }
}

/// The characters that no entry contains, and their stand-in.
struct UnknownChars {
    /// A bit for each character that stays.
    kept: Box<[u64; CHARS / 64]>,
    stand_in: u8,
}

impl UnknownChars {
    /// Returns the table; None if no character can be the stand-in.
    fn new(vocab: &Vocab) -> Option<UnknownChars> {
        let mut unknown = UnknownChars { kept: memory::zeroed_box(), stand_in: 0 };
        for row in vocab.rows() {
            valid(vocab.bytes(row)).ok()?.chars().for_each(|c| unknown.keep(c));
        }
        ('\0'..='\u{FFFF}').filter(|&c| c.is_whitespace() || c == space_mark::CHAR).for_each(|c| unknown.keep(c));
        unknown.stand_in = (1..128).find(|&byte| unknown.is_unknown(byte as char))?;
        Some(unknown)
    }

    fn keep(&mut self, c: char) {
        if let Some(word) = self.kept.get_mut(c as usize / 64) {
            *word |= 1 << (c as usize % 64);
        }
    }

    fn is_unknown(&self, c: char) -> bool {
        self.kept.get(c as usize / 64).is_some_and(|word| word >> (c as usize % 64) & 1 == 0)
    }

    /// Returns the stand-in for an unknown character, and any other character itself.
    fn replace(&self, c: char) -> char {
        if self.is_unknown(c) { self.stand_in as char } else { c }
    }
}
