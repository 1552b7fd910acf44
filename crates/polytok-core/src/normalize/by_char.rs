//! Normalizes text with a table that has the output of all normalization steps for each character.
//!
//! A character is local if the steps always rewrite it to the same text between local characters. A kept character is a
//! local character that the steps do not change. White space that the steps change to other white space is kept too,
//! because the words stay the same. The table has the output of the other local characters. If a character is not
//! local, the steps normalize the text from the seam before the character to the next seam. A seam is an offset between
//! two local characters that are not removed, and one more such character follows them; the steps rewrite the text
//! before and after a seam independently, and cannot delete the first character after it.
//!
//! A [`CharMap`] can replace characters of the output, for models that do not distinguish all characters. The table
//! has the replaced output, and a replaced character is not kept.
//!
//! Two kinds of steps run before the table is used: steps that replace texts, and the conversion of ASCII to lower
//! case.
//!
//! Cost: linear, with one table lookup for each character that is not kept. The table has blocks of 256 characters; the
//! first lookup of a character in a block builds the block. Worst input: characters that are not local, which cost as
//! much as the steps. Twin: `Normalizer::normalize`.

use std::sync::Arc;

use polytok_memory::{Collect, Grow};

use super::growth::{BoundedOutput, growth_error, limit};
use super::origin_runs::{OriginRuns, Origins, ReplacedText};
use super::output::char_spans;
use super::unchanged::Unchanged;
use super::{NormalizeStep, Normalizer};
use crate::error::{self, Result};
use crate::huge::release;
use crate::lazy::Lazy;
use crate::utf8::valid;

/// The number of characters in a block of the table.
const BLOCK: usize = 256;
/// The number of adjacent characters around a seam: one before it and two after it.
const SEAM_CHARS: usize = 3;
/// The number of blocks of the table.
const BLOCK_COUNT: usize = 0x11_0000 / BLOCK;

/// Returns the character by which a character of the normalized text is replaced. ASCII must stay.
pub type CharMap = Arc<dyn Fn(char) -> char + Send + Sync>;

/// The table of a normalizer's output for each character.
pub struct CharRewrites {
    normalizer: Arc<Normalizer>,
    char_map: Option<CharMap>,
    kept_chars: Unchanged,
    blocks: Box<[Lazy<Box<[Rewrite; BLOCK]>>]>,
    /// True if the normalizer converts to lower case, so that ASCII can be converted first.
    has_lower_case: bool,
}

/// The text that replaces a character: at most 15 bytes, and the length in the last byte. Or `KEPT`, or `NOT_LOCAL`. The
/// three letters of a Hangul syllable fit.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Rewrite([u8; REWRITE_BYTES]);

const REWRITE_BYTES: usize = 16;

impl Rewrite {
    const KEPT: Rewrite = Rewrite([REWRITE_BYTES as u8; REWRITE_BYTES]);
    const NOT_LOCAL: Rewrite = Rewrite([REWRITE_BYTES as u8 + 1; REWRITE_BYTES]);

    /// Stores a text. A character with a longer replacement is `NOT_LOCAL`, so that the steps write the replacement.
    fn new(text: &[u8]) -> Rewrite {
        let mut bytes = [0; REWRITE_BYTES];
        if text.len() >= bytes.len() {
            return Rewrite::NOT_LOCAL;
        }
        bytes[..text.len()].copy_from_slice(text);
        bytes[REWRITE_BYTES - 1] = text.len() as u8;
        Rewrite(bytes)
    }

    #[inline]
    fn is_text(&self) -> bool {
        self.len() < REWRITE_BYTES
    }

    #[inline]
    fn len(&self) -> usize {
        self.0[REWRITE_BYTES - 1] as usize
    }

    /// Appends the text. All bytes are appended first, because copying a fixed number of bytes takes one instruction.
    #[inline]
    fn append_to(&self, out: &mut Vec<u8>) {
        let len = out.len() + self.len();
        out.checked_extend_from_slice(&self.0);
        out.truncate(len);
    }
}

