//! Ids alone.

use crate::post::{IdSink, Out, Sink};

impl Sink for Vec<u32> {
    type Ids = Self;

    #[inline]
    fn by_ids<'o, 'a>(out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Self>> {
        Some(out)
    }

    #[inline]
    fn push(&mut self, id: u32, _start: u32, _end: u32) {
        Vec::push(self, id);
    }

    #[inline]
    fn insert(&mut self, ids: &[u32], _at: u32) {
        self.push_all(ids);
    }

    fn special(&mut self, id: u32, _text: &[u8], _start: u32, _end: u32) {
        Vec::push(self, id);
    }
}

impl IdSink for Vec<u32> {
    #[inline]
    fn push_all(&mut self, ids: &[u32]) {
        self.extend_from_slice(ids);
    }
}
