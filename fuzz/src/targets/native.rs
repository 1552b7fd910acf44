//! The reader of native files: damaged files, and files whose tables are forged.

use std::sync::OnceLock;

use polytok_core::native::{Image, Sections, Tables};
use polytok_core::spec::{Spec, VocabColumns};
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::choices::Choices;
use crate::specs;

const TEXT: &[u8] = "abcab \u{2581}ab\u{2581}\u{2581}cé\u{e4}bab the 12 's thing\u{301}".as_bytes();
const CHECKSUM: std::ops::Range<usize> = 32..40;
const SPECS: usize = 64;

/// A Spec with its native file.
struct Sample {
    outline: Spec,
    file: Vec<u8>,
}

/// Returns the samples, which are the same in each run.
fn samples() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| {
        let seeds = (0_u64..).map(|seed| {
            let numbers = (0..64).map(|at| xxh3_64_with_seed(&[at], seed).to_ne_bytes());
            numbers.flatten().collect::<Vec<u8>>()
        });
        seeds.filter_map(|seed| sample(&seed)).take(SPECS).collect()
    })
}

fn sample(seed: &[u8]) -> Option<Sample> {
    let spec = specs::spec(&mut Choices::new(seed));
    let mut tables = Tables::with_sections();
    Tokenizer::compile_with(spec.clone(), &mut tables).ok()?;
    let file = tables.finish().finish([0; 16]);
    Some(Sample { outline: Spec { vocab: VocabColumns::default(), ..spec }, file })
}

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let sample = &samples()[choices.below(SPECS)];
    let file = match choices.flag() {
        true => with_forged_sections(&sample.file, &mut choices),
        false => with_changed_bytes(&sample.file, &mut choices),
    };
    let Ok(image) = Image::copy(&file) else { return };
    let _ = image.has_tables();
    if let Ok(tokenizer) = Tokenizer::compile_with(sample.outline.clone(), &mut Tables::from_image(image)) {
        call_all_methods(&tokenizer);
    }
}

/// Changes bytes anywhere in a file, and can truncate it; the checksum is right.
fn with_changed_bytes(file: &[u8], choices: &mut Choices) -> Vec<u8> {
    let mut file = file.to_vec();
    if choices.flag() {
        file.truncate(usize::from(choices.byte()) * file.len() / 255);
    }
    while !choices.is_empty() && file.len() > CHECKSUM.end {
        let at = usize::from(u16::from_ne_bytes([choices.byte(), choices.byte()])) % file.len();
        file[at] = choices.byte();
    }
    if file.len() > CHECKSUM.end {
        let sum = xxh3_64_with_seed(&file[CHECKSUM.end..], xxh3_64(&file[..CHECKSUM.start]));
        file[CHECKSUM].copy_from_slice(&sum.to_ne_bytes());
    }
    file
}

/// Changes sections of a file: numbers in them, and their lengths.
fn with_forged_sections(file: &[u8], choices: &mut Choices) -> Vec<u8> {
    let image = Image::copy(file).unwrap();
    let names: Vec<&str> = image.section_names().collect();
    let mut contents: Vec<Vec<u8>> = names.iter().map(|name| image.section(name).unwrap().to_vec()).collect();
    while !choices.is_empty() {
        let section = choices.below(contents.len());
        let content = &mut contents[section];
        let at = usize::from(u16::from_ne_bytes([choices.byte(), choices.byte()])) % content.len().max(1);
        match choices.below(4) {
            0 => content.truncate(at),
            1 => content.extend_from_slice(choices.take(8)),
            2 if at < content.len() => content[at] = choices.byte(),
            _ if at + 4 <= content.len() => {
                let number = [choices.byte(), choices.byte(), choices.byte(), choices.byte()];
                content[at..at + 4].copy_from_slice(&number);
            }
            _ => {}
        }
    }
    let mut sections = Sections::default();
    names.into_iter().zip(contents).for_each(|(name, content)| sections.push(name, content));
    sections.finish([0; 16])
}

/// Calls every method that uses the tables of a tokenizer.
fn call_all_methods(tokenizer: &Tokenizer) {
    let mut ids = Vec::new();
    let _ = tokenizer.encode(TEXT, EncodeOptions::default(), &mut ids);
    assert!(ids.iter().all(|&id| tokenizer.token_bytes(id).is_some()), "an id without a token");
    let _ = tokenizer.decode(&ids, false);
    let _ = tokenizer.tokens(TEXT, EncodeOptions { add_special: true, ..EncodeOptions::default() });
    let _ = tokenizer.nbest(TEXT, 3);
    let _ = tokenizer.sample(TEXT, -1, 0.5, 1);
    let _ = tokenizer.entropy(TEXT, 1.0);
    let _ = tokenizer.id_of(b"ab");
    if let Ok(Some(set)) = tokenizer.special_set(|_| true) {
        let options = EncodeOptions { special: Some(&set), ..EncodeOptions::default() };
        let _ = tokenizer.encode(TEXT, options, &mut ids);
    }
}
