//! The n best segmentations under a Unigram model, by A* from the text's end to its beginning.
//!
//! Reference: SentencePiece's `Lattice::NBest`. A hypothesis is a node and the path from it to the end; its priority is
//! the best score with which a whole path can end that way, which Viterbi has computed, so paths come out best first.
//! The agenda is a binary heap with the moves of libstdc++'s `push_heap` and `pop_heap`: they decide the order of ties.
//! The same search draws samples without replacement when priorities are perturbed (see `sample`).
//!
//! Limits: an agenda of 10,000 is cut to its best 512 (or 10 n, if fewer), as the references do. 0.2.3 also cuts when
//! 100,000 hypotheses are held, and takes the single best path after 10 cuts, 500,000 hypotheses or 30 seconds; here
//! the clock is left out, for the count comes first. 0.2.1 has no such bound; here its search ends with an error at
//! `MAX_HYPOTHESES`.
//!
//! Cost: for each path, its pieces times the nodes that end at one place, times the logarithm of the agenda. Worst
//! input: many paths with almost the same score, as in a long run of one character.

use crate::error::{Error, Result};
use crate::model::unigram::lattice::{BEGIN, Lattice, Viterbi};
use crate::model::unigram::{Unigram, UnigramScratch};
use crate::segment::Segment;
use crate::spec::Line;
use crate::trie::NONE;

const MAX_AGENDA: usize = 10_000;
const KEPT_AGENDA: usize = 512;
/// 0.2.3's limits.
const MAX_HELD: usize = 100_000;
const MAX_CREATED: usize = 500_000;
const MAX_CUTS: usize = 10;
/// The bound of 0.2.1's search; memory stays below half a gigabyte.
const MAX_HYPOTHESES: usize = 1 << 25;

/// A segmentation and its score.
pub type ScoredSegmentation = (Vec<Segment>, f32);

/// The nodes of a path, left to right, and its score or priority.
pub(super) type NodePath = (Vec<u32>, f32);

/// How many segmentations may be asked for.
pub fn max_nbest(line: Line) -> usize {
    match line {
        Line::V0_2_1 => 1024,
        Line::V0_2_3 => 512,
    }
}

impl Unigram {
    /// The `n` best segmentations, best first; fewer if there are fewer. With `n` of 0 or 1 it is the segmentation of
    /// [`Unigram::segment`], and its score is 0. 0.2.1 takes more than 1024 for 1024; 0.2.3 allows no more than 512.
    pub fn nbest(&self, norm: &[u8], n: usize) -> Result<Vec<ScoredSegmentation>> {
        let max = max_nbest(self.line);
        if n > max && self.line == Line::V0_2_3 {
            return Err(Error::Argument(format!("nbest_size is {n}, the most is {max}")));
        }
        if n <= 1 || norm.is_empty() {
            let mut best = Vec::new();
            self.segment(norm, &mut UnigramScratch::default(), &mut |segment| {
                best.push(segment);
                Ok(())
            })?;
            return Ok(vec![(best, 0.0)]);
        }
        let lattice = Lattice::new(self, norm);
        let viterbi = lattice.viterbi();
        let paths = search(&lattice, self.line, n.min(max), &mut BestFirst(&lattice, &viterbi))?;
        let paths = paths.unwrap_or_else(|| vec![(viterbi.path(), viterbi.scores[lattice.end() as usize])]);
        Ok(paths.into_iter().map(|(path, score)| (lattice.segments(&path), score)).collect())
    }
}

/// The ids of the best two segmentations of a lattice whose nodes are given as in [`Lattice::of`]; `None` if there is but one, or where
/// 0.2.3 gives up the search. A trainer asks this of its pieces.
pub(crate) fn best_two(nodes: &[(u32, u32, u32, f32)], places: usize, line: Line) -> Option<[Vec<u32>; 2]> {
    let lattice = Lattice::of(nodes, places, line);
    let viterbi = lattice.viterbi();
    let paths = search(&lattice, line, 2, &mut BestFirst(&lattice, &viterbi)).ok().flatten()?;
    let ids = |(path, _): &NodePath| path.iter().map(|&node| lattice.nodes[node as usize].id.0).collect();
    let [first, second] = &paths[..] else { return None };
    Some([ids(first), ids(second)])
}

impl Lattice {
    pub(super) fn segments(&self, path: &[u32]) -> Vec<Segment> {
        path.iter().map(|&node| self.segment(node)).collect()
    }
}

/// The end of a path: a node, and the hypothesis to its right.
#[derive(Clone, Copy)]
pub(super) struct Hypothesis {
    pub node: u32,
    next: u32,
    /// What comes out of the agenda first.
    pub priority: f32,
    /// The score of the path so far.
    pub score: f32,
}

