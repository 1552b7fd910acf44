//! All ways to decode ids have the same result, for random Specs and every division of the ids.

use std::sync::Arc;

use polytok_core::spec::Spec;
use polytok_core::streams::stop::StopTexts;
use polytok_core::streams::{
    ByteOptions, ByteStream, InvalidBytes, StreamBuffers, TextOptions, TextStream, UnknownIds,
};
use polytok_core::tokenizer::Tokenizer;

use crate::choices::Choices;
use crate::specs;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let spec: Spec = specs::spec(&mut choices);
    let Ok(tokenizer) = Tokenizer::compile(spec) else { return };
    let skip_special = choices.flag();
    let stop = String::from_utf8_lossy(&specs::joined(&mut choices, 2)).into_owned();
    let sizes: Vec<usize> = (0..4).map(|_| 1 + choices.below(7)).collect();
    let size = tokenizer.max_id().map_or(1, |id| id as usize + 1).min(256);
    let ids: Vec<u32> = choices.rest().iter().map(|&byte| (usize::from(byte) % size) as u32).collect();
    let Ok(bytes) = tokenizer.decode(&ids, skip_special) else { return };
    assert_eq!(streamed_bytes(&tokenizer, &ids, skip_special, &sizes), bytes, "a stream of bytes");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let with_offsets = tokenizer.decode_with_offsets(&ids, skip_special, Some("\u{FFFD}")).unwrap().unwrap();
    assert_eq!(with_offsets.text, text, "decode_with_offsets");
    assert!(with_offsets.piece_ends.is_sorted() && with_offsets.piece_ends.len() == ids.len());
    let chars = text.chars().count() as i64;
    let spans = with_offsets.starts.iter().zip(&with_offsets.ends);
    assert!(spans.into_iter().all(|(&start, &end)| 0 <= start && start <= end && end <= chars));
    for invalid_bytes in [InvalidBytes::Replace, InvalidBytes::Ignore] {
        check_text_stream(&tokenizer, &ids, skip_special, invalid_bytes, &sizes, &bytes);
    }
    check_stop(&tokenizer, &ids, skip_special, &stop, &sizes, &text);
}

/// Divides ids into parts whose sizes repeat.
fn parts<'a>(ids: &'a [u32], sizes: &'a [usize]) -> impl Iterator<Item = &'a [u32]> {
    let mut rest = ids;
    sizes.iter().cycle().map_while(move |&size| {
        let (part, after) = rest.split_at(size.min(rest.len()));
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

fn streamed_bytes(tokenizer: &Tokenizer, ids: &[u32], skip_special: bool, sizes: &[usize]) -> Vec<u8> {
    let options = ByteOptions { skip_special, unknown: UnknownIds::AsDecoder, is_eager: false };
    let (mut stream, mut out) = (ByteStream::new(options), Vec::new());
    parts(ids, sizes).for_each(|part| stream.push(tokenizer, part, &mut out).unwrap());
    stream.finish(tokenizer, &mut out).unwrap();
    out
}

fn text_stream(skip_special: bool, invalid_bytes: InvalidBytes, stop: &[&str]) -> TextStream {
    let bytes = ByteOptions { skip_special, unknown: UnknownIds::AsDecoder, is_eager: false };
    TextStream::new(Arc::new(TextOptions { bytes, invalid_bytes, stop: StopTexts::new(stop).unwrap() }))
}

fn streamed_text(tokenizer: &Tokenizer, mut stream: TextStream, ids: &[u32], sizes: &[usize]) -> (String, TextStream) {
    let (mut buffers, mut out) = (StreamBuffers::default(), String::new());
    parts(ids, sizes).for_each(|part| stream.push(tokenizer, part, &mut buffers, &mut out).unwrap());
    stream.finish(tokenizer, &mut buffers, &mut out).unwrap();
    (out, stream)
}

fn check_text_stream(
    tokenizer: &Tokenizer,
    ids: &[u32],
    skip_special: bool,
    invalid_bytes: InvalidBytes,
    sizes: &[usize],
    bytes: &[u8],
) {
    let expected = match invalid_bytes {
        InvalidBytes::Ignore => bytes.utf8_chunks().map(|chunk| chunk.valid()).collect(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    };
    let (text, _) = streamed_text(tokenizer, text_stream(skip_special, invalid_bytes, &[]), ids, sizes);
    assert_eq!(text, expected, "a stream of text, {invalid_bytes:?}");
}

fn check_stop(tokenizer: &Tokenizer, ids: &[u32], skip_special: bool, stop: &str, sizes: &[usize], text: &str) {
    if stop.is_empty() {
        return;
    }
    let stream = text_stream(skip_special, InvalidBytes::Replace, &[stop]);
    let (out, stream) = streamed_text(tokenizer, stream, ids, sizes);
    match text.split_once(stop) {
        Some((before, _)) if stream.stopped().is_some() => assert_eq!(out, before, "the text before {stop:?}"),
        // A stop text that is complete only when the stream ends is not searched for.
        Some(_) => assert!(text.starts_with(&out) || out == text),
        None => assert_eq!((out.as_str(), stream.stopped()), (text, None)),
    }
}
