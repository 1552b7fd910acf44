//! The names of the values of enums, which python/polytok/spec/ and `.ptok` files have as texts.

use super::{Behavior, Family, Form, Matching, Scheme, SentencePieceVersion, Symbols, Unknown};

/// A type whose values have names in `polytok.Spec`.
pub trait Named: Copy + 'static {
    /// Each name with its value.
    const NAMES: &'static [(&'static str, Self)];
}

impl Named for Matching {
    const NAMES: &'static [(&'static str, Matching)] =
        &[("longest", Matching::Longest), ("listed", Matching::Listed), ("longest_first", Matching::LongestFirst)];
}

impl Named for Unknown {
    const NAMES: &'static [(&'static str, Unknown)] =
        &[("error", Unknown::Error), ("unk", Unknown::Unk), ("bytes", Unknown::Bytes), ("drop", Unknown::Drop)];
}

impl Named for Form {
    const NAMES: &'static [(&'static str, Form)] =
        &[("NFC", Form::Nfc), ("NFD", Form::Nfd), ("NFKC", Form::Nfkc), ("NFKD", Form::Nfkd)];
}

impl Named for Behavior {
    const NAMES: &'static [(&'static str, Behavior)] = &[
        ("matches", Behavior::Matches),
        ("removed", Behavior::Removed),
        ("isolated", Behavior::Isolated),
        ("merged_with_previous", Behavior::MergedWithPrevious),
        ("merged_with_next", Behavior::MergedWithNext),
        ("contiguous", Behavior::Contiguous),
    ];
}

impl Named for Scheme {
    const NAMES: &'static [(&'static str, Scheme)] =
        &[("always", Scheme::Always), ("first", Scheme::First), ("never", Scheme::Never)];
}

impl Named for Symbols {
    const NAMES: &'static [(&'static str, Symbols)] = &[
        ("bytes", Symbols::Bytes),
        ("chars", Symbols::Chars),
        ("groups", Symbols::Groups),
        ("scalars", Symbols::Scalars),
    ];
}

impl Named for Family {
    const NAMES: &'static [(&'static str, Family)] = &[
        ("spm", Family::Spm),
        ("bpe", Family::Bpe),
        ("wpm", Family::Wpm),
        ("ugm", Family::Ugm),
        ("rwkv", Family::Rwkv),
        ("plamo2", Family::Plamo2),
    ];
}

impl Named for SentencePieceVersion {
    const NAMES: &'static [(&'static str, SentencePieceVersion)] =
        &[("0.2.1", SentencePieceVersion::V0_2_1), ("0.2.3", SentencePieceVersion::V0_2_3)];
}
