//! Refuses the pieces that SentencePiece refuses to load, by the rules of versions 0.2.1 and 0.2.3.
//!
//! The texts of the errors are polytok's own, but the error is the first error that the reference finds: it checks the
//! pieces in the order of their ids, and then the whole vocabulary. Cost: one pass and a map of all texts.

use polytok_memory as memory;

use super::texts::TextIndex;
use super::{rows, show};
use crate::error::{Error, Result};
use crate::spec::{Kind, SentencePieceVersion, VocabColumns};

/// The ModelType enum of SentencePiece, with the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelType {
    /// The model for number 1 and for a missing or unknown number.
    Unigram,
    /// Number 2.
    Bpe,
    /// Number 3.
    Word,
    /// Number 4.
    Char,
}

/// The options of a model that decide which pieces are valid.
#[derive(Clone, Copy, Debug)]
pub struct PieceRules {
    /// The model's type.
    pub model: ModelType,
    /// True if text without a piece is converted to byte pieces.
    pub byte_fallback: bool,
    /// The version whose rules are applied.
    pub version: SentencePieceVersion,
}

impl PieceRules {
    /// Reports whether the rules are those of the newest version, 0.2.3.
    fn is_newest(&self) -> bool {
        self.version == SentencePieceVersion::V0_2_3
    }
}

/// Returns an error at the first piece that SentencePiece refuses to load.
pub fn check_pieces(columns: &VocabColumns, rules: &PieceRules) -> Result<()> {
    memory::catch(|| {
        // An ordinary piece and a reserved piece can have the same text, except in BPE models that follow the newest
        // version.
        let texts_are_unique = rules.is_newest() && rules.model == ModelType::Bpe;
        let is_reserved = |kind: Kind| matches!(kind, Kind::Unknown | Kind::Control | Kind::Byte);
        let room = if texts_are_unique { 0 } else { columns.kinds.iter().filter(|&&kind| is_reserved(kind)).count() };
        let (mut ordinary, mut reserved) = (TextIndex::new(columns), TextIndex::with_room(columns, room));
        let mut unknown = None;
        let mut bytes = 0;
        for (row, text) in rows(columns).enumerate() {
            let kind = columns.kinds[row];
            let wrong = |what: String| Error::Format(format!("piece {row} {}: {what}", show(text)));
            if text == b"\0" && rules.is_newest() && (rules.byte_fallback || kind == Kind::Unused) {
                // SentencePiece 0.2.3 skips an unused NUL. With byte fallback, SentencePiece 0.2.3 and polytok's reader
                // treat every NUL piece as unused.
                continue;
            }
            check_text(text, rules).map_err(wrong)?;
            let texts = if is_reserved(kind) && !texts_are_unique { &mut reserved } else { &mut ordinary };
            if let Some(first) = texts.insert(row) {
                return Err(wrong(format!("the same text as piece {first}")));
            }
            if kind == Kind::Unknown
                && let Some(first) = unknown.replace(row)
            {
                return Err(wrong(format!("a second piece of type UNKNOWN; the first is piece {first}")));
            }
            bytes += usize::from(kind == Kind::Byte);
            check_kind(text, kind, columns.scores[row], rules).map_err(wrong)?;
        }
        check_vocabulary(columns, rules, unknown.is_some(), bytes)
    })
}

fn check_text(text: &[u8], rules: &PieceRules) -> std::result::Result<(), String> {
    if text.is_empty() {
        return Err("a piece must not be empty".into());
    }
    if memchr::memchr(0, text).is_some() {
        return Err("a piece must not contain NUL".into());
    }
    if rules.is_newest() && text.len() >= 8000 {
        return Err(format!("the piece has {} bytes, but SentencePiece 0.2.3 allows fewer than 8000", text.len()));
    }
    Ok(())
}

fn check_kind(text: &[u8], kind: Kind, score: f32, rules: &PieceRules) -> std::result::Result<(), String> {
    if kind == Kind::Byte && !rules.byte_fallback {
        return Err("a piece of type BYTE, but the model has no byte_fallback".into());
    }
    if kind == Kind::Byte && !is_byte_text(text) {
        return Err("a piece of type BYTE must read <0x00> to <0xFF>, in upper case".into());
    }
    if rules.is_newest() && rules.model == ModelType::Unigram && !score.is_finite() {
        return Err(format!("the score {score} is not a finite number"));
    }
    Ok(())
}

fn is_byte_text(text: &[u8]) -> bool {
    let is_upper_hex = |digit: &u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(digit);
    matches!(text, [b'<', b'0', b'x', high, low, b'>'] if is_upper_hex(high) && is_upper_hex(low))
}

fn check_vocabulary(columns: &VocabColumns, rules: &PieceRules, has_unknown: bool, bytes: usize) -> Result<()> {
    let is_ordinary = |kind: &Kind| matches!(kind, Kind::Normal | Kind::UserDefined | Kind::Unused);
    let may_lack_unknown = rules.is_newest() && rules.byte_fallback;
    if !has_unknown && !may_lack_unknown {
        return Err(Error::Format("no piece is of type UNKNOWN; a model has exactly one".into()));
    }
    if rules.byte_fallback && bytes < 256 {
        return Err(Error::Format(format!("byte_fallback needs 256 pieces of type BYTE, the model has {bytes}")));
    }
    if rules.model == ModelType::Unigram && !columns.kinds.iter().any(is_ordinary) {
        return Err(Error::Format("a Unigram model needs at least one ordinary piece".into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::columns;
    use super::*;

    #[test]
    fn invalid_pieces_are_refused() {
        let rules = PieceRules { model: ModelType::Bpe, byte_fallback: false, version: SentencePieceVersion::V0_2_3 };
        let old = PieceRules { version: SentencePieceVersion::V0_2_1, ..rules };
        let unk: (&[u8], f32, Kind) = (b"<unk>", 0.0, Kind::Unknown);
        let error = |pieces: &[(&[u8], f32, Kind)], rules| match check_pieces(&columns(pieces), rules) {
            Err(Error::Format(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(error(&[(b"", 0.0, Kind::Normal)], &rules).contains("empty"));
        assert!(error(&[unk, (b"a\0", 0.0, Kind::Normal)], &rules).contains("NUL"));
        assert!(error(&[unk, (b"a", 0.0, Kind::Normal), (b"a", 0.0, Kind::Normal)], &old).contains("as piece 1"));
        assert!(error(&[unk, (b"b", 0.0, Kind::Unknown)], &rules).contains("UNKNOWN"));
        assert!(error(&[unk, (b"<0x00>", 0.0, Kind::Byte)], &rules).contains("byte_fallback"));
        assert!(error(&[(b"a", 0.0, Kind::Normal)], &rules).contains("UNKNOWN"));
        let twice = [unk, (&b"a"[..], 0.0, Kind::Control), (&b"a"[..], 0.0, Kind::Normal)];
        assert!(error(&twice, &rules).contains("the same text"));
        assert_eq!(check_pieces(&columns(&twice), &old), Ok(()));
        let unused = [unk, (&b"\0"[..], 0.0, Kind::Unused), (&b"\0"[..], 0.0, Kind::Unused)];
        assert_eq!(check_pieces(&columns(&unused), &rules), Ok(()));
        assert!(error(&unused, &old).contains("NUL"));
    }
}
