//! Sends the paths of words to the output.

use super::memo::{END, MAX_PATH_ENTRIES, PackedPath, PathPair};
use super::words::Receiver;
use crate::error::Result;
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
