# SPDX-License-Identifier: Apache-2.0
"""A comment or a card that names a file names one that is there."""
from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from tree import CPP, Finding, Tree, room_of

NAME = re.compile(r'(?<![\w./*-])/?[\w*][\w.*/-]*\.(?:hpp|cpp|py|yaml|md)\b(?!\.?\w)')
# Strings are matched too, so that what looks like a comment inside one is not taken for it.
CPP_PARTS = re.compile(r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*')
PYTHON_PARTS = re.compile(r'"""(?:.|\n)*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*')
DOCSTRING = re.compile(r'^ *"""(?:.|\n)*?"""', re.M)
HASH_PARTS = re.compile(r'(?<!\S)#[^\n]*')
EVERY_LINE = re.compile(r'[^\n]+')


def named_files_exist(tree: Tree) -> list[Finding]:
    """A file that a comment or a room's card names is there: by its name, the end of its path, or a pattern such as *_tables.cpp."""
    by_name: dict[str, list[str]] = {}
    for path in tree.texts:
        by_name.setdefault(PurePosixPath(path).name, []).append('/' + path)
    findings = []
    for path, number, line in _comments(tree):
        findings += [Finding(path, number, f'there is no {name}') for name in NAME.findall(line) if not _is_there(by_name, name)]
    return findings


def _is_there(by_name: dict[str, list[str]], name: str) -> bool:
    if name.startswith('/'):  # from the checkout's root, as /README.md; other such paths are a machine's
        return ('/' in name[1:] and not room_of(name[1:])) or name in by_name.get(PurePosixPath(name).name, [])
    candidates = by_name.get(PurePosixPath(name).name, []) if '*' not in name else [p for paths in by_name.values() for p in paths]
    return any(fnmatchcase(candidate, '*/' + name) for candidate in candidates)


def _comments(tree: Tree) -> list[tuple[str, int, str]]:
    """(path, line, text) of each line of a comment; of a card, each line."""
    hashed = {*tree.paths(('.yaml', '.build')), *tree.scripts('bash')}
    kinds = [(CPP_PARTS, '//', tree.paths(CPP)), (PYTHON_PARTS, '#', tree.scripts('python')), (DOCSTRING, '"""', tree.scripts('python')),
             (HASH_PARTS, '#', hashed), (EVERY_LINE, '', [path for path in tree.paths(('/README.md',)) if room_of(path)])]
    found = []
    for parts, begin, paths in kinds:
        for path in sorted(paths):
            text = tree.texts[path]
            for match in parts.finditer(text):
                if match[0].lstrip().startswith(begin):
                    first = text.count('\n', 0, match.start()) + 1
                    found += [(path, number, line) for number, line in enumerate(match[0].split('\n'), first)]
    return found


RULES = [named_files_exist]
