"""Measures the faces of polytok.compat against the packages whose place they take, call by call.

``python -m bench.faces [package]...`` prints a row for each cell: the time of the original, the time of the face, and
the ratio, original / face. The two calls take turns; the times are medians, and the ratio is the median of the pairs'
ratios. A call that is short is repeated within a turn. The text is English prose of the corpus.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

from .cases import DATA
from .cutting import corpus_text

SIZES = {"20 bytes": 20, "4 KB": 4 << 10, "1 MB": 1 << 20}
BATCH = 1000
TURNS = 15
SHORT_TURNS = 61
"""The number of turns of a call that is repeated within a turn."""
LEAST_SECONDS = 0.0005
"""A turn repeats its call until it takes about this time, so that the clock is exact enough. The turns are shorter than
the scheduler's time slices, so that on a busy machine most turns are not interrupted."""


class Cell(NamedTuple):
    """A call of the original and the same call of the face."""

    name: str
    original: Callable[[], object]
    face: Callable[[], object]


class Measurement(NamedTuple):
    """Medians: the seconds of one call of the original and of the face, and the ratio of both."""

    original: float
    face: float
    ratio: float


def measure(cell: Cell) -> Measurement:
    """Measures a cell; the first turn does not count."""
    repeats = [_repeats(call) for call in (cell.original, cell.face)]
    pairs = []
    for _ in range((SHORT_TURNS if min(repeats) > 1 else TURNS) + 1):
        pairs.append([_seconds(call, n) for call, n in zip((cell.original, cell.face), repeats, strict=True)])
    originals, faces = zip(*pairs[1:], strict=True)
    ratio = statistics.median(a / b for a, b in zip(originals, faces, strict=True))
    return Measurement(statistics.median(originals), statistics.median(faces), ratio)


