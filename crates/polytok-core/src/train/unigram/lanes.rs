//! Stores the words of the corpus as the nodes of their lattices. The words are distributed over lanes.
//!
//! Training reads each word dozens of times, and the set of pieces only shrinks. So each word is looked up in the
//! dictionary once, and the matches are stored as a list of nodes. A node takes four bytes. When a piece is removed,
//! its nodes are removed.
//!
//! With `num_threads` = n, each thread of the reference processes every n-th word and adds up in single precision, so n
//! affects the last bits of all sums. Here each thread of the reference corresponds to a *lane*, a list of words. Any
//! number of threads can process the n lanes (16 by default), and the result is that of the reference with n threads,
//! on any machine.
//!
//! Cost: one search in the dictionary for each character of the words. Afterwards memory is only read sequentially.

use polytok_memory::{Collect, Grow};

use crate::error::{Error, Result};
use crate::train::unigram::pieces::ScoredPieces;
use crate::train::unigram::workers::Workers;
use crate::train::words::WordCounts;
use crate::trie::NONE;
use crate::utf8::lead_len;

/// A node: a piece that begins at a certain character of a word. The highest bit marks the last node of the character.
/// The other bits hold the length of the piece in characters minus 1 (9 bits), and the id of the piece (22 bits).
#[derive(Clone, Copy, PartialEq)]
pub struct PieceNode(u32);

const ID_BITS: u32 = 22;
const LEN_BITS: u32 = 9;
const LAST_BIT: u32 = 1 << 31;
/// The id of a character that is not a piece.
pub const NO_PIECE_ID: u32 = (1 << ID_BITS) - 1;

impl PieceNode {
    fn new(id: u32, chars: usize) -> PieceNode {
        PieceNode((chars as u32 - 1) << ID_BITS | id)
    }

    #[inline]
    pub fn id(self) -> u32 {
        self.0 & NO_PIECE_ID
    }

    /// Returns the piece that receives this node's expected count: piece 0 for a character that is not a piece.
    #[inline]
    pub fn piece(self) -> usize {
        if self.id() == NO_PIECE_ID { 0 } else { self.id() as usize }
    }

    #[inline]
    pub fn chars(self) -> u32 {
        (self.0 >> ID_BITS & ((1 << LEN_BITS) - 1)) + 1
    }

    #[inline]
    pub fn is_last(self) -> bool {
        self.0 & LAST_BIT != 0
    }
}

/// The numbers of a word: its count, its characters and its nodes.
#[derive(Clone, Copy)]
struct LaneWord {
    count: f32,
    chars: u32,
    nodes: u32,
}

/// A lane: every n-th word, if there are n lanes.
#[derive(Default)]
pub struct WordLane {
    words: Vec<LaneWord>,
    nodes: Vec<PieceNode>,
}

impl WordLane {
    fn from_words(words: &WordCounts, lane: usize, lanes: usize, pieces: &ScoredPieces) -> WordLane {
        let mut lane_words = WordLane::default();
        for index in (lane..words.len()).step_by(lanes) {
            let before = lane_words.nodes.len();
            let chars = add_nodes(words.word(index), pieces, &mut lane_words.nodes);
            let nodes = (lane_words.nodes.len() - before) as u32;
            lane_words.words.checked_push(LaneWord { count: words.count(index) as f32, chars, nodes });
        }
        lane_words.nodes.shrink_to_fit();
        lane_words
    }

    /// Calls `each(count, characters, nodes)` for each word.
    pub fn each(&self, mut each: impl FnMut(f32, u32, &[PieceNode])) {
        let mut remaining_nodes = &self.nodes[..];
        for word in &self.words {
            let (nodes, after) = remaining_nodes.split_at(word.nodes as usize);
            each(word.count, word.chars, nodes);
            remaining_nodes = after;
        }
    }

