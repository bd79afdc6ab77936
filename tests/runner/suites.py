# SPDX-License-Identifier: Apache-2.0
"""The build folders, and the suites in the order they run."""
from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# -O1 and line tables only: sanitizer builds are for finding, and half their time is the compiler's.
# With assertions, which b_ndebug=if-release takes out of a plain build too.
SANITIZED = ['--buildtype=plain', '-Doptimization=1', '-Db_lundef=false', '-Db_ndebug=false']
# A fuzzer runs for far longer than its compiler.
FUZZED = [option.replace('optimization=1', 'optimization=2') for option in SANITIZED]


@dataclass(frozen=True)
class Build:
    folder: str
    options: list[str]
    minutes: float  # on two cores, from nothing
    compiler: str = 'g++'
    env: dict[str, str] = field(default_factory=dict)  # of its tests
    fixed_addresses: bool = False  # GCC 12's TSan does not know the widest address randomisation

    @property
    def path(self) -> Path:
        return ROOT / self.folder


@dataclass(frozen=True)
class Suite:
    name: str
    build: Build
    holds: frozenset[str]  # meson's suites that it runs
    minutes: float  # on two cores, once it is built
    more: float = 0  # where all that is random is drawn
    parallel: bool = True
    reads_only: bool = False  # what is configured is enough
    prepares: str = ''  # a script that makes what its tests share, in minutes: not in the time of the test that is first
    tells: bool = False  # a test that passes says what it did in its last line


PLAIN = Build('build', [], 15)
RELEASE = Build('build-release', ['--buildtype=release'], 12)
# null, object-size: AddressSanitizer sees what comes of them. alignment: the fuzzers look. A quarter of the compiler's time.
ASAN = Build('build-asan', [*SANITIZED, '-Db_sanitize=address,undefined',
                            '-Dcpp_args=-g1 -fno-sanitize-recover=all -fno-sanitize=null,object-size,alignment'], 20,
             env={'ASAN_OPTIONS': 'detect_leaks=1:strict_string_checks=1', 'UBSAN_OPTIONS': 'print_stacktrace=1',
                  'SOFTSPINE_TESTBEDS': '8'})  # of scenario/random and scenario/polarization; the plain build runs all
TSAN = Build('build-tsan', [*SANITIZED, '-Db_sanitize=thread', '-Dcpp_args=-g1'], 10,
             env={'TSAN_OPTIONS': 'second_deadlock_stack=1', 'SOFTSPINE_TESTBEDS': '4'}, fixed_addresses=True)
FUZZ = Build('build-fuzz', [*FUZZED, '-Db_sanitize=address,undefined',
                            '-Dcpp_args=-g1 -fno-sanitize-recover=all', '-Dfuzz=true'], 5,
             compiler='clang++-19',
             # No stacks of allocations, a short wait until memory is used again: twice as many inputs.
             env={**ASAN.env, 'ASAN_OPTIONS': ASAN.env['ASAN_OPTIONS'] + ':malloc_context_size=0:quarantine_size_mb=16'})

SUITES = [
    Suite('unit', PLAIN, frozenset({'unit'}), 1),
    Suite('model', PLAIN, frozenset({'model'}), 1, more=2),
    Suite('scenario', PLAIN, frozenset({'scenario'}), 2.5, more=4),
    Suite('rules', PLAIN, frozenset({'rules'}), 0.5, reads_only=True),
    Suite('wire', PLAIN, frozenset({'wire'}), 15, more=0.5),
    Suite('tidy', PLAIN, frozenset({'tidy'}), 40, reads_only=True),
    Suite('fuzz', FUZZ, frozenset({'fuzz'}), 3, tells=True),
    Suite('bench', RELEASE, frozenset({'bench'}), 2, parallel=False),
    # What a packet costs, of the build that is there anyway; `bench` counts the release's.
    Suite('cost', PLAIN, frozenset({'cost'}), 1),
    Suite('guests', PLAIN, frozenset({'guests'}), 15, parallel=False, prepares='testbeds/guests/kernel/build'),
    # The fuzz corpus too: replayed by another compiler.
    Suite('asan', ASAN, frozenset({'unit', 'scenario', 'fuzz'}), 10),
    Suite('asan-model', ASAN, frozenset({'model'}), 5),  # references, and what they are held against: nightly
    Suite('tsan', TSAN, frozenset({'threaded'}), 7),
    # The Debian package in a root of its own: a release build, and Debian's packages from its mirror.
    Suite('package', PLAIN, frozenset({'package'}), 15, parallel=False, reads_only=True),
    Suite('mutants', PLAIN, frozenset({'mutants'}), 120, reads_only=True),
]
NAMES = [s.name for s in SUITES]
# What a newcomer wants to know: does it work here?
DEFAULT = ['unit', 'model', 'scenario', 'rules', 'wire']
QUICK = ['unit', 'model', 'scenario', 'rules', 'tidy']
ONE_IN = 5  # of what is drawn, where no suite is named: the rest says more of the code than of the machine
BY_NAME_ONLY = ['package', 'mutants']  # too long for `all`: by hand, and mutants nightly
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
    if left_out := [n for n in NAMES if n not in names]:
        lines.append(f"not:  {' '.join(left_out)} (`tools/test all`, all but {' '.join(BY_NAME_ONLY)}: about {sum(estimate(ALL)):.0f} minutes)")
    return '\n'.join(lines)
