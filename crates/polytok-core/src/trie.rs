//! A double-array trie over bytes: the dictionary of the Unigram and longest-match models and of prefix search.
//!
//! This is Aoe's double array with XOR addressing: the child of a node for byte `b` is at index `base ^ b`, and the
//! child exists if the node at this index has the label `b`. The label is sufficient because no two nodes share a base
//! (as in Yata's compact double arrays). A node is eight bytes, so a step is one load. Keys can be added in any order;
//! of several equal keys, a search finds the first. Building is linear in the number of nodes for real vocabularies.

use bytemuck::{Pod, Zeroable};

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

/// The maximum number of nodes, which is the number of possible bases.
const MAX_NODES: u32 = 1 << 24;

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
    longest: usize,
}

impl Trie {
    /// Builds the trie of `(key, value)` pairs without empty keys. Returns an error if the trie would have too many
    /// nodes.
    pub fn build<'a>(pairs: impl IntoIterator<Item = (&'a [u8], u32)>) -> Result<Trie> {
        let mut keys: Vec<(&[u8], u32)> = pairs.into_iter().filter(|(key, _)| !key.is_empty()).collect();
        keys.sort_by(|a, b| a.0.cmp(b.0)); // stable: the first of equal keys stays first
        keys.dedup_by(|later, first| later.0 == first.0);
        let longest = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        Ok(TrieBuilder::default().build(&keys)?.with_longest(longest))
    }

    /// Returns the trie of a file, or builds the trie. No key is longer than `longest`. `is_value` must accept every
    /// value in the file.
    pub fn compile(
        tables: &mut Tables,
        longest: usize,
        is_value: impl Fn(u32) -> bool,
        build: impl FnOnce() -> Result<Trie>,
    ) -> Result<Trie> {
        let trie = tables.get("trie", build)?.with_longest(longest);
        let wrong = trie.values().find(|&value| !is_value(value));
        match wrong {
            Some(value) => {
                Err(Error::Format(format!("the section trie.nodes holds the value {value}, which leads nowhere")))
            }
            None => Ok(trie),
        }
    }

    /// Limits the length of keys. Nodes from a file can form circles, so the caller has to set the length.
    pub fn with_longest(self, longest: usize) -> Trie {
        Trie { longest, ..self }
    }

    /// Returns all nodes, including the unused nodes.
    pub fn nodes(&self) -> &[TrieNode] {
        &self.nodes
    }

    /// Returns the child of `node` for `byte`, or `NONE`.
    #[inline]
    pub fn child(&self, node: u32, byte: u8) -> u32 {
        let next = self.nodes[node as usize].base() ^ byte as u32;
        match self.nodes.get(next as usize) {
            Some(child) if child.label() == byte => next,
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
        let mut found = None;
        self.prefixes(text, |len, value| found = Some((len, value)));
        found
    }

    /// Returns all values.
    pub fn values(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|node| node.value()).filter(|&value| value != NONE)
    }

    /// Calls `found(length, value)` for every key that `text` starts with, the shortest first.
    #[inline]
    pub fn prefixes(&self, text: &[u8], found: impl FnMut(usize, u32)) {
        self.prefixes_under(ROOT, text, found);
    }

    /// Calls `found(length, value)` for every key whose path runs through `node` and whose bytes after `node` are a
    /// prefix of `text`. The length counts the bytes after `node`.
    #[inline]
    pub fn prefixes_under(&self, node: u32, text: &[u8], mut found: impl FnMut(usize, u32)) {
        // The loop keeps the node in a variable, so that each step reads memory once.
        let mut base = self.nodes[node as usize].base();
        for (i, &byte) in text.iter().enumerate().take(self.longest) {
            let child = self.nodes.get((base ^ byte as u32) as usize);
            let Some(child) = child.filter(|child| child.label() == byte) else { return };
            base = child.base();
            if child.value() != NONE {
                found(i + 1, child.value());
            }
        }
    }
}

impl Stored for Trie {
    fn write(&self, out: &mut PartWriter) {
        out.table("nodes", &self.nodes);
    }