/// The memory for rewriting a text.
#[derive(Default)]
pub struct RewriteBuffers {
    /// The input text after ASCII is converted to lower case, or after the steps that replace texts.
    prepared_text: Vec<u8>,
    rewritten_text: Vec<u8>,
    /// The output of the steps for the text between two seams.
    steps_output: Vec<u8>,
    spare_buffer: Vec<u8>,
}

impl RewriteBuffers {
    /// Frees buffers of more than `kept` bytes.
    pub fn release(&mut self, kept: usize) {
        for buffer in
            [&mut self.prepared_text, &mut self.rewritten_text, &mut self.steps_output, &mut self.spare_buffer]
        {
            release(buffer, kept);
        }
    }
}

/// A seam, as an offset in the text and in the rewritten text.
#[derive(Clone, Copy, Default)]
struct Seam {
    at: usize,
    output_len: usize,
}

impl CharRewrites {
    /// Returns the table of a normalizer; None if the normalizer has a step that might not rewrite characters
    /// independently.
    pub fn new(normalizer: &Arc<Normalizer>, char_map: Option<CharMap>) -> Option<CharRewrites> {
        let has_lower_case = match normalizer.char_steps() {
            [NormalizeStep::Bert(step)] => step.lowercases(),
            [NormalizeStep::Wpm(step)] => step.lowercases(),
            [others @ .., last] if others.iter().all(rewrites_chars) && last_rewrites_chars(last) => false,
            _ => return None,
        };
        let normalizer = normalizer.clone();
        let kept_chars = Unchanged::new({
            let (normalizer, char_map) = (normalizer.clone(), char_map.clone());
            move |c| normalizer.keeps(c) && char_map.as_ref().is_none_or(|char_map| char_map(c) == c)
        });
        let blocks = (0..BLOCK_COUNT).map(|_| Lazy::default()).checked_collect().into();
        kept_chars.has(' ').then_some(CharRewrites { normalizer, char_map, kept_chars, blocks, has_lower_case })
    }

    /// Reports whether all characters of the text are kept.
    pub fn keeps(&self, text: &str) -> bool {
        self.kept_end(text, 0) == text.len()
    }

    /// Returns the end of the run of kept characters at `from`.
    pub fn kept_end(&self, text: &str, from: usize) -> usize {
        self.kept_chars.run_end(text, from)
    }

    /// Reports whether a charsmap can delete the start of this text, which changes the spans of all later characters. No
    /// step replaces texts of it. If the first two characters that earlier steps do not remove are local, the charsmap
    /// keeps or replaces the first.
    fn can_shift_spans(&self, text: &str) -> bool {
        let is_removed = |c| self.rewrite_of(c) == Rewrite::new(b"");
        let mut first_chars = text.chars().filter(|&c| !is_removed(c)).take(2);
        matches!(self.normalizer.char_steps(), [.., NormalizeStep::Precompiled(_)])
            && !first_chars.all(|c| self.has_output(c))
    }

    /// Reports whether a character is local and not removed.
    pub fn has_output(&self, c: char) -> bool {
        let rewrite = self.rewrite_of(c);
        rewrite != Rewrite::NOT_LOCAL && rewrite != Rewrite::new(b"")
    }

    /// Converts ASCII to lower case in a copy of the text if the normalizer converts to lower case.
    pub fn lower_ascii<'t>(&self, text: &'t str, out: &'t mut Vec<u8>) -> &'t str {
        if !self.has_lower_case {
            return text;
        }
        out.clear();
        out.checked_extend_from_slice(text.as_bytes());
        out.make_ascii_lowercase();
        valid(out).unwrap_or_default()
    }

