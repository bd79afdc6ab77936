# SPDX-License-Identifier: Apache-2.0
"""rxe-two-tier, whole: four rdma_rxe guests, every pair, every tool, at once and one by one."""
from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from one_run import tshark
from outside_testbeds import need_guests, whole_run
from softspine import TESTBEDS, Problems, Softspine, main

TOOLS = ('ib_write_bw', 'ib_send_bw', 'ib_read_bw', 'ib_send_lat', 'rping')
PAIRS = 12
LEAST_GBPS = 0.4
ROCE_PORT = '4791'
ERROR = 0x800000  # tshark's severity


def results_of(folder: Path) -> list[dict]:
    return [json.loads(line) for path in folder.glob('*/results.jsonl') for line in path.read_text().splitlines()]


def each_pair_ran_each_tool(results: list[dict]) -> Problems:
    runs = Counter((r['tool'], r['from'], r['to']) for r in results if r['exit'] == 0 and r['server_exit'] == 0)
    for tool in TOOLS:
        pairs = [count for (name, _, _), count in runs.items() if name == tool]
        if len(pairs) != PAIRS or set(pairs) != {2}:
            yield f'{tool}: {len(pairs)} pairs of {PAIRS}, {sum(pairs)} runs of {2 * PAIRS}'
    if not all(r.get('verified') for r in results if r['tool'] == 'rping'):
        yield 'rping: data was not verified'


@dataclass(frozen=True)
class Frame:
    opcode: str
    port: str
    malformed: str
    severity: str


def frames_of(capture: Path) -> list[Frame]:
    names = ('infiniband.bth.opcode', 'udp.dstport', '_ws.malformed', '_ws.expert.severity')
    rows = tshark('-r', capture, '-o', 'ip.check_checksum:TRUE', '-T', 'fields', *(word for name in names for word in ('-e', name)))
    return [Frame(*row.split('\t')) for row in rows.splitlines()]


def roce_is_whole(frames: list[Frame]) -> Problems:
    """Nothing is malformed to tshark, above all not to its RoCE dissector, and most frames are RoCE's."""
    for frame in frames:
        if frame.malformed or any(int(severity) >= ERROR for severity in frame.severity.split(',') if severity):
            yield f'tshark complains: {frame}'
    roce = [frame for frame in frames if frame.opcode]
    if len(roce) < 10_000 or any(frame.port != ROCE_PORT for frame in roce):
        yield f'{len(roce)} of {len(frames)} frames are RoCE, ports {({frame.port for frame in roce})}'


class SentBytes:
    """What the hosts have sent into the fabric, by the fabric's counters, second by second while it runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._samples: list[tuple[float, int]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def __enter__(self) -> SentBytes:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _sample(self) -> None:
        """By the socket itself: a `softspine show` could be taken for a process left behind."""
        while not self._over.wait(1):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as fabric:  # it does not run yet, or no longer
                fabric.settimeout(10)
                fabric.connect(str(self._path))
                fabric.sendall(b'{"command":"show report","arguments":{"format":"json"}}\n')
                answer = json.loads(fabric.makefile().readline() or '{}')
                if answer.get('ok'):
                    self._samples.append((time.time(), sum(edge['in_bytes'] for edge in answer['result']['edges'].values())))

    def gbps(self, since: float, until: float) -> float:
        """Of the samples within; 0 if there are fewer than two."""
        within = [sample for sample in self._samples if since <= sample[0] <= until]
        if len(within) < 2:
            return 0
        (first, before), (last, after) = within[0], within[-1]
        return 8e-9 * (after - before) / (last - first)


def writes_at_once(results: list[dict], sent: SentBytes) -> Problems:
    """Twice: the sum of what perftest measured, and what the fabric counted from the last pair's begin to the first one's end."""
    writes = [r for r in results if r['tool'] == 'ib_write_bw' and r['id'].startswith('pairs-at-once')]
    if len(writes) != PAIRS:
        yield f'{len(writes)} pairs wrote at once'
        return
    since, until = max(r['began'] for r in writes), min(r['ended'] for r in writes)
    told, seen = sum(r.get('gbps', 0) for r in writes), sent.gbps(since, until)
    print(f'# writes at once: {told:.2f} Gb/s told by perftest, {seen:.2f} Gb/s counted in the {until - since:.1f} s of all {PAIRS} pairs')
    if min(told, seen) < LEAST_GBPS:
        yield f'writes at once: {told:.3f} Gb/s told by perftest, {seen:.3f} Gb/s counted'


def nothing_else_was_lost(report: dict) -> Problems:
    """RoCE loses nothing: the testbed expects that of switches and of guests. A guest without a processor may miss a few
    frames of other priorities, ARP and perftest's TCP; they end at its edge."""
    ends = {(name, reason): count for name, edge in report['edges'].items()
            for side in ('in_drops', 'out_drops') for reason, count in edge[side].items() if count and reason not in ('pfc_consumed', 'consumed')}
    if others := {key: count for key, count in ends.items() if key[1] not in ('edge_full', 'link_down')}:
        yield f'edges dropped {others}'
    if sum(ends.values()) > 1e-4 * report['totals']['switched_packets']:
        yield f'edges dropped {ends} of {report["totals"]["switched_packets"]} frames'
    if report['totals']['lost_on_links'] != 0:
        yield f'lost on links: {report["totals"]}'


def rxe_two_tier(it: Softspine) -> Problems:
    """rxe-two-tier: all pairs complete all tools, ≥ 0.4 Gb/s of writes at once, no RoCE packet lost, nothing malformed"""
    need_guests()
    with SentBytes(it.sockets / 'rxe-two-tier.sock') as sent:
        report, problems = whole_run(it, TESTBEDS / 'rxe-two-tier.yaml', '--capture', 'c.pcapng', '--capture-port', 'h?:*',
                                     '--snaplen', 192, '--capture-limit', '25MB', timeout=840)
    yield from problems
    results = results_of(it.folder / 'o')
    yield from each_pair_ran_each_tool(results)
    yield from writes_at_once(results, sent)
    frames = frames_of(it.folder / 'c.pcapng')
    yield from roce_is_whole(frames)
    for spine in ('spine1', 'spine2'):
        if report['switches'][spine]['tx_packets'] < 1000:
            yield f'{spine} carried {report["switches"][spine]["tx_packets"]} packets'
    yield from nothing_else_was_lost(report)


if __name__ == '__main__':
    sys.exit(main([rxe_two_tier]))
