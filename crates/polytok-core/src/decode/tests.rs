//! Checks for every family that decoding with stored texts returns the same bytes as decoding each id with the rules of
//! the family.

use proptest::prelude::*;

use super::*;
use crate::model::unigram::tests::vocab;
use crate::spec::{DecodeStep, Family, Kind, Matching, Pattern, Replace, Scheme, SpecialToken};

fn rows() -> Vec<(&'static str, f32, Kind)> {
    vec![
        ("<unk>", 0.0, Kind::Unknown),
        ("<s>", 0.0, Kind::Control),
        ("\u{2581}a", 0.0, Kind::Normal),
        ("\u{2581}", 0.0, Kind::Normal),
        ("b", 0.0, Kind::Normal),
        ("", 0.0, Kind::Unused),
        ("<0xE4>", 0.0, Kind::Byte),
        ("<0xB8>", 0.0, Kind::Byte),
        ("<0x96>", 0.0, Kind::Byte),
        ("<0x0A>", 0.0, Kind::Byte),
        ("fifteen bytes!!", 0.0, Kind::Normal),
        ("sixteen bytes !!", 0.0, Kind::Normal),
        ("\u{2581}a long one that fits in no slot", 0.0, Kind::UserDefined),
        (" ?", 0.0, Kind::Normal),
        ("##c", 0.0, Kind::Normal),
        ("d</w>", 0.0, Kind::Normal),
        ("Ġe", 0.0, Kind::Normal),
    ]
}

fn sentencepiece_decode((add_dummy_prefix, remove_extra_whitespaces): (bool, bool)) -> Decode {
    let unk_surface = " \u{2047} ".as_bytes().to_vec();
    Decode::SentencePiece { add_dummy_prefix, remove_extra_whitespaces, unk_surface, denormalize: None }
}

fn chain_decode(steps: Vec<DecodeStep>) -> Decode {
    Decode::Chain { steps: Some(steps), byte_level: false }
}

fn all_decodes() -> Vec<Decode> {
    let pattern = Pattern { text: "\u{2581}".into(), is_regex: false, unicode: None };
    let llama_cpp_decode = |family, strip_space, clean_spaces| Decode::LlamaCpp {
        family,
        strip_space,
        clean_spaces,
        escaped_spaces: false,
    };
    vec![
        Decode::Bytes { skips_unknown: false },
        Decode::Llama2c,
        sentencepiece_decode((true, false)),
        sentencepiece_decode((false, true)),
        sentencepiece_decode((false, false)),
        llama_cpp_decode(Family::Spm, true, false),
        llama_cpp_decode(Family::Bpe, false, true),
        Decode::Chain { steps: None, byte_level: false },
        chain_decode(vec![
            DecodeStep::Replace(Replace { pattern, content: " ".into() }),
            DecodeStep::ByteFallback,
            DecodeStep::Fuse,
            DecodeStep::Strip { content: ' ', start: 1, stop: 0 },
        ]),
        chain_decode(vec![DecodeStep::ByteLevel]),
        chain_decode(vec![DecodeStep::WordPiece { prefix: "##".into(), cleanup: true }]),
        chain_decode(vec![DecodeStep::Metaspace { replacement: "\u{2581}".into(), prepend: Scheme::Always }]),
        chain_decode(vec![DecodeStep::Bpe { suffix: "</w>".into() }]),
    ]
}

fn decode(
    decoder: &Decoder,
    vocab: &Vocab,
    specials: &Specials,
    parts: &[&[u32]],
    skip_special: bool,
) -> Result<Vec<u8>> {
    let (mut state, mut out) = (DecodeState::default(), Vec::new());
    for ids in parts {
        decoder.append(vocab, specials, TokenId::slice_of(ids), skip_special, &mut state, &mut out)?;
    }
    decoder.finish(&mut state, &mut out)?;
    Ok(out)
}

proptest! {
    #[test]
    fn runs_of_ids_are_decoded_as_the_rules_decode_ids(
        decode_index in 0..all_decodes().len(),
        ids in proptest::collection::vec(prop_oneof![2..5u32, 0..18u32], 0..90),
        split_at in 0..90usize,
        skip_special: bool,
    ) {
        let vocab = vocab(&rows()[1..]);
        let special = |text: &str, id| SpecialToken { text: text.into(), id, ..SpecialToken::default() };
        let listed_tokens = vec![special("<|x|>", TokenId(vocab.size())), special("b", TokenId(4))];
        let specials = Specials::new(listed_tokens, &vocab, Matching::Longest, &|text| Ok(text.to_vec())).unwrap();
        let decoder = Decoder::compile(&all_decodes()[decode_index], &vocab, SentencePieceVersion::default()).unwrap();
        let mut decoder_without_texts = Decoder::compile(&all_decodes()[decode_index], &vocab, SentencePieceVersion::default()).unwrap();
        decoder_without_texts.texts = RowTexts::new(vocab.rows().map(|_| (SettledOutput::Depends, false))).into();
        let expected = decode(&decoder_without_texts, &vocab, &specials, &[&ids], skip_special).map_err(|error| error.to_string());
        let split_at = split_at.min(ids.len());
        for parts in [&[&ids[..]][..], &[&ids[..split_at], &ids[split_at..]]] {
            let result = decode(&decoder, &vocab, &specials, parts, skip_special);
            prop_assert_eq!(result.map_err(|error| error.to_string()), expected.clone());
        }
    }

    #[test]
    fn pieces_end_where_the_decoded_ids_up_to_them_end(
        flags: (bool, bool),
        ids in proptest::collection::vec(0..17u32, 0..40),
    ) {
        let vocab = vocab(&rows()[1..]);
        let specials = Specials::new(vec![], &vocab, Matching::Longest, &|text| Ok(text.to_vec())).unwrap();
        let decoder = Decoder::compile(&sentencepiece_decode(flags), &vocab, SentencePieceVersion::default()).unwrap();
        let decode = |ids: &[u32]| decode(&decoder, &vocab, &specials, &[ids], false).unwrap();
        let (text, ends) = decoder.decode_pieces(&vocab, &specials, TokenId::slice_of(&ids)).unwrap().unwrap();
        prop_assert_eq!(&text, &decode(&ids));
        prop_assert_eq!(ends.len(), ids.len());
        prop_assert!(ends.is_sorted());
        for (at, (&id, &end)) in ids.iter().zip(&ends).enumerate() {
            // The text of a byte depends on the bytes that follow.
            if rows()[id as usize].2 != Kind::Byte {
                prop_assert_eq!(&text[..end], &decode(&ids[..=at]), "piece {}", at);
            }
        }
        let unknown_id = [TokenId(vocab.size())];
        prop_assert!(decoder.decode_pieces(&vocab, &specials, &unknown_id).is_err());
    }
}
