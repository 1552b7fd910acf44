//! Writes vocabulary and merges as the JSON of a tokenizer.json, with the layout of the package `tokenizers`.

use hashbrown::HashMap;
use polytok_memory::{self as memory, Grow, GrowText, TryCollect};

use super::super::{quote, rows, show};
use crate::byte_level;
use crate::error::{Error, Result};
use crate::spec::{Kind, VocabColumns};

/// The vocabulary and merges to write, and their layout.
#[derive(Debug)]
pub struct VocabParts<'a> {
    /// The vocabulary. A vocabulary with `wide_scores` is written as a list of texts and scores.
    pub columns: &'a VocabColumns,
    /// The left, right and merged id of each merge.
    pub merges: &'a [[u32; 3]],
    /// The exact scores to write, if the columns have the rounded scores that the package `tokenizers` reads.
    pub exact_scores: Option<&'a [f64]>,
    /// True if Normal rows have bytes, which are written as the characters of GPT-2's table.
    pub byte_level: bool,
    /// True if merges are written as pairs; if a text of a merge has a space, merges are always written as pairs.
    pub pairs: bool,
    /// The indentation of the members, in levels of two spaces.
    pub indent: usize,
}

/// Returns the JSON of the values `vocab` and `merges`.
pub fn write(parts: &VocabParts<'_>) -> Result<(String, String)> {
    memory::catch(|| {
        let texts = texts(parts)?;
        let vocab = match &parts.columns.wide_scores {
            Some(scores) => write_list(&texts, scores, parts)?,
            None => write_object(&texts, &parts.columns.ids, parts.indent),
        };
        Ok((vocab, write_merges(parts, &texts)?))
    })
}

fn texts(parts: &VocabParts<'_>) -> Result<Vec<String>> {
    let text_of_row = |(row, bytes): (usize, &[u8])| match std::str::from_utf8(bytes) {
        _ if parts.byte_level && parts.columns.kinds[row] == Kind::Normal => Ok(byte_level::to_text(bytes)),
        Ok(text) => Ok(memory::text(text)),
        Err(_) => {
            Err(Error::Format(format!("row {row} is not UTF-8, so JSON cannot represent the text: {}", show(bytes))))
        }
    };
    rows(parts.columns).enumerate().map(text_of_row).checked_try_collect()
}

fn write_object(texts: &[String], ids: &[u32], indent: usize) -> String {
    let member = |(text, id): (&String, &u32)| {
        let mut member = quote(text);
        member.checked_push_str(&format!(": {id}"));
        member
    };
    let members = texts.iter().zip(ids).map(member);
    format_block(members, ['{', '}'], indent)
}

fn write_list(texts: &[String], scores: &[f64], parts: &VocabParts<'_>) -> Result<String> {
    if let Some(row) = scores.iter().position(|score| !score.is_finite()) {
        return Err(Error::Format(format!("row {row} has the score {}, which JSON cannot represent", scores[row])));
    }
    let exact = parts.exact_scores.filter(|exact| exact.len() == scores.len());
    let entry = |(row, text): (usize, &String)| {
        let score = score_text(scores[row], exact.map_or(scores[row], |exact| exact[row]));
        format_block([quote(text), score].into_iter(), ['[', ']'], parts.indent + 1)
    };
    Ok(format_block(texts.iter().enumerate().map(entry), ['[', ']'], parts.indent))
}

fn format_number(score: f64) -> String {
    serde_json::Value::from(score).to_string()
}

/// Returns a text that the package `tokenizers` reads as `score`: if possible the shortest text of `exact`, which other
/// programs read as this number, else the text of a number near `score`, short or with more digits than the number needs.
/// A few of a million scores have no such text.
fn score_text(score: f64, exact: f64) -> String {
    let is_read_as_score = |text: &String| serde_json::from_str(text).is_ok_and(|read: f64| read == score);
    let near = [score, score.next_up(), score.next_down(), score.next_up().next_up(), score.next_down().next_down()];
    let short_texts = [exact].into_iter().chain(near).map(format_number);
    let long_texts = near.into_iter().flat_map(|near| (15..=19).map(move |digits| format!("{near:.digits$e}")));
    short_texts.chain(long_texts).find(is_read_as_score).unwrap_or_else(|| format_number(exact))
}

fn write_merges(parts: &VocabParts<'_>, texts: &[String]) -> Result<String> {
    let row_of: HashMap<u32, usize> = memory::map(parts.columns.ids.iter().enumerate().map(|(row, &id)| (id, row)));
    let find = |id: u32| match row_of.get(&id) {
        Some(&row) => Ok(texts[row].as_str()),
        None => Err(Error::Format(format!("a merge has the id {id}, but no row of the vocabulary has this id"))),
    };
    let mut pairs = memory::with_capacity(parts.merges.len());
    for &[left, right, _] in parts.merges {
        pairs.checked_push((find(left)?, find(right)?));
    }
    let has_spaces =
        pairs.iter().any(|(left, right)| left.contains(' ') || right.contains(' ') || left.starts_with("#version"));
    let merge = |(left, right): &(&str, &str)| match parts.pairs || has_spaces {
        true => format_block([quote(left), quote(right)].into_iter(), ['[', ']'], parts.indent + 1),
        false => {
            let mut text = memory::text(left);
            text.checked_push_char(' ');
            text.checked_push_str(right);
            quote(&text)
        }
    };
    Ok(format_block(pairs.iter().map(merge), ['[', ']'], parts.indent))
}

/// Returns a list or object with one member per line, like serde_json and Python's json.
fn format_block(members: impl Iterator<Item = String>, brackets: [char; 2], indent: usize) -> String {
    let mut out = String::from(brackets[0]);
    for (index, member) in members.enumerate() {
        out.checked_push_str(if index > 0 { ",\n" } else { "\n" });
        push_indent(&mut out, indent + 1);
        out.checked_push_str(&member);
    }
    if out.len() > 1 {
        out.checked_push_char('\n');
        push_indent(&mut out, indent);
    }
    out.checked_push_char(brackets[1]);
    out
}

fn push_indent(out: &mut String, levels: usize) {
    (0..levels).for_each(|_| out.checked_push_str("  "));
}
