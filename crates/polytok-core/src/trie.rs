//! A double-array trie over bytes: the dictionary of the Unigram and longest-match models and of prefix search.
//!
//! This is Aoe's double array with XOR addressing: the child of a node for byte `b` is at index `base ^ b`, and the
//! child exists if the node at this index has the label `b`. Checking the label is sufficient because no two nodes have
//! the same base (as in Yata's compact double arrays). A node has eight bytes, so a step reads memory once. Keys can be
//! added in any order. If keys are equal, a search finds the first of them. Building is linear in the number of nodes
//! for real vocabularies.

use bytemuck::{Pod, Zeroable};
use polytok_memory::{self as memory, Collect, Grow};

use crate::error::{Error, Result};
use crate::native::{FilePart, PartWriter, Stored, Tables};
use crate::table::Table;

/// The value of a node that has no value, and the index of a node that does not exist.
pub const NONE: u32 = u32::MAX;

/// A node. From the low bits up, a node has the label (8 bits), the base (24 bits) and the value (32 bits).
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct TrieNode(u64);

impl TrieNode {
    /// Creates a node. `base` must fit into 24 bits.
    #[inline]
    pub fn new(label: u8, base: u32, value: u32) -> TrieNode {
        TrieNode((value as u64) << 32 | (base as u64) << 8 | label as u64)
    }

    /// Returns the byte that leads to the node.
    #[inline]
    pub fn label(self) -> u8 {
        self.0 as u8
    }

    /// Returns the index of the node's child for byte 0.
    #[inline]
    pub fn base(self) -> u32 {
        (self.0 >> 8) as u32 & (MAX_NODES - 1)
    }

    /// Returns the node's value, or `NONE`.
    #[inline]
    pub fn value(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the same node with another value.
    pub fn with_value(self, value: u32) -> TrieNode {
        TrieNode::new(self.label(), self.base(), value)
    }
}

/// The largest number of nodes, because a base has 24 bits.
pub const MAX_NODES: u32 = 1 << 24;

/// The base of nodes without children.
pub const LEAF: u32 = 0;

/// A base that no node has. The root and unused nodes have the labels of children of this base.
const UNUSED_BASE: u32 = 1;

/// The root node.
pub const ROOT: u32 = 0;

/// An immutable map from byte strings to `u32` values below `NONE`.
pub struct Trie {
    nodes: Table<TrieNode>,
    /// The length of the longest key that a search can find.
    max_key_len: usize,
}

impl Trie {
    /// Builds the trie of `(key, value)` pairs without empty keys. Returns an error if the trie would have too many
    /// nodes.
    pub fn build<'a>(pairs: impl IntoIterator<Item = (&'a [u8], u32)>) -> Result<Trie> {
        let mut keys: Vec<(&[u8], u32)> = pairs.into_iter().filter(|(key, _)| !key.is_empty()).checked_collect();
        memory::sort_stably(&mut keys, |a, b| a.0.cmp(b.0)); // the first of equal keys stays first
        keys.dedup_by(|later, first| later.0 == first.0);
        let max_key_len = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        Ok(TrieBuilder::default().build(&keys)?.with_max_key_len(max_key_len))
    }

    /// Reads the trie from the tables of a file, or builds the trie. `max_key_len` is the length of the longest key.
    /// Returns an error if `is_value` rejects a value.
    pub fn compile(
        tables: &mut Tables,
        max_key_len: usize,
        is_value: impl Fn(u32) -> bool,
        build: impl FnOnce() -> Result<Trie>,
    ) -> Result<Trie> {
        let trie = tables.get("trie", build)?.with_max_key_len(max_key_len);
        let invalid_value = trie.values().find(|&value| !is_value(value));
        match invalid_value {
            Some(value) => {
                Err(Error::Format(format!("the section trie.nodes holds the value {value}, which is not an entry")))
            }
            None => Ok(trie),
        }
    }

    /// Limits the length of keys. Nodes from a damaged file can form circles, which this limit makes harmless.
    pub fn with_max_key_len(self, max_key_len: usize) -> Trie {
        Trie { max_key_len, ..self }
    }

    /// Returns all nodes, including the unused nodes.
    pub fn nodes(&self) -> &[TrieNode] {
        &self.nodes
    }

    /// Returns the child of `node` for `byte`, or `NONE`.
    #[inline]
    pub fn child(&self, node: u32, byte: u8) -> u32 {
        let child_index = self.nodes[node as usize].base() ^ byte as u32;
        match self.nodes.get(child_index as usize) {
            Some(child) if child.label() == byte => child_index,
            _ => NONE,
        }
    }

    /// Returns the value at `node`, or `NONE`.
    #[inline]
    pub fn value(&self, node: u32) -> u32 {
        self.nodes[node as usize].value()
    }

    /// Returns the value of exactly `key`.
    pub fn get(&self, key: &[u8]) -> Option<u32> {
        let mut node = ROOT;
        for &byte in key {
            node = self.child(node, byte);
            if node == NONE {
                return None;
            }
        }
        Some(self.value(node)).filter(|&value| value != NONE)
    }

    /// Returns the length and the value of the longest key that `text` starts with.
    #[inline]
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut longest = None;
        self.prefixes(text, |len, value| longest = Some((len, value)));
        longest
    }

    /// Returns all values.
    pub fn values(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|node| node.value()).filter(|&value| value != NONE)
    }

    /// Calls `on_match(length, value)` for every key that `text` starts with, the shortest first.
    #[inline]
    pub fn prefixes(&self, text: &[u8], on_match: impl FnMut(usize, u32)) {
        self.prefixes_under(ROOT, text, on_match);
    }

    /// Calls `on_match(length, value)` for every key that consists of the bytes on the path to `node` and of a prefix
    /// of `text`, the shortest first. The length is the length of this prefix.
    #[inline]
    pub fn prefixes_under(&self, node: u32, text: &[u8], mut on_match: impl FnMut(usize, u32)) {
        // The loop keeps the base in a variable, so that each step reads memory once.
        let mut base = self.nodes[node as usize].base();
        for (i, &byte) in text.iter().enumerate().take(self.max_key_len) {
            let child = self.nodes.get((base ^ byte as u32) as usize);
            let Some(child) = child.filter(|child| child.label() == byte) else { return };
            base = child.base();
            if child.value() != NONE {
                on_match(i + 1, child.value());
            }
        }
    }
}

