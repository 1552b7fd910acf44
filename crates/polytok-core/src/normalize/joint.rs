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
use super::{NormalizeStep, Normalizer, precompiled};
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

/// Reports whether a character is one of those that normalization usually keeps, and that never join another
/// character: the ASCII characters except controls, and the letters in which GPT-2's table writes spaces and controls.
fn is_plain(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{100}'..='\u{17F}')
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

    /// Reports whether all characters are known and have a property; the start of the text counts as one.
    fn all(&self, has: impl Fn(char) -> bool) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        [before, &self.left, &self.right, after].iter().all(|text| text.chars().all(&has))
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
            NormalizeStep::Unicode(form) => joint.all(|c| form.is_local(c)) && joint.rewrite(rewrite),
            NormalizeStep::Precompiled(_) => {
                joint.all(precompiled::Precompiled::is_plain_char) && joint.rewrite(rewrite)
            }
            NormalizeStep::Replace(step) if step.replaces_runs_of_spaces() => {
                // A run of white space that starts after the offset becomes a space.
                let is_start = !joint.left_char().is_none_or(char::is_whitespace);
                is_start && joint.rewrite(|text| Some(text.replace(char::is_whitespace, " ")))
            }
            NormalizeStep::Replace(step) => match step.literal() {
                Some(literal) if literal.chars().count() == 1 => joint.rewrite(rewrite),
                Some(literal) => !literal.chars().any(|c| joint.left.contains(c) || joint.right.contains(c)),
                None => false,
            },
            NormalizeStep::SentencePiece(step) => step.rewrite_joint(joint),
            NormalizeStep::Wpm(step) => {
                let words = joint.left_char().zip(joint.right_char());
                let Some((left, right)) = words.and_then(|(left, right)| step.word_end(left, right)) else {
                    return false;
                };
                (joint.left, joint.right) = (left, right);
                true
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
