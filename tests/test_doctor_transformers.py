"""Tests where transformers 5 builds another pre-tokenizer than tokenizer.json has: the table against its classes, and
the findings against AutoTokenizer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import polytok
from format_samples import VOCAB
from polytok import conversion, probes
from polytok.doctor import CHECKS, transformers_classes
from polytok.doctor.rebuilt import find_rebuilt_pre_tokenizer

transformers = pytest.importorskip("transformers")
VERSION = transformers_classes.VERSION
same_version = pytest.mark.skipif(
    not transformers.__version__.startswith(f"{VERSION}."), reason=f"the table is that of transformers {VERSION}"
)
CONFIGS: tuple[dict[str, Any], ...] = (
    {},
    {"add_prefix_space": True},
    {"add_prefix_space": False},
    {"legacy": True},
    {"legacy": False},
)
ARGUMENTS: dict[str, dict[str, Any]] = {"PegasusTokenizer": {"vocab": [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]}}
CL100K_LIKE = {"type": "Split", "pattern": {"Regex": r"\p{N}{1,3}|\p{L}+|\s+"}, "behavior": "Isolated", "invert": False}


def folder(path: Path, document: Any, **config: Any) -> Path:
    path.mkdir(exist_ok=True)
    (path / "tokenizer.json").write_text(json.dumps(document), encoding="utf-8")
    model_type = config.pop("model_type", None)
    (path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    (path / "config.json").unlink(missing_ok=True)
    if model_type is not None:
        (path / "config.json").write_text(json.dumps({"model_type": model_type}), encoding="utf-8")
    return path


def byte_document(split: Any = CL100K_LIKE) -> dict[str, Any]:
    """Returns a byte-level tokenizer.json that splits by the given pre-tokenizer before ByteLevel."""
    document: dict[str, Any] = json.loads(conversion.write(polytok.load("default").spec, "huggingface").data)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    return document


def messages(path: Path) -> list[str]:
    return [finding.message for finding in find_rebuilt_pre_tokenizer(polytok.load(path).spec)]


@same_version
@pytest.mark.parametrize("name", transformers_classes.BUILT_BY_CLASS)
def test_classes_build_what_the_table_says(name: str) -> None:
    cls = getattr(transformers, name)
    model, build_normalizer, build_pre_tokenizer = transformers_classes.BUILT_BY_CLASS[name]
    for config in CONFIGS:
        backend = cls(**ARGUMENTS.get(name, {}), **config).backend_tokenizer
        document = json.loads(backend.to_str())
        assert document["model"]["type"] == model
        assert document["pre_tokenizer"] == build_pre_tokenizer(config), config
        if build_normalizer is not None:
            assert document["normalizer"] == build_normalizer(config), config


@same_version
def test_models_have_the_classes_of_the_table() -> None:
    from transformers.models.auto import tokenization_auto as auto

    names = auto.TOKENIZER_MAPPING_NAMES
    whole = ("TokenizersBackend", "PythonBackend", "PreTrainedTokenizerFast", "MistralCommonBackend")
    assert {model for model, name in names.items() if name in whole} == transformers_classes.MODELS_WITHOUT_CLASS
    forced = {model: names[model] for model in auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS}
    named = {model: name for model, name in forced.items() if name not in whole}
    assert named == transformers_classes.CLASS_OF_MODEL


def test_a_class_beside_a_split_regex_is_an_error(tmp_path: Path) -> None:
    path = folder(tmp_path / "a", byte_document(), tokenizer_class="GPT2TokenizerFast")
    (finding,) = find_rebuilt_pre_tokenizer(polytok.load(path).spec)
    assert find_rebuilt_pre_tokenizer in CHECKS
    assert finding.id == "transformers-rebuilds"
    assert "loads the folder as GPT2Tokenizer" in finding.message
    assert finding.is_wrong


@pytest.mark.parametrize(
    "config",
    [
        {"tokenizer_class": "PreTrainedTokenizerFast"},
        {"tokenizer_class": "GPT2Tokenizer", "model_type": "olmo3"},
        {"tokenizer_class": "GPT2Tokenizer", "auto_map": {"AutoTokenizer": ["a.B", None]}},
        {"tokenizer_class": "LlamaTokenizerFast"},
        {"tokenizer_class": "BertTokenizer"},
        {"tokenizer_class": ["GPT2Tokenizer"]},
        {},
    ],
)
def test_a_file_that_is_used_whole_is_well(tmp_path: Path, config: dict[str, Any]) -> None:
    assert not messages(folder(tmp_path / "a", byte_document(), **config))


def test_a_class_that_builds_the_same_is_well(tmp_path: Path) -> None:
    document = byte_document()
    document["pre_tokenizer"] = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    assert not messages(folder(tmp_path / "a", document, tokenizer_class="GPT2Tokenizer"))
    model = folder(tmp_path / "b", byte_document(), tokenizer_class="PreTrainedTokenizerFast", model_type="qwen2")
    assert "as Qwen2Tokenizer" in messages(model)[0]


def test_a_damaged_config_of_the_model_is_passed_over(tmp_path: Path) -> None:
    path = folder(tmp_path / "a", byte_document(), tokenizer_class="GPT2Tokenizer")
    for content in ("{", "[]", '{"model_type": 1}'):
        (path / "config.json").write_text(content)
        assert messages(path)


def published_folders(path: Path) -> Iterator[tuple[str, Path]]:
    classes = ("GPT2Tokenizer", "GPTNeoXTokenizer", "LlamaTokenizerFast", "Qwen2Tokenizer", "CohereTokenizer")
    for file in ("gpt2.json", "llama2.json", "mistral03.json", "xlnet_base_cased.json"):
        for name in (*classes, "BertTokenizer", "XLMRobertaTokenizer"):
            path.mkdir(exist_ok=True)
            shutil.copy(VOCAB / "huggingface" / file, path / "tokenizer.json")
            (path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
            yield name.removesuffix("Fast"), path


@pytest.mark.skipif(not VOCAB.is_dir(), reason="no test data; set POLYTOK_DATA to its folder")
@same_version
def test_findings_name_the_ids_of_transformers(tmp_path: Path) -> None:
    """The first text of a finding gets the ids that the finding says; without one, transformers agrees on all texts."""
    found = 0
    for name, path in published_folders(tmp_path / "a"):
        tokenizer = polytok.load(path)
        findings = list(find_rebuilt_pre_tokenizer(tokenizer.spec))
        document = tokenizer.spec.extra["huggingface"]["document"]
        if transformers_classes.BUILT_BY_CLASS[name][0] != document["model"].get("type"):
            assert not findings
            continue
        theirs = transformers.AutoTokenizer.from_pretrained(path)
        texts = probes.texts(tokenizer.spec, 0)
        different = [
            text
            for text in texts
            if theirs.encode(text, add_special_tokens=False, split_special_tokens=True) != tokenizer.encode(text)
        ]
        assert bool(findings) == bool(different), (name, findings, different)
        if findings:
            found += 1
            assert repr(different[0]) in findings[0].message, (name, findings[0].message, different[0])
    assert found > 5
