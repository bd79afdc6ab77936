# SPDX-License-Identifier: Apache-2.0
"""compiled_rules.py BUILD: rules that need a compiler. Each header compiles alone, clang-tidy finds nothing in
any source, clang-format would change nothing.

A ninja file of its own (BUILD/tidy/build.ninja) runs them side by side, and again only where something changed.
"""
from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from tap import Tap
from tree import CPP, ROOT, Tree

NINJA = '''\
# Written by compiled_rules.py.
builddir = {here}
rule header
  command = {compiler} $flags -fsyntax-only -include $in -x c++ /dev/null -MD -MF $out.d -MT $out && touch $out
  depfile = $out.d
  deps = gcc
  description = alone $in
rule tidy
  command = cd {build} && clang-tidy-19 --quiet -p {here} $source && touch $out
  description = clang-tidy $source
rule format
  command = clang-format-19 --dry-run --Werror $in && touch $out
  description = format $in
'''


class CompiledRules:
    def __init__(self, build: Path, tree: Tree) -> None:
        self._build = build
        self._here = build / 'tidy'
        self._tree = tree
        commands = json.loads((build / 'compile_commands.json').read_text())
        self._commands = {str((Path(c['directory']) / c['file']).resolve().relative_to(ROOT)): c for c in commands
                          if (Path(c['directory']) / c['file']).resolve().is_relative_to(ROOT)}
        self._dependencies = self._read_dependencies()

    def write(self) -> None:
        """Our ninja file, and a compilation database that clang understands."""
        self._here.mkdir(exist_ok=True)
        compiler = next(iter(self._commands.values()))['command'].split(' -I')[0]
        text = [NINJA.format(here=self._here, build=self._build, compiler=compiler)]
        for path in self._tree.paths(('.hpp',)):
            text.append(f'build {self._stamp(path, "alone")}: header {ROOT / path}\n  flags = {self._flags_for(path)}\n')
        for path in self._tidied():
            inputs = ' '.join([str(ROOT / '.clang-tidy'), *self._dependencies.get(path, [])])
            text.append(f'build {self._stamp(path, "tidy")}: tidy {ROOT / path} | {inputs}\n  source = {ROOT / path}\n')
        for path in self._tree.paths(CPP):
            text.append(f'build {self._stamp(path, "format")}: format {ROOT / path} | {ROOT / ".clang-format"}\n')
        for kind in ('alone', 'tidy', 'format'):
            text.append(f"build {kind}: phony {' '.join(self._all(kind))}\n")
        _write_if_changed(self._here / 'build.ninja', ''.join(text))
        database = [{**c, 'command': _for_clang(c['command'])} for c in self._commands.values()]
        _write_if_changed(self._here / 'compile_commands.json', json.dumps(database, indent=1))

    def run(self, kind: str) -> list[str]:
        done = subprocess.run(['ninja', '-k', '0', '-f', str(self._here / 'build.ninja'), kind],
                              capture_output=True, text=True, check=False, cwd=self._build)
        return [] if done.returncode == 0 else complaints(done.stdout)

    def _tidied(self) -> list[str]:
        return [p for p in self._tree.paths(('.cpp',)) if p in self._commands and not p.startswith('tests/')]

    def _all(self, kind: str) -> list[str]:
        paths = {'alone': self._tree.paths(('.hpp',)), 'tidy': self._tidied(), 'format': self._tree.paths(CPP)}[kind]
        return [str(self._stamp(p, kind)) for p in paths]

    def _stamp(self, path: str, kind: str) -> Path:
        return self._here / kind / (path.replace('/', '.') + '.ok')

    def _flags_for(self, path: str) -> str:
        """Of the nearest source that is built: same folder, else same room, else any."""
        parts = path.split('/')
        for depth in range(len(parts) - 1, -1, -1):
            folder = '/'.join(parts[:depth])
            near = sorted(p for p in self._commands if p.startswith(folder + '/' if folder else ''))
            if near:
                # Of a folder whose sources are built in several ways: the one that sees DPDK and our own root.
                commands = [self._commands[p]['command'] for p in near]
                words = shlex.split(max(commands, key=lambda c: ('rte_config.h' in c) + (' -I.. ' in c)))
                keep = [w for w in words if w.startswith(('-I', '-isystem', '-D', '-std', '-f', '-m', '-W', '-pthread'))]
                if any('rte_config.h' in w for w in words):
                    keep += ['-include', 'rte_config.h']
                return ' '.join(shlex.quote(w) for w in keep)
        return '-std=c++23'

    def _read_dependencies(self) -> dict[str, list[str]]:
        """Source → the headers of ours that it reads, as the last build saw them."""
        listed = subprocess.run(['ninja', '-C', str(self._build), '-t', 'deps'], capture_output=True, text=True, check=True)
        found: dict[str, list[str]] = {}
        files: list[str] = []
        for line in [*listed.stdout.splitlines(), '']:
            if line.startswith(' '):
                path = (self._build / line.strip()).resolve()
                if path.is_relative_to(ROOT) and path.exists():
                    files.append(str(path))
            elif files:
                found[str(Path(files[0]).relative_to(ROOT))] = files[1:]
                files = []
        return found


def complaints(output: str) -> list[str]:
    """What the compilers said, without what ninja and the command lines add."""
    noise = ('[', 'ninja: ', 'Suppressed ', 'Use -header-filter')
    said, command_follows = [], False
    for line in output.splitlines():
        if command_follows:
            command_follows = False
        elif line.startswith('FAILED: '):
            command_follows = True
        elif line.strip() and not line.startswith(noise) and not line.rstrip().endswith('warnings generated.'):
            said.append(line.replace(f'{ROOT}/', ''))
    return said


def _for_clang(command: str) -> str:
    words = shlex.split(command)
    if words[0] == 'ccache':
        words = words[1:]
    words[0] = 'clang++-19'
    return shlex.join([*words, '-Wno-unknown-warning-option', '-Wno-ignored-optimization-argument'])


def _write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> int:
    tap = Tap()
    missing = [tool for tool in ('clang-tidy-19', 'clang-format-19', 'ninja') if shutil.which(tool) is None]
    if missing:
        tap.point('tools_are_there', [f'{tool} is not installed' for tool in missing])
        return tap.end()
    rules = CompiledRules(Path(sys.argv[1]).resolve(), Tree.of_checkout())
    rules.write()
    for name, kind in (('sources_are_formatted', 'format'), ('headers_compile_alone', 'alone'), ('clang_tidy_finds_nothing', 'tidy')):
        if tap.wants(name):
            said = rules.run(kind)
            if kind == 'format':  # the files are enough: clang-format mends them
                files = sorted({line.split(':')[0] for line in said if ': error:' in line})
                said = ['run: clang-format-19 -i ' + ' '.join(files)] if files else said
            tap.point(name, said)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
