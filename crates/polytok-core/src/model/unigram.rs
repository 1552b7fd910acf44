//! Unigram: the segmentation of the text into pieces whose scores have the largest sum.
//!
//! Reference: SentencePiece's `EncodeOptimized`, bit by bit. Positions are walked character by character (lead-byte
//! rule); for each end only the best way to get there is kept. 0.2.1 adds a piece's score and the score so far in
//! double precision and compares that with the rounded float of the best so far; 0.2.3 does all of it in single
//! precision and brings the scores back to 0 whenever they pass 100,000 in absolute value. Of equal sums the first
//! one tried stays, which is the one whose last piece is longest.
//!
//! Invariant: when a position is reached, its state is final. Every character's end is reached, because a character
//! that is no piece by itself is offered as unknown, ten points below the lowest score.
//!
//! Cost: one trie walk per character, so the text's length times the longest piece. Worst input: a text of which every
//! stretch is a piece. Memory: 12 bytes per byte of text.

use crate::error::{Error, Result};
use crate::model::{Segment, UNKNOWN};
use crate::spec::{Kind, Line};
use crate::trie::{NONE, ROOT, Trie};
use crate::utf8::{char_len, lead_len};
use crate::vocab::Vocab;

/// How far below the lowest score an unknown character is.
const UNKNOWN_PENALTY: f32 = 10.0;

/// 0.2.3 rebases scores beyond this.
const REBASE_BEYOND: f32 = 100_000.0;

/// Scratch of longer texts than this is given back after the call.
const KEPT_STATES: usize = 1 << 20;

/// A compiled Unigram model.
pub struct Unigram {
    /// Piece to index into the columns below; unused pieces are not in it.
    pub(super) trie: Trie,
    pub(super) ids: Vec<u32>,
    /// The columns of the lattice: score, and length in characters.
    pub(super) lattice_scores: Vec<f32>,
    pub(super) char_lens: Vec<u32>,
    pub(super) unknown_score: f32,
    pub(super) line: Line,
    best_path: BestPathScores,
}

/// Scores as `segment` adds them, in the precision of the line.
enum BestPathScores {
    Double(Vec<f64>),
    Single(Vec<f32>),
}

/// The best way to reach a position.
#[derive(Clone, Copy)]
struct State {
    score: f32,
    /// Where its last piece starts; `NONE` while no way is known. After the search: where the next piece ends.
    link: u32,
    /// Its last piece as an index into the columns, or `UNKNOWN`.
    entry: u32,
}

const UNREACHED: State = State { score: 0.0, link: NONE, entry: UNKNOWN };

/// Memory that calls share; one per thread.
#[derive(Default)]
pub struct UnigramScratch {
    states: Vec<State>,
}

impl Unigram {
    /// Compiles the pieces of kind Normal, UserDefined and Unused.
    pub fn compile(vocab: &Vocab, line: Line) -> Result<Unigram> {
        let rows = dictionary_rows(vocab, line)?;
        let (min_score, max_score) = score_range(vocab);
        let used: Vec<usize> = rows.into_iter().filter(|&row| vocab.active_kind(row) != Kind::Unused).collect();
        let columns = Columns { vocab, rows: &used, line, max_score };
        Ok(Unigram {
            trie: Trie::build(used.iter().map(|&row| vocab.bytes(row)).zip(0..)),
            ids: used.iter().map(|&row| vocab.id(row)).collect(),
            lattice_scores: columns.lattice_scores(),
            char_lens: used.iter().map(|&row| char_count(vocab.bytes(row))).collect(),
            unknown_score: min_score - UNKNOWN_PENALTY,
            line,
            best_path: columns.best_path_scores(),
        })
    }

