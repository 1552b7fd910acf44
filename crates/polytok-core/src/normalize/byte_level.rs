//! Replaces every byte by the visible character that GPT-2's table has for it.
//!
//! Reference: Hugging Face's ByteLevel. Each visible character gets the span of the whole character whose byte it
//! replaces. Printable ASCII is kept in runs. Cost: linear.

use polytok_memory::Grow;

use super::output::Output;
use crate::byte_level::char_of;

/// The byte-level step, which has no options.
pub struct ByteLevel;

impl ByteLevel {
    /// Writes a character for each byte of `text[start..end]`, which need not be UTF-8.
    pub fn apply<O: Output>(&self, text: &[u8], (start, end): (usize, usize), out: &mut O) {
        let mut at = start;
        while at < end {
            let run = text[at..end].iter().take_while(|byte| byte.is_ascii_graphic()).count();
            if run > 0 {
                out.keep(text, at, at + run);
                at += run;
            } else {
                out.change(char_of(text[at]).encode_utf8(&mut [0; 2]).as_bytes(), at);
                at += 1;
            }
        }
    }

    /// Appends the rewritten pieces of `text` to `out`, and replaces the range of each piece by its range in `out`.
    pub fn append_pieces(text: &[u8], pieces: &mut [(u32, u32)], out: &mut Vec<u8>) {
        for (start, end) in pieces {
            let piece = &text[*start as usize..*end as usize];
            *start = out.len() as u32;
            if piece.iter().all(u8::is_ascii_graphic) {
                out.checked_extend_from_slice(piece);
            } else {
                piece
                    .iter()
                    .for_each(|&byte| out.checked_extend_from_slice(char_of(byte).encode_utf8(&mut [0; 2]).as_bytes()));
            }
            *end = out.len() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_appended_as_the_step_writes_them(
            text in "([!-~]|[ \n\u{7F}é世\u{AD}😀]){0,40}",
            starts in prop::collection::btree_set(0usize..40, 0..8),
        ) {
            let starts: Vec<usize> = starts.into_iter().filter(|&at| at < text.len()).collect();
            let ends = starts.iter().skip(1).copied().chain([text.len()]);
            let mut pieces: Vec<_> = starts.iter().zip(ends).map(|(&start, end)| (start as u32, end as u32)).collect();
            let (mut out, mut expected) = (b"kept".to_vec(), b"kept".to_vec());
            let ranges: Vec<_> = pieces.iter().map(|&(start, end)| {
                let from = expected.len() as u32;
                ByteLevel.apply(text.as_bytes(), (start as usize, end as usize), &mut expected);
                (from, expected.len() as u32)
            }).collect();
            ByteLevel::append_pieces(text.as_bytes(), &mut pieces, &mut out);
            prop_assert_eq!((out, pieces), (expected, ranges));
        }
    }
}
