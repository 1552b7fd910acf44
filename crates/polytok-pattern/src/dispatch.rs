//! Where to start: for the classes of the next two characters, the alternatives that can match and how far they get.
//!
//! An alternative that cannot match text beginning with these classes is left out. Of the others the steps that have no
//! choice are done here, once for each pair of classes, so that the scanner begins behind them, mostly inside the run
//! that takes the rest of a word. A choice is one only if both sides can still match. The table has at most 64 × 64 cells.

use super::classes::{Classes, Mask};
use super::pattern::UNBOUNDED;
use super::program::{Run, Step, has};
use std::collections::HashMap;

/// Cells from one first class to the next: the most classes there can be.
const STRIDE: usize = Mask::BITS as usize;

/// A step to begin with, after `taken` (0 to 2) characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Entry {
    pub(super) pc: u16,
    pub(super) taken: u8,
}

/// The entries for each pair of classes.
pub(super) struct Dispatch {
    /// Stretches of `entries`; the cell of a pair is `first * STRIDE + second`.
    cells: Vec<(u16, u16)>,
    entries: Vec<Entry>,
}

impl Dispatch {
    /// The table for the alternatives that begin at `starts`; adds to `steps` runs that are already under way.
    pub(super) fn build(steps: &mut Vec<Step>, masks: &[Mask], starts: &[u16], classes: &Classes) -> Dispatch {
        let count = classes.count();
        let mut table = Dispatch { cells: vec![(0, 0); count * STRIDE], entries: Vec::new() };
        let mut known: HashMap<Vec<Entry>, (u16, u16)> = HashMap::new();
        let mut builder = DispatchBuilder { steps, masks, resumed: HashMap::new() };
        for cell in 0..count * count {
            let pair = [(cell / count) as u8, (cell % count) as u8];
            let cell = &mut table.cells[pair[0] as usize * STRIDE + pair[1] as usize];
            let list = builder.list(starts, &pair);
            let entries = &mut table.entries;
            *cell = *known.entry(list).or_insert_with_key(|list| {
                let start = entries.len() as u16;
                entries.extend(list);
                (start, entries.len() as u16)
            });
        }
        table
    }

    /// What to try, in order, where the next two characters are of these classes.
    #[inline]
    pub(super) fn entries(&self, first: u8, second: u8) -> &[Entry] {
        let (start, end) = self.cells[first as usize * STRIDE + second as usize];
        &self.entries[start as usize..end as usize]
    }
}

/// A point on a path: `held` characters into the run at `pc`, or before the step at `pc` with `held` 0.
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
    /// The step that stands for a run under way.
    resumed: HashMap<Point, u16>,
}

impl DispatchBuilder<'_> {
    fn list(&mut self, starts: &[u16], pair: &[u8]) -> Vec<Entry> {
        let mut list = Vec::new();
        for &start in starts {
            let point = start_of(start as usize);
            if self.viable(point, pair) {
                let (point, rest) = self.advance(point, pair);
                list.push(Entry { pc: self.step_at(point), taken: (pair.len() - rest.len()) as u8 });
            }
        }
        list
    }

    /// A path from `point` may match text that begins with `classes`.
    fn viable(&self, point: Point, classes: &[u8]) -> bool {
        let Some(&class) = classes.first() else {
            return true;
        };
        let next = start_of(point.pc + 1);
        match self.steps[point.pc] {
            Step::Accept => true,
            Step::Jump(to) => self.viable(start_of(to as usize), classes),
            Step::Look(mask) => has(mask, class) && self.viable(next, classes),
            Step::Split { other, .. } => self.viable(next, classes) || self.viable(start_of(other as usize), classes),
            Step::Run(run) => {
                let takes = self.takes(&run, point, class);
                let leaves = (run.gives_back || !takes) && point.held >= run.min;
                takes && self.viable(Point { held: point.held + 1, ..point }, &classes[1..])
                    || leaves && self.viable(next, classes)
            }
        }
    }

    fn takes(&self, run: &Run, point: Point, class: u8) -> bool {
        point.held < run.max && has(self.masks[run.set as usize], class)
    }

    /// Goes on from `point` as long as there is one way only; the point reached and the classes left.
    fn advance<'c>(&self, mut point: Point, mut classes: &'c [u8]) -> (Point, &'c [u8]) {
        while let Some(&class) = classes.first() {
            let next = start_of(point.pc + 1);
            point = match self.steps[point.pc] {
                Step::Accept => break,
                Step::Jump(to) => start_of(to as usize),
                Step::Look(_) => next,
                Step::Split { other, .. } => {
                    let other = start_of(other as usize);
                    match (self.viable(next, classes), self.viable(other, classes)) {
                        (true, true) => break,
                        (true, false) => next,
                        (false, _) => other,
                    }
                }
                Step::Run(run) => {
                    let longer = Point { held: point.held + 1, ..point };
                    let takes = self.takes(&run, point, class);
                    let leaves = point.held >= run.min && self.viable(next, classes);
                    if takes && (!run.gives_back || !leaves) {
                        classes = &classes[1..];
                        longer
                    } else if takes && self.viable(longer, &classes[1..]) {
                        break;
                    } else {
                        next
                    }
                }
            };
        }
        (point, classes)
    }

    /// The step that goes on from `point`.
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
        *self.resumed.entry(point).or_insert_with(|| {
            run.min = run.min.saturating_sub(point.held);
            run.max = if run.max == UNBOUNDED { UNBOUNDED } else { run.max - point.held };
            self.steps.push(Step::Run(run));
            self.steps.len() as u16 - 1
        })
    }
}
