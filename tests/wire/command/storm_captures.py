# SPDX-License-Identifier: Apache-2.0
"""softspine storm on captures that others could have made of the same runs: the right root, or that it cannot be known."""
from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from softspine import TESTBEDS, Problems, Softspine, main

FABRIC = ('fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}\n'
          'profiles: {default: {base: sonic-tomahawk-100g-40m}}\n')
LOAD = ('workload:\n  - {name: to-h1, pattern: incast, from: [h5, h6, h9, h10], to: h1, message: 1MiB, messages: 20, mtu: 4096, dscp: 3, rate: 20Gbps}\n'
        '  - {name: elsewhere, pattern: pairs, from: [h7, h8, h11, h12], to: [h2, h3, h4, h2], message: 1MiB, messages: 8, mtu: 4096, dscp: 3, rate: 20Gbps}\n')
TWO_STORMS = ('name: two-storms\nrun: {clock: virtual, duration: 10ms, seed: 2}\n' + FABRIC + LOAD
              + 'faults:\n  - {at: 1ms, node: h1, set: storm, priorities: [3]}\n  - {at: 3ms, node: h3, set: storm, priorities: [3]}\n')
HEALTHY = ('name: healthy\nrun: {clock: virtual, duration: 10ms, seed: 3}\n' + FABRIC
           + 'workload:\n  - {name: to-h1, pattern: incast, from: [h5, h6, h9, h10], to: h1, message: 1MiB, messages: 8, mtu: 4096, dscp: 3}\n')
# file, its true roots, its verdict
RUNS: dict[str, tuple[str | Path, set[str], str]] = {
    'storm': (TESTBEDS / 'pfc-storm.yaml', {'h1'}, 'storm'),
    'two-storms': (TWO_STORMS, {'h1', 'h3'}, 'storm'),
    'deadlock': (TESTBEDS / 'deadlock.yaml', set(), 'deadlock'),
    'healthy': (HEALTHY, set(), 'congestion'),
}


@dataclass(frozen=True)
class Frame:
    port: str  # that it left by
    at_ps: int
    bytes: bytes


