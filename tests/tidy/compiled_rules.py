# SPDX-License-Identifier: Apache-2.0
"""compiled_rules.py BUILD: rules that need a compiler or a linter. Each header compiles alone, clang-tidy finds
nothing in any source, clang-format would change nothing, shellcheck finds nothing in any script.

They run side by side, one for each processor. What has passed is not checked again: see passed_before.py.
"""
from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from passed_before import PassedBefore, default_folder, installed
from tap import Tap
from tree import CPP, ROOT, Tree


@dataclass(frozen=True)
class Check:
    path: str
    command: list[str]
    settings: str = ''


class CompiledRules:
    def __init__(self, build: Path, tree: Tree, passed: PassedBefore) -> None:
        self._build = build
        self._here = build / 'tidy'
        self._tree = tree
        self._passed = passed
        commands = json.loads((build / 'compile_commands.json').read_text())
        self._commands = {str((Path(c['directory']) / c['file']).resolve().relative_to(ROOT)): c['command'] for c in commands
                          if (Path(c['directory']) / c['file']).resolve().is_relative_to(ROOT)}
        self._here.mkdir(exist_ok=True)  # and in it a compilation database that clang understands
        database = [{**c, 'command': _for_clang(c['command'])} for c in commands]
        (self._here / 'compile_commands.json').write_text(json.dumps(database, indent=1))

    def headers_alone(self) -> list[str]:
        compiler = [word for word in shlex.split(next(iter(self._commands.values()))) if not word.startswith('-')][:2]
        compiler = compiler if compiler[0] == 'ccache' else compiler[:1]
        return self.run([Check(path, [*compiler, *self._flags_for(path), '-fsyntax-only', '-include', str(ROOT / path),
                                       '-x', 'c++', '/dev/null'])
                          for path in self._tree.paths(('.hpp',))])

    def clang_tidy(self) -> list[str]:
        return self.run([Check(path, ['clang-tidy-19', '--quiet', '-p', str(self._here), str(ROOT / path)],
                                self._tree.texts['.clang-tidy'] + _for_clang(self._commands[path]))
                          for path in self._tree.paths(('.cpp',)) if path in self._commands and not path.startswith('tests/')])

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
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return [said for each in pool.map(self._run_one, checks) for said in each]

    def _run_one(self, check: Check) -> list[str]:
        key = self._passed.key(check.path, shlex.join(check.command), check.settings, installed())
        if self._passed.knows(key):
            return []
        done = subprocess.run(check.command, capture_output=True, text=True, check=False, cwd=self._build)
        if done.returncode == 0:
            self._passed.remember(key, check.path)
            return []
        return complaints(done.stdout + done.stderr) or [f'{check.path}: exit status {done.returncode}']

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


def complaints(output: str) -> list[str]:
    """What the compilers said, without what they say about themselves."""
    noise = ('Suppressed ', 'Use -header-filter', 'Error while processing')
    return [line.replace(f'{ROOT}/', '') for line in output.splitlines()
            if line.strip() and not line.startswith(noise) and not line.rstrip().endswith(('warnings generated.', 'treated as errors'))]


def _for_clang(command: str) -> str:
    words = shlex.split(command)
    if words[0] == 'ccache':
        words = words[1:]
    words[0] = 'clang++-19'
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
    rules = CompiledRules(build, tree, PassedBefore(tree, default_folder()))
    for name, rule in (('sources_are_formatted', rules.clang_format), ('scripts_pass_shellcheck', rules.shellcheck),
                       ('headers_compile_alone', rules.headers_alone),
                       ('clang_tidy_finds_nothing', rules.clang_tidy)):
        if tap.wants(name):
            tap.point(name, rule())
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
