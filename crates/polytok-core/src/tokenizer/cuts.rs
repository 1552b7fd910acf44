//! Finds *cuts*: offsets at which a text can be encoded in two parts, whatever other text stands before and after.
//!
//! The ids of a text with a cut are the ids of the text before the cut, followed by the ids of the text after it. A
//! cut is proven from the two characters next to the offset and the two characters around them, so every text with
//! these four characters has a cut there. The proof follows the pipeline: no special token reaches over the offset
//! (special/joint.rs), normalization rewrites both sides independently (normalize/joint.rs), and then either the split
//! divides there in every text (split/joint.rs), or it never does and no vocabulary entry crosses the offset. Text
//! that no entry covers must not be joined over the offset either.
//!
//! A tokenizer that inserts or removes text at the start of a text does so at a cut too, if the text after the cut is
//! encoded alone. So that text is encoded together with the characters before the cut ([`Tokenizer::encode_from`]),
//! and the tokens of these characters are dropped.
//!
//! The ids of SentencePiece's Unigram depend on the rounding of a sum of scores from the start of the text. So a cut of
//! such a text has a [`CutState`]: the sum at the cut, with which the text after the cut is encoded.
//!
//! In a text with trusted runs, a special token can be recognized or not, and so can a user-defined piece, which the
//! guard (trust.rs) has as a code in trusted text and not at all in other text. A cut does not depend on the runs: no
//! special token of the vocabulary reaches over the offset, recognized or not, and the offset is proven for both the
//! tokenizer and its guard. The codes need no proof, because only the entries of pieces that the tokenizer's own proof
//! covers have them.
//!
//! No cut is claimed for patterns without an automaton, and for steps and models without a proof. Then a text can have
//! no cut at all.
//!
//! Cost: a table lookup for each offset between ASCII characters, after the first use of the pair; a proof for each
//! other offset.

use std::sync::atomic::{AtomicU8, Ordering};

use hashbrown::HashSet;
use polytok_memory::{self as memory, Collect};

use super::trusted::{NormalizedPart, TrustedRuns};
use super::{EncodeOptions, Tokenizer, Trusted};
use crate::boundary::Boundary;
use crate::boundary::neighbours::BytePairs;
use crate::error::Result;
use crate::model::CompiledModel;
use crate::model::unigram::Unigram;
use crate::normalize::joint::Joint;
use crate::normalize::origin::Place;
use crate::post::{Fallback, Out, Sink};
use crate::spec::{Kind, Symbols};
use crate::special::joint::SpecialJoint;
use crate::special::trusted::TrustedSet;
use crate::special::{SpecialSet, TextPart};
use crate::split::joint::Division;
use crate::trust::runs_of_part;
use crate::utf8::{is_continuation, only_char, valid};

/// What the ids after a cut depend on besides the text around the cut: SentencePiece's Unigram adds scores from the
/// start of the text. The state of the start of a text is the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct CutState {
    /// The sum of the scores before the cut; 0 for other models.
    sum: f32,
}

/// The largest number of bytes before and after a cut that its proof reads.
pub const CUT_WINDOW: usize = 8;

/// The values of the table of proofs.
const UNKNOWN: u8 = 0;
const IS_CUT: u8 = 1;
const IS_NO_CUT: u8 = 2;

/// The number of entries of the table of proofs: one for each pair of ASCII characters.
const PROOF_COUNT: usize = 128 * 128;

/// The tables for finding cuts.
pub(super) struct Cuts {
    /// The proofs of pairs of ASCII characters that have a usual ASCII character before and after them.
    proofs: Box<[AtomicU8]>,
    /// The pairs of bytes that are adjacent in user-defined pieces, which are matched before other entries.
    user_defined_pairs: BytePairs,
    /// The pairs of bytes that are adjacent in an entry, for models that match the longest entry or sum integers.
    entry_pairs: Option<BytePairs>,
    /// The pairs of characters that are adjacent in an entry, for SentencePiece's Unigram.
    entry_chars: Option<Boundary>,
    /// The characters that are entries, if adjacent unknown text is one token. After such a character, unknown text is
    /// a new token.
    known_chars: Option<HashSet<char>>,
    /// True if all usual characters around a joint have the same effect on proofs.
    usual_chars_are_alike: bool,
    /// True if the start of a text is normalized in another way.
    starts_differ: bool,
}

