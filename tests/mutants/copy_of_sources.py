# SPDX-License-Identifier: Apache-2.0
"""The mutated copy of the checkout in build-mutants/source, and its build. What does not compile with its mutants is
built without those that the compiler complains about; which they were is kept, so that the next build starts there."""
from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

from catalogue import Mutant
from results import LEFT_OUT
from schemata import with_mutants

MOST_ROUNDS = 6
OPTIONS = ['--buildtype=plain', '-Doptimization=1', '-Ddebug=false', '-Dwerror=false', '-Db_ndebug=false']
# Their programs link none of the rooms that are mutated, or only read.
NOT_RUN = ('unit/config_limits', 'unit/config_schema', 'unit/guests', 'unit/server', 'unit/verbs')


class CopyError(Exception):
    pass


class MutatedCopy:
    def __init__(self, root: Path, jobs: int) -> None:
        self.root = root
        self.jobs = jobs
        self.source = root / 'build-mutants' / 'source'
        self.build = root / 'build-mutants' / 'build'
        self.log = root / 'build-mutants' / 'build.log'
        self._left_out = root / 'build-mutants' / 'left_out.json'

    def make(self, mutants: list[Mutant]) -> tuple[list[Mutant], list[Mutant]]:
        """Those that are in it, and those that do not compile."""
        before = next((path for path in (self._left_out, self.root / LEFT_OUT) if path.exists()), None)
        known = set(json.loads(before.read_text())) if before is not None else set()
        kept = [m for m in mutants if m.key not in known]
        for _ in range(MOST_ROUNDS):
            self._write(kept)
            self._configure()
            output = self._compile()
            if output is None:
                return kept, [m for m in mutants if m not in kept]
            blamed = _blamed(output, kept)
            if not blamed:
                raise CopyError(f'the copy does not compile, and no mutant is where the errors are: {self.log}')
            kept = [m for m in kept if m not in blamed]
            known |= {m.key for m in blamed}
            self._left_out.write_text(json.dumps(sorted(known), indent=1))
        raise CopyError(f'after {MOST_ROUNDS} rounds the copy still does not compile: {self.log}')

    def programs(self) -> list[dict]:
        """Tests as meson knows them."""
        found = subprocess.run(['meson', 'introspect', '--tests', str(self.build)], check=True, capture_output=True, text=True)
        return [t for t in json.loads(found.stdout)
                if t['name'].split('/')[0] in ('unit', 'model', 'scenario') and t['name'] not in NOT_RUN
                and not t['name'].endswith('/threads')]  # which are among the program's others

    def _write(self, mutants: list[Mutant]) -> None:
        """Files that are as they should be are not touched: a second build compiles what has changed."""
        by_path = defaultdict(list)
        for mutant in mutants:
            by_path[mutant.path].append(mutant)
        listed = subprocess.run(['git', '-c', f'safe.directory={self.root}', 'ls-files', '-co', '--exclude-standard', '-z'],
                                cwd=self.root, check=True, capture_output=True).stdout.decode()
        wanted = {name for name in listed.split('\0') if name and (self.root / name).is_file()}
        for name in wanted:
            content = (self.root / name).read_bytes()
            if name in by_path:
                content = with_mutants(content.decode(), by_path[name]).encode()
            elif name == 'tests/harness/main.cpp':
                content = (self.root / 'tests/mutants/main.cpp').read_bytes()
            place = self.source / name
            if not place.is_file() or place.read_bytes() != content:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content)
                shutil.copymode(self.root / name, place)
        for old in [p for p in self.source.rglob('*') if p.is_file() and str(p.relative_to(self.source)) not in wanted]:
            old.unlink()

    def _configure(self) -> None:
        header = self.source / 'tests/mutants/mutant.hpp'
        if (self.build / 'build.ninja').exists():
            return
        compiler = 'ccache g++' if shutil.which('ccache') else 'g++'
        done = subprocess.run(['meson', 'setup', str(self.build), str(self.source), *OPTIONS, f'-Dcpp_args=-std=c++23 -include {header} -w'],
                              env={**os.environ, 'CXX': compiler}, capture_output=True, text=True)
        if done.returncode != 0:
            raise CopyError(done.stdout[-2000:])

    def _compile(self) -> str | None:
        """What the compiler complains about, or None. As many files as there are, not only up to the first error."""
        subprocess.run(['ninja', '-C', str(self.build), 'build.ninja'], check=True, capture_output=True)
        words = {os.path.normpath(w) for t in self.programs() for w in t['cmd'] if w.startswith('/')}
        targets = sorted(os.path.relpath(w, self.build) for w in words if Path(w).is_relative_to(self.build))
        with self.log.open('w') as sink:
            status = subprocess.run(['ninja', '-C', str(self.build), '-k', '0', f'-j{self.jobs}', *targets],
                                    stdout=sink, stderr=subprocess.STDOUT).returncode
        return None if status == 0 else self.log.read_text()


def _blamed(output: str, mutants: list[Mutant]) -> list[Mutant]:
    """Those on lines of errors; a header's error may be told where it is used from."""
    lines = set()
    for found in re.finditer(r'^(?:In file included from |\s+from )?(?:\S*/)?((?:dataplane|pipelines|control|testbeds|tools)/[\w/.]+):(\d+)(?::\d+)?: (?:fatal )?error',
                             output, re.MULTILINE):
        lines.add((found[1], int(found[2])))
    return [m for m in mutants if any((m.path, m.line + i) in lines for i in range(m.before.count('\n') + 1))]
