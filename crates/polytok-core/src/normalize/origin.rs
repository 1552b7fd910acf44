//! Maps each byte of a normalized text to the bytes of the caller's text that it comes from.

use polytok_memory::{Collect, Copied};

use super::kept_text::KeptText;
use super::origin_runs::OriginRuns;
use super::output::{Span, char_spans};

/// The origin of a normalized text: a map from each byte of the normalized text to bytes of the original text.
#[derive(Debug, Default)]
pub enum Origin {
    /// Each byte comes from the byte at the same offset, because nothing was rewritten.
    #[default]
    Same,
    /// The normalizer kept this text, which is UTF-8; each byte comes from its whole character.
    Kept(KeptText),
    /// A span of the original text for each byte.
    Spans(Vec<Span>),
    /// The start of the span of each byte, followed by the end of the text. The end of a span is the start of the next
    /// span.
    Offsets(Vec<u32>),
    /// The origins of the bytes in the text before the last rewriting, then those of its bytes in the text before, and so
    /// on.
    Runs(Vec<OriginRuns>),
}

impl Origin {
    /// Converts the origin of `text` to a span for each byte of `text`.
    pub fn into_spans(self, text: &[u8]) -> Vec<Span> {
        match self {
            Origin::Same | Origin::Kept(_) => char_spans(text),
            Origin::Spans(spans) => spans,
            Origin::Runs(rewritings) => {
                (0..text.len() as u32).map(|at| original_by_runs(&rewritings, (at, at + 1))).checked_collect()
            }
            Origin::Offsets(offsets) => {
                let mut end = offsets.last().copied().unwrap_or_default();
                let span = |pair: &[u32]| {
                    end = if pair[0] < pair[1] { pair[1] } else { end };
                    (pair[0], end)
                };
                let mut spans: Vec<Span> = offsets.windows(2).rev().map(span).checked_collect();
                spans.reverse();
                spans
            }
        }
    }
}

/// The position in the caller's text of the text that is being encoded.
#[derive(Debug, Default)]
pub struct Place {
    /// The offset in the caller's text at which the original of the encoded text starts.
    pub at: u32,
    /// The origin of the bytes of the encoded text; its offsets count from `at`.
    pub origin: Origin,
}

impl Place {
    /// Returns the place of a part of the caller's text that is not rewritten and starts at byte `at`.
    pub fn unchanged_at(at: usize) -> Place {
        Place { at: at as u32, origin: Origin::Same }
    }

    /// Returns the place of the bytes from `start` to `end` of the encoded text.
    pub fn part(&self, start: usize, end: usize) -> Place {
        let (at, origin) = match &self.origin {
            Origin::Same => (self.at + start as u32, Origin::Same),
            Origin::Kept(text) => (self.at + start as u32, Origin::Kept(KeptText::new(&text.text()[start..end]))),
            Origin::Spans(spans) => (self.at, Origin::Spans(spans[start..end].checked_to_vec())),
            Origin::Offsets(offsets) => (self.at, Origin::Offsets(offsets[start..=end].checked_to_vec())),
            Origin::Runs(rewritings) => {
                let spans = (start as u32..end as u32).map(|at| original_by_runs(rewritings, (at, at + 1)));
                (self.at, Origin::Spans(spans.checked_collect()))
            }
        };
        Place { at, origin }
    }

    /// Returns the span, in the caller's text, of the bytes from `start` to `end`. An empty range has an empty span, at
    /// the start of the span of the next byte.
    #[inline]
    pub fn original(&self, start: u32, end: u32) -> Span {
        let (first, last) = match &self.origin {
            Origin::Same => (start, end),
            Origin::Kept(text) => (text.char_start(start), text.char_end(end)),
            Origin::Offsets(offsets) => (offsets[start as usize], offsets[end as usize]),
            Origin::Runs(rewritings) => original_by_runs(rewritings, (start, end)),
            Origin::Spans(spans) => {
                let last = (end as usize).checked_sub(1).and_then(|last| spans.get(last)).map_or(0, |span| span.1);
                (spans.get(start as usize).map_or(last, |span| span.0), last)
            }
        };
        (self.at + first, self.at + if start < end { last } else { first })
    }
}

/// Converts a span of a rewritten text to a span of the original text.
#[inline]
fn original_by_runs(rewritings: &[OriginRuns], span: Span) -> Span {
    rewritings.iter().fold(span, |span, runs| runs.original(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_text_has_the_spans_of_its_characters() {
        let text = "aé\u{3000}😀b".as_bytes();
        let kept = Place { at: 7, origin: Origin::Kept(KeptText::new(text)) };
        let spans = Place { at: 7, origin: Origin::Spans(char_spans(text)) };
        for end in 0..=text.len() as u32 {
            for start in 0..=end {
                assert_eq!(kept.original(start, end), spans.original(start, end), "{start}..{end}");
            }
        }
        assert_eq!(kept.part(1, 6).original(0, 3), spans.part(1, 6).original(0, 3));
    }
}