impl Cuts {
    pub fn new(tokenizer: &Tokenizer) -> Cuts {
        let vocab = &tokenizer.segmenter.vocab;
        let bytes = |row| vocab.bytes(row);
        let is_plain = |kind: Kind| matches!(kind, Kind::Normal | Kind::UserDefined);
        let model = &tokenizer.segmenter.model;
        let reads_bytes = matches!(model, CompiledModel::LongestMatch(_) | CompiledModel::Plamo2(_));
        let reads_chars = matches!(model, CompiledModel::Unigram(_));
        // WordPiece and WordLevel return the unknown entry themselves, once for each piece.
        let joins_unknown = !matches!(model, CompiledModel::WordPiece(_) | CompiledModel::WordLevel(_))
            && matches!(tokenizer.segmenter.fallback, Fallback::Unk(_));
        let known_chars = joins_unknown.then(|| {
            let [prefix, suffix] = if let CompiledModel::Bpe(bpe) = model { bpe.affixes() } else { [&[][..]; 2] };
            let entries: HashSet<&[u8]> = memory::set(vocab.rows().filter(|&row| is_plain(vocab.kind(row))).map(bytes));
            // The character is the last of a piece, and can be the only one.
            // A character of several bytes can be an entry that no merge of its bytes produces, and another entry can
            // end inside it.
            let has_parts_of_chars = matches!(model, CompiledModel::Bpe(bpe) if bpe.symbols() == Symbols::Bytes)
                || entries.iter().any(|entry| valid(entry).is_err());
            let is_symbol = |c: &char| !has_parts_of_chars || c.is_ascii();
            let chars = entries.iter().filter_map(|entry| only_char(entry.strip_suffix(suffix)?)).filter(is_symbol);
            let is_known = |c: &char| entries.contains(&[prefix, c.to_string().as_bytes(), suffix].concat()[..]);
            memory::set(chars.filter(is_known))
        });
        Cuts {
            proofs: (0..PROOF_COUNT).map(|_| AtomicU8::new(UNKNOWN)).checked_collect().into(),
            user_defined_pairs: BytePairs::from_entries(vocab.rows_of(Kind::UserDefined).map(bytes)),
            entry_pairs: reads_bytes.then(|| BytePairs::from_entries(vocab.rows().map(bytes))),
            entry_chars: reads_chars.then(|| Boundary::new(vocab.rows().map(bytes), Symbols::Chars)),
            known_chars,
            usual_chars_are_alike: tokenizer.normalizer.keeps_plain((0..128u8).map(char::from).filter(is_usual)),
            starts_differ: tokenizer.normalizer.changes_starts() || tokenizer.segmenter.splits.changes_starts(),
        }
    }
}

/// The characters around an offset.
#[derive(Clone, Copy)]
struct CutChars {
    /// The character before `left`; None at the start of the text.
    before: Option<char>,
    left: char,
    right: char,
    after: char,
}

impl CutChars {
    /// Reads the characters around an offset; None if the offset is not between two characters or there is no character
    /// after the second.
    fn read(text: &[u8], at: usize) -> Option<CutChars> {
        let left = char_before(text, at)?;
        let right = char_at(text, at)?;
        let after = char_at(text, at + right.len_utf8())?;
        let left_start = at - left.len_utf8();
        let before = if left_start == 0 { None } else { Some(char_before(text, left_start)?) };
        Some(CutChars { before, left, right, after })
    }

    fn joint(self) -> Joint {
        let before = self.before.map(String::from).unwrap_or_default();
        Joint { before: Some(before), left: self.left.into(), right: self.right.into(), after: Some(self.after.into()) }
    }

