"""Checks an installed polytok in a few seconds: ids, text, arrays, a file, threads, the command and a program's end.

The script needs nothing but the package, so it also checks that a wheel works without a compiler, a network and the
source tree. The texts contain all widths in which Python stores a str.

    python scripts/smoke_test.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import polytok

TEXTS = ("", "Hello, world! " * 9, "naïve café " * 9, "吾輩は猫である。" * 9, "𝔘𝔫𝔦 😀 " * 9)

# Python before 3.14 ends daemon threads by unwinding their stacks: the wheel and the C library need the same unwinder.
END_WHILE_THREADS_ENCODE = """
import threading, polytok
tokenizer = polytok.load("default")
started = [threading.Event() for _ in range(4)]
def work(event):
    while True:
        tokenizer.encode_batch(["some text " * 2_000] * 8, threads=2)
        event.set()
for event in started:
    threading.Thread(target=work, args=(event,), daemon=True).start()
for event in started:
    event.wait()
"""


class Text(str):
    """A subclass, whose characters are in another place of the memory."""


def main() -> None:
    tokenizer = polytok.load("default")
    for text in TEXTS:
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert tokenizer.encode(Text(text)) == tokenizer.encode(text.encode()) == ids
        assert tokenizer.encode_array(text).tolist() == ids
        assert tokenizer.count(text) == len(ids)
        assert b"".join(token.piece for token in tokenizer.tokens(text)) == text.encode()
    assert tokenizer.encode("\ud83d\ude00") == tokenizer.encode("😀")  # surrogates, which UTF-8 does not have
    assert tokenizer.encode_batch(TEXTS).to_list() == [tokenizer.encode(text) for text in TEXTS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "default.ptok"
        tokenizer.save(path)
        assert polytok.load(path).encode(TEXTS[1]) == tokenizer.encode(TEXTS[1])
    for level in polytok.simd_levels():
        polytok.set_simd_level(level)
        assert tokenizer.decode(tokenizer.encode(TEXTS[3])) == TEXTS[3]
    for _ in range(3):
        subprocess.run([sys.executable, "-c", END_WHILE_THREADS_ENCODE], check=True)
    version = json.loads(subprocess.check_output([sys.executable, "-m", "polytok", "--version", "--json"]))
    assert version["version"] == polytok.__version__
    print(json.dumps(version))


if __name__ == "__main__":
    main()
