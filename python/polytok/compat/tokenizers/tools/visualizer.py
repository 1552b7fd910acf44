"""Shows an encoding as HTML: tokenizers.tools.visualizer. The page is polytok's own, and loads nothing."""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from ..encoding import Encoding
from ..tokenizer import Tokenizer

_HUES = 360
_UNKNOWN = ("unk", "oov")

css = """
.tokenized-text { font: 1rem/2.4 monospace; white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; }
.token { border-bottom: 0.2rem solid; padding-bottom: 0.1rem; }
.even-token { border-color: #2b6cb0; background: #ebf4ff; color: #1a202c; }
.odd-token { border-color: #2f855a; background: #f0fff4; color: #1a202c; }
.multi-token { border-style: double; }
.unknown-token { border-color: #c53030; background: #fff5f5; }
.non-token { opacity: 0.6; }
.special-token::before { content: attr(data-token); border: 1px dashed; border-radius: 0.3rem; padding: 0 0.3rem; }
.annotation { border: 2px solid var(--label); border-radius: 0.3rem; padding: 0.3rem 0.1rem; }
.annotation::after { content: attr(data-label); background: var(--label); font-size: 0.7rem; padding: 0.1rem 0.3rem; }
"""


class Annotation:
    """A range of characters with a label."""

    def __init__(self, start: int, end: int, label: str) -> None:
        self.start, self.end, self.label = start, end, label


class _Place(NamedTuple):
    """What a character belongs to: its tokens, and the index of its annotation."""

    tokens: tuple[int, ...]
    annotation: int | None


class EncodingVisualizer:
    """Shows how a text is encoded: tokenizers.tools.EncodingVisualizer."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        default_to_notebook: bool = True,
        annotation_converter: Callable[[Any], Annotation] | None = None,
    ) -> None:
        if default_to_notebook:
            _notebook()
        self.tokenizer = tokenizer
        self.default_to_notebook = default_to_notebook
        self.annotation_coverter = annotation_converter  # the original's spelling

    def __call__(
        self, text: str, annotations: Sequence[Any] | None = None, default_to_notebook: bool | None = None
    ) -> str | None:
        """Returns the HTML of a text; in a notebook, shows it and returns None."""
        shows = self.default_to_notebook if default_to_notebook is None else default_to_notebook
        display = _notebook() if shows else None
        converter = self.annotation_coverter
        ranges: list[Annotation] = [converter(one) if converter else one for one in annotations or []]
        page = HTMLBody(_spans(text, self.tokenizer.encode(text), ranges))
        if display is None:
            return page
        display.display(display.HTML(page))
        return None

    @staticmethod
    def calculate_label_colors(annotations: Sequence[Annotation]) -> dict[str, str]:
        """Returns a color for each label."""
        labels = sorted({annotation.label for annotation in annotations})
        return {label: f"hsl({at * _HUES // len(labels)},60%,75%)" for at, label in enumerate(labels)}


def HTMLBody(children: Iterable[str], css_styles: str = css) -> str:
    """Returns a page with these elements."""
    text = "".join(children)
    return (
        f"<html><head><meta charset='utf-8'><style>{css_styles}</style></head>"
        f"<body><div class='tokenized-text' dir='auto'>{text}</div></body></html>"
    )


def _notebook() -> Any:
    """Returns the module that shows HTML in a notebook."""
    try:
        return import_module("IPython.display")
    except ImportError:
        raise ImportError(
            "IPython is not installed, so the HTML cannot be shown: pass default_to_notebook=False to get it as text"
        ) from None


def _spans(text: str, encoding: Encoding, annotations: Sequence[Annotation]) -> list[str]:
    """Returns the elements of a text; tokens without text come before the character at which they were added."""
    places, added = _places(text, encoding, annotations)
    colors = EncodingVisualizer.calculate_label_colors(annotations)
    elements: list[str] = []
    for annotation, group in itertools.groupby(range(len(text)), lambda at: places[at].annotation):
        inner = _token_spans(text, list(group), places, added, encoding.tokens)
        if annotation is not None:
            label = annotations[annotation].label
            start = f'<span class="annotation" style="--label:{colors[label]}" data-label="{html.escape(label)}">'
            inner = [start, *inner, "</span>"]
        elements += inner
    return [*elements, *(_special(encoding.tokens[token]) for token in added.get(len(text), ()))]


def _places(
    text: str, encoding: Encoding, annotations: Sequence[Annotation]
) -> tuple[list[_Place], dict[int, list[int]]]:
    """Returns the place of each character, and the tokens without text by the character before which they are."""
    tokens: list[list[int]] = [[] for _ in text]
    added: dict[int, list[int]] = {}
    at = 0
    for token, (start, stop) in enumerate(encoding.offsets):
        if encoding.special_tokens_mask[token]:
            added.setdefault(at, []).append(token)
            continue
        for character in range(start, min(stop, len(text))):
            tokens[character].append(token)
        at = max(at, stop)
    ranges: list[int | None] = [None] * len(text)
    for index, annotation in enumerate(annotations):
        for character in range(max(annotation.start, 0), min(annotation.end, len(text))):
            ranges[character] = index
    return [_Place(tuple(own), index) for own, index in zip(tokens, ranges, strict=True)], added


def _token_spans(
    text: str, characters: list[int], places: list[_Place], added: Mapping[int, list[int]], tokens: list[str]
) -> list[str]:
    elements: list[str] = []
    for own, group in itertools.groupby(characters, lambda at: places[at].tokens):
        at = list(group)
        elements += [_special(tokens[token]) for token in added.get(at[0], ())]
        elements.append(f'<span class="{_classes(own, tokens)}">{html.escape(text[at[0] : at[-1] + 1])}</span>')
    return elements


def _classes(own: tuple[int, ...], tokens: list[str]) -> str:
    if not own:
        return "non-token"
    classes = ["token", "odd-token" if own[0] % 2 else "even-token"]
    classes += ["multi-token"] if len(own) > 1 else []
    return " ".join([*classes, *(["unknown-token"] if tokens[own[0]].lower().strip("<[]>") in _UNKNOWN else [])])


def _special(token: str) -> str:
    return f'<span class="special-token" data-token="{html.escape(token)}"></span>'
