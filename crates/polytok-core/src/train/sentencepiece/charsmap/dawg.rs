//! Builds the smallest automaton of sorted keys: a trie in which equal subtrees are shared (a DAWG).
//!
//! A state of the automaton is a group of sibling nodes. Groups are numbered in the order in which they are finished,
//! as in Darts-clone, because the layout of the double array depends on these numbers. Keys are added in sorted order,
//! so all groups are finished except those on the path of the last key. A node with the label 0 ends a key, and holds
//! the value of the key instead of the index of a child. Cost: linear in the bytes of the keys.

use hashbrown::HashMap;
use polytok_memory::{Grow, GrowMap};

/// A node of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DawgNode {
    pub label: u8,
    /// The index of the first child, or the value of the key if the label is 0.
    pub child_or_value: u32,
    pub has_sibling: bool,
}

/// The automaton.
#[derive(Default)]
pub struct Dawg {
    /// The nodes of all groups of siblings; each group is consecutive and sorted by label.
    pub nodes: Vec<DawgNode>,
    /// True at the first node of each group that has several parents.
    pub is_shared: Vec<bool>,
    /// The index of the first node of the root's group.
    pub root: u32,
}

/// An unfinished group: the label and the child of each node. The child of the last node is not known yet.
type OpenGroup = Vec<(u8, u32)>;

impl Dawg {
    /// Builds the automaton from keys that are sorted, distinct, not empty, and without zero bytes.
    pub fn build<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Dawg {
        // Node 0 is a placeholder, so that no group has the number 0.
        let none = DawgNode { label: 0xFF, child_or_value: 0, has_sibling: false };
        let mut dawg = Dawg { nodes: vec![none], is_shared: vec![false], root: 0 };
        let mut number_of_group = HashMap::new();
        let mut open: Vec<OpenGroup> = vec![Vec::new()];
        let mut last_key: &[u8] = &[];
        for (key, value) in keys {
            let common_len = last_key.iter().zip(key).take_while(|(one, other)| one == other).count();
            while open.len() > common_len + 1 {
                dawg.finish_deepest_group(&mut open, &mut number_of_group);
            }
            for &label in &key[common_len..] {
                if let Some(group) = open.last_mut() {
                    group.checked_push((label, 0));
                }
                open.checked_push(Vec::new());
            }
            if let Some(group) = open.last_mut() {
                group.checked_push((0, value));
            }
            last_key = key;
        }
        while open.len() > 1 {
            dawg.finish_deepest_group(&mut open, &mut number_of_group);
        }
        let root = open.pop().unwrap_or_default();
        dawg.root = dawg.number(root, &mut number_of_group);
        dawg
    }

    /// Finishes the deepest open group; the parent of the group is the last node of the next open group.
    fn finish_deepest_group(&mut self, open: &mut Vec<OpenGroup>, number_of_group: &mut HashMap<OpenGroup, u32>) {
        let group = open.pop().unwrap_or_default();
        let number = self.number(group, number_of_group);
        if let Some(parent) = open.last_mut().and_then(|group| group.last_mut()) {
            parent.1 = number;
        }
    }

    /// Returns the number of an equal finished group, or adds the group and returns its number.
    fn number(&mut self, group: OpenGroup, number_of_group: &mut HashMap<OpenGroup, u32>) -> u32 {
        if let Some(&number) = number_of_group.get(&group) {
            self.is_shared[number as usize] = true;
            return number;
        }
        let number = self.nodes.len() as u32;
        for (index, &(label, child_or_value)) in group.iter().enumerate() {
            self.nodes.checked_push(DawgNode { label, child_or_value, has_sibling: index + 1 < group.len() });
            self.is_shared.checked_push(false);
        }
        number_of_group.checked_insert(group, number);
        number
    }

    /// Returns the nodes of a group.
    pub fn group(&self, first: u32) -> &[DawgNode] {
        let nodes = &self.nodes[first as usize..];
        let len = nodes.iter().position(|node| !node.has_sibling).map_or(nodes.len(), |last| last + 1);
        &nodes[..len]
    }
}
