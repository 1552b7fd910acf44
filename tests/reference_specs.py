"""Specs for the tests of `polytok.reference`, built without polytok's own readers, and where the data lies."""

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
VECTORS = DATA / "golden/sentencepiece/vectors.json"
MODELS = json.loads(VECTORS.read_text("utf-8"))["models"] if VECTORS.is_file() else []
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no data: set POLYTOK_DATA")

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


def tiktoken(ranks: Mapping[bytes, int], pattern: str, special: Mapping[str, int]) -> s.Spec:
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


def rwkv() -> s.Spec:
    rows = []
    for line in (DATA / "vocab/rwkv/rwkv_vocab_v20230424.txt").read_text("utf-8").split("\n")[:-1]:
        id, rest = line.split(" ", 1)
        literal = ast.literal_eval(rest.rsplit(" ", 1)[0])
        rows.append((literal.encode() if isinstance(literal, str) else literal, int(id), 0.0, s.Kind.NORMAL))
    return s.Spec(s.Vocab.from_rows(rows), s.Longest(), special=(s.SpecialToken("<|endoftext|>", 0),))


def llama2c(data: bytes) -> s.Spec:
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


def sentencepiece_proto(proto: Any, line: s.Line = "0.2.3") -> s.Spec:
    trainer, rules = proto.trainer_spec, proto.normalizer_spec
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
        normalize=(normalizer(rules, trainer.treat_whitespace_as_suffix),),
        unknown="bytes" if trainer.byte_fallback else "unk",
        decode=s.SentencePieceDecode(
            rules.add_dummy_prefix,
            rules.remove_extra_whitespaces,
            unk_surface.encode(),
            normalizer(proto.denormalizer_spec) if proto.denormalizer_spec.precompiled_charsmap else None,
        ),
        line=line,
    )


def normalizer(rules: Any, suffix: bool = False) -> s.SentencePieceNormalize:
    return s.SentencePieceNormalize(
        rules.precompiled_charsmap,
        rules.add_dummy_prefix,
        rules.remove_extra_whitespaces,
        rules.escape_whitespaces,
        suffix,
    )


@functools.cache
def charsmap(rule: str) -> bytes:
    """The blob of a named rule set as the installed sentencepiece ships it."""
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


def vector_proto(model: Mapping[str, Any], blob: bytes) -> Any:
    """The ModelProto of one entry of the golden SentencePiece vectors."""
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


def runs_on_this_blob(rule: str, text: str | bytes) -> bool:
    """The vectors were made with 0.2.1's blobs; 0.2.3's differ from them, on these texts, in one rule."""
    return not (
        rule.startswith("nmt_") and "\u061c" in (text if isinstance(text, str) else text.decode(errors="replace"))
    )


def random_model(pick: random.Random) -> dict[str, Any]:
    """A small model with pieces of all kinds over few characters, so that they overlap."""
    letters = ["a", "b", "c", "▁", "é", "日", "\ufffd", " ", "ｶ", "x"]
    names = {
        "".join(pick.choices(letters[: pick.choice([3, 4, 10])], k=pick.choice([1, 1, 2, 2, 3, 4, 5])))
        for _ in range(16)
    }
    kinds = [s.Kind.NORMAL] * 7 + [s.Kind.CONTROL, s.Kind.USER_DEFINED, s.Kind.UNUSED]
    flags = ("byte_fallback", "add_dummy_prefix", "remove_extra_whitespaces", "treat_whitespace_as_suffix")
    return {
        "model_type": pick.choice(["UNIGRAM", "BPE", "BPE", "WORD", "CHAR"]),
        "pieces": [[name, pick.choice([-1, -2, pick.uniform(-20, 5)]), pick.choice(kinds)] for name in sorted(names)],
        "escape_whitespaces": pick.random() < 0.85,
        "unk_surface": pick.choice([None, "", "?"]),
        **{flag: pick.random() < 0.5 for flag in flags},
    }
