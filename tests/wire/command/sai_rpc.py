#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/sai-rpc beside a running fabric, spoken to in bytes that are written here; and abused."""
from __future__ import annotations

import contextlib
import random
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator

from softspine import ROOT, Problems, Softspine, main

TESTBED = """
name: rpc
run: {clock: wall}
topology:
  nodes: {tor1: {kind: switch, role: tor, profile: it}, h1: {kind: host}, h2: {kind: host}}
  links:
    - {endpoints: [tor1, h1], rate: 1Gbps}
    - {endpoints: [tor1, h2], rate: 1Gbps}
profiles: {it: {base: lossless}}
workload:
  - {name: w, pattern: pairs, from: [h1], to: [h2], rate: 1Mbps, message: 1KiB, messages: 1000000, mtu: 1024, dscp: 3}
"""
STRICT, CALL, REPLY, EXCEPTION = 0x80010000, 1, 2, 3
TX_ENABLE, ADMIN_STATE = 97, 34
OUT_UCAST, QUEUE_PACKETS, QUEUE_BYTES_NOW, QUEUE_WATERMARK = 10, 0, 24, 25
STOP = b'\0'


def name_of(call: str) -> bytes:
    whole = ('sai_thrift_' + call).encode()
    return struct.pack('>i', len(whole)) + whole


def field(kind: int, number: int, body: bytes) -> bytes:
    return struct.pack('>Bh', kind, number) + body


def object_id(number: int, value: int) -> bytes:
    return field(10, number, struct.pack('>q', value))


def numbers(number: int, values: list[int]) -> bytes:
    return field(15, number, struct.pack('>Bi', 8, len(values)) + b''.join(struct.pack('>i', each) for each in values))


def message(call: str, fields: bytes = b'', sequence: int = 7) -> bytes:
    return struct.pack('>I', STRICT | CALL) + name_of(call) + struct.pack('>i', sequence) + fields + STOP


class Peer:
    def __init__(self, port: int) -> None:
        self.stream = socket.create_connection(('127.0.0.1', port), 30)
        self.file = self.stream.makefile('rb')

    def take(self, form: str) -> tuple:
        body = self.file.read(struct.calcsize(form))
        if len(body) < struct.calcsize(form):
            raise EOFError('the server has closed')
        return struct.unpack(form, body)

    def call(self, call: str, fields: bytes = b'') -> tuple[int, object]:
        """The kind of the answer, and its value: of what kind it is says the answer."""
        self.stream.sendall(message(call, fields))
        version, length = self.take('>Ii')
        assert version & 0xffff0000 == STRICT and self.file.read(length) == name_of(call)[4:] and self.take('>i') == (7,)
        return version & 0xff, self.struct()

    def struct(self) -> dict[int, object]:
        out = {}
        while (kind := self.take('>B')[0]) != 0:
            number = self.take('>h')[0]
            out[number] = self.value(kind)
        return out

    def value(self, kind: int) -> object:
        if kind == 11:
            return self.file.read(self.take('>i')[0]).decode()
        if kind == 12:
            return self.struct()
        if kind == 15:
            element, count = self.take('>Bi')
            return [self.value(element) for _ in range(count)]
        return self.take({2: '>?', 8: '>i', 10: '>q'}[kind])[0]

    def port(self, name: str) -> int:
        return self.call('get_port_id_by_front_port', field(11, 1, struct.pack('>i', len(name)) + name.encode()))[1][0]

    def stats(self, part: str, thing: int, wanted: list[int]) -> list[int]:
        return self.call(f'get_{part}_stats', object_id(1, thing) + numbers(2, wanted) + field(8, 3, struct.pack('>i', len(wanted))))[1][0]

    def set_port(self, port: int, attribute: int, value: bool) -> int:
        attribute_value = field(12, 2, field(2, 1, bytes([value])) + STOP)
        return self.call('set_port_attribute', object_id(1, port) + field(12, 2, field(8, 1, struct.pack('>i', attribute)) + attribute_value + STOP))[1][0]

    def parts(self, port: int) -> tuple[list[int], list[int]]:
        """Queues and priority groups."""
        attributes = {each[1]: each[2] for each in self.call('get_port_attribute', object_id(1, port))[1][0][1]}
        return attributes[5][16][2], attributes[27][16][2]


