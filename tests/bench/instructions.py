#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions a packet-hop, by callgrind: what a change costs on any machine, however busy.

Seconds differ from run to run by more than most changes make; instructions do not (forwarding polls a clock: ± 3 %).
The counts include a warm-up of a quarter, the hosts' and the devices' work. The limits are what was measured and a
sixth more. A change that needs more moves them, and says why.
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
    # name, arguments, result that counts, limits by buildtype
    ('a packet through one switch, 64 B', ['forwarding', '--seconds', '2'], 'packets', {'release': 1660, 'debugoptimized': 2040}),
    ('a packet through three switches, 64 B', ['forwarding', '--hops', '3', '--seconds', '2'], 'packets', {'release': 3830, 'debugoptimized': 4940}),
    ('a packet-hop of a permutation of 64 hosts', ['virtual', '--microseconds', '20'], 'packet_hops', {'release': 1950, 'debugoptimized': 2800}),
    ('a packet-hop of an incast of 63 hosts', ['virtual', '--incast', '--microseconds', '100'], 'packet_hops', {'release': 2300, 'debugoptimized': 3230}),
]


def instructions_and_result(program: str, arguments: list[str]) -> tuple[int, dict]:
    with tempfile.NamedTemporaryFile() as profile:
        run = subprocess.run(
            ['valgrind', '--tool=callgrind', f'--callgrind-out-file={profile.name}',
             '--toggle-collect=softspine::dataplane::Engine::run(*', program, 'bench', arguments[0], '--json', *arguments[1:]],
            capture_output=True, text=True, check=False)
    collected = re.search(r'Collected : (\d+)', run.stderr)
    if run.returncode != 0 or not collected:
        sys.exit(f'{" ".join(arguments)}: exit status {run.returncode}\n{run.stderr}')
    return int(collected[1]), json.loads(run.stdout)


def main(program: str, buildtype: str) -> int:
    if not shutil.which('valgrind'):
        print('skipped: no valgrind')
        return SKIPPED
    too_many = 0
    for name, arguments, counted, limits in CASES:
        instructions, result = instructions_and_result(program, arguments)
        each = instructions / result[counted]
        print(f'{name}: {each:.0f} instructions each, at most {limits[buildtype]}')
        too_many += each > limits[buildtype]
    return 1 if too_many else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:3]))
