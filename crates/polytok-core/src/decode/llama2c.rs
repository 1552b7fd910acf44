//! llama2.c's `decode(prev, token)`: the text of a token depends on whether the previous token is BOS.

use polytok_memory::Grow;

use super::hex_byte;
use super::row_texts::SettledOutput;
use crate::token_id::TokenId;

/// The id of llama2.c's beginning-of-sequence token, which is fixed.
const BOS: TokenId = TokenId(1);

/// Appends the text of an id. The first id is decoded as if BOS were before it; if the first id is BOS, it prints
/// nothing.
pub(super) fn push(piece: &[u8], id: TokenId, previous_id: &mut Option<TokenId>, out: &mut Vec<u8>) {
    let previous_id = previous_id.replace(id);
    if previous_id.is_none() && id == BOS {
        return;
    }
    let is_after_bos = previous_id.is_none_or(|previous_id| previous_id == BOS);
    let piece = piece.strip_prefix(b" ").filter(|_| is_after_bos).unwrap_or(piece);
    match hex_byte(piece) {
        Some(byte) => out.checked_push(byte),
        None => out.checked_extend_from_slice(piece),
    }
}

/// Reports whether the previous token is not BOS, so that the next id prints its usual text.
pub(super) fn is_settled(previous_id: Option<TokenId>) -> bool {
    previous_id.is_some_and(|previous_id| previous_id != BOS)
}

/// Returns the text of an id after a token other than BOS.
pub(super) fn settled_text(piece: &[u8], id: TokenId) -> SettledOutput<'_> {
    match hex_byte(piece) {
        _ if id == BOS => SettledOutput::Depends,
        Some(byte) => SettledOutput::Text(vec![byte].into()),
        None => SettledOutput::Text(piece.into()),
    }
}
