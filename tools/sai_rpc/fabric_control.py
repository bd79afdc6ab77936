# SPDX-License-Identifier: Apache-2.0
"""The control socket of a running fabric (control/server/protocol.hpp), one request a connection."""
from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

TIMEOUT_SECONDS = 30
MAX_ANSWER_BYTES = 256 << 20


class Refused(Exception):
    """The fabric said no; the message says why."""


class Gone(Refused):
    """There is no fabric to ask, or it does not answer."""


def sockets_folder() -> Path:
    return Path(os.environ.get('XDG_RUNTIME_DIR') or '/tmp') / f'softspine-{os.getuid()}'


def socket_of(fabric: str) -> Path:
    """The socket of the fabric with this name; without a name: of the only one that runs."""
    if fabric:
        return sockets_folder() / f'{fabric}.sock'
    found = sorted(sockets_folder().glob('*.sock'))
    running = [path for path in found if _answers(path)]
    if not running:
        raise Refused(f'no fabric is running here (looked in {sockets_folder()})')
    if len(running) > 1:
        raise Refused('several fabrics are running; name one of: ' + ', '.join(path.stem for path in running))
    return running[0]


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True


class FabricControl:
    """From as many threads as want to ask: each waits for its turn, and has a connection of its own.

    The server closes a connection that has been quiet for a while, and clients of ours are quiet for minutes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = threading.Lock()

    def ask(self, command: str, **arguments: str) -> object:
        request = json.dumps({'id': 1, 'command': command, 'arguments': arguments})
        with self._turn, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.settimeout(TIMEOUT_SECONDS)
            try:
                stream.connect(str(self._path))
            except OSError as why:
                raise Gone(f'no fabric is running here: {why.strerror} ({self._path})') from why
            try:
                stream.sendall(request.encode() + b'\n')
                line = stream.makefile('rb').readline(MAX_ANSWER_BYTES)
            except OSError as why:
                raise Gone(f'the fabric does not answer: {why}') from why
        if not line.endswith(b'\n'):
            raise Gone('the fabric ended before it answered')
        answer = json.loads(line)
        if not answer['ok']:
            raise Refused(answer['error'])
        return answer['result']
