# SPDX-License-Identifier: Apache-2.0
"""softspine pause-counters: readings of our own runs, in the forms of SONiC and ethtool, and who can be the root."""
from __future__ import annotations

import json
import sys
from pathlib import Path

import storm_captures as single
from softspine import Problems, Softspine, main

PRIORITIES = range(8)


def sonic(ports: dict[str, dict[str, list[int]]], watchdog: str = '') -> str:
    """show pfc counters: a table of what was received, one of what was sent."""
    out = 'admin@tor1:~$ show pfc counters\n'
    for way in ('Rx', 'Tx'):
        out += f'  Port {way}    ' + '    '.join(f'PFC{n}' for n in PRIORITIES) + '\n-----------  ' + '  '.join(['------'] * 8) + '\n'
        for port, counts in ports.items():
            out += f'{port:>11}  ' + '  '.join(f'{n:>6,}' for n in counts[way]) + '\n'
        out += '\n'
    return out + watchdog


def ethtool(counts: dict[str, list[int]]) -> str:
    lines = ['NIC statistics:', '     rx_packets: 1234', '     rx_prio3_bytes: 99', '     rx_prio3_pause_transition: 7']
    for way in ('Rx', 'Tx'):
        for n in PRIORITIES:
            lines += [f'     {way.lower()}_prio{n}_pause: {counts[way][n]}', f'     {way.lower()}_prio{n}_pause_duration: {counts[way][n] * 9}']
    return '\n'.join(lines) + '\n'


def counted(it: Softspine, name: str) -> tuple[object, dict[str, dict[str, dict[str, list[int]]]], set[str]]:
    """Of each node's ports: the PFC frames that the run counted."""
    source, roots, _ = single.RUNS[name]
    testbed = source if isinstance(source, Path) else it.write(f'{name}.yaml', source)
    it('run', testbed, '--capture', f'{name}.pcapng', '--capture-filter', 'ether proto 0x8808', '--quiet', '--report', f'{name}.json')
    frames, peers = single.read_pcapng(it.folder / f'{name}.pcapng')
    nodes: dict[str, dict[str, dict[str, list[int]]]] = {}
    for port in peers:
        node, own = port.split(':')
        nodes.setdefault(node, {})[own] = {'Rx': [0] * 8, 'Tx': [0] * 8}
    for frame in frames:
        for priority in PRIORITIES:
            if frame.bytes[17] >> priority & 1:
                node, own = frame.port.split(':')
                nodes[node][own]['Tx'][priority] += 1
                node, own = peers[frame.port].split(':')
                nodes[node][own]['Rx'][priority] += 1
    return testbed, nodes, roots


def plus(ports: dict[str, dict[str, list[int]]], base: int) -> dict[str, dict[str, list[int]]]:
    return {port: {way: [n + base for n in counts] for way, counts in both.items()} for port, both in ports.items()}


def readings(it: Softspine, nodes: dict[str, dict[str, dict[str, list[int]]]]) -> list[str]:
    """Each counter had 123,456 before the run."""
    out = []
    for node, ports in nodes.items():
        is_host = node.startswith('h')
        files = []
        for when, shown in (('before', plus({port: {'Rx': [0] * 8, 'Tx': [0] * 8} for port in ports}, 123456)), ('after', plus(ports, 123456))):
            files.append(str(it.write(f'{node}.{when}', ethtool(shown['eth0']) if is_host else sonic(shown))))
        out.append(f'{node}{":eth0" if is_host else ""}={",".join(files)}')
    return out


