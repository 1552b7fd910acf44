//! The post-processor's template: the ids that stand before and after a text.

use crate::error::{Error, Result};
use crate::spec::TemplatePart;
use crate::special::Specials;
use crate::token_id::TokenId;
use crate::vocab::Vocab;

/// How often a template may repeat the text, so that a hostile file cannot fill the memory.
const MOST_SLOTS: usize = 16;

/// A checked template.
pub struct Template(Vec<TemplatePart>);

/// A step of an encoding with a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateStep<'a> {
    /// These ids come next; they stand at this byte of the text and cover nothing.
    Insert(&'a [TokenId], u32),
    /// The text comes next.
    Text,
}

impl Template {
    /// Checks that the ids exist and that the text is not repeated too often.
    pub fn compile(parts: Vec<TemplatePart>, vocab: &Vocab, specials: &Specials) -> Result<Template> {
        let slots = parts.iter().filter(|part| matches!(part, TemplatePart::Slot)).count();
        if slots > MOST_SLOTS {
            return Err(Error::Spec(format!(
                "post: the template repeats the text {slots} times, at most {MOST_SLOTS} are allowed"
            )));
        }
        let ids = parts.iter().filter_map(|part| if let TemplatePart::Insert(ids) = part { Some(ids) } else { None });
        match ids.flatten().find(|&&id| vocab.row(id).is_none() && specials.text(id).is_none()) {
            Some(id) => Err(Error::Spec(format!("post: id {id} is neither in the vocabulary nor a special token's"))),
            None => Ok(Template(parts)),
        }
    }

    /// The steps for a text of `len` bytes; without `add_special` only the text.
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

    /// Whether it is the text and nothing else.
    pub fn is_plain(&self) -> bool {
        matches!(self.0[..], [TemplatePart::Slot])
    }
}
