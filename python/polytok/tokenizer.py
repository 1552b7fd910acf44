"""The one public class: `Tokenizer`."""

from __future__ import annotations

import operator
import os
import secrets
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from .arrow import ArrowColumn, of_same_package
from .encoding import Encoder, Encoding, Padding, Truncation, Words, padded
from .errors import ArgumentError, PieceError, SpecialTokenError
from .file_names import format_of
from .files import save_all
from .fingerprint import fingerprint
from .formats.ptok import NativeFile
from .options import OptionKeywords, Options
from .resources import processors
from .spec import Spec
from .stream import StreamDecoder
from .values import Batch, Errors, IdArray, Ids, Spans, Text, Token

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .lossless import Lossless

_MAX_OPTIONS = 16
_TEMPLATE = Options(add_special=True)
_MAX_SEED = 2**64
_MOST = 2**31 - 1


class Tokenizer:
    """A tokenizer compiled from a `Spec`: immutable, safe in many threads at once, after a fork, and picklable.

    Text is ``str``, or ``bytes`` meant to be UTF-8. Surrogates in a ``str`` are repaired before anything else, as
    tiktoken does it: pairs are joined, lone ones become U+FFFD; spans are those of the repaired text.

    Every method that encodes takes the same three options: ``add_special``, ``special`` and ``reject_special``. They
    are given as keywords, or together as one `Options` value: ``options=``.

    Every encoding raises `EncodeError` for text that the vocabulary cannot cover, and `SpecialTokenError` for a text in
    ``special`` that is not one of its special tokens.
    """

    __slots__ = ("__weakref__", "_core", "_encoder", "_file", "_options", "_outline", "_texts")

    def __init__(self, spec: Spec) -> None:
        """Compile a Spec.

        Raises `SpecError` if its parts do not fit together.
        """
        self._start(spec, _core.Tokenizer(spec), None)

    @classmethod
    def _of_file(cls, file: NativeFile) -> Tokenizer:
        """The tokenizer of a native file, used in place."""
        tokenizer = cls.__new__(cls)
        tokenizer._start(file.outline, file.compile(), file)
        return tokenizer

    def _start(self, outline: Spec, core: _core.Tokenizer, file: NativeFile | None) -> None:
        """``outline`` is the Spec, or with a ``file`` that is mapped, the Spec without its columns."""
        self._outline = outline
        self._core = core
        self._file = file
        self._encoder: Encoder | None = None
        self._texts = {_readable(text): text for text, _ in self._core.special_tokens()}
        self._options: dict[Options, _core.ResolvedOptions] = {}

    @property
    def spec(self) -> Spec:
        """The Spec that this tokenizer was compiled from."""
        if (file := self._file) is not None:
            self._outline = file.spec()
            self._file = None
        return self._outline

    @property
    def fingerprint(self) -> str:
        """A hash, in hexadecimal, of everything in the Spec that shapes ids: see `polytok.fingerprint`.

        >>> import polytok
        >>> len(polytok.load("default").fingerprint)
        32
        """
        return (fingerprint(self.spec) if self._file is None else self._file.fingerprint).hex()

    # Encoding

    def encode(self, text: Text, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> list[int]:
        """The ids of a text.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.decode(tokenizer.encode("Hello, world"))
        'Hello, world'
        >>> tokenizer.encode("<|endoftext|>", special={"<|endoftext|>"})
        [32767]
        """
        if options is None and not keywords:
            return self._core.encode(text)
        return self._core.encode(text, self._chosen(options, keywords))

    def encode_array(
        self, text: Text, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]
    ) -> IdArray:
        """The ids as a numpy array of shape (tokens,), uint16 if every id of the vocabulary fits, else uint32.

        >>> import polytok
        >>> polytok.load("default").encode_array("a").dtype
        dtype('uint16')
        """
        if options is None and not keywords:
            return self._core.encode_array(text)
        return self._core.encode_array(text, self._chosen(options, keywords))

    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Batch:
        """The ids of many texts, in ``threads`` threads (by default one for each processor the process may use).

        They are those of `encode` for each text; the GIL is released. The first text that cannot be encoded is an
        error.

        >>> import polytok
        >>> polytok.load("default").encode_batch(["a", "", "!"]).to_list()
        [[97], [], [33]]
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError("encode_batch takes several texts; encode takes one")
        return Batch(*self._core.encode_batch(list(texts), self._chosen(options, keywords), _threads(threads)))

    def encode_arrow(
        self,
        column: ArrowColumn,
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Any:
        """The ids of a column of texts as a column of lists, without an object of Python for any text or id.

        ``column`` is anything that implements Arrow's interface (``__arrow_c_array__`` or ``__arrow_c_stream__``): a
        pyarrow Array or ChunkedArray, a polars Series, ... of string, binary, their large and view kinds, or a
        dictionary of such. A pyarrow column gives a pyarrow column. Any other gives an object with the same interface,
        an array for an array and a stream for a stream, with the same chunks; ``pyarrow.array``,
        ``pyarrow.chunked_array`` and ``polars.Series`` accept it without a copy. The type is list<uint16> if every id
        of the vocabulary fits, else list<uint32>; it is large_list except for string and binary. Null gives null. See
        docs/arrow.md.

        The ids are those of `encode` for each text, in ``threads`` threads as in `encode_batch`; the GIL is released.
        The first text that cannot be encoded is an error. Raises `TypeError` if the column is not a column of texts,
        and `ArgumentError` if its offsets lead outside of it.

        >>> import polytok, pyarrow
        >>> polytok.load("default").encode_arrow(pyarrow.array(["a", None, "!"])).to_pylist()
        [[97], None, [33]]
        """
        chosen = self._chosen(options, keywords)
        return of_same_package(self._core.encode_arrow(column, chosen, _threads(threads)), column)

    def count_arrow(
        self,
        column: ArrowColumn,
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Any:
        """The numbers of ids of a column of texts, as a column of int64; otherwise as `encode_arrow`.

        >>> import polytok, pyarrow
        >>> polytok.load("default").count_arrow(pyarrow.array(["a b", None, ""])).to_pylist()
        [2, None, 0]
        """
        chosen = self._chosen(options, keywords)
        return of_same_package(self._core.count_arrow(column, chosen, _threads(threads)), column)

    def _encode_texts(
        self,
        texts: _core.Texts,
        options: Options | None = None,
        *,
        begin: int | None = None,
        end: int | None = None,
        threads: int | None = None,
    ) -> Batch:
        """The ids of a column of texts, as `encode_batch` gives them, each between the ids ``begin`` and ``end``."""
        return Batch(*self._core.encode_texts(texts, self._chosen(options, {}), _threads(threads), begin, end))

    def tokens(self, text: Text, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> list[Token]:
        """The tokens of a text, each with its piece and its span in the original text.

        >>> import polytok
        >>> [token.piece.decode() for token in polytok.load("default").tokens("a b")]
        ['a', ' b']
        """
        rows = self._core.tokens(text, self._chosen(options, keywords))
        return [Token._make(row) for row in rows]

    def spans(self, text: Text, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> Spans:
        """The tokens of a text as columns, which is much cheaper than `tokens`.

        >>> import polytok
        >>> spans = polytok.load("default").spans("a é")
        >>> spans.starts.tolist(), spans.ends.tolist(), spans.byte_ends.tolist()
        ([0, 1], [1, 3], [1, 4])
        """
        return Spans(*self._core.spans(text, self._chosen(options, keywords)))

    def encoding(
        self,
        text: Text | Words,
        pair: Text | Words | None = None,
        *,
        options: Options | None = None,
        pretokenized: bool = False,
        truncation: Truncation | bool | None = None,
        padding: Padding | bool | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Encoding:
        """A text, or a pair of texts, with type ids, masks and word numbers, truncated and padded as requested.

        With ``pretokenized`` each text is a list of words, offsets count within the word, and ``word_ids`` are indices
        into the list. ``truncation=True`` and ``padding=True`` use the settings of the tokenizer's file, and raise
        `ArgumentError` if it has none. As ``encode`` of the package tokenizers 0.23 (docs/encoding.md).

        >>> import polytok
        >>> encoding = polytok.load("default").encoding("a b", "c", padding=polytok.Padding(length=5, token="-"))
        >>> encoding.tokens, encoding.type_ids
        (['a', 'Ġb', 'c', '-', '-'], [0, 0, 1, 0, 0])
        """
        encoder, chosen = self._encodings(), self._chosen(options, keywords)
        encoding = encoder.encode(text, pair, chosen, encoder.truncation(truncation), pretokenized)
        pads = encoder.padding(padding)
        return encoding if pads is None else padded([encoding], pads)[0]

    def encodings(
        self,
        texts: Iterable[Text | Words | tuple[Text | Words, Text | Words]],
        *,
        options: Options | None = None,
        pretokenized: bool = False,
        truncation: Truncation | bool | None = None,
        padding: Padding | bool | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[Encoding]:
        """Many texts as by `encoding`, padded to the longest of them; pairs are tuples.

        >>> import polytok
        >>> rows = polytok.load("default").encodings(["a", ("a b", "c")], padding=polytok.Padding())
        >>> [row.attention_mask for row in rows]
        [[1, 0, 0], [1, 1, 1]]
        """
        if isinstance(texts, (str, bytes)):
            raise TypeError("encodings takes several texts; encoding takes one")
        encoder, chosen = self._encodings(), self._chosen(options, keywords)
        limit, pads = encoder.truncation(truncation), encoder.padding(padding)
        pairs = (text if isinstance(text, tuple) else (text, None) for text in texts)
        made = [encoder.encode(text, pair, chosen, limit, pretokenized) for text, pair in pairs]
        return made if pads is None else padded(made, pads)

    def count(self, text: Text, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> int:
        """The number of ids of a text, without building them.

        >>> import polytok
        >>> polytok.load("default").count("a b")
        2
        """
        if options is None and not keywords:
            return self._core.count(text)
        return self._core.count(text, self._chosen(options, keywords))

    # Other segmentations

    def nbest(self, text: Text, n: int) -> list[tuple[list[int], float]]:
        """The ``n`` best segmentations with their scores, best first; fewer if there are fewer. Unigram only.

        As SentencePiece's NBestEncode: ``n=1`` gives the plain encoding with score 0.
        """
        return self._core.nbest(text, _count("n", n))

    def sample(self, text: Text, *, alpha: float, nbest_size: int = -1, seed: int | None = None) -> list[int]:
        """One segmentation at random, as SentencePiece's SampleEncode draws it; the same seed gives the same.

        Unigram: among the ``nbest_size`` best, or all if it is negative, with probability proportional to exp(``alpha``
        · score). BPE: every merge is skipped with probability ``alpha`` (BPE-dropout).
        """
        return self._core.sample(text, max(_count("nbest_size", nbest_size, least=-_MOST), -1), alpha, _seed(seed))

    def sample_with_score(
        self,
        text: Text,
        *,
        num_samples: int = 1,
        alpha: float = 1.0,
        without_replacement: bool = False,
        include_best: bool = False,
        seed: int | None = None,
    ) -> list[tuple[list[int], float]]:
        """Several segmentations at random with their log probabilities, as SentencePiece 0.2.1's SampleEncodeAndScore.

        ``include_best`` needs ``without_replacement``; the best one then comes first, with score 0. Unigram only.
        """
        samples = _count("num_samples", num_samples, least=1)
        return self._core.sample_with_score(text, samples, alpha, without_replacement, include_best, _seed(seed))

    def entropy(self, text: Text, *, alpha: float = 1.0) -> float:
        """The entropy of a text's segmentations in nats, as SentencePiece 0.2.1's CalculateEntropy. Unigram only."""
        return self._core.entropy(text, alpha)

    def restrict(self, pieces: Collection[str | bytes]) -> Tokenizer:
        """A tokenizer that emits only these pieces, and single characters: SentencePiece 0.2.1's SetVocabulary.

        Unigram and SentencePiece BPE only. This tokenizer is not changed.
        """
        if isinstance(pieces, (str, bytes)):
            raise TypeError("restrict takes several pieces, in a set or list")
        from .restriction import restricted

        return Tokenizer(restricted(self.spec, pieces))

    # Decoding

    def decode(self, ids: Ids, *, skip_special: bool = False, errors: Errors = "replace") -> str:
        """The text of ids. Bytes that are not UTF-8 become U+FFFD; ``errors`` can make them an error or drop them
        instead.

        ``skip_special`` omits special tokens. Raises `TokenIdError` for an id that the vocabulary does not have; a
        chain of Hugging Face's decoders skips such ids.

        >>> import polytok
        >>> polytok.load("default").decode([97, 32767, 98], skip_special=True)
        'ab'
        """
        return self._core.decode(ids, skip_special, errors)

    def decode_bytes(self, ids: Ids, *, skip_special: bool = False) -> bytes:
        """The bytes of ids, which need not be whole characters."""
        return self._core.decode_bytes(ids, skip_special)

    def decode_batch(
        self, batch: Iterable[Ids], *, skip_special: bool = False, errors: Errors = "replace"
    ) -> list[str]:
        """The texts of many rows of ids: lists, arrays, or a `Batch`.

        >>> import polytok
        >>> polytok.load("default").decode_batch([[97], [98, 33]])
        ['a', 'b!']
        """
        return self._core.decode_batch(batch, skip_special, errors)

    def decoder(self, *, skip_special: bool = False, errors: Errors = "replace") -> StreamDecoder:
        """A decoder for ids that come one by one."""
        return StreamDecoder(self._core.stream(skip_special), errors)

    def byte_decoder(self, *, skip_special: bool = False) -> _core.DecodeStream:
        """A decoder to bytes for ids that arrive in parts: ``push(ids)`` and at the end ``finish()`` return them."""
        return self._core.stream(skip_special)

    # The vocabulary

    @property
    def vocab_size(self) -> int:
        """One more than the largest id, special tokens included; ids may have holes."""
        largest = self._core.max_id()
        return 0 if largest is None else largest + 1

    def __len__(self) -> int:
        return self.vocab_size

    def token_bytes(self, id: int) -> bytes:
        """The bytes of an id's piece, exactly as in the vocabulary; for a special token, of its text.

        Raises `TokenIdError` for an id that the vocabulary does not have.
        """
        return self._core.token_bytes(id)

    def id_of(self, piece: str | bytes) -> int:
        """The id of a piece or special token. Raises `PieceError` if it does not exist.

        >>> import polytok
        >>> polytok.load("default").id_of("!")
        33
        """
        found = self._core.id_of(piece.encode() if isinstance(piece, str) else piece)
        if found is None:
            raise PieceError(f"{piece!r} is not a piece of the vocabulary")
        return found

    @property
    def special_tokens(self) -> dict[str, int]:
        """The texts and ids of all special tokens: the ones beside the vocabulary, and its control symbols.

        Bytes that are not UTF-8 appear as surrogates in the texts (Python's ``surrogateescape``).
        """
        return {_readable(text): id for text, id in self._core.special_tokens()}

    @property
    def bos_id(self) -> int | None:
        """The id that begins a text, or None."""
        return self._outline.names.get("bos")

    @property
    def eos_id(self) -> int | None:
        """The id that ends a text, or None."""
        return self._outline.names.get("eos")

    @property
    def unk_id(self) -> int | None:
        """The id of unknown text, or None."""
        return self._outline.names.get("unk")

    @property
    def pad_id(self) -> int | None:
        """The id that pads, or None."""
        return self._outline.names.get("pad")

    @property
    def lossless(self) -> Lossless:
        """Whether decoding restores every encoded text, and if not, all reasons."""
        from .lossless import lossless

        return lossless(self.spec)

    # Files

    @property
    def cache_limit(self) -> int:
        """The limit of each thread's cache in bytes: 64 MiB by default; 0 means no cache.

        A cache keeps the ids of pieces of text seen before, which makes encoding faster and never different. It grows
        with new pieces; setting the limit empties it. It is not a part of the Spec, and is not pickled.
        """
        return self._core.cache_limit

    @cache_limit.setter
    def cache_limit(self, limit: int) -> None:
        self._core.cache_limit = _count("cache_limit", limit)

    @property
    def cache_bytes(self) -> int:
        """The bytes that the caches use now, except those of threads that are encoding."""
        return self._core.cache_bytes

    def clear_cache(self) -> None:
        """Free the memory of the caches; those of threads that are encoding are freed as soon as they finish."""
        self._core.clear_cache()

    def save(self, path: str | os.PathLike[str], format: str | None = None, strict: bool = False) -> tuple[str, ...]:
        """Write the tokenizer to a file.

        ``format`` selects the format, else the file's name does (``.gguf``, ``.tiktoken``, ``tokenizer.json``), else
        the tokenizer keeps its original format. Returns what the format cannot carry, line by line; with ``strict``
        this is a `LossError` and nothing is written. Files are written under a temporary name and renamed. Files that
        belong beside the main one (minbpe's ``.vocab``) are written too.

        Raises `FormatError` if the format cannot express this tokenizer, `ArgumentError` if files of several formats
        have this name, and `FileError` if the file cannot be written.
        """
        from .conversion import write  # as much to import as all formats

        target = Path(path)
        written = write(self.spec, format or format_of(target, self._outline.origin.format), strict=strict)
        save_all(target, written.data, written.companions)
        return written.losses

    # Object protocol

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[Spec]]:
        return (Tokenizer, (self.spec,))

    def __repr__(self) -> str:
        origin = self._outline.origin
        name = f"{origin.format} {origin.name}" if origin.name else origin.format
        return f"<polytok.Tokenizer {name}, {self._outline.model.kind}, {self.vocab_size} ids>"

    def _encodings(self) -> Encoder:
        if self._encoder is None:
            self._encoder = Encoder(self.spec, self._core)
        return self._encoder

    def _chosen(self, options: Options | None, keywords: OptionKeywords) -> _core.ResolvedOptions | None:
        """The caller's options, given as a value or as keywords, in the engine's form; None is all defaults."""
        if options is None:
            if not keywords:
                return None
            # The template alone is so common in calls with short texts that no value is created for it.
            options = _TEMPLATE if keywords == {"add_special": True} else Options(**keywords)
        elif keywords:
            raise TypeError(f"options= and {', '.join(keywords)}= say the same thing: give one of them")
        found = self._options.get(options)
        return self._resolve(options) if found is None else found

    def _resolve(self, options: Options) -> _core.ResolvedOptions:
        """The sets of special tokens to recognise and to reject, built once for each value."""
        if not isinstance(options, Options):
            raise TypeError(f"options must be a polytok.Options, not {type(options).__name__}")
        known = self._texts.keys()
        allowed = known if options.special == "all" else frozenset(options.special)
        if unknown := sorted(allowed - known, key=str):
            raise SpecialTokenError(f"{unknown[0]!r} is not a special token of this vocabulary")
        refused = known - allowed if options.reject_special else ()
        special, reject = ({self._texts[text] for text in texts} for texts in (allowed, refused))
        resolved = self._core.options(options.add_special, special, reject)
        if len(self._options) < _MAX_OPTIONS:
            self._options[options] = resolved
        return resolved


def _threads(number: int | None) -> int:
    """The requested number, or one for each processor that this process can use."""
    return processors() if number is None else _count("threads", number, least=1)


def _seed(seed: int | None) -> int:
    return secrets.randbelow(_MAX_SEED) if seed is None else operator.index(seed) % _MAX_SEED


def _count(name: str, value: int, least: int = 0) -> int:
    """A number that the engine can accept."""
    number = operator.index(value)
    if not least <= number <= _MOST:
        raise ArgumentError(f"{name} is {number}, which is not from {least} to {_MOST}")
    return number


def _readable(text: bytes) -> str:
    """A special token's text as a ``str``; different bytes stay different."""
    return text.decode("utf-8", "surrogateescape")
