# SPDX-License-Identifier: Apache-2.0
"""A page of the manual as a session: its blocks are done in their order, in one folder, and what it shows is compared.

    ```console           `$ COMMAND`, and below it what it prints. `…` alone on a line: lines left out; within a line: what
                         differs from run to run. Blanks count as one, and so do
                         the rules of a table. A command that ends in `&` runs until the page ends,
                         and is there from its first answer on. What exits with another status than 0 has `$ echo $?` after it.
    ```console root      the same, skipped where the test is not root; `guests`: in the suite that starts guests
    ```yaml FILE         a file that later commands of the page name
    ```yaml              part of a testbed file: `softspine check` takes it, without a warning; `warns`: with one
    ```sh                scripts of the checkout, which are there
    ```sql               questions of docs/recording.md, which recording.py asks

Commands within sentences (`softspine show …`) are known to `softspine --help`, with their options.
"""
from __future__ import annotations

import re
import shlex
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from softspine import ROOT, TESTBEDS, Run, Softspine

KINDS = {'console', 'yaml', 'goal', 'sh', 'sql'}
WHOLE = {'name': 'name: part\n',
         'fabric': 'fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, '
                   'fabric_link: {rate: 100Gbps, length: 40m}}\n'}


@dataclass
class Block:
    kind: str
    words: list[str]
    line: int
    lines: list[str] = field(default_factory=list)

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """With what each prints."""
        found: list[tuple[str, list[str]]] = []
        for line in self.lines:
            if line.startswith('$ '):
                found.append((line[2:], []))
            elif found and line.strip():
                found[-1][1].append(line)
        return iter(found)


def blocks_of(text: str) -> list[Block]:
    found: list[Block] = []
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('```'):
            inside = not inside
            if inside:
                kind, *words = line[3:].split() or ['']
                found.append(Block(kind, words, number))
        elif inside:
            found[-1].lines.append(line)
    return found


def spans_of(text: str) -> list[str]:
    """Commands of softspine within sentences."""
    prose = re.sub(r'^```.*?^```$', '', text, flags=re.MULTILINE | re.DOTALL)
    return [re.sub(r'\s+', ' ', span) for span in re.findall(r'`(softspine [^`]*)`', prose)]


PROGRESS = re.compile(r'\d+\.\d+ of \d+\.\d+ ms \(')  # a line of it every five seconds, where there is no terminal


def words_of(line: str) -> str:
    return re.sub(r'-{3,}', '---', re.sub(r'\s+', ' ', line).strip())


def first_difference(shown: list[str], printed: list[str]) -> str:
    """Of what the page shows, the first line that was not printed at its place; nothing if there is none."""
    at, may_skip = 0, False
    lines = [words_of(line) for line in printed if line.strip() and not PROGRESS.match(line.strip())]
    for line in (words_of(line) for line in shown):
        if line == '…':
            may_skip = True
            continue
        pattern = re.compile('.*?'.join(re.escape(part) for part in line.split('…')))
        places = range(at, len(lines)) if may_skip else range(at, min(at + 1, len(lines)))
        place = next((n for n in places if pattern.fullmatch(lines[n])), None)
        if place is None:
            return line
        at, may_skip = place + 1, False
    return '' if may_skip or at == len(lines) else f'(nothing more, but it prints: {lines[at]})'


class Session:
    """One page, done from its top to its end."""

    def __init__(self, it: Softspine, name: str, may: set[str]) -> None:
        self.it, self.name, self.may = it, name, may
        self.status = 0
        self.beside: list[Run] = []
        self.skipped: list[Block] = []
        (it.folder / 'testbeds').symlink_to(TESTBEDS)
        (it.folder / 'bin').mkdir()
        (it.folder / 'bin' / 'softspine').symlink_to(it.binary)
        it.env['PATH'] = f'{it.folder / "bin"}:{it.env["PATH"]}'

    def problems(self, blocks: list[Block]) -> Iterator[str]:
        try:
            for block in blocks:
                yield from (f'{self.name}:{block.line}: {problem}' for problem in self.block(block))
        finally:
            for run in self.beside:
                run.end(2)

    def block(self, block: Block) -> Iterator[str]:
        if block.kind not in KINDS:
            yield f'nothing runs a block of {block.kind or "no kind"}'
        elif not self.may >= {word for word in block.words if word in ('root', 'guests')}:
            self.skipped.append(block)
        elif block.kind in ('yaml', 'goal'):
            yield from self.file(block)
        elif block.kind == 'sql':  # recording.py runs them
            yield from (f'nothing runs a block of sql in {self.name}' for _ in range(self.name != 'docs/recording.md'))
        elif block.kind == 'sh':
            yield from (f'there is no {line.split()[0]}' for line in block.lines
                        if line.strip() and not (ROOT / line.split()[0]).is_file())
        else:
            for command, shown in block.commands():
                yield from self.command(command, shown)

    def file(self, block: Block) -> Iterator[str]:
        text = '\n'.join(block.lines) + '\n'
        name = next((word for word in block.words if '.' in word), None)
        if name:
            self.it.write(name, text)
            return
        missing = ''.join(line for key, line in WHOLE.items() if not re.search(rf'^{key}:', text, re.MULTILINE))
        done = self.it('check', self.it.write(f'part-{block.line}.yaml', missing + text))
        yield from done.exited(0)
        if done.err and 'warns' not in block.words:
            yield f'check warns: {done.err}'

    def command(self, command: str, shown: list[str]) -> Iterator[str]:
        if command.endswith(' &'):
            yield from self.start(shlex.split(command[:-2]))
            return
        before, done = self.status, subprocess.run(
            ['bash', '-c', f'(exit {self.status}); {command}'], cwd=self.it.folder, env=self.it.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', timeout=300, check=False)
        self.status = done.returncode
        if before != 0 and command != 'echo $?':
            yield f'the command before `{command}` exited with {before}'
        if missing := first_difference(shown, done.stdout.splitlines()):
            yield f'`{command}` does not print: {missing}\n{done.stdout[:3000]}'

    def start(self, words: list[str]) -> Iterator[str]:
        run = Run(self.it, words[1:])
        self.beside.append(run)
        until = time.monotonic() + 60
        while self.it('show', 'fabric').status != 0:
            if run.process.poll() is not None or time.monotonic() > until:
                yield f'{words}: does not run: {run.end(9)}'
                return
            time.sleep(0.1)

    def end(self) -> Iterator[str]:
        if self.status != 0:
            yield f'{self.name}: its last command exited with {self.status}'


def span_problems(it: Softspine, name: str, text: str) -> Iterator[str]:
    helps: dict[str, str] = {}
    for span in spans_of(text):
        words = span.split()
        command = words[1] if len(words) > 1 else ''
        if not command.islower() or command.startswith('-'):
            continue
        if command not in helps:
            helps[command] = it(command, '--help').out
        if not helps[command]:
            yield f'{name}: there is no command of `{span}`'
        known = helps[command] + ''.join(it(command, word, '--help').out for word in words[2:3] if command in ('capture', 'bench'))
        for option in re.findall(r'(?<=\s)--[a-z-]+', span):
            if not re.search(rf'(^|[\s,]){option}\b', known):
                yield f'{name}: {command} has no {option}: `{span}`'
        view = re.match(r'softspine show ([a-z_ -]+?)(?: --|$)', span)
        if view and not re.search(rf'^\s+{re.escape(view[1].strip())}(\s\s|$)', helps['show'], re.MULTILINE):
            yield f'{name}: show has no such view: `{span}`'


def pages() -> list[Path]:
    return [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md'))]
