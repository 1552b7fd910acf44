//! Compiles a pattern to the steps that the scanner follows.
//!
//! Every jump goes forward, so a path through the steps is at most as long as the program, and only runs repeat. One
//! sweep from the last step to the first finds two properties of the rest of each path: the classes with which the rest
//! can begin, and whether the rest can fail. These properties decide which runs must give back characters. A run never
//! gives back characters if the rest cannot fail, or if the rest cannot begin with a character of the run
//! (`[^\r\n\p{L}\p{N}]?\p{L}+`).
//!
//! Some runs can match many characters before the path fails (`\s+$`). Each run of this sort has a slot in the
//! scanner's memory. Three kinds of patterns are not compiled: patterns with two such runs on one path, with too many
//! paths, or with an empty match. So the scanner is linear in the text (see `scanner`).

use polytok_memory::{self as memory, Collect, Grow};

use super::automaton::{Automaton, GAP};
use super::breaks::Break;
use super::classes::{Classes, Mask};
use super::cursor::Cursor;
use super::dispatch::Dispatch;
use super::pattern::{Node, Tree, UNBOUNDED};
use super::stream::Stream;

/// The minimum length of a text that `split` reads with the stream.
const MIN_STREAMED_BYTES: usize = 256;
/// The number of pieces that `split` asks of the stream at a time.
const PIECES_PER_CALL: usize = 256;
/// The maximum number of steps of a program.
const MAX_STEPS: usize = 256;
/// The maximum number of paths through all alternatives; each length of a run that gives back characters counts as a
/// path.
const MAX_PATHS: usize = 256;
/// The maximum number of runs with a slot in one pattern.
pub(super) const MAX_SLOTS: usize = 8;

/// A step of a program.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Match a run of characters.
    Run(Run),
    /// Continue if the class of the next character, or of the end of the text, is in the mask.
    Look(Mask),
    /// Try the next step if the class of the next character is in `first`; if that path fails, continue with step
    /// `other`.
    Split { first: Mask, other: u16 },
    /// Continue with this step.
    Jump(u16),
    /// The match ends here.
    Accept,
}

/// A run of at least `min` and at most `max` characters of a set; the longest run is tried first.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) set: u8,
    pub(super) min: u32,
    pub(super) max: u32,
    /// True if fewer characters are tried after the rest of the path fails.
    pub(super) gives_back: bool,
    /// The slot of the scanner's memory that records failures of an unbounded run.
    pub(super) slot: Option<u8>,
    /// The classes with which the rest of the path can begin.
    pub(super) next_classes: Mask,
    /// The first step of the rest of the path.
    pub(super) to: u16,
}

/// A set of characters: the mask of its classes, and a flag for each ASCII character.
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
    /// Compiles a tree; None if the scanner cannot run the pattern in linear time.
    pub(super) fn compile(tree: &Tree) -> Option<Program> {
        let (classes, masks) = Classes::build(&tree.sets)?;
        let mut emitter = StepEmitter { masks: &masks, end: 1 << classes.end, steps: Vec::new() };
        let mut starts = Vec::new();
        for alternative in &tree.alternatives {
            starts.checked_push(emitter.steps.len() as u16);
            emitter.sequence(alternative)?;
            emitter.push(Step::Accept)?;
        }
        let mut steps = emitter.steps;
        analyse_steps(&mut steps, &masks, &starts)?;
        let sets = masks.iter().map(|&mask| Set { mask, ascii: ascii_members(&classes, mask) }).checked_collect();
        let stream = Automaton::build(&steps, &masks, &starts, classes.count()).map(Stream::new);
        let dispatch = Dispatch::build(&mut steps, &masks, &starts, &classes);
        Some(Program { steps, sets, classes, dispatch, stream })
    }

    /// Reports whether the program has an automaton, and the automaton proves that the matches cover every text.
    pub(super) fn covers_text(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::covers_text)
    }

    /// Returns the automaton of the pattern, if there is one.
    pub(super) fn automaton(&self) -> Option<&Automaton> {
        self.stream.as_ref().map(Stream::automaton)
    }

    /// Derives the rule now; without this call, the rule is derived after enough bytes.
    pub(super) fn prepare(&self) {
        if let Some(stream) = &self.stream {
            stream.prepare(&self.classes);
        }
    }

    /// Reports whether there is no rule to derive later.
    pub(super) fn is_prepared(&self) -> bool {
        self.stream.as_ref().is_none_or(Stream::is_prepared)
    }

    /// Returns an offset at or after `from` at which a match ends, whatever the text before `from` is; None if no rule
    /// finds such an offset.
    pub(super) fn certain_end(&self, text: &[u8], from: usize) -> Option<usize> {
        self.stream.as_ref()?.certain_end(&self.classes, text, from)
    }

    /// Returns the two sides of the break between two characters; None if the break is not certain.
    pub(super) fn break_between(&self, left: char, right: char) -> Option<Break> {
        let class = |c: char| self.classes.class_of_code(c as usize);
        self.automaton()?.break_between(class(left), class(right), self.classes.end)
    }

    /// Calls `piece(start, end)` for each match in `text`, left to right. Long texts are read by the stream, which is
    /// several times as fast as the scanner but takes longer to start.
    #[inline]
    pub(super) fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) {
        if self.stream.is_none() || !(MIN_STREAMED_BYTES..GAP as usize).contains(&text.len()) {
            return self.scan(text, piece);
        }
        let (mut cursor, mut pieces) = (Cursor::new(), [(0, 0); PIECES_PER_CALL]);
        loop {
            let count = self.fill(text, &mut cursor, &mut pieces);
            if count == 0 {
                return;
            }
            pieces[..count].iter().for_each(|&(start, end)| piece(start as usize, end as usize));
        }
    }

    /// Writes the next matches to `pieces` and returns their number; 0 after the last match.
    pub(super) fn fill(&self, text: &str, cursor: &mut Cursor, pieces: &mut [(u32, u32)]) -> usize {
        let text = text.as_bytes();
        // The automaton uses one bit of each offset as the mark of a gap.
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

/// Reports whether a class is in a mask.
#[inline]
pub(super) fn has(mask: Mask, class: u8) -> bool {
    mask >> class & 1 != 0
}

fn ascii_members(classes: &Classes, mask: Mask) -> [bool; 256] {
    std::array::from_fn(|byte| byte < 0x80 && has(mask, classes.ascii(byte as u8)))
}

struct StepEmitter<'a> {
    masks: &'a [Mask],
    /// The mask of the class of the end of the text.
    end: Mask,
    steps: Vec<Step>,
}

