"""llama.cpp's pre-tokenizers by their names in ``tokenizer.ggml.pre``.

The expressions are copied from llama-vocab.cpp, in llama.cpp's regex syntax. `engine_pattern` converts an expression to
the engine's syntax; the twin (reference/llama_cpp_split.py) runs the expressions as they are. llama.cpp implements some
of them in code instead of a regex.
"""

from __future__ import annotations

import re

from ..errors import FormatError
from ..keywords import keyword
from ..records import dataclass
from ..spec import DigitGroups, PatternSplit, SplitStep

UNICODE = "15.1"
"""The version of llama.cpp's tables (unicode-data.cpp)."""

_CONTRACTION = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
_WHITE_SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_SYMBOLS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
_WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
_PUNCTUATION = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""
_CJK = r"[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_CJK_AND_HANGUL = r"[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
HAN = (
    r"\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f\U0002b820-\U0002ceaf"
    r"\U0002ceb0-\U0002ebef\uf900-\ufaff\U0002f800-\U0002fa1f"
)

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
LLAMA3 = rf"{_CONTRACTION}|{_WORD}|\p{{N}}{{1,3}}|{_SYMBOLS}|{_WHITE_SPACES}"
QWEN2 = rf"{_CONTRACTION}|{_WORD}|\p{{N}}|{_SYMBOLS}|{_WHITE_SPACES}"
QWEN35 = (
    rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}\p{{M}}]+|\p{{N}}"
    rf"| ?[^\s\p{{L}}\p{{M}}\p{{N}}]+[\r\n]*|{_WHITE_SPACES}"
)
KIMI = r"\p{Han}+"
DIGITS = r"\p{AFMoE_digits}"
DIGITS_OF_AYA = r"\d{1,3}(?=(?:\d{3})*\b)"
NEWLINES = r"[^\n]+|[\n]+"
SUPERBPE_DIGITS = r"(?=(\d{3})+(?!\d))"

_DEEPSEEK3_EXPRESSION = (
    rf"{_PUNCTUATION}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+"
    rf"| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_WHITE_SPACES}"
)
_PORO_EXPRESSION = r" ?[^(\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+"
_LAST_ALTERNATIVES = rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_WHITE_SPACES}"


def _case_change_words(letter: str, contraction: str, numbers: str) -> str:
    """Returns an expression for words of letters of one case, or of upper case followed by lower case."""
    upper_class, lower_class = f"((?={letter})([^a-z]))", f"((?={letter})([^A-Z]))"
    prefix = r"[^\r\n\p{L}\p{N}]?"
    words = f"{prefix}{upper_class}*{lower_class}+{contraction}|{prefix}{upper_class}+{lower_class}*{contraction}"
    return f"{words}|{numbers}{_LAST_ALTERNATIVES}"


def _o200k_expression(numbers: str) -> str:
    prefix = r"[^\r\n\p{L}\p{N}]?"
    upper_class, lower_class = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    words_with_lower = f"{prefix}{upper_class}*{lower_class}+{_CONTRACTION}?"
    return f"{words_with_lower}|{prefix}{upper_class}+{lower_class}*{_CONTRACTION}?|{numbers}{_LAST_ALTERNATIVES}"


_LATIN_RANGES = (
    r"A-Za-z\xb5\xc0-\xd6\xd8-\xf6\xf8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373\u0376\u0377"
    r"\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556"
    r"\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a"
    r"\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4"
    r"\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    r"\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
    r"\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b"
    r"\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    r"\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2"
    r"\U000118a0-\U000118df\U0001e900-\U0001e943"
)
_AFMOE_SCRIPTS = (
    r"[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0e7f"
    r"\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+"
)
_SPACE_RUNS_BY_LENGTH = "|".join(rf"\s{{{count}}}(?!\S)" for count in (512, 256, 128, 64, 32, 16, 8, 4, "1,2"))

EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "default": (r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"),
    "gpt2": (GPT2,),
    "starcoder": (r"\p{N}", GPT2),
    "falcon": (r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"),
    "llama3": (LLAMA3,),
    "qwen2": (QWEN2,),
    "qwen35": (QWEN35,),
    "ufakzeka": (QWEN2.removeprefix(f"{_CONTRACTION}|"),),
    "jais2": (rf"{_CONTRACTION}|{_WORD}|\p{{N}}{{1,3}}|{_SYMBOLS}|\s*[\r\n]+|{_SPACE_RUNS_BY_LENGTH}|\s{{1}}",),
    "minicpm5": (r"\p{N}{1,3}", rf"{_CONTRACTION}|{_WORD}|\p{{N}}+|{_SYMBOLS}|{_WHITE_SPACES}"),
    "deepseek_coder": (r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", _CJK_AND_HANGUL, r"\p{N}"),
    "deepseek_llm": (
        r"[\r\n]",
        rf"\s?[{_LATIN_RANGES}]+",
        r"\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
        r"\s+$",
        _CJK_AND_HANGUL,
        r"\p{N}+",
    ),
    "deepseek3": (r"\p{N}{1,3}", _CJK, _DEEPSEEK3_EXPRESSION),
    "spark2_5": (r"\p{N}{1,3}", _CJK, _DEEPSEEK3_EXPRESSION.replace(r"[\r\n]*|\s*[\r\n]+|", r"|[\r\n]|"), r"\p{N}"),
    "youtu": (
        r"[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f"
        rf"\ufe30-\ufe4f]+|[\u3105-\u312f]+|{_CJK}",
        _o200k_expression(r"\p{N}"),
    ),
    "poro": (_PORO_EXPRESSION,),
    "viking": (_PORO_EXPRESSION, r"\p{N}"),
    "tekken": (_case_change_words(r"[\p{L}]", "", r"\p{N}"),),
    "gpt4o": (_case_change_words(r"[\p{L}]", f"{_CONTRACTION}?", r"\p{N}{1,3}"),),
    "granite_embed_multi": (_case_change_words(r"[\p{L}\p{M}]", f"{_CONTRACTION}?", r"\p{N}{1,3}"),),
    "tiny_aya": (DIGITS_OF_AYA, _o200k_expression(r"\p{N}{1,3}")),
    "chameleon": (
        "<sentinel:[0-9]+>",
        "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
        r"([\t\n]|    |  )",
        r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]",
        GPT2,
    ),
    "kimi_k2": (KIMI,),
    "superbpe": (r"\p{N}+", SUPERBPE_DIGITS),
    "bailingmoe": (rf"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|{_WORD}|\p{{N}}|{_SYMBOLS}|\s*[\r\n]|\s+(?!\S)|\s+",),
    "seed_coder": (rf"{_CONTRACTION}|{_WORD}|\p{{N}}{{1}}| ?[^\s\p{{L}}\p{{N}}\r\n]+|{_WHITE_SPACES}",),
    "afmoe": (DIGITS, _AFMOE_SCRIPTS, _DEEPSEEK3_EXPRESSION),
    "laguna": (NEWLINES, QWEN2),
    "exaone_moe": (
        rf"{_CONTRACTION}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+|\p{{N}}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+",
    ),
    "newlines": (NEWLINES,),
    "whitespace": (r"\S+",),
}
"""The expressions of each pre-tokenizer; each expression splits the pieces of the previous one."""


@dataclass(frozen=True, slots=True)
class PreTokenizer:
    """The behaviour of llama.cpp for one name of a pre-tokenizer.

    ``expressions`` is a key of `EXPRESSIONS`. With ``clean_spaces``, decoding repairs the spaces around English
    punctuation. With ``ignore_merges``, a piece that is a token is not merged. With ``add_bos``, BOS is added by
    default. With ``raw``, the texts of tokens are UTF-8 instead of GPT-2's characters. With ``escaped``, U+2581
    represents a space. With ``has_bos``, BOS has the id 11 by default. With ``newline_tokens``, a run of line feeds
    that is a token is not merged.
    """

    expressions: str
    clean_spaces: bool = True
    ignore_merges: bool = False
    add_bos: bool = False
    raw: bool = False
    escaped: bool = False
    has_bos: bool = True
    newline_tokens: bool = False


def _build_table() -> dict[str, PreTokenizer]:
    table = {
        "jais2": PreTokenizer("jais2"),
        "gemma4": PreTokenizer("newlines", raw=True, escaped=True, add_bos=True, newline_tokens=True),
        "sarvam-moe": PreTokenizer("newlines", False, raw=True, escaped=True),
        "whitespace": PreTokenizer("whitespace", raw=True),
        "minicpm5": PreTokenizer("minicpm5", ignore_merges=True),
        "youtu": PreTokenizer("youtu", False, True),
        "tekken": PreTokenizer("tekken", False, True, True),
        "chameleon": PreTokenizer("chameleon", False, add_bos=True),
        "granite-embed-multi-97m": PreTokenizer("granite_embed_multi", False, True),
    }
    table["granite-embed-multi-311m"] = table["gemma4"]
    table["jais-2"] = table.pop("jais2")
    for names in _LLAMA3_NAMES.split():
        table[names] = PreTokenizer("llama3", ignore_merges=True, add_bos=True)
    for expressions, cleans_spaces, names in _NAMES_OF_EXPRESSIONS:
        table |= {name: PreTokenizer(expressions, cleans_spaces) for name in names.split()}
    for name in ("glm4", "chatglm-bpe"):
        table[name] = PreTokenizer("llama3", has_bos=False)
    return table


_LLAMA3_NAMES = "llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano"
_NAMES_OF_EXPRESSIONS = (
    ("default", True, "default"),
    ("deepseek_llm", False, "deepseek-llm"),
    ("deepseek_coder", False, "deepseek-coder"),
    ("deepseek3", False, "deepseek-v3 hunyuan-dense hy_v4 joyai-llm"),
    ("spark2_5", False, "spark2_5"),
    ("falcon", True, "falcon"),
    ("gpt2", True, "mpt gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert exaone4"),
    ("gpt2", True, "jina-v1-en jina-v2-code roberta-bpe olmo jais"),
    ("gpt2", False, "trillion granite-docling"),
    ("starcoder", True, "starcoder refact codeshell exaone minerva-7b mellum2"),
    ("starcoder", False, "command-r smollm"),
    ("qwen2", False, "qwen2 deepseek-r1-qwen kormo f2llmv2 hunyuan grok-2 solar-open"),
    ("qwen2", True, "megrez stablelm2"),
    ("qwen35", False, "qwen35"),
    ("llama3", True, "dbrx smaug-bpe"),
    ("poro", False, "poro-chat"),
    ("poro", True, "bloom gpt3-finnish"),
    ("viking", False, "viking"),
    ("exaone_moe", True, "exaone-moe"),
    ("gpt4o", False, "gpt-4o llama4 kanana2 talkie minimax-m2"),
    ("tiny_aya", False, "tiny_aya cohere2moe"),
    ("superbpe", False, "superbpe"),
    ("bailingmoe", False, "bailingmoe bailingmoe2 llada-moe"),
    ("seed_coder", False, "seed-coder"),
    ("kimi_k2", False, "kimi-k2"),
    ("ufakzeka", False, "ufakzeka"),
    ("afmoe", False, "afmoe"),
    ("laguna", False, "laguna"),
)

PRE_TOKENIZERS = _build_table()


def find_pre_tokenizer(name: str) -> PreTokenizer:
    """Returns the pre-tokenizer with this name; raises FormatError with the most similar names for an unknown name."""
    if name in PRE_TOKENIZERS:
        return PRE_TOKENIZERS[name]
    import difflib

    similar_names = difflib.get_close_matches(name, PRE_TOKENIZERS, n=5, cutoff=0.4) or sorted(PRE_TOKENIZERS)
    raise FormatError(
        f"the pre-tokenizer {name!r} is not known; the most similar names are {', '.join(similar_names)}. "
        f"Set {keyword('pre_tokenizer=')} to the name of a pre-tokenizer that splits text in the same way"
    )


def steps(pre_tokenizer: PreTokenizer) -> tuple[SplitStep, ...]:
    """Returns the split steps of a pre-tokenizer."""
    if pre_tokenizer.expressions == "whitespace":
        return (PatternSplit(r"\s+", behavior="removed", unicode=UNICODE),)
    return tuple(map(_split_step, EXPRESSIONS[pre_tokenizer.expressions]))


def _split_step(expression: str) -> SplitStep:
    if expression in (DIGITS, DIGITS_OF_AYA, SUPERBPE_DIGITS):
        return DigitGroups(UNICODE)
    return PatternSplit(engine_pattern(expression), behavior="isolated", unicode=UNICODE)


def engine_pattern(expression: str) -> str:
    """Returns an expression of llama.cpp in the engine's syntax.

    If an expression contains a category such as ``\\p{L}``, llama.cpp compares classes of characters, and all letters
    are one class. If an expression contains no category, llama.cpp compares characters by the C locale. In both cases,
    white space is Unicode's.
    """
    if expression == GPT2:
        return rf"{GPT2}|\s+"
    if expression == KIMI:
        han_words = rf"[^\r\n\p{{L}}\p{{N}}]?[\p{{L}}&&[^{_engine_escapes(HAN)}]]+{_CONTRACTION}?"
        return rf"[{_engine_escapes(HAN)}]+|{han_words}|\p{{N}}{{1,3}}|{_SYMBOLS}|{_WHITE_SPACES}"
    pattern = _CASE_LOOKAHEAD_PATTERN.sub(lambda match: f"[{match[1]}&&[^{match[2]}]]", expression)
    pattern = re.sub(r"\[(?:\\p\{L[ultmo]\})+", r"[\\p{L}", pattern)
    pattern = _RANGE_PATTERN.sub(lambda match: _without_white_space(int(match[1], 16), int(match[2], 16)), pattern)
    return _engine_escapes(pattern.replace(r"\d", "[0-9]"))


_CASE_LOOKAHEAD_PATTERN = re.compile(r"\(\(\?=\[((?:\\p\{[LM]\})+)\]\)\(\[\^([aA]-[zZ])\]\)\)")
_RANGE_PATTERN = re.compile(r"\\u([0-9a-f]{4})-\\u([0-9a-f]{4})")
_WHITE_SPACE_CODES = (0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)


def _without_white_space(first_code: int, last_code: int) -> str:
    """Removes white space from a range, because llama.cpp converts white space to ASCII before it compares
    characters."""
    white_space = [code for code in _WHITE_SPACE_CODES if first_code <= code <= last_code]
    starts, ends = [first_code, *(code + 1 for code in white_space)], [*(code - 1 for code in white_space), last_code]
    parts = [(start, end) for start, end in zip(starts, ends, strict=True) if start <= end]
    return "".join(rf"\u{start:04x}-\u{end:04x}" for start, end in parts)


def _engine_escapes(pattern: str) -> str:
    """Replaces the numeric escapes of a pattern with the characters that they represent."""
    return re.sub(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8}))", lambda match: chr(int(match[1] or match[2], 16)), pattern)
