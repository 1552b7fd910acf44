//! Sends the paths of words to the output.

use super::memo::{END, MAX_PATH_ENTRIES, PackedPath, PathPair};
use super::words::{RAW_BASE, Receiver};
use crate::error::Result;
use crate::post::tiles::Tiles;
use crate::post::{Out, Sink};
use crate::segment::Segment;
use crate::token_id::TokenId;

/// The largest number of ids that are sent to the output together.
const BATCH_LEN: usize = 256;

/// Sends pieces to the output. A sink that receives only ids gets them in batches.
pub(super) struct Sender<'a, 'o, S> {
    /// The id of each entry.
    ids: &'a [TokenId],
    /// The length of each entry in bytes.
    lens: &'a [u32],
    text: &'a [u8],
    out: &'a mut Out<'o, S>,
    batch: [TokenId; BATCH_LEN],
    id_count: usize,
}

impl<'a, 'o, S: Sink> Sender<'a, 'o, S> {
    pub fn new(ids: &'a [TokenId], lens: &'a [u32], text: &'a [u8], out: &'a mut Out<'o, S>) -> Sender<'a, 'o, S> {
        Sender { ids, lens, text, out, batch: [TokenId(0); BATCH_LEN], id_count: 0 }
    }

    /// Sends the pending ids. Only a sink that receives only ids has pending ids.
    #[inline]
    pub fn flush(&mut self) -> Result<()> {
        if let Some(out) = S::by_ids(self.out) {
            out.write_ids(&self.batch[..self.id_count]);
        }
        self.id_count = 0;
        Ok(())
    }

    fn send_list_with_spans(&mut self, path: PackedPath, mut start: u32) -> Result<()> {
        for entry in (0..MAX_PATH_ENTRIES).map(|i| path.entry(i)).take_while(|&entry| entry != END) {
            let end = start + self.lens[entry as usize];
            self.out.write_segment(self.text, 0, Segment { id: self.id(entry), start, end })?;
            start = end;
        }
        Ok(())
    }

    #[inline]
    fn id(&self, entry: u32) -> TokenId {
        self.ids.get(entry as usize).copied().unwrap_or(TokenId::UNKNOWN)
    }
}

impl<S: Sink> Receiver for Sender<'_, '_, S> {
    type Offsets = ();

    #[inline]
    fn receive_pair(&mut self, pair: PathPair, start: u32, end: u32) -> Result<()> {
        if S::by_ids(self.out).is_none() {
            let middle = start + pair.first_len;
            let pieces = [(pair.ids[0], start, middle), (pair.ids[1], middle, end)];
            let mut pieces = pieces.into_iter().take(1 + pair.has_second as usize);
            return pieces
                .try_for_each(|(id, start, end)| self.out.write_segment(self.text, 0, Segment { id, start, end }));
        }
        if self.id_count + pair.ids.len() > BATCH_LEN {
            self.flush()?;
        }
        if let Some(id_slots) = self.batch[self.id_count..].first_chunk_mut() {
            *id_slots = pair.ids;
        }
        self.id_count += 1 + pair.has_second as usize;
        Ok(())
    }

    #[inline]
    fn receive_list(
        &mut self,
        path: PackedPath,
        ids: &[TokenId; MAX_PATH_ENTRIES],
        id_count: usize,
        start: u32,
    ) -> Result<()> {
        if S::by_ids(self.out).is_none() {
            return self.send_list_with_spans(path, start);
        }
        if self.id_count + MAX_PATH_ENTRIES > BATCH_LEN {
            self.flush()?;
        }
        if let Some(id_slots) = self.batch[self.id_count..].first_chunk_mut::<MAX_PATH_ENTRIES>() {
            *id_slots = *ids;
        }
        self.id_count += id_count;
        Ok(())
    }

    #[inline]
    fn receive_piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()> {
        if S::by_ids(self.out).is_none() {
            return self.out.write_segment(self.text, 0, Segment { id: self.id(entry), start, end });
        }
        if self.id_count == BATCH_LEN {
            self.flush()?;
        }
        self.batch[self.id_count] = self.id(entry);
        self.id_count += 1;
        Ok(())
    }

    #[inline]
    fn receive_unknown(&mut self, text: &[u8], start: u32) -> Result<()> {
        self.flush()?;
        self.out.write_unknown_run(text, start)
    }
}

/// Sends the pieces of a text before normalization, with their ends in this text.
pub(super) struct RawSender<'a, 'o> {
    pub sender: Sender<'a, 'o, Tiles>,
    /// The index of the first token whose end is in rewritten text.
    rewritten_from: usize,
}

impl<'a, 'o> RawSender<'a, 'o> {
    pub fn new(sender: Sender<'a, 'o, Tiles>) -> RawSender<'a, 'o> {
        RawSender { sender, rewritten_from: 0 }
    }
}

impl Receiver for RawSender<'_, '_> {
    type Offsets = Vec<u32>;

    fn begin_rewritten(&mut self, offsets: &Vec<u32>, from: usize) {
        let ends = &mut self.sender.out.sink.ends;
        self.rewritten_from = ends.len();
        // The normalizer has deleted the characters before the first offset, so the token before ends after them.
        let moved_end = offsets.first().filter(|&&offset| offset as usize > from);
        if let (Some(last), Some(offset)) = (ends.last_mut(), moved_end) {
            *last = offset + RAW_BASE;
        }
    }

    fn end_rewritten(&mut self, offsets: &Vec<u32>) {
        for end in &mut self.sender.out.sink.ends[self.rewritten_from..] {
            *end = offsets.get(*end as usize).map_or(*end, |offset| offset + RAW_BASE);
        }
    }

    #[inline]
    fn receive_pair(&mut self, pair: PathPair, start: u32, end: u32) -> Result<()> {
        self.sender.receive_pair(pair, start, end)
    }

    #[inline]
    fn receive_list(
        &mut self,
        path: PackedPath,
        ids: &[TokenId; MAX_PATH_ENTRIES],
        id_count: usize,
        start: u32,
    ) -> Result<()> {
        self.sender.receive_list(path, ids, id_count, start)
    }

    #[inline]
    fn receive_piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()> {
        self.sender.receive_piece(entry, start, end)
    }

    fn receive_unknown(&mut self, text: &[u8], start: u32) -> Result<()> {
        let token_count = self.sender.out.sink.ids.len();
        self.sender.receive_unknown(text, start)?;
        if self.sender.out.sink.ids.len() == token_count {
            // The last token became longer.
            self.rewritten_from = self.rewritten_from.min(token_count - 1);
        }
        Ok(())
    }
}
