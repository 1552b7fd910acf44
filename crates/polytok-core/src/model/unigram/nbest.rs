//! The n best segmentations under a Unigram model, by A* from the text's end to its beginning.
//!
//! Reference: SentencePiece's `Lattice::NBest`. A hypothesis is a node and a path from that node to the end. The
//! priority of a hypothesis is the score of the best whole path that contains the hypothesis, computed from the Viterbi
//! scores. So the best paths are found first. The agenda is a binary heap with the moves of libstdc++'s `push_heap` and
//! `pop_heap`: these moves decide the order of ties. The same search draws samples without replacement when priorities
//! are perturbed (see `sample`).
//!
//! Limits: as in the references, an agenda of 10,000 is truncated to its best 512 (or 10 n, if fewer). 0.2.3 also
//! truncates the agenda at 100,000 stored hypotheses, and returns only the best path after 10 truncations, 500,000
//! hypotheses or 30 seconds. The time limit is omitted here, because the search reaches the limit of hypotheses first.
//! 0.2.1 has no limit; here its search fails at `MAX_HYPOTHESES`.
//!
//! Cost: for each path, its pieces times the nodes that end at one offset, times the logarithm of the agenda. Worst
//! input: many paths with almost the same score, as in a long run of one character.

use polytok_memory::{self as memory, Collect, Grow};

use crate::error::{Error, Result};
use crate::model::unigram::lattice::{Lattice, START_NODE, Viterbi};
use crate::model::unigram::{Unigram, UnigramScratch};
use crate::segment::Segment;
use crate::spec::SentencePieceVersion;
use crate::trie::NONE;

/// The size at which the agenda is truncated.
const MAX_AGENDA: usize = 10_000;
/// The largest size of a truncated agenda.
const TRUNCATED_AGENDA: usize = 512;
/// The limits of 0.2.3: stored hypotheses, created hypotheses, and truncations of the agenda.
const MAX_STORED: usize = 100_000;
const MAX_CREATED: usize = 500_000;
const MAX_TRUNCATIONS: usize = 10;
/// The largest number of hypotheses of 0.2.1's search. Memory stays below half a gigabyte.
const MAX_HYPOTHESES: usize = 1 << 25;

/// A segmentation and its score.
pub type ScoredSegmentation = (Vec<Segment>, f32);

/// The nodes of a path from left to right, and the score or priority of the path.
pub(super) type NodePath = (Vec<u32>, f32);

/// Returns the largest number of segmentations that a search can return.
pub fn max_nbest(version: SentencePieceVersion) -> usize {
    match version {
        SentencePieceVersion::V0_2_1 => 1024,
        SentencePieceVersion::V0_2_3 => 512,
    }
}

impl Unigram {
    /// Returns up to `n` segmentations, best first. If `n` is 0 or 1, returns the same segmentation as
    /// [`Unigram::segment`], with score 0. In 0.2.1 an `n` above 1024 counts as 1024; in 0.2.3 an `n` above 512 is an
    /// error.
    pub fn nbest(&self, norm: &[u8], n: usize) -> Result<Vec<ScoredSegmentation>> {
        let max = max_nbest(self.version);
        if n > max && self.version == SentencePieceVersion::V0_2_3 {
            return Err(Error::Argument(format!("nbest_size is {n}, the most is {max}")));
        }
        if n <= 1 || norm.is_empty() {
            let mut best = Vec::new();
            self.segment(norm, &mut UnigramScratch::default(), &mut |segment| {
                best.checked_push(segment);
                Ok(())
            })?;
            return Ok(vec![(best, 0.0)]);
        }
        let lattice = Lattice::new(self, norm);
        let viterbi = lattice.viterbi();
        let paths = search(&lattice, self.version, n.min(max), &mut BestFirst(&lattice, &viterbi))?;
        let paths = paths.unwrap_or_else(|| vec![(viterbi.path(), viterbi.scores[lattice.end() as usize])]);
        Ok(paths.into_iter().map(|(path, score)| (lattice.segments(&path), score)).checked_collect())
    }
}

/// Returns the ids of the best two segmentations of a lattice; [`Lattice::from_pieces`] describes `nodes`. Returns `None` if
/// there is only one segmentation, or if 0.2.3 gives up the search. A trainer calls this function for each piece.
pub(crate) fn best_two(
    nodes: &[(u32, u32, u32, f32)],
    chars: usize,
    version: SentencePieceVersion,
) -> Option<[Vec<u32>; 2]> {
    let lattice = Lattice::from_pieces(nodes, chars, version);
    let viterbi = lattice.viterbi();
    let paths = search(&lattice, version, 2, &mut BestFirst(&lattice, &viterbi)).ok().flatten()?;
    let ids_of_path =
        |(path, _): &NodePath| path.iter().map(|&node| lattice.nodes[node as usize].id.0).checked_collect();
    let [first, second] = &paths[..] else { return None };
    Some([ids_of_path(first), ids_of_path(second)])
}

impl Lattice {
    pub(super) fn segments(&self, path: &[u32]) -> Vec<Segment> {
        path.iter().map(|&node| self.segment(node)).checked_collect()
    }
}

