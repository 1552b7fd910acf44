//! Standard base64 (RFC 4648, section 4). Reading is strict: the text must have padding, and must be exactly the
//! encoding of the result.

use polytok_memory::Grow;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The six bits of each character, or 0xFF for a byte outside of the alphabet.
const SIX_BITS: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut index = 0;
    while index < 64 {
        table[ALPHABET[index] as usize] = index as u8;
        index += 1;
    }
    table
};

/// Decodes strict base64 with padding into `bytes`. Returns `None` for any other text, including text whose padding
/// bits are not zero.
pub(super) fn decode(text: &[u8], bytes: &mut Vec<u8>) -> Option<()> {
    bytes.clear();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take(2).take_while(|&&byte| byte == b'=').count();
    let digits = &text[..text.len() - padding];
    for group in digits.chunks(4) {
        let mut bits = 0u32;
        for &digit in group {
            let six_bits = SIX_BITS[digit as usize];
            if six_bits == 0xFF {
                return None;
            }
            bits = bits << 6 | u32::from(six_bits);
        }
        bits <<= 6 * (4 - group.len());
        let [_, three @ ..] = bits.to_be_bytes();
        let (kept, dropped) = three.split_at(group.len() - 1);
        if dropped.iter().any(|&byte| byte != 0) {
            return None;
        }
        bytes.checked_extend_from_slice(kept);
    }
    Some(())
}

/// Appends the base64 of bytes, with padding, to `out`.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let mut padded = [0; 4];
        padded[1..=group.len()].copy_from_slice(group);
        let bits = u32::from_be_bytes(padded);
        for digit in 0..4 {
            let six_bits = (bits >> (18 - 6 * digit)) as usize & 63;
            out.checked_push(if digit <= group.len() { ALPHABET[six_bits] } else { b'=' });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_bytes_are_decoded_again() {
        for (bytes, text) in [(&b"!"[..], "IQ=="), (b"ab", "YWI="), (b"abc", "YWJj"), (&[0xFB, 0xFF, 0xFE], "+//+")] {
            let mut out = Vec::new();
            encode(bytes, &mut out);
            assert_eq!(out, text.as_bytes());
            let mut decoded_bytes = Vec::new();
            decode(&out, &mut decoded_bytes).unwrap();
            assert_eq!(decoded_bytes, bytes);
        }
    }
}
