"""Every algorithm of polytok in a few clear lines of Python: read these first, and rely on them in tests.

    text ──▶ special ──▶ normalize ──▶ split ──▶ model ──▶ post ──▶ ids
    ids  ──▶ pieces ──▶ bytes ──▶ text

Start with `pipeline`, which is the picture above as code. Every other file has one algorithm. In the order of the
picture: `special`; `sentencepiece_normalize` with `charsmap`; `split` and `invalid_utf8`; the models, which `models`
calls: `bpe` with `bpe_queue`, `huggingface_bpe` and `llama2c`, `unigram` and `unigram_wide` with `lattice`, `longest`,
`wordpiece`, `word_level`, `word`, `char` and `plamo2`; `post`; `decode` with `sentencepiece_decode`. `walks` has what
the models return: their results with all steps on the way. `utf8` has the reference programs' definitions of a
character, and `train_bpe` the smallest trainer. `llama_cpp` is llama.cpp's tokenizer, which runs straight from a GGUF
file (`gguf` and the other `llama_cpp_*` files are its parts).

Four files define what other methods return, by trying every length or by starting again from the beginning each time.
They need only functions that encode or decode: `cutting` cuts texts by their tokens, `growing` has texts that arrive in
chunks or change, `canonical` has ids without text, and `streams` ids that arrive one by one.

No code here is fast, and none uses the compiled engine.

Train a tokenizer and encode a text with it:

>>> from polytok import reference
>>> spec = reference.train("aaabdaaabac", 256 + 3)
>>> reference.encode(spec, "aaabdaaabac")
[258, 100, 258, 97, 99]
>>> reference.decode(spec, [258, 100, 258, 97, 99])
'aaabdaaabac'
"""

from polytok.reference.decode import decode, decode_bytes
from polytok.reference.pipeline import encode, tokens
from polytok.reference.stages import RefToken
from polytok.reference.train_bpe import train

__all__ = ["RefToken", "decode", "decode_bytes", "encode", "tokens", "train"]
