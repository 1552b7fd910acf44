//! The general engine, which is `fancy_regex`: runs the patterns outside the scanner's family.
//!
//! Reference: tiktoken, which loops over `find_iter` of the same crate with its default limits. The loop here finds the
//! same matches. The loop returns an error in a case in which `find_iter` does not end: a `\K` in a look-behind can
//! start a match before the end of the preceding match.
//!
//! Cost: the engine backtracks, and stops after a million steps back. A search without a match reaches this limit
//! within some 300 KB of text, even for a simple pattern. So a search that reaches the limit is repeated with one
//! attempt for each character, up to the end of the text. Each attempt has a limit of `MAX_EASY_STEPS_BACK` steps back,
//! except for `MAX_HARD_ATTEMPTS` attempts, which have a limit of a million. So a distant next match causes no error,
//! and a pattern that is hard at most offsets still fails soon.

use std::sync::OnceLock;

use fancy_regex::{Error as RegexError, RegexBuilder, RegexInput, RuntimeError};

use crate::error::{Error, Result};

/// The maximum number of instructions of a compiled pattern; without a limit, calls of groups inside groups could
/// multiply the instructions.
const MAX_INSTRUCTIONS: usize = 1 << 16;

/// The maximum number of steps back in one search: the default of fancy_regex, which tiktoken uses.
const MAX_STEPS_BACK: usize = 1_000_000;

/// The maximum number of steps back in an easy attempt.
const MAX_EASY_STEPS_BACK: usize = 1024;

/// The maximum number of hard attempts in one search.
const MAX_HARD_ATTEMPTS: usize = 100;

/// A pattern compiled for the general engine.
pub(super) struct Regex {
    regex: fancy_regex::Regex,
    /// The pattern with the limit of easy attempts, compiled at the first use.
    easy_regex: OnceLock<fancy_regex::Regex>,
}

/// The start and the end of a match, or None.
type SearchResult = fancy_regex::Result<Option<(usize, usize)>>;

/// The state of a search in a text.
#[derive(Default)]
pub(super) struct Search {
    /// The offset at which the next search begins.
    at: usize,
    /// The end of the last match.
    last_end: Option<usize>,
    /// True if a character was skipped after an empty match, so that `\G` does not match at `at`.
    is_past_empty: bool,
}

impl Regex {
    /// Compiles a pattern.
    pub(super) fn compile(pattern: &str) -> Result<Regex> {
        match build(pattern, MAX_STEPS_BACK) {
            Ok(regex) => Ok(Regex { regex, easy_regex: OnceLock::new() }),
            Err(error) => Err(Error::Pattern(format!(
                "the split pattern {pattern:?} cannot be compiled: {error}; write it in the syntax of fancy_regex"
            ))),
        }
    }

    /// Calls `piece(start, end)` for each match, left to right.
    pub(super) fn split(&self, text: &str, piece: &mut dyn FnMut(usize, usize)) -> Result<()> {
        let mut search = Search::default();
        while let Some((start, end)) = self.next(text, &mut search)? {
            piece(start, end);
        }
        Ok(())
    }

    /// Writes the next matches that are not empty to `pieces` and returns the number of matches written; 0 after the
    /// last match.
    pub(super) fn fill(&self, text: &str, search: &mut Search, pieces: &mut [(u32, u32)]) -> Result<usize> {
        let mut count = 0;
        while count < pieces.len()
            && let Some((start, end)) = self.next(text, search)?
        {
            pieces[count] = (start as u32, end as u32);
            count += (start < end) as usize;
        }
        Ok(count)
    }

    /// Finds the next match. An empty match at the end of the last match does not count.
    fn next(&self, text: &str, search: &mut Search) -> Result<Option<(usize, usize)>> {
        while search.at <= text.len() {
            let Some((start, end)) = self.find(text, search)? else { break };
            let last_end = search.last_end.unwrap_or(0);
            if start < last_end || end < search.at {
                return Err(self.overlapping_match_error(start, last_end));
            }
            search.is_past_empty = start == end && end == search.at;
            search.at = if start == end { next_char_end(text, end) } else { end };
            if start < end || search.last_end != Some(end) {
                search.last_end = Some(end);
                return Ok(Some((start, end)));
            }
        }
        search.at = text.len() + 1;
        Ok(None)
    }

    /// Finds the first match at or after `search.at`.
    fn find(&self, text: &str, search: &Search) -> Result<Option<(usize, usize)>> {
        let input = RegexInput::new(text).from_pos(search.at).continue_from_previous_match_end(!search.is_past_empty);
        match find(&self.regex, input) {
            Err(error) if is_limit_error(&error) => self.find_by_attempts(text, search),
            found => found.map_err(|error| self.too_many_steps_error(search.at, &error)),
        }
    }

    /// Returns the regex with the limit of easy attempts. It is built outside of the lock, so that no thread waits for
    /// another, and a process that forks meanwhile does not wait forever.
    fn easy_regex(&self) -> &fancy_regex::Regex {
        self.easy_regex.get().unwrap_or_else(|| {
            let built = build(self.regex.as_str(), MAX_EASY_STEPS_BACK).unwrap_or_else(|_| self.regex.clone());
            self.easy_regex.get_or_init(|| built)
        })
    }

    /// Finds the same match as an unlimited search by an attempt at each character, with the limits of attempts.
    fn find_by_attempts(&self, text: &str, search: &Search) -> Result<Option<(usize, usize)>> {
        let easy = self.easy_regex();
        let (mut at, mut hard_attempts) = (search.at, 0);
        while at <= text.len() {
            let is_first = at == search.at && !search.is_past_empty;
            let input = RegexInput::new(text).from_pos(at).anchored(true).continue_from_previous_match_end(is_first);
            let mut found = find(easy, input.clone());
            if hard_attempts < MAX_HARD_ATTEMPTS && found.as_ref().is_err_and(is_limit_error) {
                hard_attempts += 1;
                found = find(&self.regex, input);
            }
            match found.map_err(|error| self.too_many_steps_error(at, &error))? {
                None => at = next_char_end(text, at),
                found => return Ok(found),
            }
        }
        Ok(None)
    }

    fn too_many_steps_error(&self, at: usize, error: &fancy_regex::Error) -> Error {
        Error::Search(format!(
            "the pattern {:?} needs too many steps in the text at byte {at}: {error}; split the text into shorter ones, or use a pattern \
             that backtracks less",
            self.regex.as_str()
        ))
    }

    fn overlapping_match_error(&self, start: usize, last_end: usize) -> Error {
        Error::Search(format!(
            r"the pattern {:?} has a match that starts at byte {start} of the text, before the end of the last match at byte {last_end}; write the pattern without \K in a look-behind",
            self.regex.as_str()
        ))
    }
}

fn build(pattern: &str, limit: usize) -> fancy_regex::Result<fancy_regex::Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.max_prog_size(MAX_INSTRUCTIONS).backtrack_limit(limit);
    // Without this check, `\G` would match at the start of every attempt.
    builder.allow_input_assertion_overrides(pattern.contains(r"\G"));
    builder.build()
}

fn find(regex: &fancy_regex::Regex, input: RegexInput<str>) -> SearchResult {
    Ok(regex.find_input(input)?.map(|found| (found.start(), found.end())))
}

fn is_limit_error(error: &RegexError) -> bool {
    matches!(error, RegexError::RuntimeError(RuntimeError::BacktrackLimitExceeded))
}

/// Returns the end of the character at `at`; at the end of the text, the length of the text plus 1.
fn next_char_end(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}
