# SPDX-License-Identifier: Apache-2.0
"""Carrier follows the link into outside hosts, and a link follows the carrier of what is behind it. With the argument
`guests`: into a guest."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from outside_testbeds import need_guests, need_programs
from softspine import Problems, Run, Skip, Softspine, main, need_xdp

EDGES = '''name: edges
run: {clock: wall, duration: 5min}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    h1: {kind: host, mac: "02:00:00:00:aa:01", edge: {tap: {name: fabric0}}}
    h2: {kind: host, mac: "02:00:00:00:aa:02", edge: {af_packet: {interface: v0}}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 1500}
    - {endpoints: [tor1, h2], rate: 10Gbps, mtu: 1500}
'''
# Prints eth0's carrier each time that it changes.
WATCH = ('was=; while :; do is=$(cat /sys/class/net/eth0/carrier); if [ \\"$is\\" != \\"$was\\" ]; then echo $is >>$SOFTSPINE_SEEN; was=$is; fi; '
         'sleep 0.05; done')
HOST = '''name: host
run: {{clock: wall, duration: 5min}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    h1: {{kind: host, {kind}, run: "{before}{watch}"}}}}
    h2: {{kind: host, mac: "02:00:00:00:aa:02", edge: {{pcap: {{out: h2.pcap}}}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 25Gbps}}
    - {{endpoints: [tor1, h2], rate: 25Gbps}}
'''
# Prints the state of each port of bond0 as the bonding driver sees it, as often as it changes: "up up", "down up".
BOND = ('was=; while :; do is=$(echo $(cat /sys/class/net/eth?/bonding_slave/mii_status)); if [ \\"$is\\" != \\"$was\\" ]; then '
        'echo $is >>/guest/seen; was=$is; fi; sleep 0.05; done')
TWO_LINKS = f'''name: host
run: {{clock: wall, duration: 5min}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    tor2: {{kind: switch, role: tor}}
    h1: {{kind: host, guest: {{kind: uml, memory: 256MiB, timeout: 5min, run: "{BOND}"}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 25Gbps}}
    - {{endpoints: [tor2, h1], rate: 25Gbps}}
'''
VETH = 'ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up && exec "$0" "$@"'


def need_root() -> None:
    need_programs('ip', 'nsenter', 'unshare')
    if os.geteuid() != 0:
        raise Skip('interfaces need root')


def becomes(what: str, now: Callable[[], object], wanted: object, seconds: float = 10) -> Problems:
    until = time.monotonic() + seconds
    while (seen := now()) != wanted:
        if time.monotonic() > until:
            yield f'{what} is {seen}, not {wanted}, after {seconds} s'
            return
        time.sleep(0.02)


def inside(run: Run, *command: str) -> str:
    return subprocess.run(['nsenter', '-t', str(run.process.pid), '-n', *command], capture_output=True, text=True, check=True).stdout


def flags(run: Run, interface: str) -> set[str]:
    return set(json.loads(inside(run, 'ip', '-j', 'link', 'show', interface))[0]['flags'])


def carrier(run: Run, interface: str) -> bool:
    return 'LOWER_UP' in flags(run, interface)


def is_up(it: Softspine, port: str) -> bool:
    return it.show('links')[port]['up']


def both_ways(it: Softspine, run: Run, port: str, outside: str) -> Problems:
    """`outside`: the interface that the port's other end is."""
    yield from becomes(f'{outside} at the start', lambda: carrier(run, outside), True)
    for up in (False, True):
        yield from it('link', port, 'up' if up else 'down').exited(0)
        yield from becomes(f'carrier of {outside}', lambda: carrier(run, outside), up)
    time.sleep(0.1)  # what has no carrier since the link was down must not take the link down now
    yield from becomes(f'link of {port} up after that', lambda: is_up(it, port), True)
    inside(run, 'ip', 'link', 'set', outside, 'down')
    yield from becomes(f'link of {port} up with {outside} down', lambda: is_up(it, port), False)
    yield from it('link', port, 'down').exited(0)
    inside(run, 'ip', 'link', 'set', outside, 'up')
    yield from becomes(f'{outside}, up again on a link that is down', lambda: carrier(run, outside), False)
    yield from becomes(f'link of {port} up, asked down', lambda: is_up(it, port), False)
    yield from it('link', port, 'up').exited(0)
    yield from becomes(f'link of {port} up at last', lambda: is_up(it, port), True)
    yield from becomes(f'carrier of {outside} at last', lambda: carrier(run, outside), True)


