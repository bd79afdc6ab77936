# SPDX-License-Identifier: Apache-2.0
"""Build folders: how each is configured, built, and which test programs it holds."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from processes import Processes

ROOT = Path(__file__).resolve().parents[2]
# -O1 and line tables only: sanitizer builds are for finding, and half their time is the compiler's.
# With assertions, which b_ndebug=if-release takes out of a plain build too.
SANITIZED = ['--buildtype=plain', '-Doptimization=1', '-Db_lundef=false', '-Db_ndebug=false']
# A fuzzer runs for far longer than its compiler.
FUZZED = [option.replace('optimization=1', 'optimization=2') for option in SANITIZED]


# Checkouts in different folders share what they compile.
CCACHE = {'CCACHE_NOHASHDIR': '1', 'CCACHE_BASEDIR': str(ROOT)}


class BuildFailed(Exception):
    """The message is the compiler's own."""


@dataclass(frozen=True)
class Program:
    """A test as meson knows it: `unit/units`, its command, and how its output is read."""
    name: str
    command: list[str]
    env: dict[str, str]
    suites: list[str]
    protocol: str
    parallel: bool
    priority: int  # those of the highest begin first: the longest
    timeout: int


@dataclass(frozen=True)
class Build:
    folder: str
    options: list[str]
    minutes: float  # on two cores, from nothing
    compiler: str = 'g++'
    env: dict[str, str] = field(default_factory=dict)
    fixed_addresses: bool = False

    @property
    def path(self) -> Path:
        return ROOT / self.folder

    def configure(self, processes: Processes) -> None:
        """A folder that stands as it should only follows changes of meson files."""
        stamp = self.path / 'softspine-options'
        wanted = json.dumps([self.compiler, self.options])
        if (self.path / 'build.ninja').exists() and stamp.exists() and stamp.read_text() == wanted:
            self._must(processes, ['ninja', '-C', str(self.path), 'build.ninja'], dict(os.environ))
            return
        shutil.rmtree(self.path, ignore_errors=True)
        compiler = f'ccache {self.compiler}' if shutil.which('ccache') else self.compiler
        self._must(processes, ['meson', 'setup', str(self.path), *self.options],
                   {**os.environ, 'CXX': compiler})
        stamp.write_text(wanted)

    def compile(self, processes: Processes, programs: list[Program], helpers: bool = False) -> None:
        """`helpers`: also what is no test and named by none, but started by some."""
        targets = self._run_by(programs)
        if helpers:
            targets |= self._executables() - self._run_by(self.programs())
        if targets:
            self._must(processes, ['ninja', '-C', str(self.path), *sorted(targets)], {**os.environ, **CCACHE})

    def _run_by(self, programs: list[Program]) -> set[str]:
        """What they are, or a script of theirs is given, below the folder."""
        words = {os.path.normpath(word) for p in programs for word in p.command if word.startswith('/')}
        return {os.path.relpath(word, self.path) for word in words if Path(word).is_relative_to(self.path)}

    def _executables(self) -> set[str]:
        return {os.path.relpath(file, self.path) for t in self._introspect('--targets') if t['type'] == 'executable' for file in t['filename']}

    def programs(self) -> list[Program]:
        return [Program(name=t['name'], command=t['cmd'], env=t['env'],
                        suites=[s.split(':')[-1] for s in t['suite']],
                        protocol=t['protocol'], parallel=t['is_parallel'], priority=t['priority'], timeout=t['timeout'])
                for t in self._introspect('--tests')]

    def _introspect(self, what: str) -> list[dict]:
        found = subprocess.run(['meson', 'introspect', what, str(self.path)], check=True, capture_output=True, text=True, cwd=ROOT)
        return json.loads(found.stdout)

    def _must(self, processes: Processes, command: list[str], env: dict[str, str]) -> None:
        done = processes.run(command, env, timeout=3600)
        if done.status != 0:
            lines = done.output.splitlines()
            errors = [i for i, line in enumerate(lines) if 'error:' in line or 'ERROR:' in line or line.startswith('FAILED')]
            first = max(errors[0] - 2, 0) if errors else max(len(lines) - 30, 0)
            raise BuildFailed('\n'.join(lines[first:first + 30]))


PLAIN = Build('build', [], 15)
RELEASE = Build('build-release', ['--buildtype=release'], 12)
ASAN = Build('build-asan', [*SANITIZED, '-Db_sanitize=address,undefined', '-Dcpp_args=-g1 -fno-sanitize-recover=all'], 20,
             env={'ASAN_OPTIONS': 'detect_leaks=1:strict_string_checks=1', 'UBSAN_OPTIONS': 'print_stacktrace=1',
                  'SOFTSPINE_TESTBEDS': '24'})  # of scenario/random and scenario/polarization; the plain build runs all
TSAN = Build('build-tsan', [*SANITIZED, '-Db_sanitize=thread', '-Dcpp_args=-g1'], 10,
             env={'TSAN_OPTIONS': 'second_deadlock_stack=1', 'SOFTSPINE_TESTBEDS': '12'}, fixed_addresses=True)
FUZZ = Build('build-fuzz', [*FUZZED, '-Db_sanitize=address,undefined',
                            '-Dcpp_args=-g1 -fno-sanitize-recover=all', '-Dfuzz=true'], 5,
             compiler='clang++-19',
             # No stacks of allocations, a short wait until memory is used again: twice as many inputs.
             env={**ASAN.env, 'ASAN_OPTIONS': ASAN.env['ASAN_OPTIONS'] + ':malloc_context_size=0:quarantine_size_mb=16'})
