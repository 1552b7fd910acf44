use super::*;

fn string(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text].concat()
}

fn entry(key: &[u8], kind: u32, value: &[u8]) -> Vec<u8> {
    [string(key), kind.to_le_bytes().to_vec(), value.to_vec()].concat()
}

fn array(element: u32, count: u64, elements: &[u8]) -> Vec<u8> {
    [&element.to_le_bytes()[..], &count.to_le_bytes(), elements].concat()
}

fn file(entries: &[Vec<u8>]) -> Vec<u8> {
    let header =
        [&b"GGUF"[..], &3u32.to_le_bytes(), &0u64.to_le_bytes(), &(entries.len() as u64).to_le_bytes()].concat();
    [header, entries.concat()].concat()
}

fn texts(list: &[&str]) -> GgufTexts {
    let mut texts = GgufTexts::new();
    list.iter().for_each(|text| texts.push(text.as_bytes()).unwrap());
    texts
}

#[test]
fn values_have_their_positions() {
    let words = [string(b"a"), string(b""), string(b"bc")].concat();
    let data = file(&[entry(b"n", 4, &7u32.to_le_bytes()), entry(b"words", 9, &array(8, 3, &words))]);
    let metadata = read(&[&data[..], b"tensors"].concat()).unwrap();
    assert_eq!((metadata.version, metadata.big_endian, metadata.end), (3, false, data.len()));
    assert_eq!(&data[metadata.entries[0].value.clone()], 7u32.to_le_bytes());
    let entry = &metadata.entries[1];
    assert_eq!((entry.kind, entry.element, entry.count), (9, 8, 3));
    let list = strings(&data[entry.value.clone()], entry.count, false).unwrap();
    assert_eq!(list, texts(&["a", "", "bc"]));
    assert_eq!(write_strings(&list, false).unwrap(), &data[entry.value.clone()]);
}

#[test]
fn version_field_reveals_big_endian_files() {
    let data = [&b"GGUF"[..], &3u32.to_be_bytes(), &0u64.to_be_bytes(), &1u64.to_be_bytes()].concat();
    let key = [&1u64.to_be_bytes()[..], b"k", &8u32.to_be_bytes(), &2u64.to_be_bytes(), b"hi"].concat();
    let data = [data, key].concat();
    let metadata = read(&data).unwrap();
    assert!(metadata.big_endian);
    assert_eq!(&data[metadata.entries[0].value.clone()], b"hi");
}

#[test]
fn damage_is_an_error_that_names_the_byte() {
    let file_with = |entries: &[Vec<u8>]| file(entries);
    let with_key_count = |count: u64| [&b"GGUF"[..], &3u32.to_le_bytes(), &[0; 8], &count.to_le_bytes()].concat();
    for (data, what) in [
        (b"GGU".to_vec(), "the magic"),
        (b"GGML\x03\0\0\0".to_vec(), "does not begin with GGUF"),
        (b"GGUF\x01\0\0\0".to_vec(), "version 1"),
        (with_key_count(1 << 63), "9223372036854775808 keys"),
        (with_key_count(1), "a length takes 8 bytes"),
        (file_with(&[entry(b"", 7, b"\0")]), "without a name"),
        (file_with(&[entry(b"a", 7, b"\0"), entry(b"a", 7, b"\0")]), "\"a\" occurs twice"),
        (file_with(&[entry(b"a", 13, b"\0")]), "key \"a\": byte 37: GGUF has no type 13"),
        (file_with(&[entry(b"a", 9, &array(9, 1, b""))]), "an array of arrays"),
        (file_with(&[entry(b"a", 9, &array(8, 1 << 63, b""))]), "9223372036854775808 elements"),
        (file_with(&[entry(b"a", 9, &array(10, 1 << 62, b""))]), "4611686018427387904 elements"),
        (file_with(&[entry(b"a", 8, &u64::MAX.to_le_bytes())]), "longer than llama.cpp reads"),
        (file_with(&[entry(b"a", 8, &9u64.to_le_bytes())]), "takes 9 bytes"),
    ] {
        let error = read(&data).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn texts_convert_to_bytes_and_back() {
    let tokens = texts(&["Ġa", "▁", "é", "Ċ", " ", ""]);
    let (bytes, foreign) = byte_level(&tokens, |_| true).unwrap();
    assert_eq!(bytes.iter().collect::<Vec<_>>(), [&b" a"[..], "▁".as_bytes(), b"\xe9", b"\n", b" ", b""]);
    assert_eq!(foreign, [1, 4]);
    let back = byte_level_texts(&bytes, |index| !foreign.contains(&(index as u32))).unwrap();
    assert_eq!(back, tokens);
}

#[test]
fn merges_are_split_after_their_first_byte() {
    let tokens = texts(&["a", "b", "ab", " ", " b"]);
    let lines = texts(&["a b", "a b", "ab", "x b", "  b", "", " "]);
    assert_eq!(resolve_merges(&tokens, &lines).unwrap(), [[0, 1, 2], [3, 1, 4]]);
    assert_eq!(merge_lines(&tokens, [(0, 1), (3, 1)].into_iter()).unwrap(), texts(&["a b", "  b"]));
    let error = resolve_merges(&tokens, &texts(&["b a"])).unwrap_err().to_string();
    assert!(error.contains("merges to \"ba\""), "{error}");
    assert!(merge_lines(&tokens, [(0, 9)].into_iter()).is_err());
}
