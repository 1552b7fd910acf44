//! The pipeline: inserts the template's ids, splits the text at special tokens, and encodes each part between them,
//! either with a route or by the steps normalize, split, model and post. The twin,
//! python/polytok/reference/pipeline.py, runs the steps in the same order.

use crate::error::{Result, too_long};
use crate::normalize::origin::{Origin, Place};
use crate::post::template::TemplateStep;
use crate::post::{Out, Sink};
use crate::routes::{WordsPart, WordsRoute};
use crate::scratch::Scratch;
use crate::segmenter::Context;
use crate::special::{SpecialSet, TextPart};
use crate::split::chain::SplitChain;
use crate::tokenizer::trusted::{NormalizedPart, TrustedRuns};
use crate::tokenizer::{EncodeOptions, Guard, Tokenizer, Trusted};

/// The encoding of one text to a sink.
pub(crate) struct Encoding<'r, 's, S> {
    tokenizer: &'r Tokenizer,
    scratch: &'r mut Scratch,
    out: Out<'s, S>,
}

impl<'r: 's, 's, S: Sink> Encoding<'r, 's, S> {
    #[inline]
    pub fn new(tokenizer: &'r Tokenizer, scratch: &'r mut Scratch, sink: &'s mut S) -> Encoding<'r, 's, S> {
        Encoding { tokenizer, scratch, out: Out::new(&tokenizer.segmenter.fallback, sink) }
    }

    /// Encodes the text, with the template around it.
    pub fn encode_with_template(&mut self, text: &[u8], options: EncodeOptions) -> Result<()> {
        for step in self.tokenizer.template.steps(options.add_special, text.len()) {
            match step {
                TemplateStep::Insert(ids, at) => self.out.sink.insert(ids, at),
                TemplateStep::Text => self.encode_text(text, options)?,
            }
        }
        Ok(())
    }

    /// Splits the text at special tokens, and encodes the parts between them.
    #[inline]
    pub fn encode_text(&mut self, text: &[u8], options: EncodeOptions) -> Result<()> {
        match options.trusted {
            None => self.encode_between(text, options.special.or(self.tokenizer.specials.always())),
            Some(trusted) => self.encode_trusted(text, trusted),
        }
    }

    /// Splits the text at the special tokens of a set, and encodes the parts between them.
    fn encode_between(&mut self, text: &[u8], set: Option<&SpecialSet>) -> Result<()> {
        let Some(set) = set else { return self.encode_part(text, 0, None) };
        let normalized_set = Some(set).filter(|set| set.has_normalized());
        set.split(text, |part| match part {
            TextPart::Text(start, end) => self.encode_part(&text[start..end], start, normalized_set),
            TextPart::Special(id, start, end) => {
                self.out.sink.push_special(id, &text[start..end], start as u32, end as u32);
                Ok(())
            }
        })
    }

    /// Encodes a text of which only the given runs are trusted.
    #[cold]
    fn encode_trusted(&mut self, text: &[u8], trusted: Trusted) -> Result<()> {
        let runs = TrustedRuns::new(self.tokenizer, trusted.runs)?;
        if trusted.is_whole {
            return self.encode_between(text, runs.set.all());
        }
        let Some(Guard { tokenizer, .. }) = self.tokenizer.guard() else { return self.encode_runs(text, runs) };
        tokenizer.with_scratch(|scratch| Encoding::new(tokenizer, scratch, self.out.sink).encode_runs(text, runs))
    }

    /// Splits the text at the special tokens in trusted runs, and encodes the parts between them.
    fn encode_runs(&mut self, text: &[u8], trusted: TrustedRuns) -> Result<()> {
        trusted.set.split(text, trusted.runs, |part| match part {
            TextPart::Text(start, end) => self.encode_part_with_runs(&text[start..end], start, trusted),
            TextPart::Special(id, start, end) => {
                self.out.sink.push_special(id, &text[start..end], start as u32, end as u32);
                Ok(())
            }
        })
    }

    /// Encodes a part of the text between two special tokens. Its trusted runs can have user-defined pieces and special
    /// tokens that are searched for in the normalized text.
    fn encode_part_with_runs(&mut self, part: &[u8], at: usize, trusted: TrustedRuns) -> Result<()> {
        match trusted.normalized(self.tokenizer, part, at)? {
            Some(NormalizedPart { text, place, runs }) => {
                trusted.set.split_normalized(&text, &runs, |part| self.encode_normalized_part(&text, part, &place))
            }
            None => self.encode_part(part, at, None),
        }
    }

    /// Encodes a part of the text between two special tokens; the part starts at byte `at` of the text.
    /// `normalized_set` has the special tokens that are searched for in the normalized text of the part.
    fn encode_part(&mut self, part: &[u8], at: usize, normalized_set: Option<&SpecialSet>) -> Result<()> {
        let result = if normalized_set.is_none() { self.encode_by_route(part, at) } else { None };
        result.unwrap_or_else(|| self.encode_by_steps(part, at, normalized_set))
    }

    /// Encodes a part by the steps of the pipeline.
    fn encode_by_steps(&mut self, part: &[u8], at: usize, normalized_set: Option<&SpecialSet>) -> Result<()> {
        let mut normalized = std::mem::take(&mut self.scratch.normalized);
        let result = match self.normalize(part, at, normalized_set.is_none(), &mut normalized) {
            Ok(Some(place)) => self.encode_normalized(&normalized, place, normalized_set),
            Ok(None) => self.encode_normalized(part, Place::unchanged_at(at), normalized_set),
            Err(error) => Err(error),
        };
        self.scratch.normalized = normalized;
        result
    }

    /// Encodes a part with the route; None if the route does not accept the part. A sink that needs more than ids gets
    /// the lengths of the tokens, or encodes words part by part.
    #[inline]
    fn encode_by_route(&mut self, part: &[u8], at: usize) -> Option<Result<()>> {
        let Tokenizer { route, segmenter, by_lengths, .. } = self.tokenizer;
        let route = route.as_ref()?;
        let Some(out) = S::by_ids(&mut self.out) else {
            let is_encoded = by_lengths.encode_part(segmenter, route, (part, at), self.scratch, &mut self.out);
            return if is_encoded { Some(Ok(())) } else { self.encode_words(route.as_words()?, part, at) };
        };
        let Scratch { route: route_scratch, segmenter: scratch, .. } = self.scratch;
        let mut context = Context { segmenter, scratch, out };
        route.accepts(segmenter, part).then(|| route.run((part, at), route_scratch, &mut context))
    }

    /// Encodes a part of the text for a sink that needs more than ids. None if the route cannot encode the part.
    fn encode_words(&mut self, route: &WordsRoute, part: &[u8], at: usize) -> Option<Result<()>> {
        let Tokenizer { segmenter, .. } = self.tokenizer;
        let Scratch { route: route_scratch, segmenter: scratch, .. } = &mut *self.scratch;
        let mut context = Context { segmenter, scratch, out: &mut self.out };
        if let Some(result) = route.run_with_spans((part, at), route_scratch, &mut context) {
            return Some(result);
        }
        let splits = route.part_split(segmenter)?;
        let mut buffer = std::mem::take(&mut self.scratch.spare);
        let result = route.text_of_parts(part, &mut buffer).map(|text| self.encode_words_of(route, splits, text, at));
        self.scratch.spare = buffer;
        result
    }

    /// Encodes a text part by part: words of kept text are found without normalization, and the steps rewrite sections of
    /// the other parts.
    fn encode_words_of(&mut self, route: &WordsRoute, splits: &SplitChain, text: &str, at: usize) -> Result<()> {
        let mut from = 0;
        while from < text.len() {
            let WordsPart { end, is_kept } = route.next_part(text, from);
            if is_kept {
                self.out.begin_part(Place::unchanged_at(at + from));
                self.context().encode_pieces(splits, &text[from..end])?;
                from = end;
            }
            while from < end {
                let section_end = route.section_end(&text[..end], from);
                self.encode_by_steps(&text.as_bytes()[from..section_end], at + from, None)?;
                from = section_end;
            }
        }
        Ok(())
    }

    /// Writes the normalized text to `out`, and returns its place in the caller's text; if the tokenizer has no
    /// normalizer, writes nothing and returns None. `is_whole` is true if the normalized text is not split at special
    /// tokens.
    fn normalize(&mut self, text: &[u8], at: usize, is_whole: bool, out: &mut Vec<u8>) -> Result<Option<Place>> {
        let (normalizer, splits) = (&self.tokenizer.normalizer, &self.tokenizer.segmenter.splits);
        let origin = if splits.needs_spans() || S::by_ids(&mut self.out).is_none() && !normalizer.is_empty() {
            normalizer.normalize_with_origin(text, is_whole && !splits.rewrites(), out)?
        } else if normalizer.is_empty() {
            return Ok(None);
        } else {
            normalizer.normalize(text, out, &mut self.scratch.spare).map(|()| Origin::Same)?
        };
        if out.len() < u32::MAX as usize {
            Ok(Some(Place { at: at as u32, origin }))
        } else {
            Err(too_long("normalized"))
        }
    }

    /// Splits the normalized text at special tokens, and encodes the parts between them.
    fn encode_normalized(&mut self, text: &[u8], place: Place, set: Option<&SpecialSet>) -> Result<()> {
        let Some(set) = set else { return self.encode_pieces(text, place) };
        set.split_normalized(text, |part| self.encode_normalized_part(text, part, &place))
    }

    /// Encodes a special token of the normalized text, or the text between two special tokens.
    fn encode_normalized_part(&mut self, text: &[u8], part: TextPart, place: &Place) -> Result<()> {
        match part {
            TextPart::Text(start, end) => self.encode_pieces(&text[start..end], place.part(start, end)),
            TextPart::Special(id, start, end) => {
                let (from, to) = place.original(start as u32, end as u32);
                self.out.sink.push_special(id, &text[start..end], from, to);
                Ok(())
            }
        }
    }

    /// Encodes normalized text without special tokens: split, model, post.
    fn encode_pieces(&mut self, text: &[u8], place: Place) -> Result<()> {
        let Tokenizer { segmenter, by_lengths, .. } = self.tokenizer;
        if text.is_empty() {
            return Ok(());
        }
        if segmenter.splits.rewrites() {
            return self.context().encode_rewritten(text, place);
        }
        self.out.begin_part(place);
        if by_lengths.encode_normalized(segmenter, text, self.scratch, &mut self.out) {
            return Ok(());
        }
        self.context().encode_text(text)
    }

    fn context(&mut self) -> Context<'_, 's, S> {
        Context { segmenter: &self.tokenizer.segmenter, scratch: &mut self.scratch.segmenter, out: &mut self.out }
    }
}
