use super::*;
use crate::error::Error;
use crate::rng::Rng;
use crate::spec::{
    Decode, Kind, Matching, Model, Priority, ScalarRules, SentencePieceVersion, Spec, Symbols, TemplatePart,
    TrimOffsets, UnigramRules, Unknown, VocabColumns,
};
use crate::tokenizer::{EncodeOptions, Tokenizer};

const TEXT: &[u8] = "abcab \u{2581}ab\u{2581}\u{2581}cé\u{e4}bab xabcabcaab\u{301}".as_bytes();

fn spec(model: Model, scores: impl Fn(usize) -> f32) -> Spec {
    let pieces =
        ["<unk>", "<s>", "a", "b", "c", "ab", "abc", "\u{2581}", "\u{2581}a", "\u{2581}ab", "é", "bé", "caab", " "];
    let kind_of_row = |row: usize| [Kind::Unknown, Kind::Control, Kind::Normal][row.min(2)];
    let rows = pieces.iter().enumerate().map(|(row, piece)| (piece, scores(row), kind_of_row(row)));
    Spec {
        vocab: VocabColumns::from_rows(rows),
        special: Vec::new(),
        matching: Matching::Longest,
        normalize: Vec::new(),
        split: Vec::new(),
        model,
        unknown: Unknown::Unk,
        single: vec![TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        sentencepiece_version: SentencePieceVersion::V0_2_3,
    }
}

fn bpe(priority: Priority, symbols: Symbols) -> Model {
    Model::Bpe { priority, symbols, whole_piece_first: false, reserved: false, scalars: ScalarRules::default() }
}

pub(crate) fn specs() -> Vec<Spec> {
    let score_of_row = |row: usize| -(row as f32);
    vec![
        spec(bpe(Priority::Rank, Symbols::Bytes), |_| 0.0),
        spec(bpe(Priority::Score, Symbols::Chars), score_of_row),
        spec(bpe(Priority::Score, Symbols::Groups), score_of_row),
        spec(Model::Unigram(UnigramRules::SentencePiece), score_of_row),
        spec(Model::Longest, |_| 0.0),
        spec(Model::Unigram(UnigramRules::HuggingFace { byte_fallback: false }), score_of_row),
        spec(Model::WordPiece { continuing_prefix: "a".into(), max_chars: None, phantom_space: true }, |_| 0.0),
        spec(Model::Word, |_| 0.0),
    ]
}

fn write_file(spec: &Spec) -> Vec<u8> {
    let mut tables = Tables::with_sections();
    Tokenizer::compile_with(spec.clone(), &mut tables).unwrap();
    tables.finish().finish(*b"sixteen bytes ok")
}

/// Returns a Spec without the columns of the vocabulary.
fn remove_columns(spec: &Spec) -> Spec {
    Spec { vocab: VocabColumns::default(), ..spec.clone() }
}

fn load_file(file: &[u8], spec: &Spec) -> crate::error::Result<Tokenizer> {
    Tokenizer::compile_with(remove_columns(spec), &mut Tables::from_image(Image::copy(file)?))
}

#[test]
fn a_file_encodes_as_its_spec() {
    for spec in specs() {
        let (built, mapped) =
            (Tokenizer::compile(spec.clone()).unwrap(), load_file(&write_file(&spec), &spec).unwrap());
        let (mut expected, mut ids) = (Vec::new(), Vec::new());
        built.encode(TEXT, EncodeOptions::default(), &mut expected).unwrap();
        mapped.encode(TEXT, EncodeOptions::default(), &mut ids).unwrap();
        assert_eq!(ids, expected, "{:?}", spec.model);
        for seed in 0..20 {
            assert_eq!(built.sample(TEXT, -1, 0.3, seed), mapped.sample(TEXT, -1, 0.3, seed), "{:?}", spec.model);
        }
    }
}

#[test]
fn the_same_spec_yields_the_same_file() {
    specs().iter().for_each(|spec| assert_eq!(write_file(spec), write_file(spec)));
}

#[test]
fn every_truncation_and_every_changed_byte_is_detected() {
    let file = write_file(&specs()[4]);
    for len in 0..file.len().min(600) {
        assert!(Image::copy(&file[..len]).is_err());
    }
    let mut changed_file = file.clone();
    for at in (0..file.len()).step_by(7) {
        changed_file[at] ^= 0x10;
        assert!(Image::copy(&changed_file).is_err(), "byte {at}");
        changed_file[at] = file[at];
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let error_text = |file: &[u8]| match Image::copy(file) {
        Err(Error::Format(text)) => text,
        _ => panic!("no error"),
    };
    let valid_file = write_file(&specs()[0]);
    let with_number = |at: usize, number: u32| {
        let mut file = valid_file.clone();
        file[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        write::write_checksum(&mut file);
        file
    };
    assert!(error_text(&with_number(8, 2)).contains("newer"));
    assert!(error_text(&with_number(16, BYTE_ORDER.swap_bytes())).contains("byte order"));
    assert!(error_text(&with_number(20, u32::MAX)).contains("section table"));
    assert!(error_text(&with_number(BLOCK + NAME_LEN, 1)).contains("beyond the end"));
    assert!(error_text(&valid_file[..valid_file.len() - 1]).contains("bytes"));
    assert!(!Image::copy(&with_number(12, 77)).unwrap().has_tables());
}

#[test]
fn tables_of_another_version_are_built_anew() {
    let spec = &specs()[0];
    let mut file = write_file(spec);
    file[12] ^= 1;
    write::write_checksum(&mut file);
    assert!(load_file(&file, spec).is_ok());
}

/// Calls every method that uses the tables of a tokenizer. Errors are allowed; panics and endless loops are not.
fn call_all_methods(tokenizer: &Tokenizer) {
    let mut ids = Vec::new();
    let _ = tokenizer.encode(TEXT, EncodeOptions::default(), &mut ids);
    assert!(ids.iter().all(|&id| tokenizer.token_bytes(id).is_some()), "an id without a token");
    let _ = tokenizer.decode(&ids, false);
    let _ = tokenizer.tokens(TEXT, EncodeOptions::default());
    let _ = tokenizer.nbest(TEXT, 3);
    let _ = tokenizer.sample(TEXT, -1, 0.5, 1);
    let _ = tokenizer.entropy(TEXT, 1.0);
    let _ = tokenizer.id_of(b"ab");
}

#[test]
fn forged_tables_do_no_harm() {
    let mut rng = Rng::new(2026);
    for spec in specs() {
        let valid_file = write_file(&spec);
        let image = Image::copy(&valid_file).unwrap();
        let section_names: Vec<String> = image.section_names().map(str::to_owned).collect();
        for round in 0..600 {
            // The changes are distributed evenly over the sections, because most sections are too small for random
            // positions to hit.
            let section = image.section(&section_names[round % section_names.len()]).unwrap();
            let start = section.as_ptr() as usize - image.section(&section_names[0]).unwrap().as_ptr() as usize;
            let first_section = BLOCK * (1 + section_names.len());
            let mut file = valid_file.clone();
            for _ in 0..1 + round % 5 {
                if section.is_empty() {
                    continue;
                }
                let at = first_section + start + (rng.uniform() * section.len() as f64) as usize;
                file[at] = match round % 3 {
                    0 => (rng.uniform() * 256.0) as u8,
                    1 => file[at] ^ 1 << (rng.uniform() * 8.0) as u8,
                    _ => (rng.uniform() * 14.0) as u8,
                };
            }
            write::write_checksum(&mut file);
            if let Ok(tokenizer) = load_file(&file, &spec) {
                call_all_methods(&tokenizer);
            }
        }
    }
}
