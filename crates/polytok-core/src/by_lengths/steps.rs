//! The spans of texts in which user-defined pieces are runs of spaces, as in Grok-1.
//!
//! SentencePiece's normalizer matches such a piece in one step, and then writes each of its spaces as U+2581. The model
//! does not find the piece any more, because it searches for spaces, so a token can end inside of the step. All bytes
//! of a step have the offset at which the step begins, and so has the end of this token: the token that follows starts
//! there, and the token itself can be empty.
//!
//! Precondition: all user-defined pieces that have a space consist of spaces, so a step begins where a run of spaces
//! begins. Cost: linear in the text.

use crate::trie::Trie;

/// Moves each end inside of a step to the start of this step. `ends` are the ends of adjacent tokens.
pub(super) fn move_ends_to_steps(pieces: &Trie, text: &[u8], ends: &mut [u32]) {
    let (mut step_start, mut step_end) = (0, 0);
    for end in ends {
        let at = *end as usize;
        if !is_inside_run(text, at) {
            continue;
        }
        if step_end <= at {
            step_end = at - text[step_end..at].iter().rev().take_while(|&&byte| byte == b' ').count();
        }
        while step_end <= at {
            step_start = step_end;
            step_end += pieces.longest_prefix(&text[step_end..]).map_or(1, |(len, _)| len);
        }
        *end = step_start as u32;
    }
}

/// Reports whether there is a space before `at` and a space after it.
#[inline]
fn is_inside_run(text: &[u8], at: usize) -> bool {
    text.get(at) == Some(&b' ') && at.checked_sub(1).is_some_and(|before| text[before] == b' ')
}