def suspects_no_wrong_root(it: Softspine) -> Problems:
    """of each run: the roots can be it, whoever asked nobody cannot, and nobody else is named"""
    for name in single.RUNS:
        testbed, nodes, roots = counted(it, name)
        given = readings(it, nodes)
        for more in ((), ('--testbed', testbed)):
            done = it('pause-counters', *given, *more, '--json')
            yield from done.exited(0)
            said = done.json()
            of = {suspect['node']: suspect['root'] for suspect in said['suspects']}
            silent = {node for node, ports in nodes.items() if not any(sum(both['Tx']) for both in ports.values())}
            if any(of[node] != 'cannot be' for node in silent):
                yield f'{name} {more}: {of}, but {silent} asked nobody'
            if any(of[root] != 'can be' for root in roots):
                yield f'{name} {more}: {of}, but it is {roots}'
            hosts = {node for node, word in of.items() if word == 'can be' and node.startswith('h')}
            if hosts != roots or not {root.split(',')[0] for root in said['roots']} <= roots | {'tor1'}:
                yield f'{name} {more}: hosts {hosts}, roots {said["roots"]}, but it is {roots}'
            if said['notes']:
                yield f'{name} {more}: notes {said["notes"]}'


def knows_the_root_if_nobody_else_can_be(it: Softspine) -> Problems:
    """a host and its switch: the host alone asked; a switch that passes it on besides cannot be excluded"""
    none = {'Rx': [0] * 8, 'Tx': [0] * 8}
    paused = {'Rx': [0, 0, 0, 54, 0, 0, 0, 0], 'Tx': [0] * 8}
    asks = {'Rx': [0] * 8, 'Tx': paused['Rx']}
    before = it.write('before', sonic({'Ethernet0': none, 'Ethernet4': none}))
    stormed = '       QUEUE       STATUS    STORM DETECTED/RESTORED    TX OK/DROP\n-----------  -----------  -------------------------  ---------\nEthernet0:3      stormed                        2/1        0/7\n'
    alone = it.write('alone', sonic({'Ethernet0': paused, 'Ethernet4': none}, stormed))
    passed = it.write('passed', sonic({'Ethernet0': paused, 'Ethernet4': asks}))
    host = f'h1:eth0={it.write("h.before", ethtool(none))},{it.write("h.after", ethtool(asks))}'
    done = it('pause-counters', f'tor1={before},{alone}', host)
    yield from done.exited(0)
    yield from done.says('The root is h1, priority 3', 'the watchdog of tor1:Ethernet0 found 2 storms of queue 3, and one is not over')
    done = it('pause-counters', f'tor1={before},{passed}', host)
    yield from done.says('cannot be known by these counters alone', 'was paused at Ethernet0 as well')


def refuses_what_it_cannot_use(it: Softspine) -> Problems:
    """not counters, backwards, of another fabric, without a port: 2, and why"""
    good = sonic({'Ethernet0': {'Rx': [0] * 8, 'Tx': [5] * 8}})
    less = sonic({'Ethernet0': {'Rx': [0] * 8, 'Tx': [4] * 8}})
    it.write('good', good)
    it.write('less', less)
    it.write('text', 'hello\n')
    it.write('wrong', good.replace('     5', '     x'))
    it.write('nic', ethtool({'Rx': [0] * 8, 'Tx': [0] * 8}))
    at = it.folder
    for reading, said in (('tor1', 'write NODE=BEFORE,AFTER'), (f'tor1={at}/good,{at}/none', 'No such file'), (f'tor1={at}/text,{at}/text', 'no pause counters'),
                          (f'tor1={at}/good,{at}/less', 'went backwards'), (f'tor1={at}/wrong,{at}/good', "'x' is no number"), (f'tor1={at},{at}', 'is a directory'),
                          (f'h1={at}/nic,{at}/nic', 'write NODE:PORT=')):
        done = it('pause-counters', reading)
        yield from done.exited(2)
        yield from done.complains(said)
    done = it('pause-counters', f'x9={at}/good,{at}/good', '--testbed', single.TESTBEDS / 'pfc-storm.yaml')
    yield from done.exited(2)
    yield from done.complains('x9 is no node of pfc-storm')
    if json.loads(it('pause-counters', f'tor1={at}/good,{at}/good', '--json').out)['headline'] != 'No pauses were counted':
        yield 'sees pauses where nothing was added'


if __name__ == '__main__':
    sys.exit(main([suspects_no_wrong_root, knows_the_root_if_nobody_else_can_be, refuses_what_it_cannot_use]))
