# SPDX-License-Identifier: Apache-2.0
"""What is kept of a campaign: each verdict as it falls, so that one that was broken off goes on where it stopped; what every test
reaches; and which test killed which mutant, which a later run, also on another machine, asks first.

    out/mutants/verdicts.jsonl   the digest of the sources, then a verdict a line
    out/mutants/reach.json       the same digest, and the tests
    out/mutants/killers.json     the form of tests/mutants/killers.json, which is checked in
    out/mutants/left_out.json    those by rule that do not compile, in the form of tests/mutants/left_out.json"""
from __future__ import annotations

import hashlib
import json
import subprocess
import threading
from dataclasses import asdict
from pathlib import Path

from campaign import Test, Verdict
from catalogue import Mutant

# What the mutated copy is made of, and how its tests are chosen.
ROOMS = ('control/', 'dataplane/', 'pipelines/', 'testbeds/', 'tests/', 'tools/', 'meson')
KILLERS = 'tests/mutants/killers.json'
LEFT_OUT = 'tests/mutants/left_out.json'


def digest_of(root: Path) -> str:
    """Of everything that a verdict depends on, but the killers, which only say what is asked first, and what is left out, which only saves a build."""
    listed = subprocess.run(['git', '-c', f'safe.directory={root}', 'ls-files', '-co', '--exclude-standard', '-z'],
                            cwd=root, check=True, capture_output=True).stdout.decode()
    out = hashlib.sha256()
    for name in sorted(set(listed.split('\0'))):
        if name.startswith(ROOMS) and name not in (KILLERS, LEFT_OUT) and (root / name).is_file():
            out.update(f'{name}\0'.encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return out.hexdigest()


def killers(root: Path, out: Path) -> dict[str, str]:
    """By mutant's key: those that are checked in, and those of this machine's last runs over them."""
    found: dict[str, str] = {}
    for path in (root / KILLERS, out / 'killers.json'):
        if path.exists():
            found |= json.loads(path.read_text())
    return found


class Results:
    def __init__(self, out: Path, digest: str) -> None:
        self._out = out
        self._digest = digest
        self._path = out / 'verdicts.jsonl'
        self._lock = threading.Lock()
        self._rows = self._rows_of_before()
        if not self._rows:
            self._path.write_text(json.dumps({'sources': digest}) + '\n')

    def _rows_of_before(self) -> dict[str, dict]:
        lines = self._path.read_text().splitlines() if self._path.exists() else []
        rows = []
        for line in lines:
            try:
                rows.append(json.loads(line))
            except ValueError:
                break  # what was being written when the run was broken off
        if not rows or rows[0] != {'sources': self._digest}:
            return {}
        if len(rows) < len(lines):
            self._path.write_text(''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows))
        return {row['key']: row for row in rows[1:]}

    def verdict_on(self, mutant: Mutant) -> Verdict | None:
        """That of a run of the same sources."""
        row = self._rows.get(mutant.key)
        return Verdict(mutant, row['kind'], row['by'], row['seconds']) if row else None

    def keep(self, verdict: Verdict) -> None:
        row = {'key': verdict.mutant.key, 'kind': verdict.kind, 'by': verdict.by, 'seconds': round(verdict.seconds, 2)}
        with self._lock, self._path.open('a') as file:
            file.write(json.dumps(row, ensure_ascii=False) + '\n')

    def tests(self) -> list[Test]:
        """Empty: they are to be learnt."""
        path = self._out / 'reach.json'
        kept = json.loads(path.read_text()) if path.exists() else {}
        if kept.get('sources') != self._digest:
            return []
        return [Test(**{**row, 'reaches': frozenset(row['reaches'])}) for row in kept['tests']]

    def keep_tests(self, tests: list[Test]) -> None:
        rows = [{**asdict(test), 'reaches': sorted(test.reaches)} for test in tests]
        (self._out / 'reach.json').write_text(json.dumps({'sources': self._digest, 'tests': rows}))


def write_left_out(out: Path, left_out: list[Mutant]) -> None:
    (out / 'left_out.json').write_text(json.dumps(sorted(m.key for m in left_out), indent=0, ensure_ascii=False) + '\n')


def write_killers(out: Path, known: dict[str, str], verdicts: list[Verdict], mutants: list[Mutant]) -> None:
    """Of mutants that there are, a line each."""
    by = {**known, **{v.mutant.key: v.by for v in verdicts if v.by}}
    kept = {m.key: by[m.key] for m in mutants if m.key in by}
    (out / 'killers.json').write_text(json.dumps(kept, indent=0, sort_keys=True, ensure_ascii=False) + '\n')
