"""`BaseTokenizer` of tokenizers 0.23."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..normalizers import Normalizer, Sequence
from ..tokenizer import Tokenizer
from ..trainers import Trainer

DEFAULT_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def forwarded(name: str, first: str = "") -> Callable[..., Any]:
    """Returns a method that calls the method of the tokenizer; its first argument must not be None."""

    def method(self: BaseTokenizer, *arguments: Any, **keywords: Any) -> Any:
        if first and (arguments[0] if arguments else keywords.get(first, ())) is None:
            raise ValueError(f"{name}: `{first}` can't be `None`")
        return getattr(self._tokenizer, name)(*arguments, **keywords)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = getattr(Tokenizer, name).__doc__
    return method


def forwarded_property(name: str) -> property:
    """Returns a property that is that of the tokenizer."""
    return property(
        lambda self: getattr(self._tokenizer, name), lambda self, value: setattr(self._tokenizer, name, value)
    )


class BaseTokenizer:
    """A `Tokenizer` with the parameters that it was created with: tokenizers.implementations.BaseTokenizer."""

    def __init__(self, tokenizer: Tokenizer, parameters: Mapping[str, Any] | None = None) -> None:
        self._tokenizer = tokenizer
        self._parameters = {} if parameters is None else parameters

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Tokenizer(vocabulary_size={self._tokenizer.get_vocab_size()}, {parameters})"

    num_special_tokens_to_add = forwarded("num_special_tokens_to_add")
    get_vocab = forwarded("get_vocab")
    get_added_tokens_decoder = forwarded("get_added_tokens_decoder")
    get_vocab_size = forwarded("get_vocab_size")
    no_padding = forwarded("no_padding")
    no_truncation = forwarded("no_truncation")
    add_tokens = forwarded("add_tokens")
    token_to_id = forwarded("token_to_id")
    id_to_token = forwarded("id_to_token")
    save = forwarded("save")
    to_str = forwarded("to_str")
    post_process = forwarded("post_process")
    async_encode_batch = forwarded("async_encode_batch", "inputs")
    async_encode_batch_fast = forwarded("async_encode_batch_fast", "inputs")
    async_decode_batch = forwarded("async_decode_batch", "sequences")
    model, normalizer, pre_tokenizer = map(forwarded_property, ("model", "normalizer", "pre_tokenizer"))
    post_processor, decoder = map(forwarded_property, ("post_processor", "decoder"))

    @property
    def padding(self) -> dict[str, Any] | None:
        return self._tokenizer.padding

    @property
    def truncation(self) -> dict[str, Any] | None:
        return self._tokenizer.truncation

    def enable_padding(
        self,
        direction: str = "right",
        pad_to_multiple_of: int | None = None,
        pad_id: int = 0,
        pad_type_id: int = 0,
        pad_token: str = "[PAD]",
        length: int | None = None,
    ) -> None:
        self._tokenizer.enable_padding(
            direction=direction,
            pad_to_multiple_of=pad_to_multiple_of,
            pad_id=pad_id,
            pad_type_id=pad_type_id,
            pad_token=pad_token,
            length=length,
        )

    def enable_truncation(self, max_length: int, stride: int = 0, strategy: str = "longest_first") -> None:
        self._tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)

    def add_special_tokens(self, special_tokens: list[Any]) -> int:
        return self._tokenizer.add_special_tokens(special_tokens)

    def normalize(self, sequence: str) -> str:
        normalized: str = self._tokenizer.normalizer.normalize_str(sequence)
        return normalized

    def encode(
        self, sequence: Any, pair: Any = None, is_pretokenized: bool = False, add_special_tokens: bool = True
    ) -> Any:
        if sequence is None:
            raise ValueError("encode: `sequence` can't be `None`")
        return self._tokenizer.encode(sequence, pair, is_pretokenized, add_special_tokens)

    def encode_batch(self, inputs: Any, is_pretokenized: bool = False, add_special_tokens: bool = True) -> Any:
        if inputs is None:
            raise ValueError("encode_batch: `inputs` can't be `None`")
        return self._tokenizer.encode_batch(inputs, is_pretokenized, add_special_tokens)

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        if ids is None:
            raise ValueError("None input is not valid. Should be a list of integers.")
        return self._tokenizer.decode(ids, skip_special_tokens)

    def decode_batch(self, sequences: list[list[int]], skip_special_tokens: bool = True) -> list[str]:
        if sequences is None:
            raise ValueError("None input is not valid. Should be list of list of integers.")
        return self._tokenizer.decode_batch(sequences, skip_special_tokens)

    def save_model(self, directory: str, prefix: str | None = None) -> list[str]:
        """Writes the model's own files to a folder."""
        paths: list[str] = self._tokenizer.model.save(directory, prefix=prefix)
        return paths

    def _train(self, files: str | list[str], trainer: Trainer) -> None:
        self._tokenizer.train([files] if isinstance(files, str) else files, trainer)

    def _train_from_iterator(self, iterator: Iterable[Any], trainer: Trainer, length: int | None) -> None:
        self._tokenizer.train_from_iterator(iterator, trainer, length)


def add_known(tokenizer: Tokenizer, *tokens: object) -> None:
    """Adds those of some special tokens that the vocabulary has."""
    for token in map(str, tokens):
        if tokenizer.token_to_id(token) is not None:
            tokenizer.add_special_tokens([token])


def set_normalizers(tokenizer: Tokenizer, normalizers: list[Normalizer]) -> None:
    """Sets the normalizer to one or several, if there are any."""
    if normalizers:
        tokenizer.normalizer = Sequence(normalizers) if len(normalizers) > 1 else normalizers[0]
