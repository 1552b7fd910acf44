//! Encoding without rewriting: see `split/stretches.rs`.

use crate::cache::{IDS, Key};
use crate::error::Result;
use crate::model::{Segment, UNKNOWN};
use crate::post::{Out, Sink};
use crate::split::stretches::{BYTES, Batch, INVALID, PIECE, Stretches};
use crate::tokenizer::{Scratch, Tokenizer};

/// Ids that wait to be given on.
const FOUND: usize = 512;

/// Ids that were found, one stretch after the other.
struct Found {
    ids: [u32; FOUND],
    count: usize,
}

impl Tokenizer {
    /// A text of its own, whose spaces are not escaped.
    pub(super) fn encode_unescaped<S: Sink>(
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
        let end = stretches.load(text, &mut loaded);
        sink.begin_part(at as u32, None);
        let mut out = Out::new(&loaded, &self.fallback, sink);
        out.begin_word();
        let mut cursor = stretches.cursor(&loaded, end);
        let mut batch = Batch::new();
        let result = loop {
            let has_more = stretches.fill(&loaded, &mut cursor, &mut batch);
            let result = self.encode_batch(stretches, &loaded, &batch, scratch, &mut out);
            if result.is_err() || !has_more {
                break result;
            }
        };
        scratch.normalized = loaded;
        result
    }

    /// The ids of stretches. They are read from tables one after the other, so that the processor may fetch them side by side.
    fn encode_batch<S: Sink>(
        &self,
        stretches: &Stretches,
        text: &[u8],
        batch: &Batch,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut found = Found { ids: [0; FOUND], count: 0 };
        for (start, end, value) in batch.iter() {
            let Some(room) = found.room(out) else { break };
            let more = match value {
                PIECE => scratch.cache.get(Key::new(text, start, end, true), room),
                BYTES => ids_of_bytes(stretches, text, start, end, room),
                INVALID => ids_of_invalid(stretches, room),
                id => {
                    room[0] = id;
                    1
                }
            };
            found.count += more;
            if more == 0 {
                found.flush(out);
                self.encode_stretch_missed(stretches, text, (start, end, value), scratch, out)?;
            }
        }
        found.flush(out);
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
        cache.insert(Key::new(text, start, end, true), ids);
        out.take_cached(ids);
        Ok(())
    }
}

impl Found {
    /// Room for the ids of one more stretch.
    #[inline]
    fn room<S: Sink>(&mut self, out: &mut Out<S>) -> Option<&mut [u32; IDS]> {
        if self.count + IDS > FOUND {
            self.flush(out);
        }
        self.ids[self.count..].first_chunk_mut()
    }

    #[inline]
    fn flush<S: Sink>(&mut self, out: &mut Out<S>) {
        out.take_cached(&self.ids[..self.count]);
        self.count = 0;
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
