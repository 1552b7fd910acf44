//! llama2.c's `decode(prev, token)`: what a piece prints depends on the token before it.

use super::hex_byte;
use super::row_texts::Settled;
use crate::token_id::TokenId;

/// llama2.c's hard-wired BOS.
const BOS: TokenId = TokenId(1);

/// Appends a piece; the start of a sequence counts as after BOS, and a BOS there prints nothing.
pub(super) fn push(piece: &[u8], id: TokenId, last: &mut Option<TokenId>, out: &mut Vec<u8>) {
    let last = last.replace(id);
    if last.is_none() && id == BOS {
        return;
    }
    let after_bos = last.is_none_or(|last| last == BOS);
    let piece = piece.strip_prefix(b" ").filter(|_| after_bos).unwrap_or(piece);
    match hex_byte(piece) {
        Some(byte) => out.push(byte),
        None => out.extend_from_slice(piece),
    }
}

/// Whether what a piece prints does not depend on the token before it.
pub(super) fn is_settled(last: Option<TokenId>) -> bool {
    last.is_some_and(|last| last != BOS)
}

/// What a piece prints in a settled state.
pub(super) fn settled(piece: &[u8], id: TokenId) -> Settled<'_> {
    match hex_byte(piece) {
        _ if id == BOS => Settled::Depends,
        Some(byte) => Settled::Text(vec![byte].into()),
        None => Settled::Text(piece.into()),
    }
}