@contextlib.contextmanager
def server(it: Softspine, *arguments: str) -> Iterator[tuple[int, subprocess.Popen]]:
    process = subprocess.Popen([sys.executable, '-B', str(ROOT / 'tools' / 'sai-rpc'), '--port', '0', *arguments], env=it.env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        yield int(process.stdout.readline().rpartition(':')[2]), process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def until(condition, seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def answers_what_the_fabric_shows(it: Softspine) -> Problems:
    """ports, queues and groups have the counters that `show counters` has"""
    with it.running(it.write('rpc.yaml', TESTBED)), server(it) as (port, _):
        peer = Peer(port)
        attributes = {each[1]: each[2] for each in peer.call('get_switch_attribute')[1][0][1]}
        ids = attributes[2][16][2]
        if attributes[0][7] != 2 or len(ids) != 2:
            yield f'two ports, not {attributes}'
        out = peer.port('Ethernet4')
        if out != ids[1]:
            yield 'the second port has another id by its name'
        queues, groups = peer.parts(out)
        if len(queues) != 8 or len(groups) != 8:
            yield f'eight queues and groups, not {len(queues)} and {len(groups)}'
        if not until(lambda: peer.stats('queue', queues[3], [QUEUE_PACKETS])[0] > 3):
            yield 'no packet is counted'
        low = it.show('counters')['tor1']['Ethernet4:3']['SAI_QUEUE_STAT_PACKETS']
        here = peer.stats('queue', queues[3], [QUEUE_PACKETS])[0]
        high = it.show('counters')['tor1']['Ethernet4:3']['SAI_QUEUE_STAT_PACKETS']
        if not low <= here <= high:
            yield f'{here} packets, not {low} to {high}'


def stops_and_starts_a_port(it: Softspine) -> Problems:
    """TX disabled holds a port's queues, enabled they go on; a cleared counter begins again"""
    with it.running(it.write('rpc.yaml', TESTBED)), server(it) as (port, _):
        peer = Peer(port)
        out = peer.port('Ethernet4')
        queue = peer.parts(out)[0][3]
        if peer.set_port(out, TX_ENABLE, False) != 0:
            yield 'TX cannot be disabled'
        if not until(lambda: peer.stats('queue', queue, [QUEUE_BYTES_NOW])[0] > 3000):
            yield 'nothing waits'
        before = peer.stats('port', out, [OUT_UCAST])[0]
        time.sleep(0.2)
        if peer.stats('port', out, [OUT_UCAST])[0] != before:
            yield 'the port still sends'
        peer.set_port(out, TX_ENABLE, True)
        if not until(lambda: peer.stats('queue', queue, [QUEUE_BYTES_NOW])[0] < 3000):
            yield 'the port does not send again'
        peer.call('clear_port_all_stats', object_id(1, out))
        if peer.stats('port', out, [OUT_UCAST])[0] >= before:
            yield 'the counter was not cleared'
        peer.call('clear_queue_stats', object_id(1, queue) + numbers(2, [QUEUE_WATERMARK]) + field(8, 3, struct.pack('>i', 1)))
        if peer.stats('queue', queue, [QUEUE_WATERMARK])[0] > 3000:
            yield 'the watermark was not cleared'
        peer.set_port(out, ADMIN_STATE, False)
        if not until(lambda: not it.show('links')['tor1:Ethernet4']['up']):
            yield 'the link stays up'


def refuses_by_name(it: Softspine) -> Problems:
    """what it does not have is an exception of Thrift, and the connection goes on"""
    with it.running(it.write('rpc.yaml', TESTBED)), server(it) as (port, _):
        peer = Peer(port)
        for call, fields, said in (('create_vlan', b'', 'does not have sai_thrift_create_vlan'),
                                   ('get_port_stats', object_id(1, 99) + numbers(2, [3]), 'no id of type 1'),
                                   ('get_port_stats', object_id(1, 1 << 48) + numbers(2, [4711]), 'no counter 4711'),
                                   ('get_port_stats', object_id(1, (1 << 48) + 2) + numbers(2, [3]), 'no port has the id'),
                                   ('get_port_stats', numbers(2, [3]), 'argument 1'),
                                   ('get_port_stats', object_id(1, 1 << 48) + numbers(2, [3] * 2000), 'no list of at most'),
                                   ('set_port_attribute', object_id(1, 1 << 48), 'an attribute is a struct'),
                                   ('get_port_id_by_front_port', field(11, 1, struct.pack('>i', 3) + b'\xff\xfex'), 'has no port')):
            kind, answer = peer.call(call, fields)
            if kind != EXCEPTION or said not in answer[1]:
                yield f'{call}: {kind} {answer}, not "{said}"'
        if peer.port('Ethernet0') != 1 << 48:
            yield 'the connection does not go on'


def bytes_of_strangers() -> Iterator[bytes]:
    some = random.Random(15)
    yield b'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
    yield b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(60)
    yield struct.pack('>I', STRICT | CALL) + struct.pack('>i', 0x7fffffff)
    yield struct.pack('>I', STRICT | CALL) + struct.pack('>i', -1)
    yield message('get_port_stats', field(15, 2, struct.pack('>Bi', 8, 0x7fffffff)))
    yield message('get_port_stats', b''.join(field(12, 1, b'') for _ in range(5000)))
    yield message('get_port_stats', field(15, 1, struct.pack('>Bi', 15, 1) * 5000))
    yield message('get_port_stats', field(13, 1, struct.pack('>BBi', 8, 8, 1 << 30)))
    yield message('get_port_stats', field(77, 1, b'abc'))
    good = message('get_port_stats', object_id(1, 1 << 48) + numbers(2, [3, 12]) + field(8, 3, struct.pack('>i', 2)))
    for _ in range(200):
        bad = bytearray(good)
        for _ in range(some.randrange(1, 6)):
            bad[some.randrange(len(bad))] = some.randrange(256)
        yield bytes(bad[:some.randrange(1, len(bad) + 1)])


def survives_strangers(it: Softspine) -> Problems:
    """garbage, calls cut short and a hundred silent clients: the next one is served, the fabric undisturbed"""
    with it.running(it.write('rpc.yaml', TESTBED)) as run, server(it) as (port, process):
        for text in bytes_of_strangers():
            with socket.create_connection(('127.0.0.1', port), 30) as stranger, contextlib.suppress(OSError):
                stranger.sendall(text)
                stranger.shutdown(socket.SHUT_WR)
                stranger.settimeout(30)
                while stranger.recv(65536):
                    pass
        silent = [socket.create_connection(('127.0.0.1', port), 30) for _ in range(100)]
        for each in silent[50:]:
            each.sendall(b'\x80\x01')
        if Peer(port).port('Ethernet4') != (1 << 48) + 1:
            yield 'a hundred silent clients keep another one from being served'
        for each in silent:
            each.close()
        if process.poll() is not None:
            yield 'the server has ended'
        asked = it.show('fabric')
        if asked['errors'] or asked['control_socket']['bad_requests'] != 0:
            yield f'the fabric was told garbage: {asked}'
        yield from run.end(signal.SIGINT).exited(0)


def ends_with_its_fabric(it: Softspine) -> Problems:
    """a fabric that has ended ends the server at the next call, with status 1; without a fabric it does not begin"""
    with it.running(it.write('rpc.yaml', TESTBED)) as run, server(it) as (port, process):
        peer = Peer(port)
        run.end(signal.SIGINT)
        kind, answer = peer.call('get_port_stats', object_id(1, 1 << 48) + numbers(2, [3]))
        if kind != EXCEPTION or 'no fabric' not in answer[1]:
            yield f'{kind} {answer}'
        if process.wait(30) != 1:
            yield f'ended with {process.returncode}'
    done = subprocess.run([sys.executable, '-B', str(ROOT / 'tools' / 'sai-rpc')], env=it.env, capture_output=True, text=True)
    if done.returncode != 1 or 'no fabric is running here' not in done.stderr:
        yield f'without a fabric: {done}'


if __name__ == '__main__':
    sys.exit(main([answers_what_the_fabric_shows, stops_and_starts_a_port, refuses_by_name, survives_strangers, ends_with_its_fabric]))