def _seconds(call: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


def _repeats(call: Callable[[], object]) -> int:
    call()  # a first call prepares tables
    return max(1, round(LEAST_SECONDS / max(_seconds(call, 3), 1e-7)))


# tiktoken's encodings by the rank file of each. GPT-2's has the entries of r50k_base, in files of another form.
ENCODING_FILES = {
    **{name: name for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base")},
    "p50k_edit": "p50k_base",
    "o200k_harmony": "o200k_base",
}


def tiktoken_cells() -> Iterator[Cell]:
    """Yields the cells of tiktoken: those of short texts for every encoding, and all for cl100k_base."""
    import tiktoken
    import tiktoken.load

    from polytok.compat import tiktoken as face
    from polytok.compat.tiktoken import load

    for name in ENCODING_FILES:
        text = corpus_text(SIZES["20 bytes"])
        yield from _tiktoken_text_cells(*_encodings(name), f"{name}, 20 bytes", text)
    a, b = _encodings("cl100k_base")
    for size_name in ("4 KB", "1 MB"):
        yield from _tiktoken_text_cells(a, b, size_name, corpus_text(SIZES[size_name]))
    prose = corpus_text(BATCH * 1000)
    texts = [prose[start : start + 1000] for start in range(0, len(prose), 1000)]
    rows = a.encode_ordinary_batch(texts)
    yield Cell(f"{len(texts)} × 1 KB, encode_batch", lambda: a.encode_batch(texts), lambda: b.encode_batch(texts))
    yield Cell(f"{len(texts)} × 1 KB, decode_batch", lambda: a.decode_batch(rows), lambda: b.decode_batch(rows))
    token = rows[0][0]
    piece = a.decode_single_token_bytes(token)
    yield Cell(
        "one token, decode_single_token_bytes",
        lambda: a.decode_single_token_bytes(token),
        lambda: b.decode_single_token_bytes(token),
    )
    yield Cell(
        "one token, encode_single_token", lambda: a.encode_single_token(piece), lambda: b.encode_single_token(piece)
    )
    yield Cell(
        "get_encoding, again", lambda: tiktoken.get_encoding("cl100k_base"), lambda: face.get_encoding("cl100k_base")
    )
    path = str(_rank_file("cl100k_base"))
    yield Cell(
        "load, Encoding of a rank file",
        lambda: _encoding(tiktoken.Encoding, tiktoken.load.load_tiktoken_bpe(path), a),
        lambda: _encoding(face.Encoding, load.load_tiktoken_bpe(path), a),
    )
    yield Cell("load, get_encoding", lambda: _loaded(tiktoken, "cl100k_base"), lambda: _loaded(face, "cl100k_base"))


def _rank_file(name: str) -> Path:
    return DATA / f"vocab/tiktoken/{ENCODING_FILES[name]}.tiktoken"


def _encodings(name: str) -> tuple[Any, Any]:
    """Returns an encoding of the original and of the face."""
    import tiktoken

    from polytok.compat import tiktoken as face

    return _loaded(tiktoken, name), _loaded(face, name)


def _loaded(package: Any, name: str) -> Any:
    """Loads an encoding anew, from a cache folder with its rank file."""
    package.registry.ENCODINGS.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        address = f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING_FILES[name]}.tiktoken"
        (Path(folder) / sha1(address.encode()).hexdigest()).symlink_to(_rank_file(name).absolute())
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        try:
            return package.get_encoding(name)
        finally:
            del os.environ["TIKTOKEN_CACHE_DIR"]


def _encoding(cls: Any, ranks: dict[bytes, int], like: Any) -> object:
    return cls("x", pat_str=like._pat_str, mergeable_ranks=ranks, special_tokens=like._special_tokens)


def _tiktoken_text_cells(a: Any, b: Any, size: str, text: str) -> Iterator[Cell]:
    ids = a.encode(text)
    assert b.encode(text) == ids
    plain, allowed = {"disallowed_special": ()}, {"allowed_special": "all"}
    yield Cell(f"{size}, encode_ordinary", lambda: a.encode_ordinary(text), lambda: b.encode_ordinary(text))
    yield Cell(f"{size}, encode", lambda: a.encode(text), lambda: b.encode(text))
    yield Cell(f"{size}, encode, special tokens", lambda: a.encode(text, **allowed), lambda: b.encode(text, **allowed))
    yield Cell(
        f"{size}, encode_to_numpy", lambda: a.encode_to_numpy(text, **plain), lambda: b.encode_to_numpy(text, **plain)
    )
    yield Cell(f"{size}, decode", lambda: a.decode(ids), lambda: b.decode(ids))
    yield Cell(f"{size}, decode_bytes", lambda: a.decode_bytes(ids), lambda: b.decode_bytes(ids))
    yield Cell(f"{size}, decode_with_offsets", lambda: a.decode_with_offsets(ids), lambda: b.decode_with_offsets(ids))


TOKENIZER_FILES = {"GPT-2": "gpt2", "BERT": "bert_base_cased", "Llama 3": "llama32_rebuilt"}


def tokenizers_cells() -> Iterator[Cell]:
    """Yields the cells of tokenizers: ids, offsets, batches and decoding of three files, and loading them."""
    import tokenizers

    from polytok.compat import tokenizers as face

    for name, stem in TOKENIZER_FILES.items():
        path = str(DATA / f"vocab/huggingface/{stem}.json")
        a, b = tokenizers.Tokenizer.from_file(path), face.Tokenizer.from_file(path)
        for size_name, size in SIZES.items():
            yield from _tokenizers_text_cells(a, b, f"{name}, {size_name}", corpus_text(size))
        for size in (100, 1000):
            prose = corpus_text(BATCH * size)
            texts = [prose[start : start + size] for start in range(0, len(prose), size)]
            yield from _tokenizers_batch_cells(a, b, f"{name}, {len(texts)} × {size} bytes", texts)
        for method, argument in (("token_to_id", "the"), ("id_to_token", 500)):
            yield Cell(f"{name}, {method}", *(partial(getattr(tokenizer, method), argument) for tokenizer in (a, b)))
        yield Cell(f"{name}, get_vocab_size", a.get_vocab_size, b.get_vocab_size)
        yield Cell(
            f"{name}, load", partial(tokenizers.Tokenizer.from_file, path), partial(face.Tokenizer.from_file, path)
        )


def _tokenizers_text_cells(a: Any, b: Any, size: str, text: str) -> Iterator[Cell]:
    ids = a.encode(text).ids
    assert b.encode(text).ids == ids
    yield Cell(f"{size}, encode, ids", lambda: a.encode(text).ids, lambda: b.encode(text).ids)
    yield Cell(f"{size}, encode, ids and offsets", lambda: _ids_and_offsets(a, text), lambda: _ids_and_offsets(b, text))
    yield Cell(f"{size}, decode", lambda: a.decode(ids), lambda: b.decode(ids))


def _ids_and_offsets(tokenizer: Any, text: str) -> object:
    encoding = tokenizer.encode(text)
    return encoding.ids, encoding.offsets


def _tokenizers_batch_cells(a: Any, b: Any, size: str, texts: list[str]) -> Iterator[Cell]:
    rows = [encoding.ids for encoding in a.encode_batch(texts)]
    for method in ("encode_batch", "encode_batch_fast"):
        calls = [partial(_ids_of_batch, getattr(tokenizer, method), texts) for tokenizer in (a, b)]
        yield Cell(f"{size}, {method}, ids", *calls)
    calls = [partial(_offsets_of_batch, tokenizer.encode_batch, texts) for tokenizer in (a, b)]
    yield Cell(f"{size}, encode_batch, ids and offsets", *calls)
    yield Cell(f"{size}, decode_batch", partial(a.decode_batch, rows), partial(b.decode_batch, rows))


def _ids_of_batch(encode: Callable[[list[str]], Any], texts: list[str]) -> object:
    return [encoding.ids for encoding in encode(texts)]


def _offsets_of_batch(encode: Callable[[list[str]], Any], texts: list[str]) -> object:
    return [(encoding.ids, encoding.offsets) for encoding in encode(texts)]


def small_cells(name: str) -> Iterator[Cell]:
    """Yields the cells of a generator of bench/small_faces.py."""
    from . import small_faces

    cells: Callable[[], Iterator[Cell]] = getattr(small_faces, name)
    yield from cells()


CELLS: Mapping[str, Callable[[], Iterator[Cell]]] = {
    "tiktoken": tiktoken_cells,
    "tokenizers": tokenizers_cells,
    "sentencepiece": lambda: small_cells("sentencepiece_cells"),
    "pyrwkv_tokenizer": lambda: small_cells("rwkv_cells"),
    "rustbpe": lambda: small_cells("rustbpe_cells"),
}


def main() -> None:
    """Prints the tables of the packages that the command line names, by default of all."""
    for package in sys.argv[1:] or CELLS:
        print(f"\n| {package} | original | face | original / face |\n|---|---|---|---|")
        for cell in CELLS[package]():
            result = measure(cell)
            print(
                f"| {cell.name} | {_shown(result.original)} | {_shown(result.face)} | {result.ratio:.2f} |", flush=True
            )


def _shown(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.2f} µs"
    return f"{seconds * 1e3:.2f} ms"


if __name__ == "__main__":
    main()
