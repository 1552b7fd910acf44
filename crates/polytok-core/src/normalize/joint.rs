//! Proves that normalization rewrites the text before an offset and the text after it independently.
//!
//! A [`Joint`] has the two characters next to the offset and the two characters around them. Each step rewrites these
//! characters, or refuses if its output could depend on more text. A step accepts if it rewrites character by character
//! there, and if nothing that it inserts, removes or replaces reaches over the offset: white space that is merged, a
//! mark that joins the character before it, a cluster of characters. Steps insert prefixes only at the start of a text;
//! callers handle them by [`Normalizer::changes_starts`].
//!
//! Refusing only loses an offset at which a text could be divided; it never changes ids.

use super::growth::limit;
use super::{NormalizeStep, Normalizer};
use crate::space_mark;

/// The characters around an offset, as texts that the steps of a pipeline rewrite.
#[derive(Clone, Debug)]
pub struct Joint {
    /// The character before `left`; empty at the start of the text, None if it is not known.
    pub before: Option<String>,
    /// The character before the offset.
    pub left: String,
    /// The character after the offset.
    pub right: String,
    /// The character after `right`; None if it is not known.
    pub after: Option<String>,
}

/// Reports whether a character neither joins an adjacent character nor changes with it: it is not a mark, not a jamo,
/// not part of a cluster, and no normalization removes it. The list is not complete; other characters are refused.
fn is_plain(c: char) -> bool {
    matches!(c,
        '\n' | '\t' | ' '..='~' | '\u{C0}'..='\u{24F}' | '\u{391}'..='\u{3A1}' | '\u{3B1}'..='\u{3C9}'
        | '\u{400}'..='\u{482}' | '\u{48A}'..='\u{52F}' | '\u{2010}'..='\u{2027}' | '\u{3001}' | '\u{3002}'
        | '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}'
        | '\u{FF01}'..='\u{FF0F}')
}

impl Joint {
    /// Returns the last character before the offset.
    pub fn left_char(&self) -> Option<char> {
        self.left.chars().next_back()
    }

    /// Returns the first character after the offset.
    pub fn right_char(&self) -> Option<char> {
        self.right.chars().next()
    }

    /// Reports whether the known characters around the two characters are plain.
    fn has_plain_surroundings(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.chars().next_back().is_none_or(is_plain))
            && self.after.as_ref().is_some_and(|after| after.chars().next().is_some_and(is_plain))
    }

    /// Rewrites each of the texts; returns false if a text next to the offset becomes empty or `rewrite` fails for it.
    pub fn rewrite(&mut self, rewrite: impl Fn(&str) -> Option<String>) -> bool {
        let rewrite_known = |text: Option<String>| match text {
            Some(text) if text.is_empty() => Some(text),
            Some(text) => rewrite(&text).filter(|text| !text.is_empty()),
            None => None,
        };
        self.before = rewrite_known(self.before.take());
        self.after = rewrite_known(self.after.take());
        let (left, right) = (rewrite_known(Some(self.left.clone())), rewrite_known(Some(self.right.clone())));
        match (left, right) {
            (Some(left), Some(right)) => {
                (self.left, self.right) = (left, right);
                true
            }
            _ => false,
        }
    }
}

impl Normalizer {
    /// Rewrites the characters around an offset as in every text that has these characters there; returns false if
    /// other text could have an effect.
    pub fn rewrite_joint(&self, joint: &mut Joint) -> bool {
        self.steps.iter().all(|step| step.rewrite_joint(joint))
    }

    /// Reports whether each of these characters stays plain text through all steps, so that [`Self::rewrite_joint`]
    /// returns the same for each of them as a character around a joint.
    pub fn keeps_plain(&self, mut chars: impl Iterator<Item = char>) -> bool {
        chars.all(|c| {
            let mut text = c.to_string();
            self.steps.iter().all(|step| {
                match step {
                    NormalizeStep::SentencePiece(step) if text.chars().any(|c| step.continues_key(c)) => return false,
                    NormalizeStep::SentencePiece(_)
                    | NormalizeStep::PrefixSpace
                    | NormalizeStep::Prepend(_)
                    | NormalizeStep::Strip(_)
                    | NormalizeStep::ReplaceInvalid(_)
                    | NormalizeStep::Ugm(_)
                    | NormalizeStep::Wpm(_) => {}
                    step => text = step.rewrite(&text).unwrap_or_default(),
                }
                !text.is_empty() && text.chars().all(is_plain)
            })
        })
    }

