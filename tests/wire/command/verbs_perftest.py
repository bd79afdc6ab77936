#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perftest's set between two verbs hosts over two tiers: every transport and opcode, 1 B to 8 MiB, both ways, up to 64 queue pairs. Each ends well,
and the packets that tshark decodes, by opcode, are those that its messages make."""
from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass

from one_run import tshark
from softspine import Problems, Softspine, main
from verbs_hosts import beside, need_programs

MTU = 4096
TIMEOUT = '20'  # 4.3 s: a machine that is late has nothing sent again
# Lossless, so that no packet is sent again: each is then one of the formula's.
LAB = '''name: verbs-perftest
run: {clock: wall}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 100Gbps, mtu: 4200}, fabric_link: {rate: 100Gbps, mtu: 4200}}
roles: {tor: lossless, aggregation: lossless}
topology: {nodes: {h1: {verbs: {}, nic: {dscp: 3}}, h2: {verbs: {}, nic: {dscp: 3}}}}
'''
ALL_SIZES = [1 << power for power in range(1, 24)]
FIRST, MIDDLE, LAST, ONLY = range(4)
# Opcodes of BTH, by part of a message; those of UC are RC's and 32, UD's 96 and more (IBTA, table 38).
PARTS = {'send': (0, 1, 2, 4), 'write': (6, 7, 8, 10), 'read': (13, 14, 15, 16)}
READ_REQUEST, ATOMIC_ACKNOWLEDGE = 12, 18
ATOMICS = {'CMP_AND_SWAP': 19, 'FETCH_AND_ADD': 20}
ACKNOWLEDGE = 17
OFFSETS = {'RC': 0, 'UC': 32, 'UD': 96}


@dataclass
class Case:
    verb: str
    rest: str = ''
    transport: str = 'RC'
    sizes: tuple[int, ...] = (65536,)
    messages: int = 5
    pairs: int = 1
    both_ways: bool = False
    kind: str = 'bw'

    @property
    def words(self) -> list[str]:
        sizes = ['-a'] if self.sizes == tuple(ALL_SIZES) else ['-s', str(self.sizes[0])] if self.verb != 'atomic' else []
        return [f'ib_{self.verb}_{self.kind}', '-d', 'softspine0', '-F', '-u', TIMEOUT, '-m', str(MTU), '-n', str(self.messages), *sizes,
                *(['-q', str(self.pairs)] if self.kind == 'bw' else []), *([] if self.verb == 'write' else ['-e']), *(['-b'] if self.both_ways else []),
                *([] if self.verb in ('read', 'atomic') else ['-c', self.transport]), *self.rest.split()]

    def packets(self) -> Counter[int]:
        """By opcode, without acknowledgements: how many there are depends on when they are asked for."""
        # In a test of latency both ends send.
        each = self.messages * self.pairs * (2 if self.both_ways or (self.kind == 'lat' and self.verb != 'read') else 1)
        out: Counter[int] = Counter()
        if self.verb == 'atomic':
            return Counter({ATOMICS[self.rest.split()[-1]]: each, ATOMIC_ACKNOWLEDGE: each})
        for size in self.sizes:
            parts = math.ceil(size / MTU)
            names = PARTS[self.verb]
            if parts == 1:
                out[names[ONLY]] += each
            else:
                out.update({names[FIRST]: each, names[MIDDLE]: each * (parts - 2), names[LAST]: each})
            if self.verb == 'read':
                out[READ_REQUEST] += each
        return Counter({opcode + OFFSETS[self.transport]: count for opcode, count in out.items() if count})


EVERY = tuple(ALL_SIZES)
LONGEST = (1 << 23,)
CASES = [
    *(Case(verb, sizes=EVERY) for verb in ('write', 'read', 'send')),
    Case('write', sizes=LONGEST, pairs=3, both_ways=True), Case('write', sizes=LONGEST, transport='UC'),
    Case('read', sizes=LONGEST, both_ways=True, pairs=2),
    Case('send', sizes=LONGEST, both_ways=True), Case('send', sizes=LONGEST, transport='UC', pairs=2),
    Case('send', sizes=(4096,), transport='UD', messages=200, both_ways=True), Case('send', sizes=(1,), transport='UD', messages=200),
    Case('write', sizes=(1,), messages=40, pairs=64, both_ways=True), Case('send', sizes=(1,), messages=40, pairs=64),
    Case('read', sizes=(1,), messages=40, pairs=64), Case('write', sizes=(4097,), messages=40, pairs=64),
    *(Case('atomic', rest=f'-A {kind}', messages=100, pairs=pairs) for kind in ATOMICS for pairs in (1, 16)),
    # Programs that poll wait for each other here, and for the fabric, by two cores.
    *(Case(verb, sizes=(size,), kind='lat', messages=20) for verb in ('write', 'send', 'read') for size in (1, 8193)),
    Case('send', sizes=(64,), kind='lat', transport='UD', messages=20),
]


def whole_set(it: Softspine) -> Problems:
    """each test of perftest ends well, nothing is lost or sent again, and its packets are counted by tshark as by the formula"""
    need_programs()
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        for number, case in enumerate(CASES):
            name = f'case-{number}'
            file = it.folder / f'{name}.pcapng'
            yield from it('capture', 'start', file, '--port', 'h?:*', '--direction', 'sent', '--snaplen', '128').exited(0)
            said = beside(it, [*case.words, '-p', str(18700 + number)], [*case.words, '-p', str(18700 + number), 'h1'])
            yield from it('capture', 'stop', name).exited(0)
            if said[1][:1].isdigit():
                yield f'{case.words}: {said}'
                continue
            seen = Counter(int(word) for word in tshark('-r', file, '-Y', 'infiniband.bth', '-T', 'fields', '-e', 'infiniband.bth.opcode').split())
            acknowledgements = seen.pop(ACKNOWLEDGE, 0)
            if seen != case.packets():
                yield f'{case.words}: {dict(seen)} packets by opcode, not {dict(case.packets())}'
            if (acknowledgements > 0) != (case.transport == 'RC' and case.verb in ('write', 'send')):
                yield f'{case.words}: {acknowledgements} acknowledgements'
            file.unlink()
        for host, edge in it.show('report')['edges'].items():
            again = {name: edge['statistics'][name] for name in ('retransmitted_pkts', 'out_of_seq_request', 'rcvd_rnr_err', 'queue_pair_errors')}
            if any(again.values()):
                yield f'{host}: {again}'


if __name__ == '__main__':
    sys.exit(main([whole_set]))