    /// Returns the index of the proof in the table. None if the characters next to the offset are not ASCII, or the
    /// characters around them are not usual.
    fn proof_index(self) -> Option<usize> {
        let is_in_table = self.left.is_ascii() && self.right.is_ascii();
        let are_usual = self.before.is_none_or(|before| is_usual(&before)) && is_usual(&self.after);
        (is_in_table && are_usual).then_some((self.left as usize) << 7 | self.right as usize)
    }
}

/// Reports whether a character is one of those that stand around most cuts: an ASCII letter or digit, or a space.
fn is_usual(c: &char) -> bool {
    c.is_ascii_alphanumeric() || *c == ' '
}

/// Returns the character that ends at `at`; None if there is none.
fn char_before(text: &[u8], at: usize) -> Option<char> {
    let start = (at.saturating_sub(4)..at).rev().find(|&start| !is_continuation(text[start]))?;
    only_char(&text[start..at])
}

/// Returns the character that starts at `at`; None if there is none, or if it is not complete.
fn char_at(text: &[u8], at: usize) -> Option<char> {
    let lead = *text.get(at)?;
    if lead < 0x80 {
        return Some(lead as char);
    }
    only_char(text.get(at..at + crate::utf8::lead_len(lead))?)
}

/// Reports whether no entry has the two characters of a joint as neighbours.
fn has_boundary(boundary: &Boundary, joint: &Joint) -> bool {
    let text = format!("{}{}", joint.left, joint.right);
    let last_start = joint.left.len() - joint.left_char().map_or(0, char::len_utf8);
    boundary.next_boundary(text.as_bytes(), (last_start, text.len())) == joint.left.len()
}

impl Tokenizer {
    /// Returns the last cut in `text[start..=end]`; None if no cut is proven there. The text can be the start of a
    /// longer text: no cut depends on what follows. Text before `end` and `CUT_WINDOW` bytes after it must be UTF-8,
    /// except that the text can end inside a character. If `has_state` is true, also returns cuts whose state the
    /// caller passes to `encode_from`.
    pub fn safe_cut(
        &self,
        text: &[u8],
        start: usize,
        end: usize,
        has_state: bool,
        options: EncodeOptions,
    ) -> Option<usize> {
        if !has_state && matches!(self.segmenter.model, CompiledModel::Unigram(_)) {
            return None;
        }
        (start.max(1)..=end.min(text.len())).rev().find(|&at| self.is_cut(text, at, options))
    }

    /// Reports whether an offset of a text is proven to be a cut.
    fn is_cut(&self, text: &[u8], at: usize, options: EncodeOptions) -> bool {
        let Some(chars) = CutChars::read(text, at) else { return false };
        let guard = self.guard_of(options);
        self.pipeline_divides(chars)
            && guard.is_none_or(|guard| guard.pipeline_divides(chars))
            && self.specials_divide(chars, options)
    }

    /// Returns the guard's tokenizer if a text with these options is encoded with it.
    fn guard_of(&self, options: EncodeOptions) -> Option<&Tokenizer> {
        options.trusted.filter(|trusted| !trusted.is_whole)?;
        self.guard_tokenizer().flatten()
    }

    /// Returns the start of the context with which the text after a cut is encoded by [`Self::encode_from`].
    pub fn context_start(&self, text: &[u8], cut: usize) -> usize {
        let is_needed = cut > 0 && self.cuts().starts_differ;
        if is_needed { cut - char_before(text, cut).map_or(0, char::len_utf8) } else { cut }
    }

