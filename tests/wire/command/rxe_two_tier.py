# SPDX-License-Identifier: Apache-2.0
"""rxe-two-tier, whole: four rdma_rxe guests, every pair, every tool, at once and one by one."""
from __future__ import annotations

import json
import sys
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
    seconds: float
    length: int
    opcode: str
    port: str
    malformed: str
    severity: str


def frames_of(capture: Path) -> list[Frame]:
    names = ('frame.time_epoch', 'frame.len', 'infiniband.bth.opcode', 'udp.dstport', '_ws.malformed', '_ws.expert.severity')
    rows = tshark('-r', capture, '-o', 'ip.check_checksum:TRUE', '-T', 'fields', *(word for name in names for word in ('-e', name)))
    cells = (row.split('\t') for row in rows.splitlines())
    return [Frame(float(seconds), int(length), *rest) for seconds, length, *rest in cells]


def roce_is_whole(frames: list[Frame]) -> Problems:
    """Nothing is malformed to tshark, above all not to its RoCE dissector, and most frames are RoCE's."""
    for frame in frames:
        if frame.malformed or any(int(severity) >= ERROR for severity in frame.severity.split(',') if severity):
            yield f'tshark complains: {frame}'
    roce = [frame for frame in frames if frame.opcode]
    if len(roce) < 10_000 or any(frame.port != ROCE_PORT for frame in roce):
        yield f'{len(roce)} of {len(frames)} frames are RoCE, ports {({frame.port for frame in roce})}'


def rate_at_once(frames: list[Frame]) -> float:
    """Gb/s of RDMA WRITE frames that hosts sent, while most of them were sent: pairs begin and end one after another."""
    writes = sorted((f.seconds, f.length) for f in frames if f.opcode and 6 <= int(f.opcode) <= 11 and f.length > 1000)
    if len(writes) < 1000:
        return 0
    middle = writes[len(writes) // 20:-(len(writes) // 20)]
    return 8e-9 * sum(length for _, length in middle) / (middle[-1][0] - middle[0][0])


def rxe_two_tier(it: Softspine) -> Problems:
    """rxe-two-tier: all pairs complete all tools, ≥ 0.4 Gb/s of writes at once, no drop, nothing malformed"""
    need_guests()
    report, problems = whole_run(it, TESTBEDS / 'rxe-two-tier.yaml', '--capture', 'c.pcapng', '--capture-port', 'h?:*',
                                 '--snaplen', 192, '--capture-limit', '25MB', timeout=840)
    yield from problems
    results = results_of(it.folder / 'o')
    yield from each_pair_ran_each_tool(results)
    writes = [r for r in results if r['tool'] == 'ib_write_bw' and r['id'].startswith('pairs-at-once')]
    frames = frames_of(it.folder / 'c.pcapng')
    told, seen = sum(r.get('gbps', 0) for r in writes), rate_at_once(frames)
    print(f'# {report["engine"]["wall_seconds"]:.0f} s; writes at once: {told:.2f} Gb/s told by {len(writes)} pairs, {seen:.2f} Gb/s seen')
    if min(told, seen) < LEAST_GBPS:
        yield f'writes at once: {told:.3f} Gb/s told by perftest, {seen:.3f} Gb/s seen in the capture'
    yield from roce_is_whole(frames)
    for spine in ('spine1', 'spine2'):
        if report['switches'][spine]['tx_packets'] < 1000:
            yield f'{spine} carried {report["switches"][spine]["tx_packets"]} packets'
    if report['totals']['dropped_packets'] != 0 or report['totals']['lost_on_links'] != 0:
        yield f'drops: {report["totals"]}'


if __name__ == '__main__':
    sys.exit(main([rxe_two_tier]))
