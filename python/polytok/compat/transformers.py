"""Runs the fast tokenizers of transformers on polytok: `patch`, `unpatch`.

The tokenizer classes stay those of transformers; only the object inside them, ``backend_tokenizer``, is replaced.
"""

from __future__ import annotations

import copy
import functools
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from types import SimpleNamespace
from typing import Any, NamedTuple
from weakref import ref

from . import tokenizers as face
from .face import Face, FaceWarning
from .tokenizers.decode_stream import DecodeStream as _FaceStream

__all__ = ["Backend", "DecodeStream", "patch", "patched", "replace_decode_stream", "unpatch"]

__polytok_face__ = Face(package="transformers", versions=("4.57.6", "5.23.0"))

_COMPONENTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")


def _unused_references() -> int:
    """Returns the reference count of a component that nobody but `Backend` holds, in a loop like its own.

    Its table, a variable and the argument hold references, of which Python 3.14 does not count all.
    """
    shown = {"": (object(), b"")}
    return next(sys.getrefcount(component) for _, (component, _) in tuple(shown.items()))


_UNUSED_REFERENCES = _unused_references()

_lock = RLock()
_undo: list[Callable[[], None]] = []
_warned: set[str] = set()


def patch() -> None:
    """Makes transformers run fast tokenizers on polytok: those of ``from_pretrained``, also of AutoTokenizer, and
    ``PreTrainedTokenizerFast(tokenizer_object=...)``. Tokenizers that exist already do not change.

    ``tokenizers.decoders.DecodeStream`` is replaced by a class that accepts them too. A tokenizer that polytok cannot
    run keeps its own backend, with a `FaceWarning` that says why. Patching twice has no further effect.

    >>> from polytok.compat import transformers
    >>> transformers.patch()
    >>> transformers.unpatch()
    """
    with _lock:
        if _undo:
            return
        cls = _fast_class()
        _replace(cls, "__init__", _patched_init(cls.__init__))
        _replace(cls, "from_pretrained", classmethod(_patched_from_pretrained(cls.from_pretrained.__func__)))
        if _is_replaceable(decoders := import_module("tokenizers.decoders")):
            _replace(decoders, "DecodeStream", DecodeStream)


def unpatch() -> None:
    """Takes the changes of `patch` back. Tokenizers that run on polytok continue to do so."""
    with _lock:
        while _undo:
            _undo.pop()()


@contextmanager
def patched() -> Iterator[None]:
    """Patches for the time of a ``with`` block, in all threads; does nothing if transformers is patched already."""
    with _lock:
        was_patched = bool(_undo)
        patch()
    try:
        yield
    finally:
        if not was_patched:
            unpatch()


def replace_decode_stream() -> None:
    """Replaces tokenizers.decoders.DecodeStream for good, by a class that accepts all tokenizers."""
    with _lock:
        if _is_replaceable(decoders := import_module("tokenizers.decoders")):
            setattr(decoders, "DecodeStream", DecodeStream)  # noqa: B010  # the attribute of another package


def _is_replaceable(decoders: Any) -> bool:
    return decoders.DecodeStream not in (_FaceStream, DecodeStream)


def _fast_class() -> Any:
    """Returns the class of fast tokenizers: TokenizersBackend in transformers 5, PreTrainedTokenizerFast in 4."""
    try:
        return import_module("transformers.tokenization_utils_tokenizers").TokenizersBackend
    except ImportError:
        return import_module("transformers.tokenization_utils_fast").PreTrainedTokenizerFast


def _replace(owner: Any, name: str, value: Any) -> None:
    own = vars(owner).get(name)
    setattr(owner, name, value)
    _undo.append(
        functools.partial(delattr, owner, name) if own is None else functools.partial(setattr, owner, name, own)
    )