/// How a search values hypotheses.
pub(super) trait Strategy {
    /// Priority and score of the hypothesis that is only the text's end.
    fn root(&mut self) -> (f32, f32);
    /// Calls `found(node, priority, score)` for each node that ends where `from` starts, in their order.
    fn expand(&mut self, from: &Hypothesis, found: impl FnMut(u32, f32, f32));
}

struct BestFirst<'a>(&'a Lattice, &'a Viterbi);

impl Strategy for BestFirst<'_> {
    fn root(&mut self) -> (f32, f32) {
        (self.1.scores[self.0.end() as usize], 0.0)
    }

    fn expand(&mut self, from: &Hypothesis, mut found: impl FnMut(u32, f32, f32)) {
        for &left in self.0.before(from.node) {
            let (best, own) = (self.1.scores[left as usize], self.0.nodes[left as usize].score);
            found(left, best + from.score, own + from.score);
        }
    }
}

/// The first `n` paths to come out, with their priorities; `None` where 0.2.3 gives up.
pub(super) fn search(
    lattice: &Lattice,
    line: Line,
    n: usize,
    strategy: &mut impl Strategy,
) -> Result<Option<Vec<NodePath>>> {
    let (priority, score) = strategy.root();
    let root = Hypothesis { node: lattice.end(), next: NONE, priority, score };
    let mut beam = Beam { held: vec![root], agenda: Agenda::default(), created: 1, cuts: 0, max_held: MAX_HELD };
    beam.agenda.push(priority, 0);
    let mut paths = Vec::new();
    while let Some((priority, top)) = beam.agenda.pop() {
        if beam.held[top as usize].node == BEGIN {
            paths.push((beam.path(top), priority));
            if paths.len() == n {
                break;
            }
            continue;
        }
        beam.expand(top, strategy);
        match line {
            Line::V0_2_1 if beam.created > MAX_HYPOTHESES => return Err(too_hard(n)),
            Line::V0_2_3 if beam.created >= MAX_CREATED => return Ok(None),
            _ => {}
        }
        let kept = KEPT_AGENDA.min(n.saturating_mul(10));
        if beam.is_full(kept, line) {
            if line == Line::V0_2_3 && beam.cuts == MAX_CUTS {
                return Ok(None);
            }
            beam.cut(kept);
        }
    }
    Ok(Some(paths))
}

fn too_hard(n: usize) -> Error {
    Error::Argument(format!(
        "the search for {n} segmentations passed {MAX_HYPOTHESES} hypotheses; ask for fewer, or split the text"
    ))
}

/// The hypotheses that are held, and those of them that wait to be expanded.
struct Beam {
    held: Vec<Hypothesis>,
    agenda: Agenda,
    created: usize,
    cuts: usize,
    max_held: usize,
}

impl Beam {
    fn expand(&mut self, top: u32, strategy: &mut impl Strategy) {
        let from = self.held[top as usize];
        strategy.expand(&from, |node, priority, score| {
            self.agenda.push(priority, self.held.len() as u32);
            self.held.push(Hypothesis { node, next: top, priority, score });
            self.created += 1;
        });
    }

    /// The nodes from `top`, which is the beginning, to the end, both left out.
    fn path(&self, top: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = self.held[top as usize].next;
        while self.held[at as usize].next != NONE {
            path.push(self.held[at as usize].node);
            at = self.held[at as usize].next;
        }
        path
    }

    fn is_full(&self, kept: usize, line: Line) -> bool {
        let len = self.agenda.len();
        len >= MAX_AGENDA || (line == Line::V0_2_3 && len > kept && self.held.len() >= self.max_held)
    }

    /// Keeps the best `kept` of the agenda and lets go of what no path needs any more.
    fn cut(&mut self, kept: usize) {
        let mut agenda = Agenda::default();
        let mut held = Vec::new();
        let mut moved = vec![NONE; self.held.len()];
        for _ in 0..kept {
            let Some((priority, top)) = self.agenda.pop() else { break };
            agenda.push(priority, self.keep(top, &mut held, &mut moved));
        }
        self.max_held = held.len() + MAX_HELD;
        self.agenda = agenda;
        self.held = held;
        self.cuts += 1;
    }

    /// Moves `top` and all to its right into `held`, unless they are there; where `top` is now.
    fn keep(&self, top: u32, held: &mut Vec<Hypothesis>, moved: &mut [u32]) -> u32 {
        let mut chain = Vec::new();
        let mut at = top;
        while at != NONE && moved[at as usize] == NONE {
            chain.push(at);
            at = self.held[at as usize].next;
        }
        for &old in chain.iter().rev() {
            let hypothesis = self.held[old as usize];
            let next = if hypothesis.next == NONE { NONE } else { moved[hypothesis.next as usize] };
            moved[old as usize] = held.len() as u32;
            held.push(Hypothesis { next, ..hypothesis });
        }
        moved[top as usize]
    }
}

