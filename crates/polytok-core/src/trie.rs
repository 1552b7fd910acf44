//! A double-array trie over bytes: the dictionary of Unigram, longest match and prefix matching.
//!
//! Aoe's double array with XOR addressing: the child of node `s` for byte `b` is `base[s] ^ b`, and it is there when
//! its `check` is `s`. Check, base and value of a node share a cache line, so a step costs one load. Keys may be given
//! in any order; of equal keys the first wins. Building is linear in the number of nodes for real vocabularies.

use bytemuck::{Pod, Zeroable};

use crate::error::{Error, Result};
use crate::native::{Part, PartWriter, Stored, Tables};
use crate::table::Table;

/// No value, or no node.
pub const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(16))] // so that no node lies in two cache lines
struct Node {
    check: u32,
    base: u32,
    value: u32,
    zero: u32,
}

const FREE: Node = Node { check: NONE, base: 0, value: NONE, zero: 0 };

/// The root's check: taken, but no node's child.
const NO_PARENT: u32 = NONE - 1;

/// The root node.
pub const ROOT: u32 = 0;

/// An immutable map from byte strings to `u32` values below `NONE`.
pub struct Trie {
    nodes: Table<Node>,
    /// No key is longer.
    longest: usize,
}

impl Trie {
    /// Builds the trie of `(key, value)` pairs; empty keys are left out.
    pub fn build<'a>(pairs: impl IntoIterator<Item = (&'a [u8], u32)>) -> Trie {
        let mut keys: Vec<(&[u8], u32)> = pairs.into_iter().filter(|(key, _)| !key.is_empty()).collect();
        keys.sort_by(|a, b| a.0.cmp(b.0)); // stable: the first of equal keys stays first
        keys.dedup_by(|later, first| later.0 == first.0);
        let longest = keys.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        Builder::default().build(&keys).with_longest(longest)
    }

    /// The trie of a file, or the one that is built, whose keys are not longer than `longest`. The values of a file must
    /// be such that `is_value` holds.
    pub fn compile(
        tables: &mut Tables,
        longest: usize,
        is_value: impl Fn(u32) -> bool,
        build: impl FnOnce() -> Trie,
    ) -> Result<Trie> {
        let trie = tables.get("trie", || Ok(build()))?.with_longest(longest);
        let wrong = trie.values().find(|&value| !is_value(value));
        match wrong {
            Some(value) => {
                Err(Error::Format(format!("the section trie.nodes holds the value {value}, which leads nowhere")))
            }
            None => Ok(trie),
        }
    }

    /// Walks go no further than this. Nodes from a file may lead around in circles, so their user must say how long keys are.
    pub fn with_longest(self, longest: usize) -> Trie {
        Trie { longest, ..self }
    }

    /// The child of `node` for `byte`, or `NONE`.
    #[inline]
    pub fn child(&self, node: u32, byte: u8) -> u32 {
        let next = self.nodes[node as usize].base ^ byte as u32;
        match self.nodes.get(next as usize) {
            Some(n) if n.check == node => next,
            _ => NONE,
        }
    }

    /// The value at `node`, or `NONE`.
    #[inline]
    pub fn value(&self, node: u32) -> u32 {
        self.nodes[node as usize].value
    }

    /// The value of exactly `key`.
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

    /// The longest key that `text` starts with: `(length, value)`.
    #[inline]
    pub fn longest_prefix(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut found = None;
        self.prefixes(text, |len, value| found = Some((len, value)));
        found
    }

    /// All values.
    pub fn values(&self) -> impl Iterator<Item = u32> {
        self.nodes.iter().map(|node| node.value).filter(|&value| value != NONE)
    }

    /// Calls `found(length, value)` for every key that `text` starts with, shortest first.
    #[inline]
    pub fn prefixes(&self, text: &[u8], found: impl FnMut(usize, u32)) {
        self.prefixes_under(ROOT, text, found);
    }

    /// The same for the keys under `node`, without what leads to it.
    #[inline]
    pub fn prefixes_under(&self, node: u32, text: &[u8], mut found: impl FnMut(usize, u32)) {
        // The node is carried along, so that each step reads memory once.
        let (mut place, mut base) = (node, self.nodes[node as usize].base);
        for (i, &byte) in text.iter().enumerate().take(self.longest) {
            let next = base ^ byte as u32;
            let Some(node) = self.nodes.get(next as usize).filter(|node| node.check == place) else { return };
            (place, base) = (next, node.base);
            if node.value != NONE {
                found(i + 1, node.value);
            }
        }
    }
}

