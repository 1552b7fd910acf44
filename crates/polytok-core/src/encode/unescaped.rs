//! Encoding without rewriting: see `split/stretches.rs`.

use crate::cache::{IDS, Key, Piece};
use crate::error::Result;
use crate::model::{Segment, UNKNOWN};
use crate::post::{Out, Sink};
use crate::split::stretches::{BYTES, Batch, INVALID, PIECE, Stretches};
use crate::tokenizer::{Scratch, Tokenizer};

/// Ids that wait to be given on.
const FOUND: usize = 512;

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
        let mut text_of = std::mem::take(&mut scratch.normalized);
        let end = stretches.load(text, &mut text_of);
        sink.begin_part(at as u32, None);
        let mut out = Out::new(&text_of, &self.fallback, sink);
        out.begin_word();
        let mut cursor = stretches.cursor(&text_of, end);
        let mut batch = Batch::new();
        let result = loop {
            let has_more = stretches.fill(&text_of, &mut cursor, &mut batch);
            let result = self.encode_batch(stretches, &text_of, &batch, scratch, &mut out);
            if result.is_err() || !has_more {
                break result;
            }
        };
        scratch.normalized = text_of;
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
        let mut found = [0; FOUND];
        let mut count = 0;
        for (start, end, value) in batch.iter() {
            if count + IDS > FOUND {
                out.take_cached(&found[..count]);
                count = 0;
            }
            let Some(room) = found[count..].first_chunk_mut::<IDS>() else { break };
            let more = match value {
                PIECE => {
                    let key = Key::new(text, start, end, true);
                    let more = scratch.cache.get(key, room);
                    if more == 0 {
                        out.take_cached(&found[..count]);
                        count = 0;
                        let piece = Piece { start: start as u32, end: end as u32, is_part: true };
                        self.encode_missed(text, piece, key, scratch, out)?;
                    }
                    more
                }
                BYTES => ids_of_bytes(stretches, text, start, end, room),
                INVALID => match stretches.replacement() {
                    Some(ids) => {
                        room[..ids.len()].copy_from_slice(ids);
                        ids.len()
                    }
                    None => {
                        out.take_cached(&found[..count]);
                        count = 0;
                        out.take(start, Segment { id: UNKNOWN, start: 0, end: 1 })?;
                        0
                    }
                },
                id => {
                    room[0] = id;
                    1
                }
            };
            count += more;
        }
        out.take_cached(&found[..count]);
        Ok(())
    }
}

/// The ids of an unknown character's bytes.
#[inline]
fn ids_of_bytes(stretches: &Stretches, text: &[u8], start: usize, end: usize, room: &mut [u32; IDS]) -> usize {
    let (Some(ids), Some(bytes)) = (stretches.bytes(), text[start..].first_chunk::<IDS>()) else { return 0 };
    *room = bytes.map(|byte| ids[byte as usize]);
    end - start
}