/// The end of a path: a node, and the hypothesis to its right.
#[derive(Clone, Copy)]
pub(super) struct Hypothesis {
    pub node: u32,
    next: u32,
    /// The priority in the agenda, highest first.
    pub priority: f32,
    /// The score of the path so far.
    pub score: f32,
}

/// The priorities and scores of hypotheses in a search.
pub(super) trait SearchStrategy {
    /// Returns the priority and the score of the hypothesis at the end of the text.
    fn root(&mut self) -> (f32, f32);
    /// Calls `visit(node, priority, score)` for each node that ends at the start of `from`, in the order of nodes.
    fn expand(&mut self, parent: &Hypothesis, visit: impl FnMut(u32, f32, f32));
}

struct BestFirst<'a>(&'a Lattice, &'a Viterbi);

impl SearchStrategy for BestFirst<'_> {
    fn root(&mut self) -> (f32, f32) {
        (self.1.scores[self.0.end() as usize], 0.0)
    }

    fn expand(&mut self, parent: &Hypothesis, mut visit: impl FnMut(u32, f32, f32)) {
        for &left in self.0.left_neighbours(parent.node) {
            let (best_score, own_score) = (self.1.scores[left as usize], self.0.nodes[left as usize].score);
            visit(left, best_score + parent.score, own_score + parent.score);
        }
    }
}

/// Returns the first `n` paths of the search, with their priorities; `None` if 0.2.3 gives up.
pub(super) fn search(
    lattice: &Lattice,
    version: SentencePieceVersion,
    n: usize,
    strategy: &mut impl SearchStrategy,
) -> Result<Option<Vec<NodePath>>> {
    let (priority, score) = strategy.root();
    let root = Hypothesis { node: lattice.end(), next: NONE, priority, score };
    let mut beam = Beam {
        hypotheses: vec![root],
        agenda: Agenda::default(),
        created_count: 1,
        truncations: 0,
        max_hypotheses: MAX_STORED,
    };
    beam.agenda.push(priority, 0);
    let mut paths = Vec::new();
    while let Some((priority, top)) = beam.agenda.pop() {
        if beam.hypotheses[top as usize].node == START_NODE {
            paths.checked_push((beam.path(top), priority));
            if paths.len() == n {
                break;
            }
            continue;
        }
        beam.expand(top, strategy);
        match version {
            SentencePieceVersion::V0_2_1 if beam.created_count > MAX_HYPOTHESES => return Err(limit_error(n)),
            SentencePieceVersion::V0_2_3 if beam.created_count >= MAX_CREATED => return Ok(None),
            _ => {}
        }
        let kept_count = TRUNCATED_AGENDA.min(n.saturating_mul(10));
        if beam.is_full(kept_count, version) {
            if version == SentencePieceVersion::V0_2_3 && beam.truncations == MAX_TRUNCATIONS {
                return Ok(None);
            }
            beam.truncate(kept_count);
        }
    }
    Ok(Some(paths))
}

fn limit_error(n: usize) -> Error {
    Error::Argument(format!(
        "the search for {n} segmentations passed {MAX_HYPOTHESES} hypotheses; ask for fewer, or split the text"
    ))
}

/// The stored hypotheses, and the agenda of hypotheses to expand.
struct Beam {
    hypotheses: Vec<Hypothesis>,
    agenda: Agenda,
    created_count: usize,
    truncations: usize,
    max_hypotheses: usize,
}

impl Beam {
    fn expand(&mut self, top: u32, strategy: &mut impl SearchStrategy) {
        let parent = self.hypotheses[top as usize];
        strategy.expand(&parent, |node, priority, score| {
            self.agenda.push(priority, self.hypotheses.len() as u32);
            self.hypotheses.checked_push(Hypothesis { node, next: top, priority, score });
            self.created_count += 1;
        });
    }

    /// Returns the nodes of the path from `top`, which is the start of the text, without the start and the end.
    fn path(&self, top: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut at = self.hypotheses[top as usize].next;
        while self.hypotheses[at as usize].next != NONE {
            path.checked_push(self.hypotheses[at as usize].node);
            at = self.hypotheses[at as usize].next;
        }
        path
    }

    fn is_full(&self, kept_count: usize, version: SentencePieceVersion) -> bool {
        let len = self.agenda.len();
        len >= MAX_AGENDA
            || (version == SentencePieceVersion::V0_2_3
                && len > kept_count
                && self.hypotheses.len() >= self.max_hypotheses)
    }

    /// Truncates the agenda to the best `kept_count` hypotheses, and removes hypotheses that are on no path of the
    /// agenda.
    fn truncate(&mut self, kept_count: usize) {
        let mut agenda = Agenda::default();
        let mut hypotheses = Vec::new();
        let mut new_indexes = memory::filled(NONE, self.hypotheses.len());
        for _ in 0..kept_count {
            let Some((priority, top)) = self.agenda.pop() else { break };
            agenda.push(priority, self.copy_path(top, &mut hypotheses, &mut new_indexes));
        }
        self.max_hypotheses = hypotheses.len() + MAX_STORED;
        self.agenda = agenda;
        self.hypotheses = hypotheses;
        self.truncations += 1;
    }

