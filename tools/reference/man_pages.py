# SPDX-License-Identifier: Apache-2.0
"""Man pages: one for a program, one for each of its commands."""
from __future__ import annotations

from command_line import Command, Option, Positional, parts_of

MANUAL = '/usr/share/doc/softspine'


def escaped(text: str) -> str:
    text = text.replace('\\', '\\e').replace('-', '\\-')
    return '\n'.join('\\&' + line if line.startswith(('.', "'")) else line for line in text.split('\n'))


def shown(lines: list[str]) -> str:
    """As they stand, in a terminal's letters."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return '.nf\n' + escaped('\n'.join(line.removeprefix('  ') for line in lines)) + '\n.fi\n'


def explained(lines: list[str]) -> str:
    """Sentences are filled; tables, whose lines are indented, stand as they are."""
    text, table = '', []
    for line in [*lines, '']:
        if line.startswith('  '):
            table.append(line)
            continue
        if table:
            text += '.RS 4\n' + shown(table) + '.RE\n'
            table = []
        text += escaped(line) + '\n' if line else '.PP\n'
    return text.removeprefix('.PP\n').removesuffix('.PP\n')


def head(words: list[str], version: str, description: str) -> str:
    name = '-'.join(words)
    return f'.\\" SPDX-License-Identifier: Apache-2.0\n.TH {name.upper()} 1 "" "{version}" "softspine"\n.SH NAME\n{escaped(name)} \\- {escaped(description)}\n'


def synopsis(command: Command) -> str:
    parts = [f'.B {escaped(" ".join(command.words))}', '[\\fIOPTIONS\\fR]']
    if command.commands:
        parts.append('\\fICOMMAND\\fR [\\fIARGUMENTS\\fR]')
    for it in command.positionals:
        word = f'\\fI{escaped(it.name)}\\fR' + ('…' if it.repeated else '')
        parts.append(word if it.required else f'[{word}]')
    return '.SH SYNOPSIS\n' + '\n'.join(parts) + '\n'


def value_of(it: Option | Positional) -> str:
    if it.choices:
        return ' \\fI' + escaped('|'.join(it.choices)) + '\\fR'
    kind = it.value.partition(':')[0]
    return f' \\fI{escaped(kind)}\\fR' if kind else ''


def options(command: Command) -> str:
    text = ''.join(f'.TP\n\\fI{escaped(it.name)}\\fR{value_of(it) if it.choices else ""}\n{escaped(it.description)}\n' for it in command.positionals)
    text += ''.join(f'.TP\n\\fB{escaped(", ".join(it.names))}\\fR{value_of(it)}\n{escaped(it.description)}\n' for it in command.options)
    return f'.SH OPTIONS\n{text}'


def page(command: Command, version: str, others: list[str]) -> str:
    prose, examples, statuses = parts_of(command.footer)
    text = head(command.words, version, command.description.removeprefix(f'{command.words[0]}: ')) + synopsis(command)
    if any(line.strip() for line in prose):
        text += '.SH DESCRIPTION\n' + explained(prose)
    if command.commands:
        text += '.SH COMMANDS\n' + ''.join(f'.TP\n\\fB{escaped(" ".join(it.words[1:]))}\\fR\n{escaped(it.description)}\n' for it in command.commands)
    text += options(command)
    if statuses:
        text += '.SH EXIT STATUS\n' + explained(statuses)
    if examples:
        text += '.SH EXAMPLES\n' + shown(examples)
    seen = [f'\\fB{escaped(name)}\\fR(1)' for name in others]
    return text + '.SH SEE ALSO\n' + ', '.join([*seen, escaped(MANUAL)]) + '\n'


def page_of_help(name: str, description: str, version: str, help_text: str) -> str:
    """For a program that has nothing but --help."""
    return head([name], version, description) + '.SH DESCRIPTION\n' + shown(help_text.splitlines())


def pages(program: Command, version: str) -> dict[str, str]:
    """By file name. A command refers to the program, which refers to all of them."""
    everything = list(program.all())
    out = {}
    for command in everything:
        others = ['-'.join(it.words) for it in everything[1:]] if command is program else [program.words[0]]
        out['-'.join(command.words) + '.1'] = page(command, version, others)
    return out
