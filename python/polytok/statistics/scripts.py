"""The scripts of characters and of texts, by the engine's tables of Unicode 16.0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import _core

UNICODE = "16.0"
"""The Unicode version of the tables."""

NO_LETTERS = "no letters"
SEVERAL = "several scripts"
HAN_AND_KANA = "Han and kana"
UNSPACED = frozenset(
    {
        *("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar", "Tibetan", "Yi", "Tai_Le", "New_Tai_Lue"),
        *("Tai_Tham", "Tai_Viet", "Javanese", "Balinese"),
    }
)
"""Scripts whose texts have no spaces between words."""

_KANA = frozenset({"Hiragana", "Katakana"})
# All scripts except Common and Inherited; those of most vocabularies come first, because a character is searched in
# one script after the other.
_SCRIPTS = """
    Latin Han Hangul Cyrillic Arabic Devanagari Greek Hebrew Hiragana Katakana Thai Bengali Tamil Telugu
    Georgian Armenian Adlam Ahom Anatolian_Hieroglyphs Avestan Balinese Bamum Bassa_Vah Batak Bhaiksuki Bopomofo
    Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian
    Coptic Cuneiform Cypriot Cypro_Minoan Deseret Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan
    Elymaic Ethiopic Garay Glagolitic Gothic Grantha Gujarati Gunjala_Gondi Gurmukhi Gurung_Khema
    Hanifi_Rohingya Hanunoo Hatran Imperial_Aramaic Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi
    Kannada Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Kirat_Rai Lao Lepcha Limbu
    Linear_A Linear_B Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi
    Medefaidrin Meetei_Mayek Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani
    Myanmar Nabataean Nag_Mundari Nandinagari New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki
    Ol_Onal Old_Hungarian Old_Italic Old_North_Arabian Old_Permic Old_Persian Old_Sogdian Old_South_Arabian
    Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau Phags_Pa Phoenician
    Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian
    Sora_Sompeng Soyombo Sundanese Sunuwar Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri
    Tangsa Tangut Thaana Tibetan Tifinagh Tirhuta Todhri Toto Tulu_Tigalari Ugaritic Vai Vithkuqi Wancho
    Warang_Citi Yezidi Yi Zanabazar_Square
"""
_LETTER_OR_MARK = r"[\p{L}\p{M}]"


class Scripts:
    """Finds the scripts of characters, and remembers them.

    Only letters and marks have a script here. Those that many scripts use, such as ``ー``, have none.

    >>> scripts = Scripts()
    >>> [scripts.of_text(text) for text in (" the", "123", "пар", "食べ", "aя")]
    ['Latin', 'no letters', 'Cyrillic', 'Han and kana', 'several scripts']
    """

    def __init__(self) -> None:
        self._script_of_character: dict[str, str | None] = {}

    def of_text(self, text: str) -> str:
        """Returns the script of a text's letters: its name, `HAN_AND_KANA`, `SEVERAL` or `NO_LETTERS`."""
        if text.isascii():
            return "Latin" if any(map(str.isalpha, text)) else NO_LETTERS
        self.learn(text)
        scripts = {script for character in text if (script := self._script_of_character[character]) is not None}
        if len(scripts) < 2:
            return scripts.pop() if scripts else NO_LETTERS
        return HAN_AND_KANA if scripts <= _KANA | {"Han"} else SEVERAL

    def of_characters(self, characters: Iterable[str]) -> list[str | None]:
        """Returns the script of each character; None for characters without one."""
        character_list = list(characters)
        self.learn(character_list)
        return [self._script_of_character[character] for character in character_list]

    def learn(self, characters: Iterable[str]) -> None:
        """Finds the scripts of characters together, which is faster than one after the other."""
        new_characters = {character for character in characters if character not in self._script_of_character}
        if not new_characters:
            return
        remaining = _matching(_LETTER_OR_MARK, sorted(new_characters))
        self._script_of_character.update(dict.fromkeys(new_characters))
        for script in _SCRIPTS.split():
            if not remaining:
                return
            members = set(_matching(rf"\p{{Script={script}}}", remaining))
            self._script_of_character.update(dict.fromkeys(members, script))
            remaining = [character for character in remaining if character not in members]


def _matching(pattern: str, characters: Sequence[str]) -> list[str]:
    """Returns the characters that a pattern matches. Surrogates match nothing."""
    matches = _core.pattern_matches(pattern, [character.encode("utf-8", "surrogatepass") for character in characters])
    return [character for character, matched in zip(characters, matches, strict=True) if matched]
