//! Compiles a pattern to a deterministic automaton, which reads classes of characters and writes the ends of pieces.
//!
//! A backtracking engine tries the paths through the steps in turn; the automaton follows all paths together. A
//! [`Thread`] is a point on a path. A [`Level`] is the list of the threads of one search, in the order in which the
//! backtracking engine tries the threads. A thread that completes the pattern makes the current offset the *candidate*
//! for the end of the piece, and drops all later threads of the level. The earlier threads of the level can still find
//! another end, perhaps much later (`\s*[\r\n]+` after a line). To read no character twice, the search for the next
//! piece starts at the candidate immediately, as a new level. So a state is a stack of levels, and every level except
//! the last has a candidate. If a level finds a better candidate, the levels above this level are dropped. A level
//! without threads is decided; if the lowest level is decided, the candidate of the lowest level is an end.
//!
//! A character that no match covers is a piece of its own, which is marked as a gap. A search tries this gap last.
//!
//! Cost: building takes one step for each pair of a state and a class; a pattern that needs more than `MAX_STATES` or
//! `MAX_LEVELS` has no automaton. Running reads one cell per character, without a branch (see `stream`).

use super::classes::Mask;
use super::pattern::UNBOUNDED;
use super::program::{Step, has};
use std::collections::HashMap;

use polytok_memory::{Collect, Grow};

/// The maximum number of states of an automaton.
pub(super) const MAX_STATES: usize = 256;
/// The maximum number of levels of a state, and so of pending candidates.
pub(super) const MAX_LEVELS: usize = 4;
/// The maximum length of a [`Cycle`] in characters.
const MAX_CYCLE: usize = 4;
/// The mask of the row number in the upper half of a cell.
const ROW_MASK: u32 = 0x7FFF;
/// The bit that marks a gap, both in a cell of the table and in an end that the automaton outputs.
pub(super) const GAP: u32 = 1 << 31;
/// The step number that represents a gap, which is one character that no match covers.
const GAP_STEP: u16 = u16::MAX;

/// A point on a path through the steps: after `held` characters of the run at `pc`, or before the step at `pc` if
/// `held` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Thread {
    pc: u16,
    held: u32,
}

/// The threads of one search; the first thread has the highest priority.
type Level = Vec<Thread>;

/// The transition of a state for a class, packed into 32 bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cell(u32);

/// The bit of a cell that is set if the current offset becomes a candidate.
const CANDIDATE_BIT: u32 = 1 << 15;

impl Cell {
    fn new(row: usize, slot: usize, ends: usize, ended_piece: Option<PieceKind>) -> Cell {
        let candidate = if ended_piece.is_some() { CANDIDATE_BIT } else { 0 };
        let gap = if ended_piece == Some(PieceKind::Gap) { GAP } else { 0 };
        Cell((row as u32) << 16 | (slot as u32) << 8 | ends as u32 | candidate | gap)
    }

    /// The row of the next state.
    #[inline]
    pub(super) fn row(self) -> usize {
        (self.0 >> 16 & ROW_MASK) as usize
    }

    /// The index of the pending candidate to which the current offset is written. An offset that is not a candidate is
    /// overwritten later.
    #[inline]
    pub(super) fn slot(self) -> usize {
        (self.0 >> 8 & 0x7F) as usize
    }

    /// Reports whether the current offset is a candidate.
    pub(super) fn is_candidate(self) -> bool {
        self.0 & CANDIDATE_BIT != 0
    }

    /// The number of pending candidates that become ends with this transition.
    #[inline]
    pub(super) fn ends(self) -> usize {
        (self.0 & 0xFF) as usize
    }

    /// Returns [`GAP`] if the candidate ends a gap, else 0.
    #[inline]
    pub(super) fn gap(self) -> u32 {
        self.0 & GAP
    }
}

/// The table of an automaton: a row for each state, with a cell for each class. A search begins in row 0.
pub(super) struct Automaton {
    pub(super) cells: Vec<Cell>,
    /// The number of cells of a row.
    pub(super) stride: usize,
    /// True if the matches cover every text.
    pub(super) covers_text: bool,
}

/// A cycle of states that repeats in a run of characters of one class.
pub(super) struct Cycle {
    /// The number of characters after which the first state of the cycle returns.
    pub(super) len: usize,
    /// The number of ends within one cycle.
    pub(super) ends: usize,
}

impl Automaton {
    /// Builds the automaton of the alternatives that begin at `starts`; None if the automaton is too large. `classes`
    /// is the number of classes; the last class is the end of the text.
    pub(super) fn build(steps: &[Step], masks: &[Mask], starts: &[u16], classes: usize) -> Option<Automaton> {
        let threads = starts.iter().map(|&pc| Thread { pc, held: 0 });
        let first_level: Level = threads.chain([Thread { pc: GAP_STEP, held: 0 }]).checked_collect();
        let mut builder = AutomatonBuilder {
            steps,
            masks,
            first_level,
            end: classes as u8 - 1,
            followed_threads: Vec::new(),
            is_decided: false,
        };
        let stride = classes.next_power_of_two();
        let mut states = vec![vec![builder.first_level.clone()]];
        let mut state_numbers: HashMap<Vec<Level>, usize> = HashMap::from([(states[0].clone(), 0)]);
        let mut cells = Vec::new();
        let mut state = 0;
        while state < states.len() {
            for class in 0..classes as u8 {
                let Transition { levels, slot, ends, ended_piece } = builder.transition(&states[state], class)?;
                let next = *state_numbers.entry(levels).or_insert_with_key(|levels| {
                    states.checked_push(levels.clone());
                    states.len() - 1
                });
                cells.checked_push(Cell::new(next * stride, slot, ends, ended_piece));
            }
            state += 1;
            cells.checked_resize(state * stride, Cell::default());
            if states.len() > MAX_STATES {
                return None;
            }
        }
        let covers_text = cells.iter().all(|cell| cell.gap() == 0);
        Some(Automaton { cells, stride, covers_text })
    }