    /// Segments `norm`, left to right. `norm` must be shorter than 4 GiB.
    pub fn segment(&self, norm: &[u8], scratch: &mut UnigramScratch, mut emit: impl FnMut(Segment)) {
        let states = &mut scratch.states;
        states.clear();
        states.resize(norm.len() + 1, UNREACHED);
        match &self.best_path {
            BestPathScores::Double(scores) => self.search(norm, states, scores),
            BestPathScores::Single(scores) => self.search(norm, states, scores),
        }
        reverse_links(states);
        let mut start = 0;
        while start < norm.len() {
            let end = states[start].link as usize;
            let entry = states[end].entry;
            let id = if entry == UNKNOWN { UNKNOWN } else { self.ids[entry as usize] };
            emit(Segment { id, start: start as u32, end: end as u32 });
            start = end;
        }
        if states.capacity() > KEPT_STATES {
            *states = Vec::new();
        }
    }

    fn search<S: Score>(&self, norm: &[u8], states: &mut [State], scores: &[S]) {
        let mut frontier = 0;
        let mut start = 0;
        while start < norm.len() {
            let mut here = states[start].score;
            if S::REBASES && here.abs() > REBASE_BEYOND {
                rebase(&mut states[start..=frontier], here);
                here = 0.0;
            }
            let char_end = start + char_len(&norm[start..]);
            let mut single = false;
            let mut node = ROOT;
            for end in start + 1..=norm.len() {
                node = self.trie.child(node, norm[end - 1]);
                if node == NONE {
                    break;
                }
                let entry = self.trie.value(node);
                if entry != NONE {
                    frontier = frontier.max(end);
                    single |= end == char_end;
                    let sum = scores[entry as usize].plus(here);
                    let state = &mut states[end];
                    if state.link == NONE || S::beats(sum, state.score) {
                        *state = State { score: S::round(sum), link: start as u32, entry };
                    }
                }
            }
            if !single {
                frontier = frontier.max(char_end);
                let sum = self.unknown_score + here;
                let state = &mut states[char_end];
                if state.link == NONE || sum > state.score {
                    *state = State { score: sum, link: start as u32, entry: UNKNOWN };
                }
            }
            start = char_end;
        }
    }
}

/// A line's arithmetic of scores.
trait Score: Copy {
    const REBASES: bool;
    fn plus(self, here: f32) -> Self;
    fn beats(sum: Self, best: f32) -> bool;
    fn round(sum: Self) -> f32;
}

impl Score for f64 {
    const REBASES: bool = false;

    #[inline]
    fn plus(self, here: f32) -> f64 {
        self + here as f64
    }

    #[inline]
    fn beats(sum: f64, best: f32) -> bool {
        sum > best as f64
    }

    #[inline]
    fn round(sum: f64) -> f32 {
        sum as f32
    }
}

impl Score for f32 {
    const REBASES: bool = true;

    #[inline]
    fn plus(self, here: f32) -> f32 {
        self + here
    }

    #[inline]
    fn beats(sum: f32, best: f32) -> bool {
        sum > best
    }

    #[inline]
    fn round(sum: f32) -> f32 {
        sum
    }
}

/// Subtracts `here` from the first state and from all others that are reached.
#[cold]
fn rebase(states: &mut [State], here: f32) {
    for (i, state) in states.iter_mut().enumerate() {
        if i == 0 || state.link != NONE {
            state.score -= here;
        }
    }
}

/// Turns the links of the best path around: from each piece's start to its end.
fn reverse_links(states: &mut [State]) {
    let mut end = states.len() - 1;
    let mut link = states[end].link;
    while end > 0 {
        let start = link as usize;
        link = std::mem::replace(&mut states[start].link, end as u32);
        end = start;
    }
}

