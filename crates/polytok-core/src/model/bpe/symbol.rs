//! Symbols and ranks: what BPE merges, and in which order.
//!
//! Both are four bytes, since tables of millions of them lie in the native file and in the processor's caches. What the bits
//! mean is written here only; everything else asks [`Symbol::kind`].

use bytemuck::{Pod, Zeroable};

use crate::token_id::TokenId;
use crate::vocab::Row;

/// What merging works on: a row of the vocabulary, a user-defined entry, or a unit of text that is not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Symbol(u32);

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// This row.
    Row(Row),
    /// The user-defined entry of this id, which merges with nothing. A table of a file may name an id that does not exist.
    UserDefined(TokenId),
    /// Text that is not an entry: a unit that merging numbered, or [`Symbol::INERT`].
    Text,
}

impl Symbol {
    /// Text that is not an entry and merges with nothing.
    pub const INERT: Symbol = Symbol(u32::MAX);

    /// Numbers from here on, except that of [`INERT`](Self::INERT), are ids of user-defined entries. Those ids are smaller than this.
    pub const USER_DEFINED: u32 = 1 << 31;

    /// The symbol of a row.
    #[inline(always)]
    pub const fn row(row: Row) -> Symbol {
        Symbol(row.0)
    }

    /// The symbol of this number: that of a row, or of a unit, whose numbers follow those of the rows.
    #[inline(always)]
    pub const fn new(number: u32) -> Symbol {
        Symbol(number)
    }

    /// The symbol of a user-defined entry.
    #[inline(always)]
    pub const fn user_defined(id: TokenId) -> Symbol {
        Symbol(Self::USER_DEFINED + id.0)
    }

    /// The number of the row or of the unit.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Whether this is a user-defined entry.
    #[inline(always)]
    pub fn is_user_defined(self) -> bool {
        self.0 >= Self::USER_DEFINED && self != Self::INERT
    }

    /// What it stands for in a vocabulary of this number of rows.
    #[inline(always)]
    pub fn kind(self, rows: usize) -> SymbolKind {
        match self.0 {
            row if (row as usize) < rows => SymbolKind::Row(Row(row)),
            number if self.is_user_defined() => SymbolKind::UserDefined(TokenId(number - Self::USER_DEFINED)),
            _ => SymbolKind::Text,
        }
    }
}

/// The priority of a pair: the lowest merges first. It is not an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Rank(pub u32);

impl Rank {
    /// The rank of what does not merge; it is higher than all others.
    pub const NONE: Rank = Rank(u32::MAX);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_one_kind() {
        assert_eq!(Symbol::new(2).kind(3), SymbolKind::Row(Row(2)));
        assert_eq!(Symbol::new(3).kind(3), SymbolKind::Text);
        assert_eq!(Symbol::user_defined(TokenId(0)).kind(3), SymbolKind::UserDefined(TokenId(0)));
        assert_eq!(Symbol::user_defined(TokenId(7)).kind(3), SymbolKind::UserDefined(TokenId(7)));
        assert_eq!(Symbol::INERT.kind(3), SymbolKind::Text);
        assert!(!Symbol::INERT.is_user_defined() && !Symbol::new(Symbol::USER_DEFINED - 1).is_user_defined());
    }
}
