//! The post-processor's template: the ids that are inserted around a text.

use crate::error::{Error, Result};
use crate::spec::TemplatePart;
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::Vocab;

/// How many times a template can contain the text; the limit protects the memory from hostile files.
const MAX_SLOTS: usize = 16;

/// The parts of a checked template.
pub struct Template(Vec<TemplatePart>);

/// A step of an encoding with a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateStep<'a> {
    /// Insert these ids, with an empty span at this byte of the text.
    Insert(&'a [TokenId], u32),
    /// Encode the text.
    Text,
}

impl Template {
    /// Checks that the template's ids exist and that the template contains the text at most `MAX_SLOTS` times.
    pub fn compile(parts: Vec<TemplatePart>, vocab: &Vocab, specials: &Specials) -> Result<Template> {
        let slot_count = parts.iter().filter(|part| matches!(part, TemplatePart::Slot)).count();
        if slot_count > MAX_SLOTS {
            return Err(Error::Spec(format!(
                "post: the template has the text {slot_count} times; at most {MAX_SLOTS} times are allowed"
            )));
        }
        let ids = parts.iter().filter_map(|part| if let TemplatePart::Insert(ids) = part { Some(ids) } else { None });
        match ids.flatten().find(|&&id| vocab.row(id).is_none() && specials.text(id).is_none()) {
            Some(id) => Err(Error::Spec(format!(
                "post: the template has the id {id}, which neither an entry nor a special token has"
            ))),
            None => Ok(Template(parts)),
        }
    }

    /// Returns the steps for a text of `len` bytes. If `add_special` is false, no ids are inserted.
    #[inline]
    pub fn steps(&self, add_special: bool, len: usize) -> impl Iterator<Item = TemplateStep<'_>> {
        let mut at = 0;
        self.0.iter().filter_map(move |part| match part {
            TemplatePart::Insert(ids) => add_special.then_some(TemplateStep::Insert(ids, at)),
            TemplatePart::Slot => {
                at = len as u32;
                Some(TemplateStep::Text)
            }
        })
    }

    /// Reports whether the template inserts no ids around the text.
    pub fn is_only_text(&self) -> bool {
        matches!(self.0[..], [TemplatePart::Slot])
    }
}
