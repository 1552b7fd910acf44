"""What files of a format get wrong, or make of a model what it was not."""

from __future__ import annotations

from collections.abc import Iterator

from ..lossless import lossless
from ..spec import Bpe, Spec
from .finding import Finding, Severity


def gguf(spec: Spec) -> Iterator[Finding]:
    """A GGUF file that does not say how to split, or with a name for which llama.cpp splits in its own way."""
    return iter(())


def huggingface(spec: Spec) -> Iterator[Finding]:
    """A tokenizer.json whose results depend on chance or on where a text is cut."""
    return iter(())


def control_symbols(spec: Spec) -> Iterator[Finding]:
    """A text that becomes a control symbol although none is asked for (llama2.c)."""
    if not isinstance(spec.model, Bpe) or spec.model.symbols != "groups":
        return
    for reason in lossless(spec).reasons:
        if "becomes BOS" in reason.what and reason.example is not None:
            yield Finding(
                "control-in-text",
                Severity.WARNING,
                f"{reason.what.removeprefix('decode: ')}",
                "texts from outside can put control symbols in; take them out of the text before encoding",
            )
