//! Words that get U+2581 before them: each is looked up in the cache as it is, and only a word that is not cached is written with it.
//!
//! The cache also has pieces of the general way, all of which start with U+2581. Text that holds this character goes that way, so
//! that no word here does.

use memchr::memmem;

use crate::cache::Key;
use crate::error::Result;
use crate::normalize::origin::Place;
use crate::post::{IdSink, Out};
use crate::segment::UNKNOWN;
use crate::segmenter::{Segmenter, SegmenterScratch, look_up, remember};
use crate::space_mark;
use crate::split::chain::Chain;
use crate::split::cursor::Cursor;

/// Encodes a normalized text, or plain text, whose words `words` finds. `buffer` is memory for a word.
pub(super) fn encode<S: IdSink>(
    segmenter: &Segmenter,
    words: &Chain,
    text: &str,
    buffer: &mut Vec<u8>,
    scratch: &mut SegmenterScratch,
    out: &mut Out<S>,
) -> Result<()> {
    if memmem::find(text.as_bytes(), space_mark::BYTES).is_some() {
        return segmenter.encode_rewritten(text.as_bytes(), Place::default(), scratch, out);
    }
    let mut block = scratch.block();
    let mut cursor = Cursor::new();
    while block.fill(|pieces| words.fill(text, &mut cursor, pieces))? > 0 {
        block.prepare(text.as_bytes(), &scratch.cache, false);
        look_up(&mut block, scratch, out, |piece, key, scratch, out| {
            encode_missed(segmenter, &text.as_bytes()[piece.start..piece.end], key, buffer, scratch, out)
        })?;
        block.clear();
    }
    scratch.blocks.push(block);
    Ok(())
}

/// A word that is not among the short ones of the cache.
#[inline(never)]
fn encode_missed<S: IdSink>(
    segmenter: &Segmenter,
    word: &[u8],
    key: Key,
    buffer: &mut Vec<u8>,
    scratch: &mut SegmenterScratch,
    out: &mut Out<S>,
) -> Result<()> {
    let SegmenterScratch { model, segments, ids, cache, .. } = scratch;
    if let Some(ids) = cache.get_long(word, key) {
        out.take_ids(ids);
        return Ok(());
    }
    buffer.clear();
    buffer.extend_from_slice(space_mark::BYTES);
    buffer.extend_from_slice(word);
    segments.clear();
    segmenter.model.segment(buffer, 0, false, model, &mut |segment| {
        segments.push(segment);
        Ok(())
    })?;
    if segments.iter().any(|segment| segment.id == UNKNOWN) {
        return segments.iter().try_for_each(|&segment| out.take(buffer, 0, segment));
    }
    ids.clear();
    ids.extend(segments.iter().map(|segment| segment.id));
    remember(word, key, ids, cache, segmenter.vocab.len(), || None);
    out.take_ids(ids);
    Ok(())
}
