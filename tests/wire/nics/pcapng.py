# SPDX-License-Identifier: Apache-2.0
"""What a capture of softspine's has, by port: little-endian pcapng, read without softspine."""
from __future__ import annotations

import struct
from collections import defaultdict
from pathlib import Path

INTERFACE, ENHANCED_PACKET, IF_NAME = 1, 6, 2
TICKS = 10_000  # of softspine's in a microsecond: if_tsresol is 10


def name_of(block: bytes) -> str:
    at = 8
    while at + 4 <= len(block):
        code, length = struct.unpack_from('<HH', block, at)
        if code == IF_NAME:
            return block[at + 4:at + 4 + length].decode()
        at += 4 + length + -length % 4
    raise AssertionError('an interface without a name')


def frames_by_port(path: Path) -> dict[str, list[bytes]]:
    return {port: [frame for _, frame in records] for port, records in records_by_port(path).items()}


def records_by_port(path: Path) -> dict[str, list[tuple[float, bytes]]]:
    """Each frame after its time, in microseconds of emulated time."""
    data, at = path.read_bytes(), 0
    names: list[str] = []
    out: dict[str, list[tuple[float, bytes]]] = defaultdict(list)
    while at + 12 <= len(data):
        kind, length = struct.unpack_from('<II', data, at)
        block = data[at + 8:at + length - 4]
        if kind == INTERFACE:
            names.append(name_of(block))
        elif kind == ENHANCED_PACKET:
            interface, high, low, kept, whole = struct.unpack_from('<IIIII', block)
            if kept != whole:
                raise AssertionError(f'{path}: a frame of {whole} B has {kept} B in it')
            out[names[interface]].append(((high << 32 | low) / TICKS, block[20:20 + kept]))
        at += length
    return out
