# SPDX-License-Identifier: Apache-2.0
"""`run --trace`: the file against the report, what a killed run leaves, Ctrl-C, files that cannot be written."""
from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from softspine import ROOT, Problems, Run, Skip, Softspine, main

TESTBED = '''name: traced
run: {clock: virtual, duration: 300us, seed: 5}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 3, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: in, pattern: incast, from: [h4, h5, h2], to: h1, message: 256KiB, messages: 100000, dscp: 3}
faults:
  - {at: 100us, node: h1, set: storm, priorities: [3], until: 200us}
'''
VARINT, FIXED64, DELIMITED = 0, 1, 2


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """(number, value) of each whole field; what is cut off at the end is left out."""
    out, at = [], 0
    try:
        while at < len(data):
            key, at = varint(data, at)
            if key & 7 == VARINT:
                value, at = varint(data, at)
            else:
                size, at = (8, at) if key & 7 == FIXED64 else varint(data, at)
                value, at = data[at:at + size], at + size
            if at <= len(data):
                out.append((key >> 3, value))
    except IndexError:
        pass
    return out


class Trace:
    """Names and sums, by the published numbers of fields."""

    def __init__(self, data: bytes) -> None:
        self.packets = [dict(fields(packet)) for number, packet in fields(data) if number == 1]
        self.names: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.keys: dict[int, str] = {}
        self.paused: Counter[str] = Counter()
        self.last_ns = max((packet.get(8, 0) for packet in self.packets), default=0)
        for packet in self.packets:
            self._take(packet)

    def _take(self, packet: dict) -> None:
        for number, entry in fields(packet.get(12, b'')):
            word = dict(fields(entry))
            if number == 3:
                self.keys[word[1]] = word[2].decode()
        if 60 in packet:
            track = dict(fields(packet[60]))
            self.names[track[1]] = track[2].decode()
            self.parents[track[1]] = track.get(5, 0)
        event = fields(packet.get(11, b''))
        track = dict(event).get(11, 0)
        if dict(event).get(9) == 1 and self.names[track].endswith(' paused'):
            for argument in (dict(fields(value)) for number, value in event if number == 4):
                if self.keys[argument[1]] == 'duration_ps':
                    self.paused[f'{self.names[self.parents[track]]} {self.names[track]}'] += argument[3]


def pauses_of(report: dict) -> dict[str, int]:
    rows = {port: row.get('priorities', {}) for port, row in report['ports'].items()}
    for host, row in report['hosts'].items():
        rows.update({f'{host}:{port}': priorities for port, priorities in row.get('pause', {}).items()})
    return {f'{port} priority {number} paused': counters['paused_ps'] for port, row in rows.items() for number, counters in row.items()
            if counters.get('paused_ps')}


def adds_up_to_the_report(it: Softspine) -> Problems:
    """pauses of the trace are those of the report; an older file is replaced"""
    file = it.write('traced.yaml', TESTBED)
    (it.folder / 'run.perfetto-trace').write_bytes(b'x' * 10_000_000)
    done = it('run', file, '--quiet', '--no-server', '--trace', 'run.perfetto-trace', '--report', 'report.json')
    yield from done.exited(0)
    yield from done.says('run.perfetto-trace  the trace')
    trace = Trace((it.folder / 'run.perfetto-trace').read_bytes())
    wanted = pauses_of(json.loads((it.folder / 'report.json').read_text()))
    if dict(trace.paused) != wanted or len(wanted) < 4:
        yield f'{dict(trace.paused)} instead of {wanted}'


def survives_a_kill(it: Softspine) -> Problems:
    """a run that is killed, or interrupted, leaves a trace that is readable"""
    file = it.write('long.yaml', TESTBED.replace('300us', '10s'))
    for how, status in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 0)):
        path = it.folder / f'{how.name}.perfetto-trace'
        run = Run(it, ['run', str(file), '--quiet', '--no-server', '--trace', str(path), '--trace-interval', '1us'])
        while run.process.poll() is None and (not path.exists() or path.stat().st_size < 1_000_000):
            pass
        yield from run.end(how).exited(status)
        trace = Trace(path.read_bytes())
        if len(trace.packets) < 10_000 or trace.last_ns < 10_000:
            yield f'{how.name}: {len(trace.packets)} packets up to {trace.last_ns} ns'


def ends_well_on_a_full_disk(it: Softspine) -> Problems:
    """a disk that is full: said once, status 1, and the report is there"""
    file = it.write('traced.yaml', TESTBED)
    done = it('run', file, '--quiet', '--no-server', '--trace', '/dev/full', '--report', 'report.json')
    yield from done.exited(1)
    yield from done.complains('/dev/full: No space left on device')
    if done.err.count('/dev/full') != 1 or not pauses_of(json.loads((it.folder / 'report.json').read_text())):
        yield done.err


def refuses_what_cannot_be(it: Softspine) -> Problems:
    """a folder that is not there, a file that another output has, an interval without a trace"""
    file = it.write('traced.yaml', TESTBED)
    for words, why in ((('--trace', 'no/where'), 'cannot write the trace no/where'),
                       (('--trace', 'same', '--events', 'same'), 'same'),
                       (('--trace-interval', '1us'), '--trace-interval goes with --trace')):
        done = it('run', file, '--quiet', '--no-server', *words)
        yield from done.exited(2)
        yield from done.complains(why)


def is_of_the_published_schema(it: Softspine) -> Problems:
    """protoc reads a trace by Perfetto's own perfetto_trace.proto, and finds no field that it does not know"""
    schema = os.environ.get('SOFTSPINE_PERFETTO_PROTO')
    if not schema or not shutil.which('protoc'):
        raise Skip('needs protoc, and SOFTSPINE_PERFETTO_PROTO: the path of protos/perfetto/trace/perfetto_trace.proto')
    for name in ('pfc-storm', 'ring-allreduce'):
        yield from it('run', ROOT / f'testbeds/{name}.yaml', '--quiet', '--no-server', '--trace', 'run.trace').exited(0)
        with open(it.folder / 'run.trace', 'rb') as trace:
            read = subprocess.run(['protoc', '--decode=perfetto.protos.Trace', f'-I{Path(schema).parent}', schema], stdin=trace, capture_output=True, text=True, check=False)
        lines = read.stdout.splitlines()
        unknown = [line for line in lines if re.match(r'\s*\d+[:\s]', line)]
        if read.returncode != 0 or unknown or len(lines) < 10_000:
            yield f'{name}: {read.stderr[:300]} {len(lines)} lines, {unknown[:5]}'
        for word in ('track_descriptor {', 'type: TYPE_SLICE_BEGIN', 'type: TYPE_SLICE_END', 'type: TYPE_COUNTER', 'unit: UNIT_SIZE_BYTES'):
            if not any(line.strip() == word for line in lines):
                yield f'{name}: no {word}'


if __name__ == '__main__':
    sys.exit(main([adds_up_to_the_report, survives_a_kill, ends_well_on_a_full_disk, refuses_what_cannot_be, is_of_the_published_schema]))
