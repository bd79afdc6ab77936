# SPDX-License-Identifier: Apache-2.0
"""What a running fabric is asked and told: show, link, inject; and what its control socket bears."""
from __future__ import annotations

import os
import random
import re
import signal
import socket
import struct
import sys
import time
from pathlib import Path

from frames import ipv4
from softspine import Problems, Softspine, main

# 4 flows of 100 Mb/s from h1 to h3; h2 and h4 are silent.
FABRIC = '''name: running
run: {clock: wall, duration: 600s}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 40m}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h3], message: 1GiB, messages: 64, qps: 4, mtu: 1024, rate: 400Mbps}]
overrides: [{at: tor1, from: h2, to: h4, via: spine1}]
'''
TRAINING = 'training: [{name: gpt, layers: [{name: mlp, weight_gradient: {compute: 1us, op: all_reduce, size: 4KiB}}]}]\n'
WORDS = {  # of each thing's table
    'fabric': ['name: running', 'clock: wall'],
    'interfaces counters': ['IFACE', 'RX_OK', 'tor1', 'spine2'],
    'queue counters': ['QUEUE', 'WATERMARK', 'tor1'],
    'drops': ['REASON'],
    'hash counters': ['SHORT_KEYS', 'tor1'],
    'flows': ['WORKLOAD', 'h1', 'h3'],
    'flow paths': ['PATH', 'h1:eth0', 'tor2:Ethernet0', ' of 21 flows'],
    'collectives': ['COLLECTIVE', 'BUSBW_GB/s', 'all_reduce', '65,536'],
    'traces': ['TRACE', 'ENDED_US', 't  '],
    'training': ['TRAINING', 'gpt', 'data'],
    'steps': ['CAUSE', 'REASON', 'gpt'],
    'rank waits': ['CAUSE', 'REASON', 'gpt'],
    'rank spans': ['CAUSE', 'REASON', 'gpt'],
    'nccl-tests': ['# c', 'algbw', '65536'],
    'stacks': ['STACK', 'PEER_LINK'],
    'links': ['tor1:Ethernet0', 'h1:eth0', 'STATE'],
    'lags': ['LAG', 'MEMBER'],
    'ip route --node tor1': ['10.0.2.0/24', 'spine1 via Ethernet8, spine2 via Ethernet12'],
    'overrides --node tor1': ['10.0.2.3/32', 'spine1 via Ethernet8', 'file, line 5', 'in use'],
    'arp --node tor1': ['nothing'],
    'mac --node tor1': ['vlan', 'Ethernet0'],
    'thresholds --node tor1': [''],
    'hash groups --node tor1': ['over_expected', 'ecmp 0', '10.0.2.0/24', 'spine2'],
    'map': ['"testbed": "running"', '"Ethernet0"'],
    'loads': ['"at_ps"'],
    'pressure': ['"at_ps"'],
    'counters': ['SAI_PORT_STAT_IF_IN_OCTETS'],
    'report': ['"totals"'],
    'queue watermark unicast': ['Egress shared pool occupancy per unicast queue', 'UC7', 'tor1'],
    'priority-group watermark shared': ['Ingress shared pool occupancy per PG', 'PG7'],
    'priority-group watermark headroom': ['Ingress headroom per PG', 'PG7'],
    'priority-group drop counters': ['Ingress PG dropped packets', 'PG7'],
    'buffer_pool watermark': ['Shared pool maximum occupancy'],
    'headroom-pool watermark': ['Headroom pool maximum occupancy'],
    'pfc counters': ['tor1'],
    'pfcwd stats': ['QUEUE'],
    'nics': ['HOST'],
    'nic-ports': ['FROM_SWITCH(bytes)'],
    'devices': ['FRAME(B)'],
    'events': ['xoff_raised', 'A burst of drops of one reason is over.'],
}
SHOWN = [what.removesuffix(' --node tor1') for what in WORDS] + ['prometheus']
METRIC = re.compile(r'(?:softspine|nccl)_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? -?[0-9.e+-]+')


def fabric_of(it: Softspine) -> Path:
    return it.write('running.yaml', FABRIC)


def shows_each_thing(it: Softspine) -> Problems:
    """show: every thing as a table and as JSON"""
    it.write('t.goal', 'num_ranks 2\nrank 0 { send 5b to 1 }\nrank 1 { recv 5b from 0 }\n')
    fabric = it.write('shown.yaml', FABRIC + 'collectives: [{name: c, op: all_reduce, size: 64KiB}]\ntraces: [{name: t, file: t.goal}]\n' + TRAINING)
    with it.running(fabric, '--events', str(fabric.with_name('events.jsonl')), '--steps', str(fabric.with_name('steps.json'))):
        for what, words in WORDS.items():
            table = it('show', *what.split())
            yield from table.exited(0)
            yield from table.says(*words)
            facts = it('show', *what.split(), '--json')
            yield from facts.exited(0)
            if not isinstance(facts.json(), (dict, list)):
                yield f'show {what} --json is a {type(facts.json())}'
        for options in ([], ['--json'], ['--node', 'tor1']):
            lines = it('show', 'prometheus', *options).out.splitlines()
            wrong = [line for line in lines if not line.startswith(('# HELP', '# TYPE')) and not METRIC.fullmatch(line)]
            if wrong or len(lines) < 50:
                yield f'show prometheus {options}: {len(lines)} lines, no metric: {wrong[:3]}'
        flows = it.show('flows')['w']
        if flows['flows'] != 4 or flows['received_packets'] < 1:
            yield f'show flows: {flows}'


