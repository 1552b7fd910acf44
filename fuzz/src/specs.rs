//! Builds random Specs, small enough that thousands of them are compiled in a second.

use std::sync::OnceLock;

use polytok_core::spec::{
    Behavior, Decode, DecodeStep, Family, Form, Kind, Matching, Model, Normalize, Pattern, Priority, Replace,
    ScalarRules, Scheme, SentencePieceNormalize, SentencePieceVersion, Spec, SpecialToken, Split, Symbols,
    TemplatePart, TrimOffsets, UnigramRules, Unknown, VocabColumns,
};
use polytok_core::token_id::TokenId;

use crate::choices::Choices;

/// The texts that entries, special tokens and texts are joined from.
pub const ATOMS: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b" ",
    b"  ",
    b"\n",
    b"A",
    b"0",
    b"12",
    b"'",
    b"s",
    b".",
    b"\xc3\xa9",
    b"e\xcc\x81",
    b"\xe4\xb8\x96",
    b"\xe2\x96\x81",
    b"\xc4\xa0",
    b"\xf0\x9f\x98\x80",
    b"\xcc\x81",
    b"\xef\xbb\xbf",
    b"\xc2\xa0",
    b"\xe3\x80\x80",
    b"\xef\xac\x81",
    b"\xed\xa0\x80",
    b"\xff",
    b"\xf0\x9f",
    b"\xc3",
    b"\x80",
    b"\0",
    b"##",
    b"<x>",
    b"</s>",
    b"<0x41>",
    b"\xea\xb0\x80",
    b"\xd9\x8e\xd8\xa3",
    b"\xe0\xb8\x81\xe0\xb8\xb3",
    b"\xf0\x9d\x94\xb8",
    b"\r\n",
    b"\t",
    b"th",
    b"the",
    b"ing",
];

const PATTERNS: &[&str] = &[
    r"\s+",
    r"[0-9]",
    r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"\p{N}{1,3}",
    r"a|b+",
    r".",
    r"(?i:'s|'t)|\w+",
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\s*[\r\n]+|\s+(?!\S)|\s+|.",
    r"\b",
    r"[a-z]*",
    r"(?=a)",
    r"\p{Han}+",
    r"^a|b$",
    r"(a)\1",
];

/// Returns a text joined from up to `max` atoms.
pub fn joined(choices: &mut Choices, max: usize) -> Vec<u8> {
    (0..choices.below(max + 1)).flat_map(|_| choices.pick(ATOMS)).copied().collect()
}

fn joined_str(choices: &mut Choices, max: usize) -> String {
    String::from_utf8_lossy(&joined(choices, max)).into_owned()
}

/// Returns the text of an input: the remaining bytes, either as they are or as indices of atoms.
pub fn text(choices: &mut Choices) -> Vec<u8> {
    let is_joined = choices.flag();
    let repetitions = [1, 1, 1, 2, 5, 40][choices.below(6)];
    let rest = choices.rest();
    let unit: Vec<u8> = match is_joined {
        true => rest.iter().flat_map(|&byte| ATOMS[usize::from(byte) % ATOMS.len()]).copied().collect(),
        false => rest.to_vec(),
    };
    let text = unit.repeat(repetitions);
    show("text", &String::from_utf8_lossy(&text));
    text
}

/// Builds a vocabulary row by row.
struct Rows {
    columns: VocabColumns,
    merges: Vec<[u32; 3]>,
}

impl Rows {
    fn push(&mut self, piece: &[u8], score: f32, kind: Kind) -> u32 {
        let id = self.columns.ids.len() as u32;
        self.columns.blob.extend_from_slice(piece);
        self.columns.offsets.push(self.columns.blob.len() as u32);
        self.columns.ids.push(id);
        self.columns.scores.push(score);
        self.columns.kinds.push(kind);
        id
    }

    fn piece(&self, id: u32) -> &[u8] {
        let at = id as usize;
        &self.columns.blob[self.columns.offsets[at] as usize..self.columns.offsets[at + 1] as usize]
    }

    fn has(&self, piece: &[u8]) -> bool {
        self.columns.ids.iter().any(|&id| self.piece(id) == piece)
    }
}

