"""Finds errors that are typical of files of one format, and models that a format distorts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..formats.gguf_file import U32, GgufFile
from ..formats.huggingface.config import role_names, text_of
from ..lossless import lossless
from ..spec import Bpe, LlamaCppDecode, PieceSpace, Prepend, Spec
from .finding import Finding, Severity, format_examples

_KEY_PREFIX = "tokenizer.ggml."
_APPROXIMATE_PRE_TOKENIZERS = (
    "tekken",
    "gpt-4o",
    "llama4",
    "kanana2",
    "talkie",
    "minimax-m2",
    "kimi-k2",
    "granite-embed-multi-97m",
)
"""Names whose expressions differ from the models' own: letters are one class, or only ASCII has case."""


def find_gguf_errors(spec: Spec) -> Iterator[Finding]:
    """Finds a GGUF file that names no split, or a split that llama.cpp implements with other regular expressions."""
    gguf_keys = spec.extra.get("gguf", {}).get("keys")
    if not gguf_keys or not isinstance(spec.decode, LlamaCppDecode):
        return
    yield from _find_token_ids_out_of_range(spec)
    if spec.decode.family == "bpe":
        yield from _find_pre_tokenizer_errors(gguf_keys)
    if spec.decode.family == "spm" and f"{_KEY_PREFIX}add_space_prefix" not in gguf_keys:
        yield Finding(
            "gguf-space-prefix-unsaid",
            Severity.NOTE,
            "the file does not set add_space_prefix, so llama.cpp adds a space before every text",
            "nothing for Llama-like models; if the model's own tokenizer adds no space, set the key to false",
        )
    if f"{_KEY_PREFIX}token_type" not in gguf_keys and spec.decode.family != "rwkv":
        yield Finding(
            "gguf-no-token-types",
            Severity.WARNING,
            (
                "the file has no token types: control tokens count as ordinary tokens, and special tokens are not "
                "recognized"
            ),
            "convert the model again with a converter that writes tokenizer.ggml.token_type",
        )


def _find_token_ids_out_of_range(spec: Spec) -> Iterator[Finding]:
    """Finds keys such as ``eos_token_id`` with an id that no token has; llama.cpp ignores such a key."""
    facts = spec.extra["gguf"]
    token_count = max((*spec.vocab.ids.tolist(), *(token.id for token in spec.special)), default=-1) + 1
    for key, (value_type, *_) in ((key, value) for key, value in facts["keys"].items() if key.endswith("_token_id")):
        file = GgufFile(facts["keys"], facts["version"], facts["big_endian"])
        id = file.number(key, (U32,)) if value_type == U32 else None
        if id is not None and id >= token_count:
            yield Finding(
                "gguf-token-id-out-of-range",
                Severity.ERROR,
                f"{key} is {id}, but the largest id of a token is {token_count - 1}; llama.cpp ignores the key",
                "convert the model again, or set the key to the id of the token",
            )


def _find_pre_tokenizer_errors(gguf_keys: Mapping[str, Any]) -> Iterator[Finding]:
    """Yields a finding if the file names no pre-tokenizer, or names a pre-tokenizer with known problems."""
    stated_value = gguf_keys.get(f"{_KEY_PREFIX}pre")
    name = "default" if stated_value is None else (stated_value[3] or b"").decode(errors="replace")
    if name == "default":
        description = "names no pre-tokenizer" if stated_value is None else "names the pre-tokenizer 'default'"
        yield Finding(
            "gguf-default-split",
            Severity.ERROR,
            f"the file {description}: llama.cpp splits by expressions that no model was trained with",
            "set tokenizer.ggml.pre to the name of the model's family (gpt-2, llama-bpe, qwen2, ...), or convert again",
        )
    elif name in _APPROXIMATE_PRE_TOKENIZERS:
        yield Finding(
            "gguf-approximate-split",
            Severity.NOTE,
            f"llama.cpp's expressions for {name!r} are not the model's own; some texts get other ids than in training",
            "compare with the model's own file: polytok doctor MODEL --against tokenizer.json",
        )


