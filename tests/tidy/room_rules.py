# SPDX-License-Identifier: Apache-2.0
"""Rooms have cards, what is shipped is tested, and a name says where."""
from __future__ import annotations

from pathlib import PurePosixPath

from tree import ROOMS, Finding, Tree

PAGE_LINES = 60
PAGE_CHARACTERS = 5000


def rooms_have_cards(tree: Tree) -> list[Finding]:
    """Each room has a README of at most a page."""
    findings = []
    for room in ROOMS:
        card = f'{room}/README.md'
        if card not in tree.texts:
            findings.append(Finding(card, 1, 'is missing'))
        elif len(tree.lines(card)) > PAGE_LINES or len(tree.texts[card]) > PAGE_CHARACTERS:
            findings.append(Finding(card, PAGE_LINES, f'longer than a page ({PAGE_LINES} lines, {PAGE_CHARACTERS} characters)'))
    return findings


def testbeds_are_tests(tree: Tree) -> list[Finding]:
    """Each testbed shipped is named by a test."""
    tests = '\n'.join(text for path, text in tree.texts.items()
                      if path.startswith('tests/') and not path.startswith('tests/tidy/') and not path.endswith('.md'))
    return [Finding(path, 1, 'no test names this testbed') for path in tree.paths(('.yaml',), 'testbeds/')
            if len(PurePosixPath(path).parts) == 2 and PurePosixPath(path).stem not in tests]


def only_known_rooms(tree: Tree) -> list[Finding]:
    """Nothing stands at the top but the rooms, docs, examples, the dot files and the pages about the whole."""
    return [Finding(path, 1, 'stands in no room') for path in tree.texts
            if len(PurePosixPath(path).parts) > 1 and PurePosixPath(path).parts[0] not in (*ROOMS, 'docs', 'examples', '.ci')]


def headers_have_names_of_their_own(tree: Tree) -> list[Finding]:
    """A header is named by its name alone: no two have one name, whatever their rooms."""
    first: dict[str, str] = {}
    findings = []
    for path in sorted(tree.paths(('.hpp',))):
        one = first.setdefault(PurePosixPath(path).name, path)
        if one != path:
            findings.append(Finding(path, 1, f'has the name of {one}'))
    return findings


RULES = [rooms_have_cards, testbeds_are_tests, only_known_rooms, headers_have_names_of_their_own]