    /// Copies `top` and the hypotheses to the right of `top` into `hypotheses`, except those that are already copied.
    /// Returns the new index of `top`.
    fn copy_path(&self, top: u32, hypotheses: &mut Vec<Hypothesis>, new_indexes: &mut [u32]) -> u32 {
        let mut missing_path = Vec::new();
        let mut at = top;
        while at != NONE && new_indexes[at as usize] == NONE {
            missing_path.checked_push(at);
            at = self.hypotheses[at as usize].next;
        }
        for &old_index in missing_path.iter().rev() {
            let hypothesis = self.hypotheses[old_index as usize];
            let next = if hypothesis.next == NONE { NONE } else { new_indexes[hypothesis.next as usize] };
            new_indexes[old_index as usize] = hypotheses.len() as u32;
            hypotheses.checked_push(Hypothesis { next, ..hypothesis });
        }
        new_indexes[top as usize]
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
        self.heap.checked_push((priority, hypothesis));
        self.sift_up(self.heap.len() - 1, (priority, hypothesis));
    }

    /// Removes and returns the root. The hole at the root moves to the bottom along the larger children (the right
    /// child if they are equal); then the last entry moves up from there.
    fn pop(&mut self) -> Option<(f32, u32)> {
        let last_entry = self.heap.pop()?;
        let Some(&top) = self.heap.first() else { return Some(last_entry) };
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
        self.sift_up(hole, last_entry);
        Some(top)
    }

    /// Moves smaller parents of the hole down, and writes `entry` to the final hole.
    fn sift_up(&mut self, mut hole: usize, entry: (f32, u32)) {
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

    fn show_paths(text: &str, nbest: &[ScoredSegmentation]) -> Vec<(String, f32)> {
        nbest.iter().map(|(path, score)| (show(text, path), *score)).collect()
    }

    #[test]
    fn best_first_and_ties_in_heap_order() {
        for version in [SentencePieceVersion::V0_2_1, SentencePieceVersion::V0_2_3] {
            let model = model("a:-1 aa:-2 aaa:-3", version);
            let segmentations = show_paths("aaa", &model.nbest(b"aaa", 10).unwrap());
            assert_eq!(segmentations, ["aaa", "aa a", "a aa", "a a a"].map(|path| (path.to_string(), -3.0)));
            assert_eq!(show_paths("aaa", &model.nbest(b"aaa", 1).unwrap()), [("aaa".into(), 0.0)]);
            assert_eq!(model.nbest(b"", 5).unwrap(), [(vec![], 0.0)]);
        }
    }

    #[test]
    fn a_too_large_n_is_clamped_or_refused() {
        assert!(model("a:-1", SentencePieceVersion::V0_2_1).nbest(b"aa", 5000).is_ok());
        assert!(matches!(model("a:-1", SentencePieceVersion::V0_2_3).nbest(b"aa", 513), Err(Error::Argument(_))));
    }

    #[test]
    fn the_lattice_measures_user_defined_pieces_in_characters() {
        let segmentations =
            model("日:-1 本:-1 日本:ud", SentencePieceVersion::V0_2_3).nbest("日本".as_bytes(), 2).unwrap();
        assert_eq!(show_paths("日本", &segmentations)[0], ("日本".to_string(), 0.1));
    }

    #[test]
    fn a_search_that_is_too_hard_falls_back_to_the_best_path() {
        let model = model("a:-1 aa:-2 aaa:-3 aaaa:-4", SentencePieceVersion::V0_2_3);
        let text = "a".repeat(200_000);
        let segmentations = model.nbest(text.as_bytes(), 100).unwrap();
        assert_eq!(segmentations.len(), 1);
        assert_eq!(segmentations[0].0.len(), segments(&model, &text).len());
    }

    proptest! {
        #[test]
        fn paths_are_distinct_and_scores_fall(text in "[abc]{1,9}", n in 2usize..40) {
            let model = model("a:-1.5 b:-2.25 ab:-3 ba:-3.5 aba:-6 bb:-4", SentencePieceVersion::V0_2_3);
            let segmentations = model.nbest(text.as_bytes(), n).unwrap();
            let mut paths: Vec<_> = show_paths(&text, &segmentations).into_iter().map(|(path, _)| path).collect();
            prop_assert!(segmentations.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            paths.sort();
            paths.dedup();
            prop_assert_eq!(paths.len(), segmentations.len());
        }

        #[test]
        fn the_agenda_is_a_heap(priorities in proptest::collection::vec(0u8..9, 0..60)) {
            let mut agenda = Agenda::default();
            for (i, &priority) in priorities.iter().enumerate() {
                agenda.push(priority as f32, i as u32);
            }
            let popped_priorities: Vec<f32> = std::iter::from_fn(|| agenda.pop()).map(|(priority, _)| priority).collect();
            let mut sorted: Vec<f32> = priorities.iter().map(|&priority| priority as f32).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            prop_assert_eq!(popped_priorities, sorted);
        }
    }
}
