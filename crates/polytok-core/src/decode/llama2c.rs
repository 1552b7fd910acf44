//! llama2.c's `decode(prev, token)`: what a piece prints depends on the token before it.

use super::hex_byte;

/// llama2.c's hard-wired BOS.
const BOS: u32 = 1;

/// Appends a piece; the start of a sequence counts as after BOS, and a BOS there prints nothing.
pub(super) fn push(piece: &[u8], id: u32, last: &mut Option<u32>, out: &mut Vec<u8>) {
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
