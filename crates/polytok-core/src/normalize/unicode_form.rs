//! Unicode normalization: NFC, NFD, NFKC, NFKD.
//!
//! Reference: Hugging Face's normalizers of these names, which use the same crate as this step. The crate has Unicode
//! 9.0, so characters of later versions stay unchanged. The crate also returns a change for each character (see
//! `transform`).
//!
//! Characters that are starters, pass the quick check and never join the character before them are kept in runs. The
//! text between two runs is normalized independently, together with the character before it. Cost: linear, except for
//! the sorting of combining marks; worst input: all combining marks.

use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical, decompose_compatible};
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::output::Output;
use super::transform::Transform;
use super::unchanged::Unchanged;
use crate::spec::Form;

/// The compiled step.
pub struct UnicodeForm {
    form: Form,
    unchanged: Unchanged,
}

impl UnicodeForm {
    /// Compiles a step.
    pub fn compile(form: Form) -> UnicodeForm {
        UnicodeForm { form, unchanged: Unchanged::new(move |c| is_kept(form, c)) }
    }

    /// Reports whether a character is local: its normal form is the same between any local characters, because no mark
    /// moves across local characters and local characters do not compose with each other.
    pub fn is_local(&self, c: char) -> bool {
        let mut first = None;
        let mut push = |part| first = first.or(Some(part));
        match self.form {
            Form::Nfc | Form::Nfd => decompose_canonical(c, &mut push),
            Form::Nfkc | Form::Nfkd => decompose_compatible(c, &mut push),
        }
        let starts = |first: char| match self.form {
            Form::Nfd | Form::Nfkd => canonical_combining_class(first) == 0,
            Form::Nfc | Form::Nfkc => is_kept(self.form, first) && self.compose(c).all(|part| is_kept(self.form, part)),
        };
        first.is_some_and(starts)
    }

    /// Reports whether the form only decomposes characters and sorts marks.
    pub fn decomposes(&self) -> bool {
        matches!(self.form, Form::Nfd | Form::Nfkd)
    }

    /// Returns the composed normal form of a character.
    fn compose(&self, c: char) -> impl Iterator<Item = char> {
        let c = std::iter::once(c);
        let is_compatible = self.form == Form::Nfkc;
        let canonical = (!is_compatible).then(|| c.clone().nfc());
        let compatible = is_compatible.then(|| c.nfkc());
        canonical.into_iter().flatten().chain(compatible.into_iter().flatten()).map(|(part, _)| part)
    }

    /// Reports whether the step keeps each character of `text`.
    pub fn keeps(&self, text: &str) -> bool {
        let is_composed_form = matches!(self.form, Form::Nfc | Form::Nfkc);
        self.unchanged.keeps(text, is_composed_form, |part| {
            let chars = part.chars().map(|c| (c, 0));
            match self.form {
                Form::Nfc => part.nfc().eq(chars),
                Form::Nfd => part.nfd().eq(chars),
                Form::Nfkc => part.nfkc().eq(chars),
                Form::Nfkd => part.nfkd().eq(chars),
            }
        })
    }

    /// Writes the normal form of `text`.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let is_composed_form = matches!(self.form, Form::Nfc | Form::Nfkc);
        self.unchanged.rewrite(text, out, is_composed_form, |from, to, out| {
            let mut writer = Transform::new(text, from, out);
            let mut push = |(c, change)| writer.push(c, change);
            match self.form {
                Form::Nfc => text[from..to].nfc().for_each(&mut push),
                Form::Nfd => text[from..to].nfd().for_each(&mut push),
                Form::Nfkc => text[from..to].nfkc().for_each(&mut push),
                Form::Nfkd => text[from..to].nfkd().for_each(&mut push),
            }
        });
    }
}

/// Reports whether `form` keeps a character if the characters before and after it are kept too.
fn is_kept(form: Form, c: char) -> bool {
    canonical_combining_class(c) == 0
        && match form {
            Form::Nfc => is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes,
            Form::Nfkc => is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes,
            Form::Nfd => is_canonical(c),
            Form::Nfkd => is_own_decomposition(|push| decompose_compatible(c, push), c),
        }
}

/// Reports whether the canonical decomposition of a character is the character itself.
pub(super) fn is_canonical(c: char) -> bool {
    is_own_decomposition(|push| decompose_canonical(c, push), c)
}

/// Reports whether `decompose` calls the given function only with `c`.
fn is_own_decomposition(decompose: impl FnOnce(&mut dyn FnMut(char)), c: char) -> bool {
    let mut is_same = true;
    decompose(&mut |part| is_same &= part == c);
    is_same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::output::{AlignedOutput, char_spans};
    use proptest::prelude::*;

    fn normalize_without_runs(form: Form, text: &str) -> String {
        match form {
            Form::Nfc => text.nfc().map(|(c, _)| c).collect(),
            Form::Nfd => text.nfd().map(|(c, _)| c).collect(),
            Form::Nfkc => text.nfkc().map(|(c, _)| c).collect(),
            Form::Nfkd => text.nfkd().map(|(c, _)| c).collect(),
        }
    }

    #[test]
    fn spans_follow_the_characters() {
        let form = UnicodeForm::compile(Form::Nfc);
        let spans = char_spans("xe\u{301}y".as_bytes());
        let mut out = AlignedOutput::new(&spans);
        form.apply("xe\u{301}y", &mut out);
        assert_eq!(out.text, "xéy".as_bytes());
        assert_eq!(out.spans, [(0, 1), (1, 2), (1, 2), (4, 5)]);
    }

    proptest! {
        #[test]
        fn runs_do_not_change_the_result(
            text in "([a-zA-Z]|[\u{300}-\u{345}]|[éﬁộ한각ᄀ-나-ᅣᆨ-ᆪ가]|\u{F73}|\u{F71}|\u{FB1D}|\u{9BE}|\u{9C7}|\u{1D15E}){0,12}"
        ) {
            for form in [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd] {
                let mut out = Vec::new();
                UnicodeForm::compile(form).apply(&text, &mut out);
                prop_assert_eq!(String::from_utf8(out).unwrap(), normalize_without_runs(form, &text));
            }
        }
    }
}
