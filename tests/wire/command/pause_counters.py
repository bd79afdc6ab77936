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
            if hosts != roots or said['roots'] or said['unread']:
                yield f'{name} {more}: hosts {hosts}, roots {said["roots"]}, unread {said["unread"]}: it is {roots}, and switches may be'
            if said['notes']:
                yield f'{name} {more}: notes {said["notes"]}'


def names_no_root_that_was_not_read(it: Softspine) -> Problems:
    """each node alone, each host with its switch, all but one host: with the testbed or without, no root is named in place of one that was not read"""
    for name in ('storm', 'two-storms', 'healthy'):
        testbed, nodes, roots = counted(it, name)
        given = dict(zip(nodes, readings(it, nodes)))
        hosts = [node for node in nodes if node.startswith('h')]
        sets = [[node] for node in nodes] + [[host, f'tor{(int(host[1:]) + 3) // 4}'] for host in hosts]
        sets += [[node for node in nodes if node != host] for host in hosts]
        for read in sets:
            for more in ((), ('--testbed', testbed)):
                done = it('pause-counters', *(given[node] for node in read), *more, '--json')
                yield from done.exited(0)
                said = done.json()
                if said['roots']:
                    yield f'{name} {read} {more}: roots {said["roots"]}, but it is {roots}'
                missed = [root for root in roots if more and not any(it['node'] == root and it['root'] == 'can be' for it in said['suspects']) and root not in said['unread']]
                if missed:
                    yield f'{name} {read} {more}: {missed} is excluded: {said["suspects"]} {said["unread"]}'


def tells_an_unread_host_by_its_switch(it: Softspine) -> Problems:
    """h1 asked 3 times, an unread h2 asked tor1 100,000 times: h1 is not the root; the testbed says who may be"""
    none, few, many = [0] * 8, [0, 0, 0, 3, 0, 0, 0, 0], [0, 0, 0, 100_000, 0, 0, 0, 0]
    before = it.write('before', sonic({port: {'Rx': none, 'Tx': none} for port in ('Ethernet0', 'Ethernet4')}))
    after = it.write('after', sonic({'Ethernet0': {'Rx': few, 'Tx': none}, 'Ethernet4': {'Rx': many, 'Tx': none}}))
    switch = f'tor1={before},{after}'
    host = f'h1:eth0={it.write("h.before", ethtool({"Rx": none, "Tx": none}))},{it.write("h.after", ethtool({"Rx": none, "Tx": few}))}'
    known = ('--testbed', single.TESTBEDS / 'pfc-storm.yaml')
    done = it('pause-counters', switch, host)
    yield from done.says('cannot be known', '3 were sent by what was read, 100003 received')
    done = it('pause-counters', switch, host, *known, '--json').json()
    if done['roots'] or [(s['node'], s['asked_frames']) for s in done['suspects'] if s['root'] == 'can be'] != [('h2', 100_000), ('h1', 3)]:
        yield f'with the testbed: {done}'
    for more in ((), known):
        alone = it('pause-counters', host, *more)
        yield from alone.says('cannot be known by these counters alone')
    yield from it('pause-counters', host, *known).says('any of them may be the root: h2, h3')


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


def judges_link_level_pause_by_itself(it: Softspine) -> Problems:
    """PAUSE of mlx5 (one count by two names), ice and bnxt: of the whole link, not of a priority"""
    for before, after, asked, was_asked in (
            ('rx_pause_ctrl_phy: 1000\ntx_pause_ctrl_phy: 50\nrx_global_pause: 1000\ntx_global_pause: 50\n',
             'rx_pause_ctrl_phy: 401000\ntx_pause_ctrl_phy: 50\nrx_global_pause: 401000\ntx_global_pause: 50\n', 0, 400000),
            ('port.link_xoff_rx: 1\nport.link_xon_rx: 1\nport.link_xoff_tx: 0\n', 'port.link_xoff_rx: 4\nport.link_xon_rx: 3\nport.link_xoff_tx: 7\n', 7, 5),
            ('rx_pause_frames: 0\ntx_pause_frames: 0\n', 'rx_pause_frames: 0\ntx_pause_frames: 9\n', 9, 0)):
        files = f'{it.write("nic.before", before)},{it.write("nic.after", after)}'
        suspects = json.loads(it('pause-counters', f'h1:eth0={files}', '--json').out)['suspects']
        if [(each['priority'], each['of'], each['asked_frames'], each['was_asked_frames']) for each in suspects] != [(None, 'link-level PAUSE', asked, was_asked)]:
            yield f'{after}: {suspects}'
        yield from it('pause-counters', f'h1:eth0={files}').says(' all  ')


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
    sys.exit(main([suspects_no_wrong_root, names_no_root_that_was_not_read, tells_an_unread_host_by_its_switch, knows_the_root_if_nobody_else_can_be,
                   judges_link_level_pause_by_itself, refuses_what_it_cannot_use]))
