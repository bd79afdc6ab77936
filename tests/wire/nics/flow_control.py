# SPDX-License-Identifier: Apache-2.0
"""Pauses and congestion at NICs: PFC from outside stops its priority alone, and DCQCN answers marks for a host that has none."""
from __future__ import annotations

import json
import struct
import sys
import time
import zlib
from pathlib import Path

from lab import BROADCAST, GATEWAY, KINDS, Lab, arp, ip_of, is_from, mac_bytes, pause, udp
from machine import Machine, mac_of
from pcapng import records_by_port

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from frames import ipv4  # noqa: E402
from softspine import Problems, Softspine, main  # noqa: E402

HOST = '    h{n}: {{kind: host, address: 10.0.1.1{n}, mac: "{mac}", {nic}edge: {{dpdk: "{device}"}}}}'
LINK = '    - {{endpoints: [tor1, h{n}], rate: 1Gbps, mtu: 4200}}'
PORTS = [(f'tor1:Ethernet{4 * n}', f'h{n + 1}:eth0') for n in range(len(KINDS))]
PAUSES, FRAMES = 12, 4  # frames of each class with each pause
LOSSLESS = 3  # its DSCP and priority
SIZE = 100
QUANTA = 0xFFFF
QUANTUM_US = 0.512  # 512 bits at 1 Gb/s
MARGIN_US = 100  # for a frame on the wire, 802.3's response time, and the pause's own way
QP = 0x11  # of hosts without DCQCN; the others have one more
BECN = 0x40000000
PSN = 200
CE, ECT0 = 3, 2
SEND_ONLY, ACKNOWLEDGE, CNP = 0x04, 0x11, 0x81


def has_dcqcn(nic: int) -> bool:
    return nic % 2 == 1


def testbed(machine: Machine) -> str:
    hosts = '\n'.join(HOST.format(n=n + 1, mac=mac_of(n), device=machine.address(n),
                                  nic='nic: {congestion_control: dcqcn_connectx}, ' if has_dcqcn(n) else '') for n in range(len(KINDS)))
    links = '\n'.join(LINK.format(n=n + 1) for n in range(len(KINDS)))
    return ('name: flow-control\nrun: {clock: wall, duration: 20min}\nprofiles:\n  default: {base: lossless}\ntopology:\n  nodes:\n'
            f'    tor1: {{kind: switch, role: tor}}\n{hosts}\n  links:\n{links}\n')


def roce(nic: int, to: int, opcode: int, psn: int, ecn: int, payload: bytes) -> bytes:
    bth = struct.pack('>BBHII', opcode, 0, 0xFFFF, QP + has_dcqcn(to), psn)
    datagram = struct.pack('>HHHH', 0xC000, 4791, 8 + len(bth) + len(payload) + 4, 0) + bth + payload + bytes(4)
    frame = mac_bytes(to) + mac_bytes(nic) + b'\x08\0' + ipv4(ip_of(nic), ip_of(to), 17, datagram, tos=LOSSLESS << 2 | ecn)
    return frame[:-4] + icrc(frame)


def icrc(frame: bytes) -> bytes:
    """By the specification and zlib."""
    head = bytearray(frame[14:54])
    head[1] = head[8] = head[10] = head[11] = head[26] = head[27] = head[32] = 0xFF
    return struct.pack('<I', zlib.crc32(b'\xff' * 8 + head + frame[54:-4]))


def numbers(frames: list[bytes], tos: int) -> list[int]:
    return [struct.unpack_from('>I', frame, 42)[0] for frame in frames
            if frame[12:14] == b'\x08\0' and frame[15] == tos and len(frame) == SIZE]


def send_into_pauses(lab: Lab) -> None:
    """At each NIC in turn a host pauses its priority, again and again, while its neighbour sends to it."""
    for nic in range(len(KINDS)):
        other = nic ^ 1
        for burst in range(PAUSES):
            lab.send(nic, pause(nic, LOSSLESS, QUANTA))
            for number in range(burst * FRAMES, burst * FRAMES + FRAMES):
                lab.send(other, *(udp(other, mac_bytes(nic), ip_of(nic), number, SIZE, dscp=dscp) for dscp in (LOSSLESS, 0)))
            lab.machine.wait(0.01)
        last = PAUSES * FRAMES
        until = time.monotonic() + 20
        while time.monotonic() < until and sum(map(is_from(other), lab.machine.cables[nic].received)) < 2 * last:
            lab.machine.wait(0.1)


