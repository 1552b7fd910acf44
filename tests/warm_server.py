"""Runs commands of polytok in processes that start warm: ``python warm_server.py``.

The tests start more than a thousand commands, and most run for less time than a new interpreter imports. This server
imports the modules once; each command is a fork of it with the arguments, the folder, the environment and the standard
streams that ``warm_client.py`` sends. The server prints the path of its socket, and ends when its standard input does.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import tempfile

_LENGTH_BYTES = 4
_STREAMS = 3


def serve() -> None:
    """Accepts commands until standard input ends."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/socket")
        listener.listen(64)
        print(listener.getsockname(), flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended processes are not waited for
        while True:
            readable, _, _ = select.select([listener, sys.stdin], [], [])
            if listener not in readable:
                return
            connection, _ = listener.accept()
            with connection:
                if os.fork() == 0:
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    listener.close()
                    try:
                        answer(connection)
                    finally:
                        os._exit(1)  # the folder of the socket belongs to the server


def answer(connection: socket.socket) -> None:
    """Runs one command as a process of its own, sends its exit code, and ends."""
    header, streams, _, _ = socket.recv_fds(connection, _LENGTH_BYTES, _STREAMS)
    with connection.makefile("rb") as request:
        fields = request.read(int.from_bytes(header, "little")).split(b"\0")
    folder, count, *words = map(os.fsdecode, fields)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(word.split("=", 1) for word in words[int(count) :])
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    code = exit_code(words[: int(count)])
    connection.sendall(bytes([code]))
    os._exit(code)


def exit_code(arguments: list[str]) -> int:
    """Runs the command as ``python -m polytok`` does and returns its exit code."""
    from polytok.cli import main

    sys.argv[1:] = arguments
    try:
        sys.exit(main())
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)


if __name__ == "__main__":
    from polytok.cli import create_parser

    create_parser()  # imports the modules of all verbs
    gc.freeze()
    serve()
