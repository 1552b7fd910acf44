//! Runs the split steps in turn: some steps split pieces further, other steps rewrite pieces.
//!
//! If no step rewrites pieces, each piece is a range of the text, and the chain passes each piece to the caller as soon
//! as the last step has found it ([`SplitChain::split`]). Otherwise each rewriting step writes all its pieces to a new
//! text ([`RewrittenPieces`]).

use polytok_memory::{self as memory, Copied, Grow};

use super::behavior::PatternSplit;
use super::cursor::SplitCursor;
use super::digit_groups::DigitGroups;
use super::fixed_length::FixedLength;
use super::metaspace::Metaspace;
use super::script::ScriptSplit;
use super::skipped::SkippedPatterns;
use super::words::WordPattern;
use crate::error::{Result, not_utf8};
use crate::normalize::byte_level::ByteLevel;
use crate::normalize::escape::Escape;
use crate::normalize::growth::{BoundedOutput, limit};
use crate::normalize::output::{AlignedOutput, Output, Span};
use crate::space_mark;
use crate::spec::{Behavior, Scheme, Split};

/// A step that splits pieces.
pub(super) enum DivideStep {
    Pattern(PatternSplit),
    Words(Box<WordPattern>),
    Script(ScriptSplit),
    FixedLength(FixedLength),
    DigitGroups(DigitGroups),
}

/// A step that rewrites pieces.
pub(super) enum RewriteStep {
    Metaspace(Metaspace),
    PieceSpace,
    ByteLevel,
}

/// A step of the chain.
pub(super) enum SplitStep {
    Divide(DivideStep),
    Rewrite(RewriteStep),
}

/// The compiled split steps, in the order in which they run.
pub struct SplitChain {
    steps: Vec<SplitStep>,
    needs_spans: bool,
    splits_words: bool,
    marks_words: bool,
    /// Patterns that can be skipped, if ByteLevel is the only other step.
    skipped_patterns: Option<SkippedPatterns>,
}

/// Pieces that steps have rewritten, in a new text.
#[derive(Debug, Default)]
pub struct RewrittenPieces {
    /// The rewritten text.
    pub text: Vec<u8>,
    /// The span of the original text that each byte of `text` comes from, if spans are needed.
    pub spans: Option<Vec<Span>>,
    /// The start and end of each piece in `text`.
    pub ranges: Vec<(usize, usize)>,
}

impl SplitChain {
    /// Compiles the steps.
    pub fn compile(steps: &[Split]) -> Result<SplitChain> {
        SplitChain::compile_with_spaced(steps, "")
    }

    /// Compiles the steps so that texts are split around the characters of `spaced_class` as if these characters had
    /// spaces on both sides. `spaced_class` is a class of a regular expression, or empty.
    pub fn compile_with_spaced(steps: &[Split], spaced_class: &str) -> Result<SplitChain> {
        let mut compiled = Vec::new();
        let mut splits_words = false;
        let mut remaining_steps = steps;
        while let [step, later_steps @ ..] = remaining_steps {
            remaining_steps = later_steps;
            if let [next, after_next @ ..] = later_steps
                && let Some(words) = join_word_steps(step, next, spaced_class)
            {
                splits_words = steps.len() == 2;
                compiled.checked_push(SplitStep::Divide(DivideStep::Words(Box::new(words))));
                remaining_steps = after_next;
                continue;
            }
            let step = match step {
                Split::Pattern { pattern, behavior, invert } => {
                    SplitStep::Divide(DivideStep::Pattern(PatternSplit::compile(pattern, *behavior, *invert)?))
                }
                Split::Metaspace { replacement, prepend, split } => {
                    compiled.checked_push(SplitStep::Rewrite(RewriteStep::Metaspace(Metaspace::compile(
                        replacement,
                        *prepend,
                    ))));
                    if !split {
                        continue;
                    }
                    SplitStep::Divide(DivideStep::Pattern(Metaspace::compile_split(replacement)?))
                }
                Split::PieceSpace => SplitStep::Rewrite(RewriteStep::PieceSpace),
                Split::ByteLevel => SplitStep::Rewrite(RewriteStep::ByteLevel),
                Split::Script => SplitStep::Divide(DivideStep::Script(ScriptSplit::compile()?)),
                Split::FixedLength(length) => {
                    SplitStep::Divide(DivideStep::FixedLength(FixedLength::compile(*length)?))
                }
                Split::DigitGroups { unicode } => {
                    SplitStep::Divide(DivideStep::DigitGroups(DigitGroups::compile(unicode.as_deref())?))
                }
            };
            compiled.checked_push(step);
        }
        let needs_spans = steps.iter().any(|step| matches!(step, Split::Metaspace { prepend: Scheme::First, .. }));
        Ok(SplitChain {
            steps: compiled,
            needs_spans,
            splits_words,
            marks_words: marks_words(steps),
            skipped_patterns: SkippedPatterns::new(steps),
        })
    }

