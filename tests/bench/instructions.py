#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions and cache lines a packet-hop, by callgrind: what a change costs on any machine, however busy.

Seconds differ from run to run by more than most changes make; instructions do not (forwarding polls a clock: ± 3 %).
The counts include a warm-up of a quarter, the hosts' and the devices' work. The limits are what was measured and a
sixth more. A change that needs more moves them, and says why.

Cache lines are misses of a simulated first-level data cache of 32 KiB, eight ways: on the virtual clock these are what a
packet-hop takes time for. Each hop touches lines of hosts, ports and queues that are not there any more, so a member that
moves to another line shows.
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
CASES = [
    # name, arguments, result that counts, limits of instructions by buildtype, limit of lines (None: they are not counted)
    ('a packet through one switch, 64 B', ['forwarding', '--seconds', '2'], 'packets', {'release': 1620, 'debugoptimized': 1850}, None),
    ('a packet through three switches, 64 B', ['forwarding', '--hops', '3', '--seconds', '2'], 'packets', {'release': 3750, 'debugoptimized': 4300}, None),
    ('a packet-hop of a permutation of 64 hosts', ['virtual', '--microseconds', '20'], 'packet_hops', {'release': 2000, 'debugoptimized': 2650}, 25),
    ('a packet-hop of an incast of 63 hosts', ['virtual', '--incast', '--microseconds', '100'], 'packet_hops', {'release': 2200, 'debugoptimized': 2950}, 21.5),
]
CACHES = ['--cache-sim=yes', '--I1=32768,8,64', '--D1=32768,8,64', '--LL=1048576,16,64']


def costs_and_result(program: str, arguments: list[str], caches: list[str]) -> tuple[int, int, dict]:
    """Instructions, misses of the first-level data cache (0 without caches), and what the bench prints."""
    with tempfile.NamedTemporaryFile() as profile:
        run = subprocess.run(
            ['valgrind', '--tool=callgrind', *caches, f'--callgrind-out-file={profile.name}',
             '--toggle-collect=softspine::dataplane::Engine::run(*', program, 'bench', arguments[0], '--json', *arguments[1:]],
            capture_output=True, text=True, check=False)
    collected = re.search(r'Collected : ([\d ]+)', run.stderr)
    if run.returncode != 0 or not collected:
        sys.exit(f'{" ".join(arguments)}: exit status {run.returncode}\n{run.stderr}')
    counts = dict(zip(('Ir', 'Dr', 'Dw', 'I1mr', 'D1mr', 'D1mw'), map(int, collected[1].split()), strict=False))
    return counts['Ir'], counts.get('D1mr', 0) + counts.get('D1mw', 0), json.loads(run.stdout)


def main(program: str, buildtype: str) -> int:
    if not shutil.which('valgrind'):
        print('skipped: no valgrind')
        return SKIPPED
    too_many = 0
    for name, arguments, counted, limits, most_lines in CASES:
        instructions, lines, result = costs_and_result(program, arguments, CACHES if most_lines else [])
        each = instructions / result[counted]
        print(f'{name}: {each:.0f} instructions each, at most {limits[buildtype]}')
        too_many += each > limits[buildtype]
        if most_lines:
            print(f'{name}: {lines / result[counted]:.1f} cache lines each, at most {most_lines}')
            too_many += lines / result[counted] > most_lines
    return 1 if too_many else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
