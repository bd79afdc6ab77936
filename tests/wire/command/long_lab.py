# SPDX-License-Identifier: Apache-2.0
"""A lab that stays up: whatever is polled, faulted and entered in it meanwhile, its process keeps its size.

SOFTSPINE_LAB_SECONDS: how long, of wall time; 40 if not given. 86400 is a day, and with it 24 emulated hours on the wall clock.
"""
from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from labs import inside, lab, need_namespaces
from softspine import Problems, Softspine, main

SECONDS = float(os.environ.get('SOFTSPINE_LAB_SECONDS', '40'))
# Until allocators, tables and rings of history have the size that they keep. The room is for what an allocator keeps; a round is less
# than 3 s, so a leak of 200 kB a round is found in the shortest lab. Every fault stays for the report (2 kB were measured), and a round has
# five: a spine's four links, and a receiver.
WARM_UP = 0.4
ROOM_KB = 1_500
FAULT_KB = 3
LAB = '''name: long
run: {clock: wall}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology: {nodes: {h1: {namespace: {}}, h3: {namespace: {}}}}
workload: [{name: w, pattern: ring, hosts: [h2, h4], message: 10KiB, messages: 1000000000, rate: 10Mbps}]
'''
VIEWS = (['fabric'], ['interfaces', 'counters'], ['queue', 'counters'], ['pfc', 'counters'], ['flows'], ['links'], ['report'], ['prometheus'])


def facts(process: int) -> dict[str, int]:
    """Of the lab's process, with those that it has started counted."""
    status = dict(line.split(':', 1) for line in Path(f'/proc/{process}/status').read_text().splitlines() if ':' in line)
    children = [child for task in Path(f'/proc/{process}/task').iterdir() for child in (task / 'children').read_text().split()]
    return {'kB': int(status['VmRSS'].split()[0]), 'threads': int(status['Threads']), 'descriptors': len(os.listdir(f'/proc/{process}/fd')), 'children': len(children)}


def faults(it: Softspine) -> int:
    return len(it.show('report')['faults'])


def rounds(it: Softspine, seconds: float) -> Iterator[str]:
    """Views, a link down and up again, a fault and its end, a program on a host, for so long."""
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        for view in VIEWS:
            if (done := it('show', *view, '--json')).status != 0:
                yield f'{done.command}: {done.err}'
        spine = f'spine{number % 2 + 1}'
        for command in (['link', spine, 'down'], ['inject', 'h2', 'slow_receiver', '--drain', '100Mbps'], ['link', spine, 'up'], ['inject', 'h2', 'clear']):
            if (done := it(*command)).status != 0:
                yield f'{done.command}: {done.err}'
        if inside(it, 'ping', '-c', '1', '-W', '5', '10.0.2.2')[0] != 0 and number > 0:
            yield f'round {number}: no answer to a ping'
        number += 1
    print(f'# {number} rounds in {seconds:.0f} s')


def keeps_its_size(it: Softspine) -> Problems:
    """a lab with polling, faults and programs keeps memory, descriptors, threads and processes after it has warmed up"""
    need_namespaces()
    with lab(it, LAB):
        process = it('ls', '--json').json()[0]['process']
        yield from rounds(it, SECONDS * WARM_UP)
        before, struck = facts(process), faults(it)
        yield from rounds(it, SECONDS * (1 - WARM_UP))
        after, struck = facts(process), faults(it) - struck
        print(f'# {before} {after}, {struck} faults')
        for what, most in before.items():
            if after[what] > most + (ROOM_KB + FAULT_KB * struck if what == 'kB' else 0):
                yield f'{what}: {most} after the warm-up, {after[what]} at the end'
        if (errors := it('ls', '--json').json()[0]['errors']) != 0:
            yield f'{errors} errors'


if __name__ == '__main__':
    sys.exit(main([keeps_its_size]))
