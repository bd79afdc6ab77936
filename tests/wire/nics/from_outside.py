# SPDX-License-Identifier: Apache-2.0
"""What hosts at the ends of cables send: tags, checksums, lengths. A NIC leaves frames as they are, and what does not get through is
counted."""
from __future__ import annotations

import json
import struct
import sys
from collections import Counter
from pathlib import Path

from lab import BROADCAST, GATEWAY, KINDS, Lab, arp, ip_of, mac_bytes, udp
from machine import Machine, mac_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from softspine import Problems, Softspine, main  # noqa: E402

HOST = '    h{n}: {{kind: host, address: 10.0.1.1{n}, mac: "{mac}", vlan: {{id: 100}}, edge: {{dpdk: "{device}"}}}}'
LINK = '    - {{endpoints: [tor1, h{n}], rate: 1Gbps, mtu: 9000}}'
PORTS = [(f'tor1:Ethernet{4 * n}', f'h{n + 1}:eth0') for n in range(len(KINDS))]
TAG = bytes.fromhex('8100a064')  # PCP 5, VLAN 100
LARGEST = 9000 + 14 + 4


def testbed(machine: Machine) -> str:
    lines = {text: '\n'.join(text.format(n=n + 1, mac=mac_of(n), device=machine.address(n)) for n in range(len(KINDS))) for text in (HOST, LINK)}
    return ('name: from-outside\nrun: {clock: wall, duration: 20min}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n'
            f'{lines[HOST]}\n  links:\n{lines[LINK]}\n')


def tagged(frame: bytes, tag: bytes = TAG) -> bytes:
    return frame[:12] + tag + frame[12:]


def changed(frame: bytes, at: int, word: int) -> bytes:
    return frame[:at] + struct.pack('>H', word) + frame[at + 2:]


def forwarded(nic: int, to: int) -> list[bytes]:
    """What a switch passes on between two tagged ports, and so have to the NICs."""
    plain = udp(nic, mac_bytes(to), ip_of(to), 1, 100)
    return [tagged(plain),
            tagged(plain, bytes.fromhex('8100b064')),  # with DEI
            tagged(changed(plain, 40, 0x1234)),  # UDP's checksum is wrong
            tagged(changed(plain, 24, 0x1234)),  # IP's checksum is wrong: layer 2 does not read it
            tagged(changed(plain, 16, 200)),  # shorter than its IP packet
            tagged(udp(nic, mac_bytes(to), ip_of(to), 2, 61) + b'trailer'),  # longer than its IP packet
            tagged(tagged(plain, bytes.fromhex('81000007'))),  # another tag behind it
            tagged(mac_bytes(to) + mac_bytes(nic) + b'\x88\xb5' + bytes(range(45))),
            *(tagged(udp(nic, mac_bytes(to), ip_of(to), size, size - 4)) for size in (64, 1518, 4096, LARGEST))]


def refused(nic: int, to: int, gateway: bytes) -> list[tuple[str, bytes]]:
    plain = udp(nic, mac_bytes(to), ip_of(to), 3, 100)
    routed = udp(nic, gateway, ip_of(to), 4, 100)
    return [('vlan_not_allowed', plain),
            ('vlan_not_allowed', tagged(plain, bytes.fromhex('8100a000'))),  # a priority, and no VLAN
            ('vlan_not_allowed', tagged(plain, bytes.fromhex('81000065'))),
            ('vlan_not_allowed', tagged(tagged(plain), bytes.fromhex('88a80064'))),  # 802.1ad
            ('vlan_not_allowed', plain[:20]),  # virtio pads nothing
            ('bad_length', tagged(changed(routed, 16, 200))),
            ('bad_checksum', tagged(changed(routed, 24, 0x1234)))]


