//! Runs the programs in examples/.

#[expect(dead_code, reason = "the test does not call main")]
#[path = "../examples/load_ptok.rs"]
mod load_ptok;
#[expect(dead_code, reason = "the test does not call main")]
#[path = "../examples/load_rank_file.rs"]
mod load_rank_file;

use polytok_core::spec::VocabColumns;
use polytok_core::wire::rank_file;

#[test]
fn a_ptok_file_is_loaded() {
    let file = include_bytes!("../../../tests/data/0.1.0/job/tokenizer.ptok");
    assert_eq!(load_ptok::encode_and_decode(file, "lower ids").unwrap(), "[109, 296, 277, 371] lower ids");
    let error = load_ptok::encode_and_decode(&file[..100], "").unwrap_err();
    assert!(error.to_string().contains("damaged"), "{error}");
}

#[test]
fn a_rank_file_is_loaded() {
    let entries: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).chain([b"ab".into()]).collect();
    let file = rank_file::write(&VocabColumns::from_entries(&entries));
    assert_eq!(load_rank_file::count(&file, "abab<|endoftext|> c").unwrap(), 5);
    assert!(load_rank_file::count(b"", "").unwrap_err().to_string().contains("no tokens"));
}