/// The rows that text can become, checked; reference: `InitializePieces` and `BuildTrie`.
fn dictionary_rows(vocab: &Vocab, line: Line) -> Result<Vec<usize>> {
    let bad = |row: usize, what: &str| {
        let piece = String::from_utf8_lossy(vocab.bytes(row)).into_owned();
        Err(Error::Spec(format!("vocab: the piece {piece:?} with id {} {what}", vocab.id(row))))
    };
    let in_dictionary = |&row: &usize| matches!(vocab.kind(row), Kind::Normal | Kind::UserDefined | Kind::Unused);
    let mut rows: Vec<usize> = (0..vocab.len()).filter(in_dictionary).collect();
    if line == Line::V0_2_3 {
        if let Some(row) = (0..vocab.len()).find(|&row| !vocab.score(row).is_finite()) {
            return bad(row, "has a score that is not finite");
        }
        // 0.2.3 passes over it: old models with byte fallback have it.
        rows.retain(|&row| !(vocab.bytes(row) == b"\0" && vocab.kind(row) == Kind::Unused));
    }
    for &row in &rows {
        match vocab.bytes(row) {
            [] => return bad(row, "is empty"),
            piece if piece.contains(&0) => return bad(row, "contains NUL"),
            _ => {}
        }
    }
    if rows.is_empty() {
        return Err(Error::Spec("vocab: a Unigram model needs a normal, user-defined or unused piece".into()));
    }
    rows.sort_by_key(|&row| vocab.bytes(row));
    if let Some(pair) = rows.windows(2).find(|pair| vocab.bytes(pair[0]) == vocab.bytes(pair[1])) {
        return bad(pair[1], &format!("is already defined as id {}", vocab.id(pair[0])));
    }
    Ok(rows)
}

/// The lowest and highest score of the normal pieces. The highest starts from the smallest positive float, so with
/// log probabilities it is about 0: the reference's habit, kept because user-defined pieces of 0.2.1 are scored by it.
fn score_range(vocab: &Vocab) -> (f32, f32) {
    let normal = (0..vocab.len()).filter(|&row| vocab.kind(row) == Kind::Normal).map(|row| vocab.score(row));
    normal.fold((f32::MAX, f32::MIN_POSITIVE), |(min, max), score| (min.min(score), max.max(score)))
}

/// Characters by the lead-byte rule; a piece that ends inside of one counts it whole.
fn char_count(piece: &[u8]) -> u32 {
    let (mut at, mut chars) = (0, 0);
    while at < piece.len() {
        at += lead_len(piece[at]);
        chars += 1;
    }
    chars
}

struct Columns<'a> {
    vocab: &'a Vocab,
    rows: &'a [usize],
    line: Line,
    max_score: f32,
}

