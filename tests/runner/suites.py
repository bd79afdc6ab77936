# SPDX-License-Identifier: Apache-2.0
"""The suites, in the order they run, what each takes, and how one is run."""
from __future__ import annotations

import os
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import fuzzing
import outcome
from builds import ASAN, FUZZ, PLAIN, RELEASE, ROOT, TSAN, Build, BuildFailed, Program
from fuzzing import FuzzLength
from outcome import FAILED, Outcome
from processes import Finished, Processes

LOGS = ROOT / 'out' / 'tests'


@dataclass(frozen=True)
class Suite:
    name: str
    build: Build
    holds: frozenset[str]  # meson's suites that it runs
    minutes: float  # on two cores, once it is built
    more: float = 0  # where all that is random is drawn
    parallel: bool = True
    reads_only: bool = False  # what is configured is enough
    helpers: bool = False  # its tests start programs that meson does not know them by
    prepares: tuple[str, ...] = ()  # scripts that make what its tests share, in minutes: not in the time of the test that is first


SUITES = [
    Suite('unit', PLAIN, frozenset({'unit'}), 1),
    Suite('model', PLAIN, frozenset({'model'}), 1, more=2),
    Suite('scenario', PLAIN, frozenset({'scenario'}), 2.5, more=4),
    Suite('rules', PLAIN, frozenset({'rules'}), 0.5, reads_only=True),
    Suite('wire', PLAIN, frozenset({'wire'}), 5, more=0.5, helpers=True),
    Suite('tidy', PLAIN, frozenset({'tidy'}), 40, reads_only=True),
    Suite('fuzz', FUZZ, frozenset({'fuzz'}), 3),
    Suite('bench', RELEASE, frozenset({'bench'}), 2, parallel=False),
    # What a packet costs, of the build that is there anyway; `bench` counts the release's.
    Suite('cost', PLAIN, frozenset({'cost'}), 1),
    Suite('guests', PLAIN, frozenset({'guests'}), 15, parallel=False, helpers=True, prepares=('testbeds/guests/kernel/build',)),
    # The fuzz corpus too: replayed by another compiler.
    Suite('asan', ASAN, frozenset({'unit', 'model', 'scenario', 'fuzz'}), 8),
    Suite('tsan', TSAN, frozenset({'threaded'}), 5, parallel=False),
    Suite('mutants', PLAIN, frozenset({'mutants'}), 120, reads_only=True),
]
NAMES = [s.name for s in SUITES]
# What a newcomer wants to know: does it work here?
DEFAULT = ['unit', 'model', 'scenario', 'rules', 'wire']
QUICK = ['unit', 'model', 'scenario', 'rules', 'tidy']
ONE_IN = 5  # of what is drawn, where no suite is named: the rest says more of the code than of the machine
BY_NAME_ONLY = ['mutants']  # too long for `all`: by hand, and nightly
ALL = [name for name in NAMES if name not in BY_NAME_ONLY]


def estimate(names: list[str], one_in: int = 1) -> tuple[float, float]:
    """Minutes on two cores: to build what the suites need from nothing, and to run them."""
    chosen = [s for s in SUITES if s.name in names]
    builds = {s.build.folder: s.build.minutes for s in chosen if not s.reads_only}
    return sum(builds.values()), sum(s.minutes + (s.more if one_in == 1 else 0) for s in chosen)


def plan(names: list[str], one_in: int) -> str:
    """What will run, what will not, and how long it takes."""
    build, run = estimate(names, one_in)
    lines = [f"runs: {' '.join(n for n in NAMES if n in names)}: about {max(run, 1):.0f} minutes on two cores"
             + (f', and about {build:.0f} to build from nothing' if build else '')]
    if one_in > 1:
        lines.append(f'      one in {one_in} of the fabrics, testbeds and switches that are drawn at random; all of them if suites are named')
    left_out = [n for n in ALL if n not in names]
    if left_out:
        lines.append(f"not:  {' '.join(left_out)} (`tools/test all`: about {sum(estimate(ALL)):.0f} minutes in all)")
    lines += [f'not:  {n} (`tools/test {n}`: about {sum(estimate([n])):.0f} minutes)' for n in BY_NAME_ONLY if n not in names]
    return '\n'.join(lines)


@dataclass(frozen=True)
class SuiteResult:
    outcomes: list[Outcome]
    build_seconds: float
    run_seconds: float
    slowest: tuple[str, float] = ('', 0)  # a program, in seconds


