//! The conversions between UTF-8 and the characters of a Python str, against the standard library.

use std::mem::MaybeUninit;

use polytok_str::Unit;
use polytok_str::from_utf8::{fill, measure};
use polytok_str::to_utf8::{Failure, convert, repair};

use crate::choices::Choices;

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let repetitions = [1, 1, 3, 50][choices.below(4)];
    let data = choices.rest().repeat(repetitions);
    check_from_utf8(&data);
    check_to_utf8(&data, 0xFF);
    let units: Vec<u16> = data.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]])).collect();
    check_to_utf8(&units, 0xFFFF);
    let units = data.chunks_exact(4).map(|unit| u32::from_ne_bytes([unit[0], unit[1], unit[2], unit[3]]) % 0x11_0000);
    check_to_utf8(&units.collect::<Vec<u32>>(), 0x10_FFFF);
}

fn check_from_utf8(data: &[u8]) {
    let measured = measure(data);
    assert_eq!(measured.map(|measured| measured.text), std::str::from_utf8(data).ok());
    let Some(measured) = measured else { return };
    let max_code = measured.text.chars().map(u32::from).max().unwrap_or(0);
    let limits = [0x7F, 0xFF, 0xFFFF, 0x10_FFFF];
    assert_eq!(Some(&measured.max_code), limits.iter().find(|&&limit| max_code <= limit));
    match measured.max_code {
        0x7F | 0xFF => check_fill::<u8>(measured.text, measured.characters),
        0xFFFF => check_fill::<u16>(measured.text, measured.characters),
        _ => check_fill::<u32>(measured.text, measured.characters),
    }
}

fn check_fill<U: Unit>(text: &str, characters: usize) {
    let mut units = vec![MaybeUninit::<U>::uninit(); characters];
    assert_eq!(fill(text, &mut units), text.chars().count());
    // SAFETY: `fill` has initialized a unit for each character.
    let codes = units.iter().map(|unit| unsafe { unit.assume_init() }.into());
    assert!(codes.eq(text.chars().map(u32::from)), "{text:?}");
}

fn check_to_utf8<U: Unit + Copy + Into<u32>>(units: &[U], _largest: u32) {
    let expected: Option<String> = units.iter().map(|&unit| char::from_u32(unit.into())).collect();
    assert_eq!(convert(units, String::from("old")), expected.clone().ok_or(Failure::NotACharacter));
    if let Some(expected) = expected {
        assert_eq!(repair(units), Some(expected));
    }
}