# Frames that no switch's port takes, by who drops them. A device of QEMU's pads what is shorter than an Ethernet header, and then it has no tag; virtio's driver refuses it.
# What is longer than the largest MTU: vmxnet3 itself, and softspine behind the others.
TOO_SHORT, TOO_LONG = [b'\0\1\2', bytes(13)], [tagged(bytes([2]) * 12 + b'\x88\xb5' + bytes(size)) for size in (9300, 12000)]


def drops_of(kind: str) -> dict[str, int]:
    """Those of its edge: what its driver or the device has dropped is edge_full."""
    lost = len(TOO_SHORT) * (kind == 'virtio-net-pci') + len(TOO_LONG) * (kind == 'vmxnet3')
    return {'oversize': len(TOO_LONG) * (kind != 'vmxnet3'), 'edge_full': lost}


def refuses_without_hugepages(machine: Machine) -> Problems:
    (machine.job / 'it.yaml').write_text(testbed(machine))
    machine.bind()
    status, said = machine.sh('echo 0 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; softspine run it.yaml 2>&1')
    if status != 2 or 'nr_hugepages' not in said:
        yield f'{machine.driver}: without hugepages it ends with {status}: {said}'


def from_outside(it: Softspine, driver: str) -> Problems:
    with Machine(it.folder, it.binary, KINDS, driver) as machine:
        lab = Lab(machine, PORTS)
        yield from refuses_without_hugepages(machine)
        lab.start(testbed(machine))
        for nic in range(len(KINDS)):
            lab.send(nic, tagged(arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST)))
            lab.receives(nic, lambda frame: frame[12:14] == TAG[:2] and frame[32:36] == GATEWAY, 'answer of the gateway')
        gateway = next(frame[6:12] for frame in machine.cables[0].received if frame[32:36] == GATEWAY)
        for nic in range(len(KINDS)):
            other = (nic + 1) % len(KINDS)
            lab.send(nic, *(frame for _, frame in refused(nic, other, gateway)), *TOO_SHORT, *forwarded(nic, other))
            lab.receives(other, lambda frame, nic=nic: frame[6:12] == mac_bytes(nic) and len(frame) == LARGEST, 'longest frame')
            lab.send(nic, *TOO_LONG)
        for kind in set(KINDS) - {'vmxnet3'}:
            lab.until(f'softspine show drops | grep "h{KINDS.index(kind) + 1} .* oversize .* {len(TOO_LONG)}$"', 20)
        yield from lab.end()
        report = json.loads((machine.job / 'report.json').read_text())
        for nic, kind in enumerate(KINDS):
            missing = Counter(forwarded((nic - 1) % len(KINDS), nic)) - Counter(machine.cables[nic].received)
            yield from (f'{driver}, {kind}: {len(frame)} B {frame[:64].hex()} have not come' for frame in missing)
            drops = {reason: count for reason, count in report['edges'][f'h{nic + 1}']['in_drops'].items() if count}
            if drops != (wanted := {reason: count for reason, count in drops_of(kind).items() if count}):
                yield f'{driver}, {kind}: the edge has dropped {drops}, which should be {wanted}'
        wanted = Counter(reason for nic in range(len(KINDS)) for reason, _ in refused(nic, nic, gateway))
        wanted['vlan_not_allowed'] += len(TOO_SHORT) * (len(KINDS) - 1)
        drops = report['totals']['drops']
        if {reason: drops[reason] for reason in wanted} != wanted:
            yield f'{driver}: the switch has dropped {drops}, which should be {dict(wanted)}'
        yield from lab.differences()


def under_uio(it: Softspine) -> Problems:
    """what comes from outside under uio_pci_generic: tags, checksums and trailers stay, the rest is counted"""
    yield from from_outside(it, 'uio_pci_generic')


def under_vfio(it: Softspine) -> Problems:
    """what comes from outside under vfio-pci: tags, checksums and trailers stay, the rest is counted"""
    yield from from_outside(it, 'vfio-pci')


if __name__ == '__main__':
    sys.exit(main([under_uio, under_vfio]))
