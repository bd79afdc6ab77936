# SPDX-License-Identifier: Apache-2.0
"""The objects of one switch, as SAI numbers them, and their counters, asked of the running fabric each time.

An object's id is its type and its place: ports in the order in which the fabric names them, queues and priority groups
by their port and their number, pools by their name in alphabetical order.

A pool of a memory in slices (pool|0, pool|1, … of the fabric) is one object: what is in use is the sum, a watermark the
fullest slice's. Of headroom the watermark is the fullest slice's, times the slices: so Broadcom's SAI counts it, and
sonic-mgmt's `hdrm_pool_wm_multiplier` says so.

A switch in software is as late as its machine: frames that were sent before a call may wait in the kernel still. TX of a
port changes when no more come in, or after WAIT_SECONDS.

A counter that is cleared goes on in the fabric; what it was then is remembered here and taken away. A watermark that is
cleared begins again in the fabric, and with it all watermarks of the switch: the fabric has no finer command.
"""
from __future__ import annotations

import threading
import time

from fabric_control import FabricControl, Refused
from sai_numbers import (BUFFER_POOL, COUNTERS, IN_DROPPED, IN_DROPPED_PKTS, INGRESS_PRIORITY_GROUP, OUT_DROPPED, OUT_DROPPED_PKTS, PORT,
                         QUEUE, SCHEDULER, is_level, is_watermark)

PARTS = 8  # queues of a port, and priority groups
TYPE_SHIFT, PORT_SHIFT = 48, 8
MAX_SCHEDULERS = 4096
WAIT_SECONDS, LOOK_SECONDS = 2.0, 0.05


class Unknown(Exception):
    """No such object, attribute or counter; the message says which."""


def oid(kind: int, place: int) -> int:
    return kind << TYPE_SHIFT | place


