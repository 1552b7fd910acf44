"""Every algorithm of polytok in a few clear lines of Python: read these first, and rely on them in tests.

    text ──▶ special ──▶ normalize ──▶ split ──▶ model ──▶ post ──▶ ids
    ids  ──▶ pieces ──▶ bytes ──▶ text

Read `pipeline` first: it is the picture above as code. Then one file per algorithm, in the same order: `special`;
`sentencepiece_normalize` with `charsmap`; `split` and `invalid_utf8`; the models `bpe`, `unigram`, `longest`, `word`,
`char` and `llama2c`; `post`; `decode` with `sentencepiece_decode`. `utf8` holds what the reference programs call a
character, `train_bpe` the smallest trainer. `llama_cpp`, with `gguf` and its own parts, is llama.cpp's
tokenizer straight from a file of it. Nothing here is fast, and nothing here knows the compiled engine.

Encoding with the trainer's result:

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
