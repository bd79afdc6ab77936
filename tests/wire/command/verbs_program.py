# SPDX-License-Identifier: Apache-2.0
"""softspine-verbs as a program, without guests: what it refuses, and how it bears strangers and Ctrl-C."""
from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from softspine import Problems, Softspine, main


def program_of(it: Softspine) -> str:
    return str(Path(it.binary).parents[1] / 'verbs' / 'softspine-verbs')


def verbs(it: Softspine, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([program_of(it), *arguments], capture_output=True, text=True, timeout=60, env=it.env, check=False)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return str(probe.getsockname()[1])


class Server:
    def __init__(self, it: Softspine) -> None:
        self.port = free_port()
        self.process = subprocess.Popen([program_of(it), '--serve', '--address', '127.0.0.1', '--port', self.port, '--json'],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=it.env)

    def connect(self) -> socket.socket:
        until = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection(('127.0.0.1', int(self.port)), timeout=20)
            except ConnectionRefusedError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)

    def say(self, words: bytes) -> str:
        with self.connect() as client:
            client.sendall(words)
            with contextlib.suppress(OSError):  # it has closed already
                client.shutdown(socket.SHUT_WR)
            return client.makefile().readline()

    def end(self) -> tuple[int, str, str]:
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err


def helps(it: Softspine) -> Problems:
    """--help has examples"""
    done = verbs(it, '--help')
    if done.returncode != 0 or 'Examples:' not in done.stdout or '--scaling' not in done.stdout:
        yield f'{done}'


def refuses_wrong_input(it: Softspine) -> Problems:
    """wrong input: 2, and why"""
    for arguments, said in [([], 'either --serve, or the HOST'),
                            (['h2', '--serve'], 'either --serve, or the HOST'),
                            (['h2', '--message', '5'], "'5' has no unit"),
                            (['h2', '--qps', '33'], 'not in range 1 to 32'),
                            (['h2', '--scaling', 'both'], 'both'),
                            (['h2', '--source-port', '4791'], '49152 to 65535'),
                            (['h2', '--mtu', '1500'], '1500'),
                            (['h2', '--qps', '4', '--scaling', 'split', '--message', '3B'], 'cannot be split'),
                            (['h2', '--qps', '32', '--message', '1GiB'], 'more than 1024'),
                            (['127.0.0.1', '--port', free_port()], 'is softspine-verbs --serve running there?'),
                            (['no.such.host.invalid'], 'no.such.host.invalid')]:
        done = verbs(it, *arguments)
        if done.returncode != 2 or said not in done.stderr or done.stdout:
            yield f'{arguments}: {done.returncode}, {done.stderr!r}, not {said!r}'


def needs_a_device(it: Softspine) -> Problems:
    """an address that no RDMA device has: both ends say so, with 2"""
    server = Server(it)
    server.connect().close()
    done = verbs(it, '127.0.0.1', '--port', server.port)
    heard = [server.process.stderr.readline() for _ in ('the connection', 'the client')]
    status, out, _ = server.end()
    if done.returncode != 2 or 'RDMA device' not in done.stderr:
        yield f'client: {done}'
    if status != 1 or out or not all('closed the connection' in line for line in heard):
        yield f'server: {status}, {out}, {heard}'


def bears_strangers(it: Softspine) -> Problems:
    """a server answers nonsense with an error, and goes on"""
    server = Server(it)
    for words, said in [(b'GET / HTTP/1.1\r\n\r\n', 'JSON'), (b'[1, 2]\n', 'JSON'), (b'{}\n', 'softspine_verbs'), (b'', 'closed'),
                        (b'{"terms": {"softspine_verbs": 1, "qps": 4000000000}}\n', 'qps'), (b'x' * 100_000, 'too much'),
                        (b'{"terms":' + b'[' * 30_000 + b']' * 30_000 + b'}\n', 'too much'), (b'{"error": "a\\u001b[2J"}\n', 'a?[2J')]:
        try:
            answer = json.loads(server.say(words) or '{}')
        except ConnectionError:  # it has closed on us while we were still talking
            answer = {'error': said}
        if said not in answer.get('error', ''):
            yield f'to {words[:40]!r} it says {answer}'
    if server.process.poll() is not None:
        yield 'the server has ended'
    status, _, err = server.end()
    if status != 1 or '127.0.0.1' not in err:
        yield f'{status}, {err}'


def ends_on_interrupt(it: Softspine) -> Problems:
    """Ctrl-C ends a server that has had nobody, with 0"""
    server = Server(it)
    until = time.monotonic() + 20
    while f':{int(server.port):04X} ' not in Path('/proc/net/tcp').read_text() and time.monotonic() < until:
        time.sleep(0.05)
    status, out, err = server.end()
    if (status, out, err) != (0, '', ''):
        yield f'{status}, {out!r}, {err!r}'


if __name__ == '__main__':
    sys.exit(main([helps, refuses_wrong_input, needs_a_device, bears_strangers, ends_on_interrupt]))
