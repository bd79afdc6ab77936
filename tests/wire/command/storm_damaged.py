# SPDX-License-Identifier: Apache-2.0
"""softspine storm on hundreds of sets of captures, whole and damaged: the right root, or that it cannot be known."""
from __future__ import annotations

import os
import random
import struct
import sys
from collections import Counter
from pathlib import Path

import storm_captures as single
from softspine import TESTBEDS, Problems, Softspine, main
from storm_captures import Frame, block, option, padded
from storm_several import Clock, Run, Seen, clocks, groups_of, roots_of

SEED = int(os.environ.get('SOFTSPINE_SEED', '1'))
DRAWS = int(os.environ.get('SOFTSPINE_TESTBEDS', 40 // int(os.environ.get('SOFTSPINE_ONE_IN', '1'))))  # of each run
MS = 10**9
END = 10 * MS
single.RUNS.setdefault('slow', (TESTBEDS / 'slow-receiver.yaml', set(), 'congestion'))


class SwitchRun(Run):
    """The storm's, in which h1 is a switch of two ports: nothing but its captures can tell that nothing is behind it."""
    def __init__(self, it: Softspine) -> None:
        super().__init__(it, 'storm')
        self.roots, self.testbed = {'sw9'}, None
        names = {'h1:eth0': 'sw9:Ethernet0', 'h2:eth0': 'sw9:Ethernet4'}
        self.peers = {names.get(port, port): names.get(peer, peer) for port, peer in self.peers.items()}
        self.seen = [(at, names.get(port, port), Frame(names.get(frame.port, frame.port), frame.at_ps, frame.bytes)) for at, port, frame in self.seen]


class Writer:
    """Files of several ports; of a frame all is made once but its time and its interface."""
    def __init__(self, run: Run) -> None:
        nodes = [port.split(':')[0] for port in run.peers]
        self.described = {}
        for port, peer in run.peers.items():
            told = f'link to {peer}, one of {nodes.count(port.split(":")[0])} ports'
            self.described[port] = block(1, struct.pack('<HHI', 1, 0, 262144) + option(2, port.encode()) + option(3, told.encode())
                                         + option(8, struct.pack('<Q', 10**11)) + option(9, b'\x09'))
        self.made = {id(it): self._made(it) for it in run.seen}

    @staticmethod
    def _made(seen: Seen) -> tuple[bytes, bytes]:
        _, port, frame = seen
        body = struct.pack('<II', len(frame.bytes), len(frame.bytes)) + padded(frame.bytes) + option(2, struct.pack('<I', 2 if frame.port == port else 1))
        length = struct.pack('<I', len(body) + 24)
        return struct.pack('<I', 6) + length, body + length

    def write(self, path: Path, seen: list[Seen], ports: list[str], clock: Clock, statistics: bool) -> Path:
        """Ports of which nothing was captured are no interfaces of the file."""
        there = {it[1] for it in seen}
        ports = [port for port in ports if statistics or port in there]
        number = {port: n for n, port in enumerate(ports)}
        out = [block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1)), *(self.described[port] for port in ports)]
        for it in seen:
            ticks = clock.shown(it[0]) // 1000
            head, tail = self.made[id(it)]
            out.append(head + struct.pack('<III', number[it[1]], ticks >> 32, ticks & 0xFFFFFFFF) + tail)
        if statistics:
            count = Counter(it[1] for it in seen)
            out += [block(5, struct.pack('<III', number[port], 0, 0) + option(4, struct.pack('<Q', count[port]))) for port in ports]
        path.write_bytes(b''.join(out))
        return path


def slice_of(rng: random.Random) -> tuple[int, int]:
    begin, end = sorted(rng.sample(range(END), 2))
    return rng.choice(((begin, END), (0, end), (begin, end)))


