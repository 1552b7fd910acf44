//! The polytok engine, in data-flow order.
//!
//! ```text
//! text ──▶ special ──▶ normalize ──▶ split ──▶ model ──▶ post ──▶ ids
//! ids  ──▶ pieces ──▶ bytes ──▶ text                             (decode, also as a stream)
//! ```
//!
//! A [`spec::Spec`] is plain data; [`tokenizer::Tokenizer`] is compiled from it and runs the pipeline, module by
//! module: [`special`] cuts, [`normalize`] rewrites, [`split`] makes pieces, [`model`] makes ids of them (through
//! [`cache`]), [`post`] settles what is unknown, [`decode`] goes back. [`segmentations`] gives the other ways to cut a
//! text, [`batch`] runs over many texts, [`texts`] holds many as a column. [`vocab`] indexes the vocabulary, [`trie`]
//! is the dictionary that several models walk, [`space_mark`] and [`byte_level`] are the tables that formats share,
//! [`utf8`] holds the notions of "character" that the reference programs have, [`wire`] reads the big columns of files,
//! [`convert`] derives what one kind of model needs to be written as another. [`train`] makes vocabularies of texts.
//! [`native`] is the file that compiled tables ([`table`], [`hash`]) are mapped from.

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
pub mod hash;
pub(crate) mod huge;
pub mod lazy;
pub mod model;
pub mod native;
pub mod normalize;
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
pub mod table;
pub mod texts;
pub mod token_id;
pub mod tokenizer;
pub mod train;
pub mod trie;
pub mod utf8;
pub mod vocab;
pub mod wire;
