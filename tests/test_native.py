"""Tests `.ptok` files: they are lossless, damage is an error, and forged files do no harm."""

from __future__ import annotations

import os
import pickle
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import polytok
from format_samples import REAL, SMALL, real, unigram_spec
from polytok import FormatError, Tokenizer, _core, conversion, formats
from polytok.fingerprint import fingerprint
from polytok.formats import ptok
from polytok.plain import from_plain, to_plain
from polytok.spec import (
    BytesDecode,
    FixedLength,
    Kind,
    Origin,
    SentencePieceNormalize,
    Spec,
    SpecialToken,
    Template,
    Unigram,
)

TEXTS = ["", "ab", " aab  ab", "é\u2581ab\n\tit's", "世界 <|endoftext|> 😀", "ab" * 200]


def _samples() -> dict[str, Spec]:
    specs = {name: make() for name, make in SMALL.items()}
    unigram = unigram_spec()
    restricted_vocab = replace(unigram.vocab, active_kinds=np.array([2, 5, 4], dtype=np.uint8))
    wide_vocab = replace(unigram.vocab, scores=unigram.vocab.scores.astype(np.float64) / 3)
    flags = (SpecialToken("<x>", 1, special=False, lstrip=True), SpecialToken("<y>", 2, rstrip=True, normalized=True))
    return specs | {
        "unigram": unigram,
        "0.2.1": replace(unigram, sentencepiece_version="0.2.1"),
        "restricted": replace(unigram, vocab=restricted_vocab),
        "wide": replace(unigram, vocab=wide_vocab),
        "flags": replace(specs["rwkv"], special=flags, post=Template.around((1,), (2,))),
    }


SAMPLES = _samples()


def _file(spec: Spec) -> bytes:
    return conversion.write(spec, "ptok", strict=True).data


@pytest.mark.parametrize("name", SAMPLES)
def test_a_spec_comes_back_equal(name: str) -> None:
    spec = SAMPLES[name]
    reread_spec = formats.read(_file(spec), format="ptok")
    assert reread_spec == spec
    assert reread_spec.vocab.scores.dtype == spec.vocab.scores.dtype


@pytest.mark.parametrize("name", SAMPLES)
def test_a_mapped_tokenizer_is_the_same(name: str, tmp_path: Path) -> None:
    tokenizer = Tokenizer(SAMPLES[name])
    path = tmp_path / "a.ptok"
    assert tokenizer.save(path, "ptok") == ()
    for mapped in (polytok.load(path), polytok.load(path.read_bytes()), polytok.load(path, format="ptok")):
        _check_same(tokenizer, mapped)
        assert mapped.spec == tokenizer.spec
        _check_same(tokenizer, mapped)


def _check_same(tokenizer: Tokenizer, other_tokenizer: Tokenizer) -> None:
    assert repr(other_tokenizer) == repr(tokenizer)
    assert other_tokenizer.fingerprint == tokenizer.fingerprint
    assert other_tokenizer.special_tokens == tokenizer.special_tokens
    assert (other_tokenizer.bos_id, other_tokenizer.unk_id, other_tokenizer.vocab_size) == (
        tokenizer.bos_id,
        tokenizer.unk_id,
        tokenizer.vocab_size,
    )
    for text in TEXTS:
        for special in ((), "all"):
            try:
                ids = tokenizer.encode(text, special=special, add_special=True)
            except polytok.EncodeError as error:
                with pytest.raises(polytok.EncodeError, match=str(error)[:20]):
                    other_tokenizer.encode(text, special=special, add_special=True)
                continue
            assert other_tokenizer.encode(text, special=special, add_special=True) == ids
            assert other_tokenizer.decode(ids) == tokenizer.decode(ids)
            assert other_tokenizer.tokens(text) == tokenizer.tokens(text)


def test_dropout_is_the_same_with_fewer_pairs_in_the_file() -> None:
    tokenizer = Tokenizer(replace(polytok.load("default").spec, split=()))
    mapped = polytok.load(_file(tokenizer.spec))
    for seed in range(50):
        text = "tokenization of unhyphenated words"
        assert mapped.sample(text, alpha=0.4, seed=seed) == tokenizer.sample(text, alpha=0.4, seed=seed)


def test_the_same_spec_gives_the_same_bytes() -> None:
    spec = SAMPLES["minbpe"]
    assert _file(spec) == _file(spec)


def test_a_mapped_tokenizer_can_be_pickled_and_outlives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ptok"
    Tokenizer(SAMPLES["tiktoken"]).save(path, "ptok")
    tokenizer = polytok.load(path)
    Tokenizer(SAMPLES["rwkv"]).save(path, "ptok")  # the file is replaced, not changed
    os.unlink(path)
    assert tokenizer.spec == SAMPLES["tiktoken"]
    assert pickle.loads(pickle.dumps(tokenizer)).encode("abab") == tokenizer.encode("abab")


