"""Engines that only the targets need: other functions of a package, and Python itself."""

from __future__ import annotations

from ..cases import OWN_ENGINE_NAME, Vocabulary
from ..engines import ENGINES, Adapter, Engine


def load_encoding(vocabulary: Vocabulary) -> Adapter:
    import polytok

    tokenizer = polytok.load(vocabulary.path)
    return Adapter(warm_up=tokenizer.warm_up, encode=lambda text: tokenizer.encoding(text).ids)


def load_tokenizers_encoding(vocabulary: Vocabulary) -> Adapter:
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary.json_path))
    return Adapter(encode=lambda text: tokenizer.encode(text, add_special_tokens=False).ids)


def load_arrays_as_spans(vocabulary: Vocabulary) -> Adapter:
    """Returns an adapter that has arrays of ids where spans are expected."""
    adapter = ENGINES[OWN_ENGINE_NAME].load(vocabulary)
    return Adapter(warm_up=adapter.warm_up, encode_offsets=adapter.encode_array)


def load_python_decoder(_: Vocabulary) -> Adapter:
    """Returns an adapter whose ids are the bytes of the UTF-8."""
    return Adapter(encode=lambda text: list(text.encode()), to_native_ids=bytes, decode=bytes.decode)


ENCODING = Engine("polytok, encoding().ids", "polytok", load_encoding)
TOKENIZERS_ENCODING = Engine("tokenizers, encode().ids", "tokenizers", load_tokenizers_encoding)
ARRAYS_AS_SPANS = Engine("polytok, arrays", "polytok", load_arrays_as_spans)
PYTHON_DECODER = Engine("bytes.decode()", "builtins", load_python_decoder)
