//! The split steps one after the other: some cut pieces further, some rewrite them.
//!
//! As long as no piece is rewritten, pieces are stretches of the text and the last step's are handed on as they are found
//! ([`SplitChain::split`]). Otherwise each rewriting step writes all its pieces to a new text ([`RewrittenPieces`]).

use super::behavior::PatternSplit;
use super::cursor::SplitCursor;
use super::digit_groups::DigitGroups;
use super::fixed_length::FixedLength;
use super::metaspace::Metaspace;
use super::script::ScriptSplit;
use super::words::WordPattern;
use crate::error::{Result, not_utf8};
use crate::normalize::byte_level::ByteLevel;
use crate::normalize::escape::Escape;
use crate::normalize::growth::{Bounded, limit};
use crate::normalize::output::{Aligned, Output, Span};
use crate::space_mark;
use crate::spec::{Behavior, Scheme, Split};

/// A step that cuts.
enum CutStep {
    Pattern(PatternSplit),
    Words(Box<WordPattern>),
    Script(ScriptSplit),
    FixedLength(FixedLength),
    DigitGroups(DigitGroups),
}

/// A step that rewrites.
enum RewriteStep {
    Metaspace(Metaspace),
    PieceSpace,
    ByteLevel,
}

enum SplitStep {
    Cut(CutStep),
    Rewrite(RewriteStep),
}

/// All steps.
pub struct SplitChain {
    steps: Vec<SplitStep>,
    needs_spans: bool,
    cuts_words: bool,
    marks_words: bool,
}

/// Pieces of a text of their own.
#[derive(Debug, Default)]
pub struct RewrittenPieces {
    /// The rewritten text.
    pub text: Vec<u8>,
    /// What each byte of it stands for, if that is known.
    pub spans: Option<Vec<Span>>,
    /// The pieces, as stretches of the text.
    pub ranges: Vec<(usize, usize)>,
}

impl SplitChain {
    /// Compiles the steps.
    pub fn compile(steps: &[Split]) -> Result<SplitChain> {
        SplitChain::compile_apart(steps, "")
    }

    /// The same for texts in which the characters `apart`, a class if there are any, have spaces on both sides, so that it may be taken
    /// for granted that they are cut off: then they need not have them.
    pub fn compile_apart(steps: &[Split], apart: &str) -> Result<SplitChain> {
        let mut compiled = Vec::new();
        let mut cuts_words = false;
        let mut rest = steps;
        while let [step, others @ ..] = rest {
            rest = others;
            if let Some((words, behind)) =
                others.split_first().and_then(|(next, behind)| Some((words(step, next, apart)?, behind)))
            {
                cuts_words = steps.len() == 2;
                compiled.push(SplitStep::Cut(CutStep::Words(Box::new(words))));
                rest = behind;
                continue;
            }
            let step = match step {
                Split::Pattern { pattern, behavior, invert } => {
                    SplitStep::Cut(CutStep::Pattern(PatternSplit::compile(pattern, *behavior, *invert)?))
                }
                Split::Metaspace { replacement, prepend, split } => {
                    compiled
                        .push(SplitStep::Rewrite(RewriteStep::Metaspace(Metaspace::compile(replacement, *prepend))));
                    if !split {
                        continue;
                    }
                    SplitStep::Cut(CutStep::Pattern(Metaspace::cut(replacement)?))
                }
                Split::PieceSpace => SplitStep::Rewrite(RewriteStep::PieceSpace),
                Split::ByteLevel => SplitStep::Rewrite(RewriteStep::ByteLevel),
                Split::Script => SplitStep::Cut(CutStep::Script(ScriptSplit::compile()?)),
                Split::FixedLength(length) => SplitStep::Cut(CutStep::FixedLength(FixedLength::compile(*length)?)),
                Split::DigitGroups { unicode } => {
                    SplitStep::Cut(CutStep::DigitGroups(DigitGroups::compile(unicode.as_deref())?))
                }
            };
            compiled.push(step);
        }
        let needs_spans = steps.iter().any(|step| matches!(step, Split::Metaspace { prepend: Scheme::First, .. }));
        Ok(SplitChain { steps: compiled, needs_spans, cuts_words, marks_words: marks_words(steps) })
    }

    /// Words between white space; characters of `alone`, a class, are words of their own. None if the class is not understood.
    pub fn of_words(alone: Option<&str>) -> Option<SplitChain> {
        let words = WordPattern::compile(r"\s", alone.as_slice())?;
        let steps = vec![SplitStep::Cut(CutStep::Words(Box::new(words)))];
        Some(SplitChain { steps, needs_spans: false, cuts_words: true, marks_words: false })
    }

    /// White space is left out, marks and the characters that were named stand alone, and nothing else is done.
    #[inline]
    pub fn cuts_words(&self) -> bool {
        self.cuts_words
    }