def test_extra_data_of_formats_is_stored() -> None:
    extra = {
        "x": {"list": [1, 2.5, None, True, "é\ud800"], "tuple": (1, (b"\xff", "a")), "$": b"", "": {}},
        "array": {"floats": np.arange(6, dtype=np.float32).reshape(2, 3), "number": 7},
        "odd": {1: "one", (1, 2): "pair"},
    }
    reread_spec = formats.read(_file(replace(SAMPLES["rwkv"], extra=extra, names={"eos": 3})), format="ptok")
    assert np.array_equal(reread_spec.extra["array"]["floats"], extra["array"]["floats"])
    assert reread_spec.extra["array"]["floats"].dtype == np.float32
    assert {k: v for k, v in reread_spec.extra.items() if k != "array"} == {
        k: v for k, v in extra.items() if k != "array"
    }
    assert reread_spec.names == {"eos": 3}


def test_a_spec_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(FormatError, match="type that cannot be written: object"):
        _file(replace(SAMPLES["rwkv"], extra={"x": object()}))


def test_a_spec_with_the_scalars_of_numpy_comes_back() -> None:
    normalize = SentencePieceNormalize(add_dummy_prefix=np.False_, remove_extra_whitespaces=np.True_)  # type: ignore[arg-type]
    unigram = replace(unigram_spec(), normalize=(normalize,))
    longest = replace(SAMPLES["rwkv"], split=(FixedLength(np.int64(1)),))  # type: ignore[arg-type]
    for spec, text in ((unigram, " ab  a "), (longest, "abab")):
        assert polytok.load(_file(spec)).encode(text) == Tokenizer(spec).encode(text)


def test_options_are_refused() -> None:
    with pytest.raises(polytok.ArgumentError, match="pattern= has no effect on a ptok file"):
        polytok.load(_file(SAMPLES["rwkv"]), pattern=r"\w+")


