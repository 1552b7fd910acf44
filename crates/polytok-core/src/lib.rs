//! The polytok engine, in data-flow order.
//!
//! ```text
//! text ──▶ special ──▶ normalize ──▶ split ──▶ model ──▶ post ──▶ ids
//! ids  ──▶ pieces ──▶ bytes ──▶ text                             (decode, also as a stream)
//! ```
//!
//! A [`spec::Spec`] is plain data; [`tokenizer::Tokenizer`] is compiled from it and runs the pipeline, module by
//! module: [`special`] splits the text at special tokens, [`normalize`] rewrites text, [`split`] splits text into
//! pieces, [`model`] converts pieces to ids (through [`cache`]), [`post`] encodes unknown text and the template,
//! [`decode`] converts ids to text, and [`streams`] decodes ids as they arrive. [`segmentations`] returns alternative
//! segmentations of a text, [`batch`] encodes many texts, [`texts`] stores many texts as a column. [`vocab`] indexes
//! the vocabulary, [`trie`] is the dictionary that several models search, [`space_mark`] and [`byte_level`] convert
//! the characters that several formats write for spaces and bytes, [`utf8`] has the definitions of "character" that
//! the reference programs use, [`wire`] reads the vocabularies and merges of model files, [`convert`] computes how
//! merges produce each vocabulary row, for conversions between kinds of models. [`train`] trains vocabularies from
//! texts. [`native`] reads and writes polytok's own file, from which compiled tables ([`table`], [`hash`]) are mapped.
//!
//! # A tour
//!
//! A program usually loads a file: [`Tokenizer::from_image`](tokenizer::Tokenizer::from_image) loads a `.ptok` file,
//! which `polytok convert` writes from a vocabulary of any format, and [`wire::rank_file::spec`] reads one of tiktoken's
//! rank files. The folder examples has a program for both. This tour builds a small tokenizer itself:
//!
//! ```
//! use std::sync::Arc;
//!
//! use polytok_core::spec::{Model, Spec, SpecialToken, VocabColumns};
//! use polytok_core::streams::{StreamBuffers, TextOptions, TextStream};
//! use polytok_core::token_id::TokenId;
//! use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
//!
//! # fn main() -> polytok_core::error::Result<()> {
//! // The entries are all bytes and four longer texts. The pair that merges to the entry with the lowest id merges first.
//! let mut entries: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
//! entries.extend(["lo", "low", " low", "\u{e9}"].map(|text| text.as_bytes().to_vec()));
//! let mut spec = Spec::new(VocabColumns::from_entries(&entries), Model::bpe_by_rank());
//! spec.special.push(SpecialToken { text: b"<end>".to_vec(), id: TokenId(260), ..SpecialToken::default() });
//! let tokenizer = Tokenizer::compile(spec)?;
//!
//! // Encode and decode. Many threads can use one tokenizer at the same time.
//! let mut ids = Vec::new();
//! tokenizer.encode(b"low low", EncodeOptions::default(), &mut ids)?;
//! assert_eq!(ids, [257, 258]);
//! assert_eq!(tokenizer.decode(&ids, false)?, b"low low");
//!
//! // Count the tokens without storing them, and find the bytes of the text that each token covers.
//! assert_eq!(tokenizer.count(b"low low", EncodeOptions::default())?, 2);
//! let spans = tokenizer.spans(b"low low", EncodeOptions::default())?;
//! assert_eq!((spans.starts, spans.ends), (vec![0, 3], vec![3, 7]));
//!
//! // A special token in a text is plain text, unless the options allow it.
//! assert_eq!(tokenizer.count(b"low<end>", EncodeOptions::default())?, 6);
//! let all_special = tokenizer.special_set(|_| true)?;
//! let options = EncodeOptions { special: all_special.as_ref(), ..EncodeOptions::default() };
//! assert_eq!(tokenizer.count(b"low<end>", options)?, 2);
//!
//! // Decode ids as they arrive. The two bytes of a character are returned together.
//! let mut stream = TextStream::new(Arc::new(TextOptions::default()));
//! let (mut buffers, mut text) = (StreamBuffers::default(), String::new());
//! stream.push(&tokenizer, &[257, 0xC3], &mut buffers, &mut text).unwrap();
//! assert_eq!(text, "low");
//! stream.push(&tokenizer, &[0xA9], &mut buffers, &mut text).unwrap();
//! stream.finish(&tokenizer, &mut buffers, &mut text).unwrap();
//! assert_eq!(text, "low\u{e9}");
//! # Ok(())
//! # }
//! ```
//!
//! For special tokens in texts of which only runs are trusted (`EncodeOptions::trusted`), the caller must first set the
//! guard ([`Tokenizer::set_guard`](tokenizer::Tokenizer::set_guard)), because the engine does not derive it.

// Vector code, which is written for x86-64, has constants, tables and fields of its own.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests have memory"))]

pub mod batch;
pub mod boundary;
pub(crate) mod by_lengths;
pub mod byte_level;
pub mod cache;
pub mod checksum;
pub mod convert;
pub mod decode;
pub mod encode;
pub mod error;
pub mod finder;
pub(crate) mod group_set;
pub mod hash;
pub(crate) mod huge;
pub mod incremental;
pub mod lazy;
pub mod model;
pub mod native;
pub mod normalize;
mod outputs;
pub mod pool;
pub mod post;
pub mod prefetch;
pub mod rng;
mod routes;
pub mod scratch;
pub mod segment;
pub mod segmentations;
mod segmenter;
pub mod sink;
pub mod space_mark;
pub mod spec;
pub mod special;
pub mod split;
pub mod streams;
pub(crate) mod sync;
pub mod table;
pub mod texts;
pub mod token_id;
pub mod tokenizer;
pub mod train;
pub mod trie;
mod trust;
pub mod utf8;
pub mod vocab;
pub mod wire;

/// Runs the examples of docs/from-rust.md as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/from-rust.md")]
struct FromRust;