    /// Compiles a chain that splits text to the words between white space. Each character of `single_word_class` is a
    /// word of its own. None if the engine cannot read `single_word_class` as a class of a regular expression.
    pub fn compile_words(single_word_class: Option<&str>) -> Option<SplitChain> {
        let words = WordPattern::compile(r"\s", single_word_class.as_slice())?;
        let steps = vec![SplitStep::Divide(DivideStep::Words(Box::new(words)))];
        Some(SplitChain { steps, needs_spans: false, splits_words: true, marks_words: false, skipped_patterns: None })
    }

    /// Reports whether the chain does only two things: it removes white space, and it makes each character of some
    /// classes a piece.
    #[inline]
    pub fn splits_words(&self) -> bool {
        self.splits_words
    }

    /// Reports whether the chain does only three things: it removes white space, writes U+2581 before each word, and
    /// starts a piece at each U+2581.
    #[inline]
    pub fn marks_words(&self) -> bool {
        self.marks_words
    }

    /// Reports whether the chain removes the literal `text` everywhere and does nothing else.
    pub fn removes(&self, text: &str) -> bool {
        matches!(&self.steps[..], [SplitStep::Divide(DivideStep::Pattern(step))] if step.removes(text))
    }

    /// Returns how the chain makes spaces visible; None if the chain does anything else.
    pub fn as_escape(&self) -> Option<Escape> {
        if let [SplitStep::Rewrite(RewriteStep::Metaspace(step))] = &self.steps[..] { step.as_escape() } else { None }
    }

    /// Returns the steps.
    pub(super) fn steps(&self) -> &[SplitStep] {
        &self.steps
    }

