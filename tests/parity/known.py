"""Where polytok differs from a reference on purpose, and why. Everything else that differs is a mistake."""

from __future__ import annotations

from typing import NamedTuple


class Known(NamedTuple):
    """One known difference."""

    reference: str
    input: str
    reference_does: str
    polytok_does: str
    reason: str


KNOWN = (
    Known(
        "sentencepiece, pyrwkv_tokenizer",
        "`str` with surrogates",
        "an error before the text is looked at",
        "pairs are joined, lone ones become U+FFFD",
        "One policy for all vocabularies, the one of tiktoken.",
    ),
    Known(
        "sentencepiece 0.2.1",
        "a control symbol as the surface of a piece (BPE, CHAR, WORD)",
        "an empty result; the error is swallowed",
        "`EncodeError`",
        "Nothing is silent. 0.2.3 has no such error.",
    ),
    Known(
        "sentencepiece 0.2.1, 0.2.3",
        "U+061C under the rules nmt_*",
        "0.2.1's blob keeps it, 0.2.3's turns it into a space",
        "what the model's own blob says",
        "The blob is part of the model. Recorded answers made with the other blob leave this character out.",
    ),
    Known(
        "llama2.c",
        "a NUL in the text",
        "the text ends there",
        "the text goes on",
        "A C string ends at a NUL, a text does not.",
    ),
    Known(
        "llama2.c",
        "decoded control characters",
        "not printed by `safe_printf`",
        "decoded",
        "Printing is not decoding.",
    ),
    Known(
        "tiktoken 0.14",
        "a split pattern that repeats the same thing before and after something optional, such as `a+b?a+`",
        "takes a single `a` for a match",
        "needs two, unless the pattern needs the general engine, which is tiktoken's own",
        "Its engine, fancy-regex 0.19 and 0.20, rewrites such patterns wrongly. No published pattern has that form.",
    ),
    Known(
        "tiktoken 0.14",
        "a split pattern with a match that starts before the last one ended, such as `(?<=\\Ka)`",
        "does not return, panics, or encodes the same text twice",
        "an error that names the pattern and the place",
        "Only `\\K` in a look-behind can do this. Where its matches do not overlap, as in `(?<=\\Ka)b`, both agree.",
    ),
    Known(
        "tiktoken 0.14",
        "a split pattern outside polytok's family that finds nothing within some 300 KB",
        "panics: the limit of its engine counts the steps of a whole search",
        "goes on, as long as few places of the text are hard",
        "How far the next match is does not tell how hard a pattern is.",
    ),
    Known(
        "tiktoken 0.14",
        "special tokens where one is a prefix of another",
        "whichever its hash table has first",
        "the longest",
        "tiktoken documents no order, and none of the vocabularies here has such a pair.",
    ),
    Known(
        "tiktoken 0.14",
        "an id with two special tokens (o200k_harmony, 200018)",
        "decodes as whichever its hash table has last",
        "decodes as the first listed",
        "Both have the same text in 0.14.",
    ),
    Known(
        "tiktoken 0.14",
        "an empty token (whisper's multilingual.tiktoken, 50256), with a pattern that can match nothing",
        "each empty match is an empty token",
        "empty matches are nothing, as without an empty token",
        "No published pattern can match nothing.",
    ),
    Known(
        "tiktoken 0.14, `_encode_bytes`",
        "special tokens in bytes that are not UTF-8",
        "never recognised",
        "recognised where the caller allows them",
        "`bytes` and `str` take the same options.",
    ),
    Known(
        "minbpe",
        "text with bytes that are not UTF-8, with a pattern",
        "cannot be given",
        "as tiktoken's `_encode_bytes`",
        "minbpe takes `str` only.",
    ),
    Known(
        "polytok.reference",
        "characters of Unicode 17 and later, in vocabularies with a split pattern",
        "letters and digits as the regex package knows them",
        "unassigned, as in tiktoken 0.14",
        "tiktoken's tables are older than those of the regex package. Texts with such characters are left out.",
    ),
    Known(
        "llama.cpp (GGUF)",
        "bytes that spell surrogates or numbers above U+10FFFF",
        "surrogates pass as characters, larger numbers are an exception",
        "surrogates pass where the model is of bytes, elsewhere `EncodeError`; larger numbers become U+FFFD",
        "They are not text, and nothing else depends on them.",
    ),
    Known(
        "llama.cpp (GGUF, gemma4)",
        "a line that spells a token that merging cannot build (`<0x41>`, `<bos>`)",
        "its characters",
        "the token",
        "llama.cpp looks up whole pieces only if they are line feeds; polytok looks up all of them.",
    ),
    Known(
        "llama.cpp (GGUF, superbpe)",
        "ASCII digits beside other number characters",
        "groups of three within the ASCII digits only",
        "groups of three within the whole run",
        "polytok groups digits in one way only. Text hardly ever mixes digits of two scripts in one number.",
    ),
    Known(
        "llama.cpp (GGUF)",
        "decoded: a normal token with a character that stands for no byte (byte-level BPE, `whitespace`)",
        "`[UNK_BYTE_0x…]` followed by the token's text",
        "the same for up to 16 such characters, nothing for more; for `whitespace`, the token's text",
        "The length of that output grows with the square of the token's.",
    ),
    Known(
        "llama.cpp (GGUF)",
        "several tokens that could each be a role of fill-in-the-middle (`<PRE>` and `<fim_prefix>`)",
        "whichever its hash table has first becomes a control token",
        "the one with the smallest id",
        "The order of a hash table is no rule.",
    ),
    Known(
        "tokenizers 0.23",
        "the decoder Strip, when `stop` is larger than the number of characters left in a token",
        "a panic",
        "strips the characters that are left",
        "The natural result; the later source code of tokenizers gives it too.",
    ),
    Known(
        "tokenizers 0.23",
        "truncation to fewer tokens than the template adds",
        "the length wraps around, and nothing is truncated",
        "`ArgumentError`",
        "Nothing is silent.",
    ),
    Known(
        "tokenizers 0.23",
        "truncation with a stride of at least the number of tokens kept",
        "a panic",
        "`ArgumentError`",
        "An option out of its range is an error.",
    ),
    Known(
        "tokenizers 0.23",
        "overflowing windows of a pair, without a post-processor",
        "`sequence_ids` are those of a single text",
        "those of the pair",
        "Without a post-processor polytok uses a template without special tokens, and its windows know their texts.",
    ),
    Known(
        "tokenizers 0.23",
        "overflowing windows of a pair, with RobertaProcessing",
        "`type_ids` are 0",
        "0 and 1, as with the same template in TemplateProcessing",
        "RobertaProcessing is read as its template.",
    ),
    Known(
        "tokenizers 0.23",
        "`sequence_ids` without a post-processor, or with ByteLevel after a template in a Sequence",
        "pads belong to the text; each part of the template counts as a text",
        "tokens of a text belong to that text, other tokens to none",
        "They are what the template without special tokens gives, or the template alone.",
    ),
    Known(
        "tokenizers 0.23",
        "added tokens that become equal when normalized, or that share an id with a vocabulary entry",
        "whichever its hash table has last, which changes from run to run",
        "always the same one",
        "There is no fixed answer to agree with.",
    ),
    Known(
        "tokenizers 0.23",
        "an added token that is listed twice with different flags",
        "matched by the flags of one, decoded by those of the other",
        "the last one",
        "One token has one set of flags.",
    ),
    Known(
        "tokenizers 0.23",
        "the normalizer Prepend with an empty text",
        "the first character twice, or without a span",
        "nothing changes",
        "Prepending to nothing changes nothing.",
    ),
    Known(
        "tokenizers 0.23",
        "the normalizer Replace with a match that is empty and at the start of the text, before a pre-tokenizer",
        "the first characters are encoded twice, or a panic",
        "the replacement and then the text, as `normalize_str` gives it",
        "The normalized text is the same; only its alignment in tokenizers is wrong.",
    ),
    Known(
        "tokenizers 0.23",
        "byte_fallback of a character with a prefix or suffix",
        "spans of the affix's bytes lie after the end of the text",
        "they are empty, at the character",
        "A span is a part of the text.",
    ),
    Known(
        "tokenizers 0.23",
        "the texts of a template's tokens",
        "what the file says, whatever the ids are",
        "the texts of the ids",
        "They are the same in every known file.",
    ),
)
