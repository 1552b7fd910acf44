"""Sends a command to ``warm_server.py`` and ends with its exit code: ``python warm_client.py SOCKET ARGUMENTS``.

It imports next to nothing, because it starts for each command.
"""

import os
import socket
import sys

KILLED = 70  # no verb has this exit code


def main() -> int:
    arguments = sys.argv[2:]
    variables = [f"{name}={value}" for name, value in os.environ.items()]
    request = b"\0".join(map(os.fsencode, [os.getcwd(), str(len(arguments)), *arguments, *variables]))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        socket.send_fds(connection, [len(request).to_bytes(4, "little")], [0, 1, 2])
        connection.sendall(request)
        code = connection.recv(1)
    if not code:
        print("the command ended without an exit code", file=sys.stderr)
    return code[0] if code else KILLED


if __name__ == "__main__":
    sys.exit(main())
