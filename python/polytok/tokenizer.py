"""The class `Tokenizer`, through which polytok encodes and decodes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _core, arguments, checks
from .arrow import ArrowColumn, match_package_of
from .checked import checked
from .file_names import format_of
from .files import save_all
from .foreign_names import OWN_NAMES, add_foreign_names
from .forking import load_numpy_before_fork
from .formats.ptok import NativeFile
from .incremental import IncrementalText, StreamEncoder, stable_prefix
from .options import NoKeywords, OptionKeywords, OptionResolver, Options, special_text
from .parts import text_or_parts
from .pieces import UnknownPiece, ids_of_pieces, pieces_of_ids
from .spec import Spec
from .stream import (
    ByteDecoder,
    StreamDecoder,
    StreamDecoders,
    StreamKeywords,
    UnknownIds,
    create_decoder,
    unknown_ids,
)
from .values import Batch, Decoded, Errors, FormatName, IdArray, Ids, Spans, Text, Token

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Unpack

    from .canonical import CanonicalTest
    from .chat import ChatEncoding, ChatTemplates, Limits, SpecialInMessages
    from .cutting import TokenLimit
    from .encoding import Encoder, Encoding, Words
    from .healing import Healed
    from .lengths import Padding, Truncation
    from .lossless import Lossless
    from .merge_list import Merge
    from .parts import Parts
    from .token_bytes import TokenBytes
    from .trace import Trace
    from .trace.tracer import Tracer
    from .vocab_table import VocabTable


load_numpy_before_fork()

_ENCODING_KEYWORDS = ("pretokenized", "truncation", "padding")


class Tokenizer:
    """A tokenizer, compiled from a `Spec`.

    A tokenizer is immutable, can be used in many threads and after a fork, and can be pickled.

    A text is a ``str``, or ``bytes`` in UTF-8. Surrogates in a ``str`` are repaired first, as in tiktoken: pairs are
    joined, and lone ones are replaced with U+FFFD. Spans refer to the repaired text. The methods ``encode``,
    ``encode_array``, ``encode_batch``, ``tokens``, ``spans``, ``count``, ``encoding`` and ``encodings`` also accept
    `Parts`: a text in parts, in whose untrusted parts no special token is recognized.

    Every method that encodes accepts the same three options: ``add_special``, ``special`` and ``reject_special``. The
    options are passed as keywords, or together as an `Options` value: ``options=``.

    These methods raise `EncodeError` for text that the vocabulary cannot cover, and `SpecialTokenError` for a text in
    ``special`` that is not a special token of the vocabulary.
    """

    __slots__ = (
        "__weakref__",
        "_canonical_test",
        "_chat",
        "_core",
        "_encoder",
        "_file",
        "_outline",
        "_resolve_options",
        "_token_bytes",
        "_tracer",
        "_vocab_size",
    )

    def __init__(self, spec: Spec) -> None:
        """Compiles a Spec.

        Raises `SpecError` if the parts of the Spec do not fit together.
        """
        self._set_fields(spec, _core.Tokenizer(spec), None)

    @classmethod
    def _from_file(cls, file: NativeFile) -> Tokenizer:
        """Returns a tokenizer that uses the tables in a ``.ptok`` file."""
        tokenizer = cls.__new__(cls)
        tokenizer._set_fields(file.outline, file.compile(), file)
        return tokenizer

    def _set_fields(self, outline: Spec, core: _core.Tokenizer, file: NativeFile | None) -> None:
        """Sets the fields. ``outline`` is the Spec; if ``file`` is a mapped file, the outline lacks the columns."""
        self._outline = outline
        self._core = core
        self._file = file
        self._canonical_test: CanonicalTest | None = None
        self._encoder: Encoder | None = None
        self._token_bytes: TokenBytes | None = None
        self._tracer: Tracer | None = None
        self._chat: ChatTemplates | None = None
        self._resolve_options = OptionResolver(core).resolve
        largest_id = core.max_id()
        self._vocab_size = 0 if largest_id is None else largest_id + 1
        core.set_guard(partial(_compile_guard, outline if file is None else file))

    @property
    def spec(self) -> Spec:
        """The Spec that this tokenizer was compiled from."""
        if (file := self._file) is not None:
            self._outline = file.spec()
            self._file = None
        return self._outline

    @property
    def fingerprint(self) -> str:
        """A hash, in hexadecimal, of all data in the Spec that affects ids (see `polytok.fingerprint`).

        >>> import polytok
        >>> len(polytok.load("default").fingerprint)
        32
        """
        if self._file is not None:
            return self._file.fingerprint.hex()
        from .fingerprint import fingerprint

        return fingerprint(self.spec).hex()

    # Encoding

    def encode(
        self, text: Text | Parts, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]
    ) -> list[int]:
        """Encodes a text and returns its ids.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.decode(tokenizer.encode("Hello, world"))
        'Hello, world'
        >>> tokenizer.encode("<|endoftext|>", special={"<|endoftext|>"})
        [32767]
        """
        if options is None and not keywords:
            return self._core.encode(text)
        return self._core.encode(text, self._resolve_options(options, keywords))

    def encode_array(
        self, text: Text | Parts, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]
    ) -> IdArray:
        """Encodes a text and returns its ids as a numpy array.

        The shape is (tokens,). The array's type is uint16 if every id of the vocabulary fits, else uint32.

        >>> import polytok
        >>> polytok.load("default").encode_array("a").dtype
        dtype('uint16')
        """
        if options is None and not keywords:
            return self._core.encode_array(text)
        return self._core.encode_array(text, self._resolve_options(options, keywords, "encode_array"))

    def encode_batch(
        self,
        texts: Iterable[Text | Parts],
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Batch:
        """Encodes many texts in ``threads`` threads, by default one for each processor that the process can use.

        The ids are those of `encode` for each text. The GIL is released. The first text that cannot be encoded raises
        the error of `encode`.

        >>> import polytok
        >>> polytok.load("default").encode_batch(["a", "", "!"]).to_list()
        [[97], [], [33]]
        """
        text_list = arguments.several_texts(texts, "encode")
        resolved_options = self._resolve_options(options, keywords, "encode_batch", "threads")
        return Batch(*self._core.encode_batch(text_list, resolved_options, arguments.thread_count(threads)))

    def encode_arrow(
        self,
        column: ArrowColumn,
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Any:
        """Encodes a column of texts to a column of lists of ids. No text or id is converted to a Python object.

        ``column`` is any object with Arrow's interface (``__arrow_c_array__`` or ``__arrow_c_stream__``), such as a
        pyarrow Array or ChunkedArray, or a polars Series, of string, binary, a large or view type of these, or a
        dictionary of such texts.

        For a pyarrow column, the result is a pyarrow column. For any other column, the result is an object with the
        same interface and the same chunks: an array for an array, and a stream for a stream. ``pyarrow.array``,
        ``pyarrow.chunked_array`` and ``polars.Series`` accept the object without a copy. The type of the result is
        list<uint16> if every id of the vocabulary fits, else list<uint32>; large_list is used for all types except
        string and binary. The result for null is null. See docs/arrow.md.

        The ids are those of `encode` for each text, in ``threads`` threads as in `encode_batch`. The GIL is released.
        The first text that cannot be encoded raises the error of `encode`. Raises `TypeError` if the column does not
        contain texts, and `ArgumentError` if its offsets are out of range.

        >>> import polytok, pyarrow
        >>> polytok.load("default").encode_arrow(pyarrow.array(["a", None, "!"])).to_pylist()
        [[97], None, [33]]
        """
        resolved_options = self._resolve_options(options, keywords, "encode_arrow", "threads")
        return match_package_of(
            self._core.encode_arrow(column, resolved_options, arguments.thread_count(threads)), column
        )

    def count_arrow(
        self,
        column: ArrowColumn,
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Any:
        """Counts the ids of each text of a column, and returns the counts as a column of int64; see `encode_arrow`.

        >>> import polytok, pyarrow
        >>> polytok.load("default").count_arrow(pyarrow.array(["a b", None, ""])).to_pylist()
        [2, None, 0]
        """
        resolved_options = self._resolve_options(options, keywords, "count_arrow", "threads")
        return match_package_of(
            self._core.count_arrow(column, resolved_options, arguments.thread_count(threads)), column
        )

    def _encode_texts(
        self,
        texts: _core.Texts,
        options: Options | None = None,
        *,
        begin: int | None = None,
        end: int | None = None,
        threads: int | None = None,
    ) -> Batch:
        """Encodes a column of texts like `encode_batch`, with the ids ``begin`` and ``end`` around each text's ids."""
        return Batch(
            *self._core.encode_texts(
                texts, self._resolve_options(options, {}), arguments.thread_count(threads), begin, end
            )
        )

    def tokens(
        self, text: Text | Parts, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]
    ) -> list[Token]:
        """Encodes a text and returns its tokens, each with its piece and its span in the original text.

        >>> import polytok
        >>> [token.piece.decode() for token in polytok.load("default").tokens("a b")]
        ['a', ' b']
        """
        return self._core.tokens(text, self._resolve_options(options, keywords, "tokens"))

    def spans(self, text: Text | Parts, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> Spans:
        """Encodes a text and returns its tokens as columns, which is much faster than `tokens`.

        >>> import polytok
        >>> spans = polytok.load("default").spans("a é")
        >>> spans.starts.tolist(), spans.ends.tolist(), spans.byte_ends.tolist()
        ([0, 1], [1, 3], [1, 4])
        """
        return Spans(*self._core.spans(text, self._resolve_options(options, keywords, "spans")))

    def encoding(
        self,
        text: Text | Parts | Words,
        pair: Text | Parts | Words | None = None,
        *,
        options: Options | None = None,
        pretokenized: bool = False,
        truncation: Truncation | int | Literal["do_not_truncate"] | None = None,
        padding: Padding | int | Literal["longest", "do_not_pad"] | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Encoding:
        """Encodes a text or a pair of texts to an `Encoding` with type ids, masks, words, truncation and padding.

        With ``pretokenized``, a text is a list of words, an offset counts from the start of a word, and ``word_ids``
        has indices of the list. ``truncation=8`` and ``padding=8`` are lengths. ``truncation=True`` and
        ``padding=True`` use the settings of the tokenizer's file; without a setting, ``truncation=True`` raises
        `ArgumentError`, and ``padding=True`` pads to the longest text like ``padding="longest"``. The result equals
        the result of ``encode`` in the package ``tokenizers`` 0.23 (docs/encoding.md).

        >>> import polytok
        >>> encoding = polytok.load("default").encoding("a b", "c", padding=polytok.Padding(5, id=0, token="-"))
        >>> encoding.tokens, encoding.type_ids
        (['a', 'Ġb', 'c', '-', '-'], [0, 0, 1, 0, 0])
        """
        encoder = self._encoder or self._get_encoder()
        resolved_options = None
        if options is not None or keywords:
            resolved_options = self._resolve_options(options, keywords, "encoding", "pair", *_ENCODING_KEYWORDS)
        if pair is None and truncation is None and padding is None and pretokenized is False:
            return encoder.encode_text(text, resolved_options)
        requested_truncation = encoder.settings.truncation(truncation)
        requested_padding = encoder.settings.padding(padding)
        checks.flag("pretokenized", pretokenized)
        encoding = encoder.encode(text, pair, resolved_options, requested_truncation, pretokenized)
        return encoding if requested_padding is None else encoder.pad([encoding], requested_padding)[0]

    def encodings(
        self,
        texts: Iterable[Text | Parts | Words | tuple[Text | Parts | Words, Text | Parts | Words]],
        *,
        options: Options | None = None,
        pretokenized: bool = False,
        truncation: Truncation | int | Literal["do_not_truncate"] | None = None,
        padding: Padding | int | Literal["longest", "do_not_pad"] | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[Encoding]:
        """Encodes many texts like `encoding`, padded to the longest text; a pair of texts is a tuple.

        >>> import polytok
        >>> rows = polytok.load("default").encodings(["a", ("a b", "c")], padding=polytok.Padding(id=0))
        >>> [row.attention_mask for row in rows]
        [[1, 0, 0], [1, 1, 1]]
        """
        text_list = arguments.several_texts(texts, "encoding")
        encoder = self._get_encoder()
        resolved_options = self._resolve_options(options, keywords, "encodings", *_ENCODING_KEYWORDS)
        requested_truncation = encoder.settings.truncation(truncation)
        requested_padding = encoder.settings.padding(padding)
        checks.flag("pretokenized", pretokenized)
        pairs = [arguments.text_and_pair(item, index) for index, item in enumerate(text_list)]
        encodings = [
            encoder.encode(text, pair, resolved_options, requested_truncation, pretokenized) for text, pair in pairs
        ]
        return encodings if requested_padding is None else encoder.pad(encodings, requested_padding)

    def count(self, text: Text | Parts, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> int:
        """Counts the ids of a text without building them.

        >>> import polytok
        >>> polytok.load("default").count("a b")
        2
        """
        if options is None and not keywords:
            return self._core.count(text)
        return self._core.count(text, self._resolve_options(options, keywords, "count"))

    def count_batch(
        self,
        texts: Iterable[Text | Parts],
        *,
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> npt.NDArray[np.int64]:
        """Counts the ids of each text, in ``threads`` threads as in `encode_batch`. No ids are stored.

        The result is an int64 array of shape (texts,). The GIL is released.

        >>> import polytok
        >>> polytok.load("default").count_batch(["a b", "", "!"]).tolist()
        [2, 0, 1]
        """
        text_list = arguments.several_texts(texts, "count")
        resolved_options = self._resolve_options(options, keywords, "count_batch", "threads")
        return self._core.count_batch(text_list, resolved_options, arguments.thread_count(threads))

    def trace(
        self,
        text: Text | None = None,
        *,
        ids: Ids | None = None,
        piece: int | None = None,
        at: int | None = None,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Trace:
        """Returns what happens to a text on the way to its ids, step by step: a `Trace`.

        The trace has the special tokens that were found, each normalization and split step with what it changed, the
        walk of the model over each piece (the queue and the merges of BPE, the lattice of Unigram, the attempts of
        WordPiece, ...), and what was added after the model. Its ids are those of `encode`; each call compares them.

        With ``ids`` instead of a text, the text of the ids is traced, and `Trace.given` says whether the tokenizer
        returns these ids for it, and if not, where and why.

        A text of up to 10,240 bytes is traced whole. With ``piece`` (an index) or ``at`` (an offset in bytes) only this
        piece is walked, and the text can have 1 MiB. Raises `ArgumentError` for a longer text.

        >>> import polytok
        >>> trace = polytok.load("default").trace("a  b")
        >>> [piece.text for piece in trace.pieces], trace.ids == (97, 32, 6993)
        ([b'a', b' ', b' b'], True)
        """
        self._resolve_options(options, keywords, "trace", "ids", "piece", "at")
        from .trace.entry import trace

        return trace(self._get_tracer(), text, ids, piece, at, options, keywords)

    # Limits

    def fits(
        self,
        text: Text | Parts,
        max_tokens: int,
        *,
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> bool:
        """Reports whether a text has at most ``max_tokens`` tokens, those of ``add_special`` included.

        The answer is that of `count`. A much longer text is read only up to where the answer is certain, so what stands
        after that raises no error.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.fits("one two", 2), tokenizer.fits("one two three", 2)
        (True, False)
        """
        limit = self._token_limit(max_tokens, options, keywords, "fits")
        from .cutting import fits  # only a part of all programs cuts texts

        return fits(text_or_parts("text", text), limit)

    @overload
    def truncate(
        self,
        text: str,
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> str: ...
    @overload
    def truncate(
        self,
        text: bytes,
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> bytes: ...
    @overload
    def truncate(
        self,
        text: Parts,
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Parts: ...
    def truncate(
        self,
        text: Text | Parts,
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Text | Parts:
        """Returns the longest start of a text, in whole characters, that has at most ``max_tokens`` tokens.

        ``direction`` is the side that is cut: ``"left"`` returns the longest end. The result is `str` for `str`,
        `Parts` for `Parts`, and `bytes` for `bytes`, in which a byte that is not UTF-8 counts as a character. Encoded
        by itself, it has at most ``max_tokens`` tokens, those of ``add_special`` included; no longer start fits. A much
        longer text is read only up to where the result is certain. docs/cutting.md says what this costs, and for which
        texts it is slow.

        Raises `ArgumentError` if ``add_special`` alone adds more than ``max_tokens`` tokens.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.truncate("one two three", 2), tokenizer.truncate("one two three", 2, direction="left")
        ('one two', ' two three')
        """
        limit = self._token_limit(max_tokens, options, keywords, "truncate", "direction")
        checks.one_of("direction", direction, ("right", "left"))
        from .cutting import truncate

        return truncate(text_or_parts("text", text), limit, direction)

    @overload
    def truncate_batch(
        self,
        texts: Iterable[str],
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[str]: ...
    @overload
    def truncate_batch(
        self,
        texts: Iterable[bytes],
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[bytes]: ...
    @overload
    def truncate_batch(
        self,
        texts: Iterable[Parts],
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[Parts]: ...
    @overload
    def truncate_batch(
        self,
        texts: Iterable[Text | Parts],
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> list[Text | Parts]: ...
    def truncate_batch(
        self,
        texts: Iterable[Text | Parts],
        max_tokens: int,
        *,
        direction: Literal["right", "left"] = "right",
        options: Options | None = None,
        threads: int | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> Any:
        """Truncates many texts; see `truncate`. They are counted first, in ``threads`` threads as in `encode_batch`, so
        texts that fit cost little.

        >>> import polytok
        >>> polytok.load("default").truncate_batch(["one two three", "one"], 2)
        ['one two', 'one']
        """
        text_list = arguments.several_texts(texts, "truncate")
        limit = self._token_limit(max_tokens, options, keywords, "truncate_batch", "direction", "threads")
        checks.one_of("direction", direction, ("right", "left"))
        from .cutting import truncate_batch

        checked_texts = [text_or_parts(f"texts[{row}]", text) for row, text in enumerate(text_list)]
        return truncate_batch(checked_texts, limit, direction, arguments.thread_count(threads))

    def chunk(
        self,
        text: Text | Parts,
        max_tokens: int,
        *,
        overlap: int = 0,
        at: Literal["token", "word", "line", "sentence"] = "token",
        options: Options | None = None,
        **keywords: Unpack[OptionKeywords],
    ) -> npt.NDArray[np.int64]:
        """Cuts a text into chunks that each have at most ``max_tokens`` tokens, those of ``add_special`` included.

        The result is an int64 array of shape (chunks, 2) with the start and end of each chunk, so that
        ``text[start:end]`` is its text: characters for `str` and `Parts`, bytes for `bytes`. A lone surrogate counts
        as a character, and a pair as one. The chunks cover the text in order, also its white space. Each chunk is as
        long as possible: it ends at the last place of the kind ``at`` up to which it fits. If a sentence does not fit,
        the chunk ends after a line, else after a word, a token or a character.

        With ``overlap``, a chunk repeats up to that many tokens of the end of the chunk before it, from a place of the
        kind ``at`` on, or of a finer one.

        Raises `ArgumentError` if ``overlap`` is not less than ``max_tokens``, and for a character that alone has too
        many tokens. docs/cutting.md has the rules for words and sentences.

        >>> import polytok
        >>> text = "One sentence. Another one, which is longer."
        >>> chunks = polytok.load("default").chunk(text, 7, at="sentence")
        >>> [text[start:end] for start, end in chunks.tolist()]
        ['One sentence. ', 'Another one, which is ', 'longer.']
        """
        limit = self._token_limit(max_tokens, options, keywords, "chunk", "overlap", "at")
        checks.one_of("at", at, ("token", "word", "line", "sentence"))
        arguments.check_overlap(overlap, limit.max_tokens)
        from .cutting import chunk

        return chunk(text_or_parts("text", text), limit, overlap, at)

    def _token_limit(
        self, max_tokens: int, options: Options | None, keywords: OptionKeywords, method: str, *own_keywords: str
    ) -> TokenLimit:
        """Returns the limit for a text's own tokens; the tokens of the template are subtracted from it."""
        resolved_options = self._resolve_options(options, keywords, method, *own_keywords)
        checks.number("max_tokens", max_tokens, least=0)
        from .cutting import Engine, TokenLimit

        if resolved_options is None or not resolved_options.add_special:
            return TokenLimit(Engine(self._core, resolved_options), max_tokens, 0)
        given = Options(**keywords) if options is None else options
        without_template = self._resolve_options(given._replace(add_special=False), {})
        template = self._outline.post
        return TokenLimit(Engine(self._core, without_template), max_tokens, len(template.before) + len(template.after))

    # Other segmentations

    def nbest(self, text: Text, n: int) -> list[tuple[list[int], float]]:
        """Returns the ``n`` best segmentations with their scores, best first; all segmentations if the text has fewer.

        Unigram only.

        The result equals that of SentencePiece's NBestEncode; ``n=1`` returns the plain encoding with the score 0.
        """
        return self._core.nbest(text, arguments.check_count("n", n))

    def sample(self, text: Text, *, alpha: float, nbest_size: int = -1, seed: int | None = None) -> list[int]:
        """Returns a random segmentation, drawn like SentencePiece's SampleEncode.

        The same seed returns the same result.

        With Unigram, the result is one of the ``nbest_size`` best segmentations (of all segmentations if ``nbest_size``
        is negative), with a probability proportional to exp(``alpha`` · score). With BPE, every merge is skipped with
        the probability ``alpha`` (BPE-dropout).
        """
        size = max(arguments.check_count("nbest_size", nbest_size, least=-arguments.MAX_COUNT), -1)
        return self._core.sample(text, size, checks.real("alpha", alpha), arguments.seed_or_random(seed))

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
        """Returns random segmentations with their log probabilities, like SampleEncodeAndScore of SentencePiece 0.2.1.

        With ``include_best``, which needs ``without_replacement``, the first result is the best segmentation, with the
        score 0.
        Unigram only.
        """
        return self._core.sample_with_score(
            text,
            arguments.check_count("num_samples", num_samples, least=1),
            checks.real("alpha", alpha),
            checks.flag("without_replacement", without_replacement),
            checks.flag("include_best", include_best),
            arguments.seed_or_random(seed),
        )

    def entropy(self, text: Text, *, alpha: float = 1.0) -> float:
        """Returns the entropy of a text's segmentations in nats, like SentencePiece 0.2.1's CalculateEntropy.

        Unigram only.
        """
        return self._core.entropy(text, checks.real("alpha", alpha))

    def restrict(self, pieces: Collection[str | bytes]) -> Tokenizer:
        """Returns a tokenizer that emits only these pieces and single characters: SetVocabulary of SentencePiece 0.2.1.

        Only Unigram and SentencePiece BPE can be restricted. The original tokenizer does not change.
        """
        from .restriction import restrict

        return Tokenizer(restrict(self.spec, checks.texts("pieces", pieces, "pieces")))

    # Conversations

    @property
    def chat_template(self) -> str | None:
        """The chat template of the tokenizer's files, as text; None without one. See `chat_templates`."""
        return self._get_chat().templates.get("default")

    @property
    def chat_templates(self) -> dict[str, str]:
        """All chat templates of the tokenizer's files by name; a template without a name is "default".

        They come from the files ``chat_template.jinja`` and ``additional_chat_templates/*.jinja``, from the field
        ``chat_template`` of ``tokenizer_config.json``, or from a GGUF file's ``tokenizer.chat_template``.
        """
        return dict(self._get_chat().templates)

    def render_chat(
        self,
        messages: Iterable[Any],
        *,
        template: str | None = None,
        tools: Iterable[Any] | None = None,
        documents: Iterable[Any] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        limits: Limits | None = None,
        **variables: Any,
    ) -> Parts:
        """Renders a conversation with a chat template, and returns its text in parts: what the template wrote is
        trusted, and text of messages, tools, documents and variables is not.

        The text equals that of ``apply_chat_template(tokenize=False)`` in transformers 5.23. ``messages`` are dicts
        with a ``role`` and a ``content``. ``template`` is the text of a template or the name of one in
        `chat_templates`; by default "tool_use" if there are tools, else "default". ``tools`` are JSON schemas,
        ``documents`` dicts with a title and a text. ``add_generation_prompt`` ends the text with the start of a reply;
        ``continue_final_message`` ends it inside the final message, in its ``content`` or the field that is named.
        ``variables`` are more values for the template. ``limits`` stops templates that do too much.

        Needs the package jinja2 (``pip install 'polytok[chat]'``). Raises `ChatTemplateError` if the template refuses
        the conversation or fails.

        >>> import polytok
        >>> template = "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}{% endfor %}"
        >>> list(polytok.load("default").render_chat([{"role": "user", "content": "Hi"}], template=template))
        [('<|user|>', True), ('Hi', False)]
        """
        options = {
            "tools": tools,
            "documents": documents,
            "add_generation_prompt": add_generation_prompt,
            "continue_final_message": continue_final_message,
            "limits": limits,
            "variables": variables,
        }
        return self._get_chat().render(messages, template, options)

    def encode_chat(
        self,
        messages: Iterable[Any],
        *,
        special_in_messages: SpecialInMessages = "text",
        template: str | None = None,
        tools: Iterable[Any] | None = None,
        documents: Iterable[Any] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        limits: Limits | None = None,
        **variables: Any,
    ) -> ChatEncoding:
        """Renders a conversation like `render_chat`, and encodes it to a `ChatEncoding`.

        A special token becomes one id if the template wrote all of its characters. ``special_in_messages`` determines
        what happens to special tokens in any other text: "text" encodes them as plain text, "error" raises
        `SpecialTokenError`, and "allow" encodes them like the template's own, as transformers does. For conversations
        without such texts, all three return the same ids. See docs/chat.md.

        >>> import polytok
        >>> template = "{% for message in messages %}{{ message.content }}<|endoftext|>{% endfor %}"
        >>> messages = [{"role": "user", "content": "a<|endoftext|>"}]
        >>> encoding = polytok.load("default").encode_chat(messages, template=template)
        >>> encoding.ids.count(32767), encoding.message_ids.tolist()[::len(encoding) - 1]
        (1, [0, -1])
        """
        options = {
            "tools": tools,
            "documents": documents,
            "add_generation_prompt": add_generation_prompt,
            "continue_final_message": continue_final_message,
            "limits": limits,
            "variables": variables,
        }
        return self._get_chat().encode(messages, template, options, special_in_messages, self.spans)

    # Decoding

    def decode(
        self, ids: Ids, *, skip_special: bool = False, errors: Errors = "replace", **other: Unpack[NoKeywords]
    ) -> str:
        """Decodes ids to text.

        Bytes that are not UTF-8 are replaced with U+FFFD by default; ``errors="strict"`` raises an error, and
        ``errors="ignore"`` drops the bytes.

        ``skip_special`` omits special tokens. Raises `TokenIdError` for an id that is not in the vocabulary, except
        that a chain of Hugging Face's decoders skips such ids.

        >>> import polytok
        >>> polytok.load("default").decode([97, 32767, 98], skip_special=True)
        'ab'
        """
        has_options = other or skip_special is not False or errors != "replace"
        if has_options:
            arguments.check_decoding(skip_special, errors, other, "decode")
        try:
            return self._core.decode(ids, skip_special, errors) if has_options else self._core.decode(ids)
        except TypeError:
            checks.iterable("ids", ids, "ids")
            raise

    def decode_bytes(self, ids: Ids, *, skip_special: bool = False, **other: Unpack[NoKeywords]) -> bytes:
        """Decodes ids to bytes. The result can begin or end inside a character."""
        if other or skip_special is not False:
            arguments.check_byte_decoding(skip_special, other)
        try:
            return self._core.decode_bytes(ids, skip_special)
        except TypeError:
            checks.iterable("ids", ids, "ids")
            raise

    def decode_batch(
        self,
        batch: Iterable[Ids],
        *,
        skip_special: bool = False,
        errors: Errors = "replace",
        **other: Unpack[NoKeywords],
    ) -> list[str]:
        """Decodes many rows of ids (lists, arrays, or a `Batch`) to texts.

        >>> import polytok
        >>> polytok.load("default").decode_batch([[97], [98, 33]])
        ['a', 'b!']
        """
        if other or skip_special is not False or errors != "replace":
            arguments.check_decoding(skip_special, errors, other, "decode_batch", "threads")
        try:
            return self._core.decode_batch(batch, skip_special, errors)
        except TypeError:
            for place, row in enumerate(checks.iterable("batch", batch, "rows of ids")):
                checks.iterable(f"batch[{place}]", row, "ids")
            raise

    def decode_with_offsets(
        self, ids: Ids, *, skip_special: bool = False, errors: Errors = "replace", **other: Unpack[NoKeywords]
    ) -> Decoded:
        """Decodes ids to text, and returns the characters that each id contributes: `Decoded`.

        Ids that share a character, such as those of its bytes, all cover the character; it is in the piece of the last
        of them. An id without text, such as a special token that ``skip_special`` omits, has an empty span. The options
        and errors are those of `decode`.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> decoded = tokenizer.decode_with_offsets([97, *"é".encode(), 98])
        >>> decoded.text, decoded.pieces
        ('aéb', ['a', '', 'é', 'b'])
        >>> decoded.starts.tolist(), decoded.ends.tolist()
        ([0, 1, 1, 2], [1, 2, 2, 3])
        """
        if other or errors not in arguments.ERRORS or not isinstance(skip_special, bool):
            arguments.check_decoding(skip_special, errors, other, "decode_with_offsets")
            checks.one_of("errors", errors, arguments.ERRORS)
        try:
            return Decoded(*self._core.decode_with_offsets(ids, skip_special, errors))
        except TypeError:
            checks.iterable("ids", ids, "ids")
            raise

    def decoder(self, **options: Unpack[StreamKeywords]) -> StreamDecoder:
        """Returns a decoder that converts ids to text as they arrive, one by one.

        * ``skip_special`` and ``errors``: as in `decode`.
        * ``stop``: texts that end the reply. The text before the first of them is returned exactly, and nothing after
          it; `StreamDecoder.stopped` names it. Text that can be the start of a stop text is held back. The first stop
          text is the one that is complete first; of several with the same end, the longest.
        * ``eager``: if True, a character is returned when its bytes are complete, also in a run of Hugging Face's byte
          tokens (``<0xE4>``), which `decode` decodes as a whole. The texts, concatenated, then differ from `decode` for
          a run with a character before a byte that is not UTF-8. By default a run is returned when it ends.
        * ``unknown``: an id that no token has prints nothing (``"skip"``), or raises `TokenIdError` (``"error"``). By
          default it is treated as in `decode`.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> stream = tokenizer.decoder(stop=["END"], unknown="skip")
        >>> [stream.push(id) for id in [97, 10**6, *b"EN", 46, *b"END", 98]]
        ['a', '', '', '', 'EN.', '', '', '', '']
        >>> stream.stopped, stream.consumed
        ('END', 8)
        """
        return create_decoder(self._core, options)

    def decoders(self, n: int = 0, **options: Unpack[StreamKeywords]) -> StreamDecoders:
        """Returns ``n`` decoders of ids that arrive one by one, which are advanced in one call: `StreamDecoders`.

        The options are those of `decoder`. More decoders, with other options too, are added later.
        """
        return StreamDecoders(self._core.text_streams(), arguments.check_count("n", n), options)

    def byte_decoder(
        self,
        *,
        skip_special: bool = False,
        eager: bool = False,
        unknown: UnknownIds | None = None,
        **other: Unpack[NoKeywords],
    ) -> ByteDecoder:
        """Returns a decoder that converts ids to bytes as they arrive: `ByteDecoder`.

        `decoder` explains the options.
        """
        if other:
            checks.keywords("byte_decoder", other, ("skip_special", "eager", "unknown"))
        return ByteDecoder(
            self._core.byte_stream(
                checks.flag("skip_special", skip_special), checks.flag("eager", eager), unknown_ids(unknown)
            )
        )

    # Texts that grow or change

    def encoder(self, *, options: Options | None = None, **keywords: Unpack[OptionKeywords]) -> StreamEncoder:
        """Returns an encoder for a text that arrives in chunks: `StreamEncoder`.

        >>> import polytok
        >>> encoder = polytok.load("default").encoder(add_special=True)
        >>> ids = encoder.push("some ") + encoder.push("text") + encoder.finish()
        """
        return StreamEncoder(_core.ChunkEncoder(self._core, self._resolve_options(options, keywords, "encoder")))

    def incremental(
        self, text: Text | Parts = "", *, options: Options | None = None, **keywords: Unpack[OptionKeywords]
    ) -> IncrementalText:
        """Returns a text whose ids are kept up to date when it changes: `IncrementalText`.

        >>> import polytok
        >>> prompt = polytok.load("default").incremental("Hello")
        >>> change = prompt.append(", world")
        """
        resolved_options = self._resolve_options(options, keywords, "incremental")
        result = IncrementalText(_core.IncrementalText(self._core, resolved_options))
        result.append(text)
        return result

    def stable_prefix(self, ids: Ids, **other: Unpack[NoKeywords]) -> int:
        """Returns the number of leading ids that stay the same whatever text is appended to their text.

        The text is decoded, and encoded with all special tokens recognized. Ids that this text does not encode to are
        not counted, nor those after them. The ids of the template (``add_special``) at the start are counted. Raises
        `TokenIdError` for an id without a token.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> ids = tokenizer.encode("one two thr")
        >>> tokenizer.decode(ids[:tokenizer.stable_prefix(ids)])
        'one two'
        """
        if other:
            checks.keywords("stable_prefix", other, ())
        special = self._resolve_options(None, {"special": "all"})
        return stable_prefix(self._core, arguments.id_list(ids), special)

    # Ids without text

    def is_canonical(self, ids: Ids) -> bool:
        """Reports whether a text exists that is encoded to exactly these ids.

        A special token in the list stands for itself, as in trusted parts of a text (`Parts`); all other ids must be
        those of text. The ids that the template adds (``add_special``) are accepted, but not required. An id that is
        not in the vocabulary is not canonical.

        A positive answer is always right, because such a text was encoded. A negative answer is certain if decoding
        restores every text (`lossless`). Otherwise, several texts are written from the pieces and tried
        (docs/grammar.md).

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.is_canonical(tokenizer.encode("hello")), tokenizer.is_canonical(list(b"hello"))
        (True, False)
        """
        return self.first_noncanonical(ids) is None

    def first_noncanonical(self, ids: Ids) -> int | None:
        """Returns the index of the first id that differs from the encoding of the decoded text, or None for canonical
        ids; see `is_canonical`.

        If several texts were tried, this is the text whose encoding agrees with the most ids.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.encode("hello"), tokenizer.first_noncanonical([104, 101, 8079])
        ([16720], 0)
        """
        return self._get_canonical_test().first_difference(arguments.id_list(ids))

    def heal(self, ids: Ids) -> Healed:
        """Removes the last ids of a prompt that could join with the text that a model generates (token healing).

        The result is `Healed`: the ids to give to the model, and the bytes with which the text that it generates must
        begin. The ids that are kept are those that no later text changes (`stable_prefix`), if this removes 16 ids or
        fewer. For texts and vocabularies of which less is proven, the ids are removed from the first one on from which
        the joined bytes are the start of a longer entry. Special tokens, and the ids before one, are not removed.
        Raises `TokenIdError` for an id that is not in the vocabulary.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.heal(tokenizer.encode("http:"))
        Healed(ids=[], prefix=b'http:')
        """
        from .healing import heal

        id_list = arguments.id_list(ids)
        return heal(id_list, self.stable_prefix(id_list), self._get_token_bytes(), self._core)

    def prefix_mask(self, prefix: Text) -> npt.NDArray[np.bool_]:
        """Returns which ids a model can generate next if its text must begin with ``prefix``.

        The result is a bool array of shape (`vocab_size`,). It is true for ids whose bytes begin with the prefix, and
        for those with whose bytes the prefix begins; the ids after the latter must begin with the remaining bytes. It
        is false for special tokens. For an empty prefix, it is true for all ids of the vocabulary.

        The entries are sorted in the first call, which takes up to a second; later calls take microseconds.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> bytes_of_id = tokenizer.vocab_bytes()
        >>> [bytes_of_id[id] for id in tokenizer.prefix_mask(" http").nonzero()[0]]
        [b' ', b' h', b' htt', b' https', b' http']
        """
        checks.text("prefix", prefix)
        return self._get_token_bytes().mask(prefix.encode() if isinstance(prefix, str) else prefix)

    def vocab_bytes(self, size: int | None = None) -> list[bytes]:
        """Returns the bytes that each id adds to a decoded text, by id.

        The bytes are those within a text, where decoding does not remove a space at the start: U+2581 is a space, and
        a byte piece is its byte. They are b"" for special tokens, for the unknown token and for unused ids. The list
        has `vocab_size` items, or ``size`` items: a model can have more or fewer ids than its tokenizer.

        >>> import polytok
        >>> polytok.load("default").vocab_bytes(33000)[32765:32769]
        [b'Check', b'Diese', b'', b'']
        """
        size = self.vocab_size if size is None else arguments.check_count("size", size)
        return self._get_token_bytes().padded(size)

    # The vocabulary

    @property
    def vocab_size(self) -> int:
        """The largest id plus one, including ids of special tokens; some smaller ids can be unused."""
        return self._vocab_size

    def __len__(self) -> int:
        return self._vocab_size

    def vocab(self, **other: Unpack[NoKeywords]) -> VocabTable:
        """Returns the vocabulary and the special tokens as a table in the order of ids: `VocabTable`.

        >>> import polytok
        >>> table = polytok.load("default").vocab()
        >>> table[33].piece, table[32767].text
        (b'!', '<|endoftext|>')
        """
        arguments.check_vocab(other)
        from .vocab_table import VocabTable  # only a part of all programs needs the table

        return VocabTable(self.spec)

    def merges(self) -> list[Merge]:
        """Returns the merges of BPE, by rank.

        If the file has a list of merges, the result is this list. Otherwise, the result has for each entry the only
        pair that builds the entry; the rank of a merge is its entry's id in a vocabulary of ranks, and its position in
        the order of scores in a SentencePiece vocabulary. Raises `ArgumentError` for a model without merges.

        >>> import polytok
        >>> polytok.load("default").merges()[6732]
        Merge(rank=6988, left=b' t', right=b'he', piece=b' the', left_id=6968, right_id=6976, id=6988, score=None)
        """
        from .merge_list import merges

        return merges(self.spec)

    def id_to_piece(self, id: int) -> bytes:
        """Returns the bytes of an id's piece, exactly as in the vocabulary, or of a special token's text.

        Raises `TokenIdError` for an id that is not in the vocabulary.

        >>> import polytok
        >>> polytok.load("default").id_to_piece(33)
        b'!'
        """
        return self._core.token_bytes(id)

    @overload
    def ids_to_pieces(self, ids: Ids) -> list[bytes]: ...
    @overload
    def ids_to_pieces(self, ids: Iterable[int | None]) -> list[bytes | None]: ...
    @checked()
    def ids_to_pieces(self, ids: Ids | Iterable[int | None]) -> list[bytes] | list[bytes | None]:
        """Returns the pieces of many ids; see `id_to_piece`. None stays None, so lists with the ids of
        ``pieces_to_ids(pieces, unknown=None)`` are accepted.

        >>> import polytok
        >>> tokenizer = polytok.load("default")
        >>> tokenizer.ids_to_pieces(tokenizer.encode("a b"))
        [b'a', b' b']
        """
        return pieces_of_ids(self._core, ids)

    @overload
    def piece_to_id(self, piece: str | bytes, unknown: Literal["error", "unk"] | int = "error") -> int: ...
    @overload
    def piece_to_id(self, piece: str | bytes, unknown: UnknownPiece) -> int | None: ...
    def piece_to_id(self, piece: str | bytes, unknown: UnknownPiece = "error") -> int | None:
        """Returns the id of a piece or special token.

        For a text that is not in the vocabulary, ``unknown="error"`` raises `PieceError`, ``unknown="unk"`` returns
        `unk_id`, ``unknown=None`` returns None, and an int, such as ``unknown=-1``, is returned itself. Raises
        `ArgumentError` for ``unknown="unk"`` if the vocabulary has no unknown token.

        >>> import polytok
        >>> polytok.load("default").piece_to_id("!")
        33
        """
        if piece.__class__ is str and (unknown == "error" or unknown is None):
            id = self._core.id_of(piece.encode())
            if id is not None:
                return id
        return ids_of_pieces(self._core, [checks.text("piece", piece)], unknown, self.unk_id)[0]

    @overload
    def pieces_to_ids(
        self, pieces: Iterable[str | bytes], unknown: Literal["error", "unk"] | int = "error"
    ) -> list[int]: ...
    @overload
    def pieces_to_ids(self, pieces: Iterable[str | bytes], unknown: UnknownPiece) -> list[int | None]: ...
    @checked()
    def pieces_to_ids(
        self, pieces: Iterable[str | bytes], unknown: UnknownPiece = "error"
    ) -> list[int] | list[int | None]:
        """Returns the ids of many pieces; see `piece_to_id`.

        >>> import polytok
        >>> polytok.load("default").pieces_to_ids(["!", b" the", "no such piece"], unknown=-1)
        [33, 6988, -1]
        """
        if isinstance(pieces, (str, bytes)):
            raise TypeError(f"pieces={checks.shown(pieces)} is a single piece; use piece_to_id for one piece")
        return ids_of_pieces(self._core, pieces, unknown, self.unk_id)

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of all special tokens by their texts, including the control symbols of the vocabulary.

        Bytes that are not UTF-8 are surrogates in the texts (Python's ``surrogateescape``).
        """
        return {special_text(text): id for text, id in self._core.special_tokens()}

    @property
    def bos_id(self) -> int | None:
        """The id of the token that begins a text, or None."""
        return self._outline.names.get("bos")

    @property
    def eos_id(self) -> int | None:
        """The id of the token that ends a text, or None."""
        return self._outline.names.get("eos")

    @property
    def unk_id(self) -> int | None:
        """The id of the token for unknown text, or None."""
        return self._outline.names.get("unk")

    @property
    def pad_id(self) -> int | None:
        """The id of the token for padding, or None."""
        return self._outline.names.get("pad")

    @property
    def lossless(self) -> Lossless:
        """A `Lossless`: true if decoding restores every encoded text, else false with the list of all reasons."""
        from .lossless import lossless

        return lossless(self.spec)

    # Tables and caches

    def warm_up(self) -> None:
        """Builds the tables that encoding and decoding would otherwise build later.

        Loading builds only what a short text needs. Other tables are built while the first megabyte of text is
        encoded, which is therefore encoded more slowly, and a few calls take some milliseconds longer. After `warm_up`
        no call builds a table. A server calls it before the first request, and a program that measures speed calls it
        before the first measurement. A program that encodes a few short texts does not need it:

            >>> import polytok
            >>> tokenizer = polytok.load("default")
            >>> tokenizer.warm_up()
            >>> tokenizer.decode(tokenizer.encode("the same ids as before"))
            'the same ids as before'

        The vocabulary entries are also inserted into the cache of one thread. A second call does nothing. Other threads
        can encode meanwhile. docs/performance.md has the time for each kind of vocabulary.
        """
        self._core.warm_up()

    @property
    def cache_limit(self) -> int:
        """The largest size of each thread's cache in bytes, by default 64 MiB; 0 means no cache.

        A cache keeps the ids of pieces that were encoded before; encoding is faster with a cache and has the same
        result. The cache grows with new pieces. Setting the limit empties the cache. The limit is not a part of the
        Spec and is not pickled.
        """
        return self._core.cache_limit

    @cache_limit.setter
    def cache_limit(self, limit: int) -> None:
        self._core.cache_limit = arguments.check_count("cache_limit", limit)

    @property
    def cache_bytes(self) -> int:
        """The number of bytes that the caches use now, without the caches of threads that are encoding."""
        return self._core.cache_bytes

    def clear_cache(self) -> None:
        """Frees the memory of the caches; caches of threads that are encoding are freed when the threads finish."""
        self._core.clear_cache()

    # Files

    @checked()
    def save(
        self, path: str | os.PathLike[str], to: FormatName | None = None, *, strict: bool = False
    ) -> tuple[str, ...]:
        """Writes the tokenizer to a file, and returns what is lost, line by line: data that the format cannot carry,
        and roles, such as eos, that the file does not name.

        ``to`` is the format. By default, the file's name determines the format (``.gguf``, ``.tiktoken``,
        ``tokenizer.json``), else the tokenizer keeps its original format. With ``strict`` a loss is a `LossError`, and
        nothing is written. Files are written under a temporary name and then renamed. Files that accompany the main
        file are written too: minbpe's ``.vocab``, and those that name bos, eos, unk and pad: ``tokenizer_config.json``
        and ``special_tokens_map.json`` beside a ``tokenizer.json``, and ``other_config.json`` beside an
        ``other.json``.

        Raises `FormatError` if the format cannot express the tokenizer, `ArgumentError` if several formats have files
        of this name, and `FileError` if the file cannot be written.
        """
        from pathlib import Path

        from . import conversion  # importing this package imports all formats, which is slow
        from .conversion.roles import lost_roles, lost_roles_text, refuse_lost_roles

        target = Path(checks.path("path", path))
        checks.flag("strict", strict)
        format = to or format_of(target, self._outline.origin.format)
        written_file = conversion.beside(conversion.write(self.spec, format, strict=strict), target, format)
        roles = lost_roles(self.spec, conversion.read_back(written_file, format, self.spec)) if self.spec.names else {}
        if strict:
            refuse_lost_roles(roles, format, target)
        save_all(target, written_file.data, written_file.companions)
        return (
            (*written_file.losses, f"names: {lost_roles_text(roles, format, target)}") if roles else written_file.losses
        )

    # Object protocol

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[Spec]]:
        return (Tokenizer, (self.spec,))

    def __dir__(self) -> list[str]:
        """Returns the names of the attributes, without those of other packages."""
        return [name for name in super().__dir__() if name not in OWN_NAMES]

    def __repr__(self) -> str:
        origin = self._outline.origin
        name = f"{origin.format} {origin.name}" if origin.name else origin.format
        return f"<polytok.Tokenizer {name}, {self._outline.model.kind}, {self.vocab_size} ids>"

    def _repr_html_(self) -> str:
        """Returns the properties of the tokenizer as an HTML table, which notebooks show."""
        from .notebook import tokenizer_html

        return tokenizer_html(self.spec, self.vocab_size, self.special_tokens, self.fingerprint)

    # Helpers, which are imported and created when a method first needs them: few programs need all

    def _get_encoder(self) -> Encoder:
        if self._encoder is None:
            from .encoding import Encoder

            self._encoder = Encoder(self.spec, self._core)
        return self._encoder

    def _get_tracer(self) -> Tracer:
        if self._tracer is None:
            from .trace.tracer import Tracer

            self._tracer = Tracer(self.spec, self._core)
        return self._tracer

    def _get_chat(self) -> ChatTemplates:
        if self._chat is None:
            from .chat import ChatTemplates

            self._chat = ChatTemplates(self.spec)
        return self._chat

    def _get_canonical_test(self) -> CanonicalTest:
        if self._canonical_test is None:
            from .canonical import CanonicalTest

            self._canonical_test = CanonicalTest(self.spec, self._core)
        return self._canonical_test

    def _get_token_bytes(self) -> TokenBytes:
        if self._token_bytes is None:
            from .token_bytes import TokenBytes

            self._token_bytes = TokenBytes(self.spec, self._core)
        return self._token_bytes


def _compile_guard(source: Spec | NativeFile) -> _core.Tokenizer | None:
    """Compiles the tokenizer for texts that are not trusted as a whole; None if the Spec needs none."""
    from .guard import guard_spec  # few programs encode such texts

    spec = guard_spec(source.spec() if isinstance(source, NativeFile) else source)
    return None if spec is None else _core.Tokenizer(spec)


add_foreign_names(Tokenizer)
