//! An automaton of Aho and Corasick that needs linear time and memory for every set of tokens.
//!
//! The automata of the crate aho-corasick are faster for usual tokens, but not linear for long ones: a leftmost search
//! reads to the end of the longest token that can still match, and then starts again after the token that did match;
//! and each state of an automaton for overlapping matches lists all tokens that end there. Here, leftmost matches are
//! found from the right: the automaton of the reversed tokens knows for each offset the token that starts there. And
//! each token knows the one that is reported after it.
//!
//! The nodes of a token that no earlier token has are adjacent, so that most steps need no hash table, and a node takes
//! ten bytes. Cost: the lengths of all tokens to build, twice the length of a text to search, and the number of
//! overlapping matches.

use std::ops::Range;

use hashbrown::HashMap;
use polytok_memory::{self as memory, Collect, Grow, GrowMap};

use super::automaton::TokenMatch;
use crate::spec::Matching;

const ROOT: u32 = 0;

/// The index of a token that does not exist.
const NONE: u32 = u32::MAX;

/// Marks the label of a node whose parent is not the node before it.
const IS_BRANCH: u16 = 256;

/// The smallest number of offsets for which the tokens that start there are computed at once.
const MIN_WINDOW: usize = 1 << 16;

pub(super) struct LinearAutomaton {
    /// For each node, the byte that leads to it.
    labels: Vec<u16>,
    /// The children whose parent is not the node before them, by the parent and the byte.
    branches: HashMap<(u32, u8), u32>,
    /// For each node, the node of the longest proper suffix of its text.
    failures: Vec<u32>,
    /// For each node, the token that is a suffix of its text: of several, the longest or, in a search for the first
    /// listed token, the first.
    tokens: Vec<u32>,
    /// For each token, the token that ends at the same offset and is reported next.
    following: Vec<u32>,
    lens: Vec<usize>,
    max_len: usize,
    empty_token: Option<usize>,
    takes_first_listed: bool,
}

/// New nodes of a token: a chain below an older node.
struct Chain {
    nodes: Range<u32>,
    parent: u32,
    /// The depth of the first node.
    depth: usize,
}

impl LinearAutomaton {
    /// Compiles an automaton of texts, which have less than 4 GiB together. An automaton for leftmost matches reads
    /// texts from the right.
    pub fn new(texts: &[Vec<u8>], matching: Matching) -> LinearAutomaton {
        let node_count = texts.iter().map(Vec::len).sum::<usize>() + 1;
        let mut automaton = LinearAutomaton {
            labels: memory::with_capacity(node_count),
            branches: HashMap::new(),
            failures: Vec::new(),
            tokens: memory::with_capacity(node_count),
            following: memory::filled(NONE, texts.len()),
            lens: texts.iter().map(Vec::len).checked_collect(),
            max_len: texts.iter().map(Vec::len).max().unwrap_or(0),
            empty_token: texts.iter().position(Vec::is_empty),
            takes_first_listed: matching == Matching::Listed,
        };
        automaton.push_node(IS_BRANCH);
        let mut chains = Vec::new();
        let mut last_nodes = memory::with_capacity(texts.len());
        for (token, text) in texts.iter().enumerate() {
            let node = match matching {
                Matching::LongestFirst => automaton.insert(text.iter(), &mut chains),
                Matching::Longest | Matching::Listed => automaton.insert(text.iter().rev(), &mut chains),
            };
            last_nodes.checked_push(node);
            automaton.insert_token(token as u32, node);
        }
        automaton.failures = memory::filled(ROOT, automaton.labels.len());
        automaton.connect(chains);
        automaton.append_suffixes(&last_nodes);
        automaton
    }

    fn push_node(&mut self, label: u16) {
        self.labels.checked_push(label);
        self.tokens.checked_push(NONE);
    }

