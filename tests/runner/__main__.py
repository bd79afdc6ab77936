# SPDX-License-Identifier: Apache-2.0
"""tools/test: builds and runs suites in order; says first which, and for how long; the last line is `N passed, N failed,
N skipped`."""
from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from fuzzing import FuzzLength
from outcome import FAILED, PASSED, SKIPPED, Outcome
from processes import Processes
from suites import ALL, BY_NAME_ONLY, DEFAULT, LOGS, NAMES, ONE_IN, QUICK, SUITES, Runner, plan

MESSAGE_LINES = 30
LONG = 20  # seconds of a program, to be told


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='tools/test', description=__doc__)
    parser.add_argument('suites', nargs='*', metavar='SUITE',
                        help=f"of: {' '.join(NAMES)}; `all`: all but {' '.join(BY_NAME_ONLY)}; none: {' '.join(DEFAULT)}")
    parser.add_argument('--quick', action='store_true', help=f"only {', '.join(QUICK)}; with suites named: those, fuzz for 5 s")
    parser.add_argument('-k', metavar='PATTERN', dest='pattern', help='only tests whose name has PATTERN in it')
    length = parser.add_mutually_exclusive_group()
    length.add_argument('--fuzz-seconds', type=int, metavar='N', help='for each fuzz target (30)')
    length.add_argument('--fuzz-runs', type=int, metavar='N', help='inputs for each fuzz target, however long they take')
    parsed = parser.parse_args()
    if unknown := set(parsed.suites) - {*NAMES, 'all'}:
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are: {' '.join(NAMES)}, and all")
    return parsed


def names_of(chosen: argparse.Namespace) -> list[str]:
    if not chosen.suites:
        return QUICK if chosen.quick else DEFAULT
    return [*chosen.suites, *(ALL if 'all' in chosen.suites else [])]


def counts(outcomes: list[Outcome]) -> str:
    return ', '.join(f'{sum(o.kind == kind for o in outcomes)} {kind}' for kind in (PASSED, FAILED, SKIPPED))


def report(outcomes: list[Outcome], pattern: str | None) -> int:
    skipped = [o for o in outcomes if o.kind == SKIPPED]
    failed = [o for o in outcomes if o.kind == FAILED]
    for o in skipped:
        print(f'skipped: {o.name}: {o.message}')
    for o in failed:
        print(f'FAILED: {o.name}')
        for line in o.message.splitlines()[:MESSAGE_LINES]:
            print(f'    {line}')
    if failed:
        print(f'whole logs: {LOGS}')
    ran = sum(o.kind != SKIPPED for o in outcomes)
    if ran == 0:
        print('no test ran' + (f' (nothing matches {pattern!r})' if pattern else ''))
    print(counts(outcomes), flush=True)
    return 1 if failed or ran == 0 else 0


def run(chosen: argparse.Namespace, processes: Processes, scratch: Path) -> list[Outcome]:
    names = names_of(chosen)
    one_in = int(os.environ.get('SOFTSPINE_ONE_IN') or (1 if chosen.suites else ONE_IN))
    print(plan(names, one_in), flush=True)
    length = FuzzLength(seconds=chosen.fuzz_seconds or (5 if chosen.quick else 30), runs=chosen.fuzz_runs or 0)
    suites = [s for s in SUITES if s.name in names]
    runner = Runner(processes, scratch, suites, one_in, chosen.pattern, length)
    outcomes: list[Outcome] = []
    for suite in suites:
        print(f'{suite.name:9}', end=' ', flush=True)
        result = runner.run(suite)
        outcomes += result.outcomes
        print(f'{counts(result.outcomes):36} {result.run_seconds:7.1f} s'
              + (f'   (build {result.build_seconds:.0f} s)' if result.build_seconds >= 1 else '')
              + (f'   (longest: {result.slowest[0]}, {result.slowest[1]:.0f} s)' if result.slowest[1] >= LONG else ''), flush=True)
        for o in (o for o in result.outcomes if o.kind == PASSED and o.message):
            print(f'    {o.name:24} {o.message}', flush=True)
    return outcomes


def main() -> int:
    chosen = arguments()
    processes = Processes()
    scratch = Path(tempfile.mkdtemp(prefix='softspine-'))

    def interrupted(which: int, _frame) -> None:
        processes.end_all()
        shutil.rmtree(scratch, ignore_errors=True)
        print(f'\ninterrupted by {signal.Signals(which).name}', file=sys.stderr, flush=True)
        os._exit(128 + which)  # threads may still wait for children that are gone

    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, interrupted)
    started = time.monotonic()
    try:
        outcomes = run(chosen, processes, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f'{time.monotonic() - started:.0f} s in all')
    return report(outcomes, chosen.pattern)


if __name__ == '__main__':
    sys.exit(main())
