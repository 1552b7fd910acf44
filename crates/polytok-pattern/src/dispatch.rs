//! Chooses the first steps of a search: for the classes of the next two characters, a table has the alternatives that
//! can match, and the step at which the scanner continues.
//!
//! An alternative that cannot match text that begins with the two classes is left out. In each other alternative, the
//! table skips the steps that have only one outcome for the two classes. So the scanner usually starts inside the run
//! that matches the rest of a word. A step has a choice only if two of its paths can still match. The table has at most
//! 64 × 64 cells.

use super::classes::{Classes, Mask};
use super::pattern::UNBOUNDED;
use super::program::{Run, Step, has};
use std::collections::HashMap;

use polytok_memory::{self as memory, Grow};

/// The number of cells for each first class: the maximum number of classes of a pattern.
const STRIDE: usize = Mask::BITS as usize;

/// A step to start with, after `chars_taken` (0 to 2) characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DispatchEntry {
    pub(super) pc: u16,
    pub(super) chars_taken: u8,
}

/// The entries for each pair of classes.
pub(super) struct Dispatch {
    /// For each pair of classes the range in `entries`; the index of the pair is `first * STRIDE + second`.
    cells: Vec<(u16, u16)>,
    entries: Vec<DispatchEntry>,
}

impl Dispatch {
    /// Builds the table for the alternatives that begin at `starts`. Adds a run to `steps` for each run that the
    /// scanner enters after its first characters.
    pub(super) fn build(steps: &mut Vec<Step>, masks: &[Mask], starts: &[u16], classes: &Classes) -> Dispatch {
        let count = classes.count();
        let mut table = Dispatch { cells: memory::filled((0, 0), count * STRIDE), entries: Vec::new() };
        let mut entry_ranges: HashMap<Vec<DispatchEntry>, (u16, u16)> = HashMap::new();
        let mut builder = DispatchBuilder { steps, masks, resumed_runs: HashMap::new() };
        for cell in 0..count * count {
            let pair = [(cell / count) as u8, (cell % count) as u8];
            let cell = &mut table.cells[pair[0] as usize * STRIDE + pair[1] as usize];
            let list = builder.list(starts, &pair);
            let entries = &mut table.entries;
            *cell = *entry_ranges.entry(list).or_insert_with_key(|list| {
                let start = entries.len() as u16;
                entries.checked_extend_from_slice(list);
                (start, entries.len() as u16)
            });
        }
        table
    }

    /// Returns the entries to try, in order, if the next two characters have these classes.
    #[inline]
    pub(super) fn entries(&self, first: u8, second: u8) -> &[DispatchEntry] {
        let (start, end) = self.cells[first as usize * STRIDE + second as usize];
        &self.entries[start as usize..end as usize]
    }
}

/// A point on a path through the steps: after `held` characters of the run at `pc`, or before the step at `pc` if
/// `held` is 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Point {
    pc: usize,
    held: u32,
}

fn start_of(pc: usize) -> Point {
    Point { pc, held: 0 }
}

struct DispatchBuilder<'a> {
    steps: &'a mut Vec<Step>,
    masks: &'a [Mask],
    /// For each point inside a run, the step that matches the rest of the run.
    resumed_runs: HashMap<Point, u16>,
}

impl DispatchBuilder<'_> {
    fn list(&mut self, starts: &[u16], pair: &[u8]) -> Vec<DispatchEntry> {
        let mut list = Vec::new();
        for &start in starts {
            let point = start_of(start as usize);
            if self.can_match(point, pair) {
                let (point, remaining_classes) = self.advance(point, pair);
                list.checked_push(DispatchEntry {
                    pc: self.step_at(point),
                    chars_taken: (pair.len() - remaining_classes.len()) as u8,
                });
            }
        }
        list
    }

    /// Reports whether a path from `point` can match text that begins with `classes`.
    fn can_match(&self, point: Point, classes: &[u8]) -> bool {
        let Some(&class) = classes.first() else {
            return true;
        };
        let next = start_of(point.pc + 1);
        match self.steps[point.pc] {
            Step::Accept => true,
            Step::Jump(to) => self.can_match(start_of(to as usize), classes),
            Step::Look(mask) => has(mask, class) && self.can_match(next, classes),
            Step::Split { other, .. } => {
                self.can_match(next, classes) || self.can_match(start_of(other as usize), classes)
            }
            Step::Run(run) => {
                let can_take = self.can_take(&run, point, class);
                let can_leave = (run.gives_back || !can_take) && point.held >= run.min;
                can_take && self.can_match(Point { held: point.held + 1, ..point }, &classes[1..])
                    || can_leave && self.can_match(next, classes)
            }
        }
    }

    fn can_take(&self, run: &Run, point: Point, class: u8) -> bool {
        point.held < run.max && has(self.masks[run.set as usize], class)
    }

    /// Follows the path from `point` to the first choice; returns the point of the choice and the remaining classes.
    fn advance<'c>(&self, mut point: Point, mut classes: &'c [u8]) -> (Point, &'c [u8]) {
        while let Some(&class) = classes.first() {
            let next = start_of(point.pc + 1);
            point = match self.steps[point.pc] {
                Step::Accept => break,
                Step::Jump(to) => start_of(to as usize),
                Step::Look(_) => next,
                Step::Split { other, .. } => {
                    let other = start_of(other as usize);
                    match (self.can_match(next, classes), self.can_match(other, classes)) {
                        (true, true) => break,
                        (true, false) => next,
                        (false, _) => other,
                    }
                }
                Step::Run(run) => {
                    let longer = Point { held: point.held + 1, ..point };
                    let can_take = self.can_take(&run, point, class);
                    let can_leave = point.held >= run.min && self.can_match(next, classes);
                    if can_take && (!run.gives_back || !can_leave) {
                        classes = &classes[1..];
                        longer
                    } else if can_take && self.can_match(longer, &classes[1..]) {
                        break;
                    } else {
                        next
                    }
                }
            };
        }
        (point, classes)
    }

    /// Returns the step at which the scanner continues at `point`; if the point is inside a run, adds a step that
    /// matches the rest of the run.
    fn step_at(&mut self, point: Point) -> u16 {
        let Step::Run(mut run) = self.steps[point.pc] else {
            return point.pc as u16;
        };
        if point.held == 0 {
            return point.pc as u16;
        }
        if point.held == run.max {
            return run.to;
        }
        *self.resumed_runs.entry(point).or_insert_with(|| {
            run.min = run.min.saturating_sub(point.held);
            run.max = if run.max == UNBOUNDED { UNBOUNDED } else { run.max - point.held };
            self.steps.checked_push(Step::Run(run));
            self.steps.len() as u16 - 1
        })
    }
}
