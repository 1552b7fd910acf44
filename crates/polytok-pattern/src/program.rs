//! A pattern compiled to steps that the scanner follows.
//!
//! Every jump goes forward, so a path through the steps is no longer than the program and only runs repeat. What the
//! scanner has to know is found in one sweep from the last step to the first: which classes can come next, whether
//! the rest of a path can fail at all, and so which runs ever have to give back what they took. A run need not when the
//! rest cannot fail, or cannot begin with what the run holds (`[^\r\n\p{L}\p{N}]?\p{L}+`).
//!
//! Some runs are long and then fail (`\s+$`). Each has a slot of the scanner's memory; a pattern with two of them on one
//! path is not compiled, nor one with too many ways through, nor one that matches the empty text. With that the
//! scanner is linear in the text (see `scanner`).

use super::automaton::{Automaton, GAP};
use super::classes::{Classes, Mask};
use super::cursor::Cursor;
use super::dispatch::Dispatch;
use super::pattern::{Node, Tree, UNBOUNDED};
use super::stream::Stream;

const MAX_STEPS: usize = 256;
/// Ways through all alternatives when each run that gives back counts its lengths.
const MAX_WAYS: usize = 256;
/// Runs with a slot in one pattern.
pub(super) const MAX_SLOTS: usize = 8;

/// What to do at one point of the pattern.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Take characters.
    Run(Run),
    /// The next character, or the end of the text, is of one of these classes.
    Look(Mask),
    /// Go on with the next step if what comes is of a class in `first`, and when that fails at `other`.
    Split { first: Mask, other: u16 },
    /// Go on there.
    Jump(u16),
    /// The match ends here.
    Accept,
}

/// `min` to `max` characters of a set, as many as there are.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) set: u8,
    pub(super) min: u32,
    pub(super) max: u32,
    /// Fewer characters are tried when the rest fails.
    pub(super) gives_back: bool,
    /// Where it is remembered that the rest failed after a run that has no bound.
    pub(super) slot: Option<u8>,
    /// The classes that the rest can begin with.
    pub(super) next: Mask,
    /// The step of the rest.
    pub(super) to: u16,
}

/// A set of characters: the mask of its classes, and its ASCII members one by one.
pub(super) struct Set {
    pub(super) mask: Mask,
    pub(super) ascii: [bool; 256],
}

/// A compiled pattern.
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) sets: Vec<Set>,
    pub(super) classes: Classes,
    pub(super) dispatch: Dispatch,
    pub(super) stream: Option<Stream>,
}

impl Program {
    /// The program of a tree, or `None` if the pattern is not one the scanner can run in linear time.
    pub(super) fn compile(tree: &Tree) -> Option<Program> {
        let (classes, masks) = Classes::build(&tree.sets)?;
        let mut emitter = Emitter { masks: &masks, end: 1 << classes.end, steps: Vec::new() };
        let mut starts = Vec::new();
        for alternative in &tree.alternatives {
            starts.push(emitter.steps.len() as u16);
            emitter.sequence(alternative)?;
            emitter.push(Step::Accept)?;
        }
        let mut steps = emitter.steps;
        analyse(&mut steps, &masks, &starts)?;
        let sets = masks.iter().map(|&mask| Set { mask, ascii: ascii_members(&classes, mask) }).collect();
        let stream = Automaton::build(&steps, &masks, &starts, classes.count()).map(Stream::new);
        let dispatch = Dispatch::build(&mut steps, &masks, &starts, &classes);
        Some(Program { steps, sets, classes, dispatch, stream })
    }

    /// Reports whether the matches cover every text; None if the program has no automaton, which alone can decide this.
    pub(super) fn leaves_no_gap(&self) -> Option<bool> {
        self.stream.as_ref().map(Stream::leaves_no_gap)
    }

    /// Derives what is otherwise derived when enough was read.
    pub(super) fn prepare(&self) {
        if let Some(stream) = &self.stream {
            stream.prepare(&self.classes);
        }
    }

    /// A place behind `from` where a match ends whatever stands before it, if a rule tells one.
    pub(super) fn certain(&self, text: &[u8], from: usize) -> Option<usize> {
        self.stream.as_ref()?.certain(&self.classes, text, from)
    }

    /// Writes the next matches to `pieces` and says how many; 0 when there are no more.
    pub(super) fn fill(&self, text: &str, cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> usize {
        let text = text.as_bytes();
        // Places in the text have one bit less in the automaton.
        if let Some(stream) = &self.stream
            && text.len() < GAP as usize
        {
            return stream.fill(&self.classes, text, cursor, pieces);
        }
        let mut count = 0;
        for piece in pieces {
            let Some((start, end)) = self.next(text, cursor.at, &mut cursor.failures) else { break };
            *piece = (start as u32, end as u32);
            cursor.at = end;
            count += 1;
        }
        count
    }
}

/// `class` is in `mask`.
#[inline]
pub(super) fn has(mask: Mask, class: u8) -> bool {
    mask >> class & 1 != 0
}

fn ascii_members(classes: &Classes, mask: Mask) -> [bool; 256] {
    std::array::from_fn(|byte| byte < 0x80 && has(mask, classes.ascii(byte as u8)))
}

struct Emitter<'a> {
    masks: &'a [Mask],
    /// The class of the end of the text, as a mask.
    end: Mask,
    steps: Vec<Step>,
}