    /// Returns the rewritten text, which is the input text or a text in one of the buffers.
    pub fn rewrite<'t>(&self, text: &'t str, buffers: &'t mut RewriteBuffers) -> Result<&'t str> {
        let RewriteBuffers { prepared_text, rewritten_text, steps_output, spare_buffer } = buffers;
        let max_len = limit(text.len());
        let text = self.prepare(text, prepared_text, spare_buffer)?;
        if self.keeps(text) {
            return Ok(text);
        }
        rewritten_text.clear();
        self.rewrite_chars(text, rewritten_text, &mut (), [steps_output, spare_buffer])?;
        match rewritten_text.len() {
            len if len > max_len => Err(growth_error("normalization")),
            len if len >= u32::MAX as usize => Err(error::too_long("normalized")),
            _ => Ok(valid(rewritten_text).unwrap_or_default()),
        }
    }

    /// Returns the rewritten text like `rewrite`, and the origins of its bytes: first those of the last rewriting.
    /// Returns None if the general path must normalize the text.
    pub fn rewrite_with_origins<'t>(
        &self,
        text: &'t str,
        buffers: &'t mut RewriteBuffers,
    ) -> Option<(&'t str, Vec<OriginRuns>)> {
        let RewriteBuffers { prepared_text, rewritten_text, steps_output, spare_buffer } = buffers;
        let (max_len, mut origins) = (limit(text.len()), Vec::new());
        let text = match self.has_lower_case {
            true => self.lower_ascii(text, prepared_text),
            false => self.replace_with_origins(text, prepared_text, &mut origins)?,
        };
        if self.can_shift_spans(text) {
            return None;
        }
        if self.keeps(text) {
            return Some((text, origins));
        }
        let mut runs = OriginRuns::default();
        rewritten_text.clear();
        self.rewrite_chars(text, rewritten_text, &mut runs, [steps_output, spare_buffer]).ok()?;
        origins.insert(0, runs);
        let text = valid(rewritten_text).ok()?;
        (text.len() <= max_len && text.len() < u32::MAX as usize).then_some((text, origins))
    }

    /// Runs the steps that replace texts, and adds the origins of their outputs. Returns None if an output is too long.
    fn replace_with_origins<'t>(
        &self,
        text: &'t str,
        out: &'t mut Vec<u8>,
        origins: &mut Vec<OriginRuns>,
    ) -> Option<&'t str> {
        let (max_len, mut is_changed) = (limit(text.len()), false);
        for step in self.normalizer.replacing_steps() {
            let input = if is_changed { valid(out).ok()? } else { text };
            if matches!(step, NormalizeStep::Replace(step) if step.keeps(input.as_bytes())) {
                continue;
            }
            let mut output = ReplacedText::new(input);
            BoundedOutput::run(max_len, &mut output, |out| step.apply(input.as_bytes(), out)).ok()?.ok()?;
            let ReplacedText { text, origins: runs, .. } = output;
            origins.insert(0, runs);
            (*out, is_changed) = (text, true);
        }
        if is_changed { valid(out).ok() } else { Some(text) }
    }

    /// Converts ASCII to lower case, or runs the steps that replace texts, from the first step that changes the text.
    fn prepare<'t>(&self, text: &'t str, out: &'t mut Vec<u8>, spare_buffer: &mut Vec<u8>) -> Result<&'t str> {
        let replacing_steps = self.normalizer.replacing_steps();
        let keeps = |step: &NormalizeStep| matches!(step, NormalizeStep::Replace(step) if step.keeps(text.as_bytes()));
        let first = replacing_steps.iter().take_while(|step| keeps(step)).count();
        let replacing_steps = &replacing_steps[first..];
        if replacing_steps.is_empty() {
            return Ok(self.lower_ascii(text, out));
        }
        NormalizeStep::run_all(replacing_steps, text.as_bytes(), limit(text.len()), out, spare_buffer)?;
        Ok(valid(out).unwrap_or_default())
    }

    /// Appends the rewritten text to `out`, which is empty, and the origins of its bytes to `origins`.
    fn rewrite_chars<O: Origins>(
        &self,
        text: &str,
        out: &mut Vec<u8>,
        origins: &mut O,
        mut buffers: [&mut Vec<u8>; 2],
    ) -> Result<()> {
        let (mut at, mut last_seam) = (0, Seam::default());
        while at < text.len() {
            let end = self.kept_chars.run_end(text, at);
            if at < end {
                origins.keep(out.len(), at);
                out.checked_extend_from_slice(&text.as_bytes()[at..end]);
            }
            at = self.rewrite_run(text, end, out, origins);
            if text[at..].chars().next().is_none_or(|c| self.rewrite_of(c) != Rewrite::NOT_LOCAL) {
                continue;
            }
            let seam = self.seam_before(text, Seam { at, output_len: out.len() }, last_seam);
            at = self.next_seam(text, at);
            out.truncate(seam.output_len);
            origins.truncate(seam.output_len);
            self.run_steps(&text[seam.at..at], seam.at, out, origins, &mut buffers)?;
            last_seam = Seam { at, output_len: out.len() };
        }
        Ok(())
    }

    /// Appends the table's output for the run of characters at `from` that are local and not kept. Returns the end of
    /// the run.
    #[inline]
    fn rewrite_run<O: Origins>(&self, text: &str, from: usize, out: &mut Vec<u8>, origins: &mut O) -> usize {
        let mut at = from;
        for c in text[from..].chars() {
            let (rewrite, end) = (self.rewrite_of(c), at + c.len_utf8());
            if !rewrite.is_text() {
                break;
            }
            origins.replace(out.len(), rewrite.len(), (at as u32, end as u32));
            rewrite.append_to(out);
            at = end;
        }
        at
    }

    /// Runs the steps on a part of a text that starts at byte `from`, and appends their output.
    fn run_steps<O: Origins>(
        &self,
        part: &str,
        from: usize,
        out: &mut Vec<u8>,
        origins: &mut O,
        [steps_output, spare_buffer]: &mut [&mut Vec<u8>; 2],
    ) -> Result<()> {
        let (steps, part) = (self.normalizer.char_steps(), part.as_bytes());
        let mut spans = Vec::new();
        if O::ARE_RECORDED {
            (**steps_output, spans) = NormalizeStep::run_all_with_spans(steps, part, char_spans(part))?;
        } else {
            NormalizeStep::run_all(steps, part, limit(part.len()), steps_output, spare_buffer)?;
        }
        for (at, c) in valid(steps_output).unwrap_or_default().char_indices() {
            let c = self.char_map.as_ref().map_or(c, |char_map| char_map(c));
            if let Some(&(start, end)) = spans.get(at) {
                origins.replace(out.len(), c.len_utf8(), (from as u32 + start, from as u32 + end));
            }
            out.checked_extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }

    #[inline]
    fn rewrite_of(&self, c: char) -> Rewrite {
        let (block, at) = (c as usize / BLOCK, c as usize % BLOCK);
        self.blocks[block].get(|| self.build_block(block))[at]
    }

    fn build_block(&self, block: usize) -> Box<[Rewrite; BLOCK]> {
        Box::new(std::array::from_fn(|at| {
            let c = char::from_u32((block * BLOCK + at) as u32);
            c.and_then(|c| self.build_rewrite(c)).unwrap_or(Rewrite::NOT_LOCAL)
        }))
    }

    fn build_rewrite(&self, c: char) -> Option<Rewrite> {
        if self.kept_chars.has(c) {
            return Some(Rewrite::KEPT);
        }
        let mut text = self.normalizer.rewrite_char(c)?;
        if let Some(char_map) = &self.char_map {
            text = text.chars().map(|c| char_map(c)).collect();
        }
        Some(Rewrite::new(text.as_bytes()))
    }

    /// Returns the last seam before `end`, or `last_seam` if it has no later seam. The text between them is local.
    fn seam_before(&self, text: &str, end: Seam, last_seam: Seam) -> Seam {
        let (mut seam, mut adjacent_count) = (end, 0);
        for c in text[last_seam.at..end.at].chars().rev() {
            let len = self.output_len(c);
            adjacent_count = if len > 0 { adjacent_count + 1 } else { 0 };
            if adjacent_count == SEAM_CHARS {
                return seam;
            }
            seam = Seam { at: seam.at - c.len_utf8(), output_len: seam.output_len - len };
        }
        last_seam
    }

    /// Returns the first seam after `from`, or the end of the text.
    fn next_seam(&self, text: &str, from: usize) -> usize {
        let (mut previous, mut adjacent_count) = (from, 0);
        for (at, c) in text[from..].char_indices() {
            adjacent_count = if self.has_output(c) { adjacent_count + 1 } else { 0 };
            if adjacent_count == SEAM_CHARS {
                return previous;
            }
            previous = from + at;
        }
        text.len()
    }

    /// Returns the number of bytes to which a local character is rewritten.
    fn output_len(&self, c: char) -> usize {
        let rewrite = self.rewrite_of(c);
        if rewrite.is_text() { rewrite.len() } else { c.len_utf8() }
    }
}