impl Columns<'_> {
    /// The score of each row, in double precision because 0.2.1's user-defined pieces have it. The best path measures
    /// those in bytes, the lattice in characters.
    fn scores(&self, user_defined_len: impl Fn(&[u8]) -> u32) -> impl Iterator<Item = f64> {
        self.rows.iter().map(move |&row| {
            if self.vocab.active_kind(row) != Kind::UserDefined {
                return self.vocab.score(row) as f64;
            }
            let len = user_defined_len(self.vocab.bytes(row));
            match self.line {
                Line::V0_2_1 => (len as f32 * self.max_score) as f64 - 0.1,
                Line::V0_2_3 => 0.1 * (len - 1) as f64,
            }
        })
    }

    fn lattice_scores(&self) -> Vec<f32> {
        self.scores(char_count).map(|score| score as f32).collect()
    }

    fn best_path_scores(&self) -> BestPathScores {
        let scores = self.scores(|piece| piece.len() as u32);
        match self.line {
            Line::V0_2_1 => BestPathScores::Double(scores.collect()),
            Line::V0_2_3 => BestPathScores::Single(scores.map(|score| score as f32).collect()),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::spec::VocabColumns;
    use proptest::prelude::*;

    /// A vocabulary of `(piece, score, kind)` after `<unk>` with id 0.
    pub(crate) fn vocab(pieces: &[(&str, f32, Kind)]) -> Vocab {
        let mut columns = VocabColumns { offsets: vec![0], ..Default::default() };
        for (id, (piece, score, kind)) in [("<unk>", 0.0, Kind::Unknown)].iter().chain(pieces).enumerate() {
            columns.blob.extend_from_slice(piece.as_bytes());
            columns.offsets.push(columns.blob.len() as u32);
            columns.ids.push(id as u32);
            columns.scores.push(*score);
            columns.kinds.push(*kind);
        }
        Vocab::new(columns).unwrap()
    }

    /// A model from words of the form `piece:score`, `piece:ud` or `piece:unused` (which has score -1).
    pub(crate) fn model(pieces: &str, line: Line) -> Unigram {
        let parse = |word: &'static str| {
            let (piece, score) = word.split_once(':').unwrap();
            match score {
                "ud" => (piece, 0.0, Kind::UserDefined),
                "unused" => (piece, -1.0, Kind::Unused),
                score => (piece, score.parse().unwrap(), Kind::Normal),
            }
        };
        let leaked: &'static str = pieces.to_string().leak();
        Unigram::compile(&vocab(&leaked.split(' ').map(parse).collect::<Vec<_>>()), line).unwrap()
    }

    pub(crate) fn segments(model: &Unigram, text: &str) -> Vec<Segment> {
        let mut segments = Vec::new();
        model.segment(text.as_bytes(), &mut UnigramScratch::default(), |segment| segments.push(segment));
        segments
    }

    /// The pieces with spaces between, unknown ones in brackets.
    pub(crate) fn show(text: &str, segments: &[Segment]) -> String {
        let shown = segments.iter().map(|segment| {
            let piece = String::from_utf8_lossy(&text.as_bytes()[segment.start as usize..segment.end as usize]);
            if segment.id == UNKNOWN { format!("[{piece}]") } else { piece.into_owned() }
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn best(pieces: &str, text: &str, line: Line) -> String {
        show(text, &segments(&model(pieces, line), text))
    }

    #[test]
    fn lines_round_differently() {
        let rows = [
            (
                "a:-9.8318 b:-6.9855 c:-7.183 ab:-16.817302703857422 bc:-14.168499946594238 abc:-24.000303268432617",
                ["a b c", "a bc"],
            ),
            (
                "a:-4.1108 b:-10.7066 c:-8.7851 abc:-23.602500915527344 bc:-19.491701126098633 ab:-14.817399978637695",
                ["ab c", "abc"],
            ),
            (
                "a:-13.9298 b:-7.1811 c:-13.8419 ab:-21.11090087890625 bc:-21.023000717163086 abc:-34.95280456542969",
                ["a bc", "a bc"],
            ),
        ];
        for (pieces, [classic, modern]) in rows {
            assert_eq!(best(pieces, "abc", Line::V0_2_1), classic);
            assert_eq!(best(pieces, "abc", Line::V0_2_3), modern);
        }
    }

    #[test]
    fn ties_unknowns_and_user_defined_pieces() {
        let rows = [
            ("a:-1 aa:-2 aaa:-3", "aaa", "aaa"),
            ("a:-1 b:-1 c:-1 d:-8 abcd:-2 abc:ud", "abcd", "abcd"),
            ("a:-1 b:-1 c:-1 d:-1 ab:ud bcd:ud", "abcd", "a bcd"),
            ("a:-1 b:-1 c:-1", "xyza", "[x] [y] [z] a"),
            ("b:-1 c:-2", "bac", "b [a] c"),
            ("a:unused b:-1 ab:-1", "a", "[a]"),
            ("a:-1 é:-1", "aé日\u{1F600}", "a é [日] [\u{1F600}]"),
            ("a:-1", "", ""),
        ];
        for (pieces, text, expected) in rows {
            for line in [Line::V0_2_1, Line::V0_2_3] {
                assert_eq!(best(pieces, text, line), expected, "{pieces}");
            }
        }
        assert_eq!(best("a:-1 b:2 ab:ud", "ab", Line::V0_2_1), "ab");
        assert_eq!(best("a:-1 b:2 ab:ud", "ab", Line::V0_2_3), "a b");
    }

    #[test]
    fn long_texts_are_rebased_and_scratch_is_given_back() {
        let text = "ab".repeat(600_000);
        for line in [Line::V0_2_1, Line::V0_2_3] {
            let (mut scratch, mut count) = (UnigramScratch::default(), 0);
            model("a:-3.3 b:-5.1 ab:-8.5", line).segment(text.as_bytes(), &mut scratch, |_| count += 1);
            assert!(count >= 600_000 && scratch.states.capacity() == 0, "{count}");
        }
        // Around 60 million, single precision has steps of 4: without rebasing, small differences are lost.
        let (pieces, text) = ("a:-30000 b:-0.4 c:-0.4 bc:-1.5", "abc".repeat(2000));
        assert!(best(pieces, &text, Line::V0_2_1).ends_with("a bc"));
        assert!(best(pieces, &text, Line::V0_2_3).ends_with("a b c"));
    }

    #[test]
    fn vocabularies_are_checked() {
        let refused = |pieces: &[(&str, f32, Kind)], line| Unigram::compile(&vocab(pieces), line).is_err();
        let a = ("a", -1.0, Kind::Normal);
        for line in [Line::V0_2_1, Line::V0_2_3] {
            assert!(refused(&[("<s>", 0.0, Kind::Control)], line));
            assert!(refused(&[a, a], line));
            assert!(refused(&[a, ("", -1.0, Kind::Normal)], line));
            assert!(refused(&[a, ("a\0", -1.0, Kind::Normal)], line));
            assert!(!refused(&[a, ("a", 0.0, Kind::Control)], line));
        }
        assert!(refused(&[a, ("b", f32::NAN, Kind::Control)], Line::V0_2_3));
        assert!(!refused(&[a, ("b", f32::NAN, Kind::Control)], Line::V0_2_1));
        assert!(!refused(&[a, ("\0", 0.0, Kind::Unused)], Line::V0_2_3));
    }

    #[test]
    fn restriction_hides_pieces_but_keeps_scores() {
        let mut columns = VocabColumns { offsets: vec![0, 1, 3], ..Default::default() };
        columns.blob = b"aab".to_vec();
        columns.ids = vec![5, 6];
        columns.scores = vec![-1.0, -50.0];
        columns.kinds = vec![Kind::Normal; 2];
        columns.active_kinds = Some(vec![Kind::Normal, Kind::Unused]);
        let model = Unigram::compile(&Vocab::new(columns).unwrap(), Line::V0_2_1).unwrap();
        assert_eq!(model.unknown_score, -60.0);
        assert_eq!(show("ab", &segments(&model, "ab")), "a [b]");
    }

    proptest! {
        /// Scores that are whole numbers are exact in both lines, so the best sum of all segmentations is reached.
        #[test]
        fn no_segmentation_is_better(scores in proptest::collection::btree_map("[ab]{1,3}", -9i32..0, 2..8),
                                     text in "[abc]{1,7}") {
            let score = |piece: &str| match scores.get(piece) {
                Some(&score) => Some(score),
                None if piece.len() == 1 => Some(scores.values().min().unwrap() - 10),
                None => None,
            };
            let mut sums = vec![0];
            for end in 1..=text.len() {
                let ways = (0..end).filter_map(|start| Some(sums[start] + score(&text[start..end])?));
                sums.push(ways.max().unwrap());
            }
            let words: Vec<String> = scores.iter().map(|(piece, score)| format!("{piece}:{score}")).collect();
            for line in [Line::V0_2_1, Line::V0_2_3] {
                let found = segments(&model(&words.join(" "), line), &text);
                let sum: i32 = found.iter().map(|s| score(&text[s.start as usize..s.end as usize]).unwrap()).sum();
                prop_assert_eq!(sum, sums[text.len()]);
            }
        }
    }
}
