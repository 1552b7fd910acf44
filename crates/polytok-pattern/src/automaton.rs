//! A pattern compiled to a deterministic automaton that reads classes of characters and writes ends of pieces.
//!
//! What a backtracking engine does by trying is done here for all ways at once, once for each state. A way through the
//! steps is a [`Thread`]; the threads of one search in the order in which the engine would try them are a [`Level`]. A thread
//! that is through with the pattern makes the place the *candidate* for the end of the piece and drops the threads behind
//! it; those before it may still find another end, maybe much later (`\s*[\r\n]+` after a line). So that
//! nothing has to be read twice, the next search begins at the candidate at once, as the next level: a state is a stack
//! of levels, of which all but the last have a candidate. A better candidate drops the levels above it, and a level
//! without threads is decided: if it is the lowest one, its candidate is an end for good.
//!
//! A character that no match covers is a piece of its own, marked as a gap: the last thing that a search tries.
//!
//! Cost: building goes through states times classes; a pattern that needs more than `MAX_STATES` or `MAX_LEVELS` has no
//! automaton. Running reads one cell for a character and has no branch, see `stream`.

use super::classes::Mask;
use super::pattern::UNBOUNDED;
use super::program::{Step, has};
use std::collections::HashMap;

/// States of an automaton at most.
pub(super) const MAX_STATES: usize = 256;
/// Levels of a state, and so candidates that wait at a time.
pub(super) const MAX_LEVELS: usize = 4;
/// The longest cycle that is looked for.
const MAX_CYCLE: usize = 4;
/// Above the rows of the table, in a cell.
const ROW: u32 = 0x7FFF;
/// The mark of a gap, in a cell and at the end that is written.
pub(super) const GAP: u32 = 1 << 31;
/// In place of a step: one character that no match covers.
const ANY: u16 = u16::MAX;

/// A way through the steps: `held` characters into the run at `pc`, or before the step at `pc` with `held` 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Thread {
    pc: u16,
    held: u32,
}

/// The threads of one search, the one to be preferred first.
type Level = Vec<Thread>;

/// The kind of a piece that ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    /// A match of the pattern.
    Match,
    /// A character that no match covers.
    Gap,
}

/// What to do for a class in a state.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cell(u32);

/// In a cell: the place is a candidate.
const NOTED: u32 = 1 << 15;

impl Cell {
    fn new(row: usize, store: usize, commit: usize, ended: Option<PieceKind>) -> Cell {
        let noted = if ended.is_some() { NOTED } else { 0 };
        let gap = if ended == Some(PieceKind::Gap) { GAP } else { 0 };
        Cell((row as u32) << 16 | (store as u32) << 8 | commit as u32 | noted | gap)
    }

    /// The row of the next state.
    #[inline]
    pub(super) fn row(self) -> usize {
        (self.0 >> 16 & ROW) as usize
    }

    /// Behind how many candidates that wait this place is to be noted; if it is none, it will be written over.
    #[inline]
    pub(super) fn store(self) -> usize {
        (self.0 >> 8 & 0x7F) as usize
    }

    /// The place is a candidate.
    pub(super) fn is_noted(self) -> bool {
        self.0 & NOTED != 0
    }

    /// How many of the candidates are ends now.
    #[inline]
    pub(super) fn commit(self) -> usize {
        (self.0 & 0xFF) as usize
    }

    /// The mark for a gap.
    #[inline]
    pub(super) fn gap(self) -> u32 {
        self.0 & GAP
    }
}

/// The table: rows of states, each with a cell for each class. A search begins in row 0.
pub(super) struct Automaton {
    pub(super) cells: Vec<Cell>,
    /// Cells of a row.
    pub(super) stride: usize,
    /// Matches cover every text.
    pub(super) leaves_no_gap: bool,
}

/// What a run of characters of one class does over and over.
pub(super) struct Cycle {
    /// Characters after which the state is the same again.
    pub(super) len: usize,
    /// How many ends they make.
    pub(super) ends: usize,
}

impl Automaton {
    /// The automaton of the alternatives that begin at `starts`; None if it is too large. `classes` counts the end of the text,
    /// which is the last class.
    pub(super) fn build(steps: &[Step], masks: &[Mask], starts: &[u16], classes: usize) -> Option<Automaton> {
        let threads = starts.iter().map(|&pc| Thread { pc, held: 0 });
        let fresh: Level = threads.chain([Thread { pc: ANY, held: 0 }]).collect();
        let mut builder =
            AutomatonBuilder { steps, masks, fresh, end: classes as u8 - 1, seen: Vec::new(), cut: false };
        let stride = classes.next_power_of_two();
        let mut states = vec![vec![builder.fresh.clone()]];
        let mut known: HashMap<Vec<Level>, usize> = HashMap::from([(states[0].clone(), 0)]);
        let mut cells = Vec::new();
        let mut state = 0;
        while state < states.len() {
            for class in 0..classes as u8 {
                let Change { levels, store, commit, ended } = builder.change(&states[state], class)?;
                let next = *known.entry(levels).or_insert_with_key(|levels| {
                    states.push(levels.clone());
                    states.len() - 1
                });
                cells.push(Cell::new(next * stride, store, commit, ended));
            }
            state += 1;
            cells.resize(state * stride, Cell::default());
            if states.len() > MAX_STATES {
                return None;
            }
        }
        let leaves_no_gap = cells.iter().all(|cell| cell.gap() == 0);
        Some(Automaton { cells, stride, leaves_no_gap })
    }

