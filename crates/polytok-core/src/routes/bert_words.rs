//! BERT's words: text that cleaning does not change, except for spaces, is split as it is.
//!
//! The split has been told which characters get spaces around them (`Chain::compile_apart`), so they need not have them. The rest is
//! cleaned from one space to another: neither words nor what cleaning does reach across a space.

use std::sync::Arc;

use memchr::memchr;

use super::RouteScratch;
use crate::error::Result;
use crate::model::CompiledModel;
use crate::normalize::Normalizer;
use crate::normalize::bert::Bert;
use crate::normalize::origin::Place;
use crate::post::{IdSink, Out};
use crate::segmenter::{Segmenter, SegmenterScratch};
use crate::utf8::valid;

/// At least this many bytes are cleaned at a time, since each part has a cost of its own.
const CLEANED: usize = 64;

/// The route.
pub(crate) struct BertWords {
    normalizer: Arc<Normalizer>,
    /// Words that are cleaned part by part must have the same ids as in the cleaned text.
    takes_all: bool,
}

impl BertWords {
    /// The route if BERT's steps are all there is.
    pub fn choose(normalizer: &Arc<Normalizer>, segmenter: &Segmenter) -> Option<BertWords> {
        normalizer.bert().filter(|_| segmenter.splits.cuts_words())?;
        let takes_all = matches!(segmenter.model, CompiledModel::WordPiece(_));
        Some(BertWords { normalizer: normalizer.clone(), takes_all })
    }

    pub fn takes(&self, text: &[u8]) -> bool {
        let only_spaces = |text: &str| self.normalizer.bert().is_some_and(|bert| bert.only_spaces(text));
        valid(text).is_ok_and(|text| self.takes_all || only_spaces(text))
    }

    pub fn run<S: IdSink>(
        &self,
        segmenter: &Segmenter,
        text: &[u8],
        scratch: &mut RouteScratch,
        segmenter_scratch: &mut SegmenterScratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let (Ok(text), Some(bert)) = (valid(text), self.normalizer.bert()) else { return Ok(()) };
        let mut from = 0;
        loop {
            let plain_end = end_of_plain(bert, text, from);
            out.begin_part(Place::default());
            segmenter.encode_pieces(&text[from..plain_end], segmenter_scratch, out)?;
            if plain_end == text.len() {
                return Ok(());
            }
            from = end_of_other(bert, text, plain_end);
            let RouteScratch { text: cleaned, spare, .. } = scratch;
            self.normalizer.normalize(&text.as_bytes()[plain_end..from], cleaned, spare)?;
            out.begin_part(Place::default());
            segmenter.encode_text(cleaned, segmenter_scratch, out)?;
        }
    }
}

/// Where the text from `from` on stops being plain: at the last space before the first character that is not.
fn end_of_plain(bert: &Bert, text: &str, from: usize) -> usize {
    match bert.only_spaces_until(text, from) {
        end if end == text.len() => end,
        other => text[from..other].rfind(' ').map_or(from, |at| from + at),
    }
}

/// The first space some way after the first character that is not plain.
fn end_of_other(bert: &Bert, text: &str, from: usize) -> usize {
    let other = bert.only_spaces_until(text, from);
    let searched = (other + CLEANED).min(text.len());
    memchr(b' ', &text.as_bytes()[searched..]).map_or(text.len(), |at| searched + at)
}