    /// Appends the ids of the text after `cut`, without the template. The text starts with the context of the cut, and
    /// `state` is the state of the cut, which becomes the state of the end of the text.
    pub fn encode_from(
        &self,
        text: &[u8],
        cut: usize,
        state: &mut CutState,
        options: EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        memory::catch(|| {
            let engine = self.guard_of(options).unwrap_or(self);
            if let CompiledModel::Unigram(unigram) = &engine.segmenter.model {
                let ids_before = ids.len();
                let result = self.encode_unigram_from((engine, unigram), text, cut, state, options, ids);
                if result.is_err() {
                    ids.truncate(ids_before);
                }
                return result;
            }
            let options = EncodeOptions { add_special: false, ..options };
            let from = ids.len();
            self.encode(text, options, ids)?;
            if cut > 0 {
                let context_runs = options.trusted.map(|trusted| runs_of_part(trusted.runs, 0, cut as u32));
                let part_of = |(trusted, runs): (Trusted, _)| Trusted { runs, is_whole: trusted.is_whole };
                let trusted = options.trusted.zip(context_runs.as_deref()).map(part_of);
                let context_count = self.count(&text[..cut], EncodeOptions { trusted, ..options })?;
                ids.drain(from..from + context_count);
            }
            Ok(())
        })
    }

    /// Implements `encode_from` for SentencePiece's Unigram: `engine` is this tokenizer or its guard. Each special token
    /// starts a new sum.
    fn encode_unigram_from(
        &self,
        (engine, unigram): (&Tokenizer, &Unigram),
        text: &[u8],
        cut: usize,
        state: &mut CutState,
        options: EncodeOptions,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        options.check(text)?;
        let context_len = if cut == 0 { 0 } else { engine.normalized(&text[..cut])?.len() };
        let runs = match options.trusted {
            Some(trusted) => Some(TrustedRuns::new(self, trusted.runs)?),
            None => None,
        };
        let partly_trusted = runs.filter(|_| options.trusted.is_some_and(|trusted| !trusted.is_whole));
        let set = self.recognized(options);
        let normalized_set = set.filter(|set| partly_trusted.is_none() && set.has_normalized());
        let mut sum = state.sum;
        let mut out = Out::new(&engine.segmenter.fallback, ids);
        let mut encode_normalized = |text: &[u8], part| {
            match part {
                TextPart::Special(id, start, end) => {
                    out.sink.push_special(id, &text[start..end], start as u32, end as u32);
                    sum = 0.0;
                }
                TextPart::Text(start, end) => {
                    let part = &text[start..end];
                    out.begin_part(Place::unchanged_at(0));
                    let mut emit = |segment| out.write_segment(part, 0, segment);
                    sum = engine.with_scratch(|scratch| {
                        unigram.segment_from(part, sum, &mut scratch.segmenter.model.unigram, &mut emit)
                    })?;
                }
            }
            Ok(())
        };
        let mut encode_part = |part| {
            let TextPart::Text(start, end) = part else { return encode_normalized(text, part) };
            let (part, skipped) = (&text[start..end], if start == 0 { context_len } else { 0 });
            if let Some(trusted) = partly_trusted
                && let Some(NormalizedPart { text, runs, .. }) = trusted.normalized(engine, part, start)?
            {
                let (text, runs) = (&text[skipped..], runs_of_part(&runs, skipped as u32, u32::MAX));
                return trusted.set.split_normalized(text, &runs, |part| encode_normalized(text, part));
            }
            let text = &engine.normalized(part)?[skipped..];
            match normalized_set {
                Some(set) => set.split_normalized(text, |part| encode_normalized(text, part)),
                None => encode_normalized(text, TextPart::Text(0, text.len())),
            }
        };
        match (runs, set) {
            (Some(runs), _) if partly_trusted.is_some() => runs.set.split(text, runs.runs, encode_part)?,
            (_, Some(set)) => set.split(text, encode_part)?,
            _ if text.is_empty() => {}
            _ => encode_part(TextPart::Text(0, text.len()))?,
        }
        state.sum = sum;
        Ok(())
    }

    /// Returns the special tokens that are recognized in a text; in a text with trusted runs, in these runs.
    fn recognized<'a>(&'a self, options: EncodeOptions<'a>) -> Option<&'a SpecialSet> {
        match options.trusted {
            Some(_) => self.trusted_set().ok().and_then(TrustedSet::all),
            None => options.special.or(self.specials().always()),
        }
    }

