//! The polytok engine, in data-flow order.
//!
//! ```text
//! text ──▶ special ──▶ normalize ──▶ split ──▶ model ──▶ post ──▶ ids
//! ids  ──▶ pieces ──▶ bytes ──▶ text                             (decode, also as a stream)
//! ```
//!
//! A [`spec::Spec`] is plain data. [`vocab`] indexes its vocabulary, [`trie`] is the dictionary that several models
//! walk, [`utf8`] holds the three notions of "character" that the reference programs have.

pub mod error;
pub mod model;
pub mod normalize;
pub mod rng;
pub mod spec;
pub mod split;
pub mod trie;
pub mod utf8;
pub mod vocab;
pub mod wire;