/// Returns a Spec of any kind; compiling it can fail.
pub fn spec(choices: &mut Choices) -> Spec {
    let unknown = choices.pick(&[Unknown::Error, Unknown::Unk, Unknown::Bytes, Unknown::Drop]);
    let rows = rows(choices, unknown);
    let model = model(choices, &rows);
    let version = choices.pick(&[SentencePieceVersion::V0_2_3, SentencePieceVersion::V0_2_1]);
    let next_id = rows.columns.ids.len() as u32;
    let spec = Spec {
        special: (0..choices.below(4) as u32).map(|at| special(choices, next_id + at)).collect(),
        matching: choices.pick(&[Matching::Longest, Matching::Listed, Matching::LongestFirst]),
        normalize: (0..choices.below(4)).map(|_| normalize(choices)).collect(),
        split: (0..choices.below(3)).map(|_| split(choices)).collect(),
        model,
        unknown,
        single: single(choices),
        trim: choices.pick(&[
            TrimOffsets::Nothing,
            TrimOffsets::Nothing,
            TrimOffsets::Space,
            TrimOffsets::SpaceExceptPrefix,
        ]),
        decode: decode(choices),
        sentencepiece_version: version,
        vocab: rows.columns,
    };
    show("Spec", &spec);
    spec
}

/// Prints a value if `POLYTOK_FUZZ_SHOW` is set, to understand a finding.
pub fn show(name: &str, value: &dyn std::fmt::Debug) {
    static IS_SHOWN: OnceLock<bool> = OnceLock::new();
    if *IS_SHOWN.get_or_init(|| std::env::var_os("POLYTOK_FUZZ_SHOW").is_some()) {
        eprintln!("{name}: {value:?}");
    }
}