    /// The cycle in which characters of this class lead from this row back to it, if there is a short one, without gaps.
    pub(super) fn cycle(&self, row: usize, class: u8) -> Option<Cycle> {
        let (mut at, mut ends) = (row, 0);
        for len in 1..=MAX_CYCLE {
            let cell = self.cells[at + class as usize];
            if cell.gap() != 0 {
                return None;
            }
            ends += cell.commit();
            at = cell.row();
            if at == row {
                return Some(Cycle { len, ends });
            }
        }
        None
    }
}

/// What a class makes of a state.
struct Change {
    levels: Vec<Level>,
    store: usize,
    commit: usize,
    /// The kind of the piece that ends before the character, if a piece ends there.
    ended: Option<PieceKind>,
}

struct AutomatonBuilder<'a> {
    steps: &'a [Step],
    masks: &'a [Mask],
    /// The level that a search begins with.
    fresh: Level,
    /// The class of the end of the text.
    end: u8,
    /// Threads that were followed at this place.
    seen: Vec<Thread>,
    /// One of them cannot fail, so that those behind it do not matter.
    cut: bool,
}

impl AutomatonBuilder<'_> {
    /// None if there are too many levels.
    fn change(&mut self, state: &[Level], class: u8) -> Option<Change> {
        let mut change = Change { levels: Vec::new(), store: state.len() - 1, commit: 0, ended: None };
        for (index, level) in state.iter().enumerate() {
            let (next, ended) = self.step(level, class);
            if next.is_empty() && change.levels.is_empty() {
                change.commit = index + 1;
            } else {
                change.levels.push(next);
            }
            if ended.is_some() {
                change.store = index;
                change.ended = ended;
                let fresh = self.fresh.clone();
                change.levels.push(self.step(&fresh, class).0);
                break;
            }
        }
        if class == self.end {
            // In a text without characters nothing ends.
            change.commit = if *state == [self.fresh.clone()] { 0 } else { change.commit };
            change.levels = vec![self.fresh.clone()];
        }
        (change.levels.len() <= MAX_LEVELS).then_some(change)
    }

    /// Returns the level after a character of `class`, and the kind of the piece that ends before the character.
    fn step(&mut self, level: &[Thread], class: u8) -> (Level, Option<PieceKind>) {
        self.seen.clear();
        self.cut = false;
        let mut next = Level::new();
        for &thread in level {
            if self.follow(thread, class, &mut next) {
                return (next, Some(if thread.pc == ANY { PieceKind::Gap } else { PieceKind::Match }));
            }
            if self.cut {
                break;
            }
        }
        (next, None)
    }

    /// Adds what becomes of `thread` when a character of `class` comes; true if the pattern is matched before it.
    fn follow(&mut self, thread: Thread, class: u8, next: &mut Level) -> bool {
        if self.cut || self.seen.contains(&thread) {
            return false;
        }
        self.seen.push(thread);
        if thread.pc == ANY {
            if thread.held == 0 && class != self.end {
                next.push(Thread { pc: ANY, held: 1 });
            }
            return thread.held > 0;
        }
        let at = |pc: u16| Thread { pc, held: 0 };
        match self.steps[thread.pc as usize] {
            Step::Accept => true,
            Step::Jump(to) => self.follow(at(to), class, next),
            Step::Look(mask) => has(mask, class) && self.follow(at(thread.pc + 1), class, next),
            Step::Split { other, .. } => {
                self.follow(at(thread.pc + 1), class, next) || self.follow(at(other), class, next)
            }
            Step::Run(run) => {
                let takes = thread.held < run.max && has(self.masks[run.set as usize], class);
                if takes {
                    // Beyond `min` an unbounded run need not count.
                    let most = if run.max == UNBOUNDED { run.min.max(1) } else { run.max };
                    let longer = Thread { held: (thread.held + 1).min(most), ..thread };
                    next.push(longer);
                    if longer.held >= run.min && self.is_sure(run.to) {
                        self.cut = true;
                        return false;
                    }
                }
                let leaves = thread.held >= run.min && (run.gives_back || !takes);
                leaves && self.follow(at(run.to), class, next)
            }
        }
    }

    /// The steps from `pc` on match wherever they are tried.
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
