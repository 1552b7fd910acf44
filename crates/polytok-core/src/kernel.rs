//! From pieces to ids: the cache first, then the model.
//!
//! Pieces come in blocks. For a whole block keys and hashes are computed and cache lines asked for; then each piece is looked up, and
//! what is found is written side by side, which is no branch but for "is it there". Pieces that are not there are encoded in their
//! place, out of line: long ones are cut where nothing can merge, and their parts go through the cache in the same way.
//! Invariant: the ids are those of `Compiled::segment` piece by piece. Cost: that of the model for each different piece.

use crate::boundary::Boundary;
use crate::cache::{Cache, Key, LONGEST, Piece, Waiting};
use crate::error::Result;
use crate::model::UNKNOWN;
use crate::post::{Out, Sink};
use crate::tokenizer::{Scratch, Tokenizer};

/// Pieces that are longer than this are cut further.
const LONG: usize = 15;

impl Tokenizer {
    /// Encodes the pieces that wait, by the cache where it may; nobody waits afterwards.
    pub(crate) fn encode_waiting<S: Sink>(
        &self,
        text: &[u8],
        waiting: &mut Waiting,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if S::SPANS {
            for at in 0..waiting.count() {
                self.encode_with_spans(text, waiting.piece(at), scratch, out)?;
            }
            waiting.clear();
            return Ok(());
        }
        waiting.prepare(text, &scratch.cache, self.model.parts_differ());
        let mut found = 0;
        for at in 0..waiting.count() {
            match waiting.look_up(at, found, &scratch.cache) {
                0 => {
                    out.take_cached(&waiting.found[..found]);
                    found = 0;
                    self.encode_missed(text, waiting.piece(at), waiting.key(at), scratch, out)?;
                }
                count => found += count,
            }
        }
        out.take_cached(&waiting.found[..found]);
        waiting.clear();
        Ok(())
    }

    fn encode_with_spans<S: Sink>(
        &self,
        text: &[u8],
        Piece { start, end, is_part }: Piece,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if !is_part || start == 0 {
            out.begin_word();
        }
        self.model
            .segment(&text[start..end], start, is_part, &mut scratch.model, &mut |segment| out.take(start, segment))
    }

    /// A piece that is not among the short ones of the cache.
    #[inline(never)]
    fn encode_missed<S: Sink>(
        &self,
        text: &[u8],
        piece: Piece,
        key: Key,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if let Some(ids) = scratch.cache.get_long(&text[piece.start..piece.end], key) {
            out.take_cached(ids);
            return Ok(());
        }
        let is_cut = |cuts: &&Boundary| cuts.next_cut(&text[..piece.end], piece.start) < piece.end;
        match self.model.cuts().filter(|cuts| piece.end - piece.start > LONG && !piece.is_part && is_cut(cuts)) {
            Some(cuts) if self.comes_again(&text[piece.start..piece.end]) => {
                self.encode_whole(text, piece, key, cuts, scratch, out)
            }
            Some(cuts) => self.encode_long(text, piece, cuts, scratch, out),
            None => self.encode_new(text, piece, key, scratch, out),
        }
    }

    /// Whether a piece that is cut is worth a place in the cache as a whole: indentation is, a sentence of a script without spaces hardly
    /// comes twice. Unknown text must be an error, so that nothing depends on what is around.
    #[inline]
    fn comes_again(&self, piece: &[u8]) -> bool {
        piece.len() <= LONGEST && piece.is_ascii() && self.fallback.may_fail()
    }

    /// A long piece that comes into the cache as a whole, too.
    fn encode_whole<S: Sink>(
        &self,
        text: &[u8],
        piece: Piece,
        key: Key,
        cuts: &Boundary,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut ids = std::mem::take(&mut scratch.whole);
        ids.clear();
        let result = self.encode_long(text, piece, cuts, scratch, &mut Out::new(text, &self.fallback, &mut ids));
        let bytes = &text[piece.start..piece.end];
        if result.is_ok() {
            out.take_cached(&ids);
            if !self.model.depends_on_place(bytes, piece.start) {
                self.remember(bytes, key, &ids, &mut scratch.cache);
            }
        }
        scratch.whole = ids;
        result
    }

    /// A long piece, part by part.
    fn encode_long<S: Sink>(
        &self,
        text: &[u8],
        piece: Piece,
        cuts: &Boundary,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut parts = scratch.waiting();
        self.encode_cut(cuts, text, (piece.start, piece.end), &mut parts, scratch, out)?;
        self.encode_waiting(text, &mut parts, scratch, out)?;
        scratch.keep(parts);
        Ok(())
    }

    /// A piece that the cache does not know; it is put there if it may.
    fn encode_new<S: Sink>(
        &self,
        text: &[u8],
        Piece { start, end, is_part }: Piece,
        key: Key,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let bytes = &text[start..end];
        let Scratch { model: model_scratch, segments, ids, cache, .. } = scratch;
        segments.clear();
        self.model.segment(bytes, start, is_part, model_scratch, &mut |segment| {
            segments.push(segment);
            Ok(())
        })?;
        let is_known = segments.iter().all(|segment| segment.id != UNKNOWN);
        if is_known && !self.model.depends_on_place(bytes, start) {
            ids.clear();
            ids.extend(segments.iter().map(|segment| segment.id));
            self.remember(bytes, key, ids, cache);
        }
        segments.iter().try_for_each(|&segment| out.take(start, segment))
    }

    /// Puts a piece into the cache, and all entries when they pay.
    #[inline]
    pub(crate) fn remember(&self, piece: &[u8], key: Key, ids: &[u32], cache: &mut Cache) {
        cache.insert(piece, key, ids);
        if cache.wants_entries(self.vocab.len())
            && let Some(entries) = self.model.own_entries(&self.vocab)
        {
            cache.add_entries(self.vocab.len(), entries);
        }
    }
}

#[cfg(test)]
mod tests;
