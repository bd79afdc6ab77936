# SPDX-License-Identifier: Apache-2.0
"""`model: LINUX` against the kernel that runs here: packets through a namespace with a multipath route, and explain.

Needs root, veth pairs and net.ipv4.fib_multipath_hash_seed (Linux 6.11).
"""
from __future__ import annotations

import ctypes
import ipaddress
import json
import multiprocessing
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from frames import ipv4
from softspine import Problems, Skip, Softspine, main

SEED = 12345
WEIGHTS = [1, 3, 2, 1, 5, 1, 4]
PACKETS = 40  # of each kind
SYSCTL = Path('/proc/sys/net')
CLONE_NEWNET = 0x40000000
ROUTER = '02:00:00:00:00:00'  # the testbed's first switch, which is tor1
FIELDS = {'SRC_IP': 1, 'DST_IP': 2, 'IP_PROTOCOL': 4, 'IPV6_FLOW_LABEL': 8, 'L4_SRC_PORT': 16, 'L4_DST_PORT': 32}
CUSTOM = ['SRC_IP', 'IP_PROTOCOL', 'IPV6_FLOW_LABEL', 'L4_SRC_PORT', 'L4_DST_PORT']
PROTOCOLS = {'udp': 17, 'tcp': 6, 'sctp': 132, 'esp': 50, 'icmp': 1, 'fragment': 17, 'ip in ip': 4, 'ip6 in ip': 41, 'gre': 47, 'vxlan': 17}


@dataclass
class Case:
    version: int
    policy: int


def ipv6(source: bytes, destination: bytes, protocol: int, payload: bytes, label: int) -> bytes:
    return struct.pack('>IHBB', 0x60000000 | label, len(payload), protocol, 64) + source + destination + payload


def layer4(kind: str, chance: random.Random) -> bytes:
    ports = struct.pack('>HH', chance.randrange(1, 65536), chance.randrange(1, 65536))
    inner = ipv4(chance.randbytes(4), chance.randbytes(4), 17, ports + bytes(16))
    match kind:
        case 'ip in ip':
            return inner
        case 'ip6 in ip':
            return ipv6(chance.randbytes(16), chance.randbytes(16), 17, ports + bytes(16), chance.randrange(1 << 20))
        case 'gre':
            return bytes([0x20, 0, 8, 0, 1, 2, 3, 4]) + inner
        case 'vxlan':
            udp = ports[:2] + struct.pack('>HHH', 4789, 16 + 14 + len(inner), 0)
            return udp + bytes([8, 0, 0, 0, 0, 0, 7, 0]) + chance.randbytes(12) + b'\x08\x00' + inner
        case 'icmp':
            return bytes([8, 0]) + bytes(22)
        case 'tcp':
            return ports + bytes(8) + b'\x50\x10' + bytes(10)
    return ports + struct.pack('>HH', 24, 0) + bytes(16)


def frames(case: Case, to: str) -> list[bytes]:
    """Of every kind, from anywhere to one host; the last four bytes of the source say which one it is."""
    chance = random.Random(100 * case.version + case.policy)
    destination = ipaddress.ip_address(to).packed
    out = []
    for kind, protocol in PROTOCOLS.items():
        if case.version == 6 and kind in ('fragment', 'icmp'):
            continue
        for number in range(PACKETS):
            payload = layer4(kind, chance)
            if case.version == 4:
                source = bytes([10, 200]) + chance.randbytes(2)
                packet = ipv4(source, destination, protocol, payload, 0x2000 if kind == 'fragment' and number % 2 == 0 else 0)
                kind_bytes = b'\x08\x00'
            else:
                source = b'\xfd\x77' + chance.randbytes(14)
                packet = ipv6(source, destination, protocol, payload, chance.randrange(1 << 20))
                kind_bytes = b'\x86\xdd'
            out.append(bytes.fromhex(ROUTER.replace(':', '')) + bytes.fromhex('0200000000fe') + kind_bytes + packet)
    return out


def set_up(case: Case, to: str) -> None:
    ways = len(WEIGHTS)
    lines = []
    for i in range(ways + 1):
        lines.append(f'link add v{i} type veth peer name w{i}')
    lines.append(f'link set v{ways} address {ROUTER}')
    hops = {4: [], 6: []}
    for i in range(ways + 1):
        lines += [f'link set v{i} up', f'link set w{i} up', f'addr add 10.9.{i}.1/24 dev v{i}', f'addr add fd09:{i}::1/64 dev v{i} nodad']
        if i == ways:
            continue
        for version, gateway in ((4, f'10.9.{i}.2'), (6, f'fd09:{i}::2')):
            lines.append(f'neigh replace {gateway} lladdr 02:00:00:00:07:{i:02x} dev v{i}')
            hops[version].append(f'nexthop via {gateway} dev v{i} weight {WEIGHTS[i]}')
    lines.append(f'route add {to} ' + ' '.join(hops[case.version]))
    lines.append(f'route add {"10.200.0.0/16" if case.version == 4 else "fd77::/16"} dev v{ways}')
    subprocess.run(['ip', '-batch', '-'], input='\n'.join(lines) + '\n', text=True, check=True)
    family = f'ipv{case.version}'
    for name, value in {'ipv4/ip_forward': 1, 'ipv6/conf/all/forwarding': 1, 'ipv4/conf/all/rp_filter': 0, f'ipv4/conf/v{ways}/rp_filter': 0,
                        'ipv4/fib_multipath_hash_seed': SEED, f'{family}/fib_multipath_hash_policy': case.policy,
                        f'{family}/fib_multipath_hash_fields': sum(FIELDS[field] for field in CUSTOM)}.items():
        (SYSCTL / name).write_text(str(value))


