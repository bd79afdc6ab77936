#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/reference/make.py PROGRAM [--into FOLDER]: writes the pages of docs/reference from what the program says of itself.

PROGRAM is the softspine command. tests/wire/command/reference.py makes them once more and compares.
To add a page: a function of a `Program` that returns Markdown, and its line in PAGES.
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import command_pages
import key_pages
import run_pages

ROOT = Path(__file__).resolve().parents[2]
HEAD = '''<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by tools/reference/make.py from what the program says of itself: change it there. -->
'''
# file, what it holds, who makes it
PAGES: list[tuple[str, str, Callable[['Program'], str]]] = [
    ('testbed.md', 'every key of a testbed file', key_pages.testbed),
    ('config_db.md', "SONiC's tables in a profile or a config_db.json", key_pages.config_db),
    ('commands.md', 'every command with its options, and what `show` can show', command_pages.commands),
    ('report.md', 'every field of a report, which is what expectations name', run_pages.report),
    ('metrics.md', 'what Prometheus is told', run_pages.metrics),
    ('sai.md', "counters under SAI's names", run_pages.sai),
]


class Program:
    """The softspine command, in a folder of its own and with a control socket of its own."""

    def __init__(self, binary: str, folder: Path) -> None:
        self.binary, self.folder = os.path.abspath(binary), folder
        (folder / 'run').mkdir(mode=0o700)
        self.env = {**os.environ, 'XDG_RUNTIME_DIR': str(folder / 'run')}

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run([self.binary, *arguments], cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f'softspine {" ".join(arguments)}: exit status {done.returncode}\n{done.stderr}')
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([self.binary, *arguments], cwd=self.folder, env=self.env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def index(_: Program) -> str:
    rows = ''.join(f'| [{name}]({name}) | {holds} |\n' for name, holds, _ in PAGES)
    return f'# Reference\n\nThese pages are made from the tables that the program itself reads by, so they say what it does.\n\n| page | holds |\n|---|---|\n{rows}'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('program')
    parser.add_argument('--into', type=Path, default=ROOT / 'docs' / 'reference')
    arguments = parser.parse_args()
    arguments.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix='softspine-', dir='/tmp') as folder:
        program = Program(arguments.program, Path(folder))
        for name, _, page in [*PAGES, ('README.md', '', index)]:
            text = HEAD + page(program).rstrip() + '\n'
            (arguments.into / name).write_text('\n'.join(line.rstrip() for line in text.splitlines()) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
