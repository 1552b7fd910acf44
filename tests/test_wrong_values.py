"""Tests that a wrong value of any parameter of a public function is an error that names the parameter."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import polytok
from format_samples import longest_spec
from polytok import corpus
from polytok.corpus.options import DocumentKeywords
from polytok.errors import ArgumentError
from polytok.options import NoKeywords, OptionKeywords
from polytok.reading.choices import InputKeywords
from polytok.stream import StreamKeywords
from polytok.training.keywords import CountingKeywords, TrainingKeywords
from test_conventions import public_functions


class Wrong:
    """A value that is right for no parameter."""

    def __repr__(self) -> str:
        return "<wrong>"


WRONG = Wrong()
KEYWORDS: dict[str, Any] = {
    "NoKeywords": NoKeywords,
    "OptionKeywords": OptionKeywords,
    "DocumentKeywords": DocumentKeywords,
    "CountingKeywords": CountingKeywords,
    "StreamKeywords": StreamKeywords,
    "TrainingKeywords": TrainingKeywords,
}
# Classes that users do not call, or whose objects polytok itself writes and reads.
INTERNAL = re.compile(r"(Counts|Vocab|Manifest|MappedShard|DocumentOptions|Padding|Truncation)\.")
# Errors that name the values in another way than the parameter.
OTHER_NAMES = {"texts": "text", "id": "an id", "column": "the column", "ids": "id", "datasets": "folder"}


def parameters(function: Any) -> Iterator[str]:
    """Yields the names of all parameters and keywords."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name == "variables":  # those of a chat template can have any value
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            yield from KEYWORDS[re.findall(r"\w+", str(parameter.annotation))[-1]].__annotations__
            yield from InputKeywords.__annotations__ if name == "options" else ()
        elif name not in ("self", "cls"):
            yield name


FUNCTIONS = {
    f"{function.__module__}.{function.__qualname__}": function
    for name, function in public_functions(("polytok", "polytok.corpus"))
    if not INTERNAL.match(name)
}
CASES = [(name, parameter) for name, function in FUNCTIONS.items() for parameter in parameters(function)]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns an object of each public class by its name, and a right value of each required parameter."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "text.txt").write_text("one\ntwo words\n")
    tokenizer = polytok.load("default")
    corpus.tokenize(str(folder / "text.txt"), tokenizer, folder / "tokens", lines=True, workers=1)
    dataset, mixture = corpus.open(folder / "tokens"), corpus.mix({folder / "tokens": 1})
    encoding = tokenizer.encoding("a")
    streams = (
        tokenizer.decoder(),
        tokenizer.byte_decoder(),
        tokenizer.decoders(1),
        tokenizer.encoder(),
        tokenizer.incremental(),
    )
    parts = polytok.Parts([("a", True)])
    chat = tokenizer.encode_chat([{"role": "user", "content": "a"}], template="{{ messages[0].content }}")
    edited = polytok.edit(polytok.Tokenizer(longest_spec()))
    values = [
        edited,
        tokenizer,
        *streams,
        tokenizer.vocab(),
        dataset,
        mixture,
        dataset.windows(2),
        encoding,
        parts,
        chat,
    ]
    return {
        **{type(value).__name__: value for value in (*values, dataset.packed(2, pad=0))},
        **{
            "spans": tokenizer.spans("a"),
            "parts": parts,
            "text": "a",
            "texts": ["a"],
            "column": pyarrow.array(["a"]),
            "pieces": ["a"],
            "piece": "a",
            "prefix": "a",
            "matrix": [[0.0]],
            "messages": [{"role": "user", "content": "a"}],
        },
        **{"ids": [97], "id": 97, "batch": [[97]], "indices": [0], "state": mixture.state_dict()},
        **dict.fromkeys(
            ("n", "count", "characters", "word", "token", "char", "index", "number", "document", "position", "start"), 0
        ),
        "place": 0,
        **{"stop": 1, "length": 2, "max_tokens": 2, "vocab_size": 256, "alpha": 0.1, "kind": None, "level": "auto"},
        **{
            "padding": polytok.Padding(id=0),
            "other": encoding,
            "tokenizer": tokenizer,
            "against": tokenizer,
            "dataset": folder / "tokens",
        },
        **{"datasets": {folder / "tokens": 1}, "folder": folder / "tokens", "out": folder / "out"},
        **{
            "inputs": str(folder / "text.txt"),
            "path": folder / "saved.tiktoken",
            "model": rank_file(folder),
            "models": tokenizer,
        },
    }