impl Stored for Trie {
    fn write(&self, out: &mut PartWriter) {
        out.table("nodes", &self.nodes);
    }

    /// Reads a trie. Nodes are not checked here: a search checks each step, and a wrong node leads only to another node
    /// of the same array. A search finds keys only after `with_longest` has set the length of the longest key.
    fn read(part: &FilePart) -> Result<Trie> {
        let nodes: Table<TrieNode> = part.table("nodes")?;
        if nodes.is_empty() {
            Err(part.section_error("nodes", "are missing"))
        } else {
            Ok(Trie { nodes, max_key_len: 0 })
        }
    }
}

/// Assigns nodes to blocks of 256 nodes: the children of a node are written to the first block that has room for all of
/// them.
#[derive(Default)]
struct TrieBuilder {
    nodes: Vec<TrieNode>,
    /// For each block, the indexes that are used by nodes.
    taken_indexes: Vec<BlockIndexes>,
    /// For each block, the bases that are used by nodes.
    used_bases: Vec<BlockIndexes>,
    open_blocks: Vec<NodeBlock>,
}

const BLOCK_LEN: usize = 256;

/// A block with unused indexes, and the number of failed searches in this block.
struct NodeBlock {
    number: usize,
    free_count: u16,
    failed_searches: u8,
}

/// A set of indexes of a block, with a bit for each index.
#[derive(Clone, Copy, Default)]
struct BlockIndexes([u64; BLOCK_LEN / 64]);

impl BlockIndexes {
    #[inline]
    fn add(&mut self, low: usize) {
        self.0[low / 64] |= 1 << (low % 64);
    }

    #[inline]
    fn has(&self, low: usize) -> bool {
        self.0[low / 64] >> (low % 64) & 1 != 0
    }

    #[inline]
    fn union(self, other: BlockIndexes) -> BlockIndexes {
        let (BlockIndexes([a, b, c, d]), BlockIndexes([e, f, g, h])) = (self, other);
        BlockIndexes([a | e, b | f, c | g, d | h])
    }

    /// Returns the indexes `low` for which `low ^ byte` is in the set. The code has no closures over arrays, because
    /// the compiler does not always inline such closures.
    #[inline]
    fn xor(self, byte: u8) -> BlockIndexes {
        let BlockIndexes([a, b, c, d]) = self;
        let [a, b, c, d] = match byte >> 6 {
            0 => [a, b, c, d],
            1 => [b, a, d, c],
            2 => [c, d, a, b],
            _ => [d, c, b, a],
        };
        BlockIndexes([swap_bits(a, byte), swap_bits(b, byte), swap_bits(c, byte), swap_bits(d, byte)])
    }

