# SPDX-License-Identifier: Apache-2.0
"""A host of two edges on two ToRs: LACP with whoever is behind them, and what follows when he falls silent.

The partner is one of the tests' own (bonded_hosts.py), on the kernel's side of the TAPs."""
from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from carriers import becomes, inside, need_root
from softspine import Problems, Run, Softspine, main

TESTBED = '''name: bond
run: {{clock: wall, duration: 5min}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    tor2: {{kind: switch, role: tor}}
    tor3: {{kind: switch, role: tor}}
    spine1: {{kind: switch, role: aggregation}}
    h1: {{kind: host, mac: "02:00:00:00:aa:01", edge: [{{tap: {{name: bond0a}}}}, {{tap: {{name: bond0b}}}}]{bond}}}
    h2: {{kind: host, mac: "02:00:00:00:aa:02", edge: {{tap: {{name: far0}}}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 10Gbps, mtu: 1500}}
    - {{endpoints: [tor2, h1], rate: 10Gbps, mtu: 1500}}
    - {{endpoints: [tor3, h2], rate: 10Gbps, mtu: 1500}}
    - {{endpoints: [tor1, spine1], rate: 40Gbps, mtu: 1500}}
    - {{endpoints: [tor2, spine1], rate: 40Gbps, mtu: 1500}}
    - {{endpoints: [tor3, spine1], rate: 40Gbps, mtu: 1500}}
'''
SYSTEM = '00005e000101'  # 00:00:5E:00:01:01: all ToRs are one system to a host
FLOWS = 64


class Hosts:
    def __init__(self, run: Run, nodes: dict) -> None:
        script = Path(__file__).with_name('bonded_hosts.py')
        given = []
        for name, interfaces in (('h1', 'bond0a,bond0b'), ('h2', 'far0')):
            node = nodes[name]
            gateway = node['ipv4'].rpartition('.')[0] + '.1'
            given.append(f'{name}={node["ports"][0]["mac"]},{node["ipv4"]},{gateway},{interfaces}')
        self.process = subprocess.Popen(['nsenter', '-t', str(run.process.pid), '-n', sys.executable, '-B', str(script), *given],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, command: str) -> dict:
        self.process.stdin.write(command + '\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def meet(self) -> Problems:
        """Each port asks for its gateway, which then knows who is there."""
        self.ask('meet h1')
        self.ask('meet h2')
        yield from becomes('the gateways that have answered', lambda: [port['met'] for ports in self.ask('state').values() for port in ports], [True] * 3)

    def received(self) -> list[int]:
        return [port['packets'] for port in self.ask('state')['h1']]

    def arrive(self, flows: int) -> list[int]:
        """How many of so many packets to h1 came by each of its ports: asked until all did, or two seconds are over."""
        before = self.received()
        self.ask(f'send h2 {flows} h1')
        until = time.monotonic() + 2
        while True:
            came = [now - then for now, then in zip(self.received(), before)]
            if sum(came) >= flows or time.monotonic() > until:
                return came
            time.sleep(0.02)


@contextmanager
def running(it: Softspine, bond: str) -> Iterator[tuple[Run, Hosts]]:
    file = it.write('bond.yaml', TESTBED.format(bond=bond))
    nodes = {node['name']: node for node in it('check', file, '--nodes', '--json').json()['fabric']}
    with it.running(file, '--report', 'report.json', before=('unshare', '--net')) as run:
        hosts = Hosts(run, nodes)
        try:
            yield run, hosts
        finally:
            hosts.process.stdin.close()
            hosts.process.wait(10)


def lacp(it: Softspine) -> Problems:
    """both ToRs answer as one system; a port that falls silent is left out of the routes, and is back when it speaks"""
    need_root()
    with running(it, '') as (run, hosts):
        both = lambda: [port['in_sync'] and port['partner']['state'] & 56 == 56 for port in hosts.ask('state')['h1']]  # noqa: E731
        for port in (0, 1):
            hosts.ask(f'speak h1 {port}')
        yield from becomes('both ports in sync, collecting and distributing', both, [True, True])
        partners = [port['partner'] for port in hosts.ask('state')['h1']]
        if [p['system'] for p in partners] != [SYSTEM] * 2 or partners[0]['key'] != partners[1]['key'] or partners[0]['port'] == partners[1]['port']:
            yield f'the ToRs say {partners}'
        yield from hosts.meet()
        came = hosts.arrive(FLOWS)
        if sum(came) != FLOWS or min(came) < FLOWS / 8:
            yield f'of {FLOWS} flows to both ports came {came}'
        hosts.ask('silent h1 0')
        yield from becomes('of 8 flows by the port that still speaks', lambda: hosts.arrive(8), [0, 8])
        hosts.ask('speak h1 0')
        yield from becomes('both ports again', both, [True, True])
        yield from becomes('flows by both ports again', lambda: min(hosts.arrive(FLOWS)) > 0, True)
        inside(run, 'ip', 'link', 'set', 'bond0b', 'down')
        yield from becomes('of 8 flows by the port with a carrier', lambda: hosts.arrive(8), [8, 0])
        yield from run.end(signal.SIGINT).exited(0)
    edges = json.loads((it.folder / 'report.json').read_text())['edges']
    if not {'h1:eth0', 'h1:eth1'} <= edges.keys():
        yield f'the report has the edges {list(edges)}'


def without_lacp(it: Softspine) -> Problems:
    """mode: balance-xor: nobody speaks LACP, and both ports are used at once"""
    need_root()
    with running(it, ', bond: {mode: balance-xor}') as (run, hosts):
        yield from hosts.meet()
        yield from becomes('flows by both ports', lambda: min(hosts.arrive(FLOWS)) > 0, True)
        if any(port['partner'] for port in hosts.ask('state')['h1']):
            yield 'a switch has sent a LACPDU'
        yield from run.end(signal.SIGINT).exited(0)


if __name__ == '__main__':
    sys.exit(main([lacp, without_lacp]))