    /// Reports whether the chain has no steps.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Reports whether a step rewrites pieces, so that `rewrite` must be called and not `split`.
    #[inline]
    pub fn rewrites(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, SplitStep::Rewrite(_)))
    }

    /// Returns the pattern whose matches in `text` are the pieces that ByteLevel rewrites, if the other steps change
    /// nothing.
    pub fn byte_level_pattern(&self, text: &str) -> Option<&PatternSplit> {
        let SplitStep::Divide(DivideStep::Pattern(pattern)) = self.steps.first()? else { return None };
        let can_skip = pattern.finds_matches() && self.skipped_patterns.as_ref()?.keep_matches(text);
        can_skip.then_some(pattern)
    }

    /// Reports whether `rewrite` needs spans, because a step treats the start of the original text differently.
    #[inline]
    pub fn needs_spans(&self) -> bool {
        self.needs_spans
    }

    /// Reports whether `fill` can continue where its last call stopped, so that it returns pieces before it has read
    /// the whole text.
    pub fn is_stream(&self) -> bool {
        match &self.steps[..] {
            [SplitStep::Divide(DivideStep::Pattern(pattern))] => pattern.as_stream().is_some(),
            [SplitStep::Divide(DivideStep::Words(_))] => true,
            _ => false,
        }
    }

    /// Returns an offset after `from` at which a piece ends, whatever the text before `from` is; None if the chain has
    /// no fast way to find such an offset.
    pub fn certain_end(&self, text: &str, from: usize) -> Option<usize> {
        match &self.steps[..] {
            [SplitStep::Divide(DivideStep::Pattern(pattern))] => pattern.as_stream()?.certain_end(text, from),
            [SplitStep::Divide(DivideStep::Words(words))] => words.certain_end(text, from),
            _ => None,
        }
    }

    /// Builds the tables that `fill` would otherwise build later.
    pub fn warm_up(&self) {
        match &self.steps[..] {
            [SplitStep::Divide(DivideStep::Pattern(pattern))] => pattern.warm_up(),
            [SplitStep::Divide(DivideStep::Words(words))] => words.warm_up(),
            _ => drop(self.byte_level_pattern("").map(PatternSplit::warm_up)),
        }
    }

    /// Reports whether the rules of patterns that `fill` uses are derived.
    #[cfg(test)]
    pub fn is_warm(&self) -> bool {
        match &self.steps[..] {
            [SplitStep::Divide(DivideStep::Pattern(pattern))] => pattern.is_warm(),
            _ => true,
        }
    }

    /// Calls `piece(start, end)` for each piece, from left to right.
    #[inline]
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let Some((last, earlier_steps)) = self.steps.split_last() else { return Ok(()) };
        if earlier_steps.is_empty() {
            return last.split(text, (0, text.len()), &mut piece);
        }
        let mut ranges = vec![(0, text.len())];
        for step in earlier_steps {
            ranges = step.split_all(text, &ranges)?;
        }
        ranges.into_iter().try_for_each(|range| last.split(text, range, &mut piece))
    }

    /// Writes the next pieces of `text` to `pieces`, which has room for 128 or more, and returns the number of pieces,
    /// which is 0 after the last piece. The chain must not have a step that rewrites. The caller creates `cursor` for
    /// the first call, and passes the same cursor to the following calls.
    pub fn fill(&self, text: &str, cursor: &mut SplitCursor, pieces: &mut [(u32, u32)]) -> Result<usize> {
        let fill_result = match &self.steps[..] {
            [SplitStep::Divide(DivideStep::Pattern(pattern))] => pattern.fill(text, cursor, pieces)?,
            [SplitStep::Divide(DivideStep::Words(words))] => Some(words.fill(text, cursor, pieces)),
            _ => None,
        };
        if let Some(count) = fill_result {
            return Ok(count);
        }
        let mut remaining_pieces = match cursor.remaining_pieces.take() {
            Some(remaining_pieces) => remaining_pieces,
            None => self.split_reversed(text)?,
        };
        let mut count = 0;
        for (slot, piece) in pieces.iter_mut().zip(std::iter::from_fn(|| remaining_pieces.pop())) {
            *slot = piece;
            count += 1;
        }
        cursor.remaining_pieces = Some(remaining_pieces);
        Ok(count)
    }

    /// Returns all pieces, from right to left.
    fn split_reversed(&self, text: &str) -> Result<Vec<(u32, u32)>> {
        let mut pieces = Vec::new();
        self.split(text, |start, end| pieces.checked_push((start as u32, end as u32)))?;
        pieces.reverse();
        Ok(pieces)
    }

    /// Rewrites and splits a text that starts at byte `at` of the original text. `spans` are the spans of the bytes of
    /// `text`; if `spans` is given, the result has spans too.
    pub fn rewrite(&self, text: &[u8], at: usize, spans: Option<&[Span]>) -> Result<RewrittenPieces> {
        let mut pieces = RewrittenPieces {
            text: text.checked_to_vec(),
            spans: spans.map(Copied::checked_to_vec),
            ranges: vec![(0, text.len())],
        };
        for step in &self.steps {
            match step {
                SplitStep::Divide(_) => {
                    let text = std::str::from_utf8(&pieces.text).map_err(|error| not_utf8(error.valid_up_to()))?;
                    pieces.ranges = step.split_all(text, &pieces.ranges)?;
                }
                SplitStep::Rewrite(rewrite) => pieces = rewrite.run(pieces, at, limit(text.len()))?,
            }
        }
        Ok(pieces)
    }
}

/// Reports whether the steps remove white space and write U+2581 before each word.
fn marks_words(steps: &[Split]) -> bool {
    match steps {
        [
            Split::Pattern { pattern, behavior: Behavior::Removed, invert: false },
            Split::Metaspace { replacement, prepend: Scheme::Always, split: true },
        ] => {
            let is_space = pattern.is_regex && pattern.unicode.is_none() && pattern.text == r"\s";
            is_space && replacement == space_mark::TEXT
        }
        _ => false,
    }
}

/// Joins BERT's two steps to one step, which removes white space and makes each character of a class and of
/// `spaced_class` a piece; None if the two steps are not BERT's.
fn join_word_steps(spaces: &Split, isolated: &Split, spaced_class: &str) -> Option<WordPattern> {
    let class_of = |step: &Split, expected: Behavior| match step {
        Split::Pattern { pattern, behavior, invert: false } => {
            let is_expected = *behavior == expected && pattern.is_regex && pattern.unicode.is_none();
            is_expected.then(|| pattern.text.clone())
        }
        _ => None,
    };
    let (spaces, class) = (class_of(spaces, Behavior::Removed)?, class_of(isolated, Behavior::Isolated)?);
    let is_class = class.len() > 2 && class.starts_with('[') && class.find(']') == Some(class.len() - 1);
    if spaces != r"\s" || !is_class {
        return None;
    }
    let classes = [class.as_str(), spaced_class];
    WordPattern::compile(&spaces, &classes[..1 + !spaced_class.is_empty() as usize])
}

