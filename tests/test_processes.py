"""Tests polytok in processes: 64 threads, the end of a process while threads encode, Ctrl-C, spawned processes, and a
second interpreter."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import polytok

TEXT = "one naïve 吾輩は😀 two\n<|endoftext|> " * 50
SECONDS = 120


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a program, which prints errors of threads to its standard error."""
    command = [sys.executable, "-X", "faulthandler", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def test_64_threads_share_a_tokenizer_whose_caches_are_cleared() -> None:
    tokenizer = polytok.load("default")
    texts = [f"{TEXT}{number} {number * number}" for number in range(64)]
    expected = [polytok.load("default").encode(text) for text in texts]
    start = threading.Barrier(64)

    def work(number: int) -> bool:
        start.wait()
        is_right = True
        for turn in range(20):
            at = (number + turn) % 64
            if turn % 5 == 0:
                tokenizer.cache_limit = 1 << (10 + number % 8)
            if turn % 7 == 0:
                tokenizer.warm_up()
            is_right &= tokenizer.encode(texts[at]) == expected[at]
            is_right &= tokenizer.encode_batch(texts[at : at + 3], threads=2).to_list() == expected[at : at + 3]
            is_right &= tokenizer.spans(texts[at]).ids.tolist() == expected[at]
        return is_right

    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(work, range(64)))


EXIT_WHILE_THREADS_ENCODE = """
import sys, threading, polytok
tokenizer = polytok.load("default")
text = "some text naïve 吾輩 " * 2_000
ids = tokenizer.encode(text)
calls = [
    lambda: tokenizer.encode(text), lambda: tokenizer.encode_batch([text] * 8, threads=3),
    lambda: tokenizer.tokens(text), lambda: tokenizer.encode_array(text), lambda: tokenizer.decode(ids),
    lambda: tokenizer.encoding(text).offsets, lambda: tokenizer.count_batch([text] * 8, threads=3),
    lambda: polytok.load("default").encode("a"),
]
started = [threading.Event() for _ in calls]
def work(call, event):
    while True:
        call()
        event.set()
for call, event in zip(calls, started):
    threading.Thread(target=work, args=(call, event), daemon=True).start()
for event in started: event.wait()
print("end", flush=True)
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.parametrize("code", [0, 3])
def test_a_process_ends_while_daemon_threads_encode(code: int) -> None:
    for _ in range(3):
        result = python(EXIT_WHILE_THREADS_ENCODE, str(code))
        assert (result.returncode, result.stdout, result.stderr) == (code, "end\n", "")


CTRL_C = """
import signal, sys, polytok
tokenizer = polytok.load("default")
text = "some text naïve 吾輩 " * 40_000
calls = {
    "encode": lambda: tokenizer.encode(text), "batch": lambda: tokenizer.encode_batch([text] * 4, threads=2),
    "tokens": lambda: tokenizer.tokens(text), "train": lambda: polytok.train([text * 3], vocab_size=270),
}
call = calls[sys.argv[1]]
ids = tokenizer.encode_array("a b").tolist()  # imports numpy, so that the signal does not interrupt the import
print("start", flush=True)
try:
    while True:
        call()
except KeyboardInterrupt:
    assert tokenizer.encode("a b") == ids
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C in another way")
@pytest.mark.parametrize("call", ["encode", "batch", "tokens", "train"])
def test_ctrl_c_in_long_calls(call: str) -> None:
    command = [sys.executable, "-c", CTRL_C, call]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "start\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=SECONDS)
    assert (output, errors, process.returncode) == ("interrupted\n", "", 0)


def _encode_in_child(tokenizer: polytok.Tokenizer) -> list[int]:
    return tokenizer.encode_batch([TEXT] * 3, threads=2).to_list()[-1]


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_other_processes_get_tokenizers_while_threads_encode(method: str) -> None:
    tokenizer = polytok.load("default")
    is_over = threading.Event()

    def work() -> None:
        while not is_over.is_set():
            tokenizer.encode(TEXT)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with multiprocessing.get_context(method).Pool(2) as pool:
            results = pool.map_async(_encode_in_child, [tokenizer] * 4).get(timeout=SECONDS)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    assert results == [tokenizer.encode(TEXT)] * 4


SECOND_INTERPRETER = """
import os, sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
code = '''
import polytok
assert polytok.load("default").decode(polytok.load("default").encode("a b")) == "a b"
'''
def run():
    # "legacy" interpreters share the GIL, as those of mod_wsgi do.
    interpreter = interpreters.create("legacy") if sys.version_info >= (3, 13) else interpreters.create()
    try:
        error = interpreters.exec(interpreter, code) if hasattr(interpreters, "exec") else \
            interpreters.run_string(interpreter, code)
    except Exception as raised:
        error = raised
    interpreters.destroy(interpreter)
    return str(error)
if sys.argv[1] == "main first":
    exec(code)
    print(run())
    exec(code)
else:
    print(run())
    try:
        exec(code)
    except ImportError as error:
        print(error)
"""


@pytest.mark.parametrize("order", ["main first", "main second"])
def test_a_second_interpreter_gets_an_import_error(order: str) -> None:
    result = python(SECOND_INTERPRETER, order)
    lines = result.stdout.splitlines()
    assert result.returncode == 0, result.stderr
    assert "polytok was imported in another interpreter of this process" in lines[-1]
    assert len(lines) == 1 or lines[0] == "None"


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system has no /proc")
def test_the_threads_of_a_batch_end_with_the_call() -> None:
    tokenizer = polytok.load("default")
    before = sorted(Path("/proc/self/task").iterdir())
    tokenizer.encode_batch([TEXT] * 500, threads=8)
    end = time.monotonic() + SECONDS
    while sorted(Path("/proc/self/task").iterdir()) != before:  # the system removes an ended thread a little later
        assert time.monotonic() < end
        time.sleep(0.01)
