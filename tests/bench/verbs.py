#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs on verbs hosts, through one ToR: what idle devices cost, how long a small read takes, how much a core carries.

    python3 -B tests/bench/verbs.py build/tools/softspine/softspine [OTHER …] [--runs N] [--idle-hosts N]

    ib_read_lat, ib_write_bw ─ softspine0 ══ ToR ══ softspine0 ─ the same, as servers

Each program is a fabric; a second one is compared with the first (an earlier build, say), in turns. Medians of the runs:

    idle      CPU of the fabric, of one core, while nobody has opened a device; `waiting`: while a server waits on one, asleep itself
    latency   round trip of a read of 8 bytes, its program polling (p50); of a write both do, which takes a core more
    speed     Gb/s of writes of 64 KiB, MTU 4096; Gb per second of the fabric's CPU time

`--idle-hosts` more hosts have devices that nobody uses. The programs are perftest's and rdma-core's, unmodified; nothing needs root.
"""
from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Iterator

SKIPPED = 77
TESTBED = '''name: verbs-bench
fabric: {{kind: star, hosts: {hosts}, host_link: {{rate: 100Gbps, length: 3m, mtu: 4200}}}}
topology: {{nodes: {{{nodes}}}}}
'''
UNITS = {'idle': '% of a core', 'waiting': '% of a core, a server waits', 'latency': 'us, polling', 'speed': 'Gb/s', 'per_cpu': 'Gb per CPU second'}


@dataclass
class Measured:
    idle: float
    waiting: float
    latency: float
    speed: float
    per_cpu: float


class Lab:
    def __init__(self, program: str, env: dict[str, str], folder: Path) -> None:
        self.program, self.env, self.folder = program, env, folder
        self.port = 20000

    def run(self, *words: str) -> str:
        done = subprocess.run([self.program, *words], env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f'{" ".join(words)}: {done.stdout}{done.stderr}')
        return done.stdout

    def cpu_seconds(self) -> float:
        return sum(int((task / 'schedstat').read_text().split()[0]) for task in Path(f'/proc/{self.pid}/task').iterdir()) / 1e9

    @property
    def pid(self) -> int:
        return int(next(self.folder.glob('softspine-*/verbs-bench/pid')).read_text().split()[0])

    @contextmanager
    def serving(self, *words: str) -> Iterator[None]:
        """perftest's server on h1; each has a port of its own."""
        self.port += 1
        server = subprocess.Popen([self.program, 'exec', 'h1', '--', *words, '-d', 'softspine0', '-p', str(self.port)], env=self.env, cwd=self.folder,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not re.search(f':{self.port:04X} [0:]+ 0A ', Path('/proc/net/tcp').read_text() + Path('/proc/net/tcp6').read_text()):
            if not runs_for(server, 0.05):
                sys.exit(f'{words[0]}: its server has ended')
        try:
            yield
        finally:
            server.terminate()  # if it still waits
            server.wait()

    def ask(self, *words: str) -> list[list[float]]:
        """The rows of numbers that perftest's client prints."""
        said = self.run('exec', 'h2', '--', *words, '-d', 'softspine0', '-p', str(self.port), 'h1')
        return [[float(number) for number in row.split()] for row in re.findall(r'^\s*(\d[\d.\s]*)$', said, flags=re.M)]

    def idle(self) -> float:
        before, begin = self.cpu_seconds(), time.monotonic()
        runs_for(None, 3)
        return 100 * (self.cpu_seconds() - before) / (time.monotonic() - begin)


def runs_for(process: subprocess.Popen | None, seconds: float) -> bool:
    """Whether it has not ended in that time."""
    if process is None:
        process = subprocess.Popen(['cat'], stdin=subprocess.PIPE)
        try:
            return runs_for(process, seconds)
        finally:
            process.communicate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def measured(program: str, idle_hosts: int) -> Measured:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lab = Lab(program, {**os.environ, 'XDG_RUNTIME_DIR': place}, folder)
        hosts = 2 + idle_hosts
        (folder / 'lab.yaml').write_text(TESTBED.format(hosts=hosts, nodes=', '.join(f'h{number}: {{verbs: {{}}}}' for number in range(1, hosts + 1))))
        lab.run('up', 'lab.yaml')
        try:
            idle = lab.idle()
            with lab.serving('ib_send_bw', '-e', '-s', '8'):
                waiting = lab.idle()
            with lab.serving('ib_read_lat', '-s', '8', '-n', '20000'):
                latency = lab.ask('ib_read_lat', '-s', '8', '-n', '20000')[-1][4]
            with lab.serving('ib_write_bw', '-s', '65536', '-n', '20000', '--report_gbits'):
                before = lab.cpu_seconds()
                speed = lab.ask('ib_write_bw', '-s', '65536', '-n', '20000', '--report_gbits')[-1][3]
                per_cpu = 20000 * 65536 * 8 / 1e9 / (lab.cpu_seconds() - before)
        finally:
            lab.run('down')
    return Measured(idle, waiting, latency, speed, per_cpu)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('programs', nargs='+', metavar='PROGRAM')
    parser.add_argument('--runs', type=int, default=5, help='of each program, 5 if not given')
    parser.add_argument('--idle-hosts', type=int, default=0, help='with a device that nobody uses, beside the two, 0 if not given')
    arguments = parser.parse_args()
    if missing := [each for each in ('ib_send_bw', 'ib_read_lat', 'ib_write_bw') if shutil.which(each) is None]:
        print(f'skipped: {", ".join(missing)} missing')
        return SKIPPED
    runs: dict[str, list[Measured]] = {program: [] for program in arguments.programs}
    for _ in range(arguments.runs):
        for program, of_program in runs.items():
            of_program.append(measured(os.path.abspath(program), arguments.idle_hosts))
    print(f'{arguments.runs} runs, {arguments.idle_hosts} more hosts: medians (least to most)')
    for program, of_program in runs.items():
        print(program)
        for field in fields(Measured):
            values = [getattr(each, field.name) for each in of_program]
            print(f'    {field.name:8} {statistics.median(values):8.2f} {UNITS[field.name]} ({min(values):.2f} to {max(values):.2f})')
    return 0


if __name__ == '__main__':
    sys.exit(main())