def rank_file(folder: Path) -> Path:
    polytok.load("default").save(folder / "ranks.tiktoken")
    return folder / "ranks.tiktoken"


def call(name: str, parameter: str, objects: dict[str, Any]) -> None:
    """Calls a public function with right values of its required parameters, and a wrong one of ``parameter``."""
    function = FUNCTIONS[name]
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    arguments = {p.name: objects[p.name] for p in required if p.name != "self" and p.kind is not p.VAR_KEYWORD}
    if arguments.get("datasets") and name.endswith("merge"):
        arguments["datasets"] = list(arguments["datasets"])
    if name.endswith("edit"):
        arguments["tokenizer"] = polytok.Tokenizer(longest_spec())
    if name.endswith("training.work.train"):
        arguments["kind"] = "bpe"
    owner = [objects[function.__qualname__.partition(".")[0]]] if "." in function.__qualname__ else []
    result = function(*owner, **{**arguments, parameter: WRONG})
    if inspect.isgenerator(result):
        next(result)


@pytest.mark.parametrize(("name", "parameter"), CASES, ids=[".".join(case) for case in CASES])
def test_an_error_names_the_parameter(objects: dict[str, Any], name: str, parameter: str) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        call(name, parameter, objects)
    assert re.search(rf"\b({parameter}|{OTHER_NAMES.get(parameter, parameter)})\b", str(error.value))


@pytest.mark.parametrize("cls", [polytok.Options, polytok.Padding, polytok.Truncation, polytok.InputOptions])
def test_an_error_names_the_field(cls: Any) -> None:
    parameters = inspect.signature(cls).parameters.values()
    for name in (parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD):
        required = {"max_length": 1} if cls is polytok.Truncation else {}
        with pytest.raises(ArgumentError, match=f"{name}=<wrong>"):
            cls(**{**required, name: WRONG})


