//! Encodes the parts of a text: looks them up in the cache in batches, and runs the model for parts that are not
//! cached.

use polytok_memory::Grow;

use super::scan::{MAX_PARTS, ScannedParts};
use super::{BYTES_VALUE, INVALID_VALUE, PADDING, PIECE_VALUE, SentencePieceBpe, TextTables};
use crate::cache::{Cache, MAX_ENTRY_IDS, PieceKey};
use crate::error::Result;
use crate::normalize::origin::Place;
use crate::post::IdSink;
use crate::routes::RouteScratch;
use crate::segment::Segment;
use crate::segmenter::{Context, SegmenterScratch, collect_segments};
use crate::token_id::TokenId;

/// The buffers for the parts of a text and their ids. They are allocated once.
pub(crate) struct TextParts {
    parts: ScannedParts,
    /// The keys of the parts that the cache looks up, and the hashes of the keys.
    keys: [PieceKey; MAX_PARTS],
    hashes: [u32; MAX_PARTS],
    /// The ids of the encoded parts, in the order of the text.
    ids: [TokenId; MAX_PARTS * MAX_ENTRY_IDS],
}

impl Default for TextParts {
    fn default() -> TextParts {
        TextParts {
            parts: ScannedParts::new(),
            keys: [PieceKey::default(); MAX_PARTS],
            hashes: [0; MAX_PARTS],
            ids: [TokenId(0); MAX_PARTS * MAX_ENTRY_IDS],
        }
    }
}

impl TextParts {
    /// Computes the keys of the parts that the cache looks up, and prefetches their cache lines. The keys have a loop of
    /// their own, as in `Block::prepare`. The function is not inlined, because it is slower in a larger function.
    #[inline(never)]
    fn prepare(&mut self, text: &[u8], cache: &Cache) {
        let pieces = self.parts.pieces();
        for (&(start, end), key) in pieces.iter().zip(&mut self.keys) {
            *key = PieceKey::new(text, start as usize, end as usize, false);
        }
        for ((key, hash), &range) in self.keys.iter_mut().zip(&mut self.hashes).zip(pieces) {
            *hash = cache.complete_and_prefetch(text, range, key);
        }
    }
}

/// The indexes of the next part, and of the next part that the cache looks up.
#[derive(Default)]
struct PartCursor {
    part: usize,
    piece: usize,
}

/// The route, its tables and a text to encode.
struct TextEncoder<'a> {
    route: &'a SentencePieceBpe,
    tables: &'a TextTables,
    text: &'a [u8],
}

impl SentencePieceBpe {
    /// Encodes a text for which `accepts` returned true. The text starts at byte `at` of the caller's text.
    pub fn run<S: IdSink>(
        &self,
        (text, at): (&[u8], usize),
        scratch: &mut RouteScratch,
        context: &mut Context<S>,
    ) -> Result<()> {
        let Some(tables) = self.tables.peek().filter(|_| !text.is_empty()) else { return Ok(()) };
        let RouteScratch { text: padded_text, parts, .. } = scratch;
        let text_parts = parts.get_or_insert_default();
        let end = self.pad_text(text, at, padded_text);
        context.out.begin_part(Place::unchanged_at(at));
        let encoder = TextEncoder { route: self, tables, text: padded_text };
        let mut cursor = tables.cursor(padded_text, end);
        loop {
            let has_more = tables.fill(padded_text, &mut cursor, &mut text_parts.parts);
            encoder.encode_parts(text_parts, context)?;
            if !has_more {
                return Ok(());
            }
        }
    }

    /// Writes the text to `buffer`, with the prefix and the padding that `fill` needs. Returns the end of the text in
    /// `buffer`.
    fn pad_text(&self, text: &[u8], at: usize, buffer: &mut Vec<u8>) -> usize {
        buffer.clear();
        buffer.checked_reserve(text.len() + 1 + PADDING);
        if self.escape.prefix.adds_space(text, at) {
            buffer.checked_push(b' ');
        }
        buffer.checked_extend_from_slice(text);
        let end = buffer.len();
        buffer.checked_resize(end + PADDING, 0);
        end
    }
}

