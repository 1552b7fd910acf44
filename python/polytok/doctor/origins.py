"""Errors that are typical of files of a format, and models that a format distorts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..lossless import lossless
from ..spec import Bpe, LlamaCppDecode, PieceSpace, Prepend, Spec
from .finding import Finding, Severity, examples

_KEY = "tokenizer.ggml."
_APPROXIMATE = ("tekken", "gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2", "kimi-k2", "granite-embed-multi-97m")
"""Names whose expressions are not the models' own: letters are one class, or cases are distinguished only in ASCII."""


def gguf(spec: Spec) -> Iterator[Finding]:
    """A GGUF file that does not name its split, or with a name for which llama.cpp splits in its own way."""
    keys = spec.extra.get("gguf", {}).get("keys")
    if not keys or not isinstance(spec.decode, LlamaCppDecode):
        return
    if spec.decode.family == "bpe":
        yield from _pre_tokenizer(keys)
    if spec.decode.family == "spm" and f"{_KEY}add_space_prefix" not in keys:
        yield Finding(
            "gguf-space-prefix-unsaid",
            Severity.NOTE,
            "the file does not say add_space_prefix, so llama.cpp puts a space before every text",
            "nothing for Llama-like models; if the model's own tokenizer puts none, set the key to false",
        )
    if f"{_KEY}token_type" not in keys and spec.decode.family != "rwkv":
        yield Finding(
            "gguf-no-token-types",
            Severity.WARNING,
            "the file has no token types: control tokens are ordinary ones, and special tokens are not recognised",
            "convert the model again with a converter that writes tokenizer.ggml.token_type",
        )


def _pre_tokenizer(keys: Mapping[str, Any]) -> Iterator[Finding]:
    """The finding for the name in the file."""
    said = keys.get(f"{_KEY}pre")
    name = "default" if said is None else (said[3] or b"").decode(errors="replace")
    if name == "default":
        what = "names no pre-tokenizer" if said is None else "names the pre-tokenizer 'default'"
        yield Finding(
            "gguf-default-split",
            Severity.ERROR,
            f"the file {what}: llama.cpp splits by expressions that no model was trained with",
            "set tokenizer.ggml.pre to the name of the model's family (gpt-2, llama-bpe, qwen2, ...), or convert again",
        )
    elif name in _APPROXIMATE:
        yield Finding(
            "gguf-approximate-split",
            Severity.NOTE,
            f"llama.cpp's expressions for {name!r} are not the model's own; some texts get other ids than in training",
            "compare with the model's own file: polytok doctor MODEL --against tokenizer.json",
        )


def huggingface(spec: Spec) -> Iterator[Finding]:
    """A tokenizer.json whose results depend on chance, on how a text is split, or on ids that are not honoured."""
    document = spec.extra.get("huggingface", {}).get("document")
    if not isinstance(document, dict):
        return
    model = document.get("model")
    if isinstance(model, dict) and model.get("dropout"):
        yield Finding(
            "dropout",
            Severity.WARNING,
            f"merges are left out with the probability {model['dropout']}: tokenizers gives other ids each time",
            "set model.dropout to null for anything but training (polytok leaves no merge out)",
        )
    yield from _moved_ids(spec, document.get("added_tokens"))
    if any(isinstance(step, Prepend) for step in spec.normalize) or PieceSpace() in spec.split:
        yield Finding(
            "space-behind-special",
            Severity.NOTE,
            "a space is put before the text behind every special token too, not only before the whole text",
            "compare with the model's own tokenizer where special tokens stand in texts (transformers: legacy=False)",
        )
    if document.get("decoder") is None:
        yield Finding(
            "no-decoder",
            Severity.NOTE,
            "there is no decoder, so that tokens are joined with spaces",
            "add the decoder that belongs to the model if ids are decoded to text",
        )


def _moved_ids(spec: Spec, listed: Any) -> Iterator[Finding]:
    """tokenizers numbers added tokens itself; it uses the file's ids only for a warning."""
    given = {token.text: token.id for token in spec.special}
    tokens = [token for token in listed or () if isinstance(token, dict)]
    said = ((str(token.get("content")), token.get("id")) for token in tokens)
    moved = [text for text, number in said if given.get(text, number) != number]
    if moved:
        yield Finding(
            "added-id-ignored",
            Severity.ERROR,
            f"{len(moved)} added tokens get another id than the file says ({examples(moved)}): tokenizers ignores it",
            "list added tokens in the order of their ids, without holes, or put them into the model's vocab",
        )


def control_symbols(spec: Spec) -> Iterator[Finding]:
    """A text that becomes a control symbol although none is requested (llama2.c)."""
    if not isinstance(spec.model, Bpe) or spec.model.symbols != "groups":
        return
    for reason in lossless(spec).reasons:
        if "becomes BOS" in reason.what:
            yield Finding(
                "control-in-text",
                Severity.WARNING,
                reason.what.removeprefix("decode: "),
                "texts from outside can put control symbols in; take them out of the text before encoding",
            )