def test_damage_is_noticed(tmp_path: Path) -> None:
    sound_data = _file(SAMPLES["rwkv"])
    path = tmp_path / "a.ptok"
    for length in (8, 63, 64, 100, len(sound_data) // 2, len(sound_data) - 1):
        path.write_bytes(sound_data[:length])
        with pytest.raises(FormatError, match="damaged"):
            polytok.load(path)
    draw = random.Random(7)
    for _ in range(200):
        changed_data = bytearray(sound_data)
        changed_data[draw.randrange(32, len(sound_data))] ^= 1 << draw.randrange(8)
        path.write_bytes(changed_data)
        with pytest.raises(FormatError, match="damaged"):
            polytok.load(path)


def _forged(**sections: bytes) -> bytes:
    """Returns a file with a correct checksum and sections that no writer writes."""
    sound_sections = {"spec": b'{"model":{"$":"Longest"}}', "special": b"[]", "extra": b"{}", "data": b""}
    return _core.native_write(SAMPLES["rwkv"], [*(sound_sections | sections).items()], bytes(16))


FORGED = [
    {"spec": b""},
    {"spec": b"[]"},
    {"spec": b"{}"},
    {"spec": b'{"model":1}'},
    {"spec": b'{"model":{"$":"Spec"}}'},
    {"spec": b'{"model":{"$":"Longest"},"normalize":[1]}'},
    {"spec": b'{"model":{"$":"Longest"},"post":7}'},
    {"spec": b'{"model":{"$":"Longest"},"vocab":7}'},
    *(
        {"spec": b'{"model":{"$":"Longest"},"post":{"$":"Template",%b}}' % parts}
        for parts in (
            b'"single":[1]',
            b'"single":null',
            b'"pair":null',
            b'"pair":[{"$":"Template"}]',
            b'"pair":[{"$":"Insert","ids":["x"]}]',
            b'"pair":[{"$":"Insert","ids":[-1]}]',
            b'"pair":[{"$":"Insert","ids":7}]',
            b'"pair":[{"$":"Insert","ids":[1],"type_id":null}]',
            b'"pair":[{"$":"Slot","text":2}]',
            b'"pair":[{"$":"Slot","text":"x"}]',
        )
    ),
    {"spec": b'{"model":{"$":"Longest"},"names":{"$":"bytes","at":[0]}}'},
    {"spec": b'{"model":{"$":"array","type":"O","shape":[1],"at":[0,8]}}'},
    {"spec": b"[" * 100_000},
    {"special": b'[["a",-1,0]]'},
    {"special": b'[["a"]]'},
    {"special": b'{"$":"bytes"}'},
]


def test_the_unchanged_parts_of_forged_files_load(tmp_path: Path) -> None:
    (tmp_path / "a.ptok").write_bytes(_forged())
    assert polytok.load(tmp_path / "a.ptok").encode("it's") == Tokenizer(SAMPLES["rwkv"]).encode("it's")


@pytest.mark.parametrize("sections", FORGED, ids=str)
def test_forged_files_are_errors(sections: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "a.ptok").write_bytes(_forged(**sections))
    with pytest.raises(polytok.PolytokError):
        polytok.load(tmp_path / "a.ptok")
    with pytest.raises(polytok.PolytokError):
        polytok.load(_forged(**sections))


def test_files_of_later_versions_are_refused(tmp_path: Path) -> None:
    newer_data = bytearray(_file(SAMPLES["rwkv"]))
    newer_data[8] = 99
    (tmp_path / "a.ptok").write_bytes(newer_data)
    with pytest.raises(FormatError, match="version 99, which is newer.*update polytok"):
        polytok.load(tmp_path / "a.ptok")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(polytok.FileError, match=r"no\.ptok"):
        polytok.load(tmp_path / "no.ptok")


@pytest.mark.parametrize("plain", [{"$": "os"}, {"$": "Spec"}, {"$": "tuple"}, {"$": "Strip", "x": 1}, {"$": []}])
def test_json_creates_only_parts_of_specs(plain: object) -> None:
    with pytest.raises(FormatError):
        from_plain(plain, load_bytes=lambda at: b"")


def test_plain_values_survive_json() -> None:
    stored_bytes: list[bytes] = []

    def keep(data: bytes) -> int:
        stored_bytes.append(data)
        return len(stored_bytes) - 1

    spec = SAMPLES["sentencepiece"]
    for value in (spec.normalize, spec.decode, spec.post, spec.model, Kind.BYTE):
        assert from_plain(to_plain(value, keep), stored_bytes.__getitem__) == value


def test_the_magic_is_that_of_the_engine() -> None:
    assert _file(SAMPLES["rwkv"]).startswith(ptok.MAGIC)


# Fingerprints


def test_a_fingerprint_is_stable() -> None:
    # If this value changes, existing corpora do not match their tokenizers.
    assert fingerprint(SAMPLES["tiktoken"]).hex() == "1ea867c9cf6102897f6b312568b5be57"
    assert fingerprint(SAMPLES["sentencepiece"]).hex() == "2e86e05a370987bd87f01eeb9d01f155"


def test_a_fingerprint_includes_everything_that_determines_ids() -> None:
    spec = SAMPLES["sentencepiece"]
    vocab = spec.vocab
    kinds = vocab.kinds.copy()
    kinds[-1] = Kind.UNUSED
    shaping = [
        replace(spec, vocab=replace(vocab, scores=vocab.scores * 2)),
        replace(spec, vocab=replace(vocab, kinds=kinds)),
        replace(spec, vocab=replace(vocab, active_kinds=kinds)),
        replace(spec, vocab=replace(vocab, blob=vocab.blob[:-1] + b"\xaa")),
        replace(spec, model=Unigram()),
        replace(spec, normalize=()),
        replace(spec, normalize=(replace(spec.normalize[0], charsmap=b"x"),)),
        replace(spec, special=(SpecialToken("<x>", 1),)),
        replace(spec, matching="listed"),
        replace(spec, unknown="unk"),
        replace(spec, post=Template()),
        replace(spec, sentencepiece_version="0.2.1"),
    ]
    assert len({fingerprint(other_spec) for other_spec in [spec, *shaping]}) == 1 + len(shaping)


def test_a_fingerprint_ignores_other_fields() -> None:
    spec = SAMPLES["sentencepiece"]
    same_spec = replace(spec, origin=Origin("x", "y"), extra={"a": 1}, names={}, decode=BytesDecode())
    assert fingerprint(same_spec) == fingerprint(spec)
    ranks = SAMPLES["tiktoken"]
    scored = replace(ranks.vocab, scores=ranks.vocab.scores + 1)
    assert fingerprint(replace(ranks, vocab=scored)) == fingerprint(ranks)


# Real files


@pytest.mark.parametrize("path", REAL)
def test_real_vocabularies(path: str, tmp_path: Path) -> None:
    tokenizer = polytok.load(real(path))
    tokenizer.save(tmp_path / "a.ptok", "ptok")
    mapped = polytok.load(tmp_path / "a.ptok")
    text = Path(__file__).read_text() + "世界こんにちは\u3000é😀 naïve हिन्दी ไทย\n\n" * 20
    assert mapped.encode(text) == tokenizer.encode(text)
    assert mapped.fingerprint == tokenizer.fingerprint
    assert mapped.spec == tokenizer.spec
