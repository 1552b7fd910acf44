"""The fuzzing targets of the readers that are written in Python, for atheris: ``python fuzz/python_targets.py NAME``.

Each target accepts polytok's own errors, and fails on any other exception.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import pkgutil
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["polytok", "jinja2"], enable_loader_override=False):
    import polytok
    import polytok.conversion.beside
    import polytok.corpus.manifest
    import polytok.corpus.plan
    import polytok.corpus.status
    import polytok.lossless
    from polytok import formats
    from polytok.errors import PolytokError

    for package in ("chat", "conversion", "formats", "formats.huggingface"):
        for module in pkgutil.iter_modules(importlib.import_module(f"polytok.{package}").__path__):
            importlib.import_module(f"polytok.{package}.{module.name}")

Target = Callable[[bytes], None]

_TEXT = "a <s> \u2581b\u00e9 \u4e16\u754c 12\n"
_MESSAGES = [{"role": "user", "content": "Hi <s>"}, {"role": "assistant", "content": "b"}]
_TOKENIZER = polytok.load("default")
_TOKENIZER_JSON = json.dumps(
    {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]},
    }
).encode()


def _use(spec: polytok.Spec) -> None:
    """Compiles a Spec, uses it, and writes it in its own format."""
    tokenizer = polytok.Tokenizer(spec)
    with contextlib.suppress(PolytokError):
        tokenizer.decode(tokenizer.encode(_TEXT, special="all", add_special=True))
        tokenizer.tokens(_TEXT)
    bool(tokenizer.lossless)
    with contextlib.suppress(PolytokError):
        written = polytok.conversion.write(spec, spec.origin.format)
        assert formats.read(written.data, format=spec.origin.format).vocab == spec.vocab


def _reader(name: str, **options: Any) -> Target:
    def run(data: bytes) -> None:
        with contextlib.suppress(PolytokError):
            _use(formats.read(data, format=name, **options))

    return run


def _detected(data: bytes) -> None:
    with contextlib.suppress(PolytokError):
        formats.read(data)


def _settings(data: bytes) -> None:
    """Reads a tokenizer_config.json, and files that load together with it."""
    name, _, content = data.partition(b"\n")
    names = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "config.json")
    siblings = {names[sum(name) % len(names)]: content, "tokenizer.json": _TOKENIZER_JSON}
    with contextlib.suppress(PolytokError):
        _use(formats.read(_TOKENIZER_JSON, siblings=siblings))


def _chat(data: bytes) -> None:
    """Renders a template with small limits."""
    template = data.decode(errors="replace")
    limits = polytok.chat.Limits(steps=2_000, characters=20_000)
    with contextlib.suppress(PolytokError):
        _TOKENIZER.encode_chat(_MESSAGES, template=template, limits=limits, add_generation_prompt=True)


def _journal(data: bytes) -> None:
    """Reads the plan, a record and the manifest of a job from a folder."""
    plan, _, rest = data.partition(b"\x00")
    record, _, manifest = rest.partition(b"\x00")
    folder = Path(_FOLDER.name)
    (folder / "done").mkdir(exist_ok=True)
    for path, content in (("plan.json", plan), ("done/00000.json", record), ("dataset.json", manifest)):
        if content or path == "plan.json":
            (folder / path).write_bytes(content)
        else:
            (folder / path).unlink(missing_ok=True)
    for read in (polytok.corpus.status.job_status, polytok.corpus.manifest.load):
        with contextlib.suppress(PolytokError):
            read(folder)
    with contextlib.suppress(PolytokError, ValueError):
        polytok.corpus.plan.Plan.from_plain(json.loads(plan))


_FOLDER = tempfile.TemporaryDirectory(prefix="polytok-fuzz-")

TARGETS: dict[str, Target] = {
    "py_huggingface": _reader("huggingface"),
    "py_gguf": _reader("gguf"),
    "py_sentencepiece": _reader("sentencepiece"),
    "py_tekken": _reader("tekken"),
    "py_tiktoken": _reader("tiktoken", pattern="", special_tokens={}),
    "py_ptok": _reader("ptok"),
    "py_detect": _detected,
    "py_settings": _settings,
    "py_chat": _chat,
    "py_journal": _journal,
}


# Mutation of JSON

_JSON_TARGETS = frozenset({"py_huggingface", "py_tekken", "py_settings", "py_journal"})
_VALUES = (None, True, False, 0, 1, -1, 2**31, 2**64, 0.5, "", "a", "<unk>", "\ud800", [], {}, [[]], {"a": 1}, ["a", 0])


def _mutate_json(data: bytes, max_size: int, seed: int) -> bytes:
    """Changes a value, a name or an item of a JSON document in the input; other inputs change byte by byte."""
    rng = random.Random(seed)
    separator = b"\x00" if b"\x00" in data else b"\n"
    parts = data.split(separator) if rng.random() < 0.7 else []
    documents = [(place, value) for place, part in enumerate(parts) if (value := _parsed(part)) is not None]
    if not documents:
        return bytes(atheris.Mutate(data, max_size))
    place, value = rng.choice(documents)
    parts[place] = json.dumps(_mutated(value, rng)).encode()
    return separator.join(parts)[:max_size]


def _parsed(part: bytes) -> Any:
    try:
        value = json.loads(part)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (dict, list)) else None


def _mutated(value: Any, rng: random.Random) -> Any:
    """Returns the value with a change at a random depth."""
    if not isinstance(value, (dict, list)) or not value or rng.random() < 0.15:
        return rng.choice(_VALUES)
    key = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    action = rng.random()
    if action < 0.15:
        del value[key]
    elif action < 0.25 and isinstance(value, dict):
        value[rng.choice([*value, "a"])] = value[key]
    elif action < 0.25:
        value.insert(key, rng.choice(value))
    else:
        value[key] = _mutated(value[key], rng)
    return value


def main() -> None:
    name = sys.argv.pop(1)
    mutator = {"custom_mutator": _mutate_json} if name in _JSON_TARGETS else {}
    atheris.Setup(sys.argv, TARGETS[name], enable_python_coverage=True, **mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
