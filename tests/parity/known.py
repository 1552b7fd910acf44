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
        "One policy for all vocabularies: tiktoken's.",
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
        "0.2.1's blob keeps it, 0.2.3's makes a space of it",
        "what the model's own blob says",
        "The blob is part of the model; golden vectors made with the other blob are left out on this character.",
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
        "a split pattern in which something repeated stands on both sides of something optional, such as `a+b?a+`",
        "takes a single `a` for a match",
        "asks for two, unless the pattern needs the general engine, which is tiktoken's",
        "Its engine, fancy-regex 0.19 and 0.20, rewrites them wrongly; no published pattern is of that form.",
    ),
    Known(
        "tiktoken 0.14",
        "special tokens of which one is the beginning of another",
        "whichever its hash table has first",
        "the longest",
        "No order is documented; none of the vocabularies here has such a pair.",
    ),
    Known(
        "tiktoken 0.14",
        "an id with two special tokens (o200k_harmony, 200018)",
        "decodes as whichever its hash table has last",
        "decodes as the first listed",
        "The same text in 0.14.",
    ),
    Known(
        "tiktoken 0.14, `_encode_bytes`",
        "special tokens in bytes that are no UTF-8",
        "never recognised",
        "recognised where the caller allows them",
        "`bytes` and `str` take the same options.",
    ),
    Known(
        "minbpe",
        "a text that holds bytes that are no UTF-8, with a pattern",
        "cannot be given",
        "as tiktoken's `_encode_bytes`",
        "minbpe takes `str` only.",
    ),
    Known(
        "polytok.reference",
        "characters of Unicode 17 and later, in vocabularies with a split pattern",
        "letters and digits as the regex package knows them",
        "unassigned, as in tiktoken 0.14",
        "tiktoken's tables are older than the regex package's; its texts with such characters are left out.",
    ),
    Known(
        "llama.cpp (GGUF)",
        "bytes that spell surrogates or numbers above U+10FFFF",
        "surrogates pass as characters, larger numbers are an exception",
        "surrogates pass where the model is of bytes, elsewhere `EncodeError`; larger numbers become U+FFFD",
        "They are no text; nothing else depends on them.",
    ),
    Known(
        "llama.cpp (GGUF, gemma4)",
        "a line that spells a token which merging cannot make (`<0x41>`, `<bos>`)",
        "its characters",
        "the token",
        "llama.cpp takes whole pieces as tokens for line feeds alone, polytok for all pieces.",
    ),
    Known(
        "llama.cpp (GGUF, superbpe)",
        "ASCII digits beside other number characters",
        "groups of three within the ASCII digits only",
        "groups of three within the whole run",
        "One way to group digits; texts mix digits of two scripts in one number hardly ever.",
    ),
    Known(
        "llama.cpp (GGUF)",
        "decoded: a normal token with a character that stands for no byte (byte-level BPE, `whitespace`)",
        "`[UNK_BYTE_0x…]` with the token's text behind it",
        "the same for up to 16 such characters, else nothing; of `whitespace` the token's text",
        "The report's length is the square of the token's.",
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
        "the decoder Strip with `stop` of more characters than a token has left",
        "a panic",
        "what is there is stripped",
        "The natural result, which later sources of tokenizers give too.",
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
        "truncation with a stride of at least the tokens that stay",
        "a panic",
        "`ArgumentError`",
        "An option out of its range is an error.",
    ),
    Known(
        "tokenizers 0.23",
        "windows that overflow from a pair, without a post-processor",
        "`sequence_ids` are those of a single text",
        "those of the pair",
        "No post-processor is a template without special tokens, whose windows know their texts.",
    ),
    Known(
        "tokenizers 0.23",
        "windows that overflow from a pair, with RobertaProcessing",
        "`type_ids` are 0",
        "0 and 1, as with the same template in TemplateProcessing",
        "RobertaProcessing is read as its template.",
    ),
    Known(
        "tokenizers 0.23",
        "`sequence_ids` without a post-processor, or with ByteLevel behind a template in a Sequence",
        "pads are of the text; each part of the template counts as a text",
        "tokens of a text are of that text, others of none",
        "They are those of the template without special tokens, or of the template alone.",
    ),
    Known(
        "tokenizers 0.23",
        "added tokens that are equal when they are normalized, or with the id of an entry beside them",
        "whichever its hash table has last, from run to run another",
        "always the same one",
        "There is nothing to agree with.",
    ),
    Known(
        "tokenizers 0.23",
        "an added token that is listed twice with different flags",
        "matched by the flags of one, printed by those of the other",
        "the last one",
        "One token has one set of flags.",
    ),
    Known(
        "tokenizers 0.23",
        "the normalizer Prepend with an empty text",
        "the first character twice, or without a span",
        "nothing changes",
        "To put nothing before a text leaves it as it is.",
    ),
    Known(
        "tokenizers 0.23",
        "byte_fallback of a character with a prefix or suffix",
        "spans of the affix's bytes lie behind the text",
        "they are empty, at the character",
        "A span is a stretch of the text.",
    ),
    Known(
        "tokenizers 0.23",
        "the texts of a template's tokens",
        "what the file says, whatever the ids are",
        "the texts of the ids",
        "In every known file they are the same.",
    ),
)
