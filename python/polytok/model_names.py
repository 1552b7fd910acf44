"""The vocabularies of OpenAI's models, by the models' names: the table of tiktoken 0.14.0, tiktoken/model.py."""

from __future__ import annotations

from collections.abc import Mapping

_MODELS_OF_VOCABULARY = {
    "o200k_base": ("o1", "o3", "o4-mini", "gpt-5", "gpt-4.1", "gpt-4o"),
    "cl100k_base": (
        *("gpt-4", "gpt-3.5-turbo", "gpt-3.5", "gpt-35-turbo", "davinci-002", "babbage-002"),
        *("text-embedding-ada-002", "text-embedding-3-small", "text-embedding-3-large"),
    ),
    "p50k_base": (
        *("text-davinci-003", "text-davinci-002", "code-davinci-002", "code-davinci-001", "code-cushman-002"),
        *("code-cushman-001", "davinci-codex", "cushman-codex"),
    ),
    "p50k_edit": ("text-davinci-edit-001", "code-davinci-edit-001"),
    "r50k_base": (
        *("text-davinci-001", "text-curie-001", "text-babbage-001", "text-ada-001", "davinci", "curie", "babbage"),
        *("ada", "text-similarity-davinci-001", "text-similarity-curie-001", "text-similarity-babbage-001"),
        *("text-similarity-ada-001", "text-search-davinci-doc-001", "text-search-curie-doc-001"),
        *("text-search-babbage-doc-001", "text-search-ada-doc-001", "code-search-babbage-code-001"),
        "code-search-ada-code-001",
    ),
    "gpt2": ("gpt2", "gpt-2"),
}
_PREFIXES_OF_VOCABULARY = {
    "o200k_base": (
        *("o1-", "o3-", "o4-mini-", "gpt-5", "gpt-4.5-", "gpt-4.1-", "chatgpt-4o-", "gpt-4o-", "ft:gpt-4o"),
    ),
    "cl100k_base": (
        *("gpt-4-", "gpt-3.5-turbo-", "gpt-35-turbo-", "ft:gpt-4", "ft:gpt-3.5-turbo", "ft:davinci-002"),
        "ft:babbage-002",
    ),
    "o200k_harmony": ("gpt-oss-",),
}

VOCABULARY_OF_MODEL: Mapping[str, str] = {
    model: vocabulary for vocabulary, models in _MODELS_OF_VOCABULARY.items() for model in models
}
"""The name of each model's vocabulary."""

VOCABULARY_OF_PREFIX: Mapping[str, str] = {
    prefix: vocabulary for vocabulary, prefixes in _PREFIXES_OF_VOCABULARY.items() for prefix in prefixes
}
"""The name of the vocabulary of all models whose names begin with a prefix; the longest prefix decides."""


def vocabulary_of_model(name: str) -> str | None:
    """Returns the name of a model's vocabulary, or None if the model is unknown or its name is probably misspelled.

    >>> [vocabulary_of_model(name) for name in ("gpt-4o", "gpt-4-turbo", "gpt-4-o", "llama")]
    ['o200k_base', 'cl100k_base', None, None]
    """
    if name in VOCABULARY_OF_MODEL:
        return VOCABULARY_OF_MODEL[name]
    prefixes = [prefix for prefix in VOCABULARY_OF_PREFIX if name.startswith(prefix)]
    vocabulary = VOCABULARY_OF_PREFIX[max(prefixes, key=len)] if prefixes else None
    is_misspelled = vocabulary and VOCABULARY_OF_MODEL.get(misspelled_model(name) or "", vocabulary) != vocabulary
    return None if is_misspelled else vocabulary


def misspelled_model(name: str) -> str | None:
    """Returns the model whose name begins a name if dashes are left out of both; None if dashes make no difference.

    >>> misspelled_model("gpt-4-o-mini"), misspelled_model("gpt-4-turbo")
    ('gpt-4o', None)
    """
    plain_name = name.replace("-", "")
    models = [model for model in VOCABULARY_OF_MODEL if plain_name.startswith(model.replace("-", ""))]
    model = max(models, key=len, default=None)
    return None if model is None or name.startswith(model) else model
