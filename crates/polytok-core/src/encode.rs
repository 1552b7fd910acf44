//! The pipeline: template, special tokens, a route or normalize → split → model, post. It reads as the picture in lib.rs, from top to
//! bottom, and as its twin, python/polytok/reference/pipeline.py.

use crate::error::{Error, Result};
use crate::post::Out;
use crate::post::template::TemplateStep;
use crate::scratch::Scratch;
use crate::sink::{Origin, Place, Sink};
use crate::special::{Part, SpecialSet};
use crate::tokenizer::{EncodeOptions, Tokenizer};

impl Tokenizer {
    /// A text into any sink: the template around it, or around each repetition of it.
    pub fn encode_to<S: Sink>(
        &self,
        text: &[u8],
        options: EncodeOptions,
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Result<()> {
        check_text(text, options)?;
        let out = &mut Out::new(&self.segmenter.fallback, sink);
        for step in self.template.steps(options.add_special, text.len()) {
            match step {
                TemplateStep::Insert(ids, at) => out.sink.insert(ids, at),
                TemplateStep::Text => self.encode_text(text, options.special, scratch, out)?,
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
        self.encode_text(text, options.special, scratch, &mut Out::new(&self.segmenter.fallback, sink))
    }

    /// Special tokens of the text, and the parts between them.
    fn encode_text<S: Sink>(
        &self,
        text: &[u8],
        special: Option<&SpecialSet>,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let Some(set) = special.or(self.specials.always()) else {
            return self.encode_part(text, 0, None, scratch, out);
        };
        let in_normalized = Some(set).filter(|set| set.has_normalized());
        set.cut(text, |part| match part {
            Part::Text(start, end) => self.encode_part(&text[start..end], start, in_normalized, scratch, out),
            Part::Special(id, start, end) => {
                out.sink.special(id, &text[start..end], start as u32, end as u32);
                Ok(())
            }
        })
    }

    /// A part between special tokens is encoded as if it were a text of its own. `at` is where it starts; `set` has the special
    /// tokens that are recognised in the normalized text.
    fn encode_part<S: Sink>(
        &self,
        part: &[u8],
        at: usize,
        set: Option<&SpecialSet>,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        if let (Some(route), None) = (&self.route, set) {
            if let Some(out) = S::by_ids(out) {
                if route.takes(&self.segmenter, part) {
                    return route.run(&self.segmenter, (part, at), &mut scratch.route, &mut scratch.segmenter, out);
                }
            } else if self.route_by_lengths(route, (part, at), scratch, out) {
                return Ok(());
            }
        }
        if self.normalizer.is_empty() && !self.segmenter.splits.needs_spans() {
            return self.encode_normalized(part, Place::same(at), set, scratch, out);
        }
        let mut normalized = std::mem::take(&mut scratch.normalized);
        let result = self
            .normalize(part, set.is_none(), S::by_ids(out).is_none(), &mut normalized, &mut scratch.spare)
            .and_then(|origin| self.encode_normalized(&normalized, Place { at: at as u32, origin }, set, scratch, out));
        scratch.normalized = normalized;
        result
    }

    /// The normalized text, and where its bytes come from if that is needed. `is_whole`: the text is not taken apart afterwards.
    fn normalize(
        &self,
        text: &[u8],
        is_whole: bool,
        needs_spans: bool,
        out: &mut Vec<u8>,
        spare: &mut Vec<u8>,
    ) -> Result<Origin> {
        let splits = &self.segmenter.splits;
        let origin = if needs_spans || splits.needs_spans() {
            self.normalizer.normalize_with_origin(text, is_whole && !splits.rewrites(), out)?
        } else {
            self.normalizer.normalize(text, out, spare).map(|()| Origin::Same)?
        };
        if out.len() < u32::MAX as usize { Ok(origin) } else { Err(too_long("normalized ")) }
    }

    /// Special tokens of the normalized text, and the parts between them.
    fn encode_normalized<S: Sink>(
        &self,
        text: &[u8],
        place: Place,
        set: Option<&SpecialSet>,
        scratch: &mut Scratch,
        out: &mut Out<S>,
    ) -> Result<()> {
        let Some(set) = set else { return self.encode_split(text, place, scratch, out) };
        set.cut_normalized(text, |part| match part {
            Part::Text(start, end) => self.encode_split(&text[start..end], place.part(start, end), scratch, out),
            Part::Special(id, start, end) => {
                let (from, to) = place.original(start as u32, end as u32);
                out.sink.special(id, &text[start..end], from, to);
                Ok(())
            }
        })
    }

    /// Normalized text without special tokens: split, model, post.
    fn encode_split<S: Sink>(&self, text: &[u8], place: Place, scratch: &mut Scratch, out: &mut Out<S>) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        if self.segmenter.splits.rewrites() {
            return self.segmenter.encode_rewritten(text, place, &mut scratch.segmenter, out);
        }
        out.begin_part(place);
        if self.encode_by_lengths(text, scratch, out) {
            return Ok(());
        }
        self.segmenter.encode_text(text, &mut scratch.segmenter, out)
    }
}

/// An error if the text is too long, or if it holds a special token that is refused.
fn check_text(text: &[u8], options: EncodeOptions) -> Result<()> {
    if text.len() >= u32::MAX as usize {
        return Err(too_long(""));
    }
    options.reject.map_or(Ok(()), |reject| reject.reject(text))
}

fn too_long(which: &str) -> Error {
    Error::Encode(format!("the {which}text has 4 GiB or more, and one call takes less: split it into smaller texts"))
}
