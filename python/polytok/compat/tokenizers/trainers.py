"""The trainers of tokenizers 0.23: tokenizers.trainers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .added_token import AddedToken, added_token
from .arguments import boolean, optional_unsigned, text, unsigned
from .representation import represent
from .training import learn_bpe, learn_unigram, learn_words

_PROGRESS_FORMATS = {"indicatif": "Indicatif", "json": "JsonLines", "silent": "Silent"}


def _tokens(values: object) -> list[AddedToken]:
    """Converts texts and added tokens to special tokens."""
    if not isinstance(values, list):
        raise TypeError(f"'{type(values).__name__}' object is not an instance of 'list'")
    try:
        return [added_token(value, True) for value in values]
    except TypeError:
        raise TypeError("special_tokens must be a List[Union[str, AddedToken]]") from None


def _characters(values: Any) -> list[str]:
    """Returns the first characters of texts, each once."""
    if isinstance(values, str):
        raise TypeError("Can't extract `str` to `Vec`")
    return list(dict.fromkeys(text(value)[0] for value in values if text(value)))


def _optional_text(value: object) -> str | None:
    return None if value is None else text(value)


def _progress_format(value: object) -> str:
    return text(value) if value in _PROGRESS_FORMATS else "indicatif"


def _number(value: Any) -> float:
    return float(value)


class Option:
    """An attribute of a trainer; ``check`` checks and converts a value."""

    __slots__ = ("check", "default", "name")

    def __init__(self, check: Callable[[Any], Any], default: Any) -> None:
        self.check, self.default = check, default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, trainer: Any, owner: type) -> Any:
        if trainer is None:
            return self
        value = trainer.values[self.name]
        return list(value) if isinstance(value, list) else value

    def __set__(self, trainer: Trainer, value: Any) -> None:
        trainer.values[self.name] = self.check(value)


class Trainer:
    """The base of all trainers: tokenizers.trainers.Trainer."""

    model: ClassVar[str] = ""
    """The type of model that it trains."""
    order: ClassVar[tuple[str, ...]] = ()
    """The names of the fields of its JSON, in order."""
    values: dict[str, Any]
    words: list[tuple[bytes, int]]
    """The words of the last training, with their counts."""
    special_tokens: Any

    def __init__(self, **options: Any) -> None:
        if not self.model:
            raise TypeError("No constructor defined for Trainer")
        self.values = {name: option.check(option.default) for name, option in self._options().items()}
        self.words = []
        for name, value in options.items():
            if name not in self.values:
                print(f"Ignored unknown kwargs option {name}")
            else:
                setattr(self, name, value)

    @classmethod
    def _options(cls) -> dict[str, Option]:
        return {name: option for name in cls.order if isinstance(option := getattr(cls, name, None), Option)}

    def learn(self, model: Any, words: list[tuple[bytes, int]]) -> dict[str, Any]:
        """Returns the fields of a model, trained from words with their counts."""
        raise NotImplementedError

    def json(self) -> dict[str, Any]:
        """Returns the JSON of the trainer, with its type."""
        fields = {name: self.values.get(name) for name in self.order}
        fields["special_tokens"] = [
            {"type": "AddedToken", **token.__getstate__()} for token in self.values["special_tokens"]
        ]
        if "progress_format" in self.values:
            fields["progress_format"] = _PROGRESS_FORMATS[self.values["progress_format"]]
        return {"type": type(self).__name__, **fields, "words": {word.decode(): count for word, count in self.words}}

    def __getstate__(self) -> bytes:
        state = {type(self).__name__: _without_types(self.json())}
        return json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()

    def __setstate__(self, state: bytes) -> None:
        fields = json.loads(state)[type(self).__name__]
        fields = fields.get("bpe_trainer", fields)
        self.words = [(word.encode(), count) for word, count in fields.get("words", {}).items()]
        self.values = {name: option.check(option.default) for name, option in self._options().items()}
        names = {written: name for name, written in _PROGRESS_FORMATS.items()}
        for name, value in fields.items():
            if name == "special_tokens":
                self.values[name] = [AddedToken(**token) for token in value]
            elif name in self.values:
                self.values[name] = names[value] if name == "progress_format" else value

    def __repr__(self) -> str:
        return f"{type(self).__name__}({represent(self.json())})"

    def __str__(self) -> str:
        return f"{type(self).__name__}({represent(self.json(), most=5)})"


def _without_types(value: Any) -> Any:
    """Returns JSON without the member "type" of its objects."""
    if isinstance(value, dict):
        return {name: _without_types(item) for name, item in value.items() if name != "type"}
    return [_without_types(item) for item in value] if isinstance(value, list) else value


class BpeTrainer(Trainer):
    model = "BPE"
    order = (
        *("min_frequency", "vocab_size", "show_progress", "progress_format", "special_tokens", "limit_alphabet"),
        *("initial_alphabet", "continuing_subword_prefix", "end_of_word_suffix", "max_token_length"),
    )
    vocab_size, min_frequency = Option(unsigned, 30000), Option(unsigned, 0)
    show_progress, progress_format = Option(boolean, True), Option(_progress_format, "indicatif")
    special_tokens, limit_alphabet = Option(_tokens, []), Option(optional_unsigned, None)
    initial_alphabet, max_token_length = Option(_characters, []), Option(optional_unsigned, None)
    continuing_subword_prefix, end_of_word_suffix = Option(_optional_text, None), Option(_optional_text, None)

    def get_word_count(self) -> int:
        """Returns how many different words the last training had."""
        return len(self.words)

    def learn(self, model: Any, words: list[tuple[bytes, int]]) -> dict[str, Any]:
        vocab, merges = learn_bpe(words, self.values)
        affixes = {name: self.values[name] for name in ("continuing_subword_prefix", "end_of_word_suffix")}
        return {**model.fields, **affixes, "vocab": vocab, "merges": merges}


class WordPieceTrainer(Trainer):
    model = "WordPiece"
    order = BpeTrainer.order
    vocab_size, min_frequency = Option(unsigned, 30000), Option(unsigned, 0)
    show_progress, special_tokens = Option(boolean, True), Option(_tokens, [])
    limit_alphabet, initial_alphabet = Option(optional_unsigned, None), Option(_characters, [])
    continuing_subword_prefix, end_of_word_suffix = Option(_optional_text, "##"), Option(_optional_text, None)

    def learn(self, model: Any, words: list[tuple[bytes, int]]) -> dict[str, Any]:
        vocab, _ = learn_bpe(words, {**self.values, "max_token_length": None})
        prefix = self.values["continuing_subword_prefix"]
        return {**model.fields, "continuing_subword_prefix": "##" if prefix is None else prefix, "vocab": vocab}

    def json(self) -> dict[str, Any]:
        inner = super().json()
        return {"type": "WordPieceTrainer", "bpe_trainer": {**inner, "type": "BpeTrainer", **_BPE_ONLY}}


_BPE_ONLY: Mapping[str, Any] = {"progress_format": "Indicatif", "max_token_length": None}
"""The fields that a WordPieceTrainer writes but does not have."""


class WordLevelTrainer(Trainer):
    model = "WordLevel"
    order = ("min_frequency", "vocab_size", "show_progress", "special_tokens")
    vocab_size, min_frequency = Option(unsigned, 30000), Option(unsigned, 0)
    show_progress, special_tokens = Option(boolean, True), Option(_tokens, [])

    def learn(self, model: Any, words: list[tuple[bytes, int]]) -> dict[str, Any]:
        return {**model.fields, "vocab": learn_words(words, self.values)}


class UnigramTrainer(Trainer):
    """Trains as the original does, but always with the same result.

    The original adds floating-point numbers in the order of a hash table, so its scores differ from run to run.
    """

    model = "Unigram"
    order = (
        *("show_progress", "vocab_size", "n_sub_iterations", "shrinking_factor", "special_tokens"),
        *("initial_alphabet", "unk_token", "max_piece_length", "seed_size"),
    )
    vocab_size, n_sub_iterations = Option(unsigned, 8000), Option(unsigned, 2)
    show_progress, shrinking_factor = Option(boolean, True), Option(_number, 0.75)
    special_tokens, initial_alphabet = Option(_tokens, []), Option(_characters, [])
    unk_token, max_piece_length = Option(_optional_text, None), Option(unsigned, 16)
    seed_size = Option(unsigned, 1_000_000)

    def learn(self, model: Any, words: list[tuple[bytes, int]]) -> dict[str, Any]:
        vocab, unk_id = learn_unigram(words, self.values)
        return {**model.fields, "vocab": vocab, "unk_id": unk_id, "byte_fallback": False}


_TRAINERS = {cls.model: cls for cls in (BpeTrainer, WordPieceTrainer, WordLevelTrainer, UnigramTrainer)}


def default_trainer(model: object) -> Trainer:
    """Returns the trainer of a model with its default options."""
    return _TRAINERS[type(model).__name__]()


def trainer_of(value: object) -> Trainer:
    """Returns a trainer: ours itself, or a copy of one of the original package."""
    if isinstance(value, Trainer):
        return value
    kind = type(value)
    if kind.__module__.partition(".")[0] == "tokenizers" and kind.__name__ in (c.__name__ for c in _TRAINERS.values()):
        cls: Any = next(cls for cls in _TRAINERS.values() if cls.__name__ == kind.__name__)
        trainer: Trainer = cls()
        trainer.__setstate__(value.__getstate__())  # type: ignore[attr-defined]  # every trainer of the original has it
        return trainer
    raise TypeError(f"'{kind.__name__}' object is not an instance of 'Trainer'")


def __getattr__(name: str) -> Any:
    if name == "ParityBpeTrainer":
        raise AttributeError("polytok has no parity-aware BPE: use trainers.BpeTrainer")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