impl SplitStep {
    /// Splits the range `from..to` of a text. A step that rewrites pieces returns the range unchanged.
    #[inline]
    fn split(&self, text: &str, (from, to): (usize, usize), piece: &mut impl FnMut(usize, usize)) -> Result<()> {
        match self {
            SplitStep::Divide(step) => {
                let (text, piece) = (&text[from..to], |start, end| piece(from + start, from + end));
                match step {
                    DivideStep::Pattern(step) => step.split(text, piece),
                    DivideStep::Words(step) => {
                        step.split(text, piece);
                        Ok(())
                    }
                    DivideStep::Script(step) => step.split(text, piece),
                    DivideStep::FixedLength(step) => step.split(text, piece),
                    DivideStep::DigitGroups(step) => step.split(text, piece),
                }
            }
            SplitStep::Rewrite(_) => {
                piece(from, to);
                Ok(())
            }
        }
    }

    /// Splits every range of a text.
    fn split_all(&self, text: &str, ranges: &[(usize, usize)]) -> Result<Vec<(usize, usize)>> {
        let mut pieces = memory::with_capacity(ranges.len());
        for &range in ranges {
            self.split(text, range, &mut |start, end| pieces.checked_push((start, end)))?;
        }
        Ok(pieces)
    }
}

impl RewriteStep {
    /// Rewrites every piece; the total length of the rewritten pieces is at most `max_len` bytes. The text starts at
    /// byte `at` of the original text.
    fn run(&self, pieces: RewrittenPieces, at: usize, max_len: usize) -> Result<RewrittenPieces> {
        let RewrittenPieces { text, spans, ranges } = &pieces;
        Ok(match spans {
            Some(spans) => {
                let mut out = AlignedOutput::new(spans);
                let is_first = |start: usize| spans.get(start).is_some_and(|span| at + span.0 as usize == 0);
                let ranges = BoundedOutput::run(max_len, &mut out, |out| self.write_all(text, ranges, is_first, out))?;
                RewrittenPieces { text: out.text, spans: Some(out.spans), ranges }
            }
            None => {
                let mut out = memory::with_capacity(text.len() + ranges.len());
                let is_first = |start| at + start == 0;
                let ranges = BoundedOutput::run(max_len, &mut out, |out| self.write_all(text, ranges, is_first, out))?;
                RewrittenPieces { text: out, spans: None, ranges }
            }
        })
    }

    /// Writes every rewritten piece to `out`; returns the ranges of the rewritten pieces in `out`. `is_first` reports
    /// whether a piece at an offset is at the start of the original text.
    fn write_all<O: Output>(
        &self,
        text: &[u8],
        ranges: &[(usize, usize)],
        is_first: impl Fn(usize) -> bool,
        out: &mut O,
    ) -> Vec<(usize, usize)> {
        let mut rewritten = memory::with_capacity(ranges.len());
        for &(start, end) in ranges {
            let from = out.written();
            self.write(text, (start, end), is_first(start), out);
            rewritten.checked_push((from, out.written()));
        }
        rewritten
    }

    /// Writes the rewritten piece `text[start..end]`.
    fn write<O: Output>(&self, text: &[u8], (start, end): (usize, usize), is_first: bool, out: &mut O) {
        match self {
            RewriteStep::Metaspace(step) => step.apply(text, (start, end), is_first, out),
            RewriteStep::PieceSpace => {
                if start < end {
                    if text[start] != b' ' {
                        out.change(b" ", start);
                    }
                    out.keep(text, start, end);
                }
            }
            RewriteStep::ByteLevel => ByteLevel.apply(text, (start, end), out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Pattern;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn berts_two_steps_split_as_one(text in "[ab世 \n\u{3000},.。]{0,30}") {
            let step = |text: &str, behavior| Split::Pattern {
                pattern: Pattern { text: text.into(), is_regex: true, unicode: None }, behavior, invert: false,
            };
            let steps = [step(r"\s", Behavior::Removed), step(r"[\x{2C}-\x{2E}\x{3002}\x{A}]", Behavior::Isolated)];
            let pieces = |chain: &SplitChain| {
                let mut pieces = Vec::new();
                chain.split(&text, |start, end| pieces.push((start, end))).unwrap();
                pieces
            };
            let joined = SplitChain::compile(&steps).unwrap();
            prop_assert_eq!(joined.steps.len(), 1);
            let single = |step: &Split| SplitChain::compile(std::slice::from_ref(step)).unwrap().steps.pop().unwrap();
            let steps = steps.iter().map(single).collect();
            let [needs_spans, splits_words, marks_words] = [false; 3];
            let separate_chain = SplitChain { steps, needs_spans, splits_words, marks_words, skipped_patterns: None };
            prop_assert_eq!(pieces(&joined), pieces(&separate_chain));
        }
    }
}
