"""The cells of the faces of sentencepiece, pyrwkv_tokenizer and rustbpe: see bench/faces.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .cases import DATA
from .cutting import corpus_text
from .faces import Cell


def sentencepiece_cells() -> Iterator[Cell]:
    """Yields the cells of sentencepiece, for Llama 2's BPE and nai-t5's Unigram model."""
    import sentencepiece

    from polytok.compat import sentencepiece as face

    for name in ("llama2", "nai-t5"):
        path = str(DATA / "vocab" / "sentencepiece" / f"{name}.model")
        a, b = sentencepiece.SentencePieceProcessor(path), face.SentencePieceProcessor(path)
        for size_name, size in {"20 bytes": 20, "4 KB": 4 << 10}.items():
            yield from _processor_cells(a, b, f"{name}, {size_name}", corpus_text(size))
        texts = [corpus_text(1 << 17)[start : start + 1000] for start in range(0, 1 << 17, 1000)]
        yield _cell(f"{name}, 131 × 1 KB, encode", a, b, "encode", texts)
        yield _cell(f"{name}, id_to_piece", a, b, "id_to_piece", 500)
        yield _cell(f"{name}, piece_to_id", a, b, "piece_to_id", "▁the")
        yield _cell(f"{name}, get_score", a, b, "get_score", 500)
        packages = (sentencepiece, face)
        yield _cell(f"{name}, load", *packages, "SentencePieceProcessor", path)


def _processor_cells(a: Any, b: Any, size: str, text: str) -> Iterator[Cell]:
    ids, pieces = a.encode(text), a.encode(text, return_type=str)
    assert b.encode(text) == ids
    unknown = text.replace("e", "\ua9fa")
    yield _cell(f"{size}, encode", a, b, "encode", text)
    yield _cell(f"{size}, EncodeAsIds", a, b, "EncodeAsIds", text)
    for kind in (str, "numpy", "offset_mapping", "serialized_proto", "proto"):
        name = kind if isinstance(kind, str) else kind.__name__
        yield _cell(f"{size}, encode, {name}", a, b, "encode", text, return_type=kind)
    yield _cell(
        f"{size}, encode, serialized_proto of unknown pieces",
        a,
        b,
        "encode",
        unknown,
        return_type="serialized_proto",
    )
    yield _cell(f"{size}, decode", a, b, "decode", ids)
    yield _cell(f"{size}, decode, pieces", a, b, "decode", pieces)
    yield _cell(f"{size}, decode, serialized_proto", a, b, "decode", ids, return_type="serialized_proto")
    yield _cell(f"{size}, normalize", a, b, "normalize", text)
    yield _cell(f"{size}, normalize, offsets", a, b, "normalize", text, with_offsets=True)


def rwkv_cells() -> Iterator[Cell]:
    """Yields the cells of pyrwkv_tokenizer."""
    import pyrwkv_tokenizer

    from polytok.compat import pyrwkv_tokenizer as face

    a, b = pyrwkv_tokenizer.RWKVTokenizer(), face.RWKVTokenizer()
    for size_name, size in {"20 bytes": 20, "4 KB": 4 << 10, "1 MB": 1 << 20}.items():
        text = corpus_text(size)
        ids = a.encode(text)
        assert b.encode(text) == ids
        yield _cell(f"{size_name}, encode", a, b, "encode", text)
        yield _cell(f"{size_name}, decode", a, b, "decode", ids)
    yield _cell("load", pyrwkv_tokenizer, face, "RWKVTokenizer")


def rustbpe_cells() -> Iterator[Cell]:
    """Yields the cells of rustbpe, with 2,000 entries learned from 1 MB."""
    import rustbpe

    from polytok.compat import rustbpe as face

    prose = corpus_text(1 << 20)
    lines = prose.splitlines()
    a, b = rustbpe.Tokenizer(), face.Tokenizer()
    for each in (a, b):
        each.train_from_iterator(iter(lines), 2000)
    for size_name, size in {"20 bytes": 20, "4 KB": 4 << 10}.items():
        text = corpus_text(size)
        assert a.encode(text) == b.encode(text)
        yield _cell(f"{size_name}, encode", a, b, "encode", text)
    yield Cell(
        "1 MB, train",
        lambda: rustbpe.Tokenizer().train_from_iterator(iter(lines), 2000),
        lambda: face.Tokenizer().train_from_iterator(iter(lines), 2000),
    )


def _cell(name: str, original: Any, face: Any, method: str, *arguments: Any, **keywords: Any) -> Cell:
    theirs, ours = getattr(original, method), getattr(face, method)
    return Cell(name, lambda: theirs(*arguments, **keywords), lambda: ours(*arguments, **keywords))
