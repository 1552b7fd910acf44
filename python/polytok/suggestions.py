"""Suggests the name that a user probably meant."""

from __future__ import annotations

from collections.abc import Collection, Iterable

# Keywords of other packages that have another name here; of two names, the first that a function has is suggested.
_KEYWORDS_ELSEWHERE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("processes", "num_proc", "num_processes", "num_workers", "n_jobs"), ("workers", "threads")),
    **dict.fromkeys(("vocabulary_size", "n_vocab"), ("vocab_size",)),
    "add_special_tokens": ("add_special",),
    "allowed_special": ("special",),
    "disallowed_special": ("reject_special",),
    "is_split_into_words": ("pretokenized",),
    "model_type": ("kind",),
    "num_threads": ("threads",),
    "pad_id": ("id",),
    "pad_to_multiple_of": ("to_multiple_of",),
    "pad_token": ("token",),
    "pad_type_id": ("type_id",),
    "simd_level": ("level",),
    "skip_special_tokens": ("skip_special",),
    "text_pair": ("pair",),
    "tokens": ("pieces",),
    "workers": ("threads",),
}
# What polytok has in place of keywords that a function lacks under any name.
_REPLACEMENTS = {
    "clean_up_tokenization_spaces": "the file of the tokenizer determines how spaces are decoded",
    "is_split_into_words": "encoding(words, pretokenized=True)",
    "max_length": "encoding(text, truncation=8) truncates, and padding=8 pads",
    "pad_to_multiple_of": "encodings(texts, padding=Padding(to_multiple_of=8))",
    "padding": "encoding(text, padding=8) and encodings(texts, padding=True) pad",
    "return_attention_mask": "encoding(text) returns the attention mask",
    "return_offsets_mapping": "spans(text) and encoding(text) return offsets",
    "return_overflowing_tokens": "encoding(text, truncation=Truncation(8, stride=2)) returns overflowing windows",
    "return_tensors": "encode_array returns a numpy array",
    "stride": "encoding(text, truncation=Truncation(8, stride=2)) returns overflowing windows",
    "text_pair": "encodings([(text, pair)]) encodes pairs",
    "truncation": "encoding(text, truncation=8) and encodings(texts, truncation=8) truncate",
    "weights": "the weights are the values of the dict, {'a': 0.7, 'b': 0.3}",
}


def keyword_advice(name: str, known_names: Collection[str]) -> str:
    """Returns the end of the message for a keyword that a function does not have: what to write instead.

    >>> keyword_advice("pad_id", ["id", "token"]), keyword_advice("x", ["id", "token"])
    ("; did you mean 'id'?", '; it has id, token')
    >>> keyword_advice("return_tensors", ["options"])
    ': encode_array returns a numpy array'
    """
    if (own_name := _own_name(name, known_names)) is not None:
        return f"; did you mean {own_name!r}?"
    if replacement := _REPLACEMENTS.get(name):
        return f": {replacement}"
    return did_you_mean(name, known_names) or f"; it has {', '.join(sorted(set(known_names)))}"


def _own_name(name: str, known_names: Collection[str]) -> str | None:
    """Returns the name that a keyword of another package has here, if it is known."""
    return next((own_name for own_name in _KEYWORDS_ELSEWHERE.get(name, ()) if own_name in known_names), None)


def did_you_mean_keyword(name: str, known_names: Collection[str]) -> str:
    """Returns the end of an error message like `did_you_mean`, also for keywords of other packages.

    >>> did_you_mean_keyword("n_jobs", ["threads"])
    "; did you mean 'threads'?"
    """
    own_name = _own_name(name, known_names)
    return f"; did you mean {own_name!r}?" if own_name else did_you_mean(name, known_names)


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """Returns the end of an error message, with the known name that is most similar; empty if no name is similar.

    >>> did_you_mean("eoss", ["bos", "eos"]), did_you_mean("x", ["bos", "eos"])
    ("; did you mean 'eos'?", '')
    """
    match = similar_name(name, known_names)
    return f"; did you mean {match!r}?" if match else ""


def similar_name(name: str, known_names: Iterable[str]) -> str | None:
    """Returns the known name that is most similar, or None.

    A name that is almost the same comes first, then one with some of the same words, then any similar name.

    >>> similar_name("--max-tokens", ["--max", "--special-tokens"])
    '--max'
    >>> similar_name("o200k", ["o200k_harmony", "o200k_base"])
    'o200k_base'
    >>> similar_name("--vocab_sise", ["--vocab-size"]), similar_name("--pieces", ["--lines"])
    ('--vocab-size', None)
    """
    from difflib import get_close_matches  # only an error needs it

    # The dashes before flags would make all flags similar.
    names = {_comparable(known): known for known in known_names}
    name = _comparable(name)
    matches = get_close_matches(name, names, 1, cutoff=0.85)
    with_words = [known for known in names if _begins_with_words(name, known)]
    matches += sorted(with_words, key=lambda known: abs(len(known) - len(name)))
    matches += get_close_matches(name, names, 1, cutoff=0.65)
    return names[matches[0]] if matches else None


def _comparable(name: str) -> str:
    """Returns a name without the dashes before a flag, and with dashes between its words."""
    return name.lstrip("-").replace("_", "-")


def _begins_with_words(name: str, other: str) -> bool:
    """Reports whether the words of one name begin the other."""
    shorter, longer = sorted((name, other), key=len)
    return len(shorter) > 2 and longer.startswith(f"{shorter}-")
