use super::*;
use crate::spec::VocabColumns;

fn tokenizer(model: &str) -> String {
    format!(r#"{{"version":"1.0","model":{model}}}"#)
}

fn read_model(model: &str) -> Result<Read> {
    read(tokenizer(model).as_bytes())
}

fn texts(columns: &VocabColumns) -> Vec<String> {
    super::super::rows(columns).map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

#[test]
fn vocabulary_and_merges_become_columns() {
    let file =
        r##"{"merges":["a b","#version: 0.2","ab a"],"vocab":{"b":1,"a":0,"ab":7,"aba":2},"x":[1,{"y":"z\"]"}]}"##;
    let read = read_model(file).unwrap();
    assert_eq!(texts(&read.columns), ["b", "a", "ab", "aba"]);
    assert_eq!(read.columns.ids, [1, 0, 7, 2]);
    assert_eq!(read.merges.unwrap(), [[0, 1, 7], [7, 0, 2]]);
    assert!(!read.pairs);
    assert_eq!(read.rest, r#"{"version":"1.0","model":{"x":[1,{"y":"z\"]"}]}}"#);
}

#[test]
fn pairs_may_have_spaces_and_prefixes_go() {
    let file = r###"{"vocab":{"a b":0,"##c":1,"a bc":2},"merges":[["a b","##c"]],"continuing_subword_prefix":"##"}"###;
    let read = read_model(file).unwrap();
    assert_eq!(read.merges.unwrap(), [[0, 1, 2]]);
    assert!(read.pairs);
}

#[test]
fn a_list_has_scores_of_64_bits() {
    let read = read_model(r#"{"vocab":[["a",-1.1],["b",2],["a",-0.5]]}"#).unwrap();
    assert_eq!(read.columns.wide_scores.as_deref(), Some(&[-1.1, 2.0, -0.5][..]));
    assert_eq!(read.columns.kinds, [Kind::Unused, Kind::Normal, Kind::Normal]);
    assert_eq!((read.columns.ids, read.replaced), (vec![0, 1, 2], 1));
}

#[test]
fn the_last_of_equal_keys_counts() {
    let read = read_model(r#"{"vocab":{"a":0,"b":1,"a":5},"merges":[]}"#).unwrap();
    assert_eq!((texts(&read.columns), read.columns.ids), (vec!["b".into(), "a".into()], vec![1, 5]));
    assert_eq!(read.replaced, 1);
}

#[test]
fn damage_is_an_error_that_says_where() {
    for (model, what) in [
        (r#"{"vocab":{"a":0},"merges":["a b"]}"#, "merge 0: the token \"b\" is not in the vocabulary"),
        (r#"{"vocab":{"a":0},"merges":[["a","a"]]}"#, "merge 0: the token \"aa\" is not"),
        (r#"{"vocab":{"a":0},"merges":["a  b"]}"#, "merge 0 is not two texts"),
        (r#"{"vocab":{"a":0},"merges":["a"]}"#, "merge 0 is not two texts"),
        (r#"{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b",["a","b"]]}"#, "earlier merges are texts"),
        (r#"{"vocab":{"a":0},"merges":[["a"]]}"#, "invalid length 1"),
        (r#"{"vocab":{"a":0},"merges":[["a","b","c"]]}"#, "trailing characters"),
        (r#"{"vocab":{"a":0,"b":0},"merges":[]}"#, "the id 0 twice, for \"a\" and \"b\""),
        (r#"{"vocab":{"a":-1},"merges":[]}"#, "line 1 column"),
        (r#"{"vocab":{"a":4294967296},"merges":[]}"#, "line 1 column"),
        (r#"{"vocab":{"a":0.0},"merges":[]}"#, "floating point"),
        (r#"{"vocab":{"\ud800":0},"merges":[]}"#, "hex escape"),
        (r#"{"vocab":[["a"]]}"#, "invalid length 1"),
        (r#"{"vocab":[["a",1e999]]}"#, "out of range"),
        (r#"{"vocab":"a"}"#, "a vocabulary"),
        (r#"{"merges":[]}"#, "no vocab"),
        ("[]", "a model"),
    ] {
        let error = read_model(model).unwrap_err().to_string();
        assert!(error.contains(what), "{model}: {error}");
    }
}

#[test]
fn depth_is_no_danger() {
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let with = |n: usize| format!(r#"{{"normalizer":{},"model":{{"vocab":{{}}}}}}"#, deep(n));
    assert!(read(with(128).as_bytes()).is_ok());
    for n in [129, 1_000_000] {
        let error = read(with(n).as_bytes()).unwrap_err().to_string();
        assert!(error.contains("normalizer is nested deeper"), "{error}");
    }
    let in_vocab = format!(r#"{{"vocab":{{"a":{}}}}}"#, deep(1_000_000));
    assert!(read_model(&in_vocab).is_err());
    assert!(probe("[".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn probing_looks_for_a_model() {
    assert!(probe(br#"{"version":"1.0","model":{"vocab":[BROKEN"#).is_ok());
    for other in [&br#"{"a":0,"model":1}"#[..], br#"{"config":{},"vocab":[]}"#, b"{}", b"[]", b"", b"{\"model\":"] {
        assert!(probe(other).is_err());
    }
}

#[test]
fn byte_level_needs_all_bytes() {
    let mut all: Vec<String> = (0..=255).map(|byte| crate::byte_level::char_of(byte).to_string()).collect();
    all.extend(["Ġa".into(), " ".into(), "世".into()]);
    let entries: Vec<String> = all.iter().enumerate().map(|(id, text)| format!("{text:?}:{id}")).collect();
    let model = |merges: &str| format!(r#"{{"vocab":{{{}}},"merges":{merges}}}"#, entries.join(","));
    let read = read_model(&model(r#"["Ġ a"]"#).replace("\\u{ad}", "\u{ad}")).unwrap();
    let merges = read.merges.unwrap();
    let (bytes, complete) = to_bytes(&read.columns, &merges).unwrap().unwrap();
    assert!(complete);
    assert_eq!(super::super::text(&bytes, 256), b" a");
    assert_eq!((super::super::text(&bytes, 257), bytes.kinds[257]), (&b" "[..], Kind::Unused));
    assert_eq!((super::super::text(&bytes, 258), bytes.kinds[258]), ("世".as_bytes(), Kind::Unused));

    let parts =
        VocabParts { columns: &bytes, merges: &merges, exact_scores: None, byte_level: true, pairs: false, indent: 0 };
    let (vocab, merges_json) = write(&parts).unwrap();
    let again = read_model(&format!(r#"{{"vocab":{vocab},"merges":{merges_json}}}"#)).unwrap();
    assert_eq!(texts(&again.columns), texts(&read.columns));
    assert_eq!(again.merges.unwrap(), merges);

    assert!(to_bytes(&read.columns, &[[0, 258, 256]]).unwrap().is_none());
    let few = read_model(r#"{"vocab":{"a":0}}"#).unwrap();
    assert!(to_bytes(&few.columns, &[]).unwrap().is_none());
}

/// Found by fuzzing: tokenizers reads some scores from this text, but not from the shortest text of the score.
#[test]
fn scores_are_what_tokenizers_reads() {
    let texts = ["-10.248709678649902", "66666666666666660.0", "-19.283340454101563", "-11.894180297851563", "-1.5"];
    for text in texts {
        let read = read_model(&format!(r#"{{"vocab":[["a",{text}]]}}"#)).unwrap();
        let exact_scores = read.exact_scores.as_deref();
        assert!(exact_scores.is_none_or(|exact| exact == [text.parse::<f64>().unwrap()]));
        for exact_scores in [None, exact_scores] {
            let columns = &read.columns;
            let parts = VocabParts { columns, merges: &[], exact_scores, byte_level: false, pairs: true, indent: 2 };
            let (vocab, _) = write(&parts).unwrap();
            let again = read_model(&format!(r#"{{"vocab":{vocab}}}"#)).unwrap();
            assert_eq!(again.columns.wide_scores, read.columns.wide_scores, "{text}");
        }
    }
}

#[test]
fn files_of_one_part_each() {
    let (columns, replaced) = vocab_file(br#"{"a":0,"b":1,"ab":2}"#).unwrap();
    assert_eq!(replaced, 0);
    assert_eq!(merges_file(b"#version: 0.2\na b\n", &columns).unwrap(), [[0, 1, 2]]);
    let error = merges_file(b"a b\n\n", &columns).unwrap_err().to_string();
    assert!(error.contains("line 2"), "{error}");
}
