//! A row of the vocabulary: the index of an entry in the order of the file, which can differ from the id of the entry.

use std::fmt;

use bytemuck::{Pod, Zeroable};

/// The index of an entry in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(transparent)]
pub struct Row(pub u32);

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Row {
    /// Returns the row as the index of a column.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