    /// Reports whether a step inserts or removes characters at the start of a text.
    pub fn changes_starts(&self) -> bool {
        let changes = |step: &NormalizeStep| {
            matches!(
                step,
                NormalizeStep::SentencePiece(_)
                    | NormalizeStep::PrefixSpace
                    | NormalizeStep::Prepend(_)
                    | NormalizeStep::Strip(_)
                    | NormalizeStep::Ugm(_)
                    | NormalizeStep::Wpm(_)
            )
        };
        self.steps.iter().any(changes)
    }
}

impl NormalizeStep {
    /// Returns the output of the step for a short text; None if the step fails.
    fn rewrite(&self, text: &str) -> Option<String> {
        let mut out = Vec::new();
        self.run(text.as_bytes(), limit(text.len()), &mut out).ok()?;
        String::from_utf8(out).ok()
    }

    fn rewrite_joint(&self, joint: &mut Joint) -> bool {
        let rewrite = |text: &str| self.rewrite(text);
        match self {
            NormalizeStep::PrefixSpace | NormalizeStep::Prepend(_) | NormalizeStep::ReplaceInvalid(_) => true,
            NormalizeStep::Strip(_) => !joint.left_char().is_none_or(char::is_whitespace),
            NormalizeStep::StripAccents(_)
            | NormalizeStep::Lowercase(_)
            | NormalizeStep::Nmt(_)
            | NormalizeStep::ByteLevel
            | NormalizeStep::Bert(_) => joint.rewrite(rewrite),
            NormalizeStep::Unicode(form) => {
                let is_local = joint.left.chars().chain(joint.right.chars()).all(|c| form.is_local(c));
                is_local && joint.has_plain_surroundings() && joint.rewrite(rewrite)
            }
            NormalizeStep::Precompiled(_) => {
                let is_plain = joint.left.chars().chain(joint.right.chars()).all(is_plain);
                is_plain && joint.has_plain_surroundings() && joint.rewrite(rewrite)
            }
            NormalizeStep::Replace(step) if step.replaces_runs_of_spaces() => joint.left_char() != Some(' '),
            NormalizeStep::Replace(step) => match step.literal() {
                Some(literal) if literal.chars().count() == 1 => joint.rewrite(rewrite),
                Some(literal) => !literal.chars().any(|c| joint.left.contains(c) || joint.right.contains(c)),
                None => false,
            },
            NormalizeStep::SentencePiece(step) => step.rewrite_joint(joint),
            NormalizeStep::Wpm(step) => {
                // White space becomes the U+0000 between words.
                let is_word = joint.left.chars().all(|c| c.is_ascii_alphanumeric());
                let is_end = is_word && joint.right == " ";
                if is_end && step.lowercases() {
                    joint.left.make_ascii_lowercase();
                }
                joint.right = "\0".to_string();
                is_end
            }
            NormalizeStep::Ugm(_) => false,
        }
    }
}

impl super::sentencepiece::SentencePieceNormalizer {
    /// Rewrites the characters around an offset. Each of them must be the start of a step of the normalizer, so that no
    /// rule reaches over the offset; and the text before the offset must not end with a space that is merged with the
    /// next space or removed at the end of a text.
    fn rewrite_joint(&self, joint: &mut Joint) -> bool {
        let Some(after) = joint.after.clone() else { return false };
        let starts_step = |text: &str| text.chars().all(|c| !self.continues_key(c));
        if self.adds_suffix() || ![&joint.left, &joint.right, &after].into_iter().all(|text| starts_step(text)) {
            return false;
        }
        let is_rewritten = joint.rewrite(|text| {
            let (output, consumed) = self.step(text.as_bytes());
            let output = std::str::from_utf8(output).ok().filter(|_| consumed == text.len())?;
            // A user-defined piece is copied, so with such pieces only copied characters are accepted.
            (output == text || !self.has_user_defined()).then(|| output.replace(' ', self.space_text()))
        });
        let ends_with_space = joint.left.ends_with(' ') || joint.left.ends_with(space_mark::TEXT);
        is_rewritten && !(self.merges_spaces() && ends_with_space)
    }
}
