"""What was seen to be a reference's answer, as hashes in a folder: only what changed is asked again.

A hash stands for some texts, all that polytok makes of them, and everything that the reference's answer depends on.
It is written down after a live comparison without a difference, so an answer that is found here is the reference's.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import polytok
from optional_packages import has_rwkv_package
from polytok import EncodeError, Tokenizer
from polytok.fingerprint import fingerprint
from polytok.spec import Kind
from reference_specs import DATA

from . import checks
from .checks import Outcome
from .references import LlamaCppTwin, Reference, Twin

TESTS = Path(__file__).parents[1]
POLYTOK = Path(polytok.__file__).parent
PROGRAMS = (
    *(TESTS / "parity" / name for name in ("checks.py", "columns.py", "references.py", "seen.py", "vocabularies.py")),
    *(TESTS / name for name in ("texts.py", "reference_specs.py")),
)
"""The programs that ask every reference and compare its answers. The texts, and the Spec, are hashed themselves."""
TWINS = (
    *sorted((POLYTOK / "reference").rglob("*.py")),
    *sorted((POLYTOK / "spec").rglob("*.py")),
    *sorted((POLYTOK / "formats").glob("gguf*.py")),
    *(POLYTOK / name for name in ("byte_level.py", "space_mark.py", "errors.py")),
)
"""The references that are ours, and the modules they import."""
PACKAGES = (
    *("regex", "sentencepiece", "tiktoken", "tokenizers"),
    *(("pyrwkv-tokenizer",) if has_rwkv_package() else ()),
)
LINE = re.compile(r"(\d+) (\d+) ([0-9a-f]{32})", re.ASCII)


class Seen:
    """Hashes of a folder with the texts and tokens each stands for; without a folder nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.counts: dict[str, tuple[int, int]] = {}
        for path in sorted(folder.glob("*.seen")) if folder else ():
            # A line that was cut short when a run was stopped does not match.
            for line in filter(None, map(LINE.fullmatch, path.read_text("ascii").splitlines())):
                self.counts[line[3]] = (int(line[1]), int(line[2]))

    def encoding(
        self, outcome: Outcome, tokenizer: Tokenizer, reference: Reference, texts: Sequence[bytes], *, by_columns: bool
    ) -> None:
        """``checks.encoding``, unless the same was seen."""
        if self.folder is None:
            return checks.encoding(outcome, tokenizer, reference, texts, by_columns=by_columns)
        name = answer_hash(outcome.vocabulary, tokenizer, reference, texts, by_columns=by_columns)
        if name not in self.counts:
            now = Outcome(outcome.vocabulary, outcome.reference, outcome.what)
            checks.encoding(now, tokenizer, reference, texts, by_columns=by_columns)
            outcome.add(now)
            if not now.differences and not now.refused:
                self._add(name, now.texts, now.tokens)
            return None
        seen_texts, seen_tokens = self.counts[name]
        outcome.texts += seen_texts
        outcome.tokens += seen_tokens
        return None

    def _add(self, name: str, texts: int, tokens: int) -> None:
        assert self.folder is not None
        self.counts[name] = (texts, tokens)
        with (self.folder / f"{os.getpid()}.seen").open("a", encoding="ascii") as file:  # one file a process
            file.write(f"{texts} {tokens} {name}\n")


def answer_hash(
    vocabulary: str, tokenizer: Tokenizer, reference: Reference, texts: Sequence[bytes], *, by_columns: bool
) -> str:
    state = hashlib.blake2b(programs(is_twin=isinstance(reference, Twin | LlamaCppTwin)), digest_size=16)
    names = (vocabulary.encode(), reference.name.encode(), spec_hash(tokenizer))
    for part in (*names, *parts(tokenizer, reference, texts, by_columns)):
        state.update(len(part).to_bytes(8, "little"))
        state.update(part)
    return state.hexdigest()


def parts(tokenizer: Tokenizer, reference: Reference, texts: Sequence[bytes], by_columns: bool) -> Iterator[bytes]:
    """Each text, and ids, offsets, pieces and decoding as the comparison looks at them."""
    unknown = unknown_ids(tokenizer)
    for text in texts:
        yield text
        try:
            ids = tokenizer.encode(text)
        except EncodeError as error:
            yield str(error).encode()
            continue
        yield repr(ids).encode()
        yield from (column.tobytes() for column in tokenizer.spans(text))
        if not by_columns or not unknown.isdisjoint(ids):
            yield repr(tokenizer.tokens(text)).encode()
        yield checks.decoded(tokenizer, reference, ids)


@functools.cache
def unknown_ids(tokenizer: Tokenizer) -> frozenset[int]:
    """Ids whose piece is not the vocabulary's but the text's."""
    vocab = tokenizer.spec.vocab
    return frozenset(vocab.ids[vocab.kinds == Kind.UNKNOWN].tolist())


@functools.cache
def spec_hash(tokenizer: Tokenizer) -> bytes:
    """A hash of everything in a Spec that a reference is built from."""
    spec = tokenizer.spec
    return fingerprint(spec) + repr((sorted(spec.names.items()), spec.decode)).encode()


@functools.cache
def programs(*, is_twin: bool) -> bytes:
    """A hash of the vocabularies' files, of the programs, and of the versions of the packages."""
    versions = [sys.version, *(f"{name} {version(name)}" for name in PACKAGES)]
    state = hashlib.blake2b("\n".join(versions).encode(), digest_size=16)
    for path in sorted(path for path in (DATA / "vocab").rglob("*") if path.is_file()):
        state.update(hashlib.blake2b(path.name.encode() + b"\0" + path.read_bytes()).digest())
    for path in PROGRAMS + TWINS if is_twin else PROGRAMS:
        state.update(hashlib.blake2b(path.name.encode() + b"\0" + statements(path).encode()).digest())
    return state.digest()


def statements(path: Path) -> str:
    """The syntax tree of a program without its comments and docstrings, which change no answer."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [each for each in node.body if not is_text(each)]
    return ast.dump(tree)


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
