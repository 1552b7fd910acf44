//! Reads the section `special`: the special tokens as JSON, in rows of text, id and flags. The engine reads them
//! itself, because a file can have thousands of special tokens, and Python would create an object for each of them.

use polytok_memory::Collect;
use serde::Deserialize;

use super::Image;
use super::json::{self, JsonList, JsonText};
use crate::error::{Error, Result};
use crate::spec::SpecialToken;
use crate::token_id::TokenId;

/// A row of the section `special`, which python/polytok/formats/ptok.py writes.
#[derive(Deserialize)]
struct SpecialRow(JsonText, u32, u8);

impl Image {
    /// Returns the special tokens.
    pub fn special_tokens(&self) -> Result<Vec<SpecialToken>> {
        let section = self.section("special").unwrap_or(b"[]");
        let JsonList(rows): JsonList<SpecialRow> =
            json::parse(section).map_err(|error| Error::Format(format!("the section special is damaged: {error}")))?;
        let token = |SpecialRow(JsonText(text), id, flags)| SpecialToken {
            text: text.into_bytes(),
            id: TokenId(id),
            always: flags & 1 == 0,
            single_word: flags & 2 != 0,
            lstrip: flags & 4 != 0,
            rstrip: flags & 8 != 0,
            normalized: flags & 16 != 0,
        };
        Ok(rows.into_iter().map(token).checked_collect())
    }
}
