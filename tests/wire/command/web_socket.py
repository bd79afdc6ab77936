# SPDX-License-Identifier: Apache-2.0
"""A WebSocket's client (RFC 6455), of Python's own library alone."""
from __future__ import annotations

import base64
import hashlib
import os
import socket
from urllib.parse import urlsplit

GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Refused(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f'status {status}')
        self.status = status


class Closed(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f'code {code}')
        self.code = code


class WebSocket:
    def __init__(self, url: str, protocols: tuple[str, ...] = (), seconds: float = 30) -> None:
        parts = urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), seconds)
        self.input = b''
        key = base64.b64encode(os.urandom(16)).decode()
        more = f'Sec-WebSocket-Protocol: {", ".join(protocols)}\r\n' if protocols else ''
        self.socket.sendall(f'GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                            f'Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{more}\r\n'.encode())
        while b'\r\n\r\n' not in self.input:
            self._more()
        head, self.input = self.input.split(b'\r\n\r\n', 1)
        status, *fields = head.decode().split('\r\n')
        named = {name.lower(): value for name, value in (field.split(': ', 1) for field in fields)}
        if status.split()[1] != '101':
            raise Refused(int(status.split()[1]))
        assert named['sec-websocket-accept'] == base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        self.protocol = named.get('sec-websocket-protocol')

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def _more(self) -> None:
        some = self.socket.recv(1 << 16)
        if not some:
            raise Closed(1006)
        self.input += some

    def _take(self, count: int) -> bytes:
        while len(self.input) < count:
            self._more()
        taken, self.input = self.input[:count], self.input[count:]
        return taken

    def _frame(self) -> tuple[bool, int, bytes]:
        first, second = self._take(2)
        size = second & 127
        if size > 125:
            size = int.from_bytes(self._take(2 if size == 126 else 8), 'big')
        return first & 128 != 0, first & 15, self._take(size)

    def send(self, text: str, kind: int = TEXT) -> None:
        data, mask = text.encode(), os.urandom(4)
        size = len(data)
        length = bytes([128 | size]) if size < 126 else bytes([254]) + size.to_bytes(2, 'big') if size < 1 << 16 else bytes([255]) + size.to_bytes(8, 'big')
        self.socket.sendall(bytes([128 | kind]) + length + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self) -> str:
        """The next message; pings are answered."""
        text = b''
        while True:
            is_last, kind, data = self._frame()
            if kind == CLOSE:
                raise Closed(int.from_bytes(data[:2], 'big'))
            if kind == PING:
                self.send(data.decode(), PONG)
                continue
            text += data
            if is_last:
                return text.decode()
