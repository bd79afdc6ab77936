# SPDX-License-Identifier: Apache-2.0
"""`model: OVS` against a running Open vSwitch: packets through a select group of its userspace datapath, and explain.

Needs root, a network namespace of its own, and Debian's openvswitch-switch, installed or as `tools/install tests` unpacks it.
No service of the system is asked or changed.
"""
from __future__ import annotations

import copy
import ctypes
import json
import multiprocessing
import os
import random
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from frames import ipv4
from linux_multipath import CLONE_NEWNET, PROTOCOLS, ROUTER, ipv6, layer4, pcap_of
from softspine import Problems, Skip, Softspine, main

WEIGHTS = [1, 3, 2, 1, 5, 1, 4]
PACKETS = 80  # of each kind
FRAGMENTS = [0x2000, 0x2004, 0x0004, 0]  # of a flow's: first, later, last; and a whole packet
TO = {4: '10.0.2.2', 6: 'fd00:0:0:2::2'}
CACHE = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'softspine' / 'packages'
PARTS = {'server': 'usr/sbin/ovsdb-server', 'daemon': 'usr/lib/openvswitch-switch/ovs-vswitchd', 'tool': 'usr/bin/ovsdb-tool',
         'vsctl': 'usr/bin/ovs-vsctl', 'ofctl': 'usr/bin/ovs-ofctl', 'schema': 'usr/share/openvswitch/vswitch.ovsschema'}


@dataclass
class Case:
    """`group`: how the group is told of the algorithm; `profile`: how we are. `dead`: a way whose port is down, if any."""
    version: int
    group: str
    profile: str
    dead: int | None = None


def case_of(version: int, algorithm: int, basis: int, dead: int | None = None) -> Case:
    """The upper half of selection_method_param is the algorithm: 0 is L4, 1 is SYM_L4."""
    return Case(version, f'selection_method=dp_hash,selection_method_param={algorithm << 32 | basis}',
                f'{{model: OVS, algorithm: {("L4", "SYM_L4")[algorithm]}, seed: {basis}}}', dead)


CASES = {
    # What OVS takes for a group that says nothing of a method.
    'unsaid': [Case(version, '', '{model: OVS}') for version in (4, 6)],
    'l4': [case_of(version, 0, basis) for version in (4, 6) for basis in (0, 77)],
    'symmetric': [case_of(version, 1, basis) for version in (4, 6) for basis in (1, 0xfedcba98)],
    'dead': [case_of(4, 0, 5, dead) for dead in (1, 4)],
}


def parts() -> dict[str, str]:
    """Where OVS's programs are."""
    out = {}
    for name, path in PARTS.items():
        roots = [Path('/'), CACHE / 'openvswitch-switch', CACHE / 'openvswitch-common']
        found = [root / path for root in roots if (root / path).exists()]
        if not found:
            raise Skip(f'no /{path}: tools/install tests')
        out[name] = str(found[0])
    return out


def frames(case: Case) -> list[bytes]:
    """Of every kind, from anywhere to one host; the last bytes of the source say which one it is."""
    chance = random.Random(case.group + str(case.version))
    to = ip_address(TO[case.version]).packed
    out = []
    for kind, protocol in PROTOCOLS.items():
        if case.version == 6 and kind in ('fragment', 'icmp'):
            continue
        for number in range(PACKETS):
            payload = layer4(kind, chance)
            if case.version == 4:
                fragment = FRAGMENTS[number % len(FRAGMENTS)] if kind == 'fragment' else 0
                packet = b'\x08\x00' + ipv4(bytes([10, 200]) + chance.randbytes(2), to, protocol, payload, fragment)
            else:
                packet = b'\x86\xdd' + ipv6(b'\xfd\x77' + chance.randbytes(14), to, protocol, payload, chance.randrange(1 << 20))
            out.append(bytes.fromhex(ROUTER.replace(':', '')) + bytes.fromhex('0200000000fe') + packet)
    return out


