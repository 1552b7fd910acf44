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
    """Registers the mode with vLLM's registry of tokenizers."""
    registry: Any = import_module("vllm.tokenizers.registry")
    if "polytok" not in registry.TokenizerRegistry.tokenizers:
        registry.TokenizerRegistry.register("polytok", __name__, PolytokTokenizer.__name__)


class PolytokTokenizer:
    """Loads the tokenizer that vLLM loads in its mode ``hf``, and runs it on polytok."""

    @classmethod
    def from_pretrained(cls, path_or_repo_id: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns the tokenizer: of vLLM's own class, which all its fast paths accept."""
        vllm_class: Any = import_module("vllm.tokenizers.hf").CachedHfTokenizer
        with transformers.patched():
            tokenizer = vllm_class.from_pretrained(path_or_repo_id, *args, **kwargs)
        transformers.replace_decode_stream()
        return tokenizer
