//! A sink that stores ids.

use polytok_memory::Grow;

use crate::post::{IdSink, Out, Sink};
use crate::token_id::TokenId;

impl Sink for Vec<u32> {
    type Ids = Self;

    #[inline]
    fn by_ids<'o, 'a>(out: &'o mut Out<'a, Self>) -> Option<&'o mut Out<'a, Self>> {
        Some(out)
    }

    #[inline]
    fn push(&mut self, id: TokenId, _start: u32, _end: u32) {
        self.checked_push(id.0);
    }

    #[inline]
    fn insert(&mut self, ids: &[TokenId], _at: u32) {
        self.push_all(ids);
    }

    fn push_special(&mut self, id: TokenId, _text: &[u8], _start: u32, _end: u32) {
        self.checked_push(id.0);
    }
}

impl IdSink for Vec<u32> {
    #[inline]
    fn push_all(&mut self, ids: &[TokenId]) {
        self.checked_extend_from_slice(TokenId::numbers(ids));
    }
}
