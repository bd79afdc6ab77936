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


def is_pause(frame: Frame) -> bool:
    return frame.bytes[12:14] == b'\x88\x08'


def mac_of(port: str, frames: list[Frame]) -> str:
    """That its pause frames come from."""
    return next(frame.bytes[6:12].hex(':') for frame in frames if frame.port == port and is_pause(frame))


@dataclass(frozen=True)
class Expected:
    verdict: str
    roots: set[str]
    seen_from: set[str] | None = None  # exactly; None: `first` is known, and each is the MAC of a port that paused
    first: str = ''


def expected(kind: str, roots: set[str], verdict: str, frames: list[Frame]) -> Expected:
    """What is right to say of a kind of capture, by what it shows: everything, a rack of h1 and h3, one port, MACs alone."""
    shows = {'any': 'tor1:', 'any, known': 'tor1:', 'one port': 'h1:eth0'}.get(kind, '')
    sees = [frame for frame in frames if is_pause(frame) and frame.port.startswith(shows)]
    if not sees:
        return Expected('no_pauses', set(), set())
    if verdict == 'storm':
        names = {root for root in roots if kind != 'one port' or root == 'h1'}
        macs = {mac_of(f'{root}:eth0', frames) for root in names}
        if kind == 'ours' or kind.endswith('known'):
            return Expected(verdict, roots, roots)
        return Expected(verdict, set(), macs) if shows else Expected(verdict, set(), None, mac_of('h1:eth0', frames))
    if verdict == 'deadlock' and kind in ('merged', 'named'):
        return Expected('storm', set())  # who is behind these MACs, and that it is a ring, cannot be known
    return Expected(verdict, set(), set())


def judged(it: Softspine, name: str, file: Path, *more: object, right: Expected, frames: list[Frame]) -> Problems:
    done = it('storm', file, *more, '--json')
    yield from done.exited(0)
    found = done.json()
    said = {storm['root'] for storm in found['storms'] if storm['root']}
    seen = [storm['seen_from'] for storm in found['storms']]
    if found['verdict'] != right.verdict or said != right.roots:
        yield f'{name}: "{found["headline"]}" ({found["verdict"]}, roots {said}), but it is {right.verdict} by {right.roots}'
    if right.seen_from is not None and set(seen) != right.seen_from:
        yield f'{name}: seen from {seen}, but it is {right.seen_from}'
    if right.seen_from is None:
        macs = {frame.bytes[6:12].hex(':') for frame in frames if is_pause(frame)}
        if not seen or not set(seen) <= macs or (right.first and seen[0] != right.first):
            yield f'{name}: seen from {seen}, but the first is {right.first}, and all are of {macs}'


def names_the_right_root_or_none(it: Softspine) -> Problems:
    """32 captures of four runs: as ours, merged, with names alone, -i any, of one port; never a wrong root"""
    for run, (source, roots, verdict) in RUNS.items():
        testbed = source if isinstance(source, Path) else it.write(f'{run}.yaml', source)
        it('run', testbed, '--capture', f'{run}.pcapng', '--snaplen', 64, '--quiet')
        ours = it.folder / f'{run}.pcapng'
        frames, peers = read_pcapng(ours)
        speed, known = ('--speed', '100Gbps'), ('--testbed', testbed)
        for kind, file, more in (
                ('ours', ours, ()),
                ('merged', merged(it.folder / f'{run}-merged.pcap', frames, peers), speed),
                ('merged, known', it.folder / f'{run}-merged.pcap', (*speed, *known)),
                ('named', named(it.folder / f'{run}-named.pcapng', frames, peers), speed),
                ('named, known', it.folder / f'{run}-named.pcapng', (*speed, *known)),
                ('any', any_of('tor1', it.folder / f'{run}-any.pcap', frames, peers), speed),
                ('any, known', it.folder / f'{run}-any.pcap', (*speed, *known)),
                ('one port', one_port('tor1:Ethernet0', it.folder / f'{run}-port.pcap', frames, peers), speed)):
            right = expected(kind, roots, verdict, frames)
            yield from judged(it, f'{run}, {kind}', file, *more, right=right, frames=frames)


def with_one_address_a_switch(frames: list[Frame]) -> list[Frame]:
    """As many switches have it. Hosts keep theirs."""
    switches = sorted({frame.port.split(':')[0] for frame in frames if not frame.port.startswith('h')})

    def changed(frame: Frame) -> Frame:
        node = frame.port.split(':')[0]
        if node not in switches:
            return frame
        mac = bytes([2, 0xAA, 0, 0, 0, switches.index(node)])
        return Frame(frame.port, frame.at_ps, frame.bytes[:6] + mac + frame.bytes[12:])
    return [changed(frame) for frame in frames]


def with_pause_of_all(frames: list[Frame]) -> list[Frame]:
    """What h1 sends is PAUSE (802.3x), which stops all priorities; so what follows is PFC of priorities 3 and 4."""
    def changed(frame: Frame) -> Frame:
        head, times = frame.bytes[:14], frame.bytes[18:34]
        if not is_pause(frame):
            return frame
        if frame.port == 'h1:eth0':
            return Frame(frame.port, frame.at_ps, (head + b'\0\1' + times[6:8]).ljust(60, b'\0'))
        both = times[:8] + times[6:8] + times[10:]
        return Frame(frame.port, frame.at_ps, (head + b'\1\1\0\x18' + both).ljust(60, b'\0'))
    return [changed(frame) for frame in frames]


def knows_other_switches(it: Softspine) -> Problems:
    """one address for all ports of a switch, and PAUSE of 802.3x: the same root, and its XOFFs as they were sent"""
    testbed = TESTBEDS / 'pfc-storm.yaml'
    it('run', testbed, '--capture', 'run.pcapng', '--snaplen', 64, '--quiet')
    ours, peers = read_pcapng(it.folder / 'run.pcapng')
    known = ('--speed', '100Gbps', '--testbed', testbed)
    xoffs = sum(is_pause(frame) and frame.port == 'h1:eth0' for frame in ours)
    for name, frames, priorities in (('one address a switch', with_one_address_a_switch(ours), [3]), ('PAUSE', with_pause_of_all(ours), ['all'])):
        for kind, file in (('named', named(it.folder / 'named.pcapng', frames, peers)),
                           ('any', any_of('tor1', it.folder / 'any.pcap', frames, peers))):
            found = it('storm', file, *known, '--json').json()
            root = found['storms'][0]
            told = (root['root'], root['to'], root['priorities'], root['xoffs'], {storm['root'] for storm in found['storms']} - {None})
            if told != ('h1', 'tor1:Ethernet0', priorities, xoffs, {'h1'}):
                yield f'{name}, {kind}: {told}, but h1 sent {xoffs} XOFFs: {found["headline"]}'
            if sum(storm['explained_ps'] for storm in found['storms']) > found['paused_ps']:
                yield f'{name}, {kind}: explains more than there is'


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
    sys.exit(main([names_the_right_root_or_none, knows_other_switches, finds_a_storm_that_comes_and_goes]))
