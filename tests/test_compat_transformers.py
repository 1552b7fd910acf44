"""Tests transformers on polytok beside transformers itself: the same calls, the same results."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import transformers_bank as bank
from format_samples import VOCAB
from optional_packages import needs_newest_transformers
from polytok import conversion
from polytok.compat import transformers as face
from polytok.compat import vllm
from polytok.compat.face import FaceWarning

transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")
needs_data = pytest.mark.skipif(not VOCAB.is_dir(), reason="no test data; set POLYTOK_DATA to its folder")
FILES = [VOCAB / "huggingface" / f"{name}.json" for name in ("bert_base_cased", "llama2", "xlnet_base_cased")]
"""One file of each kind of model; ``make test-transformers`` compares all files, with two versions of transformers."""


@pytest.fixture
def patched() -> Iterator[None]:
    with face.patched():
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Returns a folder with the default vocabulary, as a model's is."""
    import polytok

    written = conversion.write(polytok.load("default").spec, "huggingface")
    (tmp_path / "tokenizer.json").write_bytes(written.data)
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|endoftext|>", "model_max_length": 512}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    return tmp_path


def load(path: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(path)


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all_calls_answer_the_same(path: Path) -> None:
    count, different, raising = bank.compare_file(path)
    assert count > 100
    assert not different
    assert len(raising) < 25, raising  # the strategies that cannot truncate a text


@needs_data
@pytest.mark.parametrize(
    ("name", "cls"),
    [
        ("bert_base_cased", "BertTokenizer"),
        pytest.param("llama2", "LlamaTokenizerFast", marks=pytest.mark.slow),
        pytest.param("clip_base", "CLIPTokenizerFast", marks=pytest.mark.slow),
    ],
)
def test_folders_answer_the_same(name: str, cls: str, tmp_path: Path) -> None:
    folder = bank.write_folder(VOCAB / "huggingface" / f"{name}.json", cls, tmp_path)
    count, different, _ = bank.compare_folder(folder)
    assert count > 100
    assert not different


def test_default_vocabulary_answers_the_same(folder: Path) -> None:
    original = load(folder)
    with face.patched():
        count, different, _ = bank.differences(original, load(folder))
    assert count > 100
    assert not different


def test_patch_and_unpatch_restore_everything(folder: Path) -> None:
    from tokenizers import decoders

    cls = transformers.PreTrainedTokenizerFast
    before = (cls.__init__, cls.from_pretrained.__func__, decoders.DecodeStream, "from_pretrained" in vars(cls))
    face.patch()
    face.patch()
    assert isinstance(load(folder)._tokenizer, face.Backend)
    face.unpatch()
    after = (cls.__init__, cls.from_pretrained.__func__, decoders.DecodeStream, "from_pretrained" in vars(cls))
    assert before == after
    assert not isinstance(load(folder)._tokenizer, face.Backend)
    face.unpatch()


@pytest.mark.usefixtures("patched")
def test_a_tokenizer_object_runs_on_polytok(folder: Path) -> None:
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    assert isinstance(tokenizer._tokenizer, face.Backend)
    assert tokenizer.encode("Hello, world") == backend.encode("Hello, world").ids
    assert isinstance(backend, tokenizers.Tokenizer)


@needs_newest_transformers
@pytest.mark.usefixtures("patched")
def test_a_file_is_read_by_polytok_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.tokenization_utils_tokenizers.TokenizerFast", None)
    tokenizer = load(folder)
    assert isinstance(tokenizer._tokenizer, face.Backend)
    assert tokenizer.decode(tokenizer.encode("Hello, world")) == "Hello, world"


@needs_data
@pytest.mark.usefixtures("patched")
def test_a_vocabulary_is_counted_before_it_is_read() -> None:
    for path in FILES:
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
        tokenizer.add_tokens(list(tokenizer.added_tokens_decoder.values()))
        assert tokenizer._tokenizer.model.is_unread
        assert len(tokenizer) == len(tokenizer.get_vocab())
        assert tokenizer.vocab_size == len(tokenizer._tokenizer.get_vocab(False))
        assert not tokenizer._tokenizer.model.is_unread


@pytest.mark.usefixtures("patched")
def test_what_polytok_cannot_run_stays_and_is_named_once(folder: Path) -> None:
    document = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    document["model"]["dropout"] = 0.5
    (folder / "tokenizer.json").write_text(json.dumps(document))
    face._warned.clear()
    with pytest.warns(FaceWarning, match="stays on tokenizers: its model has a dropout"):
        tokenizer = load(folder)
    assert type(tokenizer._tokenizer) is tokenizers.Tokenizer
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert type(load(folder)._tokenizer) is tokenizers.Tokenizer


class _Whole:
    """A pre-tokenizer in Python, which no file can hold."""

    def pre_tokenize(self, text: Any) -> None:
        pass


@pytest.mark.usefixtures("patched")
def test_a_component_in_python_stays(folder: Path) -> None:
    backend = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    custom = load(folder)
    face.unpatch()
    real = load(folder)
    real._tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.PreTokenizer.custom(_Whole())
    face._warned.clear()
    with pytest.warns(FaceWarning, match="stays on tokenizers: .*cannot be serialized"):
        face._run_on_polytok(real)
    assert custom.encode("a") == tokenizer.encode("a")


@pytest.mark.usefixtures("patched")
def test_components_are_objects_of_tokenizers_and_changes_are_seen(folder: Path) -> None:
    tokenizer = load(folder)
    backend = tokenizer.backend_tokenizer
    step = backend.decoder
    assert isinstance(step, tokenizers.decoders.Decoder)
    before = tokenizer.encode("ABC abc")
    backend.normalizer = tokenizers.normalizers.Lowercase()
    assert tokenizer.encode("ABC abc") != before
    assert isinstance(backend.normalizer, tokenizers.normalizers.Lowercase)
    backend.normalizer = None
    assert tokenizer.encode("ABC abc") == before
    assert all(isinstance(token, tokenizers.AddedToken) for token in tokenizer.added_tokens_decoder.values())


@pytest.fixture
def bert_folder(tmp_path: Path) -> Path:
    """Returns a folder that transformers 5 loads by a class that builds its own backend."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *"abcdefghijklmnopqrstuvwxyz", "hello", "##llo"]
    (tmp_path / "vocab.txt").write_text("".join(f"{word}\n" for word in words))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    return tmp_path


USES: dict[str, Callable[[Any], Any]] = {
    "encode": lambda tokenizer: tokenizer("Hello [MASK]")["input_ids"],
    "copy": lambda tokenizer: copy.deepcopy(tokenizer)("hello")["input_ids"],
    "backend's copy": lambda tokenizer: copy.copy(tokenizer._tokenizer).encode("hello").ids,
    "pickle": lambda tokenizer: pickle.loads(pickle.dumps(tokenizer)).encode("hello"),
    "state": lambda tokenizer: tokenizer._tokenizer.to_str(),
    "shown": lambda tokenizer: str(tokenizer._tokenizer) + repr(tokenizer._tokenizer),
    "set": lambda tokenizer: [setattr(tokenizer._tokenizer, "normalizer", None), tokenizer.encode("Hello")],
    "no_padding": lambda tokenizer: [tokenizer._tokenizer.no_padding(), tokenizer._tokenizer.padding],
    "stream": lambda tokenizer: tokenizers.decoders.DecodeStream().step(tokenizer._tokenizer, 6),
    "vocabulary": lambda tokenizer: (len(tokenizer), tokenizer.get_vocab(), tokenizer.convert_tokens_to_ids("hello")),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("runs", [True, False])
def test_what_a_class_built_is_read_when_it_is_used(
    use: str, runs: bool, bert_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = USES[use](load(bert_folder))
    read = []

    def read_backend(backend: Any) -> face.Backend:
        read.append(backend)
        if not runs:
            raise ValueError("for the test")
        return original_read(backend)

    original_read = face._read_backend
    monkeypatch.setattr(face, "_read_backend", read_backend)
    face._warned.clear()
    with face.patched():
        tokenizer = load(bert_folder)
        backend = tokenizer._tokenizer
        assert isinstance(backend, face.Backend)
        assert not isinstance(backend, tokenizers.Tokenizer)
        assert not read
        if runs:
            assert USES[use](tokenizer) == expected
            assert type(backend) is face.Backend
        else:
            with pytest.warns(FaceWarning, match="BertTokenizer stays on tokenizers: for the test"):
                assert USES[use](tokenizer) == expected
            assert type(tokenizer._tokenizer) is tokenizers.Tokenizer
            assert backend.encode("hello").ids == tokenizer._tokenizer.encode("hello").ids
    assert len(read) == 1


@pytest.mark.usefixtures("patched")
def test_threads_read_a_backend_once(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, original_read = [], face._read_backend

    def read_backend(backend: Any) -> face.Backend:
        read.append(backend)
        return original_read(backend)

    monkeypatch.setattr(face, "_read_backend", read_backend)
    for _ in range(20):
        tokenizer, found = load(bert_folder), list[Any]()
        threads = [threading.Thread(target=lambda: found.append(tokenizer.encode("hello a b"))) for _ in range(6)]  # noqa: B023
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 6
        assert all(ids == tokenizer.encode("hello a b") for ids in found)
    assert len(read) == 20


@pytest.mark.usefixtures("patched")
def test_pickles_and_copies_run_without_the_patch(folder: Path) -> None:
    tokenizer = load(folder)
    data, deep = pickle.dumps(tokenizer), copy.deepcopy(tokenizer)
    face.unpatch()
    expected = load(folder).encode("Hello, world 123")
    for one in (pickle.loads(data), deep, tokenizer):
        assert isinstance(one._tokenizer, face.Backend)
        assert one.encode("Hello, world 123") == expected


def test_decode_stream_accepts_both_kinds(folder: Path) -> None:
    original = load(folder)
    ids = original.encode("Größe 한국어 😀 done")
    with face.patched():
        ours = load(folder)
        results = []
        for tokenizer in (original, ours):
            stream = tokenizers.decoders.DecodeStream(ids[:1])
            twin = copy.copy(stream)
            results.append([[one.step(tokenizer._tokenizer, id) for id in ids[1:]] for one in (stream, twin)])
    assert results[0] == results[1]
    assert tokenizers.decoders.DecodeStream is not face.DecodeStream


def test_threads_share_a_tokenizer(folder: Path) -> None:
    with face.patched():
        tokenizer = load(folder)
    texts = [f"text number {number} " * 20 for number in range(50)]
    expected = [tokenizer.encode(text) for text in texts]
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append([tokenizer.encode(text) for text in texts])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


def test_collator_pads_the_same(folder: Path) -> None:
    results = []
    for context in (None, face.patched()):
        if context is not None:
            context.__enter__()
        tokenizer = load(folder)
        tokenizer.pad_token = tokenizer.eos_token
        collate = transformers.DataCollatorWithPadding(tokenizer, return_tensors="np")
        batch = collate([tokenizer(text) for text in bank.TEXTS])
        results.append({key: value.tolist() for key, value in batch.items()})
        if context is not None:
            context.__exit__(None, None, None)
    assert results[0] == results[1]


def test_datasets_find_their_cache_again(folder: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    fingerprint = datasets.fingerprint.Hasher.hash
    with face.patched():
        first, second = load(folder), load(folder)
        assert fingerprint(first) == fingerprint(second)
        before = fingerprint(first)
        first("some text")
        second.encode("another text")
        assert fingerprint(first) == fingerprint(second) == before
        rows = datasets.Dataset.from_dict({"text": list(bank.TEXTS)})
        ours = rows.map(lambda row: first(row["text"]), batched=True)["input_ids"]
    assert list(ours) == load(folder)(list(bank.TEXTS))["input_ids"]


_MAP = """
import sys
import datasets, polytok, transformers
datasets.disable_progress_bars()
polytok.compat.install("transformers")
tokenizer = transformers.AutoTokenizer.from_pretrained(sys.argv[1])
tokenizer.pad_token = tokenizer.eos_token
rows = datasets.load_dataset("json", data_files=sys.argv[2], split="train", cache_dir=sys.argv[3])
def tokenize(row):
    return tokenizer(row["text"], truncation=True, max_length=16, padding="max_length")
for _ in range(2):
    result = rows.map(tokenize, batched=True)
    print(result._fingerprint, result.cache_files[0]["filename"], sum(map(sum, result["input_ids"])))
    tokenizer("a longer text", padding=True)
"""


def test_datasets_find_their_cache_in_another_process(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in bank.TEXTS))
    arguments = [sys.executable, "-c", _MAP, str(folder), str(tmp_path / "rows.jsonl"), str(tmp_path / "cache")]
    lines: list[str] = []
    written: list[dict[str, int]] = []
    for _ in range(2):
        lines += subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.splitlines()
        files = (tmp_path / "cache").rglob("cache-*.arrow")
        written.append({str(file): file.stat().st_mtime_ns for file in files})
    assert len(lines) == 4
    assert len(set(lines)) == 1
    assert len(written[0]) == 1
    assert written[1] == written[0]


# vLLM


TOKENIZER_LIKE = (
    *("num_special_tokens_to_add", "all_special_tokens", "all_special_ids", "bos_token_id", "eos_token_id"),
    *("pad_token_id", "is_fast", "vocab_size", "truncation_side", "__hash__", "__len__", "__call__", "get_vocab"),
    *("get_added_vocab", "encode", "apply_chat_template", "convert_tokens_to_ids", "convert_tokens_to_string"),
    *("decode", "convert_ids_to_tokens"),
)
"""The members of TokenizerLike of vLLM 0.33, vllm/tokenizers/protocol.py, that transformers has; vLLM adds two."""


class _Registry:
    def __init__(self) -> None:
        self.tokenizers: dict[str, tuple[str, str]] = {}

    def register(self, tokenizer_mode: str, module: str, class_name: str) -> None:
        assert tokenizer_mode not in self.tokenizers
        self.tokenizers[tokenizer_mode] = (module, class_name)


class _RendererRegistry:
    def __init__(self) -> None:
        self.renderers = {"hf": ("vllm.renderers.hf", "HfRenderer")}

    def register(self, renderer_mode: str, module: str, class_name: str) -> None:
        assert renderer_mode not in self.renderers
        self.renderers[renderer_mode] = (module, class_name)


class _CachedHfTokenizer:
    @classmethod
    def from_pretrained(cls, path_or_repo_id: Any, *args: Any, download_dir: Any = None, **kwargs: Any) -> Any:
        assert kwargs.pop("mistral_format") is False
        return transformers.AutoTokenizer.from_pretrained(path_or_repo_id, *args, cache_dir=download_dir, **kwargs)


def test_vllm_mode(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry, hf = types.ModuleType("vllm.tokenizers.registry"), types.ModuleType("vllm.tokenizers.hf")
    registry.TokenizerRegistry = _Registry()  # type: ignore[attr-defined]
    hf.CachedHfTokenizer = _CachedHfTokenizer  # type: ignore[attr-defined]
    renderers, packages = types.ModuleType("vllm.renderers.registry"), ("vllm", "vllm.tokenizers", "vllm.renderers")
    renderers.RENDERER_REGISTRY = _RendererRegistry()  # type: ignore[attr-defined]
    for module in (*map(types.ModuleType, packages), registry, hf, renderers):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(tokenizers.decoders, "DecodeStream", tokenizers.decoders.DecodeStream)
    vllm.register()
    vllm.register()
    assert not isinstance(load(folder)._tokenizer, face.Backend)
    assert renderers.RENDERER_REGISTRY.renderers["polytok"] == ("vllm.renderers.hf", "HfRenderer")
    (module, name) = registry.TokenizerRegistry.tokenizers["polytok"]
    cls = getattr(sys.modules[module], name)
    tokenizer = cls.from_pretrained(folder, trust_remote_code=False, download_dir=None, truncation_side="left")
    assert isinstance(tokenizer, transformers.PreTrainedTokenizerFast)
    assert isinstance(tokenizer._tokenizer, face.Backend)
    assert not [member for member in TOKENIZER_LIKE if not hasattr(tokenizer, member)]
    tokenizer._tokenizer.added_token_ids = {1}
    ids = tokenizer.encode("Größe 😀")
    stream = tokenizers.decoders.DecodeStream(ids=ids[:1], skip_special_tokens=True)
    text = "".join(part for id in ids[1:] if (part := stream.step(tokenizer._tokenizer, id)) is not None)
    assert tokenizer.decode(ids[:1]) + text == "Größe 😀"
    assert not isinstance(load(folder)._tokenizer, face.Backend)


def test_another_release_of_vllm_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", types.ModuleType("vllm"))
    vllm.register()


def test_importing_the_modules_imports_no_package() -> None:
    code = (
        "import sys, polytok.compat.vllm\n"
        "assert not {'transformers', 'tokenizers', 'vllm'} & set(sys.modules), 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
