"""Lists every intended difference between polytok and a reference, with its reason. Any other difference is a bug."""

from __future__ import annotations

from typing import NamedTuple


class KnownDifference(NamedTuple):
    """An intended difference: the input that shows it, what each program does with the input, and why."""

    reference: str
    input: str
    reference_does: str
    polytok_does: str
    reason: str


KNOWN_DIFFERENCES = (
    KnownDifference(
        "sentencepiece, pyrwkv_tokenizer",
        "`str` with surrogates",
        "an error; the text is not encoded",
        "encodes pairs as the character they form, and lone surrogates as U+FFFD",
        "All vocabularies follow tiktoken's rule.",
    ),
    KnownDifference(
        "sentencepiece 0.2.1",
        "text that contains the surface of a control symbol (BPE, CHAR, WORD)",
        "an empty result; the error is dropped",
        "`EncodeError`",
        "polytok reports every error. SentencePiece 0.2.3 does not drop the error.",
    ),
    KnownDifference(
        "sentencepiece 0.2.1, 0.2.3",
        "U+061C under the rules nmt_*",
        "the blob of 0.2.1 keeps the character, the blob of 0.2.3 replaces the character with a space",
        "follows the blob in the model",
        "The normalization blob is part of the model. Recorded answers from the other blob omit this character.",
    ),
    KnownDifference(
        "llama2.c",
        "a NUL in the text",
        "encodes only the text before the NUL",
        "encodes the whole text",
        "A C string ends at a NUL, but a text can contain NULs.",
    ),
    KnownDifference(
        "llama2.c",
        "ids that decode to control characters",
        "`safe_printf` does not print them",
        "decodes them",
        "Printing is not part of decoding.",
    ),
    KnownDifference(
        "tiktoken 0.14",
        "a split pattern with the same repetition before and after an optional part, such as `a+b?a+`",
        "matches a single `a`",
        "matches only two or more characters, unless the pattern needs the general engine, which is also tiktoken's",
        "tiktoken's engine, fancy-regex 0.19 and 0.20, rewrites such patterns wrongly. No published "
        "pattern has this form.",
    ),
    KnownDifference(
        "tiktoken 0.14",
        "a split pattern with a match that starts before the previous match ends, such as `(?<=\\Ka)`",
        "does not return, panics, or encodes the same text twice",
        "an error that names the pattern and the position",
        "Only `\\K` in a look-behind allows such matches. If matches do not overlap, as in `(?<=\\Ka)b`, "
        "tiktoken and polytok agree.",
    ),
    KnownDifference(
        "tiktoken 0.14",
        "a split pattern that needs the general engine and has no match within about 300 KB",
        "panics, because tiktoken's engine limits the number of steps of a search",
        "encodes the text, unless matching takes too many steps at too many positions",
        "The distance to the next match does not show that a pattern is expensive.",
    ),
    KnownDifference(
        "tiktoken 0.14",
        "a special token that is a prefix of another special token",
        "finds the token that its hash table lists first",
        "finds the longest token",
        "tiktoken documents no order, and no compared vocabulary has such a pair.",
    ),
    KnownDifference(
        "tiktoken 0.14",
        "an id with two special tokens (o200k_harmony, 200018)",
        "decodes the id to the token that its hash table lists last",
        "decodes the id to the token that is listed first",
        "In 0.14 the texts of both tokens are equal.",
    ),
    KnownDifference(
        "tiktoken 0.14",
        "an empty token (whisper's multilingual.tiktoken, 50256), with a pattern that can match nothing",
        "encodes each empty match as the empty token",
        "ignores empty matches, as for vocabularies without an empty token",
        "No published pattern can match the empty string.",
    ),
    KnownDifference(
        "tiktoken 0.14, `_encode_bytes`",
        "special tokens in bytes that are not UTF-8",
        "never recognizes them",
        "recognizes those that the caller allows",
        "`bytes` and `str` have the same options.",
    ),
    KnownDifference(
        "minbpe",
        "text with bytes that are not UTF-8, with a pattern",
        "does not accept bytes",
        "encodes as tiktoken's `_encode_bytes`",
        "minbpe accepts only `str`.",
    ),
    KnownDifference(
        "polytok.reference",
        "characters of Unicode 17 and later, in vocabularies with a split pattern",
        "classifies them as the regex package does, some as letters or digits",
        "treats them as unassigned, as tiktoken 0.14 does",
        "tiktoken's Unicode tables are older than the regex package's. Texts with such characters are not compared.",
    ),
    KnownDifference(
        "llama.cpp (GGUF)",
        "bytes that encode surrogates or code points above U+10FFFF",
        "encodes surrogates like characters; raises an exception for larger code points",
        "encodes surrogates if the model is over bytes, else raises `EncodeError`; replaces larger code "
        "points with U+FFFD",
        "Such bytes are not text, and no other feature depends on them.",
    ),
    KnownDifference(
        "llama.cpp (GGUF, gemma4)",
        "a line equal to a token that no merges build (`<0x41>`, `<bos>`)",
        "encodes its characters",
        "encodes the line as that token",
        "llama.cpp looks up only pieces of line feeds in the vocabulary before it merges; polytok looks up all pieces.",
    ),
    KnownDifference(
        "llama.cpp (GGUF, superbpe)",
        "ASCII digits next to other number characters",
        "groups only the ASCII digits in threes",
        "groups the whole run of digits in threes",
        "polytok has one rule for grouping digits. Numbers rarely mix the digits of two scripts.",
    ),
    KnownDifference(
        "llama.cpp (GGUF)",
        "decoding of a normal token with a character that represents no byte (byte-level BPE, `whitespace`)",
        "`[UNK_BYTE_0x…]`, which contains the token's text, for each such character",
        "the same output for up to 16 such characters, and no output for a token with more; for "
        "`whitespace`, the token's text",
        "The length of this output grows with the square of the token's length.",
    ),
    KnownDifference(
        "llama.cpp (GGUF)",
        "several tokens for the same role in fill-in-the-middle (`<PRE>` and `<fim_prefix>`)",
        "marks the token that its hash table lists first as a control token",
        "marks the token with the smallest id",
        "The order of a hash table is not a rule.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "the decoder Strip, when `stop` is larger than the number of characters that remain in a token",
        "panics",
        "strips the characters of the token",
        "Later source code of tokenizers does the same.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "truncation to fewer tokens than the template adds",
        "truncates nothing, because the length wraps around",
        "`ArgumentError`",
        "polytok reports every error.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "truncation with a stride of at least the number of tokens that remain",
        "panics",
        "`ArgumentError`",
        "An option that is out of range is an error.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "an added token with lstrip that ends within the white space that another, with rstrip, has taken",
        'panics ("bad split")',
        "leaves the token out",
        "tokenizers leaves the token out, too, if both end at the same place.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "overflowing windows of a pair, without a post-processor",
        "returns the `sequence_ids` of a single text",
        "returns the `sequence_ids` of the pair",
        "Without a post-processor polytok uses a template without special tokens, which has the text of each token.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "overflowing windows of a pair, with RobertaProcessing",
        "all `type_ids` are 0",
        "`type_ids` are 0 and 1, as for the same template written as TemplateProcessing",
        "polytok converts RobertaProcessing to the template that RobertaProcessing describes.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "`sequence_ids` without a post-processor, or with ByteLevel after a template in a Sequence",
        "padding has the number of the text; each text or special token of the template counts as a text",
        "tokens of a text have the number of the text, other tokens have no number",
        "`sequence_ids` agree with those of a template without special tokens, or of the template alone.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "added tokens that become equal when normalized, or that share an id with a vocabulary entry",
        "keeps the token that its hash table lists last; this token differs from run to run",
        "always keeps the same token",
        "The reference has no fixed answer.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "an added token that is listed twice with different flags",
        "matches with the flags of one listing, decodes with the flags of the other listing",
        "uses the last entry",
        "A token has one set of flags.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "the normalizer Prepend with an empty text",
        "repeats the first character, or gives it no span",
        "leaves the text unchanged",
        "Prepending the empty text changes nothing.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "the normalizer Replace with a match that is empty and at the start of the text, before a pre-tokenizer",
        "encodes the first characters twice, or panics",
        "encodes the replacement followed by the text, as `normalize_str` returns it",
        "The normalized text is the same; only its alignment with the original text is wrong in tokenizers.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "byte_fallback of a character with a prefix or suffix",
        "the spans of the affix's bytes start after the end of the text",
        "these spans are empty and have the offset of the character",
        "A span must be within the text.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "the texts of a template's tokens",
        "returns the texts that the template lists, even if the vocabulary has other texts for the template's ids",
        "returns the texts of the ids",
        "In every known file the template and the vocabulary have the same texts.",
    ),
    KnownDifference(
        "tokenizers 0.23",
        "an added token of more than 256 bytes, with another whose normalized text is empty",
        "can miss the empty token before another token, because of the crate aho-corasick",
        "finds every leftmost token",
        "Such tokens are searched for with an automaton that takes linear time. No published file has them.",
    ),
    KnownDifference(
        "RWKV's rwkv_tokenizer.py",
        "a vocabulary file with an id or a token in two lines, an empty token, an id that is not a plain number below "
        "2^32, or a literal that is not one plain `str` or `bytes` in quotes",
        "evaluates any expression with Python, and the last line of an id counts",
        "an error that names the line",
        "A file must not run code, and a repeated id is damage.",
    ),
    KnownDifference(
        "RWKV's rwkv_tokenizer.py",
        "a vocabulary file with the character U+0000 in a literal",
        "an error, because Python's source cannot have it",
        "loads it",
        "The literal is clear, and nothing is evaluated.",
    ),
    KnownDifference(
        "mistral-common",
        "a tekken.json whose special tokens are not listed in the order of their ranks, or with other characters in "
        "Base64, a `token_str` that is not text, or more than 65,536 special tokens",
        "loads it; ids of special tokens and texts of ids then disagree; skips other characters in Base64",
        "an error that names the entry",
        "Such a file is damaged, and a small file could demand billions of special tokens.",
    ),
    KnownDifference(
        "mistral-common",
        "a tekken.json with wrong settings for images",
        "an error",
        "loads it",
        "polytok does not read these settings.",
    ),
)
