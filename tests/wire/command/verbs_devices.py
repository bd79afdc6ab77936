# SPDX-License-Identifier: Apache-2.0
"""What a program of a verbs host sees of its devices: one a NIC of its server, files below /sys/class/infiniband, inline data."""
from __future__ import annotations

import re
import sys

from softspine import Problems, Softspine, main
from verbs_hosts import LAB, beside, need_programs, on

# Two servers of two NICs, in two planes that do not meet.
PLANES = '''name: verbs-planes
run: {clock: wall}
topology:
  nodes:
    plane1: {kind: switch, role: tor, subnet: 10.0.1.0/24}
    plane2: {kind: switch, role: tor, subnet: 10.0.2.0/24}
    h1: {kind: host, server: one, verbs: {}}
    one-nic2: {kind: host, server: one, verbs: {}}
    h2: {kind: host, server: two, verbs: {}}
    two-nic2: {kind: host, server: two, verbs: {}}
  links:
    - {endpoints: ["plane1:Ethernet0", "h1:eth0"], rate: 100Gbps, mtu: 4200}
    - {endpoints: ["plane1:Ethernet4", "h2:eth0"], rate: 100Gbps, mtu: 4200}
    - {endpoints: ["plane2:Ethernet0", "one-nic2:eth0"], rate: 100Gbps, mtu: 4200}
    - {endpoints: ["plane2:Ethernet4", "two-nic2:eth0"], rate: 100Gbps, mtu: 4200}
'''
COUNTERS = 'for each in /sys/class/infiniband/softspine0/ports/1/hw_counters/*; do echo "${each##*/} $(cat "$each")"; done'


def edges(it: Softspine) -> dict:
    return it.show('report')['edges']


def a_device_for_each_nic(it: Softspine) -> Problems:
    """a server's programs have the devices of all its NICs, and what goes by one goes over its own link"""
    need_programs()
    with it.running(it.write('planes.yaml', PLANES), '--folder', it.folder / 'o'):
        for host in ('h1', 'one-nic2'):
            said = on(it, host, 'ibv_devices').communicate(timeout=60)[0]
            if re.findall(r'softspine\d+', said) != ['softspine0', 'softspine1']:
                yield f'ibv_devices on {host}: {said}'
        nics = [['h1', 'h2'], ['one-nic2', 'two-nic2']]
        for number, (used, idle) in enumerate([nics, nics[::-1]]):
            before = edges(it)
            test = ['ib_write_bw', '-d', f'softspine{number}', '-n', '300', '-p', str(18720 + number)]
            said = beside(it, test, [*test, 'h1'])
            if any('BW average' not in words for words in said):
                yield f'{test}: {said}'
            after = edges(it)
            moved = {host: after[host]['in_packets'] - before[host]['in_packets'] for host in (*used, *idle)}
            if any(moved[host] < 100 for host in used) or any(moved[host] > 20 for host in idle):
                yield f'{test}: {moved}'
        # rdma_cm asks the device of the host itself: the other plane has no way to it.
        test = ['ib_send_bw', '-R', '-n', '100', '-p', '18725']
        said = beside(it, test, [*test, 'h1'])
        if any('BW average' not in words for words in said):
            yield f'{test}: {said}'


def counters_in_sys(it: Softspine) -> Problems:
    """hw_counters read by cat are the report's; perftest reports their change; state and gids are the port's"""
    need_programs()
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        test = ['ib_write_bw', '-d', 'softspine0', '-n', '1000', '-s', '65536', '-p', '18730', '-W', 'counters/port_xmit_packets,hw_counters/sent_pkts']
        said = beside(it, test, [*test, 'h1'])
        changed = dict(re.findall(r'(port_xmit_packets|sent_pkts)\D+(\d+)', said[1]))
        if not all(16_000 <= int(changed.get(name, 0)) < 20_000 for name in ('port_xmit_packets', 'sent_pkts')):
            yield f'perftest wrote 16,000 packets, and says {said}'
        for host in ('h1', 'h2'):
            read = dict(line.split() for line in on(it, host, 'bash', '-c', COUNTERS).communicate(timeout=60)[0].splitlines())
            shown = {name: str(value) for name, value in edges(it)[host]['statistics'].items()}
            if read != shown:
                yield f'{host}: cat says {read}, show {shown}'
        port = '/sys/class/infiniband/softspine0/ports/1'
        for command, expected in [(f'cat {port}/state', '4: ACTIVE\n'), (f'grep . {port}/rate', '100 Gb/sec\n'), (f'test -d {port} && echo yes', 'yes\n'),
                                  (f'ls {port}/gids', '0\n1\n'), ('ls /sys/class/infiniband', 'softspine0\n'), ('ls /sys/class/net | grep -c ^lo', '1\n'),
                                  (f'python3 -c "print(open(\'{port}/link_layer\').read(), end=\'\')"', 'Ethernet\n')]:
            said = on(it, 'h1', 'sh', '-c', command).communicate(timeout=60)[0]
            if said != expected:
                yield f'{command}: {said!r}'


def long_inline_data(it: Softspine) -> Problems:
    """perftest sends 912 bytes inline, its most, by connections and by datagrams"""
    need_programs()
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        for number, transport in enumerate(['RC', 'UC', 'UD']):
            test = ['ib_send_lat', '-d', 'softspine0', '-c', transport, '-I', '912', '-s', '912', '-n', '200', '-p', str(18740 + number)]
            said = beside(it, test, [*test, 'h1'])
            if any('t_typical' not in words for words in said):
                yield f'{test}: {said}'


if __name__ == '__main__':
    sys.exit(main([a_device_for_each_nic, counters_in_sys, long_inline_data]))
