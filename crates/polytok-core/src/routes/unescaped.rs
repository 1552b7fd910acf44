//! Encoding without rewriting: see `split/stretches.rs`.

use crate::cache::{IDS, Key};
use crate::error::Result;
use crate::model::{Segment, UNKNOWN};
use crate::post::{Origin, Out, Sink};
use crate::routes::stretches::{BYTES, Batch, INVALID, PIECE, ROOM, Stretches};
use crate::tokenizer::{Scratch, Tokenizer};

/// Room for a batch of stretches, and for what is made of them. Made once and then kept.
pub struct StretchRoom {
    batch: Batch,
    /// Of those that the cache is asked for.
    keys: [(Key, u32); ROOM],
    /// Ids that were found, one stretch after the other.
    found: [u32; ROOM * IDS],
}

impl Default for StretchRoom {
    fn default() -> StretchRoom {
        StretchRoom { batch: Batch::new(), keys: [(Key::default(), 0); ROOM], found: [0; ROOM * IDS] }
    }
}

impl Tokenizer {
    /// A text of its own, whose spaces are not escaped.
    pub(crate) fn encode_unescaped<S: Sink>(
        &self,
        stretches: &Stretches,
        text: &[u8],
        at: usize,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let mut loaded = std::mem::take(&mut scratch.normalized);
        let mut room = scratch.stretches.take().unwrap_or_default();
        let end = stretches.load(text, &mut loaded);
        sink.begin_part(at as u32, Origin::Same);
        let mut out = Out::new(&loaded, &self.fallback, sink);
        out.begin_word();
        let mut cursor = stretches.cursor(&loaded, end);
        let result = loop {
            let has_more = stretches.fill(&loaded, &mut cursor, &mut room.batch);
            let result = self.encode_batch(stretches, &loaded, &mut room, scratch, &mut out);
            if result.is_err() || !has_more {
                break result;
            }
        };
        scratch.normalized = loaded;
        scratch.stretches = Some(room);
        result
    }

    /// The ids of stretches. First all keys are computed and cache lines asked for, then all are looked up.
    fn encode_batch<S: Sink>(
        &self,
        stretches: &Stretches,
        text: &[u8],
        room: &mut StretchRoom,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let StretchRoom { batch, keys, found } = room;
        for ((start, end), slot) in batch.pieces().zip(keys.iter_mut()) {
            let key = Key::new(text, start, end, false);
            let hash = key.hash();
            scratch.cache.prefetch(hash);
            *slot = (key, hash);
        }
        let mut keys = keys.iter();
        let mut count = 0;
        for (start, end, value) in batch.iter() {
            let Some(room) = found[count..].first_chunk_mut::<IDS>() else { break };
            let more = match value {
                PIECE => keys.next().map_or(0, |&(key, hash)| scratch.cache.get(key, hash, room)),
                BYTES => ids_of_bytes(stretches, text, start, end, room),
                INVALID => ids_of_invalid(stretches, room),
                id => {
                    room[0] = id;
                    1
                }
            };
            count += more;
            if more == 0 {
                out.take_cached(&found[..count]);
                count = 0;
                self.encode_stretch_missed(stretches, text, (start, end, value), scratch, out)?;
            }
        }
        out.take_cached(&found[..count]);
        Ok(())
    }

    /// A stretch that the cache does not know, or unknown text; the ids are kept if they do not depend on what is around.
    #[inline(never)]
    fn encode_stretch_missed<S: Sink>(
        &self,
        stretches: &Stretches,
        text: &[u8],
        (start, end, value): (usize, usize, u32),
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if value != PIECE {
            return out.take(start, Segment { id: UNKNOWN, start: 0, end: (end - start) as u32 });
        }
        let Scratch { model, segments, ids, cache, .. } = scratch;
        let piece = &text[start..end];
        let key = Key::new(text, start, end, false);
        if let Some(ids) = cache.get_long(piece, key) {
            out.take_cached(ids);
            return Ok(());
        }
        segments.clear();
        self.model.segment(piece, start, true, model, &mut |segment| {
            segments.push(segment);
            Ok(())
        })?;
        ids.clear();
        for segment in segments.iter() {
            match (segment.id, stretches.bytes()) {
                (UNKNOWN, Some(bytes)) => {
                    let unknown = &piece[segment.start as usize..segment.end as usize];
                    ids.extend(unknown.iter().map(|&byte| bytes[byte as usize]));
                }
                // Unknown text that is next to other unknown text is one with it.
                (UNKNOWN, None) => return segments.iter().try_for_each(|&segment| out.take(start, segment)),
                (id, _) => ids.push(id),
            }
        }
        self.remember(piece, key, ids, cache);
        out.take_cached(ids);
        Ok(())
    }
}

/// The ids of an unknown character's bytes.
#[inline]
fn ids_of_bytes(stretches: &Stretches, text: &[u8], start: usize, end: usize, room: &mut [u32; IDS]) -> usize {
    let (Some(ids), Some(bytes)) = (stretches.bytes(), text[start..].first_chunk::<IDS>()) else { return 0 };
    for i in 0..IDS {
        room[i] = ids[bytes[i] as usize];
    }
    end - start
}

/// The ids of a byte that is no character; none if it is unknown.
#[inline]
fn ids_of_invalid(stretches: &Stretches, room: &mut [u32; IDS]) -> usize {
    let ids = stretches.replacement().unwrap_or_default();
    room[..ids.len()].copy_from_slice(ids);
    ids.len()
}