TOKENIZER = polytok.load("default")
MESSAGES: dict[str, tuple[Callable[[], object], str]] = {
    "options": (lambda: TOKENIZER.encode("a", options={}), "options={} is not a polytok.Options"),  # type: ignore[arg-type]
    "special": (lambda: TOKENIZER.encode("a", special=True), 'special=True is not "all" or several texts'),  # type: ignore[arg-type]
    "a special text": (lambda: TOKENIZER.encode("a", special={"<|endoftxt|>"}), "did you mean '<|endoftext|>'?"),
    "add_special": (
        lambda: TOKENIZER.encode("a", add_special="yes"),  # type: ignore[arg-type]
        "add_special='yes' is neither True nor False",
    ),
    "add_specials": (
        lambda: TOKENIZER.encode("a", add_specials=True),  # type: ignore[call-arg]
        "encode() has no keyword argument 'add_specials'; did you mean 'add_special'?",
    ),
    "max_length": (lambda: TOKENIZER.encoding("a", max_length=8), "truncation=8"),  # type: ignore[call-arg]
    "errors": (lambda: TOKENIZER.decode([97], errors="drop"), "errors='drop' is not one of 'replace', 'strict'"),  # type: ignore[arg-type]
    "skip_special_tokens": (
        lambda: TOKENIZER.decode([97], skip_special_tokens=True),  # type: ignore[call-arg]
        "decode() has no keyword argument 'skip_special_tokens'; did you mean 'skip_special'?",
    ),
    "a keyword of decode_bytes": (
        lambda: TOKENIZER.decode_bytes([97], strict=True),  # type: ignore[call-arg]
        "decode_bytes() has no keyword argument 'strict'; it has skip_special",
    ),
    "padd": (
        lambda: TOKENIZER.encodings(["a"], padd=True),  # type: ignore[call-arg]
        "encodings() has no keyword argument 'padd'; did you mean 'padding'?",
    ),
    "padding": (
        lambda: TOKENIZER.encode_batch(["a"], padding=True),  # type: ignore[call-arg]
        "encode_batch() has no keyword argument 'padding': encoding(text, padding=8) and encodings(texts",
    ),
    "pad_id": (lambda: polytok.Padding(8, pad_id=3), "Padding() has no keyword argument 'pad_id'; did you mean 'id'?"),  # type: ignore[call-arg]
    "specal": (lambda: polytok.Options(specal="all"), "Options() has no keyword argument 'specal'; did you mean"),  # type: ignore[call-arg]
    "patern": (lambda: polytok.load("default", patern=""), "load() has no keyword argument 'patern'; did you mean"),  # type: ignore[call-overload]
    "worker": (
        lambda: corpus.tokenize("a.txt", TOKENIZER, "out", worker=2),  # type: ignore[call-arg]
        "tokenize() has no keyword argument 'worker'; did you mean 'workers'?",
    ),
    "weights": (
        lambda: corpus.mix({}, weights=[1]),
        "mix() has no keyword argument 'weights': the weights are",
    ),  # type: ignore[call-arg]
    "save": (lambda: TOKENIZER.save("x", format="gguf"), "save() has no keyword argument 'format'; it has path,"),  # type: ignore[call-arg]
    "a keyword of transformers": (
        lambda: TOKENIZER.decode_batch([[97]], clean_up_tokenization_spaces=True),  # type: ignore[call-arg]
        "the file of the tokenizer determines how spaces are decoded",
    ),
    "no errors": (lambda: TOKENIZER.decode([97], errors=None), "errors=None is not one of"),  # type: ignore[arg-type]
    "push bytes": (lambda: TOKENIZER.byte_decoder().push(-1), "id -1 is not in the vocabulary"),
    "push None": (lambda: TOKENIZER.byte_decoder().push(None), "ids=None is not a list of ids, or an id"),  # type: ignore[arg-type]
    "push": (lambda: TOKENIZER.decoder().push(-1), "id -1 is not in the vocabulary"),
    "pieces": (lambda: TOKENIZER.pieces_to_ids([5]), "pieces[0]=5 is not a text"),  # type: ignore[list-item]
    "tokens": (
        lambda: TOKENIZER.pieces_to_ids(tokens=["a"]),  # type: ignore[call-overload]
        "pieces_to_ids() has no keyword argument 'tokens'; did you mean 'pieces'?",
    ),
    "skip_special": (
        lambda: TOKENIZER.ids_to_pieces([97], skip_special=True),  # type: ignore[call-overload]
        "ids_to_pieces() has no keyword argument 'skip_special'; it has ids",
    ),
    "simd_level": (
        lambda: polytok.set_simd_level(simd_level="avx2"),  # type: ignore[call-arg]
        "set_simd_level() has no keyword argument 'simd_level'; did you mean 'level'?",
    ),
    "a piece": (
        lambda: TOKENIZER.pieces_to_ids("the"),
        "pieces='the' is a single piece; use piece_to_id for one piece",
    ),
    "trainer": (
        lambda: polytok.train(["a"], vocab_size=256, unk_token="?"),
        "unk_token= needs trainer='huggingface'",
    ),
    "format": (lambda: polytok.load(b"", format="gguff"), "format='gguff' is not one of"),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_messages(name: str) -> None:
    function, message = MESSAGES[name]
    with pytest.raises((TypeError, ValueError, KeyError)) as error:
        function()
    assert message in str(error.value)
