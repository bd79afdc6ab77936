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
# A bond across two ToRs, and a host behind a third.
BOND = '''name: verbs-bond
run: {clock: wall}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    tor2: {kind: switch, role: tor}
    tor3: {kind: switch, role: tor}
    spine1: {kind: switch, role: aggregation}
    h1: {kind: host, verbs: {}}
    h2: {kind: host, verbs: {}}
  links:
    - {endpoints: [tor1, h1], rate: 100Gbps, mtu: 4200}
    - {endpoints: [tor2, h1], rate: 100Gbps, mtu: 4200}
    - {endpoints: [tor3, h2], rate: 100Gbps, mtu: 4200}
    - {endpoints: [tor1, spine1], rate: 100Gbps, mtu: 4200}
    - {endpoints: [tor2, spine1], rate: 100Gbps, mtu: 4200}
    - {endpoints: [tor3, spine1], rate: 100Gbps, mtu: 4200}
'''
HPN = '''name: verbs-hpn
run: {clock: wall}
fabric: {kind: hpn, segments: 1, servers_per_segment: 2, rails: 1, aggregations_per_plane: 2, host_link: {rate: 100Gbps, mtu: 4200}, fabric_link: {rate: 100Gbps, mtu: 4200}, bond: {mode: active-backup}}
topology: {nodes: {s1-h1-nic1: {verbs: {}}, s1-h2-nic1: {verbs: {}}}}
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


def sent_by_ports(it: Softspine, host: str = 'h1') -> list[int]:
    report = edges(it)
    return [report[f'{host}:{port}']['in_packets'] for port in ('eth0', 'eth1')]


def a_bond_is_one_device(it: Softspine) -> Problems:
    """a host behind two ToRs has one device: queue pairs leave by both ports, and by the one that is left after a cut"""
    need_programs()
    with it.running(it.write('bond.yaml', BOND), '--folder', it.folder / 'o'):
        said = on(it, 'h1', 'ibv_devices').communicate(timeout=60)[0]
        if re.findall(r'softspine\d+', said) != ['softspine0']:
            yield f'ibv_devices: {said}'
        test = ['ib_read_bw', '-d', 'softspine0', '-q', '4', '-n', '200', '-p', '18750']
        said = beside(it, test, [*test, 'h1'])
        if any('BW average' not in words for words in said) or any(sent < 4_000 for sent in sent_by_ports(it)):
            yield f'{test}: {said}, {sent_by_ports(it)}'
        before = sent_by_ports(it)
        test = ['ib_read_bw', '-d', 'softspine0', '-q', '4', '-n', '2000', '-p', '18751']
        serves = on(it, 'h1', *test)
        asks = on(it, 'h2', *test, 'h1')
        while sent_by_ports(it)[1] < before[1] + 4_000:
            if asks.poll() is not None:  # the server did not listen yet
                asks = on(it, 'h2', *test, 'h1')
        yield from it('link', 'h1:eth1', 'down').exited(0)
        cut = sent_by_ports(it)
        said = [program.communicate(timeout=120)[0] for program in (serves, asks)]
        if any('BW average' not in words for words in said) or sent_by_ports(it)[0] < cut[0] + 10_000:
            yield f'after the cut: {said}, {cut}, {sent_by_ports(it)}'
        state = on(it, 'h1', 'cat', '/sys/class/infiniband/softspine0/ports/1/state').communicate(timeout=60)[0]
        if state != '4: ACTIVE\n':
            yield f'one port of two is down, and the device says {state}'


def a_backup_is_idle(it: Softspine) -> Problems:
    """HPN's NICs with active-backup: nothing leaves by the second port until the first has no link, and then all does"""
    need_programs()
    hosts = ('s1-h1-nic1', 's1-h2-nic1')
    with it.running(it.write('hpn.yaml', HPN), '--folder', it.folder / 'o'):
        for number, cut in enumerate([False, True]):
            if cut:
                for host in hosts:
                    yield from it('link', f'{host}:eth0', 'down').exited(0)
            before = sent_by_ports(it, hosts[0])
            test = ['ib_read_bw', '-d', 'softspine0', '-q', '4', '-n', '100', '-p', str(18760 + number)]
            said = beside(it, test, [*test, hosts[0]], hosts)
            sent = [after - earlier for after, earlier in zip(sent_by_ports(it, hosts[0]), before)]
            used, idle = sent if not cut else sent[::-1]
            if any('BW average' not in words for words in said) or used < 6_000 or idle > 20:
                yield f'{test}: {said}, {sent}'


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
    sys.exit(main([a_device_for_each_nic, a_bond_is_one_device, a_backup_is_idle, counters_in_sys, long_inline_data]))