    /// Reads a trie. Each step is checked when a search takes the step; a wrong step leads to another node of the same
    /// array. A search finds keys only after `with_longest` has set the length of the longest key.
    fn read(part: &FilePart) -> Result<Trie> {
        let nodes: Table<TrieNode> = part.table("nodes")?;
        if nodes.is_empty() { Err(part.section_error("nodes", "are none")) } else { Ok(Trie { nodes, longest: 0 }) }
    }
}

/// Assigns nodes to blocks of 256: the children of a node go into the first block in which all children fit.
#[derive(Default)]
struct TrieBuilder {
    nodes: Vec<TrieNode>,
    /// For each block, the indexes that have a node.
    taken_indexes: Vec<BlockIndexes>,
    /// For each block, the bases that a node has.
    used_bases: Vec<BlockIndexes>,
    open: Vec<NodeBlock>,
}

const BLOCK: usize = 256;

/// A block with unused indexes, and the number of failed searches in this block.
struct NodeBlock {
    number: usize,
    free: u16,
    failed_searches: u8,
}

/// A set of indexes of a block, with a bit for each index.
#[derive(Clone, Copy, Default)]
struct BlockIndexes([u64; BLOCK / 64]);

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
    fn or(self, other: BlockIndexes) -> BlockIndexes {
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

/// Returns the word in which each bit of `word` has moved from its index to index xor `byte`. Bit `n` of `byte` swaps
/// adjacent groups of `2^n` bits.
#[inline]
fn swap_bits(mut word: u64, byte: u8) -> u64 {
    const GROUPS: [u64; 6] = [!0 / 3, !0 / 5, !0 / 17, !0 / 257, !0 / 65_537, u32::MAX as u64];
    let mut bit = 0;
    while bit < 6 {
        let other = (word >> (1 << bit) & GROUPS[bit]) | (word & GROUPS[bit]) << (1 << bit);
        // The code has no branch, because the processor could not predict it.
        word ^= (word ^ other) & 0u64.wrapping_sub((byte >> bit & 1) as u64);
        bit += 1;
    }
    word
}

impl TrieBuilder {
    fn build(mut self, keys: &[(&[u8], u32)]) -> Result<Trie> {
        self.add_block()?;
        self.used_bases[0].add(LEAF as usize);
        self.used_bases[0].add(UNUSED_BASE as usize);
        self.take(ROOT, 0);
        // The pending ranges of keys. The keys of a range share a prefix of `depth` bytes; the node of this prefix is
        // the parent.
        let mut todo = vec![(0, keys.len(), 0usize, ROOT)];
        let mut labels: Vec<(u8, usize)> = Vec::with_capacity(BLOCK);
        while let Some((mut from, to, depth, node)) = todo.pop() {
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
                    labels.push((byte, i));
                }
            }
            let base = if labels.is_empty() { LEAF } else { self.place(&labels)? };
            self.nodes[node as usize] = TrieNode::new(label, base, value);
            for (k, &(byte, start)) in labels.iter().enumerate() {
                let child = base ^ byte as u32;
                self.take(child, byte);
                let end = labels.get(k + 1).map_or(to, |&(_, next)| next);
                todo.push((start, end, depth + 1, child));
            }
        }
        self.label_unused_indexes();
        Ok(Trie { nodes: self.nodes.into(), longest: 0 })
    }

    fn add_block(&mut self) -> Result<()> {
        let nodes = self.nodes.len() + BLOCK;
        if nodes > MAX_NODES as usize {
            return Err(Error::Spec(format!("the vocabulary is too large: its trie has more than {MAX_NODES} nodes")));
        }
        self.open.push(NodeBlock { number: self.taken_indexes.len(), free: BLOCK as u16, failed_searches: 0 });
        self.nodes.resize(nodes, TrieNode::new(0, LEAF, NONE));
        self.taken_indexes.push(BlockIndexes::default());
        self.used_bases.push(BlockIndexes::default());
        Ok(())
    }

    fn take(&mut self, place: u32, label: u8) {
        let (number, low) = (place as usize / BLOCK, place as usize % BLOCK);
        self.nodes[place as usize] = TrieNode::new(label, LEAF, NONE);
        self.taken_indexes[number].add(low);
        if let Some(i) = self.open.iter().rposition(|block| block.number == number) {
            self.open[i].free -= 1;
            if self.open[i].free == 0 {
                self.open.remove(i);
            }
        }
    }

    /// Finds a base that no node has, and whose children for all labels are unused. A block in which many searches
    /// failed is not searched again, which limits the cost. This wastes little memory, because searches fail only when
    /// a block is nearly full.
    fn place(&mut self, labels: &[(u8, usize)]) -> Result<u32> {
        let mut i = 0;
        while i < self.open.len() {
            let block = &mut self.open[i];
            if block.free as usize >= labels.len() {
                let (taken_indexes, used_bases) =
                    (self.taken_indexes[block.number], &mut self.used_bases[block.number]);
                // Bases that are in use, or whose child for some label is in use.
                let mut wrong = *used_bases;
                for &(byte, _) in labels {
                    wrong = wrong.or(taken_indexes.xor(byte));
                }
                if let Some(low) = wrong.first_missing() {
                    used_bases.add(low);
                    return Ok((block.number * BLOCK + low) as u32);
                }
                block.failed_searches += 1;
                if block.failed_searches > 8 {
                    self.open.remove(i);
                    continue;
                }
            }
            i += 1;
        }
        self.add_block()?;
        let number = self.used_bases.len() - 1;
        self.used_bases[number].add(0);
        Ok((number * BLOCK) as u32)
    }

    /// Labels each index without a node as the child of a base that no node has. Such a base exists: every used base
    /// has a child in the block, and the index of this child is not the index without a node.
    fn label_unused_indexes(&mut self) {
        for (number, (taken_indexes, used_bases)) in self.taken_indexes.iter().zip(&self.used_bases).enumerate() {
            let base = if number == 0 { UNUSED_BASE as usize } else { used_bases.first_missing().unwrap_or_default() };
            let root = (number == 0).then_some(ROOT as usize);
            for low in (0..BLOCK).filter(|&low| !taken_indexes.has(low)).chain(root) {
                let node = self.nodes[number * BLOCK + low];
                self.nodes[number * BLOCK + low] = TrieNode::new((low ^ base) as u8, node.base(), node.value());
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
            let mut found = Vec::new();
            trie.prefixes(&text, |len, value| found.push((len, value)));
            let expect: Vec<_> = (1..=text.len()).filter_map(|n| words.get(&text[..n]).map(|v| (n, *v))).collect();
            prop_assert_eq!(trie.longest_prefix(&text), expect.last().copied());
            prop_assert_eq!(found, expect);
        }
    }

    #[test]
    fn the_first_of_equal_keys_wins_and_full_fanout_works() {
        let all: Vec<[u8; 2]> = (0..=255u8).flat_map(|a| (0..=255u8).map(move |b| [a, b])).collect();
        let mut map = BTreeMap::new();
        for (i, key) in all.iter().enumerate() {
            map.insert(key.as_slice(), i as u32);
        }
        let trie = Trie::build(all.iter().zip(0..).map(|(k, v)| (k.as_slice(), v)).chain([(&all[0][..], 9)])).unwrap();
        for (key, value) in map {
            assert_eq!(trie.get(key), Some(value));
        }
        assert_eq!(trie.get(b""), None);
    }

    #[test]
    fn nodes_that_form_circles_end_the_walk() {
        let node = TrieNode::new(b'a', 0, 7);
        let nodes = vec![node; 256].into();
        let trie = Trie { nodes, longest: 3 };
        assert_eq!(trie.longest_prefix(&[b'a'; 1000]), Some((3, 7)));
    }

    #[test]
    fn places_under_a_byte_are_found_at_once() {
        let mut places = BlockIndexes::default();
        [0, 1, 7, 63, 64, 100, 255].into_iter().for_each(|low| places.add(low));
        for byte in 0..=255u8 {
            let moved = places.xor(byte);
            assert!((0..BLOCK).all(|low| moved.has(low) == places.has(low ^ byte as usize)));
        }
        assert_eq!((places.first_missing(), BlockIndexes([u64::MAX; 4]).first_missing()), (Some(2), None));
    }

    #[test]
    fn an_empty_trie_finds_nothing() {
        let trie = Trie::build([]).unwrap();
        assert_eq!(trie.longest_prefix(b"a"), None);
    }
}