def damaged(rng: random.Random, seen: list[Seen], ports: list[str]) -> list[Seen]:
    """A slice of the time, frames lost at random, all of a while lost, the mirror of a port on for a while only: or several of these. No file says so."""
    begin, end = slice_of(rng) if rng.random() < 0.4 else (0, END)
    lost = rng.choice((0, 0, 0.02, 0.3, 0.3, 0.6, 0.9))
    away = rng.randrange(END) if rng.random() < 0.3 else END
    back = away + rng.randrange(MS // 10, 5 * MS)
    on = {port: slice_of(rng) if rng.random() < 0.12 else (0, END) for port in ports}
    return [it for it in seen if begin <= it[0] <= end and not away <= it[0] < back and on[it[1]][0] <= it[0] <= on[it[1]][1]
            and (lost == 0 or rng.random() >= lost)]


def drawn(rng: random.Random, it: Softspine, run: Run, writer: Writer, name: str) -> list[Path]:
    """Some of the captures, one of a port or a switch, by clocks of their own; half of the sets are of undamaged ones but for a few."""
    parts = list(run.parts(rng.random() < 0.6).items())
    parts = rng.sample(parts, rng.randint(1, len(parts)) if rng.random() < 0.6 else len(parts))
    damage = rng.choice((0.3, 1))
    files = []
    for (part, ports), clock in zip(parts, clocks(rng, len(parts))):
        seen = run.of(ports)
        is_damaged = rng.random() < damage
        seen = damaged(rng, seen, ports) if is_damaged else seen
        if seen:
            files.append(writer.write(it.folder / f'{name}-{part.replace(":", "-")}.pcapng', seen, ports, clock, not is_damaged))
    return files


def judged(it: Softspine, run: Run, files: list[Path], more: tuple, told: str, tally: Counter) -> Problems:
    done = it('storm', *files, *more, '--json')
    yield from done.exited(0)
    report = done.json()
    roots = roots_of(report)
    said = 'right' if roots else 'cannot be known' if any(group['storms'] for group in groups_of(report)) else 'no storm'
    if not roots <= run.roots:
        said = 'wrong'
        yield f'{told}: roots {roots}, but it is {run.roots}'
    if run.verdict != 'deadlock' and any(group['verdict'] == 'deadlock' for group in groups_of(report)):
        said = 'wrong'
        yield f'{told}: a deadlock, but there is none'
    for clock in (clock for group in groups_of(report) for clock in group.get('clocks', [])):
        if abs(clock['drift_ppm']) > 200.001:
            yield f'{told}: {clock["file"]} drifts by {clock["drift_ppm"]} ppm'
    tally[said] += 1


def runs(it: Softspine) -> dict[str, Run]:
    return {**{name: Run(it, name) for name in single.RUNS}, 'switch': SwitchRun(it)}


def names_no_wrong_root(it: Softspine) -> Problems:
    """240 sets of captures with slices, losses and outages that no file tells of: a root is the right one"""
    tally: Counter = Counter()
    for name, run in runs(it).items():
        writer = Writer(run)
        for number in range(DRAWS):
            rng = random.Random(f'{SEED} {name} {number}')
            files = drawn(rng, it, run, writer, f'{name}-{number}')
            known = ('--testbed', run.testbed) if run.testbed and rng.random() < 0.5 else ()
            if files:
                yield from judged(it, run, files, known, f'{name} {number} {known}, again: SOFTSPINE_SEED={SEED}', tally)
            for file in files:
                file.unlink()
    print(f'# {dict(tally)}')
    if tally['right'] < sum(tally.values()) // 4:
        yield f'hardly a root is known: {dict(tally)}'


def knows_the_root_of_whole_captures(it: Softspine) -> Problems:
    """whole captures, one of each switch or port, by clocks of their own: each root is known"""
    right = tried = 0
    for name, run in runs(it).items():
        writer = Writer(run)
        for by_switch in (True, False)[:1 if name == 'switch' else 2]:  # two ports of one switch share no packet
            for number in range(4):
                tried += 1
                rng = random.Random(f'{SEED} {name} {by_switch} {number}')
                parts = list(run.parts(by_switch).items())
                files = [writer.write(it.folder / f'{name}-{part.replace(":", "-")}.pcapng', run.of(ports), ports, clock, True)
                         for (part, ports), clock in zip(parts, clocks(rng, len(parts)))]
                rng.shuffle(files)
                done = it('storm', *files, '--json')
                yield from done.exited(0)
                if roots_of(done.json()) != run.roots:
                    yield f'{name}, by {"switch" if by_switch else "port"}: {done.json()["headline"]}, but it is {run.roots}; again: SOFTSPINE_SEED={SEED}'
                right += roots_of(done.json()) == run.roots
    print(f'# {right} of {tried} right')


if __name__ == '__main__':
    sys.exit(main([names_no_wrong_root, knows_the_root_of_whole_captures]))
