# SPDX-License-Identifier: Apache-2.0
"""import: what comes of other systems' files is checked and run, and has their counts; what it refuses."""
from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from softspine import Problems, Softspine, main, samples

TWO_RACKS = '''7 3 6
4 5 6
0 4 100Gbps 1000ns 0
1 4 100Gbps 1000ns 0
2 5 100Gbps 1000ns 0
3 5 100Gbps 1000ns 0
4 6 400Gbps 1000ns 0
5 6 400Gbps 1000ns 0
'''


def check(holds: object, what: str) -> Problems:
    if not holds:
        yield what


def counted(text: str) -> dict:
    """As ns-3 reads HPCC's file: word by word."""
    words = iter(text.split())
    nodes, switches, links = (int(next(words)) for _ in range(3))
    for _ in range(switches):
        next(words)
    rates: Counter = Counter()
    for _ in range(links):
        _, _, rate, _, _ = (next(words) for _ in range(5))
        rates[rate] += 1
    return {'hosts': nodes - switches, 'switches': switches, 'links': links, 'rates': dict(rates)}


def imports_and_runs(it: Softspine, file: Path) -> Problems:
    out = it.folder / 'imported.yaml'
    done = it('import', 'hpcc', file, '-o', out, '--json')
    yield from done.exited(0)
    answer = done.json()
    nodes = dict(answer['nodes'])
    found = {'hosts': nodes.pop('host'), 'switches': sum(nodes.values()), 'links': answer['links'], 'rates': answer['rates']}
    yield from check(found == counted(file.read_text()), f'{file}: counts {found}')
    yield from it('check', out).exited(0)
    report = it.folder / 'report.json'
    yield from it('run', out, '--quiet', '--report', report).exited(0)
    flows = json.loads(report.read_text())['flows']['permutation']
    yield from check(flows['flows'] == found['hosts'], f'{flows["flows"]} flows of {found["hosts"]} hosts')
    yield from check(flows['completed'] == found['hosts'], f'{flows["completed"]} of {found["hosts"]} completed')


def a_small_file_runs(it: Softspine) -> Problems:
    """a topology of HPCC's becomes a testbed with the file's counts, which is checked and run"""
    yield from imports_and_runs(it, it.write('two.txt', TWO_RACKS))
    text = it('import', 'hpcc', it.folder / 'two.txt').out
    yield from check('tor4: {kind: switch, role: tor}  # node 4' in text, f'no ToR 4: {text}')
    yield from check('length: 198m}  # line 3' in text, f'no cable of 1000 ns: {text}')


def the_fat_tree_runs(it: Softspine) -> Problems:
    """HPCC's fat.txt, 320 hosts, runs: every flow of a permutation is completed"""
    yield from imports_and_runs(it, samples('SOFTSPINE_TOPOLOGY_SAMPLES', 'hpcc/fat.txt'))


def refuses(it: Softspine) -> Problems:
    """what is wrong is said with file and line, status 2, and no file is written"""
    broken = it.write('broken.txt', TWO_RACKS.replace('6 400Gbps 1000ns 0\n5', '6 400Gbps 1000ns 0\n4'))
    for arguments, complaint in [
        (['hpcc', broken], 'broken.txt:8:1: 4 and 6 are joined in line 7 already'),
        (['hpcc', it.folder / 'gone.txt'], 'gone.txt: cannot be opened'),
        (['simai', it.write('two.txt', TWO_RACKS)], 'is the format hpcc?'),
        (['visio', broken], "'visio' is none of hpcc, simai, containerlab, sonic"),
        (['hpcc', broken, '--as', 'linux'], "'linux' is not WHAT=USE (host"),
    ]:
        done = it('import', *arguments, '-o', it.folder / 'none.yaml')
        yield from done.exited(2)
        yield from done.complains(complaint)
    yield from check(not (it.folder / 'none.yaml').exists(), 'a testbed was written')


if __name__ == '__main__':
    sys.exit(main([a_small_file_runs, the_fat_tree_runs, refuses]))
