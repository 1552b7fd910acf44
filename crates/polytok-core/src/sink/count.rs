//! A sink that counts ids.

use crate::post::{IdSink, Out, Sink};
use crate::token_id::TokenId;

/// The number of ids received; the ids are not stored.
pub struct Count(pub usize);

impl Sink for Count {
    type Ids = Self;

    #[inline]
    fn by_ids<'o, 'a>(out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Self>> {
        Some(out)
    }

    #[inline]
    fn push(&mut self, _id: TokenId, _start: u32, _end: u32) {
        self.0 += 1;
    }

    #[inline]
    fn insert(&mut self, ids: &[TokenId], _at: u32) {
        self.push_all(ids);
    }

    fn push_special(&mut self, _id: TokenId, _text: &[u8], _start: u32, _end: u32) {
        self.0 += 1;
    }
}

impl IdSink for Count {
    #[inline]
    fn push_all(&mut self, ids: &[TokenId]) {
        self.0 += ids.len();
    }
}
