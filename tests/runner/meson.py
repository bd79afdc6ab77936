# SPDX-License-Identifier: Apache-2.0
"""Build folders by meson and ninja, and their tests by `meson test`, which knows priorities, timeouts, what may run beside others."""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from results import Outcome, outcomes
from suites import ROOT, Build, Suite

# Checkouts in different folders share what they compile. meson would fill freed memory with bytes drawn by chance.
ENVIRONMENT = {'CCACHE_NOHASHDIR': '1', 'CCACHE_BASEDIR': str(ROOT), 'MALLOC_PERTURB_': '0'}


# With the time that nobody else wants. The kernel shares time between sessions first (autogroup): its own weighs little, too.
IDLY = ['sh', '-c', '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec chrt --idle 0 "$0" "$@"']


class StepFailed(Exception):
    """The message is the program's own."""


class Meson:
    def __init__(self, env: dict[str, str]) -> None:
        self._env = {**os.environ, **ENVIRONMENT, **env}
        self._running: subprocess.Popen | None = None
        self._ahead: subprocess.Popen | None = None

    def end(self) -> None:
        """From a signal's handler. `meson test` ends its tests' process groups."""
        self.end_building_ahead()
        if self._running:
            self._running.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._running.wait(10)

    def build(self, suite: Suite, chosen: list[Suite]) -> dict[str, dict]:
        """The suite's tests by name; built at once with what the later suites of its folder need, so that no core waits for
        the last of each."""
        self.end_building_ahead()
        tests, command = self._plan_build(suite.build, chosen)
        if command and not suite.reads_only:
            self._must(command)
        if suite.prepares:
            self._must([str(ROOT / suite.prepares)])
        return {t['name']: t for t in tests if suite.holds & _suites_of(t)}

    def build_ahead(self, folder: Build, chosen: list[Suite]) -> None:
        """While tests run, with the processor time that they leave: tests by the wall clock wait for much of theirs. What
        fails fails again when the folder's turn has come."""
        if not shutil.which('chrt'):
            return
        with suppress(StepFailed):
            command = self._plan_build(folder, chosen)[1]
            self._ahead = subprocess.Popen([*IDLY, *command], env=self._env, cwd=ROOT, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def end_building_ahead(self) -> None:
        if self._ahead:
            with suppress(ProcessLookupError):
                os.killpg(self._ahead.pid, signal.SIGTERM)  # ninja removes what its compilers have half written
            self._ahead.wait(60)  # a wait without an end would hold a lock that a signal's handler needs
            self._ahead = None

    def _plan_build(self, folder: Build, chosen: list[Suite]) -> tuple[list[dict], list[str]]:
        """All tests of a folder, and the command that builds those of the suites."""
        self._configure(folder)
        tests = self._introspect(folder, '--tests')
        together = frozenset().union(*(s.holds for s in chosen if s.build == folder and not s.reads_only))
        needed = {target for t in tests if together & _suites_of(t) for target in t['depends']}
        files = [file for t in self._introspect(folder, '--targets') if t['id'] in needed for file in t['filename']]
        return tests, ['ninja', '-C', str(folder.path), *(os.path.relpath(file, folder.path) for file in files)] if files else []

    def test(self, suite: Suite, tests: dict[str, dict], pattern: str | None) -> tuple[list[Outcome], dict[str, float]]:
        """And how many seconds each took. With a pattern: tests of that name, and of the others those cases."""
        names = sorted(tests, key=lambda name: not tests[name]['is_parallel'])
        others = [name for name in names if pattern is not None and pattern not in name]
        cases = {'gtest': [f"--test-args={shlex.quote(f'--gtest_filter=*{pattern}*')}"], 'tap': []}
        found, seconds = self._run(suite, [n for n in names if n not in others], tests, [], None)
        for protocol, options in cases.items():
            more, took = self._run(suite, [n for n in others if tests[n]['protocol'] == protocol], tests, options, pattern)
            found, seconds = found + more, seconds | took
        return found, seconds

    def _run(self, suite: Suite, names: list[str], tests: dict[str, dict], options: list[str], cases: str | None):
        if not names:
            return [], {}
        folder = suite.build.path
        log = folder / 'meson-logs' / '-'.join([suite.name, *([tests[names[0]]['protocol']] if cases else [])])
        for before in [Path(f'{log}.junit.xml'), *(folder / f'{name}.xml' for name in names)]:
            before.unlink(missing_ok=True)  # what crashes writes none
        where = ['setarch', '-R'] if suite.build.fixed_addresses and _can_fix_addresses() else []
        output = self._call([*where, 'meson', 'test', '-C', str(folder), '--no-rebuild', '--no-stdsplit', '--quiet', '--logbase', log.name,
                    *([] if suite.parallel else ['--num-processes=1']), *options, *names],
                   **suite.build.env, **({'SOFTSPINE_TEST_PATTERN': cases} if cases else {}))[1]
        if not Path(f'{log}.junit.xml').exists():
            raise StepFailed('\n'.join(output.splitlines()[-30:]))
        return outcomes(log, {name: tests[name]['protocol'] for name in names}, cases is not None)

    def _configure(self, build: Build) -> None:
        """A folder that stands as it should only follows changes of meson files."""
        stamp = build.path / 'softspine-options'
        wanted = json.dumps([build.compiler, build.options])
        if (build.path / 'build.ninja').exists() and stamp.exists() and stamp.read_text() == wanted:
            self._must(['ninja', '-C', str(build.path), 'build.ninja'])
            return
        shutil.rmtree(build.path, ignore_errors=True)
        self._must(['meson', 'setup', str(build.path), *build.options], CXX=('ccache ' if shutil.which('ccache') else '') + build.compiler)
        stamp.write_text(wanted)

    def _introspect(self, build: Build, what: str) -> list[dict]:
        return json.loads(self._must(['meson', 'introspect', what, str(build.path)]))

    def _call(self, command: list[str], **env: str) -> tuple[int, str]:
        self._running = subprocess.Popen(command, env={**self._env, **env}, cwd=ROOT, text=True, errors='replace',
                                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = self._running.communicate()[0]
        return self._running.returncode, output

    def _must(self, command: list[str], **env: str) -> str:
        status, output = self._call(command, **env)
        if status != 0:
            lines = output.splitlines()
            first = next((i for i, line in enumerate(lines) if re.search('error:|ERROR:|^FAILED', line)), max(len(lines) - 30, 0))
            raise StepFailed('\n'.join(lines[first:first + 30]))
        return output


def _suites_of(test: dict) -> set[str]:
    return {name.split(':')[-1] for name in test['suite']}


def _can_fix_addresses() -> bool:
    """Some containers forbid it."""
    return subprocess.run(['setarch', '-R', 'true'], capture_output=True, check=False).returncode == 0
