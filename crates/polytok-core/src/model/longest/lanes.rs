//! Finds longest matches with six simultaneous walks down the trie, without a branch that depends on the text.
//!
//! A walk down the trie waits for memory at each byte, and the processor cannot predict where a token ends. So a window
//! of the text is split into six lanes, which step in turn, and a step has the same instructions whether the walk
//! continues or the token ends. So each node stores the longest entry on the path to the node, and the number of bytes
//! since the end of that entry (`with_matches`). If the walk cannot continue, the stored entry is the token, and the next
//! walk starts after the token and has already read two bytes: a table has the node for each pair of bytes.
//!
//! The border between two lanes is between two bytes that are adjacent in no entry, so a token always ends at the
//! border. Texts without such borders (one letter repeated) and the ends of lanes are processed with a single walk.
//! Cost: a step for each byte but the first two of a token, and for each byte read beyond a token. Worst input: a long
//! entry without its last byte, repeated. Twin: `Longest::segment`.

use polytok_memory::{self as memory, Collect, Grow};

use crate::boundary::neighbours::BytePairs;
use crate::token_id::TokenId;
use crate::trie::{LEAF, MAX_NODES, NONE, ROOT, Trie, TrieNode};

const LANES: usize = 6;

/// The largest number of bytes in a lane, so that its ids stay in the processor's nearest cache.
const MAX_LANE_BYTES: usize = 1 << 11;

/// The smallest number of bytes for which a lane pays.
const MIN_LANE_BYTES: usize = 24;

/// The limit for the depth of nodes, and for the number of bytes since the end of an entry.
const MAX_DEPTH: usize = 256;

/// The number of pairs of bytes.
const PAIR_COUNT: usize = 1 << 16;

/// The number of bits of a node's value that store an id; the bits above store the number of bytes since the match.
const ID_BITS: u32 = 24;

/// The trie in the form that lanes walk.
pub(super) struct Lanes {
    /// For each pair of bytes the node at which a walk is that has read the pair, and then the nodes of the trie;
    /// `PathMatch` reads their values. Every base leads to a node of this table.
    nodes: Box<[TrieNode]>,
    /// The children of the root.
    root_children: Box<[TrieNode; 256]>,
    adjacent_bytes: BytePairs,
}

/// A walk through one lane.
#[derive(Clone, Copy)]
struct Lane {
    node: TrieNode,
    /// The offset of the next byte.
    at: usize,
    /// The index at which the next id is written.
    output_index: usize,
}

/// The longest entry on the path to a node, and the number of bytes since its end.
trait PathMatch {
    fn id(self) -> TokenId;
    fn bytes_since_match(self) -> usize;
    fn with_match(self, id: TokenId, bytes_since_match: usize) -> Self;
}

impl PathMatch for TrieNode {
    #[inline]
    fn id(self) -> TokenId {
        id_of(TokenId(self.value()))
    }

    #[inline]
    fn bytes_since_match(self) -> usize {
        (self.value() >> ID_BITS) as usize
    }

    fn with_match(self, id: TokenId, bytes_since_match: usize) -> TrieNode {
        self.with_value((bytes_since_match as u32) << ID_BITS | id.0)
    }
}

/// Returns the id in a value of a node.
#[inline]
fn id_of(TokenId(value): TokenId) -> TokenId {
    TokenId(value & ((1 << ID_BITS) - 1))
}

