//! SentencePiece's WORD and CHAR models look each unit of a text up: the unit is an entry or unknown.
//!
//! WORD splits the normalized text before every U+2581; CHAR splits the normalized text to user-defined pieces and
//! characters. Reference: SentencePiece 0.2.1 and 0.2.3, which differ in reserved and unused entries (see
//! `dictionary`). Twins: python/polytok/reference/word.py and char.py.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::native::Tables;
use crate::segment::Segment;
use crate::spec::SentencePieceVersion;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::utf8;
use crate::vocab::Vocab;
use crate::vocab::dictionary::{Dictionary, ReachRule, SymbolOutput};

/// U+2581, the escaped space.
const SPACE_MARK: &[u8] = "\u{2581}".as_bytes();

/// The unit of text that is looked up.
#[derive(Clone)]
pub enum LookupUnit {
    /// The text from one U+2581 to the next.
    Word,
    /// A user-defined piece or a character.
    Char(Option<Arc<Trie>>),
}

/// A compiled WORD or CHAR model.
pub struct WordOrCharModel {
    vocab: Arc<Vocab>,
    dictionary: Dictionary,
    unit: LookupUnit,
}

impl WordOrCharModel {
    /// Indexes the vocabulary.
    pub fn compile(
        vocab: Arc<Vocab>,
        unit: LookupUnit,
        version: SentencePieceVersion,
        tables: &mut Tables,
    ) -> Result<WordOrCharModel> {
        let dictionary = Dictionary::new(&vocab, ReachRule::SentencePiece(version), tables)?;
        Ok(WordOrCharModel { vocab, dictionary, unit })
    }

    /// Splits the text to units and looks each unit up.
    pub fn segment(&self, text: &[u8], emit: &mut impl FnMut(Segment) -> Result<()>) -> Result<()> {
        let mut at = 0;
        while at < text.len() {
            let len = match &self.unit {
                LookupUnit::Word => word_len(&text[at..]),
                LookupUnit::Char(user_defined) => user_defined
                    .as_ref()
                    .and_then(|trie| trie.longest_prefix(&text[at..]))
                    .map_or_else(|| utf8::char_len(&text[at..]), |(len, _)| len),
            };
            let output = self.dictionary.output_of(&self.vocab, &text[at..at + len]);
            let id = match self.dictionary.settle_unused(output) {
                SymbolOutput::Id(id) => id,
                SymbolOutput::Refused(id) => return Err(control_symbol_error(id, at)),
                _ => TokenId::UNKNOWN,
            };
            emit(Segment { id, start: at as u32, end: (at + len) as u32 })?;
            at += len;
        }
        Ok(())
    }
}

/// Returns the length of the word at the start of a text that is not empty.
fn word_len(text: &[u8]) -> usize {
    let first_char_len = utf8::char_len(text);
    memchr::memmem::find(&text[first_char_len..], SPACE_MARK).map_or(text.len(), |at| first_char_len + at)
}

/// Returns the error for a control symbol in the text: the reference emits its id, and then fails because not all of
/// the text was consumed. BPE fails in the same way.
pub fn control_symbol_error(id: TokenId, at: usize) -> Error {
    Error::Encode(format!(
        "SentencePiece cannot encode this text: the control symbol of id {id} stands in it as ordinary text, at byte {at} of \
         the normalized text (sentencepiece_version=\"0.2.3\" makes it unknown where 0.2.1 fails)"
    ))
}