def views(it: Softspine) -> list[str]:
    return [view['view'] for view in it.show('views')]


def lists_its_views(it: Softspine) -> Problems:
    """show views: what the fabric can show, as its help says it; without a fabric what the program knows"""
    known = views(it)
    with it.running(fabric_of(it)):
        if views(it) != known:
            yield f'the fabric shows {views(it)}, the program {known}'
    if sorted(known) != sorted(SHOWN):
        yield f'not tested: {set(known) ^ set(SHOWN)}'
    yield from it('show', '--help').says(*known)
    yield from it('show', 'views').says(*known)


def filters_by_node(it: Softspine) -> Problems:
    """--node shows that node alone; a wrong node or thing is named, with what there is"""
    with it.running(fabric_of(it)):
        if list(it.show('interfaces', 'counters', '--node', 'tor2')) != ['tor2']:
            yield 'interfaces counters --node tor2 shows others'
        ends = [(name.split(':')[0], it_['to'].split(':')[0]) for name, it_ in it.show('links', '--node', 'spine1').items()]
        if not ends or any('spine1' not in pair for pair in ends):
            yield f'links --node spine1 shows {ends}'
        if list(it.show('flows', '--node', 'h2')):
            yield 'flows --node h2 shows flows of others'
        for arguments, said in ((['flows', '--node', 'tor9'], ["there is no node 'tor9'"]), (['ip', 'route'], ['--node']),
                                (['ip', 'route', '--node', 'h1'], ['h1 is a host']),
                                (['flies'], ["there is no 'flies' to show", 'flows', 'ip route']), (['ip'], ['ip route']),
                                (['link'], ["did you mean 'links'?"]),
                                (['flows', '--fabric', 'other'], ['no fabric is running here'])):
            done = it('show', *arguments)
            yield from done.exited(2)
            yield from done.complains(*said)


def shows_again_and_again(it: Softspine) -> Problems:
    """show --every goes on until the fabric ends, which is no error"""
    with it.running(fabric_of(it), '--duration', '3s') as run:
        done = it('show', 'fabric', '--every', '200ms', '--fabric', 'running')
        yield from run.end().exited(0)
    yield from done.exited(0)
    if done.out.count('now_ps') < 3:
        yield f'shown {done.out.count("now_ps")} times'


def spine_packets(it: Softspine) -> dict[str, int]:
    return {name: facts['rx_packets'] for name, facts in it.show('interfaces', 'counters').items() if name.startswith('spine')}


def grown(it: Softspine, seconds: float = 1) -> tuple[dict[str, int], int]:
    """By how much each spine's count and the flows' has grown."""
    before, received = spine_packets(it), it.show('flows')['w']['received_packets']
    time.sleep(seconds)
    after = spine_packets(it)
    return {name: after[name] - before[name] for name in after}, it.show('flows')['w']['received_packets'] - received


def takes_a_link_down(it: Softspine) -> Problems:
    """link down: the link's state, the routes and the traffic follow; up: they come back"""
    with it.running(fabric_of(it)) as run:
        yield from it('link', 'tor1:Ethernet8', 'down').says('1 link down')
        links = it.show('links')
        if [links[end]['up'] for end in ('tor1:Ethernet8', 'spine1:Ethernet0', 'tor1:Ethernet12')] != [False, False, True]:
            yield 'show links does not show it'
        route = [r for r in it.show('ip', 'route', '--node', 'tor1') if r['destination'] == '10.0.2.0/24']
        if route[0]['next_hops'] != 'spine2 via Ethernet12':
            yield f'the route is {route}'
        spines, received = grown(it)
        if spines['spine1'] != 0 or spines['spine2'] < 1000 or received < 1000:
            yield f'with spine1 cut off: {spines}, {received} received'
        yield from it('link', 'tor1:Ethernet8', 'up').exited(0)
        yield from it('link', 'spine2', 'down').says('spine2: 2 links down')
        spines, received = grown(it)
        if spines['spine2'] != 0 or spines['spine1'] < 1000 or received < 1000:
            yield f'with spine2 down: {spines}, {received} received'
        yield from it('link', 'spine2', 'up').says('spine2: 2 links up')
        route = [r for r in it.show('ip', 'route', '--node', 'tor1') if r['destination'] == '10.0.2.0/24']
        if route[0]['next_hops'] != 'spine1 via Ethernet8, spine2 via Ethernet12':
            yield f'all up again, the route is {route}'
        for arguments, said in ((['tor9', 'down'], "there is no node 'tor9'"), (['tor1:Ethernet9', 'up'], 'no port Ethernet9'),
                                (['tor1:', 'up'], 'no port')):
            done = it('link', *arguments)
            yield from done.exited(2)
            yield from done.complains(said)
        done = run.end(signal.SIGINT)
        yield from done.exited(0)


