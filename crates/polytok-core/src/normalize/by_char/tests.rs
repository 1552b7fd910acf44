use super::*;
use crate::normalize::Span;
use crate::normalize::charsmap::tests::blob;
use crate::spec::{Form, Normalize, Pattern, Replace, SentencePieceVersion, VocabColumns};
use crate::vocab::Vocab;
use proptest::prelude::*;

fn steps(choice: usize, flags: u8) -> Vec<Normalize> {
    let flag = |bit: u8| flags >> bit & 1 == 1;
    let forms = [Form::Nfc, Form::Nfd, Form::Nfkc, Form::Nfkd];
    let pattern = Pattern { text: "''".into(), is_regex: false, unicode: None };
    let mut rules =
        [("\n", " "), ("a\u{301}", "b"), ("\u{A0}", " "), ("\u{600}", "a"), ("世", "eight bytes"), ("界", "")];
    rules.sort_unstable();
    let all_steps = [
        Normalize::Replace(Replace { pattern, content: "\"\u{301}".into() }),
        Normalize::Unicode(forms[flags as usize & 3]),
        Normalize::StripAccents,
        Normalize::Lowercase,
        Normalize::Precompiled(blob(&rules)),
    ];
    let selected_steps = all_steps.into_iter().enumerate().filter(|(at, _)| flag(*at as u8 + 2)).map(|(_, step)| step);
    let (clean_text, strip_accents, lowercase) = (flag(0), flag(1), flag(2));
    match choice {
        0 => vec![Normalize::Bert { clean_text, handle_chinese_chars: false, strip_accents, lowercase }],
        _ => selected_steps.collect(),
    }
}

fn compile(steps: Vec<Normalize>) -> Arc<Normalizer> {
    let vocab = Vocab::new(VocabColumns { offsets: vec![0], ..Default::default() }).unwrap();
    Arc::new(Normalizer::compile(steps, &vocab, None, SentencePieceVersion::V0_2_3).unwrap())
}

/// Returns the text with each white space character replaced by a space, because the table keeps white space.
fn with_spaces(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).collect()
}

fn replace_ideographs(c: char) -> char {
    if ('一'..='龜').contains(&c) { '#' } else { c }
}

fn check(rewrites: &CharRewrites, text: &str) {
    let mut expected = Vec::new();
    rewrites.normalizer.normalize(text.as_bytes(), &mut expected, &mut Vec::new()).unwrap();
    let mut buffers = RewriteBuffers::default();
    let rewritten = rewrites.rewrite(text, &mut buffers).unwrap();
    let expected = std::str::from_utf8(&expected).unwrap().chars();
    let expected: String = expected.map(|c| rewrites.char_map.as_ref().map_or(c, |map| map(c))).collect();
    assert_eq!(with_spaces(rewritten), with_spaces(&expected), "{text:?}");
}

/// Checks that the text with origins is the rewritten text, and that its characters have the spans of the steps.
fn check_origins(rewrites: &CharRewrites, text: &str) {
    let (mut buffers, mut other_buffers) = (RewriteBuffers::default(), RewriteBuffers::default());
    let Some((rewritten, rewritings)) = rewrites.rewrite_with_origins(text, &mut buffers) else { return };
    assert_eq!(rewritten, rewrites.rewrite(text, &mut other_buffers).unwrap());
    let (normalized, spans) = rewrites.normalizer.normalize_with_spans(text.as_bytes()).unwrap();
    let char_ranges = |text: &str| -> Vec<Span> {
        text.char_indices().map(|(at, c)| (at as u32, (at + c.len_utf8()) as u32)).collect()
    };
    let normalized_chars = char_ranges(std::str::from_utf8(&normalized).unwrap());
    let expected: Vec<Span> =
        normalized_chars.iter().map(|&(start, end)| (spans[start as usize].0, spans[end as usize - 1].1)).collect();
    let convert = |span| rewritings.iter().fold(span, |span, runs| runs.original(span));
    assert_eq!(char_ranges(rewritten).into_iter().map(convert).collect::<Vec<_>>(), expected, "{text:?}");
    // Spans in any order have the same origins.
    assert_eq!(char_ranges(rewritten).into_iter().rev().map(convert).collect::<Vec<_>>(), {
        expected.iter().rev().copied().collect::<Vec<_>>()
    });
    // Many spans together, of 0 to 3 characters, have the origins that they have one by one.
    let mut offsets: Vec<u32> = rewritten.char_indices().map(|(at, _)| at as u32).collect();
    for char_count in 0..offsets.len().min(4) {
        for _ in 0..2 {
            let pairs = offsets.iter().zip(&offsets[char_count..]);
            let spans: Vec<Span> = pairs.map(|(&a, &b)| (a.min(b), a.max(b))).collect();
            let (mut starts, mut ends): (Vec<u32>, Vec<u32>) = spans.iter().copied().unzip();
            rewritings.iter().for_each(|runs| runs.convert(&mut starts, &mut ends));
            assert!(starts.into_iter().zip(ends).eq(spans.into_iter().map(convert)), "{text:?}");
            offsets.reverse();
        }
    }
}