    /// White space is left out, each word gets U+2581 before it, and U+2581 starts a piece; nothing else is done.
    #[inline]
    pub fn marks_words(&self) -> bool {
        self.marks_words
    }

    /// This text is left out wherever it stands, and nothing else is done.
    pub fn removes(&self, text: &str) -> bool {
        matches!(&self.steps[..], [SplitStep::Cut(CutStep::Pattern(step))] if step.removes(text))
    }

    /// What is done to a text, if nothing is split and spaces are only made visible.
    pub fn escape(&self) -> Option<Escape> {
        if let [SplitStep::Rewrite(RewriteStep::Metaspace(step))] = &self.steps[..] { step.escape() } else { None }
    }

    /// Nothing is cut.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Some step rewrites pieces: `pieces` must be called, and not `split`.
    #[inline]
    pub fn rewrites(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, SplitStep::Rewrite(_)))
    }

    /// The pieces depend on where in the original text they stand, so that `pieces` must know it.
    #[inline]
    pub fn needs_spans(&self) -> bool {
        self.needs_spans
    }

    /// `fill` reads on from where it stopped, so that pieces are known before the end of the text.
    pub fn is_stream(&self) -> bool {
        match &self.steps[..] {
            [SplitStep::Cut(CutStep::Pattern(pattern))] => pattern.streamed().is_some(),
            [SplitStep::Cut(CutStep::Words(_))] => true,
            _ => false,
        }
    }

    /// A place behind `from` in `text` where a piece ends whatever stands before it; none where there is no fast way to tell.
    pub fn certain(&self, text: &str, from: usize) -> Option<usize> {
        match &self.steps[..] {
            [SplitStep::Cut(CutStep::Pattern(pattern))] => pattern.streamed()?.certain(text, from),
            [SplitStep::Cut(CutStep::Words(words))] => words.certain(text, from),
            _ => None,
        }
    }

    /// Calls `piece(start, end)` for each piece, left to right.
    #[inline]
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        let Some((last, first)) = self.steps.split_last() else { return Ok(()) };
        if first.is_empty() {
            return last.cut(text, (0, text.len()), &mut piece);
        }
        let mut ranges = vec![(0, text.len())];
        for step in first {
            ranges = step.cut_all(text, &ranges)?;
        }
        ranges.into_iter().try_for_each(|range| last.cut(text, range, &mut piece))
    }

    /// Writes the next pieces of `text` to `pieces`, which has room for 128 or more, and says how many; 0 when there are no
    /// more. The steps must not rewrite.
    /// `cursor` is new at first and then that of the call before.
    pub fn fill(&self, text: &str, cursor: &mut SplitCursor, pieces: &mut [(u32, u32)]) -> Result<usize> {
        let filled = match &self.steps[..] {
            [SplitStep::Cut(CutStep::Pattern(pattern))] => pattern.fill(text, cursor, pieces)?,
            [SplitStep::Cut(CutStep::Words(words))] => Some(words.fill(text, cursor, pieces)),
            _ => None,
        };
        if let Some(count) = filled {
            return Ok(count);
        }
        let mut rest = match cursor.rest.take() {
            Some(rest) => rest,
            None => self.reversed(text)?,
        };
        let mut count = 0;
        for (piece, found) in pieces.iter_mut().zip(std::iter::from_fn(|| rest.pop())) {
            *piece = found;
            count += 1;
        }
        cursor.rest = Some(rest);
        Ok(count)
    }

    /// All pieces, the last one first.
    fn reversed(&self, text: &str) -> Result<Vec<(u32, u32)>> {
        let mut rest = Vec::new();
        self.split(text, |start, end| rest.push((start as u32, end as u32)))?;
        rest.reverse();
        Ok(rest)
    }

    /// Rewrites and cuts a text that starts at byte `at` of the original one. With `spans` of the text, those of the pieces are kept.
    pub fn pieces(&self, text: &[u8], at: usize, spans: Option<&[Span]>) -> Result<RewrittenPieces> {
        let mut pieces =
            RewrittenPieces { text: text.to_vec(), spans: spans.map(<[Span]>::to_vec), ranges: vec![(0, text.len())] };
        for step in &self.steps {
            match step {
                SplitStep::Cut(_) => {
                    let text = std::str::from_utf8(&pieces.text).map_err(|error| not_utf8(error.valid_up_to()))?;
                    pieces.ranges = step.cut_all(text, &pieces.ranges)?;
                }
                SplitStep::Rewrite(rewrite) => pieces = rewrite.run(pieces, at, limit(text.len()))?,
            }
        }
        Ok(pieces)
    }
}

/// The steps leave out white space and put U+2581 before each word.
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

