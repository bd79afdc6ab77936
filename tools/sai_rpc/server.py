# SPDX-License-Identifier: Apache-2.0
"""The connections: a thread for each client, at most MAX_CLIENTS; one more ends the one that has been quiet longest.

A call has to come whole within MESSAGE_SECONDS of its first byte, and its answer has to be taken within as much. What
is no call ends its connection; what is a call that cannot be answered is answered with an exception of Thrift.
"""
from __future__ import annotations

import socket
import sys
import threading
import time

from binary_protocol import INTERNAL_ERROR, PROTOCOL_ERROR, UNKNOWN_METHOD, Call, Malformed, MessageReader, exception, reply
from calls import Calls
from fabric_control import Gone, Refused
from switch_objects import Unknown

MAX_CLIENTS = 32
MESSAGE_SECONDS = 10
POLL_SECONDS = 0.5


class Connection:
    def __init__(self, stream: socket.socket, peer: str) -> None:
        self.stream = stream
        self.peer = peer
        self.quiet_since = time.monotonic()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def receive_first(self) -> bytes:
        """As long as it takes; empty at the end."""
        self.stream.settimeout(None)
        return self.stream.recv(1)

    def receiver(self, first: bytes):
        """receive(n) for one message that begins with `first`."""
        until = time.monotonic() + MESSAGE_SECONDS
        kept = first

        def receive(count: int) -> bytes:
            nonlocal kept
            while len(kept) < count:
                self.stream.settimeout(max(0.001, until - time.monotonic()))
                more = self.stream.recv(count - len(kept))
                if not more:
                    raise ConnectionError('ended within a call')
                kept += more
            out, kept = kept[:count], kept[count:]
            return out
        return receive

    def send(self, answer: bytes) -> None:
        self.stream.settimeout(MESSAGE_SECONDS)
        self.stream.sendall(answer)

    def close(self) -> None:
        try:
            self.stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the peer was first
        self.stream.close()


class Server:
    def __init__(self, calls: Calls, host: str, port: int) -> None:
        self._calls = calls
        self._connections: set[Connection] = set()
        self._changes = threading.Lock()
        self._ended = threading.Event()
        self.why_ended = ''
        self._listener = socket.create_server((host, port), family=socket.AF_INET6 if ':' in host else socket.AF_INET)
        self.port = self._listener.getsockname()[1]

    def run(self) -> None:
        """Until end(), or until the fabric ends."""
        self._listener.settimeout(POLL_SECONDS)
        while not self._ended.is_set():
            try:
                stream, peer = self._listener.accept()
            except TimeoutError:
                continue
            self._admit(Connection(stream, f'{peer[0]}:{peer[1]}'))
        self._listener.close()
        with self._changes:
            for connection in self._connections:
                connection.close()

    def end(self, why: str = '') -> None:
        self.why_ended = self.why_ended or why
        self._ended.set()

    def _admit(self, connection: Connection) -> None:
        with self._changes:
            if len(self._connections) == MAX_CLIENTS:
                quietest = min(self._connections, key=lambda each: each.quiet_since)
                self._connections.remove(quietest)
                quietest.close()
            self._connections.add(connection)
        threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: Connection) -> None:
        try:
            while first := connection.receive_first():
                call = MessageReader(connection.receiver(first)).call()
                answer = self._answer(call)
                if call.wants_reply:
                    connection.send(answer)
                connection.quiet_since = time.monotonic()
        except Malformed as why:
            print(f'sai-rpc: {connection.peer}: {why}', file=sys.stderr, flush=True)
        except OSError:
            pass  # it is gone, or too slow
        finally:
            connection.close()
            with self._changes:
                self._connections.discard(connection)

    def _answer(self, call: Call) -> bytes:
        handler = self._calls.by_name.get(call.name)
        if handler is None:
            return exception(call, f'softspine does not have {call.name[:80]}', UNKNOWN_METHOD)
        try:
            return reply(call, handler(call.arguments))
        except Unknown as why:
            return exception(call, str(why), PROTOCOL_ERROR)
        except Gone as why:
            self.end(str(why))
            return exception(call, str(why), INTERNAL_ERROR)
        except Refused as why:
            return exception(call, str(why), INTERNAL_ERROR)
