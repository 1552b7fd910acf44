"""The names that methods have in other packages: using one is an `AttributeError` with polytok's own name.

Each name is a descriptor of `Tokenizer`. A method ``__getattr__`` would do the same, but makes every access to an
attribute that exists twice as slow.
"""

from __future__ import annotations

from typing import NoReturn

_ID_OF_ROLE = {f"{role}_token_id": f"{role}_id" for role in ("bos", "eos", "unk", "pad")}
# polytok's name for each name of transformers, tokenizers, tiktoken and SentencePiece.
OWN_NAMES = {
    **_ID_OF_ROLE,
    **dict.fromkeys(("token_to_id", "id_of", "encode_single_token", "PieceToId"), "piece_to_id"),
    **dict.fromkeys(("id_to_token", "token_bytes", "decode_single_token_bytes", "IdToPiece"), "id_to_piece"),
    **dict.fromkeys(("n_vocab", "get_vocab_size", "get_piece_size", "GetPieceSize"), "vocab_size"),
    **dict.fromkeys(("encode_ordinary", "encode_as_ids", "EncodeAsIds"), "encode"),
    **dict.fromkeys(("tokenize", "encode_as_pieces", "EncodeAsPieces"), "tokens"),
    **dict.fromkeys(("decode_ids", "DecodeIds"), "decode"),
    **dict.fromkeys(("from_file", "from_pretrained", "from_buffer", "from_str"), "polytok.load"),
    **dict.fromkeys(("add_tokens", "add_special_tokens"), "polytok.edit"),
    "all_special_tokens": "special_tokens",
    "apply_chat_template": "encode_chat",
    "batch_decode": "decode_batch",
    "batch_encode_plus": "encodings",
    "convert_ids_to_tokens": "ids_to_pieces",
    "convert_tokens_to_ids": "pieces_to_ids",
    "encode_ordinary_batch": "encode_batch",
    "encode_plus": "encoding",
    "get_vocab": "vocab",
    "save_pretrained": "save",
    "warmup": "warm_up",
}


class ForeignName:
    """An attribute that a class lacks, with the name to use in its place. `hasattr` is False for it."""

    def __init__(self, name: str, own_name: str) -> None:
        self._message = f"Tokenizer has no {name!r}; use {own_name}"

    def __get__(self, instance: object, owner: type) -> NoReturn:
        """Raises `AttributeError`, for an instance and for the class."""
        raise AttributeError(self._message)


def add_foreign_names(cls: type) -> None:
    """Adds the names to a class that has none of them."""
    for name, own_name in OWN_NAMES.items():
        setattr(cls, name, ForeignName(name, own_name))