/// White space goes and each character of a class stands alone: BERT's two steps as one. So do those of `apart`.
fn words(spaces: &Split, alone: &Split, apart: &str) -> Option<WordPattern> {
    let class = |step: &Split, cuts: Behavior| match step {
        Split::Pattern { pattern, behavior, invert: false } => {
            let is_plain = *behavior == cuts && pattern.is_regex && pattern.unicode.is_none();
            is_plain.then(|| pattern.text.clone())
        }
        _ => None,
    };
    let (spaces, class) = (class(spaces, Behavior::Removed)?, class(alone, Behavior::Isolated)?);
    let is_class = class.len() > 2 && class.starts_with('[') && class.find(']') == Some(class.len() - 1);
    if spaces != r"\s" || !is_class {
        return None;
    }
    let named = [class.as_str(), apart];
    WordPattern::compile(&spaces, &named[..1 + !apart.is_empty() as usize])
}

impl SplitStep {
    #[inline]
    fn cut(&self, text: &str, (from, to): (usize, usize), piece: &mut impl FnMut(usize, usize)) -> Result<()> {
        match self {
            SplitStep::Cut(cut) => {
                let (text, piece) = (&text[from..to], |start, end| piece(from + start, from + end));
                match cut {
                    CutStep::Pattern(step) => step.split(text, piece),
                    CutStep::Words(step) => {
                        step.split(text, piece);
                        Ok(())
                    }
                    CutStep::Script(step) => step.split(text, piece),
                    CutStep::FixedLength(step) => step.split(text, piece),
                    CutStep::DigitGroups(step) => step.split(text, piece),
                }
            }
            SplitStep::Rewrite(_) => {
                piece(from, to);
                Ok(())
            }
        }
    }

    fn cut_all(&self, text: &str, ranges: &[(usize, usize)]) -> Result<Vec<(usize, usize)>> {
        let mut finer = Vec::with_capacity(ranges.len());
        for &range in ranges {
            self.cut(text, range, &mut |start, end| finer.push((start, end)))?;
        }
        Ok(finer)
    }
}

impl RewriteStep {
    /// Rewrites every piece. `at` is where the text starts in the original one, `most` how long it may become.
    fn run(&self, pieces: RewrittenPieces, at: usize, most: usize) -> Result<RewrittenPieces> {
        let RewrittenPieces { text, spans, ranges } = &pieces;
        Ok(match spans {
            Some(spans) => {
                let mut out = Aligned::new(spans);
                let is_first = |start: usize| spans.get(start).is_some_and(|span| at + span.0 as usize == 0);
                let ranges = Bounded::run(most, &mut out, |out| self.run_into(text, ranges, is_first, out))?;
                RewrittenPieces { text: out.text, spans: Some(out.spans), ranges }
            }
            None => {
                let mut out = Vec::with_capacity(text.len() + ranges.len());
                let is_first = |start| at + start == 0;
                let ranges = Bounded::run(most, &mut out, |out| self.run_into(text, ranges, is_first, out))?;
                RewrittenPieces { text: out, spans: None, ranges }
            }
        })
    }

    fn run_into<O: Output>(
        &self,
        text: &[u8],
        ranges: &[(usize, usize)],
        is_first: impl Fn(usize) -> bool,
        out: &mut O,
    ) -> Vec<(usize, usize)> {
        let mut rewritten = Vec::with_capacity(ranges.len());
        for &(start, end) in ranges {
            let from = out.written();
            self.apply(text, (start, end), is_first(start), out);
            rewritten.push((from, out.written()));
        }
        rewritten
    }

    fn apply<O: Output>(&self, text: &[u8], (start, end): (usize, usize), is_first: bool, out: &mut O) {
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
        fn white_space_and_marks_at_once(text in "[ab世 \n\u{3000},.。]{0,30}") {
            let step = |text: &str, behavior| Split::Pattern {
                pattern: Pattern { text: text.into(), is_regex: true, unicode: None }, behavior, invert: false,
            };
            let steps = [step(r"\s", Behavior::Removed), step(r"[\x{2C}-\x{2E}\x{3002}\x{A}]", Behavior::Isolated)];
            let pieces = |chain: &SplitChain| {
                let mut found = Vec::new();
                chain.split(&text, |start, end| found.push((start, end))).unwrap();
                found
            };
            let both = SplitChain::compile(&steps).unwrap();
            prop_assert_eq!(both.steps.len(), 1);
            let single = |step: &Split| SplitChain::compile(std::slice::from_ref(step)).unwrap().steps.pop().unwrap();
            let chain = SplitChain { steps: steps.iter().map(single).collect(), needs_spans: false, cuts_words: false, marks_words: false };
            prop_assert_eq!(pieces(&both), pieces(&chain));
        }
    }
}
