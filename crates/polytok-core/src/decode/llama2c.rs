//! llama2.c's `decode(prev, token)`: the text of a piece depends on the token before it.

use super::hex_byte;
use super::row_texts::Settled;
use crate::token_id::TokenId;

/// The id of llama2.c's beginning-of-sequence token, which is fixed.
const BOS: TokenId = TokenId(1);

/// Appends a piece. The first id is decoded as if BOS preceded it, and a BOS as the first id prints nothing.
pub(super) fn push(piece: &[u8], id: TokenId, last_id: &mut Option<TokenId>, out: &mut Vec<u8>) {
    let last_id = last_id.replace(id);
    if last_id.is_none() && id == BOS {
        return;
    }
    let is_after_bos = last_id.is_none_or(|last_id| last_id == BOS);
    let piece = piece.strip_prefix(b" ").filter(|_| is_after_bos).unwrap_or(piece);
    match hex_byte(piece) {
        Some(byte) => out.push(byte),
        None => out.extend_from_slice(piece),
    }
}

/// Reports whether the text of the next piece is independent of the token before it.
pub(super) fn is_settled(last_id: Option<TokenId>) -> bool {
    last_id.is_some_and(|last_id| last_id != BOS)
}

/// Returns the text of a piece in a settled state.
pub(super) fn settled_text(piece: &[u8], id: TokenId) -> Settled<'_> {
    match hex_byte(piece) {
        _ if id == BOS => Settled::Depends,
        Some(byte) => Settled::Text(vec![byte].into()),
        None => Settled::Text(piece.into()),
    }
}
