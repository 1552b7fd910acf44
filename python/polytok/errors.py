"""The error tree: everything polytok raises is a PolytokError, and also the built-in error a caller would expect."""

from __future__ import annotations


class PolytokError(Exception):
    """The root of all errors raised on purpose."""


class FormatError(PolytokError, ValueError):
    """A file's bytes do not match its format, or no format recognises them."""


class SpecError(PolytokError, ValueError):
    """A Spec that cannot be compiled into a tokenizer."""


class EncodeError(PolytokError, ValueError):
    """A text that this tokenizer cannot encode."""


class SpecialTokenError(PolytokError, ValueError):
    """A special token occurs in a text that does not allow it, or is not one of the vocabulary's."""


class TokenIdError(PolytokError, KeyError, IndexError):
    """An id that the vocabulary does not have."""

    def __str__(self) -> str:
        # KeyError would print the message's repr.
        return str(self.args[0]) if self.args else ""


class PieceError(PolytokError, KeyError):
    """A piece that the vocabulary does not have."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ArgumentError(PolytokError, ValueError):
    """An option out of range, or two that exclude each other."""


class LossError(PolytokError, ValueError):
    """A strict write would have lost something."""


class FileError(PolytokError, OSError):
    """A file that cannot be read or written."""


class FetchError(FileError):
    """A file that cannot be fetched, or whose content is not the expected one."""
