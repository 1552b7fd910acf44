"""The ``repr`` of tokenizers 0.23, written from JSON."""

from __future__ import annotations

from typing import Any

_TAGS = ("String", "Regex", "SpecialToken", "Sequence")
_REPR_ITEMS = 99
_MOST_BYTES = 100
_BARE_TEXTS = ("behavior", "prepend_scheme", "direction", "strategy", "progress_format")


def represent(value: Any, most: int = _REPR_ITEMS, name: str = "") -> str:
    """Returns the text of a value with the first ``most`` items of lists and objects: 99 for ``repr``, fewer for
    ``str``, which also shortens texts."""
    if isinstance(value, dict):
        return _represent_object(value, most)
    if isinstance(value, (list, tuple)):
        if name in ("cls", "sep", "merge", "piece"):
            return f"({', '.join(represent(item, most) for item in value)})"
        inner = {"merges": "merge", "vocab": "piece"}.get(name, "")
        return f"[{_joined([represent(item, most, inner) for item in value[:most]], len(value), most)}]"
    if isinstance(value, str) and name not in _BARE_TEXTS:
        return _quoted(value, most)
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def _represent_object(value: dict[str, Any], most: int) -> str:
    kind = value.get("type")
    if len(value) == 1 and next(iter(value)) in _TAGS:
        ((kind, inner),) = value.items()
        if not isinstance(inner, dict):
            return f"{kind}({represent(inner, most)})"
        fields = [
            f"{name}={item if kind == 'Sequence' and name == 'id' else represent(item, most)}"
            for name, item in inner.items()
        ]
        return f"{kind}({', '.join(fields)})"
    if isinstance(kind, str) or "version" in value:
        fields = [f"{name}={represent(item, most, name)}" for name, item in value.items() if name != "type"]
        if kind == "TemplateProcessing":
            tokens = {name: _template_token(token, most) for name, token in value["special_tokens"].items()}
            fields[-1] = (
                f"special_tokens={{{', '.join(f'{_quoted(name, most)}:{token}' for name, token in tokens.items())}}}"
            )
        return f"{kind if isinstance(kind, str) else 'Tokenizer'}({', '.join(fields)})"
    items = [f"{_quoted(name, most)}:{represent(item, most)}" for name, item in value.items()]
    return f"{{{_joined(items[:most], len(items), most)}}}"


def _quoted(text: str, most: int) -> str:
    """Returns a text in quotes; the original does not escape what is in it. ``str`` shows 100 bytes of it."""
    data = text.encode()
    if most < _REPR_ITEMS and len(data) > _MOST_BYTES:
        text = f"{data[:_MOST_BYTES].decode(errors='ignore')}..."
    return f'"{text}"'


def _template_token(token: dict[str, Any], most: int) -> str:
    return f"SpecialToken({', '.join(f'{name}={represent(item, most)}' for name, item in token.items())})"


def _joined(items: list[str], count: int, most: int) -> str:
    return ", ".join([*items, *(["..."] if count > most else [])])
