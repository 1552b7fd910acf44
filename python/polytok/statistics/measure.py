"""Measures vocabularies on texts: `stats`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from ..checked import checked
from ..checks import flag, instance, iterable, shown
from ..errors import ArgumentError
from ..files import distinct_ends
from ..id_counts import text_batches
from ..keywords import keyword
from ..loading import AnyTokenizer, as_tokenizer
from ..options import Options
from ..suggestions import did_you_mean
from ..tokenizer import Tokenizer
from ..utf8 import bytes_with_surrogates
from ..values import Text
from .data import Stats
from .scripts import Scripts
from .texts import TextCounter
from .tokens import ModelCounter

Models: TypeAlias = AnyTokenizer | Iterable[AnyTokenizer] | Mapping[str, AnyTokenizer]
"""A tokenizer, several, or several with names; each is a `polytok.Tokenizer` or what `polytok.load` accepts."""
TextGroups: TypeAlias = "os.PathLike[str] | Iterable[Any] | Mapping[str, os.PathLike[str] | Iterable[Any]]"
"""The texts of each group by its name; or paths, which are a group each; or texts, which are one group."""
Batches: TypeAlias = Iterable[tuple[str, Iterable[Text]]]
"""Batches of texts, each with the name of its group."""

_TEXTS = "texts"


def _group_name(name: str, value: Any) -> None:
    instance(name, value, str, "str")


@checked(aligned=flag, baseline=_group_name, options=Options)
def stats(
    models: Models,
    texts: TextGroups | None = None,
    *,
    aligned: bool = False,
    baseline: str | None = None,
    options: Options | None = None,
) -> Stats:
    """Measures vocabularies side by side, on groups of texts: bytes and characters per token, tokens per word, coverage
    by entries, entries that are never used, lengths, scripts, and how often each rank of entries is used.

    ``models`` is a tokenizer (a `polytok.Tokenizer` or what `polytok.load` accepts), a list of them, or a mapping from
    names to tokenizers. ``texts`` maps the name of each group, such as a language, to its texts, which are what
    `polytok.count_ids` accepts; a list of `pathlib.Path` of files and folders has a group for each. Without ``texts``,
    only the vocabularies themselves are measured.

    With ``aligned``, all groups have the same content in several languages, text by text, and `TokenStats.parity` is
    the number of tokens of each as a multiple of that of the group ``baseline``, by default the first one. Raises
    `ArgumentError` if these groups have different numbers of texts.

    >>> import polytok
    >>> texts = {"en": ["All human beings are born free."], "fi": ["Kaikki ihmiset syntyvät vapaina."]}
    >>> result = polytok.stats("default", texts, aligned=True)
    >>> [(group.name, group.tokens, round(group.parity, 2)) for group in result.models[0].groups]
    [('en', 8, 1.0), ('fi', 16, 2.0)]
    """
    tokenizers = {name: as_tokenizer(model) for name, model in _named_models(models)}
    batches = () if texts is None else _named_batches(texts)
    return measure(tokenizers, batches, aligned=aligned, baseline=baseline, options=options)


def measure(
    tokenizers: Mapping[str, Tokenizer],
    batches: Batches,
    *,
    aligned: bool = False,
    baseline: str | None = None,
    options: Options | None = None,
) -> Stats:
    """Measures tokenizers on batches of texts, each with the name of its group, as `stats` does."""
    scripts = Scripts()
    models = [ModelCounter(name, tokenizer, scripts) for name, tokenizer in tokenizers.items()]
    text_counters: dict[str, TextCounter] = {}
    for name, batch in batches:
        texts = list(map(bytes_with_surrogates, batch))
        text_counters.setdefault(name, TextCounter(name, scripts)).add(texts)
        for model in models:
            model.group(name).add(texts, options)
    groups = tuple(counter.result() for counter in text_counters.values())
    unit = _baseline_of([(group.name, group.texts) for group in groups], aligned or baseline is not None, baseline)
    return Stats(tuple(model.result(groups, unit) for model in models), groups, unit)


def _baseline_of(groups: list[tuple[str, int]], is_aligned: bool, baseline: str | None) -> str | None:
    """Returns the name of the baseline; None if the groups are not aligned. Raises `ArgumentError` if they cannot be
    aligned."""
    if not is_aligned:
        return None
    names = [name for name, _ in groups]
    if not names or (baseline is not None and baseline not in names):
        reason = (
            f"the groups are {', '.join(names)}{did_you_mean(str(baseline), names)}" if names else "there are no texts"
        )
        given = f"baseline={shown(baseline)}" if baseline is not None else "aligned=True"
        raise ArgumentError(f"{keyword(given)} needs a group of texts: {reason}")
    for name, texts in groups[1:]:
        if texts != groups[0][1]:
            raise ArgumentError(
                f"aligned groups have the same number of texts, but {names[0]} has {groups[0][1]:,} and {name} has "
                f"{texts:,}; to compare texts of different content, leave out {keyword('aligned=')} and "
                f"{keyword('baseline=')}"
            )
    return baseline or names[0]


def _named_models(models: Any) -> Iterator[tuple[str, AnyTokenizer]]:
    """Yields each tokenizer with a name of its own."""
    if isinstance(models, Mapping):
        yield from ((str(name), model) for name, model in models.items())
        return
    is_one = isinstance(models, (str, bytes, os.PathLike, Tokenizer)) or hasattr(models, "read")
    model_list: list[Any] = [models] if is_one else list(iterable("models", models, "tokenizers"))
    if not model_list:
        raise ArgumentError(f"{keyword('models=[]')} names no tokenizer: name at least one")
    for model in model_list:
        if not isinstance(model, (str, bytes, os.PathLike, Tokenizer)) and not hasattr(model, "read"):
            raise TypeError(f"models: {shown(model)} is neither a polytok.Tokenizer nor a path or name to load")
    yield from zip(_unique_names(list(map(_name_of, model_list))), model_list, strict=True)


def _name_of(model: Any) -> str:
    if isinstance(model, Tokenizer):
        return model.spec.origin.name or model.spec.origin.format
    if isinstance(model, (str, os.PathLike)):
        return os.fsdecode(model)
    return "file"


def _unique_names(names: list[str]) -> list[str]:
    """Returns the ends of paths, with a number after names that are repeated."""
    ends = distinct_ends(names)
    numbered = [f"{end} {ends[: place + 1].count(end)}" for place, end in enumerate(ends)]
    return [numbered[place] if ends.count(end) > 1 else end for place, end in enumerate(ends)]


def _named_batches(texts: Any) -> Iterator[tuple[str, Iterable[Text]]]:
    if isinstance(texts, (str, bytes)):
        raise TypeError(f"texts={shown(texts)} is a single text: pass several texts, or a pathlib.Path to read a file")
    if isinstance(texts, Mapping):
        groups = {str(name): group for name, group in texts.items()}
    else:
        items = [texts] if isinstance(texts, os.PathLike) else list(iterable("texts", texts, "texts"))
        are_paths = bool(items) and all(isinstance(item, os.PathLike) for item in items)
        names = group_names([os.fspath(item) for item in items]) if are_paths else [_TEXTS]
        groups = dict(zip(names, items if are_paths else [items], strict=True))
    for name, group in groups.items():
        if isinstance(group, (str, bytes)):
            raise TypeError(f"texts[{name!r}]={shown(group)} is a single text: pass a list, or a pathlib.Path")
        has_texts = False
        for batch in text_batches(group):
            has_texts = True
            yield name, batch
        if not has_texts:
            yield name, []


def group_names(paths: list[str]) -> list[str]:
    """Returns a short name for each file or folder: its own name without suffixes, if no other has it.

    >>> group_names(["udhr/en.txt", "udhr/fi.txt.gz"]), group_names(["a/en.txt", "b/en.txt"])
    (['en', 'fi'], ['a/en.txt', 'b/en.txt'])
    """
    ends = distinct_ends([path.rstrip(os.sep) or path for path in paths])
    stems = [_stem(end) for end in ends]
    return [stem if stems.count(stem) == 1 else end for stem, end in zip(stems, ends, strict=True)]


def _stem(name: str) -> str:
    """Returns the name of a file without its suffixes; a hidden file keeps its dot."""
    last = name.rpartition(os.sep)[2]
    return name if os.sep in name else last[:1] + last[1:].partition(".")[0]
