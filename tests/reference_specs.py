"""Builds Specs for the tests of `polytok.reference` without polytok's readers, and locates the test data."""

from __future__ import annotations

import ast
import base64
import functools
import io
import json
import os
import random
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb

from polytok import spec as s

DATA = Path(os.environ.get("POLYTOK_DATA", Path(__file__).parents[1] / "../shared/data"))
GOLDEN_FILE = DATA / "golden/sentencepiece/vectors.json"
GOLDEN_MODELS = json.loads(GOLDEN_FILE.read_text("utf-8"))["models"] if GOLDEN_FILE.is_file() else []
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no test data; set POLYTOK_DATA to its folder")

CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"
    r"\s+(?!\S)|\s"
)
R50K = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
O200K = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)


def tiktoken_spec(ranks: Mapping[bytes, int], pattern: str, special: Mapping[str, int]) -> s.Spec:
    return s.Spec(
        vocab=s.Vocab.from_rows((piece, rank, 0.0, s.Kind.NORMAL) for piece, rank in ranks.items()),
        model=s.Bpe(priority="rank", whole_piece_first=True),
        special=tuple(s.SpecialToken(text, id) for text, id in special.items()),
        split=(s.PatternSplit(pattern),),
    )


@functools.cache
def tiktoken_ranks(name: str) -> dict[bytes, int]:
    lines = (DATA / "vocab/tiktoken" / name).read_bytes().splitlines()
    return {base64.b64decode(piece): int(rank) for piece, rank in map(bytes.split, lines)}


def rwkv_spec() -> s.Spec:
    rows = []
    for line in (DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt").read_text("utf-8").split("\n")[:-1]:
        id, literal_and_length = line.split(" ", 1)
        literal = ast.literal_eval(literal_and_length.rsplit(" ", 1)[0])
        rows.append((literal.encode() if isinstance(literal, str) else literal, int(id), 0.0, s.Kind.NORMAL))
    return s.Spec(s.Vocab.from_rows(rows), s.Longest(), special=(s.SpecialToken("<|endoftext|>", 0),))


def llama2c_spec(data: bytes) -> s.Spec:
    rows = []
    at = 4
    while at < len(data):
        score, length = struct.unpack_from("<fI", data, at)
        at += 8 + length
        id = len(rows)
        kind = s.Kind.UNKNOWN if id == 0 else s.Kind.CONTROL if id < 3 else s.Kind.BYTE if id < 259 else s.Kind.NORMAL
        rows.append((data[at - length : at], id, score, kind))
    return s.Spec(
        vocab=s.Vocab.from_rows(rows),
        model=s.Bpe(priority="score", symbols="groups"),
        normalize=(s.PrefixSpace(),),
        unknown="bytes",
        post=s.Template.around(before=(1,)),
        decode=s.Llama2cDecode(),
    )


def sentencepiece_spec(proto: Any, line: s.Line = "0.2.3") -> s.Spec:
    trainer, normalizer = proto.trainer_spec, proto.normalizer_spec
    models: dict[int, s.Model] = {
        1: s.Unigram(),
        2: s.Bpe(priority="score", symbols="chars"),
        3: s.Word(),
        4: s.Char(),
    }
    unk_surface = trainer.unk_surface if trainer.HasField("unk_surface") else " \u2047 "
    return s.Spec(
        vocab=s.Vocab.from_rows((p.piece.encode(), id, p.score, p.type) for id, p in enumerate(proto.pieces)),
        model=models[trainer.model_type],
        normalize=(normalize_step(normalizer, trainer.treat_whitespace_as_suffix),),
        unknown="bytes" if trainer.byte_fallback else "unk",
        decode=s.SentencePieceDecode(
            normalizer.add_dummy_prefix,
            normalizer.remove_extra_whitespaces,
            unk_surface.encode(),
            normalize_step(proto.denormalizer_spec) if proto.denormalizer_spec.precompiled_charsmap else None,
        ),
        sentencepiece_version=line,
    )


def normalize_step(normalizer: Any, is_space_suffix: bool = False) -> s.SentencePieceNormalize:
    return s.SentencePieceNormalize(
        normalizer.precompiled_charsmap,
        normalizer.add_dummy_prefix,
        normalizer.remove_extra_whitespaces,
        normalizer.escape_whitespaces,
        is_space_suffix,
    )


@functools.cache
def charsmap(rule: str) -> bytes:
    """Returns the normalization blob that the installed sentencepiece has for a named set of rules."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b"] * 3),
        model_writer=model,
        model_type="char",
        vocab_size=5,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    proto = pb.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


def golden_model_proto(model: Mapping[str, Any], blob: bytes) -> Any:
    """Builds the ModelProto of one model of the golden SentencePiece vectors."""
    proto = pb.ModelProto()
    rows = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    rows += [(f"<0x{byte:02X}>", 0.0, 6) for byte in range(256)] if model["byte_fallback"] else []
    for piece, score, kind in [*rows, *model["pieces"]]:
        proto.pieces.add(piece=piece, score=score, type=kind)
    proto.trainer_spec.model_type = pb.TrainerSpec.ModelType.Value(model["model_type"])
    proto.trainer_spec.byte_fallback = model["byte_fallback"]
    proto.trainer_spec.treat_whitespace_as_suffix = model["treat_whitespace_as_suffix"]
    if model["unk_surface"] is not None:
        proto.trainer_spec.unk_surface = model["unk_surface"]
    proto.normalizer_spec.precompiled_charsmap = blob
    for flag in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
        setattr(proto.normalizer_spec, flag, model[flag])
    return proto


def is_same_in_both_blobs(rule: str, text: str | bytes) -> bool:
    """Reports whether the blobs of 0.2.1, which recorded the golden vectors, and 0.2.3 normalize a text equally."""
    return not (
        rule.startswith("nmt_") and "\u061c" in (text if isinstance(text, str) else text.decode(errors="replace"))
    )


def random_model(rng: random.Random) -> dict[str, Any]:
    """Returns a small model with pieces of all kinds over few characters, so that many pieces overlap."""
    letters = ["a", "b", "c", "▁", "é", "日", "\ufffd", " ", "ｶ", "x"]
    names = {
        "".join(rng.choices(letters[: rng.choice([3, 4, 10])], k=rng.choice([1, 1, 2, 2, 3, 4, 5]))) for _ in range(16)
    }
    kinds = [s.Kind.NORMAL] * 7 + [s.Kind.CONTROL, s.Kind.USER_DEFINED, s.Kind.UNUSED]
    flags = ("byte_fallback", "add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix")
    return {
        "model_type": rng.choice(["UNIGRAM", "BPE", "BPE", "WORD", "CHAR"]),
        "pieces": [[name, rng.choice([-1, -2, rng.uniform(-20, 5)]), rng.choice(kinds)] for name in sorted(names)],
        "escape_whitespaces": rng.random() < 0.85,
        "unk_surface": rng.choice([None, "", "?"]),
        **{flag: rng.random() < 0.5 for flag in flags},
    }
