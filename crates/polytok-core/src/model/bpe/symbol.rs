//! Symbols, which BPE merges, and ranks, which decide the order of merges.
//!
//! Symbols and ranks have four bytes each, because the native file and the processor's caches hold tables of millions
//! of symbols and ranks. Only this file knows the meaning of the bits; all other code calls [`Symbol::kind`].

use bytemuck::{Pod, Zeroable};

use crate::token_id::TokenId;
use crate::vocab::Row;

/// A symbol of a merge run: a row of the vocabulary, a user-defined entry, or a unit of text that is not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Symbol(u32);

/// The meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A row of the vocabulary.
    Row(Row),
    /// The user-defined entry with this id, which never merges. A table of a damaged file can have an id that does not
    /// exist.
    UserDefined(TokenId),
    /// Text that is not an entry: a numbered unit, or [`Symbol::INERT`].
    Text,
}

impl Symbol {
    /// The symbol of text that is not an entry and never merges.
    pub const INERT: Symbol = Symbol(u32::MAX);

    /// The number of the first user-defined symbol. The symbol of a user-defined entry is the sum of this number and
    /// the entry's id, which is smaller than this number.
    pub const USER_DEFINED: u32 = 1 << 31;

    /// The symbol before the first and after the last symbol of a short piece. It never merges, because it has the
    /// number of a user-defined entry.
    pub const BORDER: Symbol = Symbol::user_defined(TokenId(0));

    /// Returns the symbol of a row.
    #[inline(always)]
    pub const fn row(row: Row) -> Symbol {
        Symbol(row.0)
    }

    /// Returns the symbol with this number, which is the number of a row or of a unit; numbers of units follow the
    /// numbers of rows.
    #[inline(always)]
    pub const fn new(number: u32) -> Symbol {
        Symbol(number)
    }

    /// Returns the symbol of a user-defined entry.
    #[inline(always)]
    pub const fn user_defined(id: TokenId) -> Symbol {
        Symbol(Self::USER_DEFINED + id.0)
    }

    /// Returns the number of the row or unit.
    #[inline(always)]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Reports whether the symbol is a user-defined entry.
    #[inline(always)]
    pub fn is_user_defined(self) -> bool {
        self.0 >= Self::USER_DEFINED && self != Self::INERT
    }

    /// Returns the meaning of the symbol in a vocabulary with `rows` rows.
    #[inline(always)]
    pub fn kind(self, rows: usize) -> SymbolKind {
        match self.0 {
            row if (row as usize) < rows => SymbolKind::Row(Row(row)),
            number if self.is_user_defined() => SymbolKind::UserDefined(TokenId(number - Self::USER_DEFINED)),
            _ => SymbolKind::Text,
        }
    }
}

/// The priority of a pair, which is not an id. The pair of the lowest rank merges first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Rank(pub u32);

impl Rank {
    /// The rank of a pair that does not merge; this rank is higher than all other ranks.
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