def taken_by_kernel(case: Case, to: str, answer) -> None:
    """In a process of its own, whose namespace ends with it: the way that each packet takes, -1 for none."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        answer.send(None)
        return
    set_up(case, to)
    into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    into.bind((f'w{len(WEIGHTS)}', 0))
    out = []
    for i in range(len(WEIGHTS)):
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        end.bind((f'w{i}', 3))
        out.append(end)
    time.sleep(0.5)  # IPv6 takes so long to use its addresses
    ways = []
    for frame in frames(case, to):
        source = frame[26:30] if case.version == 4 else frame[22:38]
        into.send(frame)
        way, end = -1, time.monotonic() + 2
        while way < 0 and time.monotonic() < end:
            for ready in select.select(out, [], [], 0.2)[0]:
                seen = ready.recv(4096)
                if (seen[26:30] if case.version == 4 else seen[22:38]) == source:
                    way = out.index(ready)
        ways.append(way)
    answer.send(ways)


def pcap_of(packets: list[bytes]) -> bytes:
    out = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for packet in packets:
        out += struct.pack('<IIII', 0, 0, len(packet), len(packet)) + packet
    return out


def explained(it: Softspine, case: Case, packets: list[bytes]) -> list[int]:
    weights = ', '.join(f'spine{i + 1}: {weight}' for i, weight in enumerate(WEIGHTS))
    fields = f', fields: [{", ".join(CUSTOM)}]' if case.policy == 3 else ''
    path = it.write('linux.yaml', f'''name: linux
fabric: {{kind: leaf-spine, tors: 2, spines: {len(WEIGHTS)}, hosts_per_tor: 1, host_link: {{rate: 10Gbps}}, fabric_link: {{rate: 10Gbps}}}}
profiles:
  default: {{hash: {{model: LINUX, policy: {case.policy}, seed: {SEED}{fields}}}, groups: {{weights: {{{weights}}}}}}}
''')
    capture = it.folder / 'in.pcap'
    capture.write_bytes(pcap_of(packets))
    done = it('explain', path, '--pcap', capture, '--from', 'h1', '--json')

    return [int(json.loads(line)['hops'][0]['to'].removeprefix('spine')) - 1 for line in done.out.splitlines()]


def agree(it: Softspine, version: int) -> Problems:
    if os.geteuid() != 0 or not (SYSCTL / 'ipv4' / 'fib_multipath_hash_seed').exists():
        raise Skip('no root, or a kernel without fib_multipath_hash_seed')
    to = '10.0.2.2' if version == 4 else 'fd00:0:0:2::2'
    for policy in range(4):
        case = Case(version, policy)
        ours, theirs = multiprocessing.Pipe()
        kernel = multiprocessing.Process(target=taken_by_kernel, args=(case, to, theirs))
        kernel.start()
        theirs.close()
        ways = ours.recv() if ours.poll(120) else None
        kernel.join()
        if ways is None:
            raise Skip('no namespace of its own')
        packets = frames(case, to)
        if min(ways) < 0:
            yield f'policy {policy}: the kernel forwarded {sum(way >= 0 for way in ways)} of {len(ways)} packets'
        if len(set(ways)) != len(WEIGHTS):
            yield f'policy {policy}: the kernel used {len(set(ways))} ways'
        answers = explained(it, case, packets)
        wrong = [i for i, (answer, way) in enumerate(zip(answers, ways, strict=True)) if answer != way]
        if wrong:
            first = packets[wrong[0]]
            yield f'policy {policy}: {len(wrong)} of {len(ways)} go elsewhere, the first by way {ways[wrong[0]]}: {first.hex()}'


def agrees_with_the_kernel_for_ipv4(it: Softspine) -> Problems:
    """explain of model LINUX names the way that this kernel takes: IPv4, policies 0 to 3"""
    yield from agree(it, 4)


def agrees_with_the_kernel_for_ipv6(it: Softspine) -> Problems:
    """explain of model LINUX names the way that this kernel takes: IPv6, policies 0 to 3"""
    yield from agree(it, 6)


if __name__ == '__main__':
    sys.exit(main([agrees_with_the_kernel_for_ipv4, agrees_with_the_kernel_for_ipv6]))
