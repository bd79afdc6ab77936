# SPDX-License-Identifier: Apache-2.0
"""TCP, UDP and ICMP of kernel hosts: between their super-frames the fabric sees the frames that a NIC with TSO sends."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from one_run import tshark
from outside_testbeds import need_programs
from softspine import Problems, Skip, Softspine, main

# h2 brings 4 MB over IPv4 and as much over IPv6, h1 sends all of it back; h1 prints what it had from h2, h2 what came back.
SERVES = '''
import hashlib, socket
server = socket.create_server(('::', 33333), family=socket.AF_INET6, dualstack_ipv6=True)
for _ in range(2):
    peer = server.accept()[0]
    data = b''.join(iter(lambda: peer.recv(65536), b''))
    print(len(data), hashlib.sha256(data).hexdigest(), flush=True)
    peer.sendall(data)
    peer.close()
tx = int(open('/proc/net/dev').read().split('eth0:')[1].split()[9])
print('frames', tx)
'''
ASKS = '''
import hashlib, random, socket, sys
data = random.Random(7).randbytes(4_000_001)
for address in sys.argv[1:]:
    peer = socket.create_connection((address, 33333), 20)
    peer.sendall(data)
    peer.shutdown(socket.SHUT_WR)
    back = b''.join(iter(lambda: peer.recv(65536), b''))
    print(len(back), hashlib.sha256(back).hexdigest(), flush=True)
    peer.close()
'''
TESTBED = '''name: offload
run: {{clock: wall, duration: 60s}}
fabric: {{kind: star, hosts: 2, host_link: {{rate: 10Gbps, mtu: {mtu}}}}}
topology:
  nodes:
    h1: {{{vlan}namespace: {{timeout: 40s, run: "python3 {folder}/serves.py"}}}}
    h2: {{{vlan}namespace: {{timeout: 40s, run: "ping -n -c 2 -i 0.2 -s 3000 10.0.1.2 && ping -6 -n -c 2 -i 0.2 -s 3000 {six} && python3 {folder}/asks.py 10.0.1.2 {six}"}}}}
expect:
  - {{value: commands.*.exit_status, equal: 0}}
  - {{value: totals.balanced, equal: true}}
'''
FIELDS = ('frame.len', 'vlan.id', 'tcp.len', 'ip.checksum.status', 'tcp.checksum.status', 'udp.checksum.status', 'icmp.checksum.status', 'icmpv6.checksum.status')
CHECKED = [word for name in ('tcp.check_checksum', 'udp.check_checksum', 'ip.check_checksum') for word in ('-o', f'{name}:TRUE')]
SIX = 'fd00:0:0:1::2'


def frames_of(capture: Path) -> list[dict[str, str]]:
    wanted = [word for name in FIELDS for word in ('-e', name)]
    lines = tshark('-n', '-r', capture, *CHECKED, '-T', 'fields', *wanted).splitlines()
    return [dict(zip(FIELDS, line.split('\t'))) for line in lines]


def crossed(it: Softspine, mtu: int, vlan: str = '') -> Problems:
    need_programs('ip', 'ping')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    it.write('serves.py', SERVES)
    it.write('asks.py', ASKS)
    file = it.write('offload.yaml', TESTBED.format(mtu=mtu, folder=it.folder, six=SIX, vlan=vlan))
    yield from it('run', file, '--folder', it.folder / 'o', '--capture', 'all.pcapng', '--full', '--quiet').exited(0)
    served, asked = ((it.folder / 'o' / host / 'stdout').read_text().splitlines() for host in ('h1', 'h2'))
    digests = {line for line in served + asked if line.startswith('4000001 ')}
    if len(digests) != 1 or len([line for line in served + asked if line in digests]) != 4:
        yield f'streams differ: {served} {asked}'
    frames = frames_of(it.folder / 'all.pcapng')
    most = mtu + 14 + (4 if vlan else 0)
    if longest := [frame for frame in frames if int(frame['frame.len']) > most]:
        yield f'{len(longest)} frames are longer than {most}: {longest[0]}'
    status = [name for name in FIELDS if name.endswith('status')]
    if wrong := [frame for frame in frames for name in status if '0' in frame[name].split(',')]:
        yield f'{len(wrong)} checksums are wrong, the first of {wrong[0]}'
    # 8 MB each way, seen where a frame enters and where it leaves.
    full = [frame for frame in frames if int(frame['frame.len']) == most and frame['tcp.len']]
    if len(full) < 2 * 16_000_000 // mtu * 0.7:
        yield f'only {len(full)} of {len(frames)} frames are full'
    if vlan and any(frame['vlan.id'] != '100' for frame in full):
        yield 'frames without their tag'
    handed = int(next(line for line in served if line.startswith('frames ')).split()[1])
    if handed > 16_000_000 // mtu // 2:  # of 64 KiB: a seventh, or with an MTU of 1500 a fortieth
        yield f'the kernel handed over {handed} frames: no super-frames'


def cuts_and_joins(it: Softspine) -> Problems:
    """MTU 1500: streams over IPv4 and IPv6 arrive as they were sent, tshark finds every checksum right and no frame above the MTU"""
    yield from crossed(it, 1500)


def cuts_and_joins_jumbo_frames(it: Softspine) -> Problems:
    """MTU 9000: likewise"""
    yield from crossed(it, 9000)


def cuts_and_joins_tagged_frames(it: Softspine) -> Problems:
    """802.1Q devices of the hosts: likewise, and every frame keeps its tag"""
    trial = 'ip tuntap add trial mode tap && ip link add link trial name vlan5 type vlan id 5'
    if subprocess.run(['unshare', '--net', 'sh', '-c', trial], capture_output=True, check=False).returncode != 0:
        raise Skip('this kernel has no 802.1Q')
    yield from crossed(it, 1500, vlan='vlan: 100, ')


if __name__ == '__main__':
    sys.exit(main([cuts_and_joins, cuts_and_joins_jumbo_frames, cuts_and_joins_tagged_frames]))