def options(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= 4:
        code, length = struct.unpack_from('<HH', data)
        if code == 0:
            return
        yield code, data[4:4 + length]
        data = data[4 + (length + 3) // 4 * 4:]


def read_pcapng(path: Path) -> tuple[list[Frame], dict[str, str]]:
    """What left each port, and whose link leads where. Of our own captures only: little endian, 100 ps."""
    data, at, names, peers, frames = path.read_bytes(), 0, [], {}, []
    while at < len(data):
        kind, length = struct.unpack_from('<II', data, at)
        body = data[at + 8:at + length - 4]
        if kind == 1:
            told = dict(options(body[8:]))
            names.append(told[2].decode())
            peers[names[-1]] = told[3].decode().removeprefix('link to ').split(',')[0]
        elif kind == 6:
            interface, high, low, captured = struct.unpack_from('<IIII', body)
            frames.append(Frame(names[interface], (high << 32 | low) * 100, body[20:20 + captured]))
        at += length
    return frames, peers


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def block(kind: int, body: bytes) -> bytes:
    length = struct.pack('<I', len(body) + 12)
    return struct.pack('<I', kind) + length + body + length


def option(code: int, value: bytes) -> bytes:
    return struct.pack('<HH', code, len(value)) + padded(value)


def seen_at_both_ends(frames: list[Frame], peers: dict[str, str]) -> list[tuple[int, str, Frame]]:
    """As mirrors of every port see it: where it leaves, and 500 ns later where it arrives."""
    seen = [(frame.at_ps, frame.port, frame) for frame in frames]
    seen += [(frame.at_ps + 500_000, peers[frame.port], frame) for frame in frames]
    return sorted(seen, key=lambda it: it[0])


def pcap(path: Path, link_type: int, frames: list[tuple[int, bytes]]) -> Path:
    """Classic, in microseconds, from 2023 on."""
    out = [struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 262144, link_type)]
    for at_ps, data in frames:
        us = at_ps // 1_000_000
        out.append(struct.pack('<IIII', 1_700_000_000 + us // 1_000_000, us % 1_000_000, len(data), len(data)) + data)
    path.write_bytes(b''.join(out))
    return path


def merged(path: Path, frames: list[Frame], peers: dict[str, str]) -> Path:
    """tcpdump at a collector of all mirrors: no names, no directions."""
    return pcap(path, 1, [(at, frame.bytes) for at, _, frame in seen_at_both_ends(frames, peers)])


def named(path: Path, frames: list[Frame], peers: dict[str, str]) -> Path:
    """dumpcap on every port: names, no directions, no speeds, nanoseconds."""
    ports = list(peers)
    out = [block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1))]
    out += [block(1, struct.pack('<HHI', 1, 0, 262144) + option(2, port.encode()) + option(9, b'\x09')) for port in ports]
    for at_ps, port, frame in seen_at_both_ends(frames, peers):
        ticks = at_ps // 1000
        out.append(block(6, struct.pack('<IIIII', ports.index(port), ticks >> 32, ticks & 0xFFFFFFFF, len(frame.bytes), len(frame.bytes)) + padded(frame.bytes)))
    path.write_bytes(b''.join(out))
    return path


def any_of(node: str, path: Path, frames: list[Frame], peers: dict[str, str]) -> Path:
    """tcpdump -i any on one switch: SLL2."""
    ports = [port for port in peers if port.startswith(f'{node}:')]
    cooked = []
    for at, port, frame in seen_at_both_ends(frames, peers):
        if port in ports:
            head = struct.pack('>HHIHBB', int.from_bytes(frame.bytes[12:14]), 0, ports.index(port) + 1, 1, 4 if frame.port == port else 2, 6)
            cooked.append((at, head + frame.bytes[6:12] + b'\0\0' + frame.bytes[14:]))
    return pcap(path, 276, cooked)


def one_port(port: str, path: Path, frames: list[Frame], peers: dict[str, str]) -> Path:
    return pcap(path, 1, [(at, frame.bytes) for at, seen, frame in seen_at_both_ends(frames, peers) if seen == port])


def judged(it: Softspine, name: str, file: Path, *more: object, must_name: bool, roots: set[str], verdict: str) -> Problems:
    done = it('storm', file, *more, '--json')
    yield from done.exited(0)
    found = done.json()
    said = {storm['root'] for storm in found['storms'] if storm['root']}
    if not said <= roots:
        yield f'{name}: roots {said}, but {roots} are: {found["headline"]}'
    if must_name and (said != roots or found['verdict'] != verdict):
        yield f'{name}: "{found["headline"]}" ({found["verdict"]}), but it is {verdict} by {roots}'
    if verdict == 'congestion' and found['verdict'] not in ('congestion', 'no_pauses'):
        yield f'{name}: "{found["headline"]}", but it is healthy'
    if verdict == 'storm' and not more and found['verdict'] == 'congestion' and not found['too_short']:
        yield f'{name}: "{found["headline"]}", but there is a storm'


def names_the_right_root_or_none(it: Softspine) -> Problems:
    """32 captures of four runs: as ours, merged, with names alone, -i any, of one port; never a wrong root"""
    count = 0
    for run, (source, roots, verdict) in RUNS.items():
        testbed = source if isinstance(source, Path) else it.write(f'{run}.yaml', source)
        it('run', testbed, '--capture', f'{run}.pcapng', '--snaplen', 64, '--quiet')
        ours = it.folder / f'{run}.pcapng'
        frames, peers = read_pcapng(ours)
        speed, known = ('--speed', '100Gbps'), ('--testbed', testbed)
        kinds = [
            ('ours', ours, (), True),
            ('merged', merged(it.folder / f'{run}-merged.pcap', frames, peers), speed, False),
            ('merged, known', it.folder / f'{run}-merged.pcap', (*speed, *known), verdict != 'deadlock'),
            ('named', named(it.folder / f'{run}-named.pcapng', frames, peers), speed, False),
            ('named, known', it.folder / f'{run}-named.pcapng', (*speed, *known), True),
            ('any', any_of('tor1', it.folder / f'{run}-any.pcap', frames, peers), speed, False),
            ('any, known', it.folder / f'{run}-any.pcap', (*speed, *known), False),
            ('one port', one_port('tor1:Ethernet0', it.folder / f'{run}-port.pcap', frames, peers), speed, False),
        ]
        for kind, file, more, must_name in kinds:
            count += 1
            yield from judged(it, f'{run}, {kind}', file, *more, must_name=must_name, roots=roots, verdict=verdict)
    if count < 30:
        yield f'{count} captures'


def finds_a_storm_that_comes_and_goes(it: Softspine) -> Problems:
    """XOFFs of a generator, one a millisecond: a storm, its root the generator only if it is known to be a host"""
    times = b''.join(struct.pack('>H', 0xFFFF if n == 3 else 0) for n in range(8))
    xoff = (bytes.fromhex('0180c2000001' '020000000011' '8808' '0101' '0008') + times).ljust(60, b'\0')
    file = pcap(it.folder / 'gen.pcap', 1, [(ms * 10**9, xoff) for ms in range(1000)])
    unknown = it('storm', file, '--speed', '100Gbps')
    yield from unknown.says('02:00:00:00:00:11 or from behind it', 'lapses again and again', '34 % of the time')
    names = it.write('ports.txt', '02:00:00:00:00:11 h1:eth0\n')
    yield from it('storm', file, '--speed', '100Gbps', '--ports', names).says('STORM: root h1')
    yield from it('storm', file, '--ports', it.write('wrong.txt', 'eth0 tor1\n')).exited(2)


if __name__ == '__main__':
    sys.exit(main([names_the_right_root_or_none, finds_a_storm_that_comes_and_goes]))