    /// Replaces the ids of pieces by their new ids. A new id of `NONE` removes the piece's nodes.
    fn renumber(&mut self, new_ids: &[u32]) {
        let (mut to, mut from) = (0, 0);
        for word in &mut self.words {
            let first = to;
            for _ in 0..word.chars {
                renumber_group(&mut self.nodes, &mut from, &mut to, new_ids);
            }
            word.nodes = (to - first) as u32;
        }
        self.nodes.truncate(to);
        if self.nodes.capacity() > 2 * to {
            self.nodes.shrink_to_fit();
        }
    }
}

/// Moves the nodes of one character from index `from` to index `to`, which is not larger.
fn renumber_group(nodes: &mut [PieceNode], from: &mut usize, to: &mut usize, new_ids: &[u32]) {
    let mut lost_character = false;
    loop {
        let node = nodes[*from];
        *from += 1;
        let id = new_ids.get(node.id() as usize).copied().unwrap_or(NONE);
        if id != NONE {
            nodes[*to] = PieceNode::new(id, node.chars() as usize);
            *to += 1;
        } else {
            lost_character |= node.chars() == 1;
        }
        if node.is_last() {
            break;
        }
    }
    if lost_character {
        nodes[*to] = PieceNode::new(NO_PIECE_ID, 1);
        *to += 1;
    }
    nodes[*to - 1].0 |= LAST_BIT;
}

/// Appends the nodes of a word to `nodes`. Returns the number of characters of the word.
pub fn add_nodes(word: &[u8], pieces: &ScoredPieces, nodes: &mut Vec<PieceNode>) -> u32 {
    let (mut at, mut chars) = (0, 0);
    while at < word.len() {
        let (first, char) = (nodes.len(), lead_len(word[at]));
        let remaining_word = &word[at..];
        // Prefixes are found in the order of their lengths, so each character is counted once.
        let (mut counted, mut count) = (0, 0);
        pieces.for_each_prefix(remaining_word, |len, id| {
            while counted < len {
                counted += lead_len(remaining_word[counted]);
                count += 1;
            }
            nodes.checked_push(PieceNode::new(id, count));
        });
        if nodes.get(first).is_none_or(|node| node.chars() > 1) {
            nodes.checked_push(PieceNode::new(NO_PIECE_ID, 1));
        }
        if let Some(last) = nodes.last_mut() {
            last.0 |= LAST_BIT;
        }
        at += char;
        chars += 1;
    }
    chars
}

/// Distributes the words over lanes.
pub fn build_lanes(
    words: &WordCounts,
    lanes: usize,
    pieces: &ScoredPieces,
    workers: &mut Workers,
) -> Result<Vec<WordLane>> {
    if pieces.len() >= NO_PIECE_ID as usize {
        return Err(Error::Argument(format!(
            "{} seeds exceed the limit of {}; lower seed_sentencepiece_size",
            pieces.len(),
            NO_PIECE_ID - 1
        )));
    }
    run_in_lanes(lanes, workers, "lattices", |lane| WordLane::from_words(words, lane, lanes, pieces))
}

/// Replaces the ids of pieces in all lanes.
pub fn renumber(lanes: &mut [WordLane], new_ids: &[u32], workers: &mut Workers) -> Result<()> {
    workers.run("lattices", lanes.iter_mut().checked_collect(), |lane| lane.renumber(new_ids))
}

/// Runs `work` for each lane. Returns the results in the order of the lanes.
pub fn run_in_lanes<T: Send>(
    lanes: usize,
    workers: &mut Workers,
    stage: &'static str,
    work: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let mut results: Vec<Option<T>> = (0..lanes).map(|_| None).checked_collect();
    workers
        .run(stage, results.iter_mut().enumerate().checked_collect(), |(lane, result)| *result = Some(work(lane)))?;
    Ok(results.into_iter().flatten().checked_collect())
}

/// Adds up the sums of all lanes, in the order of the lanes.
pub fn add_up_lanes(sums: Vec<Vec<f32>>) -> Vec<f32> {
    let mut sums = sums.into_iter();
    let mut total = sums.next().unwrap_or_default();
    for lane in sums {
        total.iter_mut().zip(&lane).for_each(|(sum, one)| *sum += one);
    }
    total
}
