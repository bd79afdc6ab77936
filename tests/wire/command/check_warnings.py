# SPDX-License-Identifier: Apache-2.0
"""What a file says in vain, and what its traffic gets: told by check and by run, with its place; --strict makes it a failure."""
from __future__ import annotations

import sys
from ipaddress import ip_address, ip_interface

from running_fabric import pcap
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
BETWEEN = '''name: it
topology:
  nodes:
    a: {kind: switch}
    b: {kind: switch}
    h1: {kind: host, edge: [{tap: {name: it0}}, {tap: {name: it1}}], bond: {mode: balance-xor}}
  links: [{endpoints: [h1, a], rate: 1Gbps, mtu: 4200}, {endpoints: [h1, b], rate: 1Gbps, mtu: 9000}]
'''
MTU = '''name: it
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 200Gbps, mtu: 9000}, fabric_link: {rate: 200Gbps, mtu: 1500}}
workload:
  - {name: w, pattern: pairs, from: h1, to: h3, message: 1MiB, messages: 10, mtu: 4096, transport: rc}
'''
OUTSIDE = FABRIC.replace('virtual', 'wall') + '''topology:
  nodes:
    h1: {edge: {tap: {name: it0}}}
    h2: {edge: {pcap: {in: in.pcap}}}
    h3: {guest: {}}
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


def refuses_a_path_mtu_that_fits_no_way(it: Softspine) -> Problems:
    """packets of 4,176 bytes over links of 1,500: 2; where one way has room, or all have: 0"""
    for command in ('check', 'run'):
        done = it(command, it.write('it.yaml', MTU))
        yield from done.exited(2)
        yield from done.complains('it.yaml:5:', 'workload[0]', 'packets of up to 4176 bytes, which fit no way from h1 to h3', 'whose mtu is 1500')
    yield from it('check', '--strict', it.write('it.yaml', MTU.replace('mtu: 1500', 'mtu: 4176'))).exited(0)
    beside = ''.join(f'    - {{endpoints: [tor{n}, spine1], rate: 200Gbps, mtu: 9000}}\n' for n in (1, 2))
    done = it('check', it.write('it.yaml', MTU + 'topology:\n  links:\n' + beside))
    yield from done.exited(0)
    yield from done.complains('workload[0]: warning: an mtu of 4096', 'do not fit')


def says_which_addresses_hosts_outside_take(it: Softspine) -> Problems:
    """of each host that is not built in, as --nodes has them; the text names those that have to take theirs by themselves"""
    pcap(it.folder / 'in.pcap', [])
    file = it.write('it.yaml', OUTSIDE)
    out = it('check', '--json', '--nodes', file).json()
    nodes = {node['name']: node for node in out['fabric']}
    found = out['service']['outside']['addresses']
    if sorted(found) != ['h1', 'h2', 'h3'] or [found[host]['configures_itself'] for host in ('h1', 'h2', 'h3')] != [True, False, False]:
        yield f'{found}'
    for host, row in found.items():
        if (row['ipv4'].split('/')[0], row['mac']) != (nodes[host]['ipv4'], nodes[host]['ports'][0]['mac']):
            yield f'{host}: {row} is not {nodes[host]}'
        for version in ('ipv4', 'ipv6'):
            if ip_address(row[f'{version}_gateway']) not in ip_interface(row[version]).network:
                yield f'{host}: {row}'
    yield from it('check', file).says('addresses that hosts outside have to take:', found['h1']['ipv4'], found['h1']['ipv4_gateway'], found['h1']['mac'])
    if found['h3']['ipv4'] in it('check', file).out:
        yield 'guests have theirs from us'
    row = it('check', '--json', it.write('it.yaml', BETWEEN)).json()['service']['outside']['addresses']['h1']
    if row['mtu'] != 4200:
        yield f'{row} has not the least MTU of two links'


def ip_frame(dscp: int, ecn: int, tags: int = 0, is_v6: bool = False, port: int = 0, options: int = 0) -> bytes:
    """with a `port`, it is a UDP packet to it"""
    byte = dscp << 2 | ecn
    if is_v6:
        head = bytes([0x60 | byte >> 4, byte << 4 & 0xF0, 0, 0, 0, 0, 17 if port else 59]) + bytes(33)
    else:
        head = bytes([0x45 + options, byte, 0, 0, 0, 0, 0, 0, 64, 17 if port else 253]) + bytes(10 + 4 * options)
    udp = bytes(2) + port.to_bytes(2, 'big')
    return bytes(12) + b'\x81\x00\x00\x05' * tags + (b'\x86\xdd' if is_v6 else b'\x08\x00') + head + udp + bytes(40)


def counts_replayed_frames_that_wred_drops(it: Softspine) -> Problems:
    """of a lossless DSCP and not ECN-capable: 2 + 4 + 1 of 16; no other DSCP, nothing that is capable, no ARP"""
    frames = [ip_frame(3, 0)] * 2 + [ip_frame(4, 0, tags=1)] * 4 + [ip_frame(3, 0, is_v6=True)]
    frames += [ip_frame(3, 1), ip_frame(3, 2, is_v6=True), ip_frame(4, 3), ip_frame(26, 0)] * 2 + [bytes(12) + b'\x08\x06' + bytes(46)]
    pcap(it.folder / 'in.pcap', frames)
    done = it('check', it.write('it.yaml', OUTSIDE))
    yield from done.exited(0)
    yield from done.complains('topology.nodes.h2: warning: 7 of 16 frames in in.pcap have a lossless DSCP and are not ECN-capable')


def judges_replayed_frames_by_the_dscp_that_their_nic_writes(it: Softspine) -> Problems:
    """into RoCEv2 packets: of best effort, four become lossless; with the other NIC, four others cease to be"""
    roce = [ip_frame(0, 0, port=4791), ip_frame(0, 0, is_v6=True, port=4791), ip_frame(0, 0, tags=1, port=4791), ip_frame(0, 0, port=4791, options=10)]
    others = [ip_frame(0, 0, port=4790), ip_frame(0, 0), ip_frame(0, 0, is_v6=True), ip_frame(0, 1, port=4791)]
    pcap(it.folder / 'in.pcap', roce + others)
    host = 'edge: {pcap: {in: in.pcap}}'
    told = 'topology.nodes.h2: warning: 4 of 8 frames in in.pcap have a lossless DSCP and are not ECN-capable'
    yield from it('check', it.write('it.yaml', OUTSIDE.replace(host, f'{host}, nic: {{dscp: 3}}'))).complains(told)
    lossless = [ip_frame(3, 0, port=4791)] * 4 + [ip_frame(3, 0)] * 4
    pcap(it.folder / 'in.pcap', lossless)
    yield from it('check', it.write('it.yaml', OUTSIDE.replace(host, f'{host}, nic: {{dscp: 0}}'))).complains(told)


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
                   refuses_a_path_mtu_that_fits_no_way, says_which_addresses_hosts_outside_take, counts_replayed_frames_that_wred_drops,
                   judges_replayed_frames_by_the_dscp_that_their_nic_writes, warns_of_too_many_workers]))
