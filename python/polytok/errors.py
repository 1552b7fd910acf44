"""The errors of polytok: each is a PolytokError, and also the built-in error that a caller expects."""

from __future__ import annotations

from .keywords import without_marks


class PolytokError(Exception):
    """The base class of all errors that polytok raises on purpose."""

    def __init__(self, *args: object) -> None:
        messages = {without_marks(text): text for text in args if isinstance(text, str)}
        super().__init__(*(without_marks(value) if isinstance(value, str) else value for value in args))
        if marked_messages := {plain: marked for plain, marked in messages.items() if plain != marked}:
            self.marked_messages = marked_messages  # keywords.marked_message returns them


class FormatError(PolytokError, ValueError):
    """The bytes of a file do not match its format, or no format recognizes them."""


class SpecError(PolytokError, ValueError):
    """A Spec cannot be compiled to a tokenizer."""


class EncodeError(PolytokError, ValueError):
    """A tokenizer cannot encode a text."""


class SpecialTokenError(PolytokError, ValueError):
    """A text contains a special token that the caller rejects, or a text that the caller lists as a special token is
    not a special token."""


class TokenIdError(PolytokError, KeyError, IndexError):
    """An id is not in the vocabulary."""

    def __str__(self) -> str:
        # KeyError prints the repr of its message.
        return str(self.args[0]) if self.args else ""


class PieceError(PolytokError, KeyError):
    """A piece is not in the vocabulary."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ArgumentError(PolytokError, ValueError):
    """An argument is out of range, or two arguments exclude each other."""


class LossError(PolytokError, ValueError):
    """A strict write fails because the format cannot carry all data."""


class FileError(PolytokError, OSError):
    """A file cannot be read or written."""


class FetchError(FileError):
    """A file cannot be fetched, or its content is not the expected content."""


class ChatTemplateError(PolytokError, ValueError):
    """A chat template cannot be compiled, refuses a conversation, or does too much."""
