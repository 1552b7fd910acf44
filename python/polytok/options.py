"""The options of all methods that encode, as one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from . import _core, checks
from .checks import flag, shown
from .errors import ArgumentError, SpecialTokenError
from .keywords import keyword
from .suggestions import did_you_mean
from .values import Special

if TYPE_CHECKING:
    from typing_extensions import Unpack

_MAX_CACHED_OPTIONS = 16


class NoKeywords(TypedDict):
    """The type of keywords of a method that refuses them with a message of its own."""


class _OptionFields(NamedTuple):
    """The fields of `Options`."""

    add_special: bool
    special: Special
    reject_special: bool


class Options(_OptionFields):
    """The options of all methods that encode. One value can be used in many calls, by any tokenizer.

    * ``add_special``: adds the special ids of the template around the text (BOS, if the model has one).
    * ``special``: the special tokens to recognize in the text, as a set of their texts or ``"all"``; by default no
      special tokens, so that text from outside cannot inject special tokens. The text between two special tokens is
      encoded like a separate text.
    * ``reject_special``: raises `SpecialTokenError` if the text contains a special token that is not in ``special``.

    In `Parts`, all special tokens are recognized in trusted text and none elsewhere, so ``special`` must be the default
    or ``"all"``, and ``reject_special`` refuses a special token that is not trusted as a whole.

    Raises `ArgumentError` for other values, also if ``special`` is a single text.

    >>> import polytok
    >>> chat = polytok.Options(special="all")
    >>> polytok.load("default").encode("a<|endoftext|>", options=chat)
    [97, 32767]
    """

    # Options is a tuple, because every call with keywords creates one. A tuple is created and hashed four times as fast
    # as a dataclass.
    __slots__ = ()

    def __new__(
        cls,
        add_special: bool = False,
        special: Special = (),
        reject_special: bool = False,
        **other: Unpack[NoKeywords],
    ) -> Options:
        if other:
            checks.keywords("Options", other, cls._fields)
        flag("add_special", add_special)
        flag("reject_special", reject_special)
        if not isinstance(special, str):
            special = _texts_of(special)
        elif special != "all":
            raise ArgumentError(
                f'{keyword("special", special)} is not "all" or several texts: for one token, {{{special!r}}}'
            )
        return tuple.__new__(cls, (add_special, special, reject_special))


_FIELDS = frozenset(Options._fields)


class OptionKeywords(TypedDict, total=False):
    """The fields of `Options` as keywords of a call."""

    add_special: bool
    special: Special
    reject_special: bool


def _texts_of(special: Any) -> frozenset[str]:
    try:
        return frozenset(special)
    except TypeError:
        raise ArgumentError(
            f'{keyword(f"special={shown(special)}")} is not "all" or several texts, such as {{"<|endoftext|>"}}'
        ) from None


class OptionResolver:
    """Converts options to the engine's form, for one tokenizer. Each `Options` value is converted once."""

    __slots__ = ("_core", "_last", "_resolved_options", "_texts", "_with_template")

    def __init__(self, core: _core.Tokenizer) -> None:
        self._core = core
        self._texts = {special_text(text): text for text, _ in core.special_tokens()}
        self._resolved_options: dict[Options, _core.ResolvedOptions] = {}
        self._with_template = core.options(True, set(), set())
        # The last Options value and its resolved form: a program often passes the same value in all calls.
        self._last: tuple[Options | None, _core.ResolvedOptions | None] = (None, None)

    def resolve(
        self, options: Options | None, keywords: OptionKeywords, method: str = "encode", *own_keywords: str
    ) -> _core.ResolvedOptions | None:
        """Returns the caller's options in the engine's form; None for the defaults.

        ``method`` is the name of the caller's method, and ``own_keywords`` has its keywords besides the options.
        """
        if options is None:
            if not keywords:
                return None
            # Calls with short texts often set only add_special, and creating an Options value would double their time.
            if len(keywords) == 1 and isinstance(add_special := keywords.get("add_special"), bool):
                return self._with_template if add_special else None
            if not keywords.keys() <= _FIELDS:
                checks.keywords(method, keywords, (*Options._fields, "options", *own_keywords))
            options = Options(**keywords)
        elif keywords:
            checks.keywords(method, keywords, (*Options._fields, "options", *own_keywords))
            raise TypeError(f"options= and {', '.join(keywords)}= set the same options; pass only one of them")
        elif (last := self._last)[0] is options:
            return last[1]
        if not isinstance(options, Options):
            raise TypeError(f"options={shown(options)} is not a polytok.Options, such as Options(add_special=True)")
        resolved_options = self._resolved_options.get(options)
        if resolved_options is None:
            resolved_options = self._resolve_new(options)
        self._last = (options, resolved_options)
        return resolved_options

    def _resolve_new(self, options: Options) -> _core.ResolvedOptions:
        """Builds the sets of special tokens to recognize and to reject."""
        known_texts = self._texts.keys()
        allowed_texts = known_texts if options.special == "all" else frozenset(options.special)
        if unknown_texts := sorted(allowed_texts - known_texts, key=str):
            suggestion = did_you_mean(str(unknown_texts[0]), known_texts)
            raise SpecialTokenError(
                f"{keyword('special', unknown_texts[0])} is not a special token of this vocabulary{suggestion}"
            )
        rejected_texts = known_texts - allowed_texts if options.reject_special else ()
        special, reject = ({self._texts[text] for text in texts} for texts in (allowed_texts, rejected_texts))
        names_tokens = options.special != "all" and bool(options.special)
        resolved_options = self._core.options(
            options.add_special, special, reject, names_tokens, options.reject_special
        )
        if len(self._resolved_options) < _MAX_CACHED_OPTIONS:
            self._resolved_options[options] = resolved_options
        return resolved_options


def special_text(text: bytes) -> str:
    """Returns a special token's text as a ``str``; texts with different bytes stay different."""
    return text.decode("utf-8", "surrogateescape")
