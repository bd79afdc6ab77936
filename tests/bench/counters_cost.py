#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What counters over time, the event log, a recording and a trace cost a run, by callgrind: instructions of all threads, with a file and without, 64 hosts at line rate.

Two lengths of the same run are subtracted from each other, so that what happens once (reading the testbed, memory, the
first snapshot, the check at the end) is left out on both sides. Frames are large: a run has the fewer of them to do, and
a sample is as much as ever.
"""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
LENGTHS_US = (200, 600)
FILE = 'written'
ALONE = ['--workers', '1', '--quiet', '--no-server']  # progress takes snapshots by the machine's time, not the fabric's
CASES = [
    # name, arguments, more instructions at most
    ('all counters every 10 us', ['--counters-file', FILE, '--sample-interval', '10us'], 0.05),
    ('pauses and drops every 10 us', ['--counters-file', FILE, '--sample-interval', '10us', '--counters', 'pfc_*,paused_ps,drops'], 0.05),
    ('the event log', ['--events', FILE], 0.05),
    ('a recording every 10 us', ['--record', FILE, '--record-interval', '10us'], 0.12),
    ('a trace every 10 us', ['--trace', FILE, '--trace-interval', '10us'], 0.10),
]
TESTBED = '''name: counters-cost
run: {{clock: virtual, duration: {length}us, seed: 7}}
fabric:
  kind: leaf-spine
  tors: 4
  spines: 4
  hosts_per_tor: 16
  host_link: {{rate: 100Gbps, length: 3m}}
  fabric_link: {{rate: 400Gbps, length: 40m}}
profiles: {{default: {{base: sonic-tomahawk-100g-40m}}}}
workload: [{{name: perm, pattern: permutation, message: 1MiB, messages: 1000, qps: 4, mtu: 4096, dscp: 3}}]
'''


def instructions(program: str, testbed: Path, arguments: list[str]) -> int:
    run = subprocess.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={testbed}.profile', program, 'run',
                          str(testbed), *ALONE, *arguments], capture_output=True, text=True, check=False)
    collected = re.search(r'Collected : (\d+)', run.stderr)
    if run.returncode != 0 or not collected:
        sys.exit(f'{" ".join(arguments)}: exit status {run.returncode}\n{run.stderr}')
    return int(collected[1])


def growth(program: str, folder: Path, arguments: list[str]) -> int:
    counts = []
    for length in LENGTHS_US:
        testbed = folder / 'testbed.yaml'
        testbed.write_text(TESTBED.format(length=length), encoding='utf-8')
        counts.append(instructions(program, testbed, arguments))
    return counts[1] - counts[0]


def main(program: str) -> int:
    if not shutil.which('valgrind'):
        print('skipped: no valgrind')
        return SKIPPED
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        without = growth(program, folder, [])
        too_many = 0
        for case, arguments, limit in CASES:
            cost = growth(program, folder, [str(folder / FILE) if it == FILE else it for it in arguments]) / without - 1
            print(f'{case}: {cost:.1%} more instructions, at most {limit:.0%}')
            too_many += cost > limit
    return 1 if too_many else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
