//! Compares all vector instructions that the processor has with plain loops over characters.

use super::super::pattern;
use super::super::program::Program;
use super::super::rule::Octet;
use super::super::utf8::is_continuation;
use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

const GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const CL100K: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|",
    r"\s++$|\s*[\r\n]|\s+(?!\S)|\s",
);
const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    [GPT2, CL100K, O200K].map(|text| Program::compile(&pattern::parse(text).unwrap()).unwrap()).into()
});

/// Reports whether a window is in a cube.
fn in_cubes(octets: &[Octet], window: &[u8]) -> bool {
    let cubes = |octet: &Octet| octet.iter().zip(window).fold(0xFF, |cubes, (table, &at)| cubes & table[at as usize]);
    octets.iter().any(|octet| cubes(octet) != 0)
}

/// Reads a text in blocks, and compares the decision about each offset.
fn check_blocks(instructions: Instructions, program: &Program, text: &str) {
    let rule = program.stream.as_ref().unwrap().prepare(&program.classes).unwrap();
    let (starts, groups): (Vec<usize>, Vec<u8>) = text
        .char_indices()
        .map(|(at, c)| {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes);
            (at, rule.groups.first(&program.classes, bytes))
        })
        .unzip();
    let mut block = Block::default();
    let mut at = BEFORE;
    while at + 1 < starts.len() {
        block.read(instructions, rule, &program.classes, text.as_bytes(), starts[at]);
        let position = block.position(starts[at]).expect("a window fits");
        for (first, word) in block.words(position) {
            for bit in (0..64).filter(|bit| (position..block.len).contains(&(first + bit))) {
                let offset = block.offset(first + bit);
                let decision = (word.ends >> bit & 1 != 0, word.unsure >> bit & 1 != 0);
                let expected = if is_continuation(text.as_bytes()[offset]) {
                    (false, false)
                } else {
                    let window = &groups[at - BEFORE..at + 2];
                    at += 1;
                    (in_cubes(&rule.ends, window), in_cubes(&rule.unsure, window))
                };
                assert_eq!(decision, expected, "{instructions:?} at {offset} of {text:?}");
            }
        }
        assert_eq!(block.end(), starts[at], "{instructions:?} skips characters of {text:?}");
    }
    block.read(instructions, rule, &program.classes, text.as_bytes(), text.len());
    assert_eq!(block.position(text.len()), None);
}

fn texts() -> impl Strategy<Value = String> {
    let alphabets = ["aB 's.\n1", "é a\u{301}", "漢字。a", "😀 \u{10FFFF}x", "\0\u{7F}\u{80}\u{7FF}\u{800}\u{FFFF}𐀀"];
    let part = prop::sample::select(alphabets.to_vec()).prop_flat_map(|alphabet| {
        prop::collection::vec(prop::sample::select(alphabet.chars().collect::<Vec<_>>()), 0..140)
    });
    prop::collection::vec(part, 0..7).prop_map(|parts| parts.concat().into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_instructions_decide_like_a_loop(text in texts()) {
        for instructions in Instructions::of_processor() {
            PROGRAMS.iter().for_each(|program| check_blocks(instructions, program, &text));
        }
    }

    #[test]
    fn all_instructions_write_the_same_pieces(ends: u64, mask: u64, base in 0..1u32 << 30, before in 0..300u32) {
        for ends in [ends, ends & mask, ends | mask, 0, 1, 1 << 63, u64::MAX] {
            let room = (ends.count_ones() as usize).next_multiple_of(PIECES_TOGETHER);
            prop_assert!(is_room_for(ends, room) && (room == 0 || room == 64 || !is_room_for(ends, room - 1)));
            let mut expected = vec![(0, 0); room];
            let count = write_pieces(base + before, ends, base, &mut expected);
            for instructions in Instructions::of_processor() {
                let mut pieces = vec![(0, 0); room];
                prop_assert_eq!(instructions.write_pieces(base + before, ends, base, &mut pieces), count);
                prop_assert_eq!(&pieces[..count], &expected[..count]);
            }
        }
    }

    #[test]
    fn all_instructions_find_the_pieces_of_the_automaton(text in texts(), room in 128..200usize) {
        for program in PROGRAMS.iter() {
            let stream = program.stream.as_ref().unwrap();
            stream.prepare(&program.classes);
            let expected = stream.pieces_by(None, &program.classes, &text, room);
            for instructions in Instructions::of_processor() {
                let pieces = stream.pieces_by(Some(instructions), &program.classes, &text, room);
                prop_assert_eq!(&pieces, &expected, "{:?} on {:?}", instructions, text);
            }
        }
    }
}
