# SPDX-License-Identifier: Apache-2.0
"""What a program's run came to: one Outcome per test, from GoogleTest's XML, from TAP, or from an exit status."""
from __future__ import annotations

import re
import signal
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

from processes import Finished

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'
MESON_SKIP = 77


@dataclass(frozen=True)
class Outcome:
    name: str
    kind: str
    message: str = ''


def of_gtest(program: str, done: Finished, xml: Path) -> list[Outcome]:
    """A program that died leaves no XML: then its log tells which tests it had finished, and which killed it."""
    found = _from_xml(program, xml) if xml.exists() else _from_log(program, done)
    return _with_exit(program, done, found)


def of_tap(program: str, done: Finished) -> list[Outcome]:
    found: list[Outcome] = []
    planned = None
    for line in done.output.splitlines():
        if plan := re.match(r'1\.\.(\d+)', line):
            planned = int(plan[1])
        elif point := re.match(r'(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:#\s*SKIP\b\s*(.*))?$', line):
            kind = SKIPPED if point[3] is not None else FAILED if point[1] else PASSED
            found.append(Outcome(f'{program}: {point[2]}', kind, point[3] or ''))
        elif line.startswith('#') and found and found[-1].kind == FAILED:
            last = found.pop()
            found.append(Outcome(last.name, FAILED, f'{last.message}\n{line[1:].strip()}'.strip()))
    if planned is not None and planned != len(found):
        found.append(Outcome(f'{program}: plan', FAILED, f'{planned} tests planned, {len(found)} reported'))
    if planned is None and not found:
        found.append(Outcome(f'{program}: plan', FAILED, 'reported no test'))
    return _with_exit(program, done, found)


def of_exit(program: str, done: Finished) -> list[Outcome]:
    if done.status == MESON_SKIP and not done.timed_out:
        return [Outcome(program, SKIPPED, _tail(done.output, 1))]
    if 'ERROR OCCURRED' in done.output:  # Google Benchmark's SkipWithError exits with 0
        return [Outcome(program, FAILED, _tail(done.output))]
    return _with_exit(program, done, []) or [Outcome(program, PASSED)]


def _from_xml(program: str, xml: Path) -> list[Outcome]:
    found = []
    for case in ElementTree.parse(xml).iter('testcase'):
        name = f"{program}: {case.get('classname')}.{case.get('name')}"
        failures = [f.get('message', '') for f in case.findall('failure')]
        skipped = case.find('skipped')
        if failures:
            found.append(Outcome(name, FAILED, '\n'.join(failures)))
        elif skipped is not None or case.get('result') == 'skipped':
            reason = '' if skipped is None else skipped.get('message', '')
            found.append(Outcome(name, SKIPPED, reason.strip().splitlines()[-1] if reason.strip() else 'no reason given'))
        elif case.get('status') == 'notrun':
            if case.get('name', '').startswith('DISABLED_') or case.get('classname', '').startswith('DISABLED_'):
                found.append(Outcome(name, SKIPPED, 'disabled'))
        else:
            found.append(Outcome(name, PASSED))
    return found


def _from_log(program: str, done: Finished) -> list[Outcome]:
    found, running = [], None
    for line in done.output.splitlines():
        if started := re.match(r'\[ RUN      \] (\S+)', line):
            running = started[1]
        elif ended := re.match(r'\[ +(OK|FAILED|SKIPPED) +\] (\S+) \(\d+ ms\)', line):
            kind = {'OK': PASSED, 'FAILED': FAILED, 'SKIPPED': SKIPPED}[ended[1]]
            found.append(Outcome(f'{program}: {ended[2]}', kind))
            running = None
    if running:
        found.append(Outcome(f'{program}: {running}', FAILED, f'{_ending(done)}\n{_tail(done.output)}'))
    return found


def _with_exit(program: str, done: Finished, found: list[Outcome]) -> list[Outcome]:
    """An exit status that no single test explains is a failure of its own: a sanitizer's, a leak's, a crash at the end."""
    if (done.status != 0 or done.timed_out) and all(o.kind != FAILED for o in found):
        return [*found, Outcome(f'{program}: program', FAILED, f'{_ending(done)}\n{_tail(done.output)}')]
    return found


def _ending(done: Finished) -> str:
    if done.timed_out:
        return 'ran out of time'
    if done.status < 0:
        return f'ended by {signal.Signals(-done.status).name}'
    return f'exited with {done.status}'


def _tail(text: str, lines: int = 25) -> str:
    """The first report of a sanitizer if there is one, else the end."""
    all_lines = text.strip().splitlines()
    for i, line in enumerate(all_lines):
        if 'Sanitizer' in line or 'runtime error:' in line:
            return '\n'.join(all_lines[i:i + lines])
    return '\n'.join(all_lines[-lines:])
