//! Compares the normalizer with results of the reference and with a naive implementation.

use super::super::charsmap::tests::blob;
use super::*;
use proptest::prelude::*;

/// A few rules of `nmt_nfkc` and one rule of `nfkc`.
const RULES: &[(&str, &str)] = &[
    ("\u{1}", ""),
    ("\t", " "),
    ("\n", " "),
    ("\u{FFFD}", " "),
    ("Ａ", "A"),
    ("\u{A8}", " \u{308}"),
    ("™", "TM"),
    ("a\u{302}", "â"),
    ("か\u{3099}", "が"),
];

struct Case(SentencePieceNormalize, Option<Arc<Trie>>);

/// Returns a case with the options whose letters are in `flags`: d(ummy prefix), r(emove spaces), e(scape), s(uffix),
/// m(ap of `RULES`).
fn case(flags: &str) -> Case {
    let has = |flag| flags.contains(flag);
    let spec = SentencePieceNormalize {
        charsmap: if has('m') { blob(RULES) } else { Vec::new() },
        add_dummy_prefix: has('d'),
        remove_extra_whitespaces: has('r'),
        escape_whitespaces: has('e'),
        whitespace_as_suffix: has('s'),
    };
    Case(spec, None)
}

impl Case {
    fn with_pieces(self, pieces: &[&str]) -> Case {
        Case(self.0, Some(Arc::new(Trie::build(pieces.iter().map(|piece| piece.as_bytes()).zip(0..)).unwrap())))
    }

    /// Returns the output with `▁` written as `_`, and the offset of each of its characters and of its end.
    fn run(&self, text: impl AsRef<[u8]>) -> (String, Vec<u32>) {
        let normalizer =
            SentencePieceNormalizer::compile(self.0.clone(), self.1.clone(), SentencePieceVersion::V0_2_3).unwrap();
        let (mut plain, mut out, mut offsets) = (Vec::new(), Vec::new(), Vec::new());
        normalizer.normalize(text.as_ref(), &mut plain);
        normalizer.normalize_with_offsets(text.as_ref(), &mut out, &mut offsets);
        assert_eq!(plain, out);
        let out = String::from_utf8(out).unwrap();
        let at_chars = out.char_indices().map(|(i, _)| i).chain([out.len()]);
        let at_chars = at_chars.filter_map(|i| offsets.get(i).copied()).collect();
        (out.replace('▁', "_"), at_chars)
    }
}

#[test]
fn spaces_and_offsets_are_those_of_the_reference() {
    let rows: &[(&str, &str, &str, &[u32])] = &[
        ("mdre", "  a ", "_a", &[2, 2, 3]),
        ("mdre", "a  b  ", "_a_b", &[0, 0, 1, 3, 4]),
        ("mdre", "a \u{1} b", "_a_b", &[0, 0, 1, 4, 5]),
        ("mdre", "\u{1}a", "_a", &[0, 1, 2]),
        ("mdre", "\u{1}", "", &[0]),
        ("mde", "  a ", "___a_", &[0, 0, 1, 2, 3, 4]),
        ("mdres", "  a ", "a_", &[2, 3, 3]),
        ("mdre", "\u{A8}a", "_\u{308}a", &[0, 0, 2, 3]),
        ("re", "a▁", "a", &[0, 1]),
        ("re", "a▁▁", "a", &[0, 1]),
        ("re", "▁a", "_a", &[0, 3, 4]),
        ("mdre", "", "", &[]),
        ("mdre", "   ", "", &[]),
        ("mdre", "\t\n", "", &[]),
        ("de", " a", "__a", &[0, 0, 1, 2]),
        ("d", "a b", " a b", &[0, 0, 1, 2, 3]),
        ("mre", "a™b", "aTMb", &[0, 1, 1, 4, 5]),
        ("mre", "xa\u{302}か\u{3099}", "xâが", &[0, 1, 4, 10]),
        ("dres", "▁a", "_a_", &[0, 3, 4, 4]),
    ];
    for &(flags, text, normalized, offsets) in rows {
        assert_eq!(case(flags).run(text), (normalized.to_string(), offsets.to_vec()), "{flags} {text:?}");
    }
}

#[test]
fn characters_are_copied_unless_a_step_changes_them() {
    let Case(spec, pieces) = case("mdre").with_pieces(&["xy"]);
    let normalizer = SentencePieceNormalizer::compile(spec, pieces, SentencePieceVersion::V0_2_3).unwrap();
    let copies = |text: &[u8]| normalizer.copies_chars(text, 0, text.len());
    for copied in ["", "ab", "é世😀", "▁", "x", "a\u{301}"] {
        assert!(copies(copied.as_bytes()), "{copied:?}");
    }
    for changed in [&b"a b"[..], b"\xFF", b"a\xE3\x81", b"axy", "™".as_bytes(), "a\u{302}".as_bytes(), b"a\x01"] {
        assert!(!copies(changed), "{changed:?}");
    }
    assert!(!normalizer.copies_chars("a\u{302}".as_bytes(), 0, 1), "a key that ends later");
}

