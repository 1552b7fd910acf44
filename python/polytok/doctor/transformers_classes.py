"""The normalizer and the pre-tokenizer that tokenizer classes of transformers 5 build in place of those of
tokenizer.json.

Such a class reads only the vocabulary, the merges and the template of the file. Source: transformers 5.23.0,
models/\\*/tokenization_\\*.py (the constructors), and models/auto/tokenization_auto.py, by which `class_of` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

VERSION = "5.23"
"""The version of transformers of the table."""

Json = Any
Build = Callable[[Mapping[str, Json]], Json]
"""Builds a component from the fields of tokenizer_config.json, which are the arguments of the constructor."""

MODELS_WITHOUT_CLASS = frozenset(
    {
        *("EvollaModel", "arctic", "aria", "beam", "bigbird_pegasus", "camembertv2-base", "canary", "chatlm"),
        *("cohere_asr", "ernie4_5", "ernie4_5_moe", "flex_olmo", "fuyu", "glm", "glm4", "glm4_moe", "glm4_moe_lite"),
        *("glm4v", "glm4v_moe", "glm_image", "glmasr", "got_ocr2", "gpt_bigcode", "gradium_phonon_tts", "granite"),
        *("granitemoe", "granitemoehybrid", "granitemoeshared", "h2ovl_chat", "hyperclovax", "hyperclovax_vlm"),
        *("internlm2", "internlm3", "iquestcoder", "jamba", "kimi_k25", "kimi_linear", "kosmos-2", "llava"),
        *("llava_next", "mimo_v2_flash", "minicpm3", "minicpm_ocr", "minicpmv", "minicpmv4_6", "minicpmv4_7"),
        *("minimax_m2", "ministral", "ministral3", "mistral", "mistral3", "mistral_large4", "mixtral", "modernbert"),
        *("modernbert-decoder", "molmo", "molmo2", "nemo_speechlm", "nemotron", "nvfp4", "nystromformer", "olmo2"),
        *("olmo3", "olmo_hybrid", "opencua", "openvla", "paddleocr_vl", "pegasus_x", "persimmon", "phi3", "phi3_v"),
        *("phimoe", "pix2struct", "pixtral", "pocket_tts", "smolvlm", "stablelm", "step3_vl", "umt5", "vipllava"),
        *("voxtral", "voxtral_realtime", "xlm-roberta-xl"),
    }
)
"""Values of model_type for which AutoTokenizer uses tokenizer.json whole, whatever tokenizer_config.json names."""

CLASS_OF_MODEL: Mapping[str, str] = {
    "hyperclovax_vision_v2": "GPT2Tokenizer",
    "qwen2": "Qwen2Tokenizer",
    "qwen3_5": "Qwen3_5Tokenizer",
    "qwen3_5_moe": "Qwen3_5Tokenizer",
    "qwen3_5_moe_text": "Qwen3_5Tokenizer",
    "qwen4_exp": "Qwen3_5Tokenizer",
    "siglip2": "Siglip2Tokenizer",
}
"""Values of model_type whose class AutoTokenizer uses instead of the one in tokenizer_config.json."""

_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_QWEN3_5 = _QWEN2.replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(r"[^\s\p{L}\p{N}]", r"[^\s\p{L}\p{M}\p{N}]")
_CLIP = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def class_of(config: Mapping[str, Json], model_type: str | None, text: str) -> str | None:
    """Returns the name of the class with which AutoTokenizer loads a folder, without the ending Fast; None if it uses
    tokenizer.json whole, or runs code of the folder.

    ``config`` is tokenizer_config.json, ``model_type`` is that of config.json, and ``text`` is the pre-tokenizer and
    the decoder of tokenizer.json.
    """
    named_class = config.get("tokenizer_class")
    if not isinstance(named_class, str) or "auto_map" in config:
        return None
    if model_type is not None and model_type in CLASS_OF_MODEL:
        return CLASS_OF_MODEL[model_type]
    if model_type in MODELS_WITHOUT_CLASS:
        return None
    named_class = named_class.removesuffix("Fast")
    return None if named_class == "LlamaTokenizer" and "ByteLevel" in text else named_class


def _byte_level(add_prefix_space: bool, use_regex: bool = True) -> Json:
    flags = {"add_prefix_space": add_prefix_space, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **flags}


def _sequence(*parts: Json) -> Json:
    return {"type": "Sequence", "pretokenizers": list(parts)}


def _split(pattern: Json, behavior: str, *, invert: bool = False) -> Json:
    return {"type": "Split", "pattern": pattern, "behavior": behavior, "invert": invert}


def _metaspace(scheme: str, *, split: bool = True) -> Json:
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}


def _adds_space(config: Mapping[str, Json], default: bool) -> bool:
    value = config.get("add_prefix_space")
    return default if value is None else bool(value)


def _bytes(default: bool = False) -> Build:
    return lambda config: _byte_level(_adds_space(config, default))


def _bytes_after(pattern: str) -> Build:
    split = _split({"Regex": pattern}, "Isolated")
    return lambda config: _sequence(split, _byte_level(_adds_space(config, False), use_regex=False))


def _marked(*, after_words: bool = False) -> Build:
    def build(config: Mapping[str, Json]) -> Json:
        mark = _metaspace("always" if _adds_space(config, True) else "never")
        return _sequence({"type": "WhitespaceSplit"}, mark) if after_words else mark

    return build


def _cohere(config: Mapping[str, Json]) -> Json:
    return _sequence({"type": "Digits", "individual_digits": True}, _byte_level(_adds_space(config, False)))


def _llama(config: Mapping[str, Json]) -> Json:
    with_space = "always" if config.get("legacy", False) else "first"
    return _metaspace(with_space if _adds_space(config, True) else "never", split=False)


def _code_llama(config: Mapping[str, Json]) -> Json:
    return _metaspace("first" if _adds_space(config, True) else "never", split=False)


def _always(component: Json) -> Build:
    return lambda config: component


_NONE = _always(None)
_NFC = _always({"type": "NFC"})
_MARK_SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
_LOWER_AND_MARK_SPACES = {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, _MARK_SPACES]}
_ONE_SPACE = {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "}
_CLIP_NORMALIZER = {"type": "Sequence", "normalizers": [{"type": "NFC"}, _ONE_SPACE, {"type": "Lowercase"}]}
_CLIP_SPLIT = _sequence(_split({"Regex": _CLIP}, "Removed", invert=True), _byte_level(False))
_BERT = _always({"type": "BertPreTokenizer"})
_GEMMA = _always(_split({"String": " "}, "MergedWithPrevious"))
_ALWAYS_MARKED_WORDS = _always(_sequence({"type": "WhitespaceSplit"}, _metaspace("always")))

Built = tuple[str, Build | None, Build]
"""The model, the normalizer and the pre-tokenizer. The normalizer is None if the class derives it from tokenizer.json
or from other fields of the configuration."""


def _rows(class_names: str, built: Built) -> dict[str, Built]:
    return {f"{name}Tokenizer": built for name in class_names.split()}


BUILT_BY_CLASS: Mapping[str, Built] = {
    **_rows("CodeGen Deberta GPT2 Luke Roberta Whisper", ("BPE", _NONE, _bytes())),
    **_rows("Blenderbot LayoutLMv3", ("BPE", _NONE, _bytes(default=True))),
    **_rows("GPTNeoX", ("BPE", _NFC, _bytes())),
    **_rows("Cohere", ("BPE", _NFC, _cohere)),
    **_rows("Qwen2", ("BPE", _NFC, _bytes_after(_QWEN2))),
    **_rows("Qwen3_5", ("BPE", _NFC, _bytes_after(_QWEN3_5))),
    **_rows("CLIP", ("BPE", _always(_CLIP_NORMALIZER), _always(_CLIP_SPLIT))),
    **_rows("Llama", ("BPE", _NONE, _llama)),
    **_rows("CodeLlama", ("BPE", _NONE, _code_llama)),
    **_rows("Gemma", ("BPE", _always(_MARK_SPACES), _GEMMA)),
    **_rows("Siglip2", ("BPE", _always(_LOWER_AND_MARK_SPACES), _GEMMA)),
    **_rows("Herbert OpenAIGPT", ("BPE", None, _BERT)),
    **_rows("Nllb Reformer", ("BPE", None, _always(_metaspace("always")))),
    **_rows("SeamlessM4T", ("BPE", None, _always(_metaspace("first")))),
    **_rows("Tipsv2", ("BPE", None, _ALWAYS_MARKED_WORDS)),
    **_rows("Bert ConvBert DistilBert Funnel LayoutLMv2 MPNet Splinter", ("WordPiece", None, _BERT)),
    **_rows("Albert Camembert XLMRoberta", ("Unigram", None, _marked(after_words=True))),
    **_rows("Barthez BigBird LayoutXLM RemBert XGLM", ("Unigram", None, _marked())),
    **_rows("Lasr MBart T5 Udop VideoPrism", ("Unigram", None, _ALWAYS_MARKED_WORDS)),
    **_rows("MBart50 MLuke Pegasus", ("Unigram", None, _always(_metaspace("always")))),
}
"""What each class builds, by its name without the ending Fast."""
