# SPDX-License-Identifier: Apache-2.0
"""Programs of verbs hosts are killed at any instant, on either side: the other one sees a retry error, and nothing is left."""
from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from softspine import ROOT, Problems, Skip, Softspine, main
from verbs_hosts import beside, need_programs, on

KILLS = int(os.environ.get('SOFTSPINE_KILLS', '20'))
SEED = int(os.environ.get('SOFTSPINE_SEED', '1'))
PAIRS = 2  # at a time
HOSTS = [f'h{number}' for number in range(1, 2 * PAIRS + 1)]
LAB = '''name: verbs-kills
run: {clock: wall}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps, mtu: 4200}, fabric_link: {rate: 100Gbps, mtu: 4200}}
topology: {nodes: {''' + ', '.join(f'{host}: {{verbs: {{}}}}' for host in HOSTS) + '}}\n'
NAMES = ['first', 'second']
ENDS = ['transport retry counter exceeded', 'alone']


class Pair:
    def __init__(self, it: Softspine, draw: random.Random, number: int, hosts: list[str]) -> None:
        self.folder = it.folder / f'meet-{number}'
        self.folder.mkdir()
        self.programs = [on(it, host, str(it.folder / 'killed_verbs'), str(self.folder), own, peer, str(number))
                         for host, own, peer in zip(hosts, NAMES, reversed(NAMES))]
        self.victim = draw.randrange(2)
        # One in four from its begin on, the others in the middle of traffic.
        self.after_meeting = draw.random() < 0.75
        self.after = draw.uniform(0, 0.3)  # seconds
        self.kill_at = time.monotonic() + (30 if self.after_meeting else self.after)
        self.give_up_at: float | None = None

    def step(self) -> bool:
        """True: over."""
        if self.after_meeting and all((self.folder / name).exists() for name in NAMES):
            self.after_meeting = False
            self.kill_at = time.monotonic() + self.after
        if self.give_up_at is None and time.monotonic() >= self.kill_at:
            self.programs[self.victim].kill()
            self.programs[self.victim].wait()
            self.give_up_at = time.monotonic() + 30
            (self.folder / 'alone').touch()
        survivor = self.programs[1 - self.victim]
        return self.give_up_at is not None and (survivor.poll() is not None or time.monotonic() > self.give_up_at)

    def survivors_words(self) -> str:
        for program in self.programs:
            program.kill()
        said = [program.communicate()[0] for program in self.programs]
        shutil.rmtree(self.folder)
        return said[1 - self.victim].strip()


def killed_at_any_instant(it: Softspine) -> Problems:
    """who is left sees its retries exceeded, or was still alone; the fabric goes on; the run holds no file of theirs"""
    need_programs()
    if shutil.which('cc') is None:
        raise Skip('cc is not installed')
    subprocess.run(['cc', '-O2', '-o', it.folder / 'killed_verbs', ROOT / 'tests/wire/command/killed_verbs.c', '-libverbs'], check=True)
    draw = random.Random(SEED)
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o') as run:
        files = Path(f'/proc/{run.process.pid}/fd')
        before = len(list(files.iterdir()))
        ends = dict.fromkeys(ENDS, 0)
        started = 0
        pairs: dict[int, Pair] = {}
        while started < KILLS or pairs:
            for slot in range(PAIRS):
                if slot not in pairs and started < KILLS:
                    pairs[slot] = Pair(it, draw, started, [HOSTS[slot], HOSTS[slot + PAIRS]])
                    started += 1
                elif slot in pairs and pairs[slot].step():
                    words = pairs.pop(slot).survivors_words()
                    if words not in ENDS:
                        yield f'seed {SEED}, a survivor says {words!r}'
                    ends[words] = ends.get(words, 0) + 1
            time.sleep(0.002)
        print(f'# {KILLS} kills: {ends}')
        if ends[ENDS[0]] == 0:
            yield 'nobody was killed in the middle of traffic'
        until = time.monotonic() + 10  # a program's end is seen at a poll
        while len(list(files.iterdir())) > before and time.monotonic() < until:
            time.sleep(0.05)
        if len(list(files.iterdir())) > before:
            yield f'the run has {len(list(files.iterdir()))} open files, and had {before}'
        ping = ['ibv_rc_pingpong', '-d', 'softspine0', '-g', '0', '-c', '-n', '50']
        said = beside(it, ping, [*ping, 'h1'])
        if any('50 iters' not in words for words in said):
            yield f'ibv_rc_pingpong after that: {said}'


if __name__ == '__main__':
    sys.exit(main([killed_at_any_instant]))
