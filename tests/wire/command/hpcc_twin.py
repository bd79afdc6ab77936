# SPDX-License-Identifier: Apache-2.0
"""HPCC's ns-3 once more, for the two runs of docs/truth.md: what its MMU and its devices do, by their rules, packet by packet.

Four racks of sixteen hosts, sixteen spines, links of 100 Gb/s and 1 us. A flow goes by the spine of its destination's
number, modulo sixteen. Every host has at most one flow, sends it as fast as its link lets, and is acknowledged once, at its end.

    MMU     a port's packets first take what is reserved, then shared memory up to an eighth of what is free of it
            (pfc_a_shift), then headroom; released when they begin to leave. PAUSE as soon as anything is in headroom or the
            limit is reached, RESUME when headroom is empty and use is 3 KiB below the limit
    device  queue 0 (PAUSE, RESUME, acknowledgements) before the data's; obeys a PAUSE `response` after its last bit, a
            RESUME at once
"""
from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

RACKS, HOSTS, SPINES = 4, 16, 16
PS_PER_BYTE, PROPAGATION_PS = 80, 1_000_000
DATA_BYTES, ACK_BYTES, PAUSE_BYTES = 1106, 78, 61  # on the wire
FRAMING_BYTES = 18  # of these, what the MMU does not count
MEMORY, RESERVED, HEADROOM, RESUME_OFFSET, ALPHA_SHIFT = 8 << 20, 4 << 10, 64 << 10, 3 << 10, 3

Node = tuple[str, int]


@dataclass
class Packet:
    kind: str  # data, ack, pause, resume
    flow: int = 0
    to: int = 0
    came_by: int = 0

    def wire_bytes(self) -> int:
        return {'data': DATA_BYTES, 'ack': ACK_BYTES}.get(self.kind, PAUSE_BYTES)


@dataclass(eq=False)
class Device:
    node: Node
    port: int
    peer: Device | None = None
    busy: bool = False
    paused: bool = False
    heard: int = 0  # PAUSE and RESUME frames
    first: deque[Packet] = field(default_factory=deque)
    then: deque[Packet] = field(default_factory=deque)
    since: int = 0
    stood_ps: int = 0
    pauses: int = 0


class Mmu:
    """`shares_crossing`: the packet that takes a port over its limit is shared, as on chips; in HPCC it takes headroom."""

    def __init__(self, ports: int, shares_crossing: bool) -> None:
        self.free = MEMORY - ports * (HEADROOM + RESERVED)
        self.held, self.headroom, self.stopped = [0] * ports, [0] * ports, [False] * ports
        self.shares_crossing = shares_crossing

    def limit(self) -> int:
        return self.free >> ALPHA_SHIFT

    def shared(self, port: int) -> int:
        return max(0, self.held[port] - RESERVED)

    def admit(self, port: int, count: int) -> bool:
        """Whether the port has to be stopped for it."""
        over = self.held[port] + count - RESERVED
        crosses = self.shares_crossing and not self.stopped[port] and count <= self.free
        if over > 0 and over > self.limit() and not crosses:
            self.headroom[port] += count
            if self.headroom[port] > HEADROOM:
                raise AssertionError('a lossless packet is lost')
        else:
            self.held[port] += count
            self.free -= max(0, min(count, over))
        stops = not self.stopped[port] and (self.headroom[port] > 0 or self.shared(port) >= self.limit())
        self.stopped[port] |= stops
        return stops

    def release(self, port: int, count: int) -> bool:
        """Whether the port may go on."""
        from_headroom = min(self.headroom[port], count)
        self.free += min(count - from_headroom, self.shared(port))
        self.headroom[port] -= from_headroom
        self.held[port] -= count - from_headroom
        low = self.shared(port) == 0 or self.shared(port) + RESUME_OFFSET <= self.limit()
        goes_on = self.stopped[port] and self.headroom[port] == 0 and low
        self.stopped[port] &= not goes_on
        return goes_on


