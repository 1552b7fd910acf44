//! Pieces as they stand in a text that SentencePiece's normalizer would only make spaces visible of, and mend.
//!
//! The model knows U+2581 and U+FFFD; the text has spaces, and bytes that are no character, in their places. Text that is cut
//! before it is rewritten comes here when the cache does not know it. A piece that is an entry mostly becomes this entry, which
//! the table of pairs tells for all: see derived.rs. Cost: a copy of the piece.

use super::{Bpe, BpeScratch, Emit};
use crate::error::Result;
use crate::model::Segment;
use crate::normalize::Escape;
use crate::utf8::decode_strict;

/// What stands for a space in entries.
const MARK: &[u8] = "\u{2581}".as_bytes();
/// What stands for a byte that is no character.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

impl Bpe {
    /// From now on pieces stand as they are in the text. None may then be given that was rewritten and has spaces of its own.
    pub fn take_raw(&self, escape: Escape) {
        self.raw.get(|| escape);
    }

    /// Whether they do.
    #[inline]
    pub fn takes_raw(&self) -> bool {
        self.raw.peek().is_some()
    }

    /// `segment` for such a piece; where segments start and end is counted in the piece as it is.
    pub fn segment_raw(
        &self,
        piece: &[u8],
        is_part: bool,
        scratch: &mut BpeScratch,
        emit: &mut impl FnMut(Segment) -> Result<()>,
    ) -> Result<()> {
        let mends = self.raw.peek().is_some_and(|escape| escape.mends);
        if !piece.contains(&b' ') && (!mends || std::str::from_utf8(piece).is_ok()) {
            return match self.own_id(piece) {
                Some(id) => emit(Segment { id, start: 0, end: piece.len() as u32 }),
                None => self.segment(piece, 0, is_part, scratch, emit),
            };
        }
        let mut rewritten = std::mem::take(&mut scratch.rewritten);
        rewritten.clear();
        let mut at = 0;
        while at < piece.len() {
            let (text, len) = rewrite(&piece[at..], mends);
            rewritten.extend_from_slice(text);
            at += len;
        }
        if let Some(id) = self.own_id(&rewritten) {
            scratch.rewritten = rewritten;
            return emit(Segment { id, start: 0, end: piece.len() as u32 });
        }
        // How far the segments have come, in both texts.
        let (mut at, mut raw) = (0, 0);
        let mut place = |to: u32| {
            while at < to {
                let (text, len) = rewrite(&piece[raw..], mends);
                at += text.len() as u32;
                raw += len;
            }
            raw as u32
        };
        let result = self.segment(&rewritten, 0, is_part, scratch, &mut |segment| {
            let (start, end) = (place(segment.start), place(segment.end));
            emit(Segment { id: segment.id, start, end })
        });
        scratch.rewritten = rewritten;
        result
    }

    /// The id of the entry that a text is, if it becomes just this entry. None also where that is not known without merging.
    fn own_id(&self, text: &[u8]) -> Option<u32> {
        let merging = self.merging.peek()?.as_ref()?;
        let rows = merging.own_rows()?;
        let own_rows = self.own_rows.get(|| {
            let mut bits = vec![0; self.vocab.len().div_ceil(64)];
            // A table of a file may name any row.
            let rows = rows.map(|row| row as usize).filter(|&row| row < self.vocab.len());
            rows.for_each(|row| bits[row / 64] |= 1 << (row % 64));
            bits
        });
        let row = self.dictionary.normal.find(&self.vocab, text)?;
        let is_own = own_rows.get(row as usize / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1);
        match is_own.then(|| self.becomes(row, text)) {
            Some(Emit::Id(id)) => Some(id),
            _ => None,
        }
    }

    /// The id that a character alone becomes; None if it is unknown, or not simply an id.
    pub fn id_of_char(&self, unit: &[u8]) -> Option<u32> {
        let emit = match self.dictionary.normal.find(&self.vocab, unit) {
            Some(row) => self.becomes(row, unit),
            None => self.dictionary.emit(&self.vocab, unit),
        };
        if let Emit::Id(id) = emit { Some(id) } else { None }
    }

    /// Whether a character alone is unknown.
    pub fn is_unknown(&self, unit: &[u8]) -> bool {
        self.dictionary.normal.find(&self.vocab, unit).is_none()
            && self.dictionary.emit(&self.vocab, unit) == Emit::Unknown
    }
}

/// What the first character of a text stands for, and its length. An empty text stands for something, so that no walk stays there.
#[inline]
fn rewrite(text: &[u8], mends: bool) -> (&[u8], usize) {
    match text.first() {
        None => (REPLACEMENT, 0),
        Some(b' ') => (MARK, 1),
        Some(0..0x80) => (&text[..1], 1),
        _ if !mends => (&text[..1], 1),
        _ => decode_strict(text).map_or((REPLACEMENT, 1), |(_, len)| (&text[..len], len)),
    }
}