impl Lanes {
    /// Compiles the lanes; None if a byte is not an entry, or if ids or entries are too long. The trie can come from a
    /// damaged file, so it is also None if the trie is not a tree, on which all walks end.
    pub(super) fn new<'a>(trie: &Trie, entries: impl Iterator<Item = &'a [u8]>) -> Option<Lanes> {
        let trie_nodes = with_matches(trie.nodes())?;
        let mut root_children = Box::new([trie_nodes[ROOT as usize]; 256]);
        for (byte, node) in (0..=255).zip(root_children.iter_mut()) {
            trie.get(&[byte])?;
            *node = trie_nodes[trie.child(ROOT, byte) as usize];
        }
        let nodes = (0..=u16::MAX)
            .map(|pair| pair_node(&trie_nodes, &root_children, pair.to_le_bytes()))
            .chain(trie_nodes.iter().copied());
        let mut shifted_nodes = memory::with_capacity(nodes.size_hint().0);
        for node in nodes {
            shifted_nodes.checked_push(shift_base(node)?);
        }
        let nodes = shifted_nodes.into_boxed_slice();
        for node in root_children.iter_mut() {
            *node = shift_base(*node)?;
        }
        Some(Lanes { nodes, root_children, adjacent_bytes: BytePairs::from_entries(entries) })
    }

    /// Calls `write` with the ids of each part of the text, in order. `buffer` is memory for ids.
    pub(super) fn encode(&self, text: &[u8], buffer: &mut Vec<TokenId>, mut write: impl FnMut(&[TokenId])) {
        let mut at = 0;
        while at < text.len() {
            let end = text.len().min(at + LANES * MAX_LANE_BYTES);
            // A lane writes at most one id for each byte, so every lane has enough room for its ids.
            buffer.checked_resize(buffer.len().max(end - at), TokenId(0));
            at = match self.borders(text, at, end) {
                Some(borders) => self.encode_lanes(text, &borders, buffer, &mut write),
                None => {
                    let lane = self.finish(text, self.start(text, at, 0), end, buffer);
                    write(&buffer[..lane.output_index]);
                    lane.at
                }
            };
        }
    }

    /// Returns the borders of the lanes, which no entry crosses, except the last.
    fn borders(&self, text: &[u8], start: usize, end: usize) -> Option<[usize; LANES + 1]> {
        let len = (end - start) / LANES;
        if len < MIN_LANE_BYTES {
            return None;
        }
        let mut borders = [start; LANES + 1];
        for (border, at) in borders[1..LANES].iter_mut().zip((start + len..).step_by(len)) {
            *border = (at..at + len / 2).find(|&at| !self.adjacent_bytes.has(text[at - 1], text[at]))?;
        }
        borders[LANES] = end;
        Some(borders)
    }

    /// Calls `write` with the ids of each lane; returns the end of the last token.
    fn encode_lanes(
        &self,
        text: &[u8],
        borders: &[usize; LANES + 1],
        ids: &mut [TokenId],
        write: &mut impl FnMut(&[TokenId]),
    ) -> usize {
        let mut lanes = self.walk_in_parallel(text, borders, ids);
        for (lane, ends) in lanes.iter_mut().zip(borders.windows(2)) {
            let first_index = ends[0] - borders[0];
            // A step writes the values of nodes.
            ids[first_index..lane.output_index].iter_mut().for_each(|value| *value = id_of(*value));
            *lane = self.finish(text, *lane, ends[1], ids);
            write(&ids[first_index..lane.output_index]);
        }
        lanes[LANES - 1].at
    }

    /// Steps in all lanes until one of them is at its end, or one byte before. Writes the values of nodes to `ids`.
    fn walk_in_parallel(&self, text: &[u8], borders: &[usize; LANES + 1], ids: &mut [TokenId]) -> [Lane; LANES] {
        let mut lanes: [Lane; LANES] = std::array::from_fn(|i| self.start(text, borders[i], borders[i] - borders[0]));
        loop {
            // A step reads at most two bytes.
            let steps = lanes.iter().zip(&borders[1..]).map(|(lane, end)| (end - lane.at) / 2).min().unwrap_or(0);
            if steps == 0 {
                return lanes;
            }
            for _ in 0..steps {
                for lane in &mut lanes {
                    // SAFETY: each lane has two more bytes, and room for one id per remaining byte.
                    unsafe { self.step(text, lane, ids) };
                }
            }
        }
    }

    /// Returns a walk that has read its first byte.
    #[inline]
    fn start(&self, text: &[u8], at: usize, output_index: usize) -> Lane {
        Lane { node: self.root_children[text[at] as usize], at: at + 1, output_index }
    }

    /// Reads one more byte, or ends the token and starts the next walk with the two bytes after the token.
    ///
    /// # Safety
    /// The lane was returned by `start` and changed only by `step`, its next two bytes are inside the text, and `ids`
    /// has room for one more id.
    #[inline(always)]
    unsafe fn step(&self, text: &[u8], lane: &mut Lane, ids: &mut [TokenId]) {
        debug_assert!(lane.at + 1 < text.len() && lane.output_index < ids.len());
        debug_assert!(lane.node.bytes_since_match() < lane.at);
        // SAFETY: the caller says so of the byte; and all bases lead to nodes of the table (`Lanes::new`).
        let (byte, child) = unsafe {
            let byte = *text.get_unchecked(lane.at);
            (byte, *self.nodes.get_unchecked((lane.node.base() ^ byte as u32) as usize))
        };
        let can_continue = child.label() == byte;
        let next = lane.at - lane.node.bytes_since_match();
        // SAFETY: a node is never deeper than the walk to it, so `next` is inside of what was walked; the caller says
        // so of the ids; and the table starts with a node for each pair of bytes.
        let start = unsafe {
            *ids.get_unchecked_mut(lane.output_index) = TokenId(lane.node.value());
            let pair = [*text.get_unchecked(next), *text.get_unchecked(next + 1)];
            *self.nodes.get_unchecked(u16::from_le_bytes(pair) as usize)
        };
        lane.output_index += !can_continue as usize;
        lane.node = std::hint::select_unpredictable(can_continue, child, start);
        lane.at = std::hint::select_unpredictable(can_continue, lane.at + 1, next + 2);
    }

    /// Continues one walk until a token ends at `end` or later; writes the ids to `ids`. Returns the walk with the end
    /// of that token.
    #[inline]
    fn finish(&self, text: &[u8], mut lane: Lane, end: usize, ids: &mut [TokenId]) -> Lane {
        loop {
            while let Some(&byte) = text.get(lane.at) {
                let child = self.nodes[(lane.node.base() ^ byte as u32) as usize];
                if child.label() != byte {
                    break;
                }
                lane = Lane { node: child, at: lane.at + 1, ..lane };
            }
            ids[lane.output_index] = lane.node.id();
            let (next, output_index) = (lane.at - lane.node.bytes_since_match(), lane.output_index + 1);
            if next >= end {
                return Lane { at: next, output_index, ..lane };
            }
            lane = self.start(text, next, output_index);
        }
    }
}

