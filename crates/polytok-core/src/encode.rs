//! The pipeline: template, special tokens, a route or normalize → split → model, post. It reads as the picture in lib.rs, from top to
//! bottom, and as its twin, python/polytok/reference/pipeline.py.

use crate::error::{Result, too_long};
use crate::normalize::origin::{Origin, Place};
use crate::post::template::TemplateStep;
use crate::post::{Out, Sink};
use crate::scratch::Scratch;
use crate::segmenter::Context;
use crate::special::{SpecialSet, TextPart};
use crate::tokenizer::{EncodeOptions, Tokenizer};

/// One text on its way to a sink.
struct Encoding<'r, 's, S> {
    tokenizer: &'r Tokenizer,
    scratch: &'r mut Scratch,
    out: Out<'s, S>,
}

impl Tokenizer {
    /// Encodes a text into any sink, with the template around it.
    pub fn encode_to<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        options.check(text)?;
        let mut encoding = Encoding { tokenizer: self, scratch, out: Out::new(&self.segmenter.fallback, sink) };
        for step in self.template.steps(options.add_special, text.len()) {
            match step {
                TemplateStep::Insert(ids, at) => encoding.out.sink.insert(ids, at),
                TemplateStep::Text => encoding.text(text, options.special)?,
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
        options.check(text)?;
        let out = Out::new(&self.segmenter.fallback, sink);
        Encoding { tokenizer: self, scratch, out }.text(text, options.special)
    }
}

impl<'s, S: Sink> Encoding<'_, 's, S> {
    /// Special tokens of the text, and the parts between them.
    fn text(&mut self, text: &[u8], special: Option<&SpecialSet>) -> Result<()> {
        let Some(set) = special.or(self.tokenizer.specials.always()) else { return self.part(text, 0, None) };
        let in_normalized = Some(set).filter(|set| set.has_normalized());
        set.split(text, |part| match part {
            TextPart::Text(start, end) => self.part(&text[start..end], start, in_normalized),
            TextPart::Special(id, start, end) => {
                self.out.sink.special(id, &text[start..end], start as u32, end as u32);
                Ok(())
            }
        })
    }

    /// A part between special tokens, as if it were a text of its own. `at` is where it starts; `set` has the special tokens that are
    /// recognised in the normalized text.
    fn part(&mut self, part: &[u8], at: usize, set: Option<&SpecialSet>) -> Result<()> {
        let Tokenizer { route, segmenter, by_lengths, .. } = self.tokenizer;
        if let (Some(route), None) = (route, set) {
            if let Some(out) = S::by_ids(&mut self.out) {
                if route.takes(segmenter, part) {
                    let Scratch { route: route_scratch, segmenter: scratch, .. } = self.scratch;
                    return route.run((part, at), route_scratch, &mut Context { segmenter, scratch, out });
                }
            } else if by_lengths.encode_part(segmenter, route, (part, at), self.scratch, &mut self.out) {
                return Ok(());
            }
        }
        let mut normalized = std::mem::take(&mut self.scratch.normalized);
        let result = match self.normalize(part, at, set.is_none(), &mut normalized) {
            Ok(Some(place)) => self.normalized(&normalized, place, set),
            Ok(None) => self.normalized(part, Place::same(at), set),
            Err(error) => Err(error),
        };
        self.scratch.normalized = normalized;
        result
    }

    /// Writes the normalized text, and returns where its bytes come from; None if the text stays as it is. `is_whole`: the text is not
    /// taken apart afterwards.
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

    /// Special tokens of the normalized text, and the parts between them.
    fn normalized(&mut self, text: &[u8], place: Place, set: Option<&SpecialSet>) -> Result<()> {
        let Some(set) = set else { return self.split(text, place) };
        set.split_normalized(text, |part| match part {
            TextPart::Text(start, end) => self.split(&text[start..end], place.part(start, end)),
            TextPart::Special(id, start, end) => {
                let (from, to) = place.original(start as u32, end as u32);
                self.out.sink.special(id, &text[start..end], from, to);
                Ok(())
            }
        })
    }

    /// Normalized text without special tokens: split, model, post.
    fn split(&mut self, text: &[u8], place: Place) -> Result<()> {
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
