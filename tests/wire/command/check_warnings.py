# SPDX-License-Identifier: Apache-2.0
"""What a file says in vain, and what its traffic gets: told by check and by run, with its place; --strict makes it a failure."""
from __future__ import annotations

import sys

from softspine import TESTBEDS, Problems, Softspine, main

FABRIC = '''name: it
run: {clock: virtual, duration: 1ms, seed: 1}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 40m}}
roles: {tor: lossless, aggregation: lossless}
'''
TRAP = FABRIC + 'workload:\n  - {name: w, pattern: pairs, from: [h1], to: [h3], message: 64KiB, mtu: 1024, dscp: 26}\n'
SAID = 'it.yaml:6:86: workload[0].dscp: warning: DSCP 26 may be dropped'
APART = '''name: it
topology:
  nodes: {a: {kind: switch}, b: {kind: switch}, h1: {kind: host}, h2: {kind: host}}
  links: [{endpoints: [h1, a], rate: 1Gbps}, {endpoints: [h2, b], rate: 1Gbps}]
workload: [{name: w, pattern: pairs, from: [h1], to: [h2]}]
'''


def warns_with_its_place(it: Softspine) -> Problems:
    """check and run say a warning once, with file, line and path, on stderr; it stops neither"""
    file = it.write('it.yaml', TRAP)
    for arguments in (['check', file], ['run', file, '--quiet']):
        done = it(*arguments)
        yield from done.exited(0)
        if done.err.count('warning: ') != 1 or SAID not in done.err:
            yield f'{arguments[0]} says: {done.err}'


def is_strict_if_asked(it: Softspine) -> Problems:
    """--strict: 1 with a warning, 0 without"""
    yield from it('check', '--strict', it.write('it.yaml', TRAP)).exited(1)
    yield from it('check', '--strict', it.write('it.yaml', TRAP.replace(', dscp: 26', ''))).exited(0)
    yield from it('check', '--strict', TESTBEDS / 'two-tier.yaml').exited(0)


def tells_programs(it: Softspine) -> Problems:
    """--json: the warnings, and queue, priority group and priority of every link"""
    out = it('check', '--json', it.write('it.yaml', TRAP)).json()
    if [(w['line'], w['column'], w['path']) for w in out['warnings']] != [(6, 86, 'workload[0].dscp')]:
        yield f'{out["warnings"]}'
    links = it('check', '--json', it.write('it.yaml', TRAP.replace(', dscp: 26', ''))).json()['service']['workloads']['w']
    if (links['dscp'], links['dscp_given'], len(links['links'])) != (3, False, 4):
        yield f'{links}'
    first = {'from': 'h1:eth0', 'to': 'tor1:Ethernet0', 'queue': None, 'priority_group': 3, 'priorities': [3], 'credit': False,
             'marked': False, 'lossless': True}
    if first not in links['links'] or not all(link['lossless'] for link in links['links']):
        yield f'{links["links"]}'


def says_what_traffic_gets(it: Softspine) -> Problems:
    """a line for each tier that a workload goes through"""
    yield from it('check', it.write('it.yaml', TRAP.replace('dscp: 26', 'dscp: 3'))).says('WORKLOAD', 'tor          aggregation', 'lossless')
    yield from it('check', it.write('it.yaml', TRAP)).says('may drop')


def refuses_what_cannot_work(it: Softspine) -> Problems:
    """hosts without a way to each other: 2, and nothing starts"""
    file = it.write('it.yaml', APART)
    for command in ('check', 'run'):
        done = it(command, file)
        yield from done.exited(2)
        yield from done.complains('it.yaml:5:', 'workload[0]', 'h1 has no way to h2', 'nothing was started')


def warns_of_too_many_workers(it: Softspine) -> Problems:
    """more workers than cores are told"""
    file = it.write('it.yaml', FABRIC)
    done = it('check', file, '--workers', '128')
    yield from done.exited(0)
    yield from done.complains('run.workers: warning: 128 workers on')
    if 'workers' in it('check', file, '--workers', '1').err:
        yield 'one worker is too many'


if __name__ == '__main__':
    sys.exit(main([warns_with_its_place, is_strict_if_asked, tells_programs, says_what_traffic_gets, refuses_what_cannot_work,
                   warns_of_too_many_workers]))