impl Stored for Trie {
    fn write(&self, out: &mut PartWriter) {
        out.table("nodes", &self.nodes);
    }

    /// Steps are checked where they are taken; a step that leads astray ends in another node of the same array. No key is found
    /// before `with_longest` says how long they are.
    fn read(part: &Part) -> Result<Trie> {
        let nodes: Table<Node> = part.table("nodes")?;
        if nodes.is_empty() { Err(part.wrong("nodes", "are none")) } else { Ok(Trie { nodes, longest: 0 }) }
    }
}

/// Places nodes in blocks of 256, first fit over the blocks that still have room.
#[derive(Default)]
struct Builder {
    nodes: Vec<Node>,
    open: Vec<Block>,
}

/// A block with free places, and how often a search in it failed.
struct Block {
    start: u32,
    free: u16,
    misses: u8,
}

impl Builder {
    fn build(mut self, keys: &[(&[u8], u32)]) -> Trie {
        self.add_block();
        self.take(ROOT, NO_PARENT);
        // Ranges of keys that share a prefix of `depth` bytes, with the node they hang under.
        let mut todo = vec![(0, keys.len(), 0usize, ROOT)];
        let mut labels: Vec<(u8, usize)> = Vec::with_capacity(256);
        while let Some((mut from, to, depth, node)) = todo.pop() {
            if from < to && keys[from].0.len() == depth {
                self.nodes[node as usize].value = keys[from].1;
                from += 1;
            }
            labels.clear();
            for (i, (key, _)) in keys.iter().enumerate().take(to).skip(from) {
                let byte = key[depth];
                if labels.last().is_none_or(|&(last, _)| last != byte) {
                    labels.push((byte, i));
                }
            }
            if labels.is_empty() {
                continue;
            }
            let base = self.place(&labels);
            self.nodes[node as usize].base = base;
            for (k, &(byte, start)) in labels.iter().enumerate() {
                let child = base ^ byte as u32;
                self.take(child, node);
                let end = labels.get(k + 1).map_or(to, |&(_, next)| next);
                todo.push((start, end, depth + 1, child));
            }
        }
        Trie { nodes: self.nodes.into(), longest: 0 }
    }

    fn add_block(&mut self) {
        let start = self.nodes.len() as u32;
        self.nodes.resize(self.nodes.len() + 256, FREE);
        self.open.push(Block { start, free: 256, misses: 0 });
    }

    fn take(&mut self, place: u32, parent: u32) {
        self.nodes[place as usize].check = parent;
        let start = place & !255;
        if let Some(i) = self.open.iter().rposition(|block| block.start == start) {
            self.open[i].free -= 1;
            if self.open[i].free == 0 {
                self.open.remove(i);
            }
        }
    }

    /// A base under which every label falls on a free place. A block that failed often is given up, which bounds the
    /// search and wastes little: it fails when it is nearly full.
    fn place(&mut self, labels: &[(u8, usize)]) -> u32 {
        let mut i = 0;
        while i < self.open.len() {
            let block = &mut self.open[i];
            if block.free as usize >= labels.len() {
                let (start, nodes) = (block.start, &self.nodes);
                let free = |base: u32, byte: u8| nodes[(base ^ byte as u32) as usize].check == NONE;
                let fits = |low: &u32| labels.iter().all(|&(byte, _)| free(start | low, byte));
                if let Some(low) = (0..256).find(fits) {
                    return start | low;
                }
                block.misses += 1;
                if block.misses > 8 {
                    self.open.remove(i);
                    continue;
                }
            }
            i += 1;
        }
        self.add_block();
        self.nodes.len() as u32 - 256
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
            let trie = Trie::build(words.iter().map(|(k, v)| (k.as_slice(), *v)));
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
        let trie = Trie::build(all.iter().zip(0..).map(|(k, v)| (k.as_slice(), v)).chain([(&all[0][..], 9)]));
        for (key, value) in map {
            assert_eq!(trie.get(key), Some(value));
        }
        assert_eq!(trie.get(b""), None);
    }

    #[test]
    fn nodes_that_lead_in_circles_end_the_walk() {
        let node = Node { check: ROOT, base: b'a' as u32, value: 7, zero: 0 };
        let nodes = vec![node; 256].into();
        let trie = Trie { nodes, longest: 3 };
        assert_eq!(trie.longest_prefix(&[b'a'; 1000]), Some((3, 7)));
    }

    #[test]
    fn an_empty_trie_finds_nothing() {
        let trie = Trie::build([]);
        assert_eq!(trie.longest_prefix(b"a"), None);
    }
}