class Twin:
    """`flows`: destinations by source, from 0; `packets` of each."""

    def __init__(self, flows: dict[int, int], packets: int, response_ps: int, shares_crossing: bool) -> None:
        self._events: list = []
        self._count = 0
        self._response_ps, self._flows = response_ps, flows
        self._to_send, self._to_come = dict.fromkeys(flows, packets), dict.fromkeys(flows, packets)
        self._devices: dict[tuple[Node, int], Device] = {}
        self._mmus: dict[Node, Mmu] = {}
        for rack in range(RACKS):
            self._mmus['tor', rack] = Mmu(HOSTS + SPINES, shares_crossing)
            for host in range(HOSTS):
                self._link(('host', rack * HOSTS + host), 0, ('tor', rack), host)
            for spine in range(SPINES):
                self._link(('tor', rack), HOSTS + spine, ('spine', spine), rack)
        self._mmus.update({('spine', spine): Mmu(RACKS, shares_crossing) for spine in range(SPINES)})
        self.completed_ps: list[int] = []
        for source in flows:
            self._kick(0, self._devices[('host', source), 0])
        while self._events:
            at, _, handle, arguments = heapq.heappop(self._events)
            handle(at, *arguments)

    def pauses(self) -> int:
        return sum(device.pauses for device in self._devices.values())

    def stood_ps(self) -> int:
        return sum(device.stood_ps for device in self._devices.values())

    def _link(self, a: Node, a_port: int, b: Node, b_port: int) -> None:
        one, other = Device(a, a_port), Device(b, b_port)
        one.peer, other.peer = other, one
        self._devices[a, a_port], self._devices[b, b_port] = one, other

    def _at(self, when: int, handle, *arguments) -> None:
        self._count += 1
        heapq.heappush(self._events, (when, self._count, handle, arguments))

    def _port_towards(self, node: Node, host: int) -> int:
        rack = host // HOSTS
        if node[0] == 'spine':
            return rack
        return host % HOSTS if node[1] == rack else HOSTS + host % SPINES

    def _next(self, now: int, device: Device) -> Packet | None:
        if device.first:
            return device.first.popleft()
        kind, number = device.node
        if device.paused:
            return None
        if kind == 'host':
            if self._to_send.get(number, 0) == 0:
                return None
            self._to_send[number] -= 1
            return Packet('data', number, self._flows[number])
        if not device.then:
            return None
        packet = device.then.popleft()
        if self._mmus[device.node].release(packet.came_by, DATA_BYTES - FRAMING_BYTES):
            self._tell(now, device.node, packet.came_by, 'resume')
        return packet

    def _kick(self, now: int, device: Device) -> None:
        packet = None if device.busy else self._next(now, device)
        if packet is None:
            return
        device.busy = True
        left = now + packet.wire_bytes() * PS_PER_BYTE
        self._at(left, self._sent, device)
        self._at(left + PROPAGATION_PS, self._receive, device.peer, packet)

    def _sent(self, now: int, device: Device) -> None:
        device.busy = False
        self._kick(now, device)

    def _tell(self, now: int, node: Node, port: int, what: str) -> None:
        self._devices[node, port].first.append(Packet(what))
        self._at(now, self._kick, self._devices[node, port])

    def _receive(self, now: int, device: Device, packet: Packet) -> None:
        if packet.kind in ('pause', 'resume'):
            self._obey(now, device, packet.kind)
        elif device.node[0] == 'host':
            self._take(now, device, packet)
        else:
            out = self._devices[device.node, self._port_towards(device.node, packet.to)]
            if packet.kind == 'ack':
                out.first.append(packet)
            else:
                if self._mmus[device.node].admit(device.port, DATA_BYTES - FRAMING_BYTES):
                    self._tell(now, device.node, device.port, 'pause')
                out.then.append(Packet(packet.kind, packet.flow, packet.to, device.port))
            self._kick(now, out)

    def _take(self, now: int, device: Device, packet: Packet) -> None:
        if packet.kind == 'ack':
            self.completed_ps.append(now)
            return
        self._to_come[packet.flow] -= 1
        if self._to_come[packet.flow] == 0:
            device.first.append(Packet('ack', packet.flow, packet.flow))
            self._kick(now, device)

    def _obey(self, now: int, device: Device, what: str) -> None:
        device.heard += 1
        if what == 'pause':
            device.pauses += 1
            self._at(now + self._response_ps, self._stop, device, device.heard)
            return
        if device.paused:
            device.stood_ps += now - device.since
        device.paused = False
        self._kick(now, device)

    def _stop(self, now: int, device: Device, heard: int) -> None:
        if device.heard == heard and not device.paused:
            device.paused, device.since = True, now