#[test]
fn invalid_bytes_are_replaced_and_not_rewritten_again() {
    assert_eq!(case("mre").run(b"a\xFFb"), ("a\u{FFFD}b".into(), vec![0, 1, 2, 3]));
    assert_eq!(case("mre").run("a\u{FFFD}b"), ("a_b".into(), vec![0, 1, 4, 5]));
    for bytes in [&b"\xE3\x81"[..], b"\xF0\x9F\x98", b"\xED\xA0\x80"] {
        assert_eq!(case("").run(bytes).0, "\u{FFFD}".repeat(bytes.len()));
    }
}

#[test]
fn user_defined_pieces_are_not_rewritten() {
    let pieces = ["\n", "Ａ", "a b", "か"];
    assert_eq!(case("mre").with_pieces(&pieces).run("a\nbＡ").0, "a\nbＡ");
    assert_eq!(case("mre").run("a\nbＡ").0, "a_bA");
    assert_eq!(case("mre").with_pieces(&pieces).run("xa b").0, "xa_b");
    assert_eq!(case("mre").with_pieces(&pieces).run("か\u{3099}").0, "か\u{3099}");
    // A user-defined piece of one ASCII byte is copied even if a key starts with that byte.
    assert_eq!(case("mre").with_pieces(&["a"]).run("xa\u{302}").0, "xa\u{302}");
    assert_eq!(case("mre").with_pieces(&["\u{302}"]).run("xa\u{302}").0, "xâ");
}

/// Normalizes as the reference does, step by step and byte by byte, without runs.
fn normalize_by_steps(normalizer: &SentencePieceNormalizer, text: &[u8]) -> (Vec<u8>, Vec<u32>) {
    let (mut out, mut map, mut at) = (Vec::new(), Vec::new(), normalizer.leading_spaces(text));
    if at == text.len() {
        return (out, map);
    }
    let mut write = |out: &mut Vec<u8>, byte: u8, at: usize| {
        let bytes = if byte == b' ' { normalizer.space } else { &[byte] };
        out.extend_from_slice(bytes);
        map.extend(bytes.iter().map(|_| at as u32));
    };
    if normalizer.add_dummy_prefix && !normalizer.whitespace_as_suffix {
        write(&mut out, b' ', at);
    }
    let mut after_space = normalizer.remove_extra_whitespaces;
    while at < text.len() {
        let (mut step, consumed) = normalizer.step(&text[at..]);
        while after_space && step.starts_with(b" ") {
            step = &step[1..];
        }
        step.iter().for_each(|&byte| write(&mut out, byte, at));
        after_space = if step.is_empty() { after_space } else { step.ends_with(b" ") };
        after_space &= normalizer.remove_extra_whitespaces;
        at += consumed;
    }
    while normalizer.remove_extra_whitespaces && out.ends_with(normalizer.space) {
        out.truncate(out.len() - normalizer.space.len());
        at = map[out.len()] as usize;
        map.truncate(out.len());
    }
    if normalizer.add_dummy_prefix && normalizer.whitespace_as_suffix {
        out.extend_from_slice(normalizer.space);
        map.extend(normalizer.space.iter().map(|_| at as u32));
    }
    map.push(at as u32);
    (out, map)
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        proptest::sample::select(vec![
            "a", "a\u{302}", " ", "  ", "▁", "\u{1}", "\t", "か", "\u{3099}", "™", "\u{A8}", "\u{302}", "word", "\0"
        ])
        .prop_map(|part| part.as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 1..4),
    ];
    proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn runs_agree_with_steps(text in texts(), flags in 0..32u32, with_pieces in any::<bool>()) {
        let letters = "mdres".chars().enumerate();
        let flags: String = letters.filter(|(i, _)| flags >> i & 1 != 0).map(|(_, letter)| letter).collect();
        let case = case(&flags);
        let case = if with_pieces { case.with_pieces(&["a", "wo", " a", "か", "\u{302}", "\t"]) } else { case };
        let normalizer = SentencePieceNormalizer::compile(case.0, case.1, SentencePieceVersion::V0_2_3).unwrap();
        let (mut out, mut offsets) = (b"before".to_vec(), vec![7]);
        normalizer.normalize_with_offsets(&text, &mut out, &mut offsets);
        let (expected, map) = normalize_by_steps(&normalizer, &text);
        prop_assert_eq!(&out[6..], &expected[..]);
        prop_assert_eq!(&offsets[1..], &map[..]);
    }
}