impl Emitter<'_> {
    fn push(&mut self, step: Step) -> Option<usize> {
        self.steps.push(step);
        (self.steps.len() <= MAX_STEPS).then_some(self.steps.len() - 1)
    }

    fn sequence(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            self.node(node)?;
        }
        Some(())
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match *node {
            Node::Run { set, min, max, possessive } => {
                let gives_back = !possessive && min < max;
                self.push(Step::Run(Run { set: set as u8, min, max, gives_back, slot: None, next: 0, to: 0 }))?;
            }
            Node::Look { set, wanted: true } => drop(self.push(Step::Look(self.masks[set]))?),
            Node::Look { set, wanted: false } => drop(self.push(Step::Look(!self.masks[set]))?),
            Node::End => drop(self.push(Step::Look(self.end))?),
            Node::Group { ref alternatives, optional } => self.group(alternatives, optional)?,
        }
        Some(())
    }

    fn group(&mut self, alternatives: &[Vec<Node>], optional: bool) -> Option<()> {
        let skip = if optional { Some(self.split()?) } else { None };
        let mut jumps = Vec::new();
        let (last, others) = alternatives.split_last()?;
        for alternative in others {
            let split = self.split()?;
            self.sequence(alternative)?;
            jumps.push(self.push(Step::Jump(0))?);
            self.land(split);
        }
        self.sequence(last)?;
        for at in jumps.into_iter().chain(skip) {
            self.land(at);
        }
        Some(())
    }

    fn split(&mut self) -> Option<usize> {
        self.push(Step::Split { first: 0, other: 0 })
    }

    /// Lets the jump or split at `at` go to the step that comes next.
    fn land(&mut self, at: usize) {
        let here = self.steps.len() as u16;
        match &mut self.steps[at] {
            Step::Split { other, .. } => *other = here,
            Step::Jump(to) => *to = here,
            _ => unreachable!("only splits and jumps land"),
        }
    }
}

/// What is known about the rest of the pattern from one step on.
#[derive(Clone, Copy)]
struct Rest {
    /// The classes it can begin with; all of them where it may be empty.
    first: Mask,
    /// It matches everywhere.
    sure: bool,
    /// It may match without taking a character.
    empty: bool,
    /// Runs with a slot on the path that has most of them.
    slots: usize,
    /// Ways through.
    ways: usize,
}

const ACCEPTED: Rest = Rest { first: Mask::MAX, sure: true, empty: true, slots: 0, ways: 1 };

/// Fills in what depends on the rest of the path, from the last step to the first.
fn analyse(steps: &mut [Step], masks: &[Mask], starts: &[u16]) -> Option<()> {
    let mut rest = vec![ACCEPTED; steps.len() + 1];
    let mut slots = 0;
    for pc in (0..steps.len()).rev() {
        let next = rest[pc + 1];
        rest[pc] = match &mut steps[pc] {
            Step::Accept => ACCEPTED,
            Step::Jump(to) => rest[*to as usize],
            Step::Look(mask) => Rest { first: *mask, sure: false, ..next },
            Step::Split { first, other } => {
                *first = next.first;
                either(next, rest[*other as usize])
            }
            Step::Run(run) => {
                run.to = pc as u16 + 1;
                before(run, masks[run.set as usize], next, &mut slots)
            }
        };
        if rest[pc].slots > 1 || rest[pc].ways > MAX_WAYS {
            return None;
        }
    }
    let whole = starts.iter().map(|&start| rest[start as usize]).reduce(either)?;
    (!whole.empty && whole.ways <= MAX_WAYS && slots <= MAX_SLOTS).then_some(())
}

fn either(one: Rest, other: Rest) -> Rest {
    Rest {
        first: one.first | other.first,
        sure: one.sure || other.sure,
        empty: one.empty || other.empty,
        slots: one.slots.max(other.slots),
        ways: one.ways + other.ways,
    }
}

/// What is known from `run` on, and what the run has to do, given what is known behind it.
fn before(run: &mut Run, mask: Mask, next: Rest, slots: &mut usize) -> Rest {
    run.next = next.first;
    run.gives_back &= !next.sure && next.first & mask != 0;
    let long = run.max == UNBOUNDED && !next.sure;
    if long {
        run.slot = Some(*slots as u8);
        *slots += 1;
    }
    let lengths = if run.gives_back && !long { (run.max - run.min + 1) as usize } else { 1 };
    let optional = run.min == 0;
    Rest {
        first: if optional { mask | next.first } else { mask },
        sure: optional && next.sure,
        empty: optional && next.empty,
        slots: next.slots + long as usize,
        ways: next.ways * lengths,
    }
}
