# SPDX-License-Identifier: Apache-2.0
"""goal_schedule_test.py PROGRAM: random GOAL programs with wildcards against a second scheduler.

PROGRAM (goal_batch.cpp) reads the text and runs it on hosts and links. Here the same graph is done again, from what was
drawn and not from the text, given when each message came: MPI's matching, cpus, costs, needs of both kinds, the window.
Every operation has to be done in the same order, at the same picosecond, with the same message.

SOFTSPINE_SEED says which programs are drawn, SOFTSPINE_TESTBEDS how many.
"""
from __future__ import annotations

import heapq
import os
import random
import subprocess
import sys
from dataclasses import dataclass, field

IN_CI = 400
ANY = 2**32 - 1
A_RUN = 500  # programs that the other side gets at once


@dataclass
class Op:
    kind: str  # send, recv, calc
    amount: int = 0  # bytes, or nanoseconds
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    needs: set[int] = field(default_factory=set)
    starts: set[int] = field(default_factory=set)  # needs of these that they have started

    def line(self, name: str) -> str:
        if self.kind == 'calc':
            return f'{name}: calc {self.amount} cpu {self.cpu}'
        towards = 'to' if self.kind == 'send' else 'from'
        peer, tag = (-1 if it == ANY else it for it in (self.peer, self.tag))
        return f'{name}: {self.kind} {self.amount}b {towards} {peer} tag {tag} cpu {self.cpu}'


@dataclass
class Graph:
    ranks: list[list[Op]]
    window: int
    post: int  # ps
    receive: int
    byte: int

    def text(self, rng: random.Random) -> str:
        out = [f'num_ranks {len(self.ranks)}']
        for rank, ops in enumerate(self.ranks):
            out.append(f'rank {rank} {{')
            lines = [op.line(f'o{i}') for i, op in enumerate(ops)]
            rules = [f'o{i} requires o{n}' for i, op in enumerate(ops) for n in op.needs]
            rules += [f'o{i} irequires o{n}' for i, op in enumerate(ops) for n in op.starts]
            rng.shuffle(rules)
            out += [*lines, *rules, '}']
        head = f'program {self.window} {self.post // 1000} {self.receive // 1000} {self.byte} {len(out)}'
        return '\n'.join([head, *out]) + '\n'


def drawn(rng: random.Random) -> Graph:
    """Small: 2 to 4 ranks, 5 to 40 messages and computations. Each send has its receive, some of them with wildcards."""
    ranks: list[list[Op]] = [[] for _ in range(rng.randint(2, 4))]
    exact = rng.choice([0, 0.9, 1])
    for _ in range(rng.randint(5, 40)):
        a, b, tag = rng.randrange(len(ranks)), rng.randrange(len(ranks)), rng.randrange(3)
        if rng.random() < 0.2:
            ranks[a].append(Op('calc', rng.choice([0, rng.randrange(5000)])))
            continue
        send = Op('send', rng.randrange(rng.choice([1, 200, 5000, 30000]) + 1), b, tag)
        recv = Op('recv', 1000, a if rng.random() < exact else ANY, tag if rng.random() < exact else ANY)
        for rank, op in rng.sample([(a, send), (b, recv)], 2):
            ranks[rank].append(op)
    for ops in ranks:
        place = list(range(len(ops)))
        if rng.random() < 0.3:
            rng.shuffle(place)  # then needs go forward in the file, too
        for i, at in enumerate(place):
            ops[at].cpu = rng.randrange(3)
            for other in place[max(0, i - 8):i]:
                if rng.random() < 0.12:
                    (ops[at].needs if rng.random() < 0.7 else ops[at].starts).add(other)
    costs = (300_000, 200_000, 3) if rng.random() < 0.5 else (0, 0, 0)
    return Graph(ranks, rng.randint(1, 10) if rng.random() < 0.3 else 1024, *costs)


