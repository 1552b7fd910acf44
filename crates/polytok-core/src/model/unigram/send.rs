//! Paths of words on their way out.

use super::memo::{END, PATH, PackedPath};
use super::words::Receiver;
use crate::error::Result;
use crate::post::{Out, Sink};
use crate::segment::Segment;
use crate::token_id::TokenId;

/// Ids that are sent together.
const BATCH: usize = 256;

/// Sends pieces on: to a sink of ids alone many at a time.
pub(super) struct Sender<'a, 'o, S> {
    /// By entry, as the lengths are.
    ids: &'a [TokenId],
    lens: &'a [u32],
    text: &'a [u8],
    out: &'a mut Out<'o, S>,
    batch: [TokenId; BATCH],
    count: usize,
}

impl<'a, 'o, S: Sink> Sender<'a, 'o, S> {
    pub fn new(ids: &'a [TokenId], lens: &'a [u32], text: &'a [u8], out: &'a mut Out<'o, S>) -> Sender<'a, 'o, S> {
        Sender { ids, lens, text, out, batch: [TokenId(0); BATCH], count: 0 }
    }

    /// Sends the ids that are left. Only a sink of ids alone has any.
    #[inline]
    pub fn flush(&mut self) -> Result<()> {
        if let Some(out) = S::by_ids(self.out) {
            out.take_ids(&self.batch[..self.count]);
        }
        self.count = 0;
        Ok(())
    }

    fn path_with_spans(&mut self, path: PackedPath, mut start: u32) -> Result<()> {
        for entry in (0..PATH).map(|i| path.entry(i)).take_while(|&entry| entry != END) {
            let end = start + self.lens[entry as usize];
            self.out.take(self.text, 0, Segment { id: self.id(entry), start, end })?;
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
    fn known(&mut self, path: PackedPath, ids: &[TokenId; PATH], count: usize, start: u32) -> Result<()> {
        if S::by_ids(self.out).is_none() {
            return self.path_with_spans(path, start);
        }
        if self.count + PATH > BATCH {
            self.flush()?;
        }
        if let Some(room) = self.batch[self.count..].first_chunk_mut::<PATH>() {
            *room = *ids;
        }
        self.count += count;
        Ok(())
    }

    #[inline]
    fn piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()> {
        if S::by_ids(self.out).is_none() {
            return self.out.take(self.text, 0, Segment { id: self.id(entry), start, end });
        }
        if self.count == BATCH {
            self.flush()?;
        }
        self.batch[self.count] = self.id(entry);
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn unknown(&mut self, text: &[u8], start: u32) -> Result<()> {
        self.flush()?;
        self.out.take_unknown_run(text, start)
    }
}