def _patched_init(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        if (
            (file := kwargs.get("tokenizer_file")) is not None
            and not (kwargs.get("from_slow") or kwargs.get("tokenizer_object"))
            and (backend := _backend_of_file(file)) is not None
        ):
            kwargs["tokenizer_object"] = backend  # so that the original, which copies it, does not read the file
        original(self, *args, **kwargs)
        if type(self).__init__ is init:  # a class of a model goes on to change the backend
            _run_on_polytok(self)

    return init


def _patched_from_pretrained(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def from_pretrained(cls: Any, *args: Any, **kwargs: Any) -> Any:
        tokenizer = original(cls, *args, **kwargs)
        if hasattr(tokenizer, "_tokenizer"):
            _run_on_polytok(tokenizer)
        return tokenizer

    return from_pretrained


def _backend_of_file(path: Any) -> Backend | None:
    """Reads a tokenizer.json; returns None if polytok cannot run it."""
    try:
        with open(path, "rb") as file:
            backend = Backend(face.models.BPE())
            backend.__setstate__(file.read())
    except Exception:  # the original reads the file, and tells what is wrong
        return None
    return None if backend._samples() else backend


def _run_on_polytok(tokenizer: Any) -> None:
    """Replaces the backend of a tokenizer, unless polytok cannot run it."""
    backend = tokenizer._tokenizer
    if isinstance(backend, Backend) or not _is_tokenizer(backend):
        return
    try:
        _check_backend(backend)
        own_backend = _unread(tokenizer)
        decode = _wrapped_decode(tokenizer, own_backend)
    except Exception as error:  # the original raises Exception itself
        _warn_of_original(type(tokenizer).__name__, error)
        return
    tokenizer._tokenizer = own_backend
    if decode is not None:
        object.__getattribute__(own_backend, "__dict__")["decode"] = decode


def _check_backend(backend: Any) -> None:
    """Raises an error for what polytok never runs: a model that samples, and components in Python."""
    if getattr(backend.model, "dropout", None):
        raise ValueError("its model has a dropout, which polytok does not apply")
    for family in _COMPONENTS:
        if (component := getattr(backend, family)) is not None:
            component.__getstate__()


def _read_backend(backend: Any) -> Backend:
    """Returns a backend that has read a tokenizer of tokenizers; raises an error if polytok cannot run it."""
    own_backend = Backend(face.models.BPE())
    own_backend.__setstate__(backend.to_str().encode())
    if own_backend._samples():
        raise ValueError("its model samples, which polytok does not do")
    own_backend.encode_special_tokens = backend.encode_special_tokens
    return own_backend


def _wrapped_decode(tokenizer: Any, own_backend: Backend) -> Callable[..., str] | None:
    """Returns the method by which a class wraps a method of its backend, CLIP's decode, for our backend; None if it
    wraps none."""
    backend = tokenizer._tokenizer
    names = sorted(name for name in vars(backend) if not name.startswith("_"))
    if not names:
        return None
    if names != ["decode"] or not hasattr(tokenizer, "_wrap_decode_method_backend_tokenizer"):
        raise ValueError(f"its backend has other methods than those of tokenizers: {', '.join(names)}")
    methods = SimpleNamespace(decode=functools.partial(Backend.decode, own_backend), model=backend.model)
    tokenizer._tokenizer = methods
    try:
        tokenizer._wrap_decode_method_backend_tokenizer()
    finally:
        tokenizer._tokenizer = backend
    decode: Callable[..., str] = methods.decode
    return decode


def _is_tokenizer(backend: object) -> bool:
    """Reports whether an object is a Tokenizer of tokenizers, the original or the face."""
    return isinstance(backend, (face.Tokenizer, import_module("tokenizers").Tokenizer))


def _warn_of_original(name: str, error: Exception) -> None:
    """Warns, once for each reason, of a tokenizer that polytok cannot run."""
    message = f"{name} stays on tokenizers: {error}"
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, FaceWarning, stacklevel=4)


class Backend(face.Tokenizer):
    """The tokenizer inside a fast tokenizer of transformers.

    Its components, except the model, and its added tokens are objects of the package tokenizers, which transformers
    compares by their classes. Changes of a component that somebody holds are seen.
    """

    _shown: dict[str, tuple[Any, bytes]]

    def _component(self, family: str) -> Any:
        self._take_changes()
        own: Any = getattr(face.Tokenizer, family).fget(self)
        package: Any = import_module("tokenizers")
        if own is None or package.Tokenizer is face.Tokenizer:
            return own
        shown = self.__dict__.setdefault("_shown", {})
        if family not in shown:
            empty = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
            component = getattr(package.Tokenizer.from_str(json.dumps({**empty, family: own.json()})), family)
            shown[family] = (component, component.__getstate__())
            return component
        return shown[family][0]

    def _set_component(self, family: str, value: Any) -> None:
        self.__dict__.get("_shown", {}).pop(family, None)
        getattr(face.Tokenizer, family).fset(self, value)

    def _take_changes(self) -> None:
        """Applies the changes of returned components, and forgets the components that nobody holds any more."""
        shown: dict[str, tuple[Any, bytes]] = self.__dict__.get("_shown", {})
        for family, (component, state) in tuple(shown.items()):
            new_state = component.__getstate__()
            if new_state != state:
                getattr(face.Tokenizer, family).fset(self, component)
                shown[family] = (component, new_state)
            if sys.getrefcount(component) <= _UNUSED_REFERENCES:
                shown.pop(family, None)

    def _current(self) -> Any:
        if self.__dict__.get("_shown"):
            self._take_changes()
        return super()._current()

    def to_str(self, pretty: bool = False) -> str:
        """Returns the tokenizer.json as text."""
        self._take_changes()
        return super().to_str(pretty)

    def get_added_tokens_decoder(self) -> dict[int, Any]:
        """Returns the added tokens by id."""
        added_token: Any = import_module("tokenizers").AddedToken
        own_tokens = super().get_added_tokens_decoder()
        if added_token is face.AddedToken:
            return own_tokens
        return {id: added_token(**token.__getstate__()) for id, token in own_tokens.items()}

    def __copy__(self) -> Any:
        self._take_changes()
        backend: Any = super().__copy__()
        for name in [name for name in vars(backend) if name == "_shown" or not name.startswith("_")]:
            delattr(backend, name)  # attributes that others set, which copies of the original do not have either
        return backend


def _component_property(family: str) -> Any:
    return property(
        lambda backend: backend._component(family), lambda backend, value: backend._set_component(family, value)
    )


for _family in _COMPONENTS:
    setattr(Backend, _family, _component_property(_family))


class _Unread(Backend):
    """A `Backend` before the first call that needs it, which has the tokenizer of tokenizers until then.

    Any use of an attribute has polytok read that tokenizer, and makes this object a `Backend`. If polytok cannot run
    the tokenizer, it answers in this object's place.
    """

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Backend
        answering = _answering(self)
        if name == "__reduce_ex__" and answering is not self:
            return lambda protocol: (_itself, (answering,))
        return getattr(answering, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(_answering(self), name, value)

    def __copy__(self) -> Any:
        return copy.copy(_answering(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(_answering(self), memo)

    def __repr__(self) -> str:
        return repr(_answering(self))

    def __str__(self) -> str:
        return str(_answering(self))


def _itself(value: Any) -> Any:
    """Returns its argument: a pickle of what answers in the place of another object."""
    return value


class _Pending(NamedTuple):
    """What an `_Unread` has: the tokenizer of tokenizers, a reference to that of transformers, and its class's name."""

    original: Any
    owner: ref[Any]
    name: str
    lock: Any


def _unread(tokenizer: Any) -> Backend:
    """Returns a backend that reads the backend of a tokenizer when it is first used."""
    unread: Backend = object.__new__(_Unread)
    pending = _Pending(tokenizer._tokenizer, ref(tokenizer), type(tokenizer).__name__, RLock())
    object.__getattribute__(unread, "__dict__")["_pending"] = pending
    return unread


def _answering(unread: Backend) -> Any:
    """Returns what answers calls of an `_Unread`: itself, which is a `Backend` then, or the tokenizer of tokenizers."""
    members: dict[str, Any] = object.__getattribute__(unread, "__dict__")
    if (pending := members.get("_pending")) is None:  # another thread has read it
        return unread
    with pending.lock:
        if type(unread) is not _Unread or "_stays" in members:
            return pending.original if type(unread) is _Unread else unread
        owner = pending.owner()
        try:
            read = _read_backend(pending.original)
        except Exception as error:
            members["_stays"] = True
            _warn_of_original(pending.name, error)
            if owner is not None and owner._tokenizer is unread:
                owner._tokenizer = pending.original
            return pending.original
        members.update(vars(read))
        object.__setattr__(unread, "__class__", Backend)
        del members["_pending"]
        return unread


class DecodeStream(_FaceStream):
    """tokenizers.decoders.DecodeStream, for tokenizers of the package and for those that run on polytok."""

    __slots__ = ("_arguments", "_original")

    def __init__(self, ids: Any = None, skip_special_tokens: bool | None = False) -> None:
        super().__init__(ids, skip_special_tokens)
        self._arguments = (None if ids is None else list(self._ids), skip_special_tokens)
        self._original: Any = None

    def step(self, tokenizer: Any, id: Any) -> str | None:
        """Returns the text that an id, or several ids, complete; None if there is none yet."""
        if type(tokenizer) is _Unread:
            tokenizer = _answering(tokenizer)
        if isinstance(tokenizer, face.Tokenizer):
            return super().step(tokenizer, id)
        if self._original is None:
            self._original = _original_stream()(*self._arguments)
        text: str | None = self._original.step(tokenizer, id)
        return text

    def __copy__(self) -> DecodeStream:
        stream = DecodeStream()
        for name in (*_FaceStream.__slots__, "_arguments"):
            setattr(stream, name, copy.copy(getattr(self, name)))
        stream._original = copy.copy(self._original)
        return stream


def _original_stream() -> Any:
    """Returns the class that `DecodeStream` replaces."""
    return import_module("tokenizers").tokenizers.decoders.DecodeStream
