# SPDX-License-Identifier: Apache-2.0
"""How long a class may be: its declaration and all its member functions, in however many files they stand."""
from __future__ import annotations

import re
from collections import defaultdict
from pathlib import PurePosixPath

from size_rules import TEMPLATE_ARGUMENTS, blank_out, cpp_functions
from tree import CPP, Finding, Tree

MAX_CLASS_LINES = 400
CLASS_HEAD = re.compile(r'(?<!enum )\b(?:class|struct|union)\s+(?:alignas\(\w+\)\s*|\[\[[^\]]*\]\]\s*)*'
                        rf'(\w+(?:{TEMPLATE_ARGUMENTS})?)(?:\s+final)?(?:\s*:[^;{{}}()]*)?\s*$')
SCOPE = re.compile(rf'(\w+)({TEMPLATE_ARGUMENTS})?::')

NAMESPACE = re.compile(r'^namespace (softspine(?:::\w+)*) \{', re.MULTILINE)

Class = tuple[str, str]  # its name, and the file of its declaration


def classes_of_one_idea(tree: Tree) -> list[Finding]:
    """No class has more than 400 lines."""
    findings = []
    for known, files in sorted(class_lines(tree).items()):
        count = sum(files.values())
        if count > MAX_CLASS_LINES:
            findings.append(Finding(known[1], 1, f'{known[0]}: {count} lines, at most {MAX_CLASS_LINES}: {_told(files)}'))
    return findings


def types_have_names_of_their_own(tree: Tree) -> list[Finding]:
    """No two headers declare a type of one name in one namespace: a program with both takes either's functions for both."""
    first: dict[Class, str] = {}
    findings = []
    for path in sorted(tree.paths(('.hpp',))):
        if path.startswith('tests/'):
            continue
        named = NAMESPACE.search(tree.texts[path])
        for name, _ in declarations(tree.texts[path]) if named else []:
            one = first.setdefault((name, named[1]), path)
            if one != path:
                findings.append(Finding(path, 1, f'{named[1]}::{name} is declared in {one}, too'))
    return findings


def class_lines(tree: Tree) -> dict[Class, dict[str, int]]:
    """Of each class that ships, its lines in each file. A nested class is part of the outer one."""
    paths = [path for path in tree.paths(CPP) if not path.startswith('tests/')]
    lines: dict[Class, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    declared: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        for name, length in declarations(tree.texts[path]):
            declared[name].append(path)
            lines[name, path][path] += length
    for path in paths:
        for _, length, function in cpp_functions(tree.texts[path]):
            if found := _class_of(function, path, declared):
                lines[found][path] += length
    return lines


def declarations(text: str) -> list[tuple[str, int]]:
    """(name, lines) of each class of the file that is not inside another."""
    blank = blank_out(text)
    found, stack, head = [], [], 0  # stack: (name, or nothing if it is no class; where its head begins)
    for match in re.finditer('[{};]', blank):
        i = match.start()
        if match[0] == '{':
            named = CLASS_HEAD.search(blank[head:i])
            stack.append((re.sub(r'\s', '', named[1]), head + named.start()) if named else ('', i))
        elif match[0] == '}' and stack:
            name, begin = stack.pop()
            if name and not any(outer for outer, _ in stack):
                found.append((name, blank.count('\n', begin, i) + 1))
        head = i + 1
    return found


def _class_of(function: str, path: str, declared: dict[str, list[str]]) -> Class | None:
    """Of `Ring<T>::push`: Ring, unless Ring<T> is a class of its own. Of classes of one name, the nearest."""
    for name, arguments in SCOPE.findall(function):
        for candidate in (name + re.sub(r'\s', '', arguments), name):
            if candidate in declared:
                return candidate, min(declared[candidate], key=lambda other: _distance(path, other))
    return None


def _distance(path: str, other: str) -> tuple[bool, bool, str]:
    return path != other, PurePosixPath(path).parent != PurePosixPath(other).parent, other


def _told(files: dict[str, int]) -> str:
    return ', '.join(f'{PurePosixPath(path).name} {count}' for path, count in sorted(files.items()))


RULES = [classes_of_one_idea, types_have_names_of_their_own]
