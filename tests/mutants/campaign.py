# SPDX-License-Identifier: Apache-2.0
"""Runs the tests against each mutant: those that reach it, quick ones first, until one fails."""
from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from catalogue import Mutant

QUICK_SECONDS = 0.05
MOST_MEMORY = 8 << 30  # a mutant may allocate without end, or print
MOST_OUTPUT = 256 << 20
WHOLE = '*'  # a program without GoogleTest
RANDOM_TESTBEDS = '40'  # of scenario/random, which reaches nearly all: the rest of the tests come first


@dataclass(frozen=True)
class Test:
    program: str
    name: str
    seconds: float
    reaches: frozenset[int]


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    kind: str  # killed, survived, not reached
    by: str = ''
    seconds: float = 0.0


class BaselineFailed(Exception):
    pass


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)


class Campaign:
    def __init__(self, programs: list[dict], source: Path) -> None:
        self._programs = {t['name']: t for t in programs}
        self._source = source
        self.tests: list[Test] = []
        self._reached_by: dict[int, list[Test]] = defaultdict(list)

    def learn(self, jobs: int, known: list[Test]) -> None:
        """Every program once, without a mutant, unless that is known: all has to pass, and tells which test reaches what."""
        self.tests = known
        if not known:
            with ThreadPoolExecutor(jobs) as pool:
                self.tests = [test for found in pool.map(self._tests_of, self._programs) for test in found]
        for test in self.tests:
            for number in test.reaches:
                self._reached_by[number].append(test)

    def _tests_of(self, program: str) -> list[Test]:
        with tempfile.TemporaryDirectory(prefix='softspine-mutants-') as scratch:
            reach = Path(scratch) / 'reach'
            started = time.monotonic()
            status, output = self._run(program, {'SOFTSPINE_REACH': str(reach)}, None, 1800, scratch)
            if status != 0:
                raise BaselineFailed(f'{program} fails without any mutant:\n{output[-3000:]}')
            return self._read_reach(program, reach, time.monotonic() - started)

    def _read_reach(self, program: str, reach: Path, seconds: float) -> list[Test]:
        is_gtest = self._programs[program]['protocol'] == 'gtest'
        tests: list[Test] = []
        whole: set[int] = set()
        for line in reach.read_text().splitlines() if reach.exists() else []:
            name, took, *numbers = line.split()
            if is_gtest and name != WHOLE:
                tests.append(Test(program, name, float(took), frozenset(map(int, numbers))))
            elif not is_gtest:
                whole |= set(map(int, numbers))
        if whole:
            tests.append(Test(program, WHOLE, seconds, frozenset(whole)))
        return tests

    def judge(self, mutant: Mutant, killed_before: str) -> Verdict:
        """`killed_before`: the test that did it last time goes first."""
        started = time.monotonic()
        tests = self._reached_by.get(mutant.number, [])
        if not tests:
            return Verdict(mutant, 'not reached')
        for program, names, seconds in self._order(tests, killed_before) + self._others(tests):
            with tempfile.TemporaryDirectory(prefix='softspine-mutants-') as scratch:
                status, output = self._run(program, {'SOFTSPINE_MUTANT': str(mutant.number)}, names, 10 + 5 * seconds, scratch)
            if status != 0:
                return Verdict(mutant, 'killed', f'{program}: {_which(output, status)}', time.monotonic() - started)
        return Verdict(mutant, 'survived', '', time.monotonic() - started)

    @staticmethod
    def _order(tests: list[Test], killed_before: str) -> list[tuple[str, list[str], float]]:
        """Runs of a program: first of its quick tests, then of the others; the cheapest run first."""
        runs: dict[tuple[str, bool], list[Test]] = defaultdict(list)
        for test in tests:
            runs[test.program, test.seconds > QUICK_SECONDS].append(test)
        order = sorted(runs.values(), key=lambda run: sum(t.seconds for t in run))
        known = [[t] for t in tests if f'{t.program}: {t.name}' == killed_before]
        return [(run[0].program, [t.name for t in run], sum(t.seconds for t in run)) for run in known + order]

    def _others(self, tests: list[Test]) -> list[tuple[str, list[str], float]]:
        """What is made once in a program (a table) is reached by the first of its tests alone, though others may look at it."""
        reached = Counter(t.program for t in tests)
        known = {(t.program, t.name) for t in tests}
        runs = []
        for program in sorted(p for p, times in reached.items() if times == 1):
            others = [t for t in self.tests if t.program == program and t.seconds <= QUICK_SECONDS and (program, t.name) not in known]
            if others:
                runs.append((program, [t.name for t in others], sum(t.seconds for t in others)))
        return runs

    def _run(self, program: str, env: dict[str, str], names: list[str] | None, timeout: float, scratch: str) -> tuple[int, str]:
        it = self._programs[program]
        command = list(it['cmd'])
        whole_env = {**os.environ, 'SOFTSPINE_POISON': '1', 'SOFTSPINE_TESTBEDS': RANDOM_TESTBEDS, **it['env'], **env, 'TMPDIR': scratch, 'XDG_RUNTIME_DIR': scratch}
        if it['protocol'] == 'gtest':
            command += ['--gtest_fail_fast', '--gtest_brief=1']
            if names is not None:
                whole_env['GTEST_FILTER'] = ':'.join(names)
        with tempfile.TemporaryFile() as sink:
            child = subprocess.Popen(command, env=whole_env, cwd=self._source, stdin=subprocess.DEVNULL, stdout=sink,
                                     stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=_limits)
            try:
                status = child.wait(timeout)
            except subprocess.TimeoutExpired:
                status = -signal.SIGALRM
            finally:
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                child.wait()
            sink.seek(0)
            return status, sink.read(4 << 20).decode(errors='replace')


def _which(output: str, status: int) -> str:
    for line in output.splitlines():
        if line.startswith('[  FAILED  ] ') and '.' in line:
            return line[13:].split(' ')[0].split(',')[0]
    return 'out of time' if status == -signal.SIGALRM else f'ended by {signal.Signals(-status).name}' if status < 0 else 'failed'


def enough_tools() -> str:
    missing = [tool for tool in ('meson', 'ninja', 'g++') if shutil.which(tool) is None]
    return f"{', '.join(missing)} missing" if missing else ''


def write_json(path: Path, verdicts: list[Verdict], left_out: list[Mutant], accepted: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{'key': v.mutant.key, 'path': v.mutant.path, 'line': v.mutant.line, 'rule': v.mutant.rule, 'before': v.mutant.before,
             'after': v.mutant.after, 'number': v.mutant.number, 'verdict': v.kind, 'by': v.by, 'seconds': round(v.seconds, 2),
             'accepted': accepted.get(v.mutant.key, '')} for v in verdicts]
    path.write_text(json.dumps({'mutants': rows, 'do_not_compile': [m.key for m in left_out]}, indent=1, ensure_ascii=False))
