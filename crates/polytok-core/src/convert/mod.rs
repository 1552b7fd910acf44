//! Facts about a vocabulary that conversions between kinds of BPE need, computed once for all rows.

pub mod derivation;