/// A max-heap by priority alone, with the moves of libstdc++'s `push_heap` and `pop_heap`.
#[derive(Default)]
struct Agenda {
    heap: Vec<(f32, u32)>,
}

impl Agenda {
    fn len(&self) -> usize {
        self.heap.len()
    }

    fn push(&mut self, priority: f32, hypothesis: u32) {
        self.heap.push((priority, hypothesis));
        self.rise(self.heap.len() - 1, (priority, hypothesis));
    }

    /// Takes the root. The hole it leaves sinks to the bottom along the larger children (the right one of equals), and
    /// what was last rises from there.
    fn pop(&mut self) -> Option<(f32, u32)> {
        let last = self.heap.pop()?;
        let Some(&top) = self.heap.first() else { return Some(last) };
        let len = self.heap.len();
        let mut hole = 0;
        while 2 * hole + 2 < len {
            let right = 2 * hole + 2;
            let child = if self.heap[right].0 < self.heap[right - 1].0 { right - 1 } else { right };
            self.heap[hole] = self.heap[child];
            hole = child;
        }
        if 2 * hole + 2 == len {
            self.heap[hole] = self.heap[2 * hole + 1];
            hole = 2 * hole + 1;
        }
        self.rise(hole, last);
        Some(top)
    }

    /// Puts `entry` into the hole after moving smaller parents down into it.
    fn rise(&mut self, mut hole: usize, entry: (f32, u32)) {
        while hole > 0 && self.heap[(hole - 1) / 2].0 < entry.0 {
            self.heap[hole] = self.heap[(hole - 1) / 2];
            hole = (hole - 1) / 2;
        }
        self.heap[hole] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::unigram::tests::{model, segments, show};
    use proptest::prelude::*;

    fn shown(text: &str, nbest: &[ScoredSegmentation]) -> Vec<(String, f32)> {
        nbest.iter().map(|(path, score)| (show(text, path), *score)).collect()
    }

    #[test]
    fn best_first_and_ties_in_heap_order() {
        for line in [Line::V0_2_1, Line::V0_2_3] {
            let model = model("a:-1 aa:-2 aaa:-3", line);
            let found = shown("aaa", &model.nbest(b"aaa", 10).unwrap());
            assert_eq!(found, ["aaa", "aa a", "a aa", "a a a"].map(|path| (path.to_string(), -3.0)));
            assert_eq!(shown("aaa", &model.nbest(b"aaa", 1).unwrap()), [("aaa".into(), 0.0)]);
            assert_eq!(model.nbest(b"", 5).unwrap(), [(vec![], 0.0)]);
        }
    }

    #[test]
    fn too_many_are_clamped_or_refused() {
        assert!(model("a:-1", Line::V0_2_1).nbest(b"aa", 5000).is_ok());
        assert!(matches!(model("a:-1", Line::V0_2_3).nbest(b"aa", 513), Err(Error::Argument(_))));
    }

    #[test]
    fn the_lattice_measures_user_defined_pieces_in_characters() {
        let found = model("日:-1 本:-1 日本:ud", Line::V0_2_3).nbest("日本".as_bytes(), 2).unwrap();
        assert_eq!(shown("日本", &found)[0], ("日本".to_string(), 0.1));
    }

    #[test]
    fn a_search_that_is_too_hard_falls_back_to_the_best_path() {
        let model = model("a:-1 aa:-2 aaa:-3 aaaa:-4", Line::V0_2_3);
        let text = "a".repeat(200_000);
        let found = model.nbest(text.as_bytes(), 100).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0.len(), segments(&model, &text).len());
    }

    proptest! {
        #[test]
        fn paths_are_distinct_and_fall(text in "[abc]{1,9}", n in 2usize..40) {
            let model = model("a:-1.5 b:-2.25 ab:-3 ba:-3.5 aba:-6 bb:-4", Line::V0_2_3);
            let found = model.nbest(text.as_bytes(), n).unwrap();
            let mut paths: Vec<_> = shown(&text, &found).into_iter().map(|(path, _)| path).collect();
            prop_assert!(found.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            paths.sort();
            paths.dedup();
            prop_assert_eq!(paths.len(), found.len());
        }

        #[test]
        fn the_agenda_is_a_heap(priorities in proptest::collection::vec(0u8..9, 0..60)) {
            let mut agenda = Agenda::default();
            for (i, &priority) in priorities.iter().enumerate() {
                agenda.push(priority as f32, i as u32);
            }
            let popped: Vec<f32> = std::iter::from_fn(|| agenda.pop()).map(|(priority, _)| priority).collect();
            let mut sorted: Vec<f32> = priorities.iter().map(|&priority| priority as f32).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(popped, sorted);
        }
    }
}
