# SPDX-License-Identifier: Apache-2.0
"""Thrift's binary protocol, strict, over an unframed stream: as much of it as a server of calls needs.

The protocol says the type of each value beside it, so a call is read without knowing its declaration: a struct becomes
{field number: value}, a list a list. What is written says its types itself: i64(5), struct({1: i32(3)}).

Whatever comes is bounded: the bytes of a message, the elements of a list, the depth. Beyond, and for what is no Thrift
at all, reading raises Malformed; the connection cannot go on then, since nobody knows where the next message begins.
"""
from __future__ import annotations

import struct as packing
from collections.abc import Callable
from dataclasses import dataclass

MAX_MESSAGE_BYTES = 64 << 10
MAX_DEPTH = 16

STOP, BOOL, BYTE, DOUBLE, I16, I32, I64, STRING, STRUCT, MAP, SET, LIST = 0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
VERSION = 0x80010000
CALL, REPLY, EXCEPTION, ONEWAY = 1, 2, 3, 4
# What an exception of Thrift itself says in its field 2.
UNKNOWN_METHOD, INTERNAL_ERROR, PROTOCOL_ERROR = 1, 6, 7

NUMBERS = {BOOL: '>?', BYTE: '>b', DOUBLE: '>d', I16: '>h', I32: '>i', I64: '>q'}


class Malformed(Exception):
    """No call of this protocol, or one that is too large."""


@dataclass(frozen=True)
class Call:
    name: str
    number: int
    arguments: dict[int, object]
    wants_reply: bool = True


class MessageReader:
    """One message, from receive(n), which returns exactly n bytes."""

    def __init__(self, receive: Callable[[int], bytes]) -> None:
        self._receive = receive
        self._left = MAX_MESSAGE_BYTES

    def call(self) -> Call:
        version = self._number('>I')
        if version & 0xffff0000 != VERSION:
            raise Malformed('not the strict binary protocol')
        kind = version & 0xff
        if kind not in (CALL, ONEWAY):
            raise Malformed(f'a message of kind {kind} is no call')
        name = self._text()
        return Call(name.decode('ascii', 'replace'), self._number('>i'), self._struct(0), kind == CALL)

    def _take(self, count: int) -> bytes:
        if count < 0 or count > self._left:
            raise Malformed(f'a message of more than {MAX_MESSAGE_BYTES} bytes')
        self._left -= count
        return self._receive(count)

    def _number(self, form: str) -> int:
        return packing.unpack(form, self._take(packing.calcsize(form)))[0]

    def _text(self) -> bytes:
        return self._take(self._number('>i'))

    def _struct(self, depth: int) -> dict[int, object]:
        if depth > MAX_DEPTH:
            raise Malformed(f'nests deeper than {MAX_DEPTH}')
        fields: dict[int, object] = {}
        while (kind := self._number('>B')) != STOP:
            number = self._number('>h')
            fields[number] = self._value(kind, depth + 1)
        return fields

    def _list(self, depth: int) -> list[object]:
        kind, count = self._number('>B'), self._number('>i')
        if count < 0 or count > self._left:  # an element has at least one byte, but for empty structs, which end in one
            raise Malformed(f'a list of {count} elements')
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _map(self, depth: int) -> list[tuple[object, object]]:
        keys, values, count = self._number('>B'), self._number('>B'), self._number('>i')
        if count < 0 or count > self._left:
            raise Malformed(f'a map of {count} elements')
        return [(self._value(keys, depth + 1), self._value(values, depth + 1)) for _ in range(count)]

    def _value(self, kind: int, depth: int) -> object:
        if depth > MAX_DEPTH:
            raise Malformed(f'nests deeper than {MAX_DEPTH}')
        if kind in NUMBERS:
            return self._number(NUMBERS[kind])
        readers = {STRING: lambda _: self._text(), STRUCT: self._struct, LIST: self._list, SET: self._list, MAP: self._map}
        if kind not in readers:
            raise Malformed(f'a value of kind {kind}')
        return readers[kind](depth)


@dataclass(frozen=True)
class Typed:
    """A value with its kind, as it goes out."""
    kind: int
    body: bytes


def i32(value: int) -> Typed:
    return Typed(I32, packing.pack('>i', value))


def i64(value: int) -> Typed:
    return Typed(I64, packing.pack('>q', value))


def string(value: str) -> Typed:
    coded = value.encode()
    return Typed(STRING, packing.pack('>i', len(coded)) + coded)


def struct(fields: dict[int, Typed]) -> Typed:
    parts = [packing.pack('>Bh', value.kind, number) + value.body for number, value in fields.items()]
    return Typed(STRUCT, b''.join(parts) + bytes([STOP]))


def list_of(kind: int, values: list[Typed]) -> Typed:
    return Typed(LIST, packing.pack('>Bi', kind, len(values)) + b''.join(value.body for value in values))


def _message(kind: int, call: Call, body: Typed) -> bytes:
    return packing.pack('>I', VERSION | kind) + string(call.name).body + packing.pack('>i', call.number) + body.body


def reply(call: Call, result: Typed) -> bytes:
    return _message(REPLY, call, struct({0: result}))


def exception(call: Call, why: str, kind: int) -> bytes:
    return _message(EXCEPTION, call, struct({1: string(why), 2: i32(kind)}))
