//! The readers of texts: every division of a file into blocks yields the texts of the whole file.

use std::sync::Arc;

use polytok_core::texts::{
    NoTextReason, Texts, end_of_texts, json_lines as read_json_lines, split_lines, split_separated,
};
use serde_json::Value;

use crate::choices::Choices;

fn owned(texts: &Texts) -> Vec<Vec<u8>> {
    (0..texts.len()).map(|row| texts.get(row).unwrap().to_vec()).collect()
}

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let separator_len = 1 + choices.below(3);
    let separator = choices.take(separator_len);
    if separator.is_empty() {
        return;
    }
    let part = choices.byte();
    let data = choices.rest();
    let place = usize::from(part) * (data.len() + 1) / 256;
    let shared = |bytes: &[u8]| Arc::new(bytes.to_vec()) as Arc<dyn AsRef<[u8]> + Send + Sync>;
    type Split<'s> = &'s dyn Fn(&[u8], bool) -> (Texts, usize);
    let lines: Split = &|bytes, is_last| split_lines(shared(bytes), is_last);
    let separated: Split = &|bytes, is_last| split_separated(shared(bytes), separator, is_last);
    for (split, separator) in [(lines, &b"\n"[..]), (separated, separator)] {
        let (whole, used) = split(data, true);
        assert_eq!(used, data.len());
        let (first, used) = split(&data[..place], false);
        let (rest, _) = split(&data[used..], true);
        assert_eq!([owned(&first), owned(&rest)].concat(), owned(&whole), "divided at {place}");
        assert_eq!(
            end_of_texts(data, separator, first.len()).min(data.len()),
            used.max(end_of_texts(data, separator, first.len()))
        );
    }
}

pub fn json_lines(data: &[u8]) {
    let mut choices = Choices::new(data);
    let part = choices.byte();
    let path: Vec<Vec<u8>> = [vec![], vec!["text"], vec!["text", "a"]][choices.below(3)]
        .iter()
        .map(|key: &&str| key.as_bytes().to_vec())
        .collect();
    let data = choices.rest();
    let place = usize::from(part) * (data.len() + 1) / 256;
    let (whole, used, reasons) = read_json_lines(data, &path, true, usize::MAX);
    assert_eq!(used, data.len());
    let (first, used, first_reasons) = read_json_lines(&data[..place], &path, false, usize::MAX);
    let (rest, _, rest_reasons) = read_json_lines(&data[used..], &path, true, usize::MAX);
    assert_eq!([owned(&first), owned(&rest)].concat(), owned(&whole), "divided at {place}");
    let rest_reasons = rest_reasons.into_iter().map(|(at, reason)| (at + used, reason));
    assert_eq!(first_reasons.into_iter().chain(rest_reasons).collect::<Vec<_>>(), reasons);
    data.split(|&byte| byte == b'\n').for_each(|line| check_line(line, &path));
}

/// Compares a line with serde_json, which refuses some of the lines that Python's `json` reads.
fn check_line(line: &[u8], path: &[Vec<u8>]) {
    let json = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let Ok(value) = serde_json::from_slice::<Value>(json) else { return };
    let (texts, _, reasons) = read_json_lines(line, path, true, usize::MAX);
    let mut found = Some(&value);
    if !value.is_string() {
        for key in path {
            found = found.and_then(|value| value.get(std::str::from_utf8(key).unwrap()));
        }
    }
    let expected = match found {
        Some(Value::String(text)) => Ok(text.as_bytes().to_vec()),
        Some(Value::Null) => Err(NoTextReason::Null),
        Some(_) => Err(NoTextReason::NotAString),
        None => Err(NoTextReason::MissingField),
    };
    let result = match reasons.first() {
        Some(&(_, reason)) => Err(reason),
        None => Ok(texts.get(0).unwrap_or_default().to_vec()),
    };
    assert_eq!(result, expected, "{:?}", String::from_utf8_lossy(line));
}
