# SPDX-License-Identifier: Apache-2.0
"""The calls of SAI's `switch_sai_rpc` that QoS tests of a switch make, answered from a running fabric.

Arguments come by the numbers of their fields, as SAI's switch_sai.thrift declares them; so do an attribute's value
(field 2) and its kinds (1 a bool, 5 and 7 numbers of 16 and 32 bits, 12 an object, 16 a list of objects).
"""
from __future__ import annotations

from collections.abc import Callable

import sai_numbers as sai
from binary_protocol import I64, STRUCT, Typed, i32, i64, list_of, struct
from switch_objects import SwitchObjects, Unknown

ID, VALUE = 1, 2
BOOLDATA, U64, OID, OBJLIST, U32 = 1, 9, 12, 16, 7
STOP_RATE = 1  # bits per second: who sets a port's shaper to it wants the port to send nothing
MAX_COUNTERS = 1024

Arguments = dict[int, object]


def _taken(arguments: Arguments, number: int, kind: type) -> object:
    value = arguments.get(number)
    if type(value) is not kind:
        raise Unknown(f'argument {number} is missing or of another type')
    return value


def _numbers(arguments: Arguments, number: int) -> list[int]:
    values = _taken(arguments, number, list)
    if len(values) > MAX_COUNTERS or any(type(value) is not int for value in values):
        raise Unknown(f'argument {number} is no list of at most {MAX_COUNTERS} numbers')
    return values


def _attribute(raw: object) -> tuple[int, dict[int, object]]:
    if not isinstance(raw, dict):
        raise Unknown('an attribute is a struct')
    return _taken(raw, ID, int), _taken(raw, VALUE, dict)


def _objects(attribute: int, ids: list[int]) -> Typed:
    objects = struct({1: i32(len(ids)), 2: list_of(I64, [i64(each) for each in ids])})
    return struct({ID: i32(attribute), VALUE: struct({OBJLIST: objects})})


def _attributes(attributes: list[Typed]) -> Typed:
    return struct({1: list_of(STRUCT, attributes), 2: i32(len(attributes))})


class Calls:
    """By its name, each call: its arguments in, its result out. Unknown says what was wrong with them."""

    def __init__(self, switch: SwitchObjects) -> None:
        self._switch = switch
        self.by_name: dict[str, Callable[[Arguments], Typed]] = {
            'sai_thrift_' + name: call for name, call in {
                'get_switch_attribute': self._get_switch,
                'set_switch_attribute': lambda _: i32(sai.NOT_SUPPORTED),
                'get_port_list_by_front_port': lambda _: _objects(sai.SWITCH_PORT_LIST, switch.port_ids()),
                'get_port_id_by_front_port': self._port_by_name,
                'get_port_attribute': self._get_port,
                'set_port_attribute': self._set_port,
                'get_port_stats': self._counters_of(sai.PORT),
                'get_queue_stats': self._counters_of(sai.QUEUE),
                'get_pg_stats': self._counters_of(sai.INGRESS_PRIORITY_GROUP),
                'get_buffer_pool_stats': self._counters_of(sai.BUFFER_POOL),
                'clear_port_all_stats': self._clear_port,
                'clear_queue_stats': self._clear(sai.QUEUE),
                'clear_buffer_pool_stats': self._clear(sai.BUFFER_POOL),
                'create_scheduler_profile': self._create_scheduler}.items()}

    def _get_switch(self, _: Arguments) -> Typed:
        ids = self._switch.port_ids()
        number = struct({ID: i32(sai.SWITCH_PORT_NUMBER), VALUE: struct({U32: i32(len(ids))})})
        return _attributes([number, _objects(sai.SWITCH_PORT_LIST, ids)])

    def _port_by_name(self, arguments: Arguments) -> Typed:
        return i64(self._switch.port_id(_taken(arguments, 1, bytes).decode('utf-8', 'replace')))

    def _get_port(self, arguments: Arguments) -> Typed:
        port = _taken(arguments, 1, int)
        queues = self._switch.parts_of(port, sai.QUEUE)
        groups = self._switch.parts_of(port, sai.INGRESS_PRIORITY_GROUP)
        return _attributes([_objects(sai.PORT_QOS_QUEUE_LIST, queues), _objects(sai.PORT_PRIORITY_GROUP_LIST, groups)])

    def _set_port(self, arguments: Arguments) -> Typed:
        port = _taken(arguments, 1, int)
        attribute, value = _attribute(arguments.get(2))
        if attribute == sai.PORT_ADMIN_STATE:
            self._switch.set_link(port, _taken(value, BOOLDATA, bool))
        elif attribute == sai.PORT_PKT_TX_ENABLE:
            self._switch.enable_tx(port, _taken(value, BOOLDATA, bool))
        elif attribute == sai.PORT_SCHEDULER_PROFILE:
            rate = self._switch.max_rate(_taken(value, OID, int))
            if rate > STOP_RATE:
                return i32(sai.NOT_SUPPORTED)
            self._switch.enable_tx(port, rate == 0)
        else:
            return i32(sai.NOT_SUPPORTED)
        return i32(sai.SUCCESS)

    def _create_scheduler(self, arguments: Arguments) -> Typed:
        rates = [_taken(value, U64, int) for attribute, value in map(_attribute, _taken(arguments, 1, list))
                 if attribute == sai.SCHEDULER_MAX_BANDWIDTH_RATE]
        return i64(self._switch.add_scheduler(rates[-1] if rates else 0))

    def _counters_of(self, kind: int) -> Callable[[Arguments], Typed]:
        def answer(arguments: Arguments) -> Typed:
            found = self._switch.counters(kind, _taken(arguments, 1, int), _numbers(arguments, 2))
            return list_of(I64, [i64(value) for value in found])
        return answer

    def _clear(self, kind: int) -> Callable[[Arguments], Typed]:
        def answer(arguments: Arguments) -> Typed:
            self._switch.clear(kind, _taken(arguments, 1, int), _numbers(arguments, 2))
            return i32(sai.SUCCESS)
        return answer

    def _clear_port(self, arguments: Arguments) -> Typed:
        self._switch.clear_port(_taken(arguments, 1, int))
        return i32(sai.SUCCESS)
