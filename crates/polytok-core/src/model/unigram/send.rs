//! Paths of words on their way out.

use super::memo::{END, PATH, Path};
use super::words::Receiver;
use crate::error::Result;
use crate::model::{Segment, UNKNOWN};
use crate::post::{Out, Sink};

/// Ids that wait to be sent.
const WAITING: usize = 256;

/// Sends pieces to a sink, those from memory many at a time.
pub(super) struct Sender<'a, 'o, S> {
    /// By entry, as the lengths are.
    ids: &'a [u32],
    lens: &'a [u32],
    out: &'a mut Out<'o, S>,
    waiting: [u32; WAITING],
    count: usize,
}

impl<'a, 'o, S: Sink> Sender<'a, 'o, S> {
    pub fn new(ids: &'a [u32], lens: &'a [u32], out: &'a mut Out<'o, S>) -> Sender<'a, 'o, S> {
        Sender { ids, lens, out, waiting: [0; WAITING], count: 0 }
    }

    #[inline]
    pub fn flush(&mut self) {
        self.out.take_cached(&self.waiting[..self.count]);
        self.count = 0;
    }

    fn known_pieces(&mut self, path: Path, mut start: u32) -> Result<()> {
        for entry in (0..PATH).map(|i| path.entry(i)).take_while(|&entry| entry != END) {
            let end = start + self.lens[entry as usize];
            self.out.take(0, Segment { id: self.id(entry), start, end })?;
            start = end;
        }
        Ok(())
    }

    #[inline]
    fn id(&self, entry: u32) -> u32 {
        self.ids.get(entry as usize).copied().unwrap_or(UNKNOWN)
    }
}

impl<S: Sink> Receiver for Sender<'_, '_, S> {
    #[inline]
    fn known(&mut self, path: Path, ids: &[u32; PATH], count: usize, start: u32) -> Result<()> {
        if S::SPANS {
            return self.known_pieces(path, start);
        }
        if self.count + PATH > WAITING {
            self.flush();
        }
        if let Some(room) = self.waiting[self.count..].first_chunk_mut::<PATH>() {
            *room = *ids;
        }
        self.count += count;
        Ok(())
    }

    #[inline]
    fn piece(&mut self, entry: u32, start: u32, end: u32) -> Result<()> {
        if S::SPANS {
            return self.out.take(0, Segment { id: self.id(entry), start, end });
        }
        if self.count == WAITING {
            self.flush();
        }
        self.waiting[self.count] = self.id(entry);
        self.count += 1;
        Ok(())
    }

    #[inline]
    fn unknown(&mut self, text: &[u8], start: u32) -> Result<()> {
        self.flush();
        self.out.take_unknown_run(text, start)
    }
}
