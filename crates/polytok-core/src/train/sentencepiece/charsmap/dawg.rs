//! Sorted keys as the smallest automaton: a trie whose equal subtrees are one (a DAWG).
//!
//! States are groups of siblings, numbered in the order in which they were finished, as Darts-clone numbers them; the layout of
//! the double array follows from that. Keys come in order, so all but the branch of the last key is finished. A key ends with
//! the label 0, whose value stands for its child. Cost: linear in the bytes of the keys.

use hashbrown::HashMap;

/// A node among its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DawgNode {
    pub label: u8,
    /// The first of its children, or the value if the label is 0.
    pub child: u32,
    pub has_sibling: bool,
}

/// The automaton.
#[derive(Default)]
pub struct Dawg {
    /// Groups of siblings one behind the other, by labels that rise.
    pub nodes: Vec<DawgNode>,
    /// The first of the groups that more than one parent has.
    pub is_shared: Vec<bool>,
    /// The group of the root.
    pub root: u32,
}

/// A group whose last node is still open.
type OpenGroup = Vec<(u8, u32)>;

impl Dawg {
    /// Of keys that are sorted, distinct, not empty, and without zeros.
    pub fn build<'k>(keys: impl Iterator<Item = (&'k [u8], u32)>) -> Dawg {
        // Number 0 is no group.
        let none = DawgNode { label: 0xFF, child: 0, has_sibling: false };
        let mut dawg = Dawg { nodes: vec![none], is_shared: vec![false], root: 0 };
        let mut known = HashMap::new();
        let mut open: Vec<OpenGroup> = vec![Vec::new()];
        let mut last: &[u8] = &[];
        for (key, value) in keys {
            let common = last.iter().zip(key).take_while(|(one, other)| one == other).count();
            while open.len() > common + 1 {
                dawg.close(&mut open, &mut known);
            }
            for &label in &key[common..] {
                if let Some(group) = open.last_mut() {
                    group.push((label, 0));
                }
                open.push(Vec::new());
            }
            if let Some(group) = open.last_mut() {
                group.push((0, value));
            }
            last = key;
        }
        while open.len() > 1 {
            dawg.close(&mut open, &mut known);
        }
        let root = open.pop().unwrap_or_default();
        dawg.root = dawg.number(root, &mut known);
        dawg
    }

    /// Finishes the deepest group; its parent is the last node of the group before.
    fn close(&mut self, open: &mut Vec<OpenGroup>, known: &mut HashMap<OpenGroup, u32>) {
        let group = open.pop().unwrap_or_default();
        let number = self.number(group, known);
        if let Some(parent) = open.last_mut().and_then(|group| group.last_mut()) {
            parent.1 = number;
        }
    }

    fn number(&mut self, group: OpenGroup, known: &mut HashMap<OpenGroup, u32>) -> u32 {
        if let Some(&number) = known.get(&group) {
            self.is_shared[number as usize] = true;
            return number;
        }
        let number = self.nodes.len() as u32;
        for (place, &(label, child)) in group.iter().enumerate() {
            self.nodes.push(DawgNode { label, child, has_sibling: place + 1 < group.len() });
            self.is_shared.push(false);
        }
        known.insert(group, number);
        number
    }

    /// The nodes of a group.
    pub fn group(&self, first: u32) -> &[DawgNode] {
        let nodes = &self.nodes[first as usize..];
        let len = nodes.iter().position(|node| !node.has_sibling).map_or(nodes.len(), |last| last + 1);
        &nodes[..len]
    }
}
