# SPDX-License-Identifier: Apache-2.0
"""softspine drives NICs on a PCI bus: what leaves them is what its capture has at that port, byte for byte."""
from __future__ import annotations

import json
import os
import struct
import sys
import time
from pathlib import Path

from lab import (BROADCAST, GATEWAY, HUGEPAGES, KINDS, Lab, arp, ip_of, is_echo_reply, is_from, is_type, mac_bytes, pause, ping, solicitation, udp,
                 write_pcap)
from machine import Machine, mac_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from softspine import Problems, Softspine, main  # noqa: E402

NICS = KINDS + KINDS  # h1 to h4 have one each, h7 and h8 two
JUMBO = 4200 + 14
PACKET_PAGES = 100  # of 2 MiB: the fewest in which the packets of devices lie
BUILT_IN, SLOW, NOBODY = 4, 5, 88  # as the last byte of addresses counts them: h5, h6, and an address that nobody has
# h1 to h4 are at the ends of cables, each of another kind of device; h7 and h8 are bonds of two; h5 and h6 are built in, h6
# behind a link that is soon full.
TESTBED = '''name: nics
run: {{clock: wall, duration: 20min}}
profiles:
  default:
    base: lossless
    BUFFER_POOL: {{ingress_lossless_pool: {{type: ingress, mode: dynamic, size: 128KiB}}}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    tor2: {{kind: switch, role: tor}}
    spine1: {{kind: switch, role: aggregation}}
{hosts}
    h5: {{kind: host, address: 10.0.1.15}}
    h6: {{kind: host, address: 10.0.1.16}}
    h7: {{kind: host, edge: [{{dpdk: "{devices[4]}"}}, {{dpdk: "{devices[5]}"}}]}}
    h8: {{kind: host, edge: [{{dpdk: "{devices[6]}"}}, {{dpdk: "{devices[7]}"}}]}}
  links:
{links}
    - {{endpoints: [tor1, h5], rate: 1Gbps, mtu: 4200}}
    - {{endpoints: [tor1, h6], rate: 1Mbps, mtu: 4200}}
    - {{endpoints: [tor1, h7], rate: 1Gbps, mtu: 4200}}
    - {{endpoints: [tor2, h7], rate: 1Gbps, mtu: 4200}}
    - {{endpoints: [tor1, h8], rate: 1Gbps, mtu: 4200}}
    - {{endpoints: [tor2, h8], rate: 1Gbps, mtu: 4200}}
    - {{endpoints: [tor1, spine1], rate: 10Gbps, mtu: 4200}}
    - {{endpoints: [tor2, spine1], rate: 10Gbps, mtu: 4200}}
'''
HOST = '    h{n}: {{kind: host, address: 10.0.1.1{n}, mac: "{mac}", nic: {{relay_pfc: true}}, edge: {{dpdk: "{device}"}}}}'
LINK = '    - {{endpoints: [tor1, h{n}], rate: 1Gbps, mtu: 4200}}'
# The switch's port before each NIC, and the host's own.
PORTS = [(f'tor1:Ethernet{4 * n}', f'h{n + 1}:eth0') for n in range(4)] + [
    ('tor1:Ethernet24', 'h7:eth0'), ('tor2:Ethernet0', 'h7:eth1'), ('tor1:Ethernet28', 'h8:eth0'), ('tor2:Ethernet4', 'h8:eth1')]


def testbed(machine: Machine) -> str:
    lines = {text: '\n'.join(text.format(n=n + 1, mac=mac_of(n), device=machine.address(n)) for n in range(len(KINDS))) for text in (HOST, LINK)}
    return TESTBED.format(hosts=lines[HOST], links=lines[LINK], devices=[machine.address(n) for n in range(len(NICS))])


def only_hosts(text: str) -> str:
    """Without the bonds, for a machine that has one NIC of each kind."""
    return ''.join(line for line in text.splitlines(keepends=True) if 'h7' not in line and 'h8' not in line)