    fn cuts(&self) -> &Cuts {
        self.cuts.get(|| Cuts::new(self))
    }

    /// Reports whether normalization, split and model treat the two sides independently, without special tokens.
    fn pipeline_divides(&self, chars: CutChars) -> bool {
        let cuts = self.cuts();
        let Some(index) = chars.proof_index().filter(|_| cuts.usual_chars_are_alike) else { return self.prove(chars) };
        let proof = &cuts.proofs[index];
        match proof.load(Ordering::Relaxed) {
            UNKNOWN => {
                let is_cut = self.prove(chars);
                proof.store(if is_cut { IS_CUT } else { IS_NO_CUT }, Ordering::Relaxed);
                is_cut
            }
            known => known == IS_CUT,
        }
    }

    fn prove(&self, chars: CutChars) -> bool {
        let cuts = self.cuts();
        let mut joint = chars.joint();
        if cuts.joins_user_defined(&joint.left, &joint.right) || !self.normalizer.rewrite_joint(&mut joint) {
            return false;
        }
        if cuts.joins_user_defined(&joint.left, &joint.right) {
            return false;
        }
        let Some(division) = self.segmenter.splits.division(&mut joint) else { return false };
        let is_left_known =
            cuts.known_chars.as_ref().is_none_or(|known| joint.left_char().is_some_and(|left| known.contains(&left)));
        is_left_known && (division == Division::Always || self.is_boundary(&joint))
    }

    /// Reports whether no entry crosses the offset of a joint, and the model treats the text on both sides
    /// independently.
    fn is_boundary(&self, joint: &Joint) -> bool {
        let cuts = self.cuts();
        match &self.segmenter.model {
            CompiledModel::Bpe(bpe) if bpe.encodes_entries_whole() => false,
            CompiledModel::Bpe(_) => {
                self.segmenter.boundary.as_ref().is_some_and(|boundary| has_boundary(boundary, joint))
            }
            CompiledModel::Unigram(_) => {
                cuts.entry_chars.as_ref().is_some_and(|boundary| has_boundary(boundary, joint))
            }
            CompiledModel::LongestMatch(_) | CompiledModel::Plamo2(_) => {
                let (left, right) = (joint.left.as_bytes().last(), joint.right.as_bytes().first());
                let are_apart = |pairs: &BytePairs| Some(!pairs.has(*left?, *right?));
                cuts.entry_pairs.as_ref().and_then(are_apart).unwrap_or(false)
            }
            _ => false,
        }
    }

    /// Reports whether no special token reaches over the offset.
    fn specials_divide(&self, chars: CutChars, options: EncodeOptions) -> bool {
        let recognized = self.recognized(options);
        let CutChars { left, right, .. } = chars;
        let joint = SpecialJoint { left, right, starts_differ: self.cuts().starts_differ };
        let is_independent = |set: &SpecialSet| set.is_independent(joint);
        let are_independent = match options.trusted {
            Some(_) => self.trusted_set().is_ok_and(|set| set.is_independent(joint)),
            None => options.reject.is_none_or(is_independent) && recognized.is_none_or(is_independent),
        };
        if !are_independent {
            return false;
        }
        let Some(set) = recognized.filter(|set| set.has_normalized()) else { return true };
        let mut normalized = chars.joint();
        self.normalizer.rewrite_joint(&mut normalized)
            && normalized.left_char().zip(normalized.right_char()).is_some_and(|(left, right)| {
                set.is_independent_in_normalized(SpecialJoint { left, right, starts_differ: joint.starts_differ })
            })
    }
}

impl Cuts {
    /// Reports whether a user-defined piece can contain the end of `left` and the start of `right`.
    fn joins_user_defined(&self, left: &str, right: &str) -> bool {
        match (left.as_bytes().last(), right.as_bytes().first()) {
            (Some(&left), Some(&right)) => self.user_defined_pairs.has(left, right),
            _ => true,
        }
    }
}
