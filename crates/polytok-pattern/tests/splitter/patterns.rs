//! The patterns that the tests run.

const GPT2_OLD: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const MINBPE_GPT2: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const MINBPE_GPT4: &str =
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
const R50K: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s";
const CL100K: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s";
const O200K: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const QWEN: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const TWO_DIGIT_NUMBERS: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const KIMI: &str = concat!(
    r"[\p{Han}]+|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
);

/// BERT's two split steps as one pattern, with fewer punctuation marks.
const BERT: &str = r"[^\s[!-/\x{4E00}-\x{9FFF}]]+|[[!-/\x{4E00}-\x{9FFF}]&&\S]";

/// Patterns that are published with vocabularies.
pub(crate) const PUBLISHED_PATTERNS: [(&str, &str); 11] = [
    ("gpt2, old", GPT2_OLD),
    ("minbpe gpt2", MINBPE_GPT2),
    ("minbpe gpt4", MINBPE_GPT4),
    ("r50k", R50K),
    ("cl100k", CL100K),
    ("o200k", O200K),
    ("llama 3", LLAMA3),
    ("qwen", QWEN),
    ("two digits", TWO_DIGIT_NUMBERS),
    ("kimi", KIMI),
    ("bert", BERT),
];

/// Patterns whose matches leave gaps, fail after a long run, or are shorter than the longest possible match.
pub(crate) const ODD_PATTERNS: [&str; 14] = [
    r"\s*[\r\n]|x",
    r"\p{L}+\d",
    r"\p{L}++\d|\p{L}{3}",
    r"a*b",
    r"a?a?a?b",
    r"a{0,5}a*(?!a)b",
    r"(?:a|aa)[ab]*c|b",
    r"a(?:[ab]+c)?",
    r"[^\s]{2,}(?= )",
    r"(a|ab)(c|bcd)?d*",
    r"(?i:k|ſ|'s)[k-s]+|(?i:[k-s]+)\.",
    r".\z|\p{Lu}{2,3}+\P{Lu}",
    r"'(?:(?i:re|S)|t)?x|[[:alpha:]&&[^b-y]]+",
    r"\p{Lu}*+\p{L}|\p{Greek}{2,}$",
];