def send_every_kind(lab: Lab) -> None:
    """And wait for what each of them causes."""
    for nic in range(len(KINDS)):
        lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
        lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
    for nic in range(len(KINDS)):
        other = (nic + 1) % len(KINDS)
        lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, ip_of(NOBODY)), BROADCAST))
        lab.receives(other, lambda frame, nic=nic: frame[:12] == BROADCAST + mac_bytes(nic), 'copy of a broadcast')
        lab.send(nic, ping(nic, lab.gateway, GATEWAY), ping(nic, lab.gateway, ip_of(BUILT_IN), 4000), solicitation(nic))
        lab.receives(nic, is_echo_reply(GATEWAY), 'answer to a ping')
        lab.receives(nic, is_echo_reply(ip_of(BUILT_IN)), 'answer of a built-in host')
        lab.receives(nic, lambda frame: frame[12:14] == b'\x86\xdd' and frame[54] == 136, 'neighbour advertisement')
        lab.send(nic, udp(nic, lab.gateway, ip_of(BUILT_IN), 0, 400, ttl=1))
        lab.receives(nic, lambda frame: frame[23] == 1 and frame[34] == 11, 'time exceeded')
        lab.send(nic, *(udp(nic, mac_bytes(other), ip_of(other), size, size) for size in (60, 61, 64, 1514, JUMBO)))
        lab.receives(other, lambda frame, nic=nic: is_from(nic)(frame) and len(frame) == JUMBO, 'jumbo frame')
        lab.send(nic, pause(nic, 3, 10))
        lab.send(nic, *(udp(nic, lab.gateway, ip_of(SLOW), number, 1400, dscp=3) for number in range(60)))
    for nic in range(len(KINDS)):
        lab.receives(nic, is_type(0x8808), 'PFC frame')
    for nic in range(len(KINDS), len(NICS)):
        lab.receives(nic, is_type(0x8809), 'LACPDU')
    status, said = lab.sh('softspine inject tor1:Ethernet16 odd.pcap')
    if status != 0:
        raise AssertionError(f'inject: {said}')
    for nic in range(len(KINDS)):
        lab.receives(nic, lambda frame: frame[6:12] == mac_bytes(99), 'injected frame')


def every_kind(it: Softspine, driver: str) -> Problems:
    with Machine(it.folder, it.binary, NICS, driver) as machine:
        lab = Lab(machine, PORTS)
        write_pcap(machine.job / 'odd.pcap', [mac_bytes(nic) + mac_bytes(99) + b'\x88\xb5' + bytes(range(size))
                                              for nic in range(len(KINDS)) for size in (20, 200)])
        lab.start(testbed(machine))
        send_every_kind(lab)
        yield from lab.end()
        yield from lab.differences()


def link_events(lab: Lab, kind: str) -> set[str]:
    path = lab.machine.job / 'events.jsonl'
    rows = [json.loads(line) for line in path.read_text().splitlines() if f'"{kind}"' in line]
    return {row['port'] for row in rows if 'port' in row}


def pulled_cables(it: Softspine, driver: str) -> Problems:
    """Those of h1 to h4, one after the other. Frames go both ways before and after."""
    with Machine(it.folder, it.binary, NICS, driver) as machine:
        lab = Lab(machine, PORTS)
        lab.start(testbed(machine), '--events', 'events.jsonl')
        for nic in range(len(KINDS)):
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
            lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
            machine.plug(nic, is_in=False)
            lab.until(f'softspine show links | grep "tor1:Ethernet{4 * nic} .* D "', 20)
            machine.plug(nic, is_in=True)
            lab.until(f'! softspine show links | grep "tor1:Ethernet{4 * nic} .* D "', 20)
        for nic in range(len(KINDS)):  # the ToR has forgotten who was behind a port that was down
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST), ping(nic, lab.gateway, GATEWAY))
            lab.receives(nic, is_echo_reply(GATEWAY), 'answer to a ping')
        yield from lab.end()
        for kind in ('link_down', 'link_up'):
            missing = {PORTS[nic][0] for nic in range(len(KINDS))} - link_events(lab, kind)
            if missing:
                yield f'{driver}: no {kind} of {sorted(missing)} is in the events'
        yield from lab.differences()


def under_uio(it: Softspine) -> Problems:
    """every kind of frame leaves four kinds of device under uio_pci_generic as the capture has it"""
    yield from every_kind(it, 'uio_pci_generic')


def under_vfio(it: Softspine) -> Problems:
    """every kind of frame leaves four kinds of device under vfio-pci as the capture has it"""
    yield from every_kind(it, 'vfio-pci')


