# SPDX-License-Identifier: Apache-2.0
"""The commands, as their own `--help` has them."""
from __future__ import annotations

import re


def names_in(text: str) -> list[str]:
    """The subcommands that a help text lists."""
    listed = re.search(r'^Subcommands:\n((?: .*\n?)+)', text, re.MULTILINE)
    return re.findall(r'^  (\S+)', listed[1], re.MULTILINE) if listed else []


def block(text: str) -> str:
    return f'```text\n{text.strip()}\n```\n'


def commands(program) -> str:
    overview = program('--help')
    text = f'# Commands\n\n{block(overview)}'
    for name in names_in(overview):
        help_text = program(name, '--help')
        text += f'\n## {name}\n\n{block(help_text)}'
        for inner in names_in(help_text):
            text += f'\n### {name} {inner}\n\n{block(program(name, inner, "--help"))}'
    return text