impl StepEmitter<'_> {
    fn push(&mut self, step: Step) -> Option<usize> {
        self.steps.checked_push(step);
        (self.steps.len() <= MAX_STEPS).then_some(self.steps.len() - 1)
    }

    fn sequence(&mut self, nodes: &[Node]) -> Option<()> {
        for node in nodes {
            self.emit_node(node)?;
        }
        Some(())
    }

    fn emit_node(&mut self, node: &Node) -> Option<()> {
        match *node {
            Node::Run { set, min, max, possessive } => {
                let gives_back = !possessive && min < max;
                self.push(Step::Run(Run { set: set as u8, min, max, gives_back, slot: None, next_classes: 0, to: 0 }))?;
            }
            Node::Look { set, is_positive: true } => drop(self.push(Step::Look(self.masks[set]))?),
            Node::Look { set, is_positive: false } => drop(self.push(Step::Look(!self.masks[set]))?),
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
            self.set_target(split);
        }
        self.sequence(last)?;
        for at in jumps.into_iter().chain(skip) {
            self.set_target(at);
        }
        Some(())
    }

    fn split(&mut self) -> Option<usize> {
        self.push(Step::Split { first: 0, other: 0 })
    }

    /// Sets the target of a jump or a split, which is at index `step`, to the step that is pushed next.
    fn set_target(&mut self, step: usize) {
        let here = self.steps.len() as u16;
        match &mut self.steps[step] {
            Step::Split { other, .. } => *other = here,
            Step::Jump(to) => *to = here,
            _ => unreachable!("only splits and jumps have a target"),
        }
    }
}

/// The properties of the rest of a path, from a step on.
#[derive(Clone, Copy)]
struct PathRest {
    /// The classes with which the rest can begin; all classes if the rest can match the empty text.
    first: Mask,
    /// True if the rest matches at every offset.
    is_sure: bool,
    /// True if the rest can match the empty text.
    can_be_empty: bool,
    /// The maximum over all paths of the number of runs with a slot.
    slots: usize,
    /// The number of paths.
    paths: usize,
}

const ACCEPTED_REST: PathRest = PathRest { first: Mask::MAX, is_sure: true, can_be_empty: true, slots: 0, paths: 1 };

/// Fills in the fields of steps that depend on the rest of the path; None if the scanner cannot run the steps in linear
/// time.
fn analyse_steps(steps: &mut [Step], masks: &[Mask], starts: &[u16]) -> Option<()> {
    let mut rest = memory::filled(ACCEPTED_REST, steps.len() + 1);
    let mut slots = 0;
    for pc in (0..steps.len()).rev() {
        let next = rest[pc + 1];
        rest[pc] = match &mut steps[pc] {
            Step::Accept => ACCEPTED_REST,
            Step::Jump(to) => rest[*to as usize],
            Step::Look(mask) => PathRest { first: *mask, is_sure: false, ..next },
            Step::Split { first, other } => {
                *first = next.first;
                either(next, rest[*other as usize])
            }
            Step::Run(run) => {
                run.to = pc as u16 + 1;
                prepend(run, masks[run.set as usize], next, &mut slots)
            }
        };
        if rest[pc].slots > 1 || rest[pc].paths > MAX_PATHS {
            return None;
        }
    }
    let whole = starts.iter().map(|&start| rest[start as usize]).reduce(either)?;
    (!whole.can_be_empty && whole.paths <= MAX_PATHS && slots <= MAX_SLOTS).then_some(())
}

fn either(one: PathRest, other: PathRest) -> PathRest {
    PathRest {
        first: one.first | other.first,
        is_sure: one.is_sure || other.is_sure,
        can_be_empty: one.can_be_empty || other.can_be_empty,
        slots: one.slots.max(other.slots),
        paths: one.paths + other.paths,
    }
}

/// Fills in the fields of `run` from the properties `next` of the rest after the run, and returns the properties of the
/// path from `run` on.
fn prepend(run: &mut Run, mask: Mask, next: PathRest, slots: &mut usize) -> PathRest {
    run.next_classes = next.first;
    run.gives_back &= !next.is_sure && next.first & mask != 0;
    let is_slow = run.max == UNBOUNDED && !next.is_sure;
    if is_slow {
        run.slot = Some(*slots as u8);
        *slots += 1;
    }
    let lengths = if run.gives_back && !is_slow { (run.max - run.min + 1) as usize } else { 1 };
    let optional = run.min == 0;
    PathRest {
        first: if optional { mask | next.first } else { mask },
        is_sure: optional && next.is_sure,
        can_be_empty: optional && next.can_be_empty,
        slots: next.slots + is_slow as usize,
        paths: next.paths * lengths,
    }
}