class Runner:
    def __init__(self, processes: Processes, scratch: Path, chosen: list[Suite], one_in: int, pattern: str | None, fuzz_length: FuzzLength) -> None:
        self._processes = processes
        self._scratch = scratch
        self._chosen = chosen
        self._draws = {'SOFTSPINE_ONE_IN': str(one_in)} if one_in > 1 else {}
        self._pattern = pattern
        self._fuzz_length = fuzz_length
        self._seconds: dict[str, float] = {}  # of the suite's programs

    def run(self, suite: Suite) -> SuiteResult:
        started = time.monotonic()
        try:
            suite.build.configure(self._processes)
            everything = suite.build.programs()
            programs = [p for p in everything if suite.holds & set(p.suites)]
            if not suite.reads_only:  # at once what the later ones need, so that no core waits for the last of each
                built = [s for s in self._chosen if s.build == suite.build and not s.reads_only]
                needed = {name for s in built for name in s.holds}
                suite.build.compile(self._processes, [p for p in everything if needed & set(p.suites)], any(s.helpers for s in built))
            for script in suite.prepares:
                self._prepare(suite, script)
        except BuildFailed as failure:
            broken = Outcome(f'{suite.name}: what it needs is built', FAILED, str(failure))
            return SuiteResult([broken], time.monotonic() - started, 0)
        built = time.monotonic()
        self._seconds = {}
        together = sorted((p for p in programs if p.parallel and suite.parallel), key=lambda p: -p.priority)
        alone = [p for p in programs if p not in together]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda p: self._run_program(suite, p), together))
        found += [self._run_program(suite, p) for p in alone]
        slowest = max(self._seconds.items(), key=lambda item: item[1], default=('', 0.0))
        return SuiteResult([o for each in found for o in each], built - started, time.monotonic() - built, slowest)

    def _prepare(self, suite: Suite, script: str) -> None:
        done = self._processes.run([str(ROOT / script)], dict(os.environ), timeout=3600)
        _keep_log(suite, Path(script).name, done)
        if done.status != 0:
            raise BuildFailed('\n'.join([f'{script}:', *done.output.splitlines()[-30:]]))

    def _run_program(self, suite: Suite, program: Program) -> list[Outcome]:
        named = self._pattern is None or self._pattern in program.name
        if not named and program.protocol == 'exitcode':
            return []
        place = self._scratch / suite.name / program.name.replace('/', '_')
        place.mkdir(parents=True)
        env = {**os.environ, **self._draws, **suite.build.env, **program.env, 'TMPDIR': str(place)}
        command = list(program.command)
        xml = place / 'gtest.xml'
        if program.protocol == 'gtest':
            command.append(f'--gtest_output=xml:{xml}')
            if not named:
                command.append(f'--gtest_filter=*{self._pattern}*')
        elif not named:
            env['SOFTSPINE_TEST_PATTERN'] = self._pattern
        timeout = program.timeout
        if suite.name == 'fuzz':
            command = fuzzing.command(program, place, self._fuzz_length, ROOT / 'out' / 'fuzz')
            timeout = self._fuzz_length.timeout
        if suite.build.fixed_addresses and self._can_fix_addresses:
            command = ['setarch', '-R', *command]
        started = time.monotonic()
        done = self._processes.run(command, env, timeout, cwd=str(ROOT))
        self._seconds[program.name] = time.monotonic() - started
        _keep_log(suite, program.name.replace('/', '_'), done)  # unit/storm and model/storm are both asan's
        found = [fuzzing.outcome_of(program.name, done, self._fuzz_length)] if suite.name == 'fuzz' else _outcomes(program, done, xml)
        shutil.rmtree(place, ignore_errors=True)
        return found

    @cached_property
    def _can_fix_addresses(self) -> bool:
        """GCC 12's TSan does not know the widest address randomisation; some containers forbid to switch it off."""
        return subprocess.run(['setarch', '-R', 'true'], capture_output=True, check=False).returncode == 0


def _keep_log(suite: Suite, name: str, done: Finished) -> None:
    log = LOGS / suite.name / f'{name}.log'
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(done.output)


def _outcomes(program: Program, done: Finished, xml: Path) -> list[Outcome]:
    if program.protocol == 'gtest':
        return outcome.of_gtest(program.name, done, xml)
    return outcome.of_tap(program.name, done) if program.protocol == 'tap' else outcome.of_exit(program.name, done)
