# SPDX-License-Identifier: Apache-2.0
"""`softspine show devices`: what DPDK says of the devices behind edges, and counts, is what their other ends count."""
from __future__ import annotations

import json
import sys

from carriers import becomes, inside, need_root
from softspine import Problems, Softspine, main

TESTBED = '''name: shown
run: {clock: wall, duration: 5min}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    h1: {kind: host, mac: "02:00:00:00:aa:01", edge: {af_packet: {interface: v0}}}
    h2: {kind: host, mac: "02:00:00:00:aa:02", edge: {dpdk: "net_af_packet9,iface=x0,framecnt=1024"}}
    h3: {kind: host, edge: {vhost_user: {socket: v.sock}}}
    h4: {kind: host, edge: {tap: {name: tap0}}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 1500}
    - {endpoints: [tor1, h2], rate: 10Gbps, mtu: 1500}
    - {endpoints: [tor1, h3], rate: 25Gbps, mtu: 1500}
    - {endpoints: [tor1, h4], rate: 10Gbps, mtu: 1500}
'''
# No kernel says anything by itself there.
QUIET = ('echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; for i in v x; do ip link add ${i}0 type veth peer name ${i}1; '
         'ip link set ${i}0 up; ip link set ${i}1 up; done; exec "$0" "$@"')
# A frame each of 60, 61, … bytes, to a station that nobody has seen: the ToR floods it.
SEND = ('import socket, sys\nto = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\nto.bind((sys.argv[1], 0))\n'
        'for i in range(int(sys.argv[2])):\n'
        '    to.send(bytes.fromhex("0200000000ee02000000bb0" + sys.argv[3] + "88b5").ljust(60 + i, b"x"))\n')


def seen(run, interface: str) -> dict:
    return json.loads(inside(run, 'ip', '-s', '-j', 'link', 'show', interface))[0]['stats64']


def counters(it: Softspine, node: str) -> dict:
    (device,) = it.show('devices', '--node', node)
    return device['counters']


def counts_what_the_other_end_counts(it: Softspine) -> Problems:
    """packets and bytes both ways are those of the other end of the veth, and those that were sent"""
    need_root()
    sent = {'h1': ('v1', 300), 'h2': ('x1', 217)}
    with it.running(it.write('shown.yaml', TESTBED), before=('unshare', '--net', 'sh', '-c', QUIET)) as run:
        for number, (interface, count) in enumerate(sent.values()):
            inside(run, sys.executable, '-c', SEND, interface, str(count), str(number))
        for node, (interface, count) in sent.items():
            octets = sum(60 + i for i in range(count))
            yield from becomes(f'received by {node}', lambda: counters(it, node).get('rx_good_packets'), count)
            yield from becomes(f'received from {interface}', lambda: seen(run, interface)['rx']['packets'], 517 - count)
            shown, there = counters(it, node), seen(run, interface)
            wanted = {'rx_good_packets': there['tx']['packets'], 'rx_good_bytes': there['tx']['bytes'],
                      'tx_good_packets': there['rx']['packets'], 'tx_good_bytes': there['rx']['bytes']}
            if (there['tx']['packets'], there['tx']['bytes']) != (count, octets) or not wanted.items() <= shown.items():
                yield f'{node} shows {shown}; {interface} has {there}, and was given {count} frames of {octets} bytes'
            if 0 in shown.values():
                yield f'{node} shows counters that are zero: {shown}'


def says_what_each_is(it: Softspine) -> Problems:
    """each DPDK device is there, guests' sockets too, and no TAP; its link is that of its interface"""
    need_root()
    with it.running(it.write('shown.yaml', TESTBED), before=('unshare', '--net', 'sh', '-c', QUIET)) as run:
        devices = {device['node']: device for device in it.show('devices')}
        named = {node: (device['port'], device['driver'], device['bus']) for node, device in devices.items()}
        if named != {'h1': ('eth0', 'net_af_packet', 'vdev'), 'h2': ('eth0', 'net_af_packet', 'vdev'), 'h3': ('eth0', 'net_vhost', 'vdev')}:
            yield f'devices are {named}'
        h2 = devices['h2']
        if (h2['device'], h2['arguments']) != ('net_af_packet9', 'net_af_packet9,iface=x0,framecnt=1024') or h2['mtu_bytes'] != 1500:
            yield f'h2 is {h2}'
        if (h2['rx_descriptors'], h2['tx_descriptors']) != (1024, 1024) or h2['rx_offloads'] != {'used': [], 'offered': ['VLAN_STRIP']}:
            yield f'h2 has {h2}'
        if devices['h3']['link']['up']:
            yield f'nobody is at the socket: {devices["h3"]}'
        text = it('show', 'devices', '--node', 'h1')
        yield from text.exited(0)
        yield from text.says('h1    eth0  net_af_packet', 'up, 10000 Mb/s', 'h1:eth0 uses offloads: rx none (offered: VLAN_STRIP); tx none (offered: ')
        if 'h2' in text.out:
            yield f'--node h1 shows others: {text.out}'
        yield from run.end(2).exited(0)


if __name__ == '__main__':
    sys.exit(main([counts_what_the_other_end_counts, says_what_each_is]))