def interfaces(it: Softspine) -> Problems:
    """a TAP and the other end of a veth lose their carrier with the link, and the link goes down with theirs"""
    need_root()
    with it.running(it.write('edges.yaml', EDGES), '--report', 'report.json', before=('unshare', '--net', 'sh', '-c', VETH)) as run:
        yield from both_ways(it, run, 'tor1:Ethernet0', 'fabric0')
        yield from both_ways(it, run, 'tor1:Ethernet4', 'v1')
        yield from run.end(signal.SIGINT).exited(0)


def interface_of_a_device(it: Softspine) -> Problems:
    """so does an interface that DPDK's AF_XDP stands on"""
    need_root()
    need_xdp()
    file = it.write('edges.yaml', EDGES.replace('{af_packet: {interface: v0}}', '{dpdk: "net_af_xdp0,iface=v0"}'))
    with it.running(file, '--report', 'report.json', before=('unshare', '--net', 'sh', '-c', VETH)) as run:
        yield from both_ways(it, run, 'tor1:Ethernet4', 'v1')
        yield from run.end(signal.SIGINT).exited(0)


def restored(it: Softspine) -> Problems:
    """an interface that was taken down with its link is up again when the run ends"""
    need_root()
    after = VETH.replace('exec "$0" "$@"', '{ "$0" "$@"; status=$?; ip -j link show v0 >after; exit $status; }')
    with it.running(it.write('edges.yaml', EDGES), before=('unshare', '--net', 'sh', '-c', after)) as run:
        yield from it('link', 'tor1:Ethernet4', 'down').exited(0)
        yield from becomes('carrier of v1', lambda: carrier(run, 'v1'), False)
        children = Path(f'/proc/{run.process.pid}/task/{run.process.pid}/children').read_text().split()
        os.kill(int(children[0]), signal.SIGINT)
        yield from run.end(signal.SIGCONT).exited(0)
    if 'UP' not in json.loads((it.folder / 'after').read_text())[0]['flags']:
        yield 'v0 was left down'


def follows(it: Softspine, file: Path, seen: Path, seconds: float) -> Problems:
    with it.running(file, '--folder', it.folder / 'o') as run:
        lines = lambda: seen.read_text().split() if seen.exists() else []  # noqa: E731
        yield from becomes('carrier of eth0', lines, ['1'], seconds)
        for number, up in enumerate(('down', 'up', 'down', 'up')):
            yield from it('link', 'tor1:Ethernet0', up).exited(0)
            yield from becomes(f'carriers of eth0 after {up}', lines, ['1', '0', '1', '0', '1'][:number + 2], 20)
        run.end(signal.SIGINT, timeout=60)


def namespace(it: Softspine) -> Problems:
    """a namespace's eth0 loses its carrier with the link, and has it again"""
    need_root()
    seen = it.folder / 'seen'
    file = it.write('host.yaml', HOST.format(kind='namespace: {timeout: 5min', before=f'SOFTSPINE_SEEN={seen}; ', watch=WATCH))
    yield from follows(it, file, seen, 20)


def guest(it: Softspine) -> Problems:
    """a guest's eth0 loses its carrier with the link, has it again, and knows the link's rate"""
    need_guests()
    kind = 'guest: {kind: uml, memory: 256MiB, timeout: 5min'
    before = 'cat /sys/class/net/eth0/speed /sys/class/net/eth0/duplex >/guest/speed; SOFTSPINE_SEEN=/guest/seen; '
    file = it.write('host.yaml', HOST.format(kind=kind, before=before, watch=WATCH))
    yield from follows(it, file, it.folder / 'o' / 'h1' / 'seen', 60)
    told = (it.folder / 'o' / 'h1' / 'speed').read_text().split()
    if told != ['25000', 'full']:
        yield f'eth0 has {told}'


def bonded_guest(it: Softspine) -> Problems:
    """a guest with two links has a bond over both, which sees each of them go down and come back"""
    need_guests()
    seen = it.folder / 'o' / 'h1' / 'seen'
    lines = lambda: seen.read_text().splitlines() if seen.exists() else []  # noqa: E731
    wanted = ['up up']
    with it.running(it.write('two.yaml', TWO_LINKS), '--folder', it.folder / 'o') as run:
        yield from becomes('the bond at the start', lines, wanted, 60)
        for port, changed in (('tor1:Ethernet0', 'down up'), ('tor2:Ethernet0', 'up down')):
            for up, state in (('down', changed), ('up', 'up up')):
                yield from it('link', port, up).exited(0)
                wanted = [*wanted, state]
                yield from becomes(f'the bond after {port} {up}', lines, wanted, 20)
        run.end(signal.SIGINT, timeout=60)


if __name__ == '__main__':
    sys.exit(main([guest, bonded_guest] if sys.argv[2:] == ['guests'] else [interfaces, interface_of_a_device, restored, namespace]))
