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


def sonic_switch(name: str, kind: str, neighbours: dict[str, tuple[str, str]], **more: object) -> dict:
    return {'DEVICE_METADATA': {'localhost': {'hostname': name, 'type': kind}},
            'PORT': {port: {'speed': '100000'} for port in neighbours},
            'DEVICE_NEIGHBOR': {port: {'name': peer, 'port': there} for port, (peer, there) in neighbours.items()}, **more}


def sonic_files_are_profiles(it: Softspine) -> Problems:
    """each SONiC switch has its own file's hash, QoS and subnet; what is left out is named; a file that a profile refuses is not attached"""
    folder = it.folder / 'switches'
    folder.mkdir()
    maps = {'DSCP_TO_TC_MAP': {'AZURE': {'26': '3'}}, 'TC_TO_QUEUE_MAP': {'AZURE': {'3': '3'}},
            'PORT_QOS_MAP': {'global': {'dscp_to_tc_map': 'AZURE', 'tc_to_queue_map': 'AZURE'}}}
    types = {'DEVICE_NEIGHBOR_METADATA': {f'Servers{n}': {'type': 'Server'} for n in range(4)}}
    switches = {}
    for n in (1, 2):
        ports = {f'Ethernet{8 + 4 * h}': (f'Servers{2 * n - 2 + h}', 'eth0') for h in (0, 1)}
        uplinks = {f'Ethernet{4 * leaf}': (f'leaf{leaf + 1}', f'Ethernet{4 * n - 4}') for leaf in (0, 1)}
        switches[f'tor{n}'] = sonic_switch(f'tor{n}', 'ToRRouter', uplinks | ports, **maps, **types, BGP_NEIGHBOR={'10.0.0.1': {'asn': '65100'}},
                                           VLAN_INTERFACE={'Vlan1000': {}, f'Vlan1000|172.16.{n}.1/24': {}})
    for n in (1, 2):
        down = {f'Ethernet{4 * tor}': (f'tor{tor + 1}', f'Ethernet{4 * n - 4}') for tor in (0, 1)}
        switches[f'leaf{n}'] = sonic_switch(f'leaf{n}', 'LeafRouter', down, **maps)
    files = []
    for name, config in switches.items():
        files.append(folder / f'{name}.json')
        files[-1].write_text(json.dumps(config))
    out = it.folder / 'pod.yaml'
    done = it('import', 'sonic', *files, '-o', out)
    yield from done.exited(0)
    yield from done.complains('left out, since nothing here depends on it: BGP_NEIGHBOR (of 2 files)')
    text = out.read_text()
    for name in switches:
        yield from check(f'  {name}: {{config_db: "switches/{name}.json"}}' in text, f'no profile of {name}: {text}')
    yield from check('# Left out, since nothing here depends on it: BGP_NEIGHBOR (of 2 files).' in text, text)
    # The seeds that SONiC makes of the types: ToRRouter 0, LeafRouter 10 with the offset 10. Queue 3 by the file's maps.
    hops = it('explain', out, '--from', 'Servers0', '--to', 'Servers3', '--json').json()
    yield from check(hops['hops'][0]['hash']['seed'] == 0, f'{hops["hops"][0]}')
    answer = it('check', out, '--json').json()
    yield from check(answer['nodes'] == {'aggregation': 2, 'tor': 2, 'host': 4}, f'{answer["nodes"]}')
    links = answer['service']['workloads']['permutation']['links']
    queues = {link['queue'] for link in links if not link['from'].startswith('Servers')}
    yield from check(queues == {3}, f'DSCP 26 is in the queues {queues}')
    nodes = {node['name']: node for node in it('check', out, '--nodes', '--json').json()['fabric']}
    yield from check(nodes['Servers3']['ipv4'].startswith('172.16.2.'), f'{nodes["Servers3"]["ipv4"]}')
    yield from it('run', out, '--quiet').exited(0)
    # A map that no profile takes.
    switches['leaf2']['DSCP_TO_TC_MAP'] = {'AZURE': {'26': 'nine'}}
    files[-1].write_text(json.dumps(switches['leaf2']))
    done = it('import', 'sonic', *files, '-o', out)
    yield from done.exited(0)
    yield from done.complains("the file is not attached to 'leaf2'")
    yield from check('leaf2: {config_db' not in out.read_text() and 'leaf1: {config_db' in out.read_text(), out.read_text())


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
    sys.exit(main([a_small_file_runs, the_fat_tree_runs, sonic_files_are_profiles, refuses]))