def udp_frame(mac: str, source: str, destination: str, payload: bytes) -> bytes:
    udp = struct.pack('!4H', 5000, 6000, 8 + len(payload), 0) + payload
    packet = ipv4(socket.inet_aton(source), socket.inet_aton(destination), 17, udp)
    return bytes.fromhex(mac.replace(':', '')) + bytes.fromhex('0200000000aa0800') + packet


def pcap(path: Path, frames: list[bytes], lengths: list[int] | None = None) -> Path:
    with path.open('wb') as file:
        file.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for frame, length in zip(frames, lengths or map(len, frames)):
            file.write(struct.pack('<IIII', 1, 0, len(frame), length) + frame)
    return path


def frame_from_h2_to_h4(it: Softspine) -> bytes:
    nodes = {node['name']: node for node in it('check', 'running.yaml', '--json', '--nodes').json()['fabric']}
    return udp_frame(nodes['tor1']['ports'][0]['mac'], nodes['h2']['ipv4'], nodes['h4']['ipv4'], b'x' * 100)


def injects_frames(it: Softspine) -> Problems:
    """inject: the frames of a capture arrive at the port, are counted, and go where they belong"""
    with it.running(fabric_of(it)) as run:
        frame = frame_from_h2_to_h4(it)
        done = it('inject', 'tor1:Ethernet4', pcap(it.folder / 'f.pcap', [frame] * 50))
        yield from done.exited(0)
        yield from done.says('50 frames arrived at tor1:Ethernet4')
        if it('inject', 'tor1:Ethernet4', 'f.pcap', '--json').json() != {'injected_packets': 50, 'under_way_packets': 0}:
            yield 'inject --json does not say how many'
        counters = it.show('counters')
        found = (counters['tor1']['Ethernet4']['SAI_PORT_STAT_IF_IN_UCAST_PKTS'],
                 counters['tor2']['Ethernet4']['SAI_PORT_STAT_IF_OUT_UCAST_PKTS'])
        if found != (100, 100):
            yield f'of 100 frames injected at tor1:Ethernet4, in and out at tor2:Ethernet4: {found}'
        for name, bytes_, length, said in (('cut', frame, 2000, 'cut'), ('short', frame[:13], 13, '14'),
                                           ('huge', bytes(20000), 20000, 'not 20000')):
            wrong = it('inject', 'tor1:Ethernet4', pcap(it.folder / f'{name}.pcap', [bytes_], [length]))
            yield from wrong.exited(2)
            yield from wrong.complains(said)
        yield from it('inject', 'tor1:Ethernet4', pcap(it.folder / 'odd.pcap', [os.urandom(n) for n in range(14, 214)])).exited(0)
        for port, said in (('tor1', 'NODE:PORT'), ('tor9:Ethernet0', "no node 'tor9'"), ('tor1:x', 'no port x')):
            wrong = it('inject', port, 'f.pcap')
            yield from wrong.exited(2)
            yield from wrong.complains(said)
        it('link', 'tor1:Ethernet4', 'down')
        yield from it('inject', 'tor1:Ethernet4', 'f.pcap').complains('the link is down')
        if not it.show('report')['totals']['balanced']:
            yield 'counters are not balanced'
        yield from run.end(signal.SIGINT).exited(0)


def rate_now(it: Softspine, seconds: float) -> tuple[float, float]:
    """Packets received in a second of the machine's time: between what is surely too low and surely too high."""
    a = time.monotonic()
    before = it.show('flows')['w']['received_packets']
    b = time.monotonic()
    time.sleep(seconds)
    c = time.monotonic()
    after = it.show('flows')['w']['received_packets']
    d = time.monotonic()
    return (after - before) / (d - a), (after - before) / (c - b)


def bears_abuse(it: Softspine) -> Problems:
    """garbage and 1,000 connections at the control socket: the flows keep their rate, the counters balance"""
    expected = 400e6 / 8 / (1024 + 58 + 24)
    rng = random.Random(1)
    with it.running(fabric_of(it)) as run:
        path = str(it.sockets / 'running.sock')
        crowd = []
        for n in range(1000):
            one = socket.socket(socket.AF_UNIX)
            one.settimeout(5)
            one.connect(path)
            one.sendall((rng.randbytes(200), b'{"command": "show ', b'[' * 1000 + b'\n', b'{"command": "show report"}\n')[n % 4])
            crowd.append(one)
        low, high = rate_now(it, 3)
        if not low * 0.97 <= expected <= high * 1.03:
            yield f'{low:.0f} to {high:.0f} packets a second instead of {expected:.0f}'
        for one in crowd:
            one.close()
        report = it.show('report')
        if not report['totals']['balanced'] or report['flows']['w']['missing_packets'] or report['totals']['dropped_packets']:
            yield f'totals: {report["totals"]}'
        done = run.end(signal.SIGINT)
        yield from done.exited(0)


if __name__ == '__main__':
    sys.exit(main([shows_each_thing, lists_its_views, filters_by_node, shows_again_and_again, takes_a_link_down, injects_frames, bears_abuse]))