class SwitchObjects:
    def __init__(self, control: FabricControl, node: str) -> None:
        self._control = control
        counters = control.ask('show counters', format='json', **({'node': node} if node else {}))
        if len(counters) != 1:
            raise Refused('several switches; name one of: ' + ', '.join(counters))
        self.node, things = next(iter(counters.items()))
        self.ports = [name for name in things if ':' not in name and f'{name}:0' in things]
        pools = [name for name, stats in things.items() if any(stat.startswith('SAI_BUFFER_POOL_STAT') for stat in stats)]
        self.pools = sorted({name.split('|')[0] for name in pools})
        self._slices = {pool: [name for name in pools if name.split('|')[0] == pool] for pool in self.pools}
        self._port_numbers = {name: number for number, name in enumerate(self.ports)}
        self._has_groups = any('|PG' in name for name in things)
        self._cleared: dict[tuple[int, int], int] = {}
        self._tx_disabled: set[str] = set()
        self._schedulers: list[int] = []
        self._changes = threading.Lock()

    def port_id(self, name: str) -> int:
        if name not in self._port_numbers:
            raise Unknown(f'{self.node} has no port {name}')
        return oid(PORT, self._port_numbers[name])

    def port_ids(self) -> list[int]:
        return [oid(PORT, number) for number in range(len(self.ports))]

    def parts_of(self, port: int, kind: int) -> list[int]:
        number = self._port_numbers[self._port_name(port)]
        parts = PARTS if kind == QUEUE or self._has_groups else 0
        return [oid(kind, number << PORT_SHIFT | part) for part in range(parts)]

    def pool_ids(self) -> dict[str, int]:
        return {name: oid(BUFFER_POOL, number) for number, name in enumerate(self.pools)}

    def _port_name(self, port: int) -> str:
        place = port & ~(-1 << TYPE_SHIFT)
        if port >> TYPE_SHIFT != PORT or place >= len(self.ports):
            raise Unknown(f'no port has the id {port:#x}')
        return self.ports[place]

    def _name(self, kind: int, thing: int) -> str:
        """What `show counters` calls an object."""
        place = thing & ~(-1 << TYPE_SHIFT)
        if thing >> TYPE_SHIFT != kind:
            raise Unknown(f'{thing:#x} is no id of type {kind}')
        if kind == PORT:
            return self._port_name(thing)
        if kind == BUFFER_POOL:
            if place >= len(self.pools):
                raise Unknown(f'no pool has the id {thing:#x}')
            return self.pools[place]
        port = self._port_name(oid(PORT, place >> PORT_SHIFT))
        part = place & ~(-1 << PORT_SHIFT)
        if part >= PARTS or (kind == INGRESS_PRIORITY_GROUP and not self._has_groups):
            raise Unknown(f'{port} has no part with the id {thing:#x}')
        return f'{port}:{part}' if kind == QUEUE else f'{port}|PG{part}'

    def _now(self, kind: int, thing: int, wanted: list[int]) -> list[int]:
        name = self._name(kind, thing)
        things = self._control.ask('show counters', format='json', node=self.node)[self.node]
        return [self._value(things, kind, name, counter) for counter in wanted]

    def _value(self, things: dict, kind: int, name: str, counter: int) -> int:
        if kind == PORT and counter == IN_DROPPED_PKTS:
            return sum(things.get(f'{name}|PG{part}', {}).get(IN_DROPPED, 0) for part in range(PARTS))
        if kind == PORT and counter == OUT_DROPPED_PKTS:
            return sum(things[f'{name}:{part}'].get(OUT_DROPPED, 0) for part in range(PARTS))
        known = COUNTERS[kind].get(counter)
        slices = self._slices.get(name, [name])
        if known not in things[slices[0]]:
            raise Unknown(f'{name} has no counter {counter} ({known or "unknown here"})')
        found = [things[each][known] for each in slices]
        if not is_watermark(known):
            return sum(found)
        return max(found) * (len(slices) if 'XOFF_ROOM' in known else 1)

    def counters(self, kind: int, thing: int, wanted: list[int]) -> list[int]:
        found = self._now(kind, thing, wanted)
        with self._changes:
            return [value - self._cleared.get((thing, counter), 0) for value, counter in zip(found, wanted)]

    def clear(self, kind: int, thing: int, wanted: list[int]) -> None:
        names = {counter: COUNTERS[kind].get(counter, '') for counter in wanted}
        counts = [counter for counter in wanted if not is_level(names[counter])]
        found = self._now(kind, thing, counts)
        with self._changes:
            self._cleared.update({(thing, counter): value for counter, value in zip(counts, found)})
        if any(is_watermark(name) for name in names.values()):
            self._control.ask('clear watermarks', node=self.node)

    def clear_port(self, port: int) -> None:
        self.clear(PORT, port, [*COUNTERS[PORT], IN_DROPPED_PKTS, OUT_DROPPED_PKTS])

    def enable_tx(self, port: int, enabled: bool) -> None:
        name = self._port_name(port)
        with self._changes:
            if enabled == (name not in self._tx_disabled):
                return
            self._wait_for_frames()
            self._control.ask('fault', link=f'{self.node}:{name}', set='clear' if enabled else 'tx_disabled')
            (self._tx_disabled.discard if enabled else self._tx_disabled.add)(name)

    def _wait_for_frames(self) -> None:
        """Until two looks one after the other find the same number of bytes."""
        until = time.monotonic() + WAIT_SECONDS
        before = -1
        while (now := self._received()) != before and time.monotonic() < until:
            before = now
            time.sleep(LOOK_SECONDS)

    def _received(self) -> int:
        things = self._control.ask('show counters', format='json', node=self.node)[self.node]
        return sum(things[port]['SAI_PORT_STAT_IF_IN_OCTETS'] for port in self.ports)

    def set_link(self, port: int, up: bool) -> None:
        self._control.ask('link', link=f'{self.node}:{self._port_name(port)}', state='up' if up else 'down')

    def add_scheduler(self, max_rate: int) -> int:
        with self._changes:
            if max_rate not in self._schedulers:
                if len(self._schedulers) == MAX_SCHEDULERS:
                    raise Unknown(f'no more than {MAX_SCHEDULERS} scheduler profiles')
                self._schedulers.append(max_rate)
            return oid(SCHEDULER, self._schedulers.index(max_rate))

    def max_rate(self, scheduler: int) -> int:
        place = scheduler & ~(-1 << TYPE_SHIFT)
        if scheduler >> TYPE_SHIFT != SCHEDULER or place >= len(self._schedulers):
            raise Unknown(f'no scheduler profile has the id {scheduler:#x}')
        return self._schedulers[place]
