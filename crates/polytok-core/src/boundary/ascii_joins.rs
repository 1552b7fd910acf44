//! The pairs of ASCII characters that no boundary separates, for tests of 64 adjacent pairs at a time.
//!
//! The left characters of pairs are divided into 32 groups, and a group is joined to a character if any character of
//! the group is. So the code for AVX-512 tests 64 pairs with a few table lookups: the groups of the left character and
//! the groups to which the right character is joined have a bit in common. Characters with similar neighbours share a
//! group, so few additional pairs are joined. An additional pair only loses a boundary, which costs time but never
//! changes ids. Portable code reads a table of all pairs of bytes, which has the same additional pairs.

use polytok_memory::{self as memory, Grow};
use polytok_simd::SimdLevel;

/// The number of pairs of bytes that are tested together.
pub(crate) const BLOCK_LEN: usize = 64;

/// The number of groups of left characters: eight for each byte of a lookup.
const MAX_GROUPS: usize = 8 * OCTETS;
const OCTETS: usize = 4;

/// A character that this number of characters can precede is frequent; a pair with a frequent character counts more.
const FREQUENT_AFTER: u32 = 20;
const FREQUENT_WEIGHT: u32 = 8;

/// Returns the number of ASCII bytes at the start of a block.
#[inline]
pub(crate) fn ascii_len(block: &[u8; BLOCK_LEN]) -> usize {
    let (groups, _) = block.as_chunks::<8>();
    for (i, group) in groups.iter().enumerate() {
        let high_bits = u64::from_le_bytes(*group) & 0x8080_8080_8080_8080;
        if high_bits != 0 {
            return 8 * i + high_bits.trailing_zeros() as usize / 8;
        }
    }
    BLOCK_LEN
}

/// The pairs of ASCII characters that are joined.
pub(crate) struct AsciiJoins {
    /// For each pair of bytes, 1 if there is a boundary between the two bytes or if either byte is not ASCII. The first
    /// byte is the low half of the index.
    ends: Box<[u8; 1 << 16]>,
    /// A bit for the group of each left character.
    left_groups: Box<[[u8; 128]; OCTETS]>,
    /// The bits of the groups to which each right character is joined.
    right_groups: Box<[[u8; 128]; OCTETS]>,
}

impl AsciiJoins {
    /// Builds the tables. `joined` has a bit for each ASCII character that is joined to the ASCII character before it.
    pub fn new(joined: &[u128; 128]) -> AsciiJoins {
        let mut joins = AsciiJoins {
            ends: memory::zeroed_box(),
            left_groups: Box::new([[0; 128]; OCTETS]),
            right_groups: Box::new([[0; 128]; OCTETS]),
        };
        joins.ends.fill(1);
        for (at, group) in groups(joined).iter().enumerate() {
            let (octet, bit) = (at / 8, 1 << (at % 8));
            for char in 0..128 {
                joins.left_groups[octet][char] |= if group.members >> char & 1 == 1 { bit } else { 0 };
                joins.right_groups[octet][char] |= if group.joined >> char & 1 == 1 { bit } else { 0 };
            }
            for (left, right) in (0..128).flat_map(|left| (0..128).map(move |right| (left, right))) {
                if group.members >> left & group.joined >> right & 1 == 1 {
                    joins.ends[left | right << 8] = 0;
                }
            }
        }
        joins
    }

    /// Reports whether there is a boundary between the two bytes, or either byte is not ASCII.
    #[inline]
    pub fn is_end(&self, left: u8, right: u8) -> bool {
        self.ends[u16::from_le_bytes([left, right]) as usize] != 0
    }

    /// Returns a bit for each of the first `len` bytes of the window, at most `BLOCK_LEN`: set if there is a boundary
    /// after the byte, or if the byte or the next byte is not ASCII. The other bits are 0.
    #[inline]
    pub fn ends(&self, window: &[u8; BLOCK_LEN + 1], len: usize) -> u64 {
        self.ends_at(SimdLevel::current(), window, len) & u64::MAX.checked_shr((BLOCK_LEN - len) as u32).unwrap_or(0)
    }

    /// Implements `ends` with the instructions of a SIMD level, which the processor must support. The bits after the
    /// first `len` bits have no meaning.
    #[inline]
    fn ends_at(&self, level: SimdLevel, window: &[u8; BLOCK_LEN + 1], len: usize) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if level >= SimdLevel::Avx512 {
            // SAFETY: the processor has AVX-512, because it supports the level.
            return unsafe { avx512::ends(self, window) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = level;
        self.ends_by_table(window, len)
    }

    /// Does the work of `ends_at` pair by pair.
    #[inline]
    fn ends_by_table(&self, window: &[u8; BLOCK_LEN + 1], len: usize) -> u64 {
        let mut ends = 0;
        for group_start in (0..len).step_by(8) {
            ends |= (self.eight_ends(&window[group_start..]) as u64) << group_start;
        }
        ends
    }

    /// Returns the bits of `ends` for the first eight bytes of a slice of at least nine.
    #[inline]
    pub fn eight_ends(&self, window: &[u8]) -> u32 {
        let Some(window) = window.first_chunk::<9>() else { return 0 };
        (0..8)
            .fold(0, |ends, i| ends | (self.ends[u16::from_le_bytes([window[i], window[i + 1]]) as usize] as u32) << i)
    }
}

/// Left characters with similar neighbours.
#[derive(Clone, Copy)]
struct Group {
    members: u128,
    /// The characters that are joined to any of the members.
    joined: u128,
}

impl Group {
    /// Returns the weight of the pairs that would be joined additionally if two groups were one.
    fn cost(self, other: Group, frequent: u128) -> u32 {
        self.lost_boundaries(other, frequent) + other.lost_boundaries(self, frequent)
    }

