# SPDX-License-Identifier: Apache-2.0
"""tools/test: builds and runs suites in order, by `meson test`; says first which, and for how long; the last line is
`N passed, N failed, N skipped`."""
from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from meson import Meson, StepFailed
from results import FAILED, PASSED, SKIPPED, Outcome
from suites import ALL, BY_NAME_ONLY, DEFAULT, NAMES, ONE_IN, QUICK, SUITES, Suite, plan

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


def counts(outcomes: list[Outcome]) -> str:
    return ', '.join(f'{sum(o.kind == kind for o in outcomes)} {kind}' for kind in (PASSED, FAILED, SKIPPED))


def run(suite: Suite, meson: Meson, chosen: list[Suite], pattern: str | None) -> list[Outcome]:
    print(f'{suite.name:9}', end=' ', flush=True)
    started = time.monotonic()
    try:
        tests = meson.build(suite, chosen)
        built = time.monotonic()
        others = [s.build for s in chosen[chosen.index(suite) + 1:] if s.build != suite.build and not s.reads_only]
        if others and suite.parallel:
            meson.build_ahead(others[0], chosen)
        outcomes, seconds = meson.test(suite, tests, pattern)
    except StepFailed as failure:
        built, outcomes, seconds = time.monotonic(), [Outcome(f'{suite.name}: what it needs is built', FAILED, str(failure))], {}
    longest = max(seconds, key=seconds.get, default='')
    print(f'{counts(outcomes):36} {time.monotonic() - built:7.1f} s'
          + (f'   (build {built - started:.0f} s)' if built - started >= 1 else '')
          + (f'   (longest: {longest}, {seconds[longest]:.0f} s)' if seconds.get(longest, 0) >= LONG else ''), flush=True)
    for o in outcomes:
        if o.kind == FAILED:  # at the end again, with why: whoever ends this earlier knows which
            print(f'    failed: {o.name}', flush=True)
        elif suite.tells and o.kind == PASSED:
            print(f'    {o.name:24} {o.message}', flush=True)
    return outcomes


def report(outcomes: list[Outcome], pattern: str | None) -> int:
    failed = [o for o in outcomes if o.kind == FAILED]
    for o in (o for o in outcomes if o.kind == SKIPPED):
        print(f'skipped: {o.name}: {o.message}')
    for o in failed:
        print(f'FAILED: {o.name}')
        for line in o.message.splitlines()[:MESSAGE_LINES]:
            print(f'    {line}')
    if failed:
        print('whole logs: meson-logs in the build folders')
    ran = sum(o.kind != SKIPPED for o in outcomes)
    if ran == 0:
        print('no test ran' + (f' (nothing matches {pattern!r})' if pattern else ''))
    print(counts(outcomes), flush=True)
    return 1 if failed or ran == 0 else 0


def main() -> int:
    chosen = arguments()
    names = [*chosen.suites, *(ALL if 'all' in chosen.suites else [])] or (QUICK if chosen.quick else DEFAULT)
    one_in = int(os.environ.get('SOFTSPINE_ONE_IN') or (1 if chosen.suites else ONE_IN))
    scratch = Path(tempfile.mkdtemp(prefix='softspine-'))
    fuzz_length = f'-runs={chosen.fuzz_runs}' if chosen.fuzz_runs else f'-max_total_time={chosen.fuzz_seconds or (5 if chosen.quick else 30)}'
    meson = Meson({'TMPDIR': str(scratch), 'SOFTSPINE_FUZZ': fuzz_length, **({'SOFTSPINE_ONE_IN': str(one_in)} if one_in > 1 else {})})

    def interrupted(which: int, _frame) -> None:
        meson.end()
        shutil.rmtree(scratch, ignore_errors=True)
        print(f'\ninterrupted by {signal.Signals(which).name}', file=sys.stderr, flush=True)
        os._exit(128 + which)

    for which in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(which, interrupted)
    started = time.monotonic()
    print(plan(names, one_in), flush=True)
    suites = [s for s in SUITES if s.name in names]
    try:
        outcomes = [o for s in suites for o in run(s, meson, suites, chosen.pattern)]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f'{time.monotonic() - started:.0f} s in all')
    return report(outcomes, chosen.pattern)


if __name__ == '__main__':
    sys.exit(main())
