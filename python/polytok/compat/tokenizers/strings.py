"""`NormalizedString` and `PreTokenizedString` of tokenizers 0.23, which only components in Python use."""

from __future__ import annotations


class NormalizedString:
    """Stands for tokenizers.NormalizedString, so that programs can import it; it cannot be created."""

    def __init__(self, sequence: str) -> None:
        raise NotImplementedError("polytok has no NormalizedString: normalize a text with a normalizer's normalize_str")


class PreTokenizedString:
    """Stands for tokenizers.PreTokenizedString, so that programs can import it; it cannot be created."""

    def __init__(self, sequence: str) -> None:
        raise NotImplementedError(
            "polytok has no PreTokenizedString: split a text with a pre-tokenizer's pre_tokenize_str"
        )