    /// Returns the cycle in which characters of `class` lead from a row back to the same row; None if the cycle is
    /// longer than [`MAX_CYCLE`] or has a gap.
    pub(super) fn cycle(&self, row: usize, class: u8) -> Option<Cycle> {
        let (mut at, mut ends) = (row, 0);
        for len in 1..=MAX_CYCLE {
            let cell = self.cells[at + class as usize];
            if cell.gap() != 0 {
                return None;
            }
            ends += cell.ends();
            at = cell.row();
            if at == row {
                return Some(Cycle { len, ends });
            }
        }
        None
    }
}

/// The kind of a piece: a match or a gap.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Match,
    Gap,
}

/// The transition of a state for a class; the next state is given by levels.
struct Transition {
    levels: Vec<Level>,
    slot: usize,
    ends: usize,
    /// The kind of the piece that ends at the current offset; None if no piece ends there.
    ended_piece: Option<PieceKind>,
}

struct AutomatonBuilder<'a> {
    steps: &'a [Step],
    masks: &'a [Mask],
    /// The level with which a search begins.
    first_level: Level,
    /// The class of the end of the text.
    end: u8,
    /// The threads that the builder has already followed at the current offset.
    followed_threads: Vec<Thread>,
    /// True if a followed thread cannot fail, so that later threads of the level have no effect.
    is_decided: bool,
}

impl AutomatonBuilder<'_> {
    /// Computes the transition of `state` for `class`; None if the next state has too many levels.
    fn transition(&mut self, state: &[Level], class: u8) -> Option<Transition> {
        let mut transition = Transition { levels: Vec::new(), slot: state.len() - 1, ends: 0, ended_piece: None };
        for (index, level) in state.iter().enumerate() {
            let (next, ended_piece) = self.step(level, class);
            if next.is_empty() && transition.levels.is_empty() {
                transition.ends = index + 1;
            } else {
                transition.levels.checked_push(next);
            }
            if ended_piece.is_some() {
                transition.slot = index;
                transition.ended_piece = ended_piece;
                let first_level = self.first_level.clone();
                transition.levels.checked_push(self.step(&first_level, class).0);
                break;
            }
        }
        if class == self.end {
            // A text without characters has no pieces.
            transition.ends = if *state == [self.first_level.clone()] { 0 } else { transition.ends };
            transition.levels = vec![self.first_level.clone()];
        }
        (transition.levels.len() <= MAX_LEVELS).then_some(transition)
    }

    /// Returns the level after a character of `class`, and the kind of the piece that ends before that character, if
    /// any.
    fn step(&mut self, level: &[Thread], class: u8) -> (Level, Option<PieceKind>) {
        self.followed_threads.clear();
        self.is_decided = false;
        let mut next = Level::new();
        for &thread in level {
            if self.follow(thread, class, &mut next) {
                return (next, Some(if thread.pc == GAP_STEP { PieceKind::Gap } else { PieceKind::Match }));
            }
            if self.is_decided {
                break;
            }
        }
        (next, None)
    }

    /// Adds to `next` the threads that `thread` leads to when it reads a character of `class`. Returns true if the
    /// pattern matches before that character.
    fn follow(&mut self, thread: Thread, class: u8, next: &mut Level) -> bool {
        if self.is_decided || self.followed_threads.contains(&thread) {
            return false;
        }
        self.followed_threads.checked_push(thread);
        if thread.pc == GAP_STEP {
            if thread.held == 0 && class != self.end {
                next.checked_push(Thread { pc: GAP_STEP, held: 1 });
            }
            return thread.held > 0;
        }
        let before = |pc: u16| Thread { pc, held: 0 };
        match self.steps[thread.pc as usize] {
            Step::Accept => true,
            Step::Jump(to) => self.follow(before(to), class, next),
            Step::Look(mask) => has(mask, class) && self.follow(before(thread.pc + 1), class, next),
            Step::Split { other, .. } => {
                self.follow(before(thread.pc + 1), class, next) || self.follow(before(other), class, next)
            }
            Step::Run(run) => {
                let can_take = thread.held < run.max && has(self.masks[run.set as usize], class);
                if can_take {
                    // For an unbounded run, characters are counted only up to `min`.
                    let max_held = if run.max == UNBOUNDED { run.min.max(1) } else { run.max };
                    let longer = Thread { held: (thread.held + 1).min(max_held), ..thread };
                    next.checked_push(longer);
                    if longer.held >= run.min && self.is_sure(run.to) {
                        self.is_decided = true;
                        return false;
                    }
                }
                let can_leave = thread.held >= run.min && (run.gives_back || !can_take);
                can_leave && self.follow(before(run.to), class, next)
            }
        }
    }

    /// Reports whether the steps from `pc` on match at every offset.
    fn is_sure(&self, pc: u16) -> bool {
        match self.steps[pc as usize] {
            Step::Accept => true,
            Step::Jump(to) => self.is_sure(to),
            Step::Look(_) => false,
            Step::Split { other, .. } => self.is_sure(pc + 1) || self.is_sure(other),
            Step::Run(run) => run.min == 0 && self.is_sure(run.to),
        }
    }
}