/// Returns the node of a walk that has read two bytes. If no entry starts with both bytes, this is a leaf whose longest
/// entry is the first byte.
fn pair_node(nodes: &[TrieNode], root_children: &[TrieNode; 256], [first, second]: [u8; 2]) -> TrieNode {
    let parent = root_children[first as usize];
    let child = nodes[(parent.base() ^ second as u32) as usize];
    let leaf = TrieNode::new(second, LEAF, 0).with_match(parent.id(), 1);
    if child.label() == second { child } else { leaf }
}

/// Returns a node whose base leads to the nodes after the nodes of the pairs; None if the base has too many bits.
fn shift_base(node: TrieNode) -> Option<TrieNode> {
    let base = node.base() + PAIR_COUNT as u32;
    (base < MAX_NODES).then(|| TrieNode::new(node.label(), base, node.value()))
}

/// Returns the nodes, each with the longest entry on the path to it; None if they are not a tree, if the tree is too
/// deep, or if an id has more than 24 bits.
fn with_matches(nodes: &[TrieNode]) -> Option<Box<[TrieNode]>> {
    let nodes_by_base = nodes_by_base(nodes)?;
    // The parent's base; in a damaged file, it can be outside of the table.
    let base = |index: usize| index ^ nodes[index].label() as usize;
    let parent = |index: usize| nodes_by_base.get(base(index)).copied().unwrap_or(NONE);
    let mut matched_nodes: Vec<TrieNode> = nodes.iter().map(|node| node.with_match(TokenId(0), 0)).checked_collect();
    let mut depths = memory::filled(None, nodes.len());
    depths[ROOT as usize] = Some(0);
    let mut path = Vec::new();
    for index in 0..nodes.len() {
        let mut ancestor = index;
        while depths[ancestor].is_none() && parent(ancestor) != NONE {
            path.checked_push(ancestor);
            ancestor = parent(ancestor) as usize;
            if path.len() > MAX_DEPTH {
                return None;
            }
        }
        if depths[ancestor].is_none() {
            path.clear(); // nodes without a path from the root are not used
        }
        for index in path.drain(..).rev() {
            let parent = std::mem::replace(&mut ancestor, index);
            let depth = depths[parent].map_or(0, |depth: usize| depth + 1);
            let (id, bytes_since_match) = match nodes[index].value() {
                NONE => (matched_nodes[parent].id(), matched_nodes[parent].bytes_since_match() + 1),
                id => (TokenId(id), 0),
            };
            if depth > MAX_DEPTH || id.0 >> ID_BITS != 0 {
                return None;
            }
            matched_nodes[index] = nodes[index].with_match(id, bytes_since_match);
            depths[index] = Some(depth);
        }
    }
    Some(matched_nodes.into())
}

