use super::*;
use crate::error::Error;
use crate::rng::Rng;
use crate::spec::{
    Decode, Kind, Line, Matching, Model, Priority, ScalarRules, Spec, Symbols, TemplatePart, TrimOffsets, UnigramRules,
    Unknown, VocabColumns,
};
use crate::tokenizer::{EncodeOptions, Tokenizer};

const TEXT: &[u8] = "abcab \u{2581}ab\u{2581}\u{2581}cé\u{e4}bab xabcabcaab\u{301}".as_bytes();

fn spec(model: Model, scores: impl Fn(usize) -> f32) -> Spec {
    let mut columns = VocabColumns { offsets: vec![0], ..VocabColumns::default() };
    let pieces =
        ["<unk>", "<s>", "a", "b", "c", "ab", "abc", "\u{2581}", "\u{2581}a", "\u{2581}ab", "é", "bé", "caab", " "];
    for (row, piece) in pieces.iter().enumerate() {
        columns.blob.extend_from_slice(piece.as_bytes());
        columns.offsets.push(columns.blob.len() as u32);
        columns.ids.push(row as u32);
        columns.scores.push(scores(row));
        columns.kinds.push([Kind::Unknown, Kind::Control, Kind::Normal][row.min(2)]);
    }
    Spec {
        vocab: columns,
        special: Vec::new(),
        matching: Matching::Longest,
        normalize: Vec::new(),
        split: Vec::new(),
        model,
        unknown: Unknown::Unk,
        single: vec![TemplatePart::Slot],
        trim: TrimOffsets::Nothing,
        decode: Decode::Bytes { skips_unknown: false },
        line: Line::V0_2_3,
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

fn file(spec: &Spec) -> Vec<u8> {
    let mut tables = Tables::with_sections();
    Tokenizer::compile_with(spec.clone(), &mut tables).unwrap();
    tables.finish().finish(*b"sixteen bytes ok")
}

/// Returns a Spec without its own columns.
fn remove_columns(spec: &Spec) -> Spec {
    Spec { vocab: VocabColumns::default(), ..spec.clone() }
}

fn load_file(file: &[u8], spec: &Spec) -> crate::error::Result<Tokenizer> {
    Tokenizer::compile_with(remove_columns(spec), &mut Tables::from_image(Image::copy(file)?))
}

#[test]
fn a_file_encodes_as_its_spec() {
    for spec in specs() {
        let (built, mapped) = (Tokenizer::compile(spec.clone()).unwrap(), load_file(&file(&spec), &spec).unwrap());
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        built.encode(TEXT, EncodeOptions::default(), &mut expected).unwrap();
        mapped.encode(TEXT, EncodeOptions::default(), &mut found).unwrap();
        assert_eq!(found, expected, "{:?}", spec.model);
        for seed in 0..20 {
            assert_eq!(built.sample(TEXT, -1, 0.3, seed), mapped.sample(TEXT, -1, 0.3, seed), "{:?}", spec.model);
        }
    }
}

#[test]
fn the_same_spec_yields_the_same_file() {
    specs().iter().for_each(|spec| assert_eq!(file(spec), file(spec)));
}

#[test]
fn every_truncation_and_every_changed_byte_is_detected() {
    let file = file(&specs()[4]);
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
    let error = |file: &[u8]| match Image::copy(file) {
        Err(Error::Format(text)) => text,
        _ => panic!("no error"),
    };
    let sound_file = file(&specs()[0]);
    let set_number = |at: usize, number: u32| {
        let mut file = sound_file.clone();
        file[at..at + 4].copy_from_slice(&number.to_ne_bytes());
        write::seal(&mut file);
        file
    };
    assert!(error(&set_number(8, 2)).contains("newer"));
    assert!(error(&set_number(16, BYTE_ORDER.swap_bytes())).contains("byte order"));
    assert!(error(&set_number(20, u32::MAX)).contains("section table"));
    assert!(error(&set_number(BLOCK + NAME_LEN, 1)).contains("not inside"));
    assert!(error(&sound_file[..sound_file.len() - 1]).contains("bytes"));
    assert!(!Image::copy(&set_number(12, 77)).unwrap().has_tables());
}

#[test]
fn tables_of_another_version_are_built_anew() {
    let spec = &specs()[0];
    let mut file = file(spec);
    file[12] ^= 1;
    write::seal(&mut file);
    assert!(load_file(&file, spec).is_ok());
}

/// Calls every method that uses the tables of a tokenizer. Errors are fine; panics and endless loops are not.
fn call_all_methods(tokenizer: &Tokenizer) {
    let mut ids = Vec::new();
    let _ = tokenizer.encode(TEXT, EncodeOptions::default(), &mut ids);
    assert!(ids.iter().all(|&id| tokenizer.token_bytes(id).is_some()), "an id that is none");
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
        let sound_file = file(&spec);
        let image = Image::copy(&sound_file).unwrap();
        let names: Vec<String> = image.names().map(str::to_owned).collect();
        for round in 0..600 {
            // Most tables are small, so the same number of changes in each table finds more than changes at random
            // positions.
            let section = image.section(&names[round % names.len()]).unwrap();
            let start = section.as_ptr() as usize - image.section(&names[0]).unwrap().as_ptr() as usize;
            let first = BLOCK * (1 + names.len());
            let mut file = sound_file.clone();
            for _ in 0..1 + round % 5 {
                if section.is_empty() {
                    continue;
                }
                let at = first + start + (rng.uniform() * section.len() as f64) as usize;
                file[at] = match round % 3 {
                    0 => (rng.uniform() * 256.0) as u8,
                    1 => file[at] ^ 1 << (rng.uniform() * 8.0) as u8,
                    _ => (rng.uniform() * 14.0) as u8,
                };
            }
            write::seal(&mut file);
            if let Ok(tokenizer) = load_file(&file, &spec) {
                call_all_methods(&tokenizer);
            }
        }
    }
}
