//! Computes the facts about the rows of a vocabulary that conversions between kinds of BPE need.

pub mod derivation;
