"""The tokenizer mode ``polytok`` of vLLM: ``vllm serve MODEL --tokenizer-mode polytok``.

vLLM finds `register` by the entry point ``vllm.general_plugins`` of the package polytok, and calls it in each of its
processes. It only names the mode; nothing changes for a server that does not choose it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from . import transformers

__all__ = ["PolytokTokenizer", "register"]


def register() -> None:
    """Registers the mode with vLLM's registries of tokenizers and of renderers; the renderer is that of the mode hf.

    A release of vLLM without these registries is left as it is.
    """
    try:
        tokenizers: Any = import_module("vllm.tokenizers.registry").TokenizerRegistry
        renderers: Any = import_module("vllm.renderers.registry").RENDERER_REGISTRY
    except ImportError:
        return
    if "polytok" not in tokenizers.tokenizers:
        tokenizers.register("polytok", __name__, PolytokTokenizer.__name__)
    if "polytok" not in renderers.renderers:
        renderers.register("polytok", *renderers.renderers["hf"])


class PolytokTokenizer:
    """Loads the tokenizer that vLLM loads in its mode ``hf``, and runs it on polytok."""

    @classmethod
    def from_pretrained(cls, path_or_repo_id: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the tokenizer: of vLLM's own class, which all its fast paths accept."""
        vllm_class: Any = import_module("vllm.tokenizers.hf").CachedHfTokenizer
        kwargs.setdefault("mistral_format", False)  # as vLLM does in its mode hf
        with transformers.patched():
            tokenizer = vllm_class.from_pretrained(path_or_repo_id, *args, **kwargs)
        transformers.replace_decode_stream()
        return tokenizer
