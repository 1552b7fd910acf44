//! Applies SentencePiece's charsmap as Hugging Face does.
//!
//! Reference: Precompiled with the crates spm_precompiled and unicode-segmentation. A *unit* is a grapheme cluster of
//! less than six bytes; longer clusters, and clusters that do not start with a key, are looked up character by
//! character. If keys are prefixes of a unit, the whole unit is replaced by the replacement of the *shortest* of these
//! keys. If the replacement has fewer characters than the unit, the reference treats the remaining characters of the
//! unit as replaced by the last character of the output. If the output is still empty, these remaining characters are
//! not counted, so all later characters get the spans of characters that are too early (see `transform`).
//!
//! Cost: one lookup for each cluster and character; none for runs of ASCII characters that are not keys.

use unicode_segmentation::UnicodeSegmentation;

use super::charsmap::Charsmap;
use super::output::Output;
use super::transform::Transform;
use crate::error::Result;
use crate::spec::SentencePieceVersion;

/// The largest number of bytes of a cluster that is looked up as a whole.
const MAX_CLUSTER: usize = 5;

/// The compiled step.
pub struct Precompiled {
    charsmap: Charsmap,
    /// For each ASCII character, true if it is *plain*: it is not a key, and two adjacent plain characters are always
    /// two clusters.
    is_plain: [bool; 128],
}

impl Precompiled {
    /// Compiles a step from a `precompiled_charsmap` blob.
    pub fn compile(charsmap: Vec<u8>) -> Result<Precompiled> {
        let charsmap = Charsmap::parse(charsmap, SentencePieceVersion::V0_2_1)?;
        let is_key = |byte: u8| charsmap.shortest_prefix(&[byte]).is_some();
        let is_plain = std::array::from_fn(|byte| byte != b'\r' as usize && !is_key(byte as u8));
        Ok(Precompiled { charsmap, is_plain })
    }

    /// Reports whether a cluster always ends before and after a text if the adjacent texts are such texts too: if all
    /// characters of the text are plain, or if the text is a decomposed Hangul syllable. A character that the charsmap
    /// deletes is not local, because it can change the spans of the characters around it.
    pub fn is_local(&self, text: &str) -> bool {
        let is_deleted = |c: char| self.replacement(c.encode_utf8(&mut [0; 4])).is_some_and(str::is_empty);
        (is_hangul_syllable(text) || text.chars().all(Precompiled::is_plain_char)) && !text.chars().any(is_deleted)
    }

    /// Reports whether a character is plain: two adjacent plain characters are always two clusters.
    pub(super) fn is_plain_char(c: char) -> bool {
        // The first test is a fast path for ideographs and Hangul syllables, which are frequent.
        matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}')
            || c != '\r' && ['a', c, c, 'a'].iter().collect::<String>().graphemes(true).count() == 4
    }

    /// Writes `text` with the keys of the charsmap replaced.
    pub fn apply<O: Output>(&self, text: &str, out: &mut O) {
        let mut writer = ChangeWriter { transform: Transform::new(text, 0, out), last: None };
        let mut at = 0;
        while at < text.len() {
            let plain = self.plain_run_len(&text.as_bytes()[at..]);
            writer.push_run(at, at + plain);
            at += plain;
            let end = self.clusters_end(&text.as_bytes()[at..]) + at;
            for cluster in text[at..end].graphemes(true) {
                self.write_cluster(cluster, &mut writer);
            }
            at = end;
        }
        writer.flush();
    }

    /// Returns the length of the plain characters at the start, without the last plain character if other text follows,
    /// because that text can join the character in a cluster.
    fn plain_run_len(&self, text: &[u8]) -> usize {
        let run = text.iter().take_while(|byte| byte.is_ascii() && self.is_plain[**byte as usize]).count();
        if run < text.len() { run.saturating_sub(1) } else { run }
    }

    /// Returns the length of the text up to the end of the first of two adjacent plain characters, where a cluster
    /// always ends.
    fn clusters_end(&self, text: &[u8]) -> usize {
        let is_plain = |byte: u8| byte.is_ascii() && self.is_plain[byte as usize];
        let pair = text.windows(2).position(|pair| is_plain(pair[0]) && is_plain(pair[1]));
        pair.map_or(text.len(), |first| first + 1)
    }

    fn write_cluster<O: Output>(&self, cluster: &str, writer: &mut ChangeWriter<'_, O>) {
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

    /// Returns the replacement of a cluster or character.
    fn replacement(&self, unit: &str) -> Option<&str> {
        std::str::from_utf8(self.charsmap.shortest_prefix(unit.as_bytes())?).ok()
    }
}

/// Reports whether a text is a Hangul syllable, decomposed to two or three letters. No cluster continues from a last
/// letter of a syllable to a first letter, or from a plain character to a first letter.
fn is_hangul_syllable(text: &str) -> bool {
    let mut letters = text.chars();
    matches!(letters.next(), Some('\u{1100}'..='\u{1112}'))
        && matches!(letters.next(), Some('\u{1161}'..='\u{1175}'))
        && matches!(letters.next(), None | Some('\u{11A8}'..='\u{11C2}'))
        && letters.next().is_none()
}

/// A writer of characters and their changes. The last character is held back, because a deletion after it modifies its
/// change (see `transform`).
struct ChangeWriter<'t, O> {
    transform: Transform<'t, O>,
    last: Option<(char, isize)>,
}

impl<O: Output> ChangeWriter<'_, O> {
    fn push(&mut self, c: char, change: isize) {
        self.flush();
        self.last = Some((c, change));
    }

    fn flush(&mut self) {
        if let Some((c, change)) = self.last.take() {
            self.transform.push(c, change);
        }
    }

    /// Writes `text[from..to]`, unchanged.
    fn push_run(&mut self, from: usize, to: usize) {
        if from < to {
            self.flush();
            self.transform.push_run(from, to - 1);
            self.last = self.transform.char_before(to).map(|c| (c, 0));
        }
    }

    /// Writes `text` in place of the next `old_chars` characters.
    fn replace(&mut self, old_chars: usize, text: &str) {
        let new_chars = text.chars().count();
        for (i, c) in text.chars().enumerate() {
            self.push(c, (i >= new_chars.min(old_chars)) as isize);
        }
        if let Some((_, change)) = &mut self.last {
            *change -= old_chars.saturating_sub(new_chars) as isize;
        }
    }
}
