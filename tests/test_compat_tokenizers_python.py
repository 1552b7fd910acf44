"""Compares NormalizedString, PreTokenizedString and components in Python with the package tokenizers."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import texts
from format_samples import VOCAB
from polytok.compat import tokenizers as face
from polytok.compat.tokenizers.tools import Annotation, EncodingVisualizer
from published import marked_kinds

original: Any = pytest.importorskip("tokenizers")

FILES = sorted((VOCAB / "huggingface").glob("*.json"))
PIECES = [
    "a",
    "B",
    " ",
    "  ",
    "é",
    "e\u0301",
    "ß",
    "İ",
    "Σ",
    "日本",
    "ﬁ",
    "½",
    "\u3000",
    "\t",
    "x",
    "l",
    "ll",
    "-",
    "¨",
    "Å",
]
PATTERNS = ["a", " ", "l", "ll", ("l+",), ("[aB]",), (r"\s+",), (r"\w+",), ("é|x",)]
BEHAVIORS = ["removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"]
CHANGES = ["nfc", "nfd", "nfkc", "nfkd", "lowercase", "uppercase", "strip", "lstrip", "rstrip"]
NORMALIZERS = ["NFKC", "Lowercase", "StripAccents", "BertNormalizer", "Nmt", "ByteLevel"]
LISTS = ("ids", "type_ids", "tokens", "offsets", "attention_mask", "special_tokens_mask", "word_ids", "sequence_ids")

Change = Callable[[Any, Any], Any]


def some_text(rng: random.Random, most: int) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, most)))


def pattern_of(package: Any, pattern: Any) -> Any:
    return package.Regex(*pattern) if isinstance(pattern, tuple) else pattern


def random_change(rng: random.Random) -> Change:
    """Returns a change of a NormalizedString, which returns the text to go on with."""
    pattern, other, behavior, index = rng.choice(PATTERNS), some_text(rng, 2), rng.choice(BEHAVIORS), rng.randint(0, 3)
    start, stop = sorted((rng.randint(0, 8), rng.randint(0, 8)))
    part = rng.choice([(start, stop), slice(start, stop), slice(-start - 1, None), slice(None, stop), start])
    name = rng.choice(CHANGES)
    normalizer = rng.choice(NORMALIZERS)

    def split(package: Any, text: Any) -> Any:
        parts = text.split(pattern_of(package, pattern), behavior)
        return parts[index % len(parts)] if parts else text

    return rng.choice(
        [
            lambda package, text: getattr(text, name)(),
            lambda package, text: text.prepend(other or "z"),
            lambda package, text: text.append(other) if text.normalized else None,
            lambda package, text: text.filter(lambda character: character not in "aé"),
            lambda package, text: text.map(lambda character: {"a": "qq", "é": "日"}.get(character, character)),
            lambda package, text: text.replace(pattern_of(package, pattern), other),
            lambda package, text: text[part],
            split,
            lambda package, text: getattr(package.normalizers, normalizer)().normalize(text),
        ]
    )


def changed(package: Any, text: str, changes: list[Change]) -> list[Any]:
    """Returns the text and the original of each character after each change."""
    seen, current = [], package.NormalizedString(text)
    for change in changes:
        current = change(package, current) or current
        seen.append(repr(current))
        seen.append([current[at : at + 1].original for at in range(len(current.normalized))])
    return seen


@pytest.mark.parametrize("seed", range(200))
def test_normalized_strings(seed: int) -> None:
    rng = random.Random(seed)
    text = some_text(rng, 10)
    changes = [random_change(rng) for _ in range(rng.randint(1, 6))]
    assert changed(face, text, changes) == changed(original, text, changes)


def test_pre_tokenized_strings() -> None:
    outcomes = []
    for package in (original, face):
        text = package.PreTokenizedString("Hé wö x")
        seen: list[Any] = [text.get_splits()]
        text.split(lambda index, part, p=package: part.split(p.Regex(r"\s"), "isolated"))
        text.normalize(lambda part: part.nfd())
        for referential in ("original", "normalized"):
            seen += [text.get_splits(referential, kind) for kind in ("char", "byte")]
        token = package.Token
        text.tokenize(lambda part, t=token: [t(0, part, (0, len(part.encode()))), t(1, part[:1], (0, 1))])
        package.pre_tokenizers.Digits().pre_tokenize(text)
        for encoding in (text.to_encoding(), text.to_encoding(2, 7)):
            seen.append([getattr(encoding, name) for name in LISTS])
        seen.append([[t.as_tuple() for t in tokens] for _, _, tokens in text.get_splits()])
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]


class Same:
    """A normalizer and a pre-tokenizer that change nothing."""

    def normalize(self, normalized: Any) -> None:
        normalized.map(lambda character: character)

    def pre_tokenize(self, pretok: Any) -> None:
        pretok.split(lambda index, part: [part])


def with_python(package: Any, path: Path, families: str) -> Any:
    tokenizer = package.Tokenizer.from_file(str(path))
    if "n" in families:
        own = package.normalizers.Normalizer.custom(Same())
        members = [own] if tokenizer.normalizer is None else [own, tokenizer.normalizer]
        tokenizer.normalizer = package.normalizers.Sequence(members)
    if "p" in families:
        own = package.pre_tokenizers.PreTokenizer.custom(Same())
        members = [own] if tokenizer.pre_tokenizer is None else [tokenizer.pre_tokenizer, own]
        tokenizer.pre_tokenizer = package.pre_tokenizers.Sequence(members)
    return tokenizer


def described(encoding: Any) -> list[Any]:
    windows = [described(window) for window in encoding.overflowing]
    return [*(getattr(encoding, name) for name in LISTS), encoding.n_sequences, windows]


@pytest.mark.parametrize("families", ["n", "p", "np"])
@pytest.mark.parametrize("path", marked_kinds(FILES), ids=lambda path: path.stem)
def test_encodings_with_components_in_python(path: Path, families: str) -> None:
    pair = [with_python(package, path, families) for package in (original, face)]
    added = [token.content for token in pair[0].get_added_tokens_decoder().values()]
    pieces = texts.VocabularyPieces([piece.encode() for piece in pair[0].get_vocab()], [a.encode() for a in added])
    samples = ["", " ", " ".join(added[:4]), *(text.decode() for text in texts.generate_texts(7, 4, pieces))]
    outcomes = []
    for tokenizer in pair:
        seen = []
        for text in samples:
            seen += [described(tokenizer.encode(text)), described(tokenizer.encode(text, "b c"))]
            seen.append(described(tokenizer.encode(text.split(), is_pretokenized=True)))
            seen.append(tokenizer.decode(seen[-3][0]))
        tokenizer.enable_truncation(8, stride=2)
        tokenizer.enable_padding()
        outcomes.append([*seen, [described(encoding) for encoding in tokenizer.encode_batch(samples)]])
    assert outcomes[0] == outcomes[1]


class Shout:
    def normalize(self, normalized: Any) -> None:
        normalized.uppercase()

    def pre_tokenize(self, pretok: Any) -> None:
        pretok.split(lambda index, part: part.split("-", "removed"))

    def decode_chain(self, tokens: list[str]) -> list[str]:
        return [f"{token}!" for token in tokens]


def test_training_added_tokens_and_decoding_with_components_in_python() -> None:
    outcomes = []
    for package in (original, face):
        tokenizer = package.Tokenizer(package.models.WordLevel(unk_token="?"))
        tokenizer.normalizer = package.normalizers.Normalizer.custom(Shout())
        tokenizer.pre_tokenizer = package.pre_tokenizers.PreTokenizer.custom(Shout())
        tokenizer.decoder = package.decoders.Decoder.custom(Shout())
        trainer = package.trainers.WordLevelTrainer(special_tokens=["?", "<s>"], show_progress=False)
        tokenizer.train_from_iterator(["a-b-b", "<s>b-c"], trainer)
        added = tokenizer.add_tokens([package.AddedToken("new", normalized=True)])
        encoding = tokenizer.encode("b-New-<s>a-d")
        outcomes.append(
            [
                tokenizer.get_vocab(),
                added,
                described(encoding),
                tokenizer.decode(encoding.ids),
                tokenizer.decode_batch([[0, 1], [2]], skip_special_tokens=False),
                tokenizer.decoder.decode(["x", "y"]),
            ]
        )
        for call in (tokenizer.to_str, tokenizer.normalizer.__getstate__, lambda t=tokenizer: str(t.decoder)):
            with pytest.raises(Exception, match="cannot be serialized"):
                call()
    assert outcomes[0] == outcomes[1]


def test_errors() -> None:
    class Failing:
        def normalize(self, normalized: Any) -> None:
            self.kept = normalized
            raise KeyError("x")

        def pre_tokenize(self, pretok: Any) -> None:
            self.kept = pretok

    failing = Failing()
    for package in (original, face):
        normalizer = package.normalizers.Normalizer.custom(failing)
        with pytest.raises(Exception, match="KeyError: 'x'"):
            normalizer.normalize_str("a")
        with pytest.raises(Exception, match="outside `normalize`"):
            failing.kept.nfc()
        package.pre_tokenizers.PreTokenizer.custom(failing).pre_tokenize_str("a")
        with pytest.raises(Exception, match="outside `pre_tokenize`"):
            failing.kept.get_splits()
        text = package.PreTokenizedString("ab")
        with pytest.raises(Exception, match="call `PreTokenizedString::tokenize` first"):
            text.to_encoding()
        with pytest.raises(Exception, match="TypeError: 'int' object is not an instance of 'Token'"):
            text.tokenize(lambda part: [3])
        for call in (text.split, text.tokenize, text.normalize):
            with pytest.raises(TypeError, match="expect a callable"):
                call(3)
        with pytest.raises(ValueError, match="OffsetReferential"):
            text.get_splits("x")
        normalized = package.NormalizedString("ab")
        assert normalized[5] is None
        with pytest.raises(ValueError, match="bigger than max len"):
            normalized[-3]
        for wrong in (lambda n: n["a"], lambda n: n.split(3, "removed"), lambda n: n.filter(3), lambda n: n.map(3)):
            with pytest.raises(TypeError):
                wrong(normalized)
    tokenizer = face.Tokenizer(face.models.BPE())
    tokenizer.normalizer = face.normalizers.Normalizer.custom(failing)
    with pytest.raises(Exception, match="KeyError"):  # the original goes on with the text as it was
        tokenizer.encode("a")
    with pytest.raises(NotImplementedError, match="empty matches"):
        face.NormalizedString("ab").split(face.Regex("x*"), "isolated")
    with pytest.raises(NotImplementedError, match="cannot hold a decoder in Python"):
        face.decoders.Sequence([face.decoders.Decoder.custom(failing)])


def test_names_of_the_package_root() -> None:
    for name in ("OffsetReferential", "OffsetType", "SplitDelimiterBehavior"):
        assert [one.value for one in getattr(face, name)] == [one.value for one in getattr(original, name)]
    names = {name for name in dir(original) if not name.startswith("_") and name not in ("Enum", "List", "Tuple")}
    assert names - {"Union", "tokenizers"} <= set(dir(face)) | {"tools"}


def test_the_visualizer() -> None:
    vocab = {"[UNK]": 0, "<s>": 1, "a": 2, "b": 3}
    tokenizer = face.Tokenizer(face.models.WordLevel(vocab, "[UNK]"))
    tokenizer.pre_tokenizer = face.pre_tokenizers.Whitespace()
    tokenizer.post_processor = face.processors.TemplateProcessing("<s> $A <s>", None, [("<s>", 1)])
    show = EncodingVisualizer(tokenizer, default_to_notebook=False, annotation_converter=lambda one: Annotation(*one))
    page = show("a <b a ", [(0, 3, "x&y")])
    assert page is not None
    assert page.count('class="special-token"') == 2
    assert page.count('class="annotation"') == 1
    assert "x&amp;y" in page and "unknown-token" in page and "&lt;" in page
    assert "http" not in page
    assert show("") is not None
    assert EncodingVisualizer.calculate_label_colors([]) == {}
    assert json.dumps(EncodingVisualizer.calculate_label_colors([Annotation(0, 1, "b"), Annotation(0, 1, "a")]))
