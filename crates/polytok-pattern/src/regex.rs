//! The general engine: `fancy_regex`, for patterns outside the family that the scanner runs.
//!
//! Reference: tiktoken, which loops over `find_iter` of the same crate with its default limits. The loop here gives the same matches,
//! and an error where that one does not end: a `\K` in a look-behind can start a match before the last one ended.
//!
//! Cost: the engine backtracks, and stops after a million steps back. A search that finds nothing uses these up within some 300 KB of
//! text, however simple the pattern is. So a search that reaches the limit is repeated with an attempt for each character, and goes on
//! to the end of the text if the attempts are easy: `EASY` steps back each, but for `MAX_HARD` of them, which may make a million. So the
//! distance to the next match does not matter, and a pattern that is hard everywhere still fails soon.

use std::sync::OnceLock;

use fancy_regex::{Error as Refused, RegexBuilder, RegexInput, RuntimeError};

use crate::error::{Error, Result};

/// The most instructions of a compiled pattern; calls of groups within groups can multiply them without end.
const MAX_PROGRAM: usize = 1 << 16;

/// The most steps back of one search: fancy_regex's default, and so tiktoken's.
const LIMIT: usize = 1_000_000;

/// The most steps back of an easy attempt.
const EASY: usize = 1024;

/// The most attempts of one search that are not easy.
const MAX_HARD: usize = 100;

/// A pattern compiled for the general engine.
pub(super) struct Regex {
    regex: fancy_regex::Regex,
    /// The same with the limit of easy attempts, compiled when it is first needed.
    easy: OnceLock<fancy_regex::Regex>,
}

/// What the engine finds.
type SearchResult = fancy_regex::Result<Option<(usize, usize)>>;

/// Where the search of one text stands.
#[derive(Default)]
pub(super) struct Search {
    /// Where the next search begins.
    at: usize,
    /// The end of the last match.
    last: Option<usize>,
    /// A character was passed over after an empty match, so that `\G` does not match at `at`.
    is_past_empty: bool,
}

impl Regex {
    /// Compiles a pattern.
    pub(super) fn compile(pattern: &str) -> Result<Regex> {
        match build(pattern, LIMIT) {
            Ok(regex) => Ok(Regex { regex, easy: OnceLock::new() }),
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

    /// Writes the next matches that are not empty to `pieces` and returns their number; 0 when there are no more.
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

    /// The next match. An empty one right after another match does not count.
    fn next(&self, text: &str, search: &mut Search) -> Result<Option<(usize, usize)>> {
        while search.at <= text.len() {
            let Some((start, end)) = self.find(text, search)? else { break };
            let done = search.last.unwrap_or(0);
            if start < done || end < search.at {
                return Err(self.runs_backwards(start, done));
            }
            search.is_past_empty = start == end && end == search.at;
            search.at = if start == end { after_char(text, end) } else { end };
            if start < end || search.last != Some(end) {
                search.last = Some(end);
                return Ok(Some((start, end)));
            }
        }
        search.at = text.len() + 1;
        Ok(None)
    }

    /// The first match from `search.at` on.
    fn find(&self, text: &str, search: &Search) -> Result<Option<(usize, usize)>> {
        let input = RegexInput::new(text).from_pos(search.at).continue_from_previous_match_end(!search.is_past_empty);
        match find(&self.regex, input) {
            Err(error) if is_limit(&error) => self.find_by_attempts(text, search),
            found => found.map_err(|error| self.gave_up(search.at, &error)),
        }
    }

    /// The same by an attempt at each place, with the limits for attempts.
    fn find_by_attempts(&self, text: &str, search: &Search) -> Result<Option<(usize, usize)>> {
        let easy = self.easy.get_or_init(|| build(self.regex.as_str(), EASY).unwrap_or_else(|_| self.regex.clone()));
        let (mut at, mut hard) = (search.at, 0);
        while at <= text.len() {
            let goes_on = at == search.at && !search.is_past_empty;
            let input = RegexInput::new(text).from_pos(at).anchored(true).continue_from_previous_match_end(goes_on);
            let mut found = find(easy, input.clone());
            if hard < MAX_HARD && found.as_ref().is_err_and(is_limit) {
                hard += 1;
                found = find(&self.regex, input);
            }
            match found.map_err(|error| self.gave_up(at, &error))? {
                None => at = after_char(text, at),
                found => return Ok(found),
            }
        }
        Ok(None)
    }

    fn gave_up(&self, at: usize, error: &fancy_regex::Error) -> Error {
        Error::Search(format!(
            "the pattern {:?} needs too many steps in the text at byte {at}: {error}; split the text into shorter ones, or use a pattern \
             that backtracks less",
            self.regex.as_str()
        ))
    }

    fn runs_backwards(&self, start: usize, done: usize) -> Error {
        Error::Search(format!(
            r"the pattern {:?} has a match that starts at byte {start} of the text, before the last one ended at byte {done}; write it without \K in a look-behind",
            self.regex.as_str()
        ))
    }
}

fn build(pattern: &str, limit: usize) -> fancy_regex::Result<fancy_regex::Regex> {
    let mut builder = RegexBuilder::new(pattern);
    builder.max_prog_size(MAX_PROGRAM).backtrack_limit(limit);
    // Otherwise `\G` matches wherever an attempt begins.
    builder.allow_input_assertion_overrides(pattern.contains(r"\G"));
    builder.build()
}

fn find(regex: &fancy_regex::Regex, input: RegexInput<str>) -> SearchResult {
    Ok(regex.find_input(input)?.map(|found| (found.start(), found.end())))
}

fn is_limit(error: &Refused) -> bool {
    matches!(error, Refused::RuntimeError(RuntimeError::BacktrackLimitExceeded))
}

/// Where the character at `at` ends; one byte beyond the end of the text.
fn after_char(text: &str, at: usize) -> usize {
    at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}