def wait_for(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists():
        if time.monotonic() > until:
            raise AssertionError(f'{path.name} does not come')
        time.sleep(0.05)


@contextmanager
def bridge(it: Softspine, case: Case) -> Iterator[None]:
    """Of OVS, between w7 and w0 to w6: what comes from w7 goes to a group of the others."""
    ovs, folder = parts(), it.folder
    env = {**it.env, **{f'OVS_{word}DIR': str(folder) for word in ('RUN', 'LOG', 'DB')}}

    def run(*words: object) -> None:
        subprocess.run([str(word) for word in words], env=env, check=True, capture_output=True, timeout=60)

    def begin(*words: object) -> subprocess.Popen[bytes]:
        with open(folder / 'ovs.log', 'ab') as log:
            return subprocess.Popen([str(word) for word in words], env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    ways = range(len(WEIGHTS) + 1)
    for i in ways:
        run('ip', 'link', 'add', f'v{i}', 'type', 'veth', 'peer', 'name', f'w{i}')
        for end in (f'v{i}', f'w{i}'):
            Path(f'/proc/sys/net/ipv6/conf/{end}/disable_ipv6').write_text('1')
            run('ip', 'link', 'set', end, 'up')
    started = []
    try:
        run(ovs['tool'], 'create', folder / 'conf.db', ovs['schema'])
        started.append(begin(ovs['server'], folder / 'conf.db', f'--remote=punix:{folder}/db.sock', f'--unixctl={folder}/db.ctl'))
        wait_for(folder / 'db.sock')
        vsctl = [ovs['vsctl'], '--timeout=30', f'--db=unix:{folder}/db.sock']
        run(*vsctl, '--no-wait', 'init')
        started.append(begin(ovs['daemon'], f'unix:{folder}/db.sock', f'--unixctl={folder}/switch.ctl'))
        run(*vsctl, 'add-br', 'br0', '--', 'set', 'bridge', 'br0', 'datapath_type=netdev', 'fail_mode=secure')
        for i in ways:
            run(*vsctl, 'add-port', 'br0', f'v{i}', '--', 'set', 'interface', f'v{i}', f'ofport_request={i + 1}')
        buckets = ','.join(f'bucket=bucket_id:{i},weight:{weight},watch_port:{i + 1},actions=output:{i + 1}' for i, weight in enumerate(WEIGHTS))
        ofctl = [ovs['ofctl'], '-O', 'OpenFlow15']
        run(*ofctl, 'add-group', folder / 'br0.mgmt', 'group_id=1,type=select,' + (case.group + ',' if case.group else '') + buckets)
        run(*ofctl, 'add-flow', folder / 'br0.mgmt', f'in_port={len(WEIGHTS) + 1},actions=group:1')
        if case.dead is not None:
            run('ip', 'link', 'set', f'w{case.dead}', 'down')
            is_down, until = '', time.monotonic() + 20
            while 'LINK_DOWN' not in is_down and time.monotonic() < until:
                is_down = subprocess.run([*ofctl, 'dump-ports-desc', folder / 'br0.mgmt', str(case.dead + 1)], env=env, text=True, check=True,
                                         capture_output=True).stdout
                time.sleep(0.1)
        yield
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def taken_by_ovs(it: Softspine, case: Case, answer) -> None:
    """In a process of its own, whose namespace ends with it: the way that each packet takes, -1 for none."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        answer.send(None)
        return
    with bridge(it, case):
        ends = {}
        for i in range(len(WEIGHTS) + 1):
            if i != case.dead:
                ends[i] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
                ends[i].bind((f'w{i}', 3))
        into = ends.pop(len(WEIGHTS))
        source = slice(26, 30) if case.version == 4 else slice(22, 38)
        ways = []
        for frame in frames(case):
            into.send(frame)
            way, until = -1, time.monotonic() + 2
            while way < 0 and time.monotonic() < until:
                readable = select.select(ends.values(), [], [], 0.2)[0]
                for i, end in ends.items():
                    if end in readable and end.recv(4096)[source] == frame[source]:
                        way = i
            ways.append(way)
        answer.send(ways)


def explained(it: Softspine, case: Case, packets: list[bytes]) -> list[int]:
    weights = ', '.join(f'spine{i + 1}: {weight}' for i, weight in enumerate(WEIGHTS))
    path = it.write('ovs.yaml', f'''name: ovs
fabric: {{kind: leaf-spine, tors: 2, spines: {len(WEIGHTS)}, hosts_per_tor: 1, host_link: {{rate: 10Gbps}}, fabric_link: {{rate: 10Gbps}}}}
profiles:
  default: {{hash: {case.profile}, groups: {{kind: resilient, weights: {{{weights}}}}}}}
''')
    capture = it.folder / 'in.pcap'
    capture.write_bytes(pcap_of(packets))
    down = [] if case.dead is None else ['--down', f'tor1:Ethernet{4 * (case.dead + 1)}']  # behind the host's port
    done = it('explain', path, '--pcap', capture, '--from', 'h1', '--json', *down)
    return [int(json.loads(line)['hops'][0]['to'].removeprefix('spine')) - 1 for line in done.out.splitlines()]


def agree(it: Softspine, cases: list[Case]) -> Problems:
    if os.geteuid() != 0:
        raise Skip('no root')
    parts()
    for number, case in enumerate(cases):
        of_case = copy.copy(it)
        of_case.folder = it.folder / str(number)
        of_case.folder.mkdir()
        ours, theirs = multiprocessing.Pipe()
        switch = multiprocessing.Process(target=taken_by_ovs, args=(of_case, case, theirs))
        switch.start()
        theirs.close()
        try:
            ways = ours.recv() if ours.poll(240) else []
        except EOFError:
            ways = []
        switch.join()
        if ways is None:
            raise Skip('no namespace of its own')
        packets = frames(case)
        forwarded = sum(way >= 0 for way in ways)
        if forwarded != len(packets):
            yield f'{case}: OVS forwarded {forwarded} of {len(packets)} packets'
            continue
        if len(set(ways)) != len(WEIGHTS) - (case.dead is not None):
            yield f'{case}: OVS used {len(set(ways))} ways'
        answers = explained(of_case, case, packets)
        wrong = [i for i, (answer, way) in enumerate(zip(answers, ways, strict=True)) if answer != way]
        if wrong:
            yield f'{case}: {len(wrong)} of {len(ways)} go elsewhere, the first by way {ways[wrong[0]]}: {packets[wrong[0]].hex()}'


def agrees_where_nothing_is_said(it: Softspine) -> Problems:
    """explain of model OVS names the bucket that OVS takes for a select group without a selection method"""
    yield from agree(it, CASES['unsaid'])


def agrees_by_l4(it: Softspine) -> Problems:
    """explain of model OVS names the bucket that OVS takes by dp_hash, L4, IPv4 and IPv6"""
    yield from agree(it, CASES['l4'])


def agrees_by_symmetric_l4(it: Softspine) -> Problems:
    """explain of model OVS names the bucket that OVS takes by dp_hash, symmetric L4, IPv4 and IPv6"""
    yield from agree(it, CASES['symmetric'])


def agrees_on_dead_buckets(it: Softspine) -> Problems:
    """explain of a resilient group of model OVS names the bucket that OVS takes when a watched port is down"""
    yield from agree(it, CASES['dead'])


if __name__ == '__main__':
    sys.exit(main([agrees_where_nothing_is_said, agrees_by_l4, agrees_by_symmetric_l4, agrees_on_dead_buckets]))