impl TextEncoder<'_> {
    /// Writes the ids of parts. First computes all keys and prefetches the cache lines of the keys, and then looks all
    /// keys up.
    fn encode_parts<S: IdSink>(&self, text_parts: &mut TextParts, context: &mut Context<S>) -> Result<()> {
        text_parts.prepare(self.text, &context.scratch.cache);
        let mut cursor = PartCursor::default();
        loop {
            let id_count = self.look_up(text_parts, &mut cursor, &context.scratch.cache);
            context.out.write_ids(&text_parts.ids[..id_count]);
            let Some(&value) = text_parts.parts.values().get(cursor.part) else { return Ok(()) };
            self.encode_missing(text_parts.parts.range(cursor.part), value, context)?;
            cursor.part += 1;
        }
    }

    /// Writes the ids of the parts from the cursor on to the start of `ids`, until a part has no known ids. Returns the
    /// number of ids, and moves the cursor to this part, or to the end. The function is not inlined, because it is
    /// slower in a larger function.
    #[inline(never)]
    fn look_up(&self, text_parts: &mut TextParts, cursor: &mut PartCursor, cache: &Cache) -> usize {
        let TextParts { parts, keys, hashes, ids } = text_parts;
        let mut keys = keys[cursor.piece..parts.pieces().len()].iter().zip(&hashes[cursor.piece..]);
        let (mut id_count, mut part) = (0, cursor.part);
        for &value in &parts.values()[cursor.part..] {
            debug_assert!(id_count + MAX_ENTRY_IDS <= ids.len());
            // SAFETY: `ids` has room for `MAX_ENTRY_IDS` ids of each of `MAX_PARTS` parts. Each earlier part has at most
            // that many ids, because each way below writes its ids to an array of that length.
            let id_slots: &mut [TokenId; MAX_ENTRY_IDS] = unsafe { &mut *ids.as_mut_ptr().add(id_count).cast() };
            let count = match value {
                PIECE_VALUE => keys.next().map_or(0, |(&key, &hash)| cache.get(key, hash, id_slots)),
                BYTES_VALUE => self.write_ids_of_bytes(parts.range(part), id_slots),
                INVALID_VALUE => self.write_ids_of_invalid(id_slots),
                id => {
                    id_slots[0] = TokenId(id);
                    1
                }
            };
            if count == 0 {
                break;
            }
            id_count += count;
            part += 1;
        }
        *cursor = PartCursor { part, piece: parts.pieces().len() - keys.len() };
        id_count
    }

    /// Encodes a part that is not among the entries of the cache with ids, or unknown text. Caches the ids if they do not
    /// depend on the text around the part.
    #[inline(never)]
    fn encode_missing<S: IdSink>(
        &self,
        (start, end): (usize, usize),
        value: u32,
        context: &mut Context<S>,
    ) -> Result<()> {
        let piece = &self.text[start..end];
        if value != PIECE_VALUE {
            return context.out.write_segment(
                piece,
                0,
                Segment { id: TokenId::UNKNOWN, start: 0, end: piece.len() as u32 },
            );
        }
        let key = PieceKey::new(self.text, start, end, false).complete(piece);
        if context.output_record(piece, key) {
            return Ok(());
        }
        let Context { segmenter, scratch, out } = context;
        let SentencePieceBpe { bpe, escape, .. } = self.route;
        let is_known = bpe.encode_short_raw(piece, escape.replaces_invalid, &mut scratch.model.bpe, &mut scratch.ids)
            || scratch.run_model(|model, segments| {
                bpe.segment_raw(piece, escape.replaces_invalid, &mut model.bpe, &mut collect_segments(segments))
            })?;
        if !is_known && !self.spell_unknown(piece, scratch) {
            return scratch.segments.iter().try_for_each(|&segment| out.write_segment(piece, 0, segment));
        }
        let own_entries = || bpe.own_entries_raw();
        scratch.cache.insert_with_entries(piece, key, &scratch.ids, segmenter.vocab.len(), own_entries);
        out.write_ids(&scratch.ids);
        Ok(())
    }

    /// Writes the ids of the segments to the scratch, with the ids of its bytes for an unknown segment. Returns false
    /// if bytes have no ids: then adjacent unknown characters are one unknown token, which can extend beyond the piece.
    fn spell_unknown(&self, piece: &[u8], SegmenterScratch { segments, ids, .. }: &mut SegmenterScratch) -> bool {
        let Some(byte_ids) = &self.tables.byte_ids else { return false };
        ids.clear();
        for segment in segments {
            match segment.id {
                TokenId::UNKNOWN => {
                    let unknown_bytes = &piece[segment.start as usize..segment.end as usize];
                    ids.checked_extend(unknown_bytes.iter().map(|&byte| byte_ids[byte as usize]));
                }
                id => ids.checked_push(id),
            }
        }
        true
    }

    /// Writes the ids of the bytes of an unknown character. Returns their number.
    #[inline]
    fn write_ids_of_bytes(&self, (start, end): (usize, usize), id_slots: &mut [TokenId; MAX_ENTRY_IDS]) -> usize {
        let (Some(ids), Some(bytes)) = (&self.tables.byte_ids, self.text[start..].first_chunk::<MAX_ENTRY_IDS>())
        else {
            return 0;
        };
        for i in 0..MAX_ENTRY_IDS {
            id_slots[i] = ids[bytes[i] as usize];
        }
        end - start
    }

    /// Writes the ids of a byte that is not UTF-8, and returns the number of ids: 0 if U+FFFD is unknown.
    #[inline]
    fn write_ids_of_invalid(&self, id_slots: &mut [TokenId; MAX_ENTRY_IDS]) -> usize {
        let ids = self.tables.replacement_ids.as_deref().unwrap_or_default();
        id_slots[..ids.len()].copy_from_slice(ids);
        ids.len()
    }
}
