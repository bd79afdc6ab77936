# SPDX-License-Identifier: Apache-2.0
"""Packets that the tests make by themselves, and not by what they test."""
from __future__ import annotations

import struct


def checksum(header: bytes) -> int:
    """RFC 1071, of an even number of bytes."""
    total = sum(struct.unpack(f'>{len(header) // 2}H', header))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return ~total & 0xFFFF


def ipv4(source: bytes, destination: bytes, protocol: int, payload: bytes, fragment: int = 0, tos: int = 0, ttl: int = 64) -> bytes:
    head = struct.pack('>BBHHHBBH', 0x45, tos, 20 + len(payload), 0, fragment, ttl, protocol, 0) + source + destination
    return head[:10] + struct.pack('>H', checksum(head)) + head[12:] + payload