/// Returns a Spec without normalization and split, with a given model and vocabulary.
pub fn plain_spec(vocab: VocabColumns, model: Model, unknown: Unknown) -> Spec {
    Spec {
        vocab,
        special: Vec::new(),
        matching: Matching::Longest,
        normalize: Vec::new(),
        split: Vec::new(),
        model,
        unknown,
        single: vec![TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        sentencepiece_version: SentencePieceVersion::default(),
    }
}

fn rows(choices: &mut Choices, unknown: Unknown) -> Rows {
    let mut rows = Rows { columns: VocabColumns { offsets: vec![0], ..VocabColumns::default() }, merges: Vec::new() };
    if choices.flag() || unknown == Unknown::Unk {
        rows.push(b"<unk>", 0.0, Kind::Unknown);
        rows.push(b"<s>", 0.0, Kind::Control);
    }
    match choices.below(4) {
        0 => (0..=255).for_each(|byte| _ = rows.push(&[byte], 0.0, Kind::Normal)),
        1 => (0..=255).for_each(|byte| _ = rows.push(format!("<0x{byte:02X}>").as_bytes(), 0.0, Kind::Byte)),
        2 => {
            for atom in ["a", "b", "c", " ", "\u{2581}", "é", "世", "Ġ"] {
                rows.push(atom.as_bytes(), -1.0, Kind::Normal);
            }
        }
        _ => {}
    }
    for _ in 0..choices.below(24) {
        let kind = choices.pick(&[
            Kind::Normal,
            Kind::Normal,
            Kind::Normal,
            Kind::Normal,
            Kind::Normal,
            Kind::UserDefined,
            Kind::Unused,
            Kind::Control,
        ]);
        let score = -f32::from(choices.byte()) / 4.0;
        let (piece, pair) = piece(choices, &rows);
        if piece.is_empty() || rows.has(&piece) {
            continue;
        }
        let id = rows.push(&piece, score, kind);
        rows.merges.extend(pair.map(|(left, right)| [left, right, id]));
    }
    if choices.below(8) == 0 {
        rows.columns.wide_scores = Some(rows.columns.scores.iter().map(|&score| f64::from(score)).collect());
    }
    rows
}

/// Returns a new piece: two earlier entries joined, or atoms.
fn piece(choices: &mut Choices, rows: &Rows) -> (Vec<u8>, Option<(u32, u32)>) {
    let count = rows.columns.ids.len().min(256);
    if count > 0 && choices.flag() {
        let (left, right) = (choices.below(count) as u32, choices.below(count) as u32);
        let mut piece = rows.piece(left).to_vec();
        piece.extend_from_slice(rows.piece(right));
        if piece.len() <= 64 {
            return (piece, Some((left, right)));
        }
    }
    (joined(choices, 4), None)
}

fn model(choices: &mut Choices, rows: &Rows) -> Model {
    let scalars = ScalarRules {
        continuing_prefix: choices.pick(&["", "", "##", "a"]).into(),
        word_suffix: choices.pick(&["", "", "</s>", "a"]).into(),
        byte_fallback: choices.flag(),
        fuse_unknown: choices.flag(),
    };
    let bpe = |priority, symbols, scalars, choices: &mut Choices| Model::Bpe {
        priority,
        symbols,
        whole_piece_first: choices.flag(),
        reserved: choices.below(4) == 0,
        scalars,
    };
    match choices.below(14) {
        0 => bpe(Priority::Rank, Symbols::Bytes, ScalarRules::default(), choices),
        1 => bpe(Priority::Merges(rows.merges.clone()), Symbols::Bytes, ScalarRules::default(), choices),
        2 => bpe(Priority::Score, Symbols::Chars, ScalarRules::default(), choices),
        3 => bpe(Priority::Score, Symbols::Groups, ScalarRules::default(), choices),
        4 => bpe(Priority::Merges(rows.merges.clone()), Symbols::Scalars, scalars, choices),
        5 => Model::Unigram(UnigramRules::SentencePiece),
        6 => Model::Unigram(UnigramRules::HuggingFace { byte_fallback: choices.flag() }),
        7 => Model::Unigram(UnigramRules::LlamaCpp),
        8 => Model::Longest,
        9 => Model::Word,
        10 => Model::Char,
        11 => Model::WordPiece {
            continuing_prefix: choices.pick(&["##", "", "a"]).into(),
            max_chars: choices.pick(&[None, Some(3), Some(100)]),
            phantom_space: choices.flag(),
        },
        12 => Model::WordLevel,
        _ => Model::Plamo2,
    }
}

fn special(choices: &mut Choices, id: u32) -> SpecialToken {
    SpecialToken {
        text: joined(choices, 3),
        id: TokenId(id),
        always: choices.below(3) == 0,
        single_word: choices.below(4) == 0,
        lstrip: choices.below(4) == 0,
        rstrip: choices.below(4) == 0,
        normalized: choices.below(4) == 0,
    }
}

fn single(choices: &mut Choices) -> Vec<TemplatePart> {
    match choices.below(4) {
        0 => vec![TemplatePart::Insert(vec![TokenId(0)]), TemplatePart::Slot],
        1 => vec![
            TemplatePart::Insert(vec![TokenId(0), TokenId(1)]),
            TemplatePart::Slot,
            TemplatePart::Insert(vec![TokenId(1)]),
        ],
        _ => vec![TemplatePart::Slot],
    }
}

fn pattern(choices: &mut Choices) -> Pattern {
    let is_regex = choices.flag();
    let text = if is_regex { choices.pick(PATTERNS).into() } else { joined_str(choices, 2) };
    let unicode = (choices.below(16) == 0).then(|| choices.pick(&["15.0", "9.0"]).into()); // compiling it is slow
    Pattern { text, is_regex, unicode }
}

fn replace(choices: &mut Choices) -> Replace {
    Replace { pattern: pattern(choices), content: joined_str(choices, 3) }
}

/// Returns a `precompiled_charsmap`: empty, or bytes of the input.
fn charsmap(choices: &mut Choices) -> Vec<u8> {
    match choices.below(4) {
        0 => {
            let len = choices.below(64);
            choices.take(len).to_vec()
        }
        _ => Vec::new(),
    }
}

pub fn normalize(choices: &mut Choices) -> Normalize {
    match choices.below(16) {
        0 | 1 => Normalize::SentencePiece(sentencepiece_normalize(choices)),
        2 => Normalize::PrefixSpace,
        3 => Normalize::ReplaceInvalid { lenient: choices.flag() },
        4 => Normalize::Bert {
            clean_text: choices.flag(),
            handle_chinese_chars: choices.flag(),
            strip_accents: choices.flag(),
            lowercase: choices.flag(),
        },
        5 => Normalize::Strip { left: choices.flag(), right: choices.flag() },
        6 => Normalize::StripAccents,
        7 => Normalize::Unicode(choices.pick(&[Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd])),
        8 => Normalize::Lowercase,
        9 => Normalize::Nmt,
        10 => Normalize::Precompiled(charsmap(choices)),
        11 => Normalize::Replace(replace(choices)),
        12 => Normalize::Prepend(joined_str(choices, 2)),
        13 => Normalize::ByteLevel,
        14 => Normalize::Ugm {
            charsmap: charsmap(choices),
            add_space_prefix: choices.flag(),
            remove_extra_whitespaces: choices.flag(),
        },
        _ => Normalize::Wpm { lowercase: choices.flag(), strip_accents: choices.flag() },
    }
}

fn sentencepiece_normalize(choices: &mut Choices) -> SentencePieceNormalize {
    SentencePieceNormalize {
        charsmap: charsmap(choices),
        add_dummy_prefix: choices.flag(),
        remove_extra_whitespaces: choices.flag(),
        escape_whitespaces: choices.flag(),
        whitespace_as_suffix: choices.flag(),
    }
}

fn scheme(choices: &mut Choices) -> Scheme {
    choices.pick(&[Scheme::Always, Scheme::First, Scheme::Never])
}

fn split(choices: &mut Choices) -> Split {
    match choices.below(9) {
        0..=2 => Split::Pattern {
            pattern: pattern(choices),
            behavior: choices.pick(&[
                Behavior::Matches,
                Behavior::Removed,
                Behavior::Isolated,
                Behavior::MergedWithPrevious,
                Behavior::MergedWithNext,
                Behavior::Contiguous,
            ]),
            invert: choices.flag(),
        },
        3 => Split::Metaspace {
            replacement: choices.pick(&["\u{2581}", "_", "ab"]).into(),
            prepend: scheme(choices),
            split: choices.flag(),
        },
        4 => Split::PieceSpace,
        5 => Split::ByteLevel,
        6 => Split::Script,
        7 => Split::FixedLength(choices.below(5)),
        _ => Split::DigitGroups { unicode: None },
    }
}

fn decode(choices: &mut Choices) -> Decode {
    match choices.below(6) {
        0 => Decode::Bytes { skips_unknown: choices.flag() },
        1 => Decode::SentencePiece {
            add_dummy_prefix: choices.flag(),
            remove_extra_whitespaces: choices.flag(),
            unk_surface: joined(choices, 2),
            denormalize: choices.flag().then(|| sentencepiece_normalize(choices)),
        },
        2 => Decode::Llama2c,
        3 | 4 => Decode::Chain {
            steps: choices.flag().then(|| (0..choices.below(5)).map(|_| decode_step(choices)).collect()),
            byte_level: choices.below(4) == 0,
        },
        _ => Decode::LlamaCpp {
            family: choices.pick(&[Family::Spm, Family::Bpe, Family::Wpm, Family::Ugm, Family::Rwkv, Family::Plamo2]),
            strip_space: choices.flag(),
            clean_spaces: choices.flag(),
            escaped_spaces: choices.flag(),
        },
    }
}

fn decode_step(choices: &mut Choices) -> DecodeStep {
    match choices.below(9) {
        0 => DecodeStep::ByteLevel,
        1 => DecodeStep::Bpe { suffix: choices.pick(&["</s>", "a", ""]).into() },
        2 => DecodeStep::WordPiece { prefix: choices.pick(&["##", "a", ""]).into(), cleanup: choices.flag() },
        3 => DecodeStep::Metaspace { replacement: choices.pick(&["\u{2581}", "_"]).into(), prepend: scheme(choices) },
        4 => DecodeStep::Ctc { pad: "a".into(), delimiter: "b".into(), cleanup: choices.flag() },
        5 => DecodeStep::Replace(replace(choices)),
        6 => DecodeStep::Strip {
            content: choices.pick(&[' ', 'a', 'é']),
            start: choices.below(3),
            stop: choices.below(3),
        },
        7 => DecodeStep::ByteFallback,
        _ => DecodeStep::Fuse,
    }
}