/// Reports whether `is_local` knows the local characters of this step.
fn rewrites_chars(step: &NormalizeStep) -> bool {
    matches!(step, NormalizeStep::Unicode(_) | NormalizeStep::StripAccents(_) | NormalizeStep::Lowercase(_))
}

/// Reports whether `is_local` knows the local characters of this step if it is the last step. A charsmap must be the
/// last step, because the tests cover no steps after a charsmap.
fn last_rewrites_chars(step: &NormalizeStep) -> bool {
    rewrites_chars(step) || matches!(step, NormalizeStep::Precompiled(_))
}

impl Normalizer {
    /// Returns the steps that replace texts, which are at the start of the list.
    fn replacing_steps(&self) -> &[NormalizeStep] {
        let steps = self.steps_for_utf8();
        &steps[..steps.iter().take_while(|step| matches!(step, NormalizeStep::Replace(_))).count()]
    }

    /// Returns the steps after the steps that replace texts.
    fn char_steps(&self) -> &[NormalizeStep] {
        &self.steps_for_utf8()[self.replacing_steps().len()..]
    }

    /// Returns the steps that can change UTF-8 text.
    fn steps_for_utf8(&self) -> &[NormalizeStep] {
        if let [NormalizeStep::ReplaceInvalid(_), others @ ..] = &self.steps[..] { others } else { &self.steps }
    }

