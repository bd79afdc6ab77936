#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many packets cross a switch in a second of CPU time, with all that hosts do (RC, PFC, host cables of 3 m), by size of the fabric.

    python3 -B tests/bench/packet_hops.py build/tools/softspine/softspine [CASE …] [--runs N] [--flat]

Each case is run for two lengths of emulated time, and one is subtracted from the other: what a run does once (reading the
testbed, routes, memory, the report) is in neither. It is the process's CPU time, so that neighbours on the machine weigh less
than in wall time; they still take its caches, so a table is made on a quiet machine. Printed are the median of the runs, and
the least and the most of them.

It fails if packets of two runs differ, or if a case is below a floor that any machine reaches.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).with_suffix('')
FLOOR = 0.05  # million packet-hops per CPU second: a tenth of the slowest that was seen


@dataclass(frozen=True)
class Case:
    name: str
    short_us: int
    long_us: int


CASES = [Case('leaf-spine-64', 300, 1300), Case('leaf-spine-1024', 20, 80), Case('leaf-spine-4096', 10, 30),
         Case('hpn-1024', 20, 80), Case('hpn-4096', 10, 40), Case('hpn-15360', 10, 30)]


def run(program: str, case: Case, length_us: int, more: list[str]) -> tuple[int, float]:
    """Packets that switches received, and seconds of CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.json'
        process = subprocess.Popen([program, 'run', FOLDER / f'{case.name}.yaml', '--duration', f'{length_us}us', '--quiet', '--no-server',
                                    '--report', report, *more], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f'{case.name}: exit status {process.returncode}')
        packets = sum(node['rx_packets'] for node in json.loads(report.read_text())['switches'].values())
        return packets, used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('cases', nargs='*', metavar='CASE', choices=[[], *(case.name for case in CASES)], help=', '.join(case.name for case in CASES))
    parser.add_argument('--runs', type=int, default=5, help='of each case, 5 if not given')
    parser.add_argument('--flat', action='store_true', help='in one flat window (run --flat)')
    arguments = parser.parse_args()
    failures = 0
    for case in CASES:
        if arguments.cases and case.name not in arguments.cases:
            continue
        speeds, hops = [], set()
        for _ in range(arguments.runs):
            short, long = (run(arguments.program, case, length, ['--flat'] * arguments.flat) for length in (case.short_us, case.long_us))
            hops.add((short[0], long[0]))
            speeds.append((long[0] - short[0]) / (long[1] - short[1]) / 1e6)
        median = statistics.median(speeds)
        print(f'{case.name:16} {median:5.2f} M packet-hops per CPU second ({min(speeds):.2f} to {max(speeds):.2f}, {len(speeds)} runs)', flush=True)
        if len(hops) != 1:
            print(f'{case.name}: runs differ in what they did: {sorted(hops)}')
        failures += len(hops) != 1 or median < FLOOR
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
