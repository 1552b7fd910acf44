//! The words of the corpus as the nodes of their lattices, in lanes.
//!
//! Training reads each word dozens of times, and its pieces only become fewer. So each word is looked up in the dictionary once,
//! and the matches are stored as a list of nodes of four bytes each. When pieces are removed, their nodes are removed.
//!
//! With `num_threads` = n, each of the reference's threads takes every n-th word and adds up in single precision, so n affects the
//! last bits of all sums. Here these threads are *lanes*: n of them (16 by default), processed by any number of threads. The
//! result is that of the reference with n threads, on any machine.
//!
//! Cost: one walk through the dictionary for each character, once; then memory that is read in order.

use crate::error::{Error, Result};
use crate::train::unigram::pieces::Pieces;
use crate::train::unigram::workers::Workers;
use crate::train::words::WordCounts;
use crate::trie::NONE;
use crate::utf8::lead_len;

/// A piece that begins at a character: whether it is the last in the list of this character's pieces, its length in characters less 1
/// (9 bits), and its id (22 bits).
#[derive(Clone, Copy, PartialEq)]
pub struct Node(u32);

const ID_BITS: u32 = 22;
const LEN_BITS: u32 = 9;
const LAST: u32 = 1 << 31;
/// Stands for the character itself where it is no piece.
pub const NO_PIECE: u32 = (1 << ID_BITS) - 1;

impl Node {
    fn new(id: u32, chars: usize) -> Node {
        Node((chars as u32 - 1) << ID_BITS | id)
    }

    #[inline]
    pub fn id(self) -> u32 {
        self.0 & NO_PIECE
    }

    /// The piece that earns what this node does: the first one where it is none.
    #[inline]
    pub fn piece(self) -> usize {
        if self.id() == NO_PIECE { 0 } else { self.id() as usize }
    }

    #[inline]
    pub fn chars(self) -> u32 {
        (self.0 >> ID_BITS & ((1 << LEN_BITS) - 1)) + 1
    }

    #[inline]
    pub fn is_last(self) -> bool {
        self.0 & LAST != 0
    }
}

/// How often a word occurs, and how many characters and nodes it has.
#[derive(Clone, Copy)]
struct Word {
    count: f32,
    chars: u32,
    nodes: u32,
}

/// Every n-th word, for n lanes.
#[derive(Default)]
pub struct Lane {
    words: Vec<Word>,
    nodes: Vec<Node>,
}

impl Lane {
    fn of(words: &WordCounts, lane: usize, lanes: usize, pieces: &Pieces) -> Lane {
        let mut new = Lane::default();
        for index in (lane..words.len()).step_by(lanes) {
            let before = new.nodes.len();
            let chars = add_nodes(words.word(index), pieces, &mut new.nodes);
            let nodes = (new.nodes.len() - before) as u32;
            new.words.push(Word { count: words.count(index) as f32, chars, nodes });
        }
        new.nodes.shrink_to_fit();
        new
    }

    /// Calls `each(count, characters, nodes)` for each word.
    pub fn each(&self, mut each: impl FnMut(f32, u32, &[Node])) {
        let mut rest = &self.nodes[..];
        for word in &self.words {
            let (nodes, after) = rest.split_at(word.nodes as usize);
            each(word.count, word.chars, nodes);
            rest = after;
        }
    }

    /// Gives pieces their new ids; `NONE` removes a piece.
    fn rename(&mut self, moved: &[u32]) {
        let (mut to, mut from) = (0, 0);
        for word in &mut self.words {
            let first = to;
            for _ in 0..word.chars {
                rename_group(&mut self.nodes, &mut from, &mut to, moved);
            }
            word.nodes = (to - first) as u32;
        }
        self.nodes.truncate(to);
        if self.nodes.capacity() > 2 * to {
            self.nodes.shrink_to_fit();
        }
    }
}

/// Moves the nodes of one character from `from` to `to`, which is not behind it.
fn rename_group(nodes: &mut [Node], from: &mut usize, to: &mut usize, moved: &[u32]) {
    let mut has_lost = false; // the character itself
    loop {
        let node = nodes[*from];
        *from += 1;
        let id = moved.get(node.id() as usize).copied().unwrap_or(NONE);
        if id != NONE {
            nodes[*to] = Node::new(id, node.chars() as usize);
            *to += 1;
        } else {
            has_lost |= node.chars() == 1;
        }
        if node.is_last() {
            break;
        }
    }
    if has_lost {
        nodes[*to] = Node::new(NO_PIECE, 1);
        *to += 1;
    }
    nodes[*to - 1].0 |= LAST;
}

/// Adds the nodes of a word. Returns its number of characters.
pub fn add_nodes(word: &[u8], pieces: &Pieces, nodes: &mut Vec<Node>) -> u32 {
    let (mut at, mut chars) = (0, 0);
    while at < word.len() {
        let (first, char) = (nodes.len(), lead_len(word[at]));
        let rest = &word[at..];
        // Prefixes come shortest first, so characters are counted once.
        let (mut counted, mut count) = (0, 0);
        pieces.prefixes(rest, |len, id| {
            while counted < len {
                counted += lead_len(rest[counted]);
                count += 1;
            }
            nodes.push(Node::new(id, count));
        });
        if nodes.get(first).is_none_or(|node| node.chars() > 1) {
            nodes.push(Node::new(NO_PIECE, 1));
        }
        if let Some(last) = nodes.last_mut() {
            last.0 |= LAST;
        }
        at += char;
        chars += 1;
    }
    chars
}

/// All words in lanes.
pub fn lanes(words: &WordCounts, lanes: usize, pieces: &Pieces, workers: &mut Workers) -> Result<Vec<Lane>> {
    if pieces.len() >= NO_PIECE as usize {
        return Err(Error::Argument(format!(
            "{} seeds exceed the limit of {}; lower seed_sentencepiece_size",
            pieces.len(),
            NO_PIECE - 1
        )));
    }
    in_lanes(lanes, workers, "lattices", |lane| Lane::of(words, lane, lanes, pieces))
}

/// Replaces the ids of pieces in all lanes.
pub fn rename(lanes: &mut [Lane], moved: &[u32], workers: &mut Workers) -> Result<()> {
    workers.run("lattices", lanes.iter_mut().collect(), |lane| lane.rename(moved))
}

/// Runs `work` for each lane, and returns the results in order.
pub fn in_lanes<T: Send>(
    lanes: usize,
    workers: &mut Workers,
    stage: &'static str,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let mut results: Vec<Option<T>> = (0..lanes).map(|_| None).collect();
    workers.run(stage, results.iter_mut().enumerate().collect(), |(lane, result)| *result = Some(work(lane)))?;
    Ok(results.into_iter().flatten().collect())
}

/// The lanes' sums, added in their order.
pub fn total(sums: Vec<Vec<f32>>) -> Vec<f32> {
    let mut sums = sums.into_iter();
    let mut total = sums.next().unwrap_or_default();
    for lane in sums {
        total.iter_mut().zip(&lane).for_each(|(sum, one)| *sum += one);
    }
    total
}