    /// Reports whether a local character does not change, or stays white space.
    fn keeps(&self, c: char) -> bool {
        match self.char_steps() {
            [NormalizeStep::Bert(step)] => step.changes_only_spaces(c),
            [NormalizeStep::Wpm(step)] => step.keeps(c),
            _ => self.rewrite_char(c).is_some_and(|text| {
                let is_space = c.is_whitespace() && !text.is_empty() && text.chars().all(char::is_whitespace);
                is_space || text.chars().eq([c])
            }),
        }
    }

    /// Returns the text to which the steps rewrite a character; None if the character is not local.
    fn rewrite_char(&self, c: char) -> Option<String> {
        let mut text = c.to_string();
        let mut steps = self.char_steps().iter().peekable();
        while let Some(step) = steps.next() {
            if !step.is_local(&text, steps.peek().copied()) {
                return None;
            }
            let mut out = Vec::new();
            step.run(text.as_bytes(), limit(text.len()), &mut out).ok()?;
            text = String::from_utf8(out).ok()?;
        }
        Some(text)
    }
}

impl NormalizeStep {
    /// Reports whether a text, which the steps before have made from one character, is local for this step. `next` is
    /// the next step.
    fn is_local(&self, text: &str, next: Option<&NormalizeStep>) -> bool {
        match self {
            NormalizeStep::Bert(step) => text.chars().all(|c| step.is_local(c)),
            // A decomposition depends on adjacent characters only in the order of marks, all of which are removed.
            NormalizeStep::Unicode(step)
                if step.decomposes() && matches!(next, Some(NormalizeStep::StripAccents(_))) =>
            {
                true
            }
            NormalizeStep::Unicode(step) => text.chars().all(|c| step.is_local(c)),
            NormalizeStep::Precompiled(step) => step.is_local(text),
            NormalizeStep::Wpm(_) | NormalizeStep::StripAccents(_) | NormalizeStep::Lowercase(_) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