def numbered(ops: list[Op]) -> list[Op]:
    """As the trace counts them: of those that need nothing any more the first of the file, again and again."""
    left = {i: op.needs | op.starts for i, op in enumerate(ops)}
    order: dict[int, int] = {}
    while left:
        first = min(i for i, needs in left.items() if not needs - order.keys())
        order[first] = len(order)
        del left[first]
    return [Op(ops[i].kind, ops[i].amount, ops[i].peer, ops[i].tag, ops[i].cpu, {order[n] for n in ops[i].needs},
               {order[n] for n in ops[i].starts}) for i in order]


class Rank:
    """One rank, driven by what comes to it. At one instant what ends does so first, then each message comes; after each
    of them the smallest number that may go on does, until none may."""

    def __init__(self, graph: Graph, rank: int):
        self.graph, self.rank = graph, rank
        self.ops = numbered(graph.ranks[rank])
        self.now = 0
        self.opened = self.open = 0
        self.state = ['held'] * len(self.ops)
        self.began: dict[int, int] = {}
        self.message: dict[int, tuple[int, int, int]] = {}
        self.finished: set[int] = set()
        self.posted: list[int] = []
        self.kept: list[tuple[int, int, int]] = []
        self.cpus: dict[int, list[int]] = {}
        self.running: list[tuple[int, int]] = []
        self.done: list[tuple[int, ...]] = []

    def run(self, arrivals: list[tuple[int, int, int, int]]) -> None:
        self.settle()
        queue = [it for it in arrivals if it[0] != self.rank]  # its own come by its own sends
        while queue or self.running:
            if self.running and (not queue or self.running[0][0] <= queue[0][3]):
                self.now = self.running[0][0]
                while self.running and self.running[0][0] == self.now:
                    self.state[heapq.heappop(self.running)[1]] = 'over'
            else:
                source, tag, size, self.now = queue.pop(0)
                self.come((source, tag, size))
            self.settle()

    def settle(self) -> None:
        while True:
            while self.opened < len(self.ops) and self.open < self.graph.window:
                self.opened += 1
                self.open += 1
            ready = next((i for i in range(self.opened) if self.may_go_on(i)), None)
            if ready is None:
                return
            self.go_on(ready)

    def may_go_on(self, i: int) -> bool:
        if self.state[i] == 'held':
            return self.ops[i].needs <= self.finished and self.ops[i].starts <= self.began.keys()
        return self.state[i] in ('turn', 'over')

    def go_on(self, i: int) -> None:
        if self.state[i] == 'turn':
            self.begin(i)
        elif self.state[i] == 'over':
            self.end(i)
        elif self.ops[i].kind != 'recv':
            self.ask_cpu(i)
        else:
            self.began[i] = self.now
            found = next((m for m in self.kept if self.fits(i, m)), None)
            if found is None:
                self.state[i] = 'posted'
                self.posted.append(i)
            else:
                self.kept.remove(found)
                self.message[i] = found
                self.ask_cpu(i)

    def fits(self, i: int, message: tuple[int, int, int]) -> bool:
        return self.ops[i].peer in (ANY, message[0]) and self.ops[i].tag in (ANY, message[1])

    def come(self, message: tuple[int, int, int]) -> None:
        taker = next((i for i in self.posted if self.fits(i, message)), None)
        if taker is None:
            self.kept.append(message)
            return
        self.posted.remove(taker)
        self.message[taker] = message
        self.ask_cpu(taker)

    def ask_cpu(self, i: int) -> None:
        line = self.cpus.setdefault(self.ops[i].cpu, [])
        line.append(i)
        self.state[i] = 'asks'
        if len(line) == 1:
            self.begin(i)

    def cost(self, i: int) -> int:
        op = self.ops[i]
        if op.kind == 'calc':
            return op.amount * 1000
        size = op.amount if op.kind == 'send' else self.message[i][2]
        return (self.graph.post if op.kind == 'send' else self.graph.receive) + self.graph.byte * max(size - 1, 0)

    def begin(self, i: int) -> None:
        self.began.setdefault(i, self.now)
        takes = self.cost(i)
        if takes == 0:
            self.end(i)
        else:
            self.state[i] = 'runs'
            heapq.heappush(self.running, (self.now + takes, i))

    def end(self, i: int) -> None:
        op = self.ops[i]
        self.state[i] = 'done'
        self.open -= 1
        self.finished.add(i)
        line = self.cpus[op.cpu]
        line.pop(0)
        if line:
            self.state[line[0]] = 'turn'
        if op.kind == 'send' and op.peer == self.rank:
            self.come((op.peer, op.tag, op.amount))
        source, tag = self.message[i][:2] if op.kind == 'recv' else (op.peer, op.tag)
        self.done.append((i, source, tag, self.began[i], self.now))


