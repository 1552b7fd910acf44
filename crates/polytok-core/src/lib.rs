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
//! segmentations of a text, [`batch`] encodes many texts, [`texts`] stores many texts as a column. [`vocab`] indexes the vocabulary, [`trie`] is the dictionary
//! that several models search, [`space_mark`] and [`byte_level`] convert the characters that several formats write for
//! spaces and bytes, [`utf8`] has the definitions of "character" that the reference programs use, [`wire`] reads the
//! vocabularies and merges of model files, [`convert`] computes how merges produce each vocabulary row, for conversions
//! between kinds of models. [`train`] trains vocabularies from texts. [`native`] reads and writes polytok's own file,
//! from which compiled tables ([`table`], [`hash`]) are mapped.

// Vector code, which is written for x86-64, has constants, tables and fields of its own.
#![cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]

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
