# SPDX-License-Identifier: Apache-2.0
"""What a run of `meson test` came to: an Outcome for each case, from its JUnit and JSON logs."""
from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, SKIPPED = 'passed', 'failed', 'skipped'


@dataclass(frozen=True)
class Outcome:
    name: str
    kind: str
    message: str = ''


def outcomes(log: Path, protocols: dict[str, str], is_filtered: bool) -> tuple[list[Outcome], dict[str, float]]:
    """And how many seconds each test took. `log` has no suffix."""
    tests = {t['name'].split(' / ')[-1]: t for t in map(json.loads, Path(f'{log}.json').read_text().splitlines())}
    found = [Outcome(name, FAILED, 'was not run') for name in protocols if name not in tests]
    cases = _cases(Path(f'{log}.junit.xml').read_text())
    for name, test in tests.items():
        own = [] if protocols[name] == 'exitcode' else cases[name]
        found += own + _whole(name, test, own, protocols[name], is_filtered)
    return found, {name: test['duration'] for name, test in tests.items()}


def _cases(junit: str) -> dict[str, list[Outcome]]:
    """By test: GoogleTest's cases, and points of TAP. meson lists tests without cases as cases of the project."""
    found = defaultdict(list)
    printable = re.sub(r'[\x00-\x08\x0b\x0c\x0e-\x1f]', '?', junit)
    for suite in ElementTree.fromstring(printable).iter('testsuite'):
        test, _, group = re.sub(r'^softspine\.?(.* / )?', '', suite.get('name')).partition('.')
        output = suite.findtext('system-out', '')
        for case in suite.iter('testcase'):
            name = f"{test}: {f'{group}.' if group else ''}{re.sub('^[0-9]+ - ', '', case.get('name'))}"
            if failures := [*case.findall('failure'), *case.findall('error')]:
                said = re.search(rf"^not ok {re.escape(case.get('name'))}.*\n((?:#.*\n?)*)", output, re.MULTILINE)
                found[test].append(Outcome(name, FAILED, said[1] if said else '\n'.join(f.get('message', '') for f in failures)))
            elif (skip := case.find('skipped')) is not None:
                reason = (skip.get('message') or case.findtext('system-out', '')).strip()
                found[test].append(Outcome(name, SKIPPED, reason.split('\n')[-1] or 'no reason given'))
            elif case.get('status') != 'notrun':
                found[test].append(Outcome(name, PASSED))
            elif 'DISABLED_' in name:
                found[test].append(Outcome(name, SKIPPED, 'disabled'))
    return found


def _whole(name: str, test: dict, own: list[Outcome], protocol: str, is_filtered: bool) -> list[Outcome]:
    """The program, where it is one test; or where it failed and no case says why: a crash, a leak, its time was over."""
    output = test['stdout'] + test.get('stderr', '')
    # Google Benchmark's SkipWithError exits with 0.
    if test['result'] not in ('OK', 'SKIP') or 'ERROR OCCURRED' in output:
        return [] if any(o.kind == FAILED for o in own) else [
            Outcome(f'{name}: program' if own else name, FAILED, f"{test['result']}, exit status {test['returncode']}\n{_tail(output)}")]
    if protocol == 'exitcode':
        return [Outcome(name, SKIPPED if test['result'] == 'SKIP' else PASSED, _tail(output, 1))]
    return [] if own or is_filtered else [Outcome(name, FAILED, 'reported no test')]


def _tail(text: str, lines: int = 25) -> str:
    """The first report of a sanitizer if there is one, else the end."""
    every = text.strip().splitlines()
    first = next((i for i, line in enumerate(every) if 'Sanitizer' in line or 'runtime error:' in line), max(len(every) - lines, 0))
    return '\n'.join(every[first:first + lines])