@dataclass
class Found:
    ended: bool
    unclaimed: int
    arrived: list[tuple[int, ...]] = field(default_factory=list)
    done: list[tuple[int, ...]] = field(default_factory=list)
    waits: list[int] = field(default_factory=list)


def run_all(program: str, text: str) -> list[list[Found]]:
    out: list[list[Found]] = []
    for row in subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.splitlines():
        word, *numbers = row.split()
        values = tuple(map(int, numbers))
        if word == 'program':
            out.append([])
        elif word == 'rank':
            out[-1].append(Found(bool(values[1]), values[2]))
        elif word == 'arrived':
            out[-1][-1].arrived.append(values)
        elif word == 'done':
            out[-1][-1].done.append(values)
        elif word == 'waits':
            out[-1][-1].waits.append(values[0])
    return out


def compare(graph: Graph, rank: int, found: Found) -> str:
    """What differs, or nothing."""
    mine = Rank(graph, rank)
    mine.run(found.arrived)
    for i, (theirs, ours) in enumerate(zip(found.done, mine.done)):
        if theirs != ours:
            return f'the {i}th operation done: {theirs}, not {ours}'
    if len(found.done) != len(mine.done):
        return f'{len(found.done)} operations are done, not {len(mine.done)}'
    if sorted(found.waits) != sorted(mine.posted):
        return f'receives {found.waits} wait, not {sorted(mine.posted)}'
    if found.unclaimed != len(mine.kept):
        return f'{found.unclaimed} messages are unclaimed, not {len(mine.kept)}'
    if found.ended != (len(mine.done) == len(mine.ops)):
        return f'ended: {found.ended}'
    return ''


def main(program: str) -> None:
    seed = int(os.environ.get('SOFTSPINE_SEED', '1'), 0)
    count = int(os.environ.get('SOFTSPINE_TESTBEDS', IN_CI))
    operations = ended = wildcards = 0
    for first in range(0, count, A_RUN):
        rngs = [random.Random(f'{seed} {i}') for i in range(first, min(first + A_RUN, count))]
        graphs = [drawn(rng) for rng in rngs]
        found = run_all(program, ''.join(graph.text(rng) for graph, rng in zip(graphs, rngs)))
        assert len(found) == len(graphs), (len(found), len(graphs))
        for i, (graph, ranks) in enumerate(zip(graphs, found), first):
            assert len(ranks) == len(graph.ranks)
            for rank, of_rank in enumerate(ranks):
                differs = compare(graph, rank, of_rank)
                assert not differs, f'seed {seed}, program {i}, rank {rank}: {differs}'
                operations += len(of_rank.done)
                wildcards += sum(ANY in (op.peer, op.tag) for op in graph.ranks[rank])
            ended += all(of_rank.ended for of_rank in ranks)
    assert ended * 2 > count, f'{ended} of {count} programs ended: most should'
    print(f'{count} programs, {operations} operations, {wildcards} receives with wildcards; {ended} programs ended')


if __name__ == '__main__':
    main(sys.argv[1])
