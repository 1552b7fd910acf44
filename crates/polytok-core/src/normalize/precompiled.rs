//! SentencePiece's charsmap as Hugging Face applies it.
//!
//! Reference: Precompiled with the crates spm_precompiled and unicode-segmentation. For each grapheme cluster of less
//! than six bytes, and then for each character of the others: if any key starts it, the whole of it becomes the
//! replacement of the *shortest* such key. Where a replacement is shorter, the character written last before is what
//! swallows the rest; if nothing has been written yet, nothing does, and all that follows stands for what stood before
//! it (see `transform`).
//!
//! Cost: one lookup for each cluster and character, none for runs of ASCII that starts no key.

use unicode_segmentation::UnicodeSegmentation;

use super::charsmap::Charsmap;
use super::output::Output;
use super::transform::Transform;
use crate::error::Result;
use crate::spec::Line;

/// Longer clusters are looked up character by character.
const MAX_CLUSTER: usize = 5;

/// A compiled step.
pub struct Precompiled {
    charsmap: Charsmap,
    /// The character is not a key and, if another of these follows it, is a cluster of its own.
    is_plain: [bool; 128],
}

impl Precompiled {
    /// Compiles a step from a `precompiled_charsmap` blob.
    pub fn compile(charsmap: Vec<u8>) -> Result<Precompiled> {
        let charsmap = Charsmap::parse(charsmap, Line::V0_2_1)?;
        let is_key = |byte: u8| charsmap.shortest_prefix(&[byte]).is_some();
        let is_plain = std::array::from_fn(|byte| byte != b'\r' as usize && !is_key(byte as u8));
        Ok(Precompiled { charsmap, is_plain })
    }

    /// What an ASCII character becomes beside others that this is known of: itself, or the space that white space becomes.
    pub fn plain(&self, c: char) -> Option<char> {
        if !c.is_ascii() || c == '\r' {
            return None;
        }
        match self.replacement(c.encode_utf8(&mut [0; 4])) {
            None => Some(c),
            Some(" ") => Some(' '),
            Some(_) => None,
        }
    }

    /// Writes the rewritten text.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let mut writer = Changes { to: Transform::new(text, 0, out), last: None };
        let mut at = 0;
        while at < text.len() {
            let plain = self.plain_run(&text.as_bytes()[at..]);
            writer.run(at, at + plain);
            at += plain;
            let end = self.clusters_end(&text.as_bytes()[at..]) + at;
            for cluster in text[at..end].graphemes(true) {
                self.cluster(cluster, &mut writer);
            }
            at = end;
        }
        writer.flush();
    }

    /// The length of the plain characters at the start, without one that what follows may join.
    fn plain_run(&self, text: &[u8]) -> usize {
        let run = text.iter().take_while(|byte| byte.is_ascii() && self.is_plain[**byte as usize]).count();
        if run < text.len() { run.saturating_sub(1) } else { run }
    }

    /// The length of the text at the start up to two plain characters in a row, between which clusters always end.
    fn clusters_end(&self, text: &[u8]) -> usize {
        let is_plain = |byte: u8| byte.is_ascii() && self.is_plain[byte as usize];
        let border = text.windows(2).position(|pair| is_plain(pair[0]) && is_plain(pair[1]));
        border.map_or(text.len(), |first| first + 1)
    }

    fn cluster<O: Output>(&self, cluster: &str, writer: &mut Changes<'_, O>) {
        if cluster.len() <= MAX_CLUSTER
            && let Some(replacement) = self.replacement(cluster)
        {
            return writer.replace(cluster.chars().count(), replacement);
        }
        for c in cluster.chars() {
            match self.replacement(c.encode_utf8(&mut [0; 4])) {
                Some(replacement) => writer.replace(1, replacement),
                None => writer.push(c, 0),
            }
        }
    }

    fn replacement(&self, part: &str) -> Option<&str> {
        std::str::from_utf8(self.charsmap.shortest_prefix(part.as_bytes())?).ok()
    }
}

/// Characters and their changes; the last is held back because a deletion behind it counts for it.
struct Changes<'t, O> {
    to: Transform<'t, O>,
    last: Option<(char, isize)>,
}

impl<O: Output> Changes<'_, O> {
    fn push(&mut self, c: char, change: isize) {
        self.flush();
        self.last = Some((c, change));
    }

    fn flush(&mut self) {
        if let Some((c, change)) = self.last.take() {
            self.to.push(c, change);
        }
    }

    /// `text[from..to]`, unchanged.
    fn run(&mut self, from: usize, to: usize) {
        if from < to {
            self.flush();
            self.to.push_run(from, to - 1);
            self.last = self.to.char_before(to).map(|c| (c, 0));
        }
    }

    /// `old` characters become `text`.
    fn replace(&mut self, old: usize, text: &str) {
        let new = text.chars().count();
        for (i, c) in text.chars().enumerate() {
            self.push(c, (i >= new.min(old)) as isize);
        }
        if let Some((_, change)) = &mut self.last {
            *change -= old.saturating_sub(new) as isize;
        }
    }
}