    /// Returns the first index that is not in the set.
    fn first_missing(self) -> Option<usize> {
        let (word, bits) = self.0.iter().enumerate().find(|(_, bits)| **bits != u64::MAX)?;
        Some(64 * word + bits.trailing_ones() as usize)
    }
}

/// Returns `word` with each bit moved to the index that is its old index xor `byte`. If bit `n` of `byte` is set,
/// adjacent groups of `2^n` bits are swapped.
#[inline]
fn swap_bits(mut word: u64, byte: u8) -> u64 {
    const GROUP_MASKS: [u64; 6] = [!0 / 3, !0 / 5, !0 / 17, !0 / 257, !0 / 65_537, u32::MAX as u64];
    let mut bit = 0;
    while bit < 6 {
        let swapped = (word >> (1 << bit) & GROUP_MASKS[bit]) | (word & GROUP_MASKS[bit]) << (1 << bit);
        // The code has no branch, because the processor could not predict it.
        word ^= (word ^ swapped) & 0u64.wrapping_sub((byte >> bit & 1) as u64);
        bit += 1;
    }
    word
}

impl TrieBuilder {
    fn build(mut self, keys: &[(&[u8], u32)]) -> Result<Trie> {
        self.add_block()?;
        self.used_bases[0].add(LEAF as usize);
        self.used_bases[0].add(UNUSED_BASE as usize);
        self.occupy(ROOT, 0);
        // Each pending range of keys has a depth and a node: the keys of the range share a prefix of `depth` bytes,
        // which leads to the node.
        let mut pending_ranges = vec![(0, keys.len(), 0usize, ROOT)];
        let mut labels: Vec<(u8, usize)> = memory::with_capacity(BLOCK_LEN);
        while let Some((mut from, to, depth, node)) = pending_ranges.pop() {
            let label = self.nodes[node as usize].label();
            let mut value = NONE;
            if from < to && keys[from].0.len() == depth {
                value = keys[from].1;
                from += 1;
            }
            labels.clear();
            for (i, (key, _)) in keys.iter().enumerate().take(to).skip(from) {
                let byte = key[depth];
                if labels.last().is_none_or(|&(last, _)| last != byte) {
                    labels.checked_push((byte, i));
                }
            }
            let base = if labels.is_empty() { LEAF } else { self.find_base(&labels)? };
            self.nodes[node as usize] = TrieNode::new(label, base, value);
            for (k, &(byte, start)) in labels.iter().enumerate() {
                let child = base ^ byte as u32;
                self.occupy(child, byte);
                let end = labels.get(k + 1).map_or(to, |&(_, next)| next);
                pending_ranges.checked_push((start, end, depth + 1, child));
            }
        }
        self.label_unused_indexes();
        Ok(Trie { nodes: self.nodes.into(), max_key_len: 0 })
    }

    fn add_block(&mut self) -> Result<()> {
        let node_count = self.nodes.len() + BLOCK_LEN;
        if node_count > MAX_NODES as usize {
            return Err(Error::Spec(format!("the vocabulary is too large: its trie has more than {MAX_NODES} nodes")));
        }
        self.open_blocks.checked_push(NodeBlock {
            number: self.taken_indexes.len(),
            free_count: BLOCK_LEN as u16,
            failed_searches: 0,
        });
        self.nodes.checked_resize(node_count, TrieNode::new(0, LEAF, NONE));
        self.taken_indexes.checked_push(BlockIndexes::default());
        self.used_bases.checked_push(BlockIndexes::default());
        Ok(())
    }

    fn occupy(&mut self, index: u32, label: u8) {
        let (block_number, low) = (index as usize / BLOCK_LEN, index as usize % BLOCK_LEN);
        self.nodes[index as usize] = TrieNode::new(label, LEAF, NONE);
        self.taken_indexes[block_number].add(low);
        if let Some(i) = self.open_blocks.iter().rposition(|block| block.number == block_number) {
            self.open_blocks[i].free_count -= 1;
            if self.open_blocks[i].free_count == 0 {
                self.open_blocks.remove(i);
            }
        }
    }

