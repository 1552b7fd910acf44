//! Splits text between characters of different scripts.
//!
//! Reference: Hugging Face's UnicodeScripts. Hiragana, Katakana and U+30FC count as Han. Spaces and characters without
//! a script join the piece before them. The text before the first character with a script is dropped.
//!
//! The reference uses the table of Unicode 9.0, except for four characters. Here the newest table is restricted to the
//! characters of Unicode 9.0 and gets the same exceptions, so that both tables agree for all characters. Cost: a search
//! in the table for each character outside of the range of the character before it.

use polytok_memory::Grow;
use polytok_pattern::CharRanges;

use crate::error::Result;

/// The scripts of Unicode 9.0.
const SCRIPTS: &str = "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki \
    Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Common Coptic \
    Cuneiform Cypriot Cyrillic Deseret Devanagari Duployan Egyptian_Hieroglyphs Elbasan Ethiopic Georgian Glagolitic Gothic \
    Grantha Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Imperial_Aramaic Inherited Inscriptional_Pahlavi \
    Inscriptional_Parthian Javanese Kaithi Kannada Kayah_Li Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha \
    Limbu Linear_A Linear_B Lisu Lycian Lydian Mahajani Malayalam Mandaic Manichaean Marchen Meetei_Mayek Mende_Kikakui \
    Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean New_Tai_Lue Newa Nko Ogham \
    Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_South_Arabian Old_Turkic Oriya Osage \
    Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada \
    Shavian Siddham SignWriting Sinhala Sora_Sompeng Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet \
    Takri Tamil Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Ugaritic Vai Warang_Citi Yi";

/// The characters for which the reference differs from Unicode 9.0 or has its own rule, and their scripts.
const EXCEPTIONS: [(u32, &str); 5] =
    [(0x589, "Common"), (0x61C, "Common"), (0x953, "Devanagari"), (0x954, "Devanagari"), (0x30FC, "Han")];

/// The number of a script: the index of the script in [`SCRIPTS`] plus 1, or 0 for no script. Hiragana and Katakana
/// have the number of Han.
pub(crate) type Script = u8;

/// Returns the number of a script of [`SCRIPTS`].
pub(crate) fn script(name: &str) -> Script {
    SCRIPTS.split_whitespace().position(|listed| listed == name).map_or(0, |index| index as Script + 1)
}

/// The compiled step.
pub struct ScriptSplit {
    /// The first and last character of each range, and the script of the range, in order.
    ranges: Vec<(u32, u32, Script)>,
}

impl ScriptSplit {
    /// Compiles the step.
    pub fn compile() -> Result<ScriptSplit> {
        Ok(ScriptSplit { ranges: ranges()? })
    }

    /// Calls `piece(start, end)` for each piece of `text`, from left to right.
    pub fn split(&self, text: &str, mut piece: impl FnMut(usize, usize)) -> Result<()> {
        // The start and the script of the current piece, which is not complete yet.
        let mut open_piece: Option<(usize, Script)> = None;
        let mut range = (1, 0, 0);
        for (at, c) in text.char_indices() {
            if c == ' ' {
                continue;
            }
            if !(range.0..=range.1).contains(&(c as u32)) {
                range = self.range(c as u32);
            }
            match open_piece {
                _ if range.2 == 0 => {}
                Some((_, script)) if script == range.2 => {}
                Some((start, _)) => {
                    piece(start, at);
                    open_piece = Some((at, range.2));
                }
                None => open_piece = Some((at, range.2)),
            }
        }
        if let Some((start, _)) = open_piece {
            piece(start, text.len());
        }
        Ok(())
    }

    /// Returns the range of a character. A character without a script is a range of its own, with script 0.
    fn range(&self, code: u32) -> (u32, u32, Script) {
        let index = self.ranges.partition_point(|range| range.1 < code);
        self.ranges.get(index).copied().filter(|range| range.0 <= code).unwrap_or((code, code, 0))
    }
}

/// Returns the first and last character of each range, and the script of the range, in order.
pub(crate) fn ranges() -> Result<Vec<(u32, u32, Script)>> {
    let mut ranges = Vec::new();
    for (index, name) in SCRIPTS.split_whitespace().enumerate() {
        let names = if name == "Han" { "HanHiraganaKatakana" } else { name };
        let exceptions = EXCEPTIONS.iter().filter(|(_, script)| *script == name).map(|&(code, _)| (code, code));
        let characters = chars_of_script(names)?;
        let listed = characters.iter().map(|(first, last)| (first as u32, last as u32));
        ranges.checked_extend(listed.chain(exceptions).map(|(first, last)| (first, last, index as Script + 1)));
    }
    ranges.sort_unstable();
    Ok(ranges)
}

/// Returns the characters that a script has in Unicode 9.0, without the exceptions.
fn chars_of_script(script: &str) -> Result<CharRanges> {
    let property = match script {
        "HanHiraganaKatakana" => r"\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}".to_string(),
        name => format!(r"\p{{sc={name}}}"),
    };
    let exceptions: String = EXCEPTIONS.iter().map(|(code, _)| format!(r"\x{{{code:X}}}")).collect();
    Ok(CharRanges::parse(&format!(r"[[{property}]&&\p{{age=9.0}}--{exceptions}]"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_join_and_kana_is_han() {
        let split = ScriptSplit::compile().unwrap();
        let pieces = |text: &str| {
            let mut pieces = Vec::new();
            split.split(text, |start, end| pieces.push(text[start..end].to_string())).unwrap();
            pieces
        };
        assert_eq!(pieces("Apples are りんご 林檎"), ["Apples are ", "りんご 林檎"]);
        assert_eq!(pieces("  どこで生れ。Yes"), ["どこで生れ", "。", "Yes"]);
        assert_eq!(pieces("カーa"), ["カー", "a"]);
        assert_eq!(pieces("  \u{E000}"), [""; 0]);
        assert_eq!(pieces("a\u{378}b\u{589}"), ["a\u{378}b", "\u{589}"]);
    }

    #[test]
    fn no_character_has_two_scripts() {
        let ranges = ScriptSplit::compile().unwrap().ranges;
        assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
    }
}