    /// Returns the weight of the pairs of this group that would be joined additionally. A group with many neighbours
    /// has frequent members.
    fn lost_boundaries(self, other: Group, frequent: u128) -> u32 {
        let added = other.joined & !self.joined;
        self.joined.count_ones() * (added.count_ones() + FREQUENT_WEIGHT * (added & frequent).count_ones())
    }
}

/// Divides the left characters into at most `MAX_GROUPS` groups: first one group for each set of right characters, then
/// joins the two groups that are most similar.
fn groups(joined: &[u128; 128]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (char, &joined) in joined.iter().enumerate().filter(|(_, joined)| **joined != 0) {
        match groups.iter_mut().find(|group| group.joined == joined) {
            Some(group) => group.members |= 1 << char,
            None => groups.checked_push(Group { members: 1 << char, joined }),
        }
    }
    let count_before = |right: usize| joined.iter().filter(|joined| **joined >> right & 1 == 1).count() as u32;
    let frequent_chars = (0..128).filter(|&right| count_before(right) >= FREQUENT_AFTER);
    let frequent = frequent_chars.fold(0u128, |frequent, right| frequent | 1 << right);
    while groups.len() > MAX_GROUPS {
        let pairs = (1..groups.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
        let similar_pair = pairs.min_by_key(|&(first, second)| groups[first].cost(groups[second], frequent));
        let Some((first, second)) = similar_pair else { break };
        let Group { members, joined } = groups.swap_remove(second);
        groups[first].members |= members;
        groups[first].joined |= joined;
    }
    groups
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{AsciiJoins, BLOCK_LEN, OCTETS};
    use std::arch::x86_64::*;

    /// Implements `AsciiJoins::ends`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn ends(joins: &AsciiJoins, window: &[u8; BLOCK_LEN + 1]) -> u64 {
        let (left, right) = (load(&window[..BLOCK_LEN]), load(&window[1..]));
        let mut joined = 0;
        for octet in 0..OCTETS {
            let left_groups = look_up(&joins.left_groups[octet], left);
            let right_groups = look_up(&joins.right_groups[octet], right);
            joined |= _mm512_test_epi8_mask(left_groups, right_groups);
        }
        !joined | _mm512_movepi8_mask(_mm512_or_si512(left, right))
    }

    /// Looks up the lowest seven bits of each byte.
    #[target_feature(enable = "avx512f,avx512vbmi")]
    fn look_up(table: &[u8; 128], bytes: __m512i) -> __m512i {
        _mm512_permutex2var_epi8(load(&table[..BLOCK_LEN]), bytes, load(&table[BLOCK_LEN..]))
    }

    #[target_feature(enable = "avx512f")]
    fn load(bytes: &[u8]) -> __m512i {
        assert!(bytes.len() >= BLOCK_LEN);
        // SAFETY: the slice has the 64 bytes that are read.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns pairs for many different left characters, so that groups must be joined.
    fn joined_chars() -> impl Strategy<Value = Vec<u128>> {
        let row = prop_oneof![2 => Just(0u128), 3 => any::<u128>(), 3 => (0u32..128).prop_map(|right| 1 << right)];
        prop::collection::vec(row, 128)
    }

    proptest! {
        #[test]
        fn no_joined_pair_has_a_boundary(joined in joined_chars(), bytes in prop::collection::vec(any::<u8>(), BLOCK_LEN + 1)) {
            let joins = AsciiJoins::new(joined.as_slice().try_into().unwrap());
            for (left, right) in (0..=255u8).flat_map(|left| (0..=255u8).map(move |right| (left, right))) {
                let is_joined = left < 128 && right < 128 && joined[left as usize] >> right & 1 == 1;
                prop_assert!(!is_joined || !joins.is_end(left, right));
                prop_assert!((left | right) < 128 || joins.is_end(left, right));
            }
            let window = bytes.as_slice().try_into().unwrap();
            let expected = (0..BLOCK_LEN).fold(0, |ends, i| ends | (joins.is_end(bytes[i], bytes[i + 1]) as u64) << i);
            for (level, len) in SimdLevel::supported().flat_map(|level| (0..=BLOCK_LEN).map(move |len| (level, len))) {
                let valid_bits = (0..len).fold(0, |bits, i| bits | 1 << i);
                prop_assert_eq!(joins.ends_at(level, window, len) & valid_bits, expected & valid_bits);
                prop_assert_eq!(joins.ends(window, len), expected & valid_bits);
            }
        }
    }

    #[test]
    fn pairs_of_few_groups_are_exact() {
        let joined: [u128; 128] = std::array::from_fn(|left| 0xFF << (left % MAX_GROUPS));
        let joins = AsciiJoins::new(&joined);
        for (left, right) in (0..128u8).flat_map(|left| (0..128u8).map(move |right| (left, right))) {
            assert_eq!(joins.is_end(left, right), joined[left as usize] >> right & 1 == 0);
        }
    }
}