    /// Finds a base that no node has, and whose children for all labels are unused. A block in which many searches
    /// failed is not searched again, which limits the cost. Such blocks are nearly full, so this limit wastes little
    /// memory.
    fn find_base(&mut self, labels: &[(u8, usize)]) -> Result<u32> {
        let mut i = 0;
        while i < self.open_blocks.len() {
            let block = &mut self.open_blocks[i];
            if block.free_count as usize >= labels.len() {
                let (taken_indexes, used_bases) =
                    (self.taken_indexes[block.number], &mut self.used_bases[block.number]);
                // The bases that cannot be chosen: bases in use, and bases for which the index of a child is in use.
                let mut unusable_bases = *used_bases;
                for &(byte, _) in labels {
                    unusable_bases = unusable_bases.union(taken_indexes.xor(byte));
                }
                if let Some(low) = unusable_bases.first_missing() {
                    used_bases.add(low);
                    return Ok((block.number * BLOCK_LEN + low) as u32);
                }
                block.failed_searches += 1;
                if block.failed_searches > 8 {
                    self.open_blocks.remove(i);
                    continue;
                }
            }
            i += 1;
        }
        self.add_block()?;
        let number = self.used_bases.len() - 1;
        self.used_bases[number].add(0);
        Ok((number * BLOCK_LEN) as u32)
    }

    /// Labels each unused index as the child of a base that no node has, so that no search accepts the index. Such a
    /// base exists, because every used base has a child in its block.
    fn label_unused_indexes(&mut self) {
        for (block_number, (taken_indexes, used_bases)) in self.taken_indexes.iter().zip(&self.used_bases).enumerate() {
            let base =
                if block_number == 0 { UNUSED_BASE as usize } else { used_bases.first_missing().unwrap_or_default() };
            let root = (block_number == 0).then_some(ROOT as usize);
            for low in (0..BLOCK_LEN).filter(|&low| !taken_indexes.has(low)).chain(root) {
                let node = self.nodes[block_number * BLOCK_LEN + low];
                self.nodes[block_number * BLOCK_LEN + low] =
                    TrieNode::new((low ^ base) as u8, node.base(), node.value());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(words in proptest::collection::btree_map(
            proptest::collection::vec(0u8..6, 1..6), 0u32..1000, 0..60), text in proptest::collection::vec(0u8..7, 0..12)) {
            let trie = Trie::build(words.iter().map(|(k, v)| (k.as_slice(), *v))).unwrap();
            for (key, value) in &words {
                prop_assert_eq!(trie.get(key), Some(*value));
            }
            let mut matches = Vec::new();
            trie.prefixes(&text, |len, value| matches.push((len, value)));
            let expected: Vec<_> = (1..=text.len()).filter_map(|n| words.get(&text[..n]).map(|v| (n, *v))).collect();
            prop_assert_eq!(trie.longest_prefix(&text), expected.last().copied());
            prop_assert_eq!(matches, expected);
        }
    }

    #[test]
    fn the_first_of_equal_keys_wins_and_full_fanout_works() {
        let keys: Vec<[u8; 2]> = (0..=255u8).flat_map(|a| (0..=255u8).map(move |b| [a, b])).collect();
        let mut map = BTreeMap::new();
        for (i, key) in keys.iter().enumerate() {
            map.insert(key.as_slice(), i as u32);
        }
        let trie =
            Trie::build(keys.iter().zip(0..).map(|(k, v)| (k.as_slice(), v)).chain([(&keys[0][..], 9)])).unwrap();
        for (key, value) in map {
            assert_eq!(trie.get(key), Some(value));
        }
        assert_eq!(trie.get(b""), None);
    }

    #[test]
    fn nodes_that_form_circles_end_the_walk() {
        let node = TrieNode::new(b'a', 0, 7);
        let nodes = vec![node; 256].into();
        let trie = Trie { nodes, max_key_len: 3 };
        assert_eq!(trie.longest_prefix(&[b'a'; 1000]), Some((3, 7)));
    }

    #[test]
    fn indexes_are_moved_by_xor_with_a_byte() {
        let mut indexes = BlockIndexes::default();
        [0, 1, 7, 63, 64, 100, 255].into_iter().for_each(|low| indexes.add(low));
        for byte in 0..=255u8 {
            let moved_indexes = indexes.xor(byte);
            assert!((0..BLOCK_LEN).all(|low| moved_indexes.has(low) == indexes.has(low ^ byte as usize)));
        }
        assert_eq!((indexes.first_missing(), BlockIndexes([u64::MAX; 4]).first_missing()), (Some(2), None));
    }

    #[test]
    fn an_empty_trie_finds_nothing() {
        let trie = Trie::build([]).unwrap();
        assert_eq!(trie.longest_prefix(b"a"), None);
    }
}
