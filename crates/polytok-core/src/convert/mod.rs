//! What conversions between kinds of BPE need to know of a vocabulary, computed once over all rows.

pub mod derivation;
