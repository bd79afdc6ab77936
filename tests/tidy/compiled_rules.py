# SPDX-License-Identifier: Apache-2.0
"""compiled_rules.py BUILD: rules that need a compiler or a linter. Each header compiles alone, clang-tidy finds
nothing in any source, clang-format would change nothing, shellcheck finds nothing in any script.

They run side by side, one for each processor. What has passed is not checked again: see passed_before.py. With
SOFTSPINE_TIDY_MINUTES, checks begin only for so long, for headers and for clang-tidy each: first what was looked at least recently.
A dozen sources of a library are looked at as one, as the build compiles them: clang-tidy's time is that of what they include.
"""
from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from passed_before import PassedBefore, default_folder, installed
from tap import Tap
from tree import CPP, ROOT, Tree


@dataclass(frozen=True)
class Check:
    name: str
    command: list[str]
    paths: list[str]  # what it looks at, and at whatever they include
    settings: str = ''


class CompiledRules:
    def __init__(self, build: Path, tree: Tree, passed: PassedBefore, minutes: float = math.inf) -> None:
        self.left = 0
        self._minutes = minutes
        self._build = build
        self._here = build / 'tidy'
        self._tree = tree
        self._passed = passed
        commands = json.loads((build / 'compile_commands.json').read_text())
        self._units = {c['file']: [path for path in map(of_checkout, put_together(build / c['file'])) if path] for c in commands}
        self._settings = {c['file']: _for_clang(c['command']) for c in commands}
        self._commands = {path: c['command'] for c in commands for path in self._units[c['file']]}
        self._here.mkdir(exist_ok=True)  # and in it a compilation database that clang understands
        database = [{**c, 'command': _for_clang(c['command'])} for c in commands]
        (self._here / 'compile_commands.json').write_text(json.dumps(database, indent=1))

    def headers_alone(self) -> list[str]:
        compiler = [word for word in shlex.split(next(iter(self._commands.values()))) if not word.startswith('-')][:2]
        compiler = compiler if compiler[0] == 'ccache' else compiler[:1]
        return self.run([Check(path, [*compiler, *self._flags_for(path), '-fsyntax-only', '-include', str(ROOT / path),
                                      '-x', 'c++', '/dev/null'], [path])
                         for path in self._tree.paths(('.hpp',))])

    def clang_tidy(self) -> list[str]:
        return self.run([Check(unit, ['clang-tidy-19', '--quiet', '-p', str(self._here), str(self._build / unit)], paths,
                               self._tree.texts['.clang-tidy'] + self._settings[unit])
                         for unit, paths in self._units.items() if paths and not paths[0].startswith('tests/')])

    def clang_format(self) -> list[str]:
        """The files are enough: clang-format mends them."""
        done = subprocess.run(['clang-format-19', '--dry-run', '--Werror', *self._tree.paths(CPP)],
                              capture_output=True, text=True, check=False, cwd=ROOT)
        files = sorted({line.split(':')[0] for line in done.stderr.splitlines() if ': error:' in line})
        if files:
            return ['run: clang-format-19 -i ' + ' '.join(files)]
        return [done.stderr] if done.returncode != 0 else []

    def shellcheck(self) -> list[str]:
        """Left out: SC2034 and SC2154 (what a script hands to one that it sources), SC1007 (`a= b=1` means an empty a)."""
        scripts = [path for path in self._tree.scripts('bash') if self._tree.texts[path].startswith('#!')]
        done = subprocess.run(['shellcheck', '-S', 'warning', '-f', 'gcc', '-e', 'SC2034,SC2154,SC1007', *scripts],
                              capture_output=True, text=True, check=False, cwd=ROOT)
        return (done.stdout + done.stderr).splitlines() or ([] if done.returncode == 0 else [f'exit status {done.returncode}'])

    def run(self, checks: list[Check]) -> list[str]:
        """What they say; those that had no time are counted in `left`."""
        until = time.monotonic() + 60 * self._minutes
        keys = {c.name: self._passed.key(c.paths, shlex.join(c.command), c.settings, installed()) for c in checks}
        ahead = sorted((c for c in checks if not self._passed.knows(keys[c.name])), key=lambda c: self._passed.last_seen(c.paths))
        self.left = 0
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(dict.fromkeys(said for each in pool.map(lambda c: self._run_one(c, keys[c.name], until), ahead) for said in each))

    def _run_one(self, check: Check, key: str, until: float) -> list[str]:
        if time.monotonic() >= until:
            self.left += 1
            return []
        done = subprocess.run(check.command, capture_output=True, text=True, check=False, cwd=self._build)
        if done.returncode == 0:
            self._passed.remember(key, check.paths)
            return []
        return complaints(done.stdout + done.stderr) or [f'{check.name}: exit status {done.returncode}']

    def _flags_for(self, path: str) -> list[str]:
        """Of the nearest source that is built: same folder, else same room, else any."""
        parts = path.split('/')
        for depth in range(len(parts) - 1, -1, -1):
            folder = '/'.join(parts[:depth])
            near = sorted(p for p in self._commands if p.startswith(folder + '/' if folder else ''))
            if near:
                # Of a folder whose sources are built in several ways: the one that sees DPDK and our own root.
                commands = [self._commands[p] for p in near]
                words = shlex.split(max(commands, key=lambda c: ('rte_config.h' in c) + (' -I.. ' in c)))
                keep = [w for w in words if w.startswith(('-I', '-isystem', '-D', '-std', '-f', '-m', '-W', '-pthread'))]
                return keep + (['-include', 'rte_config.h'] if any('rte_config.h' in w for w in words) else [])
        return ['-std=c++23']


