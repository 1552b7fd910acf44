//! Texts that arrive in chunks or change have the ids of the whole text, for random Specs.

use polytok_core::incremental::{Addition, ChunkEncoder, IncrementalText};
use polytok_core::spec::Spec;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};

use super::encode::encoded;
use crate::choices::Choices;
use crate::specs;

const MAX_EDITS: usize = 6;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let spec: Spec = specs::spec(&mut choices);
    let Ok(tokenizer) = Tokenizer::compile(spec) else { return };
    let special = if choices.flag() { tokenizer.special_set(|_| true).unwrap_or_default() } else { None };
    let options = EncodeOptions { add_special: choices.flag(), special: special.as_ref(), ..EncodeOptions::default() };
    let edits: Vec<[u8; 4]> = (0..choices.below(MAX_EDITS + 1)).map(|_| [(); 4].map(|()| choices.byte())).collect();
    let text = specs::text(&mut choices);
    specs::show("add_special, edits", &(options.add_special, options.special.is_some(), &edits));
    check_chunks(&tokenizer, &text, options, &edits);
    check_edits(&tokenizer, &text, options, &edits);
}

fn place(len: usize, byte: u8) -> usize {
    usize::from(byte) * (len + 1) / 256
}

fn check_chunks(tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions, edits: &[[u8; 4]]) {
    let mut places: Vec<usize> = edits.iter().flatten().map(|&byte| place(text.len(), byte)).collect();
    places.push(text.len());
    places.sort_unstable();
    let (mut encoder, mut ids, mut from) = (ChunkEncoder::default(), Vec::new(), 0);
    let mut push_all = || {
        for &to in &places {
            encoder.push(tokenizer, Addition { text: &text[from..to], runs: None }, options, &mut ids)?;
            from = to;
        }
        encoder.finish(tokenizer, options, &mut ids)
    };
    let result = push_all();
    match encoded(tokenizer, text, options) {
        Ok(expected) => assert_eq!(result.map(|()| ids).map_err(|error| error.to_string()), Ok(expected), "chunks"),
        Err(_) => assert!(result.is_err(), "chunks of a text that cannot be encoded"),
    }
}

fn check_edits(tokenizer: &Tokenizer, text: &[u8], options: EncodeOptions, edits: &[[u8; 4]]) {
    let Ok(mut changing) = IncrementalText::new(tokenizer, options) else { return };
    let mut current = Vec::new();
    let mut old_ids = changing.ids(tokenizer, options);
    for &[kind, from, to, at] in edits {
        let (from, to) = (place(text.len(), from.min(to)), place(text.len(), from.max(to)));
        let part = Addition { text: &text[from..to], runs: None };
        let at = place(current.len(), at);
        let mut new_text = current.clone();
        let result = match kind % 3 {
            0 => {
                new_text.extend_from_slice(part.text);
                changing.append(tokenizer, part, options)
            }
            1 => {
                new_text.splice(at.min(new_text.len()).., part.text.iter().copied());
                let whole = Addition { text: &new_text, runs: None };
                changing.set_text(tokenizer, whole, options)
            }
            _ => {
                let starts = |byte: &&u8| **byte & 0xC0 != 0x80;
                let chars = current[..at].iter().filter(starts).count();
                let end = current.iter().enumerate().filter(|(_, byte)| **byte & 0xC0 != 0x80).nth(chars);
                new_text.truncate(end.map_or(current.len(), |(end, _)| end));
                changing.truncate(tokenizer, chars, options)
            }
        };
        match (encoded(tokenizer, &new_text, options), result) {
            (Ok(expected), Ok(change)) => {
                current = new_text;
                old_ids.truncate(change.kept);
                old_ids.extend(change.ids);
                assert_eq!(old_ids, expected, "the ids after the change");
                assert_eq!(changing.ids(tokenizer, options), expected, "the ids");
                assert_eq!(changing.text(), current, "the text");
                check_settled(tokenizer, &changing, options, &expected);
            }
            (Err(_), Err(_)) => assert_eq!(changing.text(), current, "a failed change changes the text"),
            (expected, result) => panic!("the whole text: {expected:?}, the change: {result:?}"),
        }
    }
}

/// Checks that text which is appended does not change the ids that are settled.
fn check_settled(tokenizer: &Tokenizer, changing: &IncrementalText, options: EncodeOptions, ids: &[u32]) {
    let settled = changing.settled_count(tokenizer, options);
    for atom in [&b"a"[..], b" ", b"\xcc\x81", b"</s>"] {
        if let Ok(longer) = encoded(tokenizer, &[&changing.text(), atom].concat(), options) {
            assert_eq!(longer.get(..settled), ids.get(..settled), "settled ids change");
        }
    }
}
