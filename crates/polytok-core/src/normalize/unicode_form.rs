//! Unicode normalization: NFC, NFD, NFKC, NFKD.
//!
//! Reference: Hugging Face's normalizers of these names, which run the crate used here: its Unicode version is 9.0, so
//! characters of later versions stay. It also says which characters each character stands for.
//!
//! Characters that are starters, pass the quick check and never join the one before them are kept in runs; what lies
//! between such runs, with the character before it, is normalized on its own. Cost: linear but for the sorting of
//! combining marks; worst input: all combining marks.

use unicode_normalization_alignments::char::{canonical_combining_class, decompose_canonical, decompose_compatible};
use unicode_normalization_alignments::{IsNormalized, UnicodeNormalization, is_nfc_quick, is_nfkc_quick};

use super::output::Output;
use super::transform::Transform;
use super::unchanged::Unchanged;
use crate::spec::Form;

/// A compiled step.
pub struct UnicodeForm {
    form: Form,
    unchanged: Unchanged,
}

impl UnicodeForm {
    /// Compiles a step.
    pub fn compile(form: Form) -> UnicodeForm {
        UnicodeForm { form, unchanged: Unchanged::new(move |c| stays(form, c)) }
    }

    /// Whether a character stays as it is beside others of which that is true.
    pub fn leaves(&self, c: char) -> bool {
        stays(self.form, c)
    }

    /// Writes the normal form of `text`.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let composes = matches!(self.form, Form::Nfc | Form::Nfkc);
        self.unchanged.rewrite(text, out, composes, |from, to, out| {
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

fn stays(form: Form, c: char) -> bool {
    canonical_combining_class(c) == 0
        && match form {
            Form::Nfc => is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes,
            Form::Nfkc => is_nfkc_quick(std::iter::once(c)) == IsNormalized::Yes,
            Form::Nfd => is_canonical(c),
            Form::Nfkd => is_itself(|push| decompose_compatible(c, push), c),
        }
}

/// Its canonical decomposition is the character itself.
pub(super) fn is_canonical(c: char) -> bool {
    is_itself(|push| decompose_canonical(c, push), c)
}

fn is_itself(decompose: impl FnOnce(&mut dyn FnMut(char)), c: char) -> bool {
    let mut same = true;
    decompose(&mut |part| same &= part == c);
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::output::{Aligned, spans_of};
    use proptest::prelude::*;

    fn whole(form: Form, text: &str) -> String {
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
        let spans = spans_of("xe\u{301}y".as_bytes());
        let mut out = Aligned::new(&spans);
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
                prop_assert_eq!(String::from_utf8(out).unwrap(), whole(form, &text));
            }
        }
    }
}
