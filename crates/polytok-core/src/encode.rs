//! The pipeline: special, normalize, split, model, post. It reads as the picture in lib.rs, from top to bottom.

use memchr::memchr;

use crate::boundary::Boundary;
use crate::cache::Waiting;
use crate::error::{Error, Result};
use crate::model::Segment;
use crate::model::bpe::Bpe;
use crate::normalize::bert::Bert;
use crate::normalize::output::{Span, spans_of};
use crate::post::{Origin, Out, Sink};
use crate::spec::TemplatePart;
use crate::special::{Part, SpecialSet};
use crate::split::chain::not_utf8;
use crate::split::cursor::Cursor;
use crate::tokenizer::{Compiled, EncodeOptions, Scratch, Tokenizer};
use crate::utf8::valid;

/// Bytes that are cleaned at a time, at least: each stretch costs some more.
const CLEANED: usize = 64;

impl Tokenizer {
    /// The pipeline, into any sink.
    pub fn encode_to<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        check_text(text, options)?;
        let mut at = 0;
        for part in &self.template {
            match part {
                TemplatePart::Insert(ids) if options.add_special => sink.insert(ids, at),
                TemplatePart::Insert(_) => {}
                TemplatePart::Slot => {
                    self.encode_text(text, options, scratch, sink)?;
                    at = text.len() as u32;
                }
            }
        }
        Ok(())
    }

    /// The same without the template.
    pub fn encode_plain<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        check_text(text, options)?;
        self.encode_text(text, options, scratch, sink)
    }

    /// A whole text without its template: special tokens, and what lies between them.
    fn encode_text<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        let Some(set) = options.special.or(self.specials.always()) else {
            return self.encode_part(text, 0, None, scratch, sink);
        };
        set.cut(text, |part| match part {
            Part::Text(start, end) => self.encode_part(&text[start..end], start, Some(set), scratch, sink),
            Part::Special(id, start, end) => {
                sink.special(id, &text[start..end], start as u32, end as u32);
                Ok(())
            }
        })
    }

    /// Encodes what lies between special tokens, as if it were a text of its own. `at` is where it starts.
    fn encode_part<S: Sink>(
        &self,
        text: &[u8],
        at: usize,
        set: Option<&SpecialSet>,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        let set = set.filter(|set| set.has_normalized());
        if let (Compiled::Bpe(bpe, Some(_)), None) = (&self.model, set)
            && let Some(stretches) = self.stretches.get(text.len(), bpe, &self.vocab, &self.fallback)
            && stretches.can_take(text)
        {
            if !S::SPANS {
                return self.encode_unescaped(stretches, text, at, scratch, sink);
            }
            if S::TILES && self.encode_unescaped_tiled(stretches, text, at, scratch, sink) {
                return Ok(());
            }
        }
        if S::TILES
            && !self.splits.rewrites()
            && let (Some(normalizer), None) = (self.normalizer.sentencepiece(), set)
            && let Some((normalized, offsets)) = normalizer.whole_chars(text)
        {
            sink.begin_part(at as u32, Origin::Offsets(offsets));
            return self.encode_rewritten(&normalized, scratch, sink);
        }
        if !S::SPANS
            && set.is_none()
            && self.splits.cuts_words()
            && let (Some(bert), Ok(text)) = (self.normalizer.bert(), valid(text))
            && (matches!(self.model, Compiled::WordPiece(_)) || bert.only_spaces(text))
        {
            return self.encode_words(bert, text, scratch, sink);
        }
        if S::SPANS && !self.normalizer.is_empty() || self.splits.needs_spans() {
            let (normalized, spans) = self.normalizer.normalize_with_spans(text)?;
            return self.encode_stretches(&normalized, at, Some(&spans), set, scratch, sink);
        }
        if self.normalizer.is_empty() {
            return self.encode_stretches(text, at, None, set, scratch, sink);
        }
        if let (Compiled::Unigram(unigram), Some(normalizer), None) =
            (&self.model, self.normalizer.sentencepiece(), set)
            && !self.fallback.may_fail()
            && let Some(by_word) = unigram.by_word(text.len(), Some(normalizer), &self.vocab)
            && by_word.takes_raw(text)
        {
            let mut out = Out::new(text, &self.fallback, sink);
            return by_word.encode_raw(normalizer, text, &mut scratch.model.unigram, &mut out);
        }
        let mut normalized = std::mem::take(&mut scratch.normalized);
        let result = self
            .normalizer
            .normalize(text, &mut normalized, &mut scratch.spare)
            .and_then(|()| self.encode_stretches(&normalized, at, None, set, scratch, sink));
        scratch.normalized = normalized;
        result
    }

    /// BERT's words. Text to which cleaning only adds spaces is cut as it is; the rest is cleaned stretch by stretch, from one space to
    /// another, across which neither words nor what cleaning does can reach.
    fn encode_words<S: Sink>(&self, bert: &Bert, text: &str, scratch: &mut Scratch, sink: &mut S) -> Result<()> {
        let mut from = 0;
        loop {
            let other = bert.only_spaces_until(text, from);
            let start =
                if other == text.len() { other } else { text[from..other].rfind(' ').map_or(from, |at| from + at) };
            let raw = &text[from..start];
            self.encode_pieces(raw, scratch, &mut Out::new(raw.as_bytes(), &self.fallback, sink))?;
            if start == text.len() {
                return Ok(());
            }
            let searched = (other + CLEANED).min(text.len());
            from = memchr(b' ', &text.as_bytes()[searched..]).map_or(text.len(), |at| searched + at);
            let mut normalized = std::mem::take(&mut scratch.normalized);
            let result =
                self.normalizer.normalize(&text.as_bytes()[start..from], &mut normalized, &mut scratch.spare).and_then(
                    |()| self.encode_split(&normalized, scratch, &mut Out::new(&normalized, &self.fallback, sink)),
                );
            scratch.normalized = normalized;
            result?;
        }
    }

    /// Special tokens of the normalized text, and what lies between them.
    #[inline]
    fn encode_stretches<S: Sink>(
        &self,
        text: &[u8],
        at: usize,
        spans: Option<&[Span]>,
        set: Option<&SpecialSet>,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        if text.len() >= u32::MAX as usize {
            return Err(Error::Encode("normalization makes 4 GiB or more of this text: cut it".into()));
        }
        let Some(set) = set else { return self.encode_stretch(text, at, spans, scratch, sink) };
        set.cut_normalized(text, |part| match (part, spans) {
            (Part::Text(start, end), Some(spans)) => {
                self.encode_stretch(&text[start..end], at, Some(&spans[start..end]), scratch, sink)
            }
            (Part::Text(start, end), None) => self.encode_stretch(&text[start..end], at + start, None, scratch, sink),
            (Part::Special(id, start, end), spans) => {
                let (from, to) = spans.map_or((start as u32, end as u32), |spans| (spans[start].0, spans[end - 1].1));
                sink.special(id, &text[start..end], at as u32 + from, at as u32 + to);
                Ok(())
            }
        })
    }

    /// Normalized text without special tokens.
    #[inline]
    fn encode_stretch<S: Sink>(
        &self,
        text: &[u8],
        at: usize,
        spans: Option<&[Span]>,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if !self.splits.rewrites() {
            sink.begin_part(at as u32, spans.map_or(Origin::Same, |spans| Origin::Spans(spans.to_vec())));
            return self.encode_rewritten(text, scratch, sink);
        }
        let own = (S::SPANS && spans.is_none()).then(|| spans_of(text));
        let mut pieces = self.splits.pieces(text, at, spans.or(own.as_deref()))?;
        sink.begin_part(at as u32, pieces.spans.take().map_or(Origin::Same, Origin::Spans));
        let mut out = Out::new(&pieces.text, &self.fallback, sink);
        let mut waiting = scratch.waiting();
        for &(start, end) in &pieces.ranges {
            if waiting.push(start, end, false) {
                self.encode_waiting(&pieces.text, &mut waiting, scratch, &mut out)?;
            }
        }
        self.encode_waiting(&pieces.text, &mut waiting, scratch, &mut out)?;
        scratch.keep(waiting);
        Ok(())
    }

    /// Normalized text whose spans the sink knows.
    #[inline]
    fn encode_rewritten<S: Sink>(&self, text: &[u8], scratch: &mut Scratch, sink: &mut S) -> Result<()> {
        if text.is_empty() || S::TILES && self.encode_tiled(text, scratch, sink) {
            return Ok(());
        }
        self.encode_normalized(text, scratch, sink)
    }

    pub(crate) fn encode_normalized<S: Sink>(&self, text: &[u8], scratch: &mut Scratch, sink: &mut S) -> Result<()> {
        let mut out = Out::new(text, &self.fallback, sink);
        if !self.splits.is_empty() {
            return self.encode_split(text, scratch, &mut out);
        }
        match &self.model {
            Compiled::Bpe(bpe, Some(cuts)) if cuts.can_cut(text) => {
                self.encode_cuts(bpe, cuts, text, scratch, &mut out)
            }
            Compiled::Bpe(bpe, _) => {
                out.begin_word();
                bpe.segment_whole(text, None, &mut scratch.model.bpe, &mut |segment| out.take(0, segment))
            }
            Compiled::Longest(longest) if !S::SPANS && longest.finds_ids() => {
                scratch.ids.clear();
                longest.ids(text, &mut scratch.ids);
                out.take_cached(&scratch.ids);
                Ok(())
            }
            model => {
                out.begin_word();
                if let Compiled::Unigram(unigram) = model
                    && let Some(by_word) = unigram.by_word(text.len(), self.normalizer.sentencepiece(), &self.vocab)
                {
                    return by_word.encode(text, &mut scratch.model.unigram, &mut out);
                }
                model.segment(text, 0, false, &mut scratch.model, &mut |segment| out.take(0, segment))
            }
        }
    }

    /// Pieces by the split steps, each encoded on its own.
    fn encode_split<S: Sink>(&self, bytes: &[u8], scratch: &mut Scratch, out: &mut Out<S>) -> Result<()> {
        let text = match (valid(bytes), &self.model) {
            (Ok(text), _) => text,
            (Err(at), Compiled::Bpe(bpe, _)) if bpe.is_of_bytes() => {
                return self.encode_broken(bpe, bytes, at, scratch, out);
            }
            (Err(at), _) => return Err(not_utf8(at)),
        };
        self.encode_pieces(text, scratch, out)
    }

    fn encode_pieces<S: Sink>(&self, text: &str, scratch: &mut Scratch, out: &mut Out<S>) -> Result<()> {
        let mut waiting = scratch.waiting();
        let mut cursor = Cursor::new();
        while waiting.fill(|pieces| self.splits.fill(text, &mut cursor, pieces))? > 0 {
            self.encode_waiting(text.as_bytes(), &mut waiting, scratch, out)?;
        }
        scratch.keep(waiting);
        Ok(())
    }

    /// tiktoken's rule for bytes that are no text (0.14, `_encode_bytes`): the valid prefix is encoded; its last piece,
    /// with all the white-space tokens before it if it starts with one, is taken back and becomes one piece with all that follows.
    fn encode_broken<S: Sink>(
        &self,
        bpe: &Bpe,
        text: &[u8],
        valid: usize,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let prefix = std::str::from_utf8(&text[..valid]).unwrap_or_default();
        let mut segments: Vec<Segment> = Vec::new();
        let mut last_piece = 0;
        let mut result = Ok(());
        self.splits.split(prefix, |start, end| {
            last_piece = segments.len();
            let base = start as u32;
            let mut push = |segment: Segment| {
                segments.push(Segment { start: base + segment.start, end: base + segment.end, ..segment });
                Ok(())
            };
            result = std::mem::replace(&mut result, Ok(()))
                .and_then(|()| bpe.segment(&text[start..end], start, false, &mut scratch.model.bpe, &mut push));
        })?;
        result?;
        out.begin_word();
        let is_space = |segment: &Segment| {
            text[segment.start as usize..segment.end as usize].iter().all(|byte| b" \n\t".contains(byte))
        };
        if segments.get(last_piece).is_some_and(is_space) {
            while last_piece > 0 && is_space(&segments[last_piece - 1]) {
                last_piece -= 1;
            }
        }
        for &segment in &segments[..last_piece] {
            out.take(0, segment)?;
        }
        let taken_back = &segments[last_piece..];
        let from = taken_back.first().map_or(valid, |segment| segment.start as usize);
        let scratch = &mut scratch.model.bpe;
        if taken_back.iter().map(|segment| (segment.end - segment.start) as usize).sum::<usize>() == valid - from {
            return bpe.segment_broken(&text[from..], scratch, &mut |segment| out.take(from, segment));
        }
        // Text that no pattern matched is in no segment: the piece is put together, and knows where its bytes come from.
        let taken_back = taken_back.iter().flat_map(|segment| segment.start..segment.end);
        let mut origins: Vec<u32> = taken_back.chain(valid as u32..text.len() as u32).collect();
        let piece: Vec<u8> = origins.iter().map(|&at| text[at as usize]).collect();
        origins.push(text.len() as u32);
        let place = |at: u32| origins[at as usize];
        let mut take =
            |segment: Segment| out.take(0, Segment { start: place(segment.start), end: place(segment.end), ..segment });
        bpe.segment_broken(&piece, scratch, &mut take)
    }

    /// Stretches between user-defined pieces and proven cuts, each merged on its own.
    fn encode_cuts<S: Sink>(
        &self,
        bpe: &Bpe,
        boundary: &Boundary,
        text: &[u8],
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut at = 0;
        let mut result = Ok(());
        let mut waiting = scratch.waiting();
        bpe.frozen_matches(text, |start, end, id| {
            if start == 0 {
                out.begin_word();
            }
            if result.is_ok() {
                let frozen = Segment { id, start: start as u32, end: end as u32 };
                result = self
                    .encode_cut(boundary, text, (at, start), &mut waiting, scratch, out)
                    .and_then(|()| self.encode_waiting(text, &mut waiting, scratch, out))
                    .and_then(|()| out.take(0, frozen));
            }
            at = end;
        });
        result?;
        self.encode_cut(boundary, text, (at, text.len()), &mut waiting, scratch, out)?;
        self.encode_waiting(text, &mut waiting, scratch, out)?;
        scratch.keep(waiting);
        Ok(())
    }

    /// Cuts a stretch of the text where nothing can merge; the parts go to those that wait.
    pub(crate) fn encode_cut<S: Sink>(
        &self,
        cuts: &Boundary,
        text: &[u8],
        (from, to): (usize, usize),
        waiting: &mut Waiting,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let mut at = from;
        while at < to {
            let start = at;
            for place in cuts.ascii_cuts(&text[..to], at).into_iter().flat_map(ones) {
                let end = start + place + 1;
                if waiting.push(at, end, true) {
                    self.encode_waiting(text, waiting, scratch, out)?;
                }
                at = end;
            }
            if at > start {
                continue;
            }
            let end = cuts.next_cut(&text[..to], at);
            if waiting.push(at, end, at > from || end < to) {
                self.encode_waiting(text, waiting, scratch, out)?;
            }
            at = end;
        }
        Ok(())
    }
}

/// The places of the bits that are set.
fn ones(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < 64).then_some(place)
    })
}

/// An error if the text is too long, or if a token stands in it that is refused.
fn check_text(text: &[u8], options: EncodeOptions) -> Result<()> {
    if text.len() >= u32::MAX as usize {
        return Err(Error::Encode(format!(
            "the text has {} bytes; one call takes less than 4 GiB: cut it",
            text.len()
        )));
    }
    options.reject.map_or(Ok(()), |reject| reject.reject(text))
}
