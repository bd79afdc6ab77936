#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts made of raw sockets on interfaces of this network namespace: they speak ARP, and LACP where asked to.

    bonded_hosts.py NAME=MAC,ADDRESS,GATEWAY,INTERFACE[,INTERFACE]…

Reads a command a line, and answers each with a line of JSON:
    speak NAME PORT | silent NAME PORT   LACPDUs by that port of the host
    meet NAME                            ask for the gateway by each port
    send NAME NUMBER TO                  one UDP packet of each of so many flows, by its ports in turns, to another host
    state                                for each port: the last LACPDU received, whether it is in sync, UDP packets received,
                                         whether the gateway has answered there
LACP is 802.1AX's as far as one partner needs it, at the fast rate; written from the standard, for the tests alone.
"""
from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time

from frames import ipv4

SLOW = bytes.fromhex('0180c2000002')
AGGREGATION, SHORT, ACTIVE, SYNC, COLLECTING, DISTRIBUTING = 4, 2, 1, 8, 16, 32
LACP_SECONDS = 1


class Port:
    def __init__(self, host: 'Host', number: int, interface: str) -> None:
        self.host, self.number, self.speaks, self.partner, self.packets, self.met = host, number, False, None, 0, False
        self.heard_at = 0.0
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((interface, 0))

    def send(self, frame: bytes) -> None:
        try:
            self.socket.send(frame.ljust(60, b'\0'))
        except OSError:
            pass  # an interface without carrier

    def in_sync(self) -> bool:
        return self.partner is not None and time.monotonic() - self.heard_at < 3 * LACP_SECONDS

    def say_lacp(self) -> None:
        state = ACTIVE | SHORT | AGGREGATION
        if self.in_sync():
            state |= SYNC | COLLECTING
            if self.partner['state'] & SYNC:
                state |= DISTRIBUTING
        actor = struct.pack('>BBH6sHHHB3x', 1, 20, 0xffff, self.host.mac, 7, 0xff, self.number + 1, state)
        seen = self.partner if self.in_sync() else None
        partner = struct.pack('>BBH6sHHHB3x', 2, 20, *((seen['system_priority'], bytes.fromhex(seen['system']), seen['key'],
                                                      seen['port_priority'], seen['port'], seen['state']) if seen else (0, bytes(6), 0, 0, 0, 0)))
        self.send(SLOW + self.host.mac + b'\x88\x09\x01\x01' + actor + partner + struct.pack('>BBH12x', 3, 16, 0) + bytes(52))

    def take(self) -> None:
        try:
            frame, where = self.socket.recvfrom(4096)
        except OSError:
            return  # the interface has been set down, which the socket says once
        if where[2] == socket.PACKET_OUTGOING:
            return
        kind = frame[12:14]
        if kind == b'\x88\x09' and frame[14] == 1:
            priority, system, key, port_priority, port, state = struct.unpack('>H6sHHHB', frame[18:33])
            self.partner = {'system_priority': priority, 'system': system.hex(), 'key': key, 'port_priority': port_priority, 'port': port, 'state': state}
            self.heard_at = time.monotonic()
        elif kind == b'\x08\x06' and frame[20:22] == b'\0\x01' and frame[38:42] == self.host.address:
            self.send(frame[6:12] + self.host.mac + b'\x08\x06' + frame[14:20] + b'\0\x02' + self.host.mac + self.host.address + frame[22:32])
        elif kind == b'\x08\x06' and frame[20:22] == b'\0\x02' and frame[28:32] == self.host.gateway:
            self.host.router, self.met = frame[22:28], True
        elif kind == b'\x08\x00' and frame[23] == 17 and frame[30:34] == self.host.address:
            self.packets += 1


class Host:
    def __init__(self, text: str) -> None:
        self.name, _, rest = text.partition('=')
        mac, address, gateway, *interfaces = rest.split(',')
        self.mac, self.address, self.gateway = bytes.fromhex(mac.replace(':', '')), socket.inet_aton(address), socket.inet_aton(gateway)
        self.router: bytes | None = None
        self.ports = [Port(self, number, interface) for number, interface in enumerate(interfaces)]

    def meet(self) -> None:
        for port in self.ports:
            port.send(b'\xff' * 6 + self.mac + b'\x08\x06' + struct.pack('>HHBBH6s4s6s4s', 1, 0x800, 6, 4, 1, self.mac, self.address, bytes(6), self.gateway))

    def send(self, flows: int, to: 'Host') -> None:
        for flow in range(flows):
            udp = struct.pack('>HHHH', 1024 + 7 * flow, 9, 28, 0) + bytes(20)
            frame = (self.router or bytes(6)) + self.mac + b'\x08\x00' + ipv4(self.address, to.address, 17, udp)
            self.ports[flow % len(self.ports)].send(frame)

    def state(self) -> list[dict]:
        return [{'partner': port.partner, 'in_sync': port.in_sync(), 'packets': port.packets, 'met': port.met} for port in self.ports]


def main(texts: list[str]) -> None:
    hosts = {host.name: host for host in map(Host, texts)}
    ports = [port for host in hosts.values() for port in host.ports]
    due = 0.0
    while True:
        ready, _, _ = select.select([sys.stdin, *(port.socket for port in ports)], [], [], max(0.0, due - time.monotonic()))
        for port in ports:
            if port.socket in ready:
                port.take()
        if time.monotonic() >= due:
            due = time.monotonic() + LACP_SECONDS / 4
            for port in ports:
                if port.speaks:
                    port.say_lacp()
        if sys.stdin not in ready:
            continue
        words = sys.stdin.readline().split()
        if not words:
            return
        if words[0] in ('speak', 'silent'):
            hosts[words[1]].ports[int(words[2])].speaks = words[0] == 'speak'
        elif words[0] == 'meet':
            hosts[words[1]].meet()
        elif words[0] == 'send':
            hosts[words[1]].send(int(words[2]), hosts[words[3]])
        print(json.dumps({host.name: host.state() for host in hosts.values()}), flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
