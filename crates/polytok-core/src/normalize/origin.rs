//! What the bytes of a normalized text stand for in the text that a caller gave.

use super::output::{Span, spans_of};

/// What the bytes of a text stand for in the text that it was made from.
#[derive(Debug, Default)]
pub enum Origin {
    /// Themselves: nothing was rewritten.
    #[default]
    Same,
    /// A span for each byte.
    Spans(Vec<Span>),
    /// For each byte where its span starts; it ends where that of the next byte starts. One more entry says where the
    /// text ends.
    Offsets(Vec<u32>),
}

impl Origin {
    /// A span for each byte of `text`, whose origin this is.
    pub fn into_spans(self, text: &[u8]) -> Vec<Span> {
        match self {
            Origin::Same => spans_of(text),
            Origin::Spans(spans) => spans,
            Origin::Offsets(offsets) => {
                let mut end = offsets.last().copied().unwrap_or_default();
                let span = |pair: &[u32]| {
                    end = if pair[0] < pair[1] { pair[1] } else { end };
                    (pair[0], end)
                };
                let mut spans: Vec<Span> = offsets.windows(2).rev().map(span).collect();
                spans.reverse();
                spans
            }
        }
    }
}

/// Where the text that is being encoded stands in the text that a caller gave.
#[derive(Debug, Default)]
pub struct Place {
    /// Where the text that it was made from starts.
    pub at: u32,
    /// What its bytes stand for there.
    pub origin: Origin,
}

impl Place {
    /// A text that stands there as it is.
    pub fn same(at: usize) -> Place {
        Place { at: at as u32, origin: Origin::Same }
    }

    /// The place of a part of the text.
    pub fn part(&self, start: usize, end: usize) -> Place {
        let (at, origin) = match &self.origin {
            Origin::Same => (self.at + start as u32, Origin::Same),
            Origin::Spans(spans) => (self.at, Origin::Spans(spans[start..end].to_vec())),
            Origin::Offsets(offsets) => (self.at, Origin::Offsets(offsets[start..=end].to_vec())),
        };
        Place { at, origin }
    }

    /// What the bytes from `start` to `end` stand for. No bytes stand for nothing, at the place of the next byte.
    #[inline]
    pub fn original(&self, start: u32, end: u32) -> Span {
        let (first, last) = match &self.origin {
            Origin::Same => (start, end),
            Origin::Offsets(offsets) => (offsets[start as usize], offsets[end as usize]),
            Origin::Spans(spans) => {
                let last = (end as usize).checked_sub(1).and_then(|last| spans.get(last)).map_or(0, |span| span.1);
                (spans.get(start as usize).map_or(last, |span| span.0), last)
            }
        };
        (self.at + first, self.at + if start < end { last } else { first })
    }
}
