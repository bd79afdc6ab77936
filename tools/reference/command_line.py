# SPDX-License-Identifier: Apache-2.0
"""A program's command line, as its hidden --describe has it: what man pages and completion are made of."""
from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

EXAMPLES, EXIT_STATUS = 'Examples:', 'Exit status:'


@dataclass(frozen=True)
class Option:
    names: list[str]
    value: str  # as CLI11 prints it: TEXT:{wall,virtual}, UINT:UINT in [1 - 128]; empty: a flag
    description: str

    @property
    def choices(self) -> list[str]:
        return choices_of(self.value)

    @property
    def kind(self) -> str:
        return self.value.partition(':')[0]


@dataclass(frozen=True)
class Positional:
    name: str
    value: str
    required: bool
    repeated: bool
    description: str

    @property
    def choices(self) -> list[str]:
        return choices_of(self.value)


@dataclass(frozen=True)
class Command:
    words: list[str]  # program, command, …
    description: str
    footer: str
    options: list[Option]
    positionals: list[Positional]
    commands: list['Command']

    def all(self) -> Iterator['Command']:
        yield self
        for command in self.commands:
            yield from command.all()

    def views(self) -> dict[str, str]:
        """What `show` can show, of the table in its footer."""
        table = self.footer.partition('What can be shown:\n')[2].partition(EXAMPLES)[0]
        return dict(re.findall(r'^  (\S+(?: \S+)*) {2,}(.*)$', table, re.MULTILINE))


def choices_of(value: str) -> list[str]:
    listed = re.search(r'\{([^}]*)\}$', value)
    return listed[1].split(',') if listed else []


def command_of(described: dict, before: list[str]) -> Command:
    words = [*before, described['name']]
    return Command(words, described['description'], described['footer'], [Option(**it) for it in described['options']],
                   [Positional(**it) for it in described['positionals']], [command_of(it, words) for it in described['commands']])


def command_line_of(program: str) -> Command:
    return command_of(json.loads(subprocess.run([program, '--describe'], capture_output=True, text=True, check=True).stdout), [])


def parts_of(footer: str) -> tuple[list[str], list[str], list[str]]:
    """A footer's lines: what it explains, its examples, its exit statuses."""
    parts: dict[str, list[str]] = {'': [], EXAMPLES: [], EXIT_STATUS: []}
    now = ''
    for line in footer.splitlines():
        if line.startswith(EXIT_STATUS):
            now, line = EXIT_STATUS, line[len(EXIT_STATUS):].strip()
        elif line.strip() in (EXAMPLES, 'Example:'):
            now = EXAMPLES
            continue
        elif now == EXAMPLES and line and not line.startswith(' '):
            now = ''
        parts[now].append(line)
    return parts[''], parts[EXAMPLES], parts[EXIT_STATUS]