    /// Adds the nodes of a text that are missing, and returns the last node of the text.
    fn insert<'a>(&mut self, text: impl Iterator<Item = &'a u8>, chains: &mut Vec<Chain>) -> u32 {
        let (mut node, mut depth) = (ROOT, 0);
        let mut text = text.peekable();
        while let Some(child) = text.peek().and_then(|&&byte| self.child(node, byte)) {
            (node, depth) = (child, depth + 1);
            text.next();
        }
        let (parent, first) = (node, self.labels.len() as u32);
        for &byte in text {
            let next = self.labels.len() as u32;
            let is_branch = next != node + 1;
            if is_branch {
                self.branches.checked_insert((node, byte), next);
            }
            self.push_node(u16::from(byte) | if is_branch { IS_BRANCH } else { 0 });
            node = next;
        }
        if node != parent {
            chains.checked_push(Chain { nodes: first..node + 1, parent, depth: depth + 1 });
        }
        node
    }

    /// Stores that a token ends at a node. Of equal tokens, the first listed is reported first.
    fn insert_token(&mut self, token: u32, node: u32) {
        match self.tokens[node as usize] {
            _ if node == ROOT => (),
            NONE => self.tokens[node as usize] = token,
            first => {
                self.following[token as usize] = self.following[first as usize];
                self.following[first as usize] = token;
            }
        }
    }

    /// Sets the failures of all nodes, in the order of their depths, and the tokens that are suffixes of their texts.
    fn connect(&mut self, mut chains: Vec<Chain>) {
        chains.sort_unstable_by_key(|chain| chain.depth);
        let mut later_chains = chains.into_iter().peekable();
        let mut open_chains = Vec::new();
        for depth in 1..=self.max_len {
            while let Some(chain) = later_chains.next_if(|chain| chain.depth == depth) {
                open_chains.checked_push(chain);
            }
            open_chains.retain_mut(|chain| {
                self.connect_node(chain.nodes.start, chain.parent);
                chain.parent = chain.nodes.start;
                chain.nodes.start += 1;
                !chain.nodes.is_empty()
            });
        }
    }

    fn connect_node(&mut self, node: u32, parent: u32) {
        let failure = match parent {
            ROOT => ROOT,
            _ => self.step(self.failures[parent as usize], self.labels[node as usize] as u8),
        };
        self.failures[node as usize] = failure;
        let (token, suffix) = (self.tokens[node as usize], self.tokens[failure as usize]);
        if token == NONE || self.takes_first_listed && suffix < token {
            self.tokens[node as usize] = suffix;
        }
    }

    /// Appends to each list of equal tokens the longest token that is a proper suffix of them.
    fn append_suffixes(&mut self, last_nodes: &[u32]) {
        for (following, &node) in self.following.iter_mut().zip(last_nodes) {
            if *following == NONE && node != ROOT {
                *following = self.tokens[self.failures[node as usize] as usize];
            }
        }
    }

    fn child(&self, node: u32, byte: u8) -> Option<u32> {
        match self.labels.get(node as usize + 1) {
            Some(&label) if label == u16::from(byte) => Some(node + 1),
            _ => self.branches.get(&(node, byte)).copied(),
        }
    }

    /// Returns the node of the longest suffix of a node's text and a byte.
    fn step(&self, mut node: u32, byte: u8) -> u32 {
        loop {
            match self.child(node, byte) {
                Some(child) => return child,
                None if node == ROOT => return ROOT,
                None => node = self.failures[node as usize],
            }
        }
    }

    fn token(&self, node: u32) -> Option<usize> {
        Some(self.tokens[node as usize] as usize).filter(|&token| token != NONE as usize)
    }

    /// Returns all tokens that are not empty at all places where they occur, in the order of their ends.
    pub fn overlapping<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = TokenMatch> + 'a {
        let mut node = ROOT;
        text.iter().enumerate().flat_map(move |(at, &byte)| {
            node = self.step(node, byte);
            let next = |&token: &usize| Some(self.following[token] as usize).filter(|&token| token != NONE as usize);
            let tokens = std::iter::successors(self.token(node), next);
            tokens.map(move |token| TokenMatch { index: token, start: at + 1 - self.lens[token], end: at + 1 })
        })
    }
}

/// A search for the leftmost tokens of a text.
pub(super) struct LinearSearch<'a> {
    automaton: &'a LinearAutomaton,
    text: &'a [u8],
    /// The offsets for which `tokens` has the tokens that start there.
    window: Range<usize>,
    tokens: Vec<u32>,
}

impl<'a> LinearSearch<'a> {
    pub fn new(automaton: &'a LinearAutomaton, text: &'a [u8]) -> LinearSearch<'a> {
        LinearSearch { automaton, text, window: 0..0, tokens: Vec::new() }
    }

    /// Returns the first token at `from` or later; `from` never decreases from one call to the next.
    pub fn find_from(&mut self, from: usize) -> Option<TokenMatch> {
        (from..self.text.len() + 1).find_map(|start| {
            let token = self.token_at(start);
            let index = self.preferred(token)?;
            Some(TokenMatch { index, start, end: start + self.automaton.lens[index] })
        })
    }

    /// Returns a token, or the empty token if the search prefers it.
    fn preferred(&self, token: Option<usize>) -> Option<usize> {
        match (token, self.automaton.empty_token) {
            (Some(token), Some(empty)) if self.automaton.takes_first_listed => Some(token.min(empty)),
            (token, empty) => token.or(empty),
        }
    }

    /// Returns the token that starts at an offset and is not empty.
    fn token_at(&mut self, start: usize) -> Option<usize> {
        if start >= self.text.len() {
            return None;
        }
        if !self.window.contains(&start) {
            self.fill(start);
        }
        Some(self.tokens[start - self.window.start] as usize).filter(|&token| token != NONE as usize)
    }

    /// Computes the tokens of the window that starts at an offset.
    fn fill(&mut self, start: usize) {
        let end = (start + self.automaton.max_len.max(MIN_WINDOW)).min(self.text.len());
        let read_end = (end + self.automaton.max_len).min(self.text.len());
        self.window = start..end;
        self.tokens.clear();
        self.tokens.checked_resize(end - start, NONE);
        let mut node = ROOT;
        for at in (start..read_end).rev() {
            node = self.automaton.step(node, self.text[at]);
            if at < end {
                self.tokens[at - start] = self.automaton.tokens[node as usize];
            }
        }
    }
}
