"""Rank files that are known by their sha256, with the patterns and special tokens of their programs.

One row per vocabulary. If two vocabularies have the same file, the file is read as the first vocabulary, unless
``name=`` selects the other. Sources: openai/tiktoken, tiktoken_ext/openai_public.py; meta-llama/llama3,
llama/tokenizer.py; meta-llama/llama-models, models/llama3/tokenizer.py and models/llama4/tokenizer.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..patterns import CL100K, LLAMA3, O200K, R50K
from ..records import dataclass, field

_R50K_SHA256 = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"
_P50K_SHA256 = "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
_CL100K_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
_O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_LLAMA3_SHA256 = "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"
_LLAMA4_SHA256 = "d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed"


@dataclass(frozen=True, slots=True)
class Scheme:
    """The pattern and the special tokens that a program adds to a rank file.

    ``names`` maps bos, eos, unk and pad to texts of special tokens. With ``adds_bos``, bos is added before a text if
    the caller sets ``add_special``.
    """

    pattern: str
    special_tokens: Mapping[str, int]
    names: Mapping[str, str] = field(default_factory=lambda: {"eos": "<|endoftext|>"})
    adds_bos: bool = True


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A vocabulary whose file is known. ``address`` is the publisher's URL; None if not everyone can fetch the file."""

    name: str
    sha256: str
    scheme: Scheme
    address: str | None = None


def _consecutive_ids(first: int, names: Iterable[str]) -> dict[str, int]:
    """Gives the texts ``<|name|>`` consecutive ids, the first of which is ``first``."""
    return {f"<|{name}|>": number for number, name in enumerate(names, start=first)}


def _numbered_names(prefix: str, numbers: range) -> list[str]:
    return [f"{prefix}{number}" for number in numbers]


_CL100K_SPECIAL = {
    "<|endoftext|>": 100257,
    "<|fim_prefix|>": 100258,
    "<|fim_middle|>": 100259,
    "<|fim_suffix|>": 100260,
    "<|endofprompt|>": 100276,
}
_O200K_SPECIAL = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
# Id 200018 has two texts, <|endofprompt|> and <|reserved_200018|>, as in tiktoken.
_HARMONY_SPECIAL = {
    **_O200K_SPECIAL,
    "<|startoftext|>": 199998,
    **_consecutive_ids(200000, _numbered_names("reserved_", range(200000, 201088))),
}
for _reserved, _name in {
    200002: "return",
    200003: "constrain",
    200005: "channel",
    200006: "start",
    200007: "end",
    200008: "message",
    200012: "call",
}.items():
    del _HARMONY_SPECIAL[f"<|reserved_{_reserved}|>"]
    _HARMONY_SPECIAL[f"<|{_name}|>"] = _reserved

_LLAMA3_SPECIAL = _consecutive_ids(
    128000,
    [
        *("begin_of_text", "end_of_text", "reserved_special_token_0", "reserved_special_token_1"),
        *("finetune_right_pad_id", "step_id", "start_header_id", "end_header_id", "eom_id", "eot_id", "python_tag"),
        *("image", *_numbered_names("reserved_special_token_", range(2, 246))),
    ],
)
_LLAMA30_SPECIAL = _consecutive_ids(
    128000,
    [
        *("begin_of_text", "end_of_text", *_numbered_names("reserved_special_token_", range(4))),
        *("start_header_id", "end_header_id", "reserved_special_token_4", "eot_id"),
        *_numbered_names("reserved_special_token_", range(5, 251)),
    ],
)
_LLAMA4_SPECIAL = _consecutive_ids(
    200000,
    [
        *("begin_of_text", "end_of_text", "fim_prefix", "fim_middle", "fim_suffix"),
        *("header_start", "header_end", "eom", "eot", "step"),
        *_numbered_names("text_post_train_reserved_special_token_", range(6)),
        *("python_start", "python_end", "finetune_right_pad"),
        *_numbered_names("text_post_train_reserved_special_token_", range(8, 69)),
        *("image_start", "image_end", *_numbered_names("vision_reserved_special_token_", range(2))),
        *("tile_x_separator", "tile_y_separator", *_numbered_names("vision_reserved_special_token_", range(2, 6))),
        *("image", "vision_reserved_special_token_6", "patch"),
        *_numbered_names("vision_reserved_special_token_", range(7, 1048)),
        *_numbered_names("reasoning_reserved_special_token_", range(8)),
        *("reasoning_thinking_start", "reasoning_thinking_end"),
        *_numbered_names("reserved_special_token_", range(904)),
    ],
)
_LLAMA_TEXT_OF_ROLE = {"bos": "<|begin_of_text|>", "eos": "<|end_of_text|>"}

_R50K_SCHEME = Scheme(R50K, {"<|endoftext|>": 50256})
_FILL_IN_MIDDLE_TOKENS = {"<|fim_prefix|>": 50281, "<|fim_middle|>": 50282, "<|fim_suffix|>": 50283}
_LLAMA3_TEXT_OF_ROLE = {**_LLAMA_TEXT_OF_ROLE, "pad": "<|finetune_right_pad_id|>"}
_LLAMA4_TEXT_OF_ROLE = {**_LLAMA_TEXT_OF_ROLE, "pad": "<|finetune_right_pad|>"}
_ENCODINGS_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/"

# The merges of GPT-2's first release; encoder.json in the same folder has the same tokens (gpt2_pair.py).
GPT2 = KnownFile(
    "gpt2",
    "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
    _R50K_SCHEME,
    "https://openaipublic.blob.core.windows.net/gpt-2/encodings/main/vocab.bpe",
)
KNOWN = (
    KnownFile("r50k_base", _R50K_SHA256, _R50K_SCHEME, _ENCODINGS_ADDRESS + "r50k_base.tiktoken"),
    KnownFile("p50k_base", _P50K_SHA256, _R50K_SCHEME, _ENCODINGS_ADDRESS + "p50k_base.tiktoken"),
    KnownFile(
        "p50k_edit",
        _P50K_SHA256,
        Scheme(R50K, {"<|endoftext|>": 50256, **_FILL_IN_MIDDLE_TOKENS}),
        _ENCODINGS_ADDRESS + "p50k_base.tiktoken",
    ),
    KnownFile(
        "cl100k_base", _CL100K_SHA256, Scheme(CL100K, _CL100K_SPECIAL), _ENCODINGS_ADDRESS + "cl100k_base.tiktoken"
    ),
    KnownFile("o200k_base", _O200K_SHA256, Scheme(O200K, _O200K_SPECIAL), _ENCODINGS_ADDRESS + "o200k_base.tiktoken"),
    KnownFile(
        "o200k_harmony", _O200K_SHA256, Scheme(O200K, _HARMONY_SPECIAL), _ENCODINGS_ADDRESS + "o200k_base.tiktoken"
    ),
    KnownFile("llama3", _LLAMA3_SHA256, Scheme(LLAMA3, _LLAMA3_SPECIAL, _LLAMA3_TEXT_OF_ROLE)),
    KnownFile("llama3.0", _LLAMA3_SHA256, Scheme(LLAMA3, _LLAMA30_SPECIAL, _LLAMA_TEXT_OF_ROLE)),
    KnownFile("llama4", _LLAMA4_SHA256, Scheme(O200K, _LLAMA4_SPECIAL, _LLAMA4_TEXT_OF_ROLE)),
)