def put_together(source: Path) -> list[Path]:
    """Of a source that meson wrote, those that it includes; else itself."""
    if '.p/' not in str(source):
        return [source]
    included = re.findall(r'^#include\s*[<"](.*)[>"]', source.read_text(), re.MULTILINE)
    return [source.parent / path for path in included]


def of_checkout(path: Path) -> str | None:
    resolved = path.resolve()
    return str(resolved.relative_to(ROOT)) if resolved.is_relative_to(ROOT) else None


def complaints(output: str) -> list[str]:
    """What the compilers said, without what they say about themselves."""
    noise = ('Suppressed ', 'Use -header-filter', 'Error while processing')
    return [line.replace(f'{ROOT}/', '') for line in output.splitlines()
            if line.strip() and not line.startswith(noise) and not line.rstrip().endswith(('warnings generated.', 'treated as errors'))]


def _for_clang(command: str) -> str:
    words = shlex.split(command)
    if words[0] == 'ccache':
        words = words[1:]
    words = ['clang++-19', *(word for word in words[1:] if not word.startswith('--param='))]  # GCC's alone: an error elsewhere
    # GCC 12's own <algorithm> uses what it calls deprecated; clang says so.
    return shlex.join([*words, '-Wno-unknown-warning-option', '-Wno-ignored-optimization-argument',
                       '-Wno-deprecated-declarations'])


def make_headers(build: Path) -> None:
    """Those that a build writes: without them, sources that include them compile nowhere."""
    listed = subprocess.run(['ninja', '-C', str(build), '-t', 'targets', 'rule', 'CUSTOM_COMMAND'],
                            capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(['ninja', '-C', str(build), *[name for name in listed if name.endswith('.hpp')]],
                   stdout=subprocess.DEVNULL, check=True)


def main() -> int:
    tap = Tap()
    missing = [tool for tool in ('clang-tidy-19', 'clang-format-19', 'shellcheck') if shutil.which(tool) is None]
    if missing:
        tap.point('tools_are_there', [f'{tool} is not installed' for tool in missing])
        return tap.end()
    tree = Tree.of_checkout()
    build = Path(sys.argv[1]).resolve()
    make_headers(build)
    rules = CompiledRules(build, tree, PassedBefore(tree, default_folder()), float(os.environ.get('SOFTSPINE_TIDY_MINUTES') or math.inf))
    for name, rule in (('sources_are_formatted', rules.clang_format), ('scripts_pass_shellcheck', rules.shellcheck),
                       ('headers_compile_alone', rules.headers_alone),
                       ('clang_tidy_finds_nothing', rules.clang_tidy)):
        if not tap.wants(name):
            continue
        if not (said := rule()) and rules.left:
            tap.skip(name, f'{rules.left} are left for the next time')
        else:
            tap.point(name, said)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