/// Returns the node that has each base; None if two nodes have the same base, if a base is outside of the table, or if
/// a node leads to the root or a leaf leads to a node.
fn nodes_by_base(nodes: &[TrieNode]) -> Option<Vec<u32>> {
    let mut owners = memory::filled(NONE, nodes.len());
    for (node, index) in nodes.iter().zip(0u32..) {
        let base = node.base();
        if (base | 0xFF) as usize >= nodes.len() || index ^ node.label() as u32 == LEAF {
            return None;
        }
        if base != LEAF && std::mem::replace(&mut owners[base as usize], index) != NONE {
            return None;
        }
    }
    let parent_of_root = owners[(ROOT ^ nodes[ROOT as usize].label() as u32) as usize];
    (parent_of_root == NONE).then_some(owners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a trie of all bytes and `entries`, and its lanes.
    fn build_lanes(entries: &[Vec<u8>]) -> (Trie, Lanes) {
        let bytes: Vec<[u8; 1]> = (0..=255).map(|byte| [byte]).collect();
        let all_entries = || bytes.iter().map(<[u8; 1]>::as_slice).chain(entries.iter().map(Vec::as_slice));
        let trie = Trie::build(all_entries().zip(0..)).unwrap();
        let build_lanes = Lanes::new(&trie, all_entries()).unwrap();
        (trie, build_lanes)
    }

    fn check_lanes(entries: &[Vec<u8>], text: &[u8]) {
        let (trie, build_lanes) = build_lanes(entries);
        let (mut ids, mut expected, mut at) = (Vec::new(), Vec::new(), 0);
        build_lanes.encode(text, &mut vec![TokenId(7)], |some| ids.extend_from_slice(some));
        while let Some((len, id)) = trie.longest_prefix(&text[at..]) {
            expected.push(TokenId(id));
            at += len;
        }
        assert_eq!(ids, expected);
    }

    proptest! {
        #[test]
        fn lanes_agree_with_one_walk(
            entries in prop::collection::vec(prop::collection::vec(b'a'..b'e', 2..7), 0..20),
            text in prop::collection::vec(b'a'..b'g', 0..2500),
        ) {
            check_lanes(&entries, &text);
        }

        #[test]
        fn texts_of_entries(
            entries in prop::collection::vec(prop::collection::vec(any::<u8>(), 2..40), 1..20),
            choices in prop::collection::vec((any::<prop::sample::Index>(), 0usize..8), 0..300),
        ) {
            let choose_part = |(index, dropped_len): &(prop::sample::Index, usize)| {
                let entry = index.get(&entries);
                entry[..entry.len().saturating_sub(*dropped_len)].to_vec()
            };
            check_lanes(&entries, &choices.iter().flat_map(choose_part).collect::<Vec<u8>>());
        }
    }

    #[test]
    fn texts_of_many_windows() {
        let entries = ["ab", "abc", "bcda", "aaaaaaaaab", "cab"].map(|entry| entry.as_bytes().to_vec());
        let mut rng = crate::rng::Rng::new(4);
        for len in [12_287, 12_288, 12_289, 30_000].into_iter().chain(140..160) {
            let text: Vec<u8> = (0..len).map(|_| b'a' + (rng.next_u64() % 5) as u8).collect();
            check_lanes(&entries, &text);
            check_lanes(&entries, &vec![b'a'; len]);
        }
    }

    #[test]
    fn vocabularies_that_lanes_refuse() {
        let one_byte = |byte: u8| vec![byte];
        let accepts = |entries: &[Vec<u8>], first_id: u32| {
            let trie = Trie::build(entries.iter().map(Vec::as_slice).zip(first_id..)).unwrap();
            Lanes::new(&trie, entries.iter().map(Vec::as_slice)).is_some()
        };
        let mut entries: Vec<Vec<u8>> = (0..=255).map(one_byte).collect();
        assert!(accepts(&entries, 0));
        assert!(!accepts(&entries[1..], 0));
        assert!(!accepts(&entries, 1 << 24));
        entries.push(vec![b'a'; MAX_DEPTH]);
        assert!(accepts(&entries, 0));
        entries.push(vec![b'a'; MAX_DEPTH + 1]);
        assert!(!accepts(&entries, 0));
    }

    #[test]
    fn nodes_that_are_not_a_tree_are_refused() {
        let (trie, _) = build_lanes(&[b"ab".to_vec()]);
        let a = trie.child(ROOT, b'a') as usize;
        let accepts_changed = |change: &dyn Fn(&mut Vec<TrieNode>)| {
            let mut nodes = trie.nodes().to_vec();
            change(&mut nodes);
            with_matches(&nodes).is_some()
        };
        let set_base = |set_base: u32| move |nodes: &mut Vec<TrieNode>| nodes[a] = TrieNode::new(b'a', set_base, 0);
        assert!(accepts_changed(&|_| ()));
        assert!(!accepts_changed(&set_base(trie.nodes()[ROOT as usize].base())));
        assert!(!accepts_changed(&set_base(1 << 20)));
        assert!(!accepts_changed(&|nodes| nodes[5] = TrieNode::new(5, LEAF, 0)));
        assert!(
            !accepts_changed(
                &|nodes| nodes[ROOT as usize] = TrieNode::new(nodes[a].base() as u8, nodes[ROOT as usize].base(), 0)
            ) || trie.nodes()[a].base() > 255
        );
    }

    /// Found by fuzzing: the last node of a damaged file, whose parent would have a base outside of the table.
    #[test]
    fn a_node_whose_parent_is_outside_of_the_table_is_not_used() {
        let (trie, _) = build_lanes(&[b"ab".to_vec()]);
        let nodes = [trie.nodes(), &[TrieNode::new(64, LEAF, 0)]].concat();
        assert_eq!(with_matches(&nodes).unwrap().len(), nodes.len());
    }
}