def many_frames(it: Softspine, driver: str) -> Problems:
    """From h1 to h2 and back, and so h3 and h4; as many as SOFTSPINE_NIC_FRAMES says each way."""
    count = int(os.environ.get('SOFTSPINE_NIC_FRAMES', '2000'))
    with Machine(it.folder, it.binary, NICS, driver) as machine:
        lab = Lab(machine, PORTS)
        lab.start(testbed(machine), '--capture-port', 'spine1:*')  # no frame of these
        for nic in range(len(KINDS)):
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
            lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
        others = [nic ^ 1 for nic in range(len(KINDS))]
        sent = 0
        seen = [set() for _ in KINDS]
        until = time.monotonic() + 60 + count / 500
        while min(len(numbers) for numbers in seen) < count and time.monotonic() < until:
            under_way = max(sent - min(len(numbers) for numbers in seen), 0)
            if sent < count and under_way < 256:
                for nic, other in enumerate(others):
                    machine.cables[nic].send(udp(nic, mac_bytes(other), ip_of(other), sent, 100))
                sent += 1
                if under_way < 128 and sent % 16 != 0:
                    continue
            machine.wait(0.02)
            for nic, cable in enumerate(machine.cables[:len(KINDS)]):
                for frame in cable.received:
                    if is_from(others[nic])(frame):
                        seen[nic].add(struct.unpack_from('>I', frame, 42)[0])
                cable.received.clear()
        yield from lab.end()
        edges = json.loads((machine.job / 'report.json').read_text())['edges']
        for nic, numbers in enumerate(seen):
            edge = edges[f'h{nic + 1}']
            counted = sum(edge['out_drops'].values()) + sum(edges[f'h{others[nic] + 1}']['in_drops'].values())
            if count - len(numbers) != counted:
                yield f'{driver}, {NICS[nic]}: {len(numbers)} of {count} frames have come, and {counted} are counted as dropped: {edge}'


def pulled_under_uio(it: Softspine) -> Problems:
    """pulled cables are seen by four kinds of device under uio_pci_generic, and traffic goes on"""
    yield from pulled_cables(it, 'uio_pci_generic')


def pulled_under_vfio(it: Softspine) -> Problems:
    """pulled cables are seen by four kinds of device under vfio-pci, and traffic goes on"""
    yield from pulled_cables(it, 'vfio-pci')


def many_under_uio(it: Softspine) -> Problems:
    """of many frames both ways through four kinds of device under uio_pci_generic none is missing that no counter names"""
    yield from many_frames(it, 'uio_pci_generic')


def many_under_vfio(it: Softspine) -> Problems:
    """of many frames both ways through four kinds of device under vfio-pci none is missing that no counter names"""
    yield from many_frames(it, 'vfio-pci')


def in_one_large_page(it: Softspine) -> Problems:
    """all packets lie in one hugepage of 1 GiB"""
    with Machine(it.folder, it.binary, NICS, 'uio_pci_generic', memory='2560M', boot='hugepagesz=1G hugepages=1') as machine:
        lab = Lab(machine, PORTS)
        lab.start(testbed(machine), hugepages=0)
        if (free := machine.sh('cat /sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages')[1]) != '0':
            yield f'{free} pages of 1 GiB are free'
        for nic in range(len(KINDS)):
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
            lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
        yield from lab.end()
        yield from lab.differences()


def on_the_devices_node(it: Softspine) -> Problems:
    """packets lie in hugepages of the NUMA node that the devices are on, and without these the run says so"""
    pages = '/sys/devices/system/node/node{}/hugepages/hugepages-2048kB/'
    with Machine(it.folder, it.binary, KINDS, 'uio_pci_generic', memory='3072M', is_numa=True) as machine:
        lab = Lab(machine, PORTS[:len(KINDS)])
        (machine.job / 'it.yaml').write_text(only_hosts(testbed(machine)))
        machine.sh(f'echo {HUGEPAGES} > {pages.format(0)}nr_hugepages')
        machine.bind()
        status, said = machine.sh('softspine run it.yaml')
        command = f'>{pages.format(1)}nr_hugepages'
        if status != 2 or ' of hugepages on its NUMA node 1, and 0 MiB of them are free' not in said or command not in said:
            yield f'hugepages of another node: {status}, {said}'
        if machine.sh('softspine doctor it.yaml')[1].count(command) != 1:
            yield f"doctor names no such command: {machine.sh('softspine doctor it.yaml')[1]}"
        lab.start(only_hosts(testbed(machine)), hugepages=0, prepare=f'echo {HUGEPAGES} {command}')
        used = [int(machine.sh(f'cat {pages.format(node)}nr_hugepages')[1]) - int(machine.sh(f'cat {pages.format(node)}free_hugepages')[1]) for node in (0, 1)]
        if used[0] != 0 or used[1] < PACKET_PAGES:
            yield f'hugepages in use on the two nodes: {used}'
        if (nodes := machine.sh("softspine show devices | grep -c ' 1 '")[1]) != str(len(KINDS)):
            yield f'{nodes} devices are on node 1: ' + machine.sh('softspine show devices')[1]
        for nic in range(len(KINDS)):
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
            lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
        yield from lab.end()
        yield from lab.differences()


if __name__ == '__main__':
    sys.exit(main([under_uio, under_vfio, pulled_under_uio, pulled_under_vfio, many_under_uio, many_under_vfio, in_one_large_page, on_the_devices_node]))
