//! Longest match: each token is the longest entry that the remaining text starts with (RWKV World).
//!
//! Reference: the trie tokenizer of RWKV World. Each token is one walk down a double array. The bytes that a walk reads
//! beyond its token are read again, so the cost is n times the longest entry at worst. If only ids are needed, `lanes`
//! encodes six parts of the text at the same time. Twin: python/polytok/reference/longest.py.

mod lanes;

use crate::error::Result;
use crate::native::Tables;
use crate::post::{Out, Sink};
use crate::segment::Segment;
use crate::token_id::TokenId;
use crate::trie::Trie;
use crate::vocab::Vocab;
use crate::vocab::dictionary::is_reachable;
use lanes::Lanes;

/// A compiled longest-match model.
pub struct LongestMatchModel {
    trie: Trie,
    lanes: Option<Lanes>,
}

impl LongestMatchModel {
    /// Builds the trie of all entries that are not reserved; of equal entries, the first entry is used.
    pub fn compile(vocab: &Vocab, tables: &mut Tables) -> Result<LongestMatchModel> {
        let rows = || vocab.rows().filter(|&row| is_reachable(vocab.kind(row)));
        let build = || Trie::build(rows().map(|row| (vocab.bytes(row), vocab.id(row).0)));
        let trie = Trie::compile(tables, vocab.max_entry_len(), |id| vocab.row(TokenId(id)).is_some(), build)?;
        let lanes = Lanes::new(&trie, rows().map(|row| vocab.bytes(row)));
        Ok(LongestMatchModel { trie, lanes })
    }

    /// Encodes a text, with lanes if only ids are needed.
    pub fn encode<S: Sink>(&self, text: &[u8], ids: &mut Vec<TokenId>, out: &mut Out<S>) -> Result<()> {
        if let (Some(lanes), Some(out)) = (&self.lanes, S::by_ids(out)) {
            lanes.encode(text, ids, |ids| out.write_ids(ids));
            return Ok(());
        }
        self.segment(text, &mut |segment| out.write_segment(text, 0, segment))
    }

    /// Segments the text. A byte with which no entry starts is unknown.
    #[inline]
    pub fn segment(&self, text: &[u8], emit: &mut impl FnMut(Segment) -> Result<()>) -> Result<()> {
        let mut at = 0;
        while at < text.len() {
            let (len, id) =
                self.trie.longest_prefix(&text[at..]).map_or((1, TokenId::UNKNOWN), |(len, id)| (len, TokenId(id)));
            emit(Segment { id, start: at as u32, end: (at + len) as u32 })?;
            at += len;
        }
        Ok(())
    }
}