def pauses_held(lab: Lab, driver: str) -> Problems:
    records = records_by_port(lab.machine.job / 'it.pcapng')
    for nic, (switch, host) in enumerate(PORTS):
        what = f'{driver}, {KINDS[nic]}'
        asked = [at for at, frame in records[host] if frame[12:14] == b'\x88\x08']
        if len(asked) != PAUSES:
            yield f'{what}: {len(asked)} of {PAUSES} pauses came in'
        is_paused = lambda at: any(start + MARGIN_US < at < start + QUANTA * QUANTUM_US - MARGIN_US for start in asked)  # noqa: E731
        left = {tos: [at for at, frame in records[switch] if is_from(nic ^ 1)(frame) and frame[15] == tos]
                for tos in (LOSSLESS << 2 | ECT0, ECT0)}
        came = [at for at, frame in records[PORTS[nic ^ 1][1]] if is_from(nic ^ 1)(frame) and frame[15] == LOSSLESS << 2 | ECT0]
        if early := [at for at in left[LOSSLESS << 2 | ECT0] if is_paused(at)]:
            yield f'{what}: {len(early)} frames of priority {LOSSLESS} left while it was paused, at {early[:3]} µs; pauses at {asked} µs'
        if not any(map(is_paused, came)) or not any(map(is_paused, left[ECT0])):
            yield f'{what}: nothing came for the paused priority, or nothing of another left: pauses at {asked} µs'
        for tos in left:
            if sorted(numbers(lab.machine.cables[nic].received, tos)) != list(range(PAUSES * FRAMES)):
                yield f'{what}: of {PAUSES * FRAMES} frames with TOS {tos} these came: {numbers(lab.machine.cables[nic].received, tos)}'


def send_marks(lab: Lab) -> None:
    """Requests and answers, by which the NIC knows the two queue pairs and has a rate; then a mark, and a CNP the other way."""
    for nic in filter(has_dcqcn, range(len(KINDS))):
        peer = nic ^ 1
        lab.send(peer, roce(peer, nic, SEND_ONLY, PSN, ECT0, bytes(64)))
        lab.receives(nic, lambda frame: frame[36:38] == b'\x12\xb7', 'request')
        lab.send(nic, roce(nic, peer, ACKNOWLEDGE, PSN, ECT0, struct.pack('>I', 1)))
        lab.receives(peer, lambda frame: frame[36:38] == b'\x12\xb7' and frame[42] == ACKNOWLEDGE, 'acknowledgement')
        lab.send(nic, roce(nic, peer, SEND_ONLY, 2 * PSN, ECT0, bytes(64)))
        lab.receives(peer, lambda frame: frame[36:38] == b'\x12\xb7' and frame[42] == SEND_ONLY, 'request of the host with DCQCN')
        lab.send(peer, roce(peer, nic, ACKNOWLEDGE, 2 * PSN, ECT0, struct.pack('>I', 1)))
        lab.receives(nic, lambda frame: frame[36:38] == b'\x12\xb7' and frame[42] == ACKNOWLEDGE, 'acknowledgement')
        lab.send(peer, roce(peer, nic, SEND_ONLY, PSN + 1, CE, bytes(64)))
        lab.receives(peer, lambda frame: frame[36:38] == b'\x12\xb7' and frame[42] == CNP, 'CNP')
        lab.send(peer, roce(peer, nic, CNP, 0, ECT0, bytes(16)), udp(peer, mac_bytes(nic), ip_of(nic), 9, 300))
        lab.receives(nic, lambda frame, peer=peer: is_from(peer)(frame) and len(frame) == 300, 'frame behind the CNP')


def marks_answered(lab: Lab, driver: str, edges: dict) -> Problems:
    for nic in filter(has_dcqcn, range(len(KINDS))):
        peer, edge = nic ^ 1, edges[f'h{nic + 1}']
        counted = {name: edge[name] for name in ('np_ecn_marked_roce_packets', 'np_cnp_sent', 'np_cnp_unknown', 'rp_cnp_handled', 'rp_cnp_ignored')}
        if counted != {'np_ecn_marked_roce_packets': 1, 'np_cnp_sent': 1, 'np_cnp_unknown': 0, 'rp_cnp_handled': 1, 'rp_cnp_ignored': 0}:
            yield f'{driver}, {KINDS[nic]}: {counted}'
        cnps = [frame for frame in lab.machine.cables[peer].received if frame[36:38] == b'\x12\xb7' and frame[42] == CNP]
        if [(frame[26:34], frame[46:50], frame[54:70], frame[-4:]) for frame in cnps] != [
                (ip_of(nic) + ip_of(peer), struct.pack('>I', BECN | QP), bytes(16), icrc(cnps[0]))]:
            yield f'{driver}, {KINDS[peer]}: CNPs {[frame.hex() for frame in cnps]}'
        if any(frame[36:38] == b'\x12\xb7' and frame[42] == CNP for frame in lab.machine.cables[nic].received):
            yield f'{driver}, {KINDS[nic]}: a CNP came through to a host that has no use for it'


def flow_control(it: Softspine, driver: str) -> Problems:
    with Machine(it.folder, it.binary, KINDS, driver) as machine:
        lab = Lab(machine, PORTS)
        lab.start(testbed(machine))
        for nic in range(len(KINDS)):
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
            lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
        send_into_pauses(lab)
        send_marks(lab)
        yield from lab.end()
        yield from pauses_held(lab, driver)
        yield from marks_answered(lab, driver, json.loads((machine.job / 'report.json').read_text())['edges'])


def under_uio(it: Softspine) -> Problems:
    """PFC from outside stops its priority, and marks are answered by CNPs, under uio_pci_generic"""
    yield from flow_control(it, 'uio_pci_generic')


def under_vfio(it: Softspine) -> Problems:
    """PFC from outside stops its priority, and marks are answered by CNPs, under vfio-pci"""
    yield from flow_control(it, 'vfio-pci')


if __name__ == '__main__':
    sys.exit(main([under_uio, under_vfio]))