/// All characters of the planes in which Unicode 17.0 has letters, marks and tags, and the last one; the other planes are
/// unassigned or private.
fn assigned_planes() -> Vec<char> {
    ('\0'..='\u{3FFFF}').chain('\u{E0000}'..='\u{EFFFF}').chain([char::MAX]).collect()
}

#[test]
fn every_character_is_rewritten_as_by_the_steps() {
    for steps in [steps(0, 7), steps(1, 0b111_1111), steps(1, 0b100_1000), steps(1, 0b100_0110), steps(1, 0b100_0101)] {
        let rewrites = CharRewrites::new(&compile(steps), None).unwrap();
        for chunk in assigned_planes().chunks(256) {
            check(&rewrites, &chunk.iter().flat_map(|&c| [c, 'a', c, c, '世', '\u{301}', c, 'e']).collect::<String>());
        }
    }
}

/// All characters are local in llama.cpp's step, so the words of the rewritten text must be the words of the step's
/// output.
/// The output is longer than the text, so the buffer grows.
#[test]
fn a_text_of_characters_that_are_not_local() {
    let rewrites = CharRewrites::new(&compile(steps(1, 0b100_0010)), Some(Arc::new(replace_ideographs))).unwrap();
    for count in [1, 2, 7, 300] {
        check(&rewrites, &"世界\u{301}a\u{301}".repeat(count));
        check(&rewrites, &format!("世{}", "\u{FDFA}".repeat(count)));
    }
}

#[test]
fn words_of_every_character_are_those_of_the_step() {
    for (lowercase, strip_accents) in [(false, false), (false, true), (true, false), (true, true)] {
        let normalizer = compile(vec![Normalize::Wpm { lowercase, strip_accents }]);
        let rewrites = CharRewrites::new(&normalizer, None).unwrap();
        let words =
            crate::split::chain::SplitChain::compile_words(Some(&normalizer.wpm().unwrap().single_word_class()))
                .unwrap();
        for chunk in assigned_planes().chunks(256) {
            let text: String = chunk.iter().flat_map(|&c| [c, 'a', c, c, ' ', '\u{AD}', c, 'B']).collect();
            let (mut expected, mut rewritten_words) = (Vec::new(), Vec::new());
            normalizer.normalize(text.as_bytes(), &mut expected, &mut Vec::new()).unwrap();
            let mut buffers = RewriteBuffers::default();
            let rewritten = rewrites.rewrite(&text, &mut buffers).unwrap();
            words.split(rewritten, |start, end| rewritten_words.push(&rewritten.as_bytes()[start..end])).unwrap();
            assert_eq!(rewritten_words.join(&b"\0"[..]), expected, "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn rewritten_texts_are_normalized_texts(
        text in "([a-zA-Z ,']{0,9}|[世界一豈\u{3000}。が가각]{0,5}|[éΣﬁÅİ\n\t\r\u{A0}\u{0}\u{600}\u{200D}\u{AD}]|[\u{300}-\u{345}]|[각]|\u{903}|🇩){0,12}",
        choice in 0usize..2,
        flags in 0u8..128,
    ) {
        for char_map in [None, Some(Arc::new(replace_ideographs) as CharMap)] {
            if let Some(rewrites) = CharRewrites::new(&compile(steps(choice, flags)), char_map) {
                check(&rewrites, &text);
                check_origins(&rewrites, &text);
            }
        }
    }
}