def find_huggingface_errors(spec: Spec) -> Iterator[Finding]:
    """Finds a tokenizer.json whose ids depend on chance or on special tokens, or differ from the ids in the file."""
    document = spec.extra.get("huggingface", {}).get("document")
    if not isinstance(document, dict):
        return
    model = document.get("model")
    if isinstance(model, dict) and model.get("dropout"):
        yield Finding(
            "dropout",
            Severity.WARNING,
            f"merges are skipped with the probability {model['dropout']}: tokenizers returns other ids each time",
            "set model.dropout to null for any use except training (polytok skips no merge)",
        )
    yield from _find_missing_unk_token(spec, model)
    yield from _find_moved_ids(spec, document.get("added_tokens"))
    yield from _find_new_role_tokens(spec, document.get("added_tokens"))
    if any(isinstance(step, Prepend) for step in spec.normalize) or PieceSpace() in spec.split:
        yield Finding(
            "space-behind-special",
            Severity.NOTE,
            "a space is added before the text after every special token, not only before the whole text",
            "compare texts that contain special tokens with the model's own tokenizer (transformers: legacy=False)",
        )
    if document.get("decoder") is None:
        yield Finding(
            "no-decoder",
            Severity.NOTE,
            "there is no decoder, so decoding joins tokens with spaces",
            "add the model's decoder if you decode ids",
        )


def _find_missing_unk_token(spec: Spec, model: Any) -> Iterator[Finding]:
    """Finds an unk_token that is not in the model's vocabulary, so that tokenizers refuses unknown text."""
    unk_token = model.get("unk_token") if isinstance(model, dict) else None
    if isinstance(unk_token, str) and unk_token and "unk" not in spec.names:
        yield Finding(
            "unk-token-not-in-vocabulary",
            Severity.WARNING,
            f"the model's unk_token {unk_token!r} is not in its vocabulary, so text that no entry covers is an error",
            "write the unknown token of the vocabulary as model.unk_token, or null if there is none",
        )


def _find_new_role_tokens(spec: Spec, added_tokens: Any) -> Iterator[Finding]:
    """Finds a role, such as eos, whose token in tokenizer_config.json is not a token of tokenizer.json."""
    config = spec.extra["huggingface"].get("config", {})
    known_texts = {token.get("content") for token in added_tokens or () if isinstance(token, dict)}
    for role in role_names(config):
        text, id = text_of(config[f"{role}_token"]), spec.names.get(role)
        if id is None:
            yield Finding(
                "role-token-not-in-vocabulary",
                Severity.WARNING,
                f"tokenizer_config.json names {text!r} as {role}, but there is no such token, so {role} is not set",
                f"write a token of the vocabulary as {role}_token, or add {text!r} to the added tokens",
            )
        elif text not in known_texts and id not in spec.vocab.ids:
            yield Finding(
                "role-token-not-in-vocabulary",
                Severity.WARNING,
                f"tokenizer_config.json names {text!r} as {role}, which tokenizer.json does not have: the token gets "
                f"the new id {id}, as in transformers, and a model trained without it never generates it",
                f"write a token of the vocabulary as {role}_token, or add {text!r} to the added tokens",
            )


def _find_moved_ids(spec: Spec, added_tokens: Any) -> Iterator[Finding]:
    """Finds added tokens to which the package `tokenizers` assigns other ids than the file."""
    assigned_ids = {token.text: token.id for token in spec.special}
    tokens = [token for token in added_tokens or () if isinstance(token, dict)]
    stated_value = ((str(token.get("content")), token.get("id")) for token in tokens)
    moved_texts = [text for text, number in stated_value if assigned_ids.get(text, number) != number]
    if moved_texts:
        yield Finding(
            "added-id-ignored",
            Severity.ERROR,
            (
                f"{len(moved_texts)} added tokens get another id than the one in the file "
                f"({format_examples(moved_texts)}), which tokenizers ignores"
            ),
            "list added tokens in the order of their ids, without gaps, or add them to the model's vocab",
        )


def find_control_symbols(spec: Spec) -> Iterator[Finding]:
    """Finds a text that is encoded to a control symbol although no special token is allowed (llama2.c)."""
    if not isinstance(spec.model, Bpe) or spec.model.symbols != "groups":
        return
    for reason in lossless(spec).reasons:
        if "becomes BOS" in reason.what:
            yield Finding(
                "control-in-text",
                Severity.WARNING,
                reason.what.removeprefix("decode: "),
                "texts from outside can insert control symbols; remove such texts before encoding",
            )
