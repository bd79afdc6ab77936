# SPDX-License-Identifier: Apache-2.0
"""What is counted, and what goes wrong, is read by somebody who is no test: shown, reported, or acted on.

By names, not by types: two classes with an accessor of one name are read if either is. So a defect can hide, but what is found is one.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

from tree import CPP, Finding, Tree

# What only tests can want to know, and why.
FOR_TESTS = {
    ('dataplane/engine/clock.hpp', 'idle_rounds'): 'of ManualClock, which is a test\'s',
    ('dataplane/congestion/reaction_point.hpp', 'current_bps'): 'no counter: a rate that steps, held against the paper\'s formula',
    ('dataplane/congestion/reaction_point.hpp', 'target_bps'): 'no counter: a rate that steps, held against the paper\'s formula',
    ('dataplane/engine/engine.hpp', 'lost_on_links'): 'the sum; what is shown are the links\' own counters',
    ('dataplane/hashing/hash_key.hpp', 'used_bytes'): 'no counter: how far a key is filled, held against the model\'s',
}
COMMENT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
ACCESSOR = re.compile(r'\b(?:u?int\d+_t|size_t|double|Duration|Instant) (\w+)\(\) const(?: noexcept)?(?: override)? \{\s*return (\w+_)(?:\.load\([^)]*\))?;\s*\}')
ERROR = re.compile(r'[\w>&*]\s+(\w*(?:error|fault|failure|offender|statistics|refus)\w*)\(\) const\b')
MEMBER = re.compile(r'^\s*(?:std::atomic<)?uint(?:32|64)_t>? (\w*[a-z0-9])(?: = 0|\{0\})?;', re.M)
WORD = re.compile(r'\w+')


class Code:
    """What ships, not its tests, without comments and texts; and in which lines each word of it stands."""

    def __init__(self, tree: Tree) -> None:
        self.texts = {path: COMMENT.sub('', tree.texts[path]) for path in tree.paths(CPP) if not path.startswith('tests/')}
        self._lines: dict[str, list[tuple[str, int, str]]] = {}
        for path, text in self.texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                for word in set(WORD.findall(line)):
                    self._lines.setdefault(word, []).append((path, number, line))

    def first(self, path: str, word: str) -> int:
        return next((number for where, number, _ in self._lines.get(word, []) if where == path), 1)

    def count(self, word: str, pattern: re.Pattern[str], under: str = '') -> int:
        """How often the pattern, which has the word in it, stands in the files whose path begins so."""
        return sum(len(pattern.findall(line)) for path, _, line in self._lines.get(word, []) if path.startswith(under))


def _grows(name: str) -> re.Pattern[str]:
    """It is counted up, or raised to a new maximum."""
    return re.compile(rf'\+\+[\w.\->\[\]()*: ]*?\b{name}\b|\b{name}(?:\[[^\]]*\])?(?: \+=|\+\+|\.fetch_add| = std::max\()')


def _asked_for(code: Code, header: str) -> set[str]:
    """Accessors of errors, and of what the class's own files count up."""
    stem = str(PurePosixPath(header).with_suffix(''))
    counted = {name for name, member in ACCESSOR.findall(code.texts[header]) if code.count(member, _grows(member), stem)}
    names = counted | set(ERROR.findall(code.texts[header]))
    return {name for name in names if (header, name) not in FOR_TESTS}


def _is_called(code: Code, accessor: str) -> bool:
    called = code.count(accessor, re.compile(rf'\b{accessor}\('))
    declared = code.count(accessor, re.compile(rf'\b{accessor}\([^()]*\) const\b'))
    return called > declared or code.count(accessor, re.compile(rf'&\w+::{accessor}\b')) > 0


def _counters(code: Code, header: str) -> set[str]:
    return {name for name in MEMBER.findall(code.texts[header]) if code.count(name, _grows(name))}


def _is_read(code: Code, counter: str) -> bool:
    written = code.count(counter, _grows(counter))
    declared = code.count(counter, re.compile(rf'\bu?int\d+_t>? {counter}\b'))
    return code.count(counter, re.compile(rf'\b{counter}\b')) > written + declared


def _without_reader(tree: Tree, names: Callable[[Code, str], set[str]], has_reader: Callable[[Code, str], bool],
                    complaint: str) -> list[Finding]:
    """Of the names that each header declares, those that nothing but tests reads."""
    code = Code(tree)
    return [Finding(path, code.first(path, name), complaint.format(name))
            for path in code.texts if path.endswith('.hpp')
            for name in sorted(names(code, path)) if not has_reader(code, name)]


def accessors_have_readers(tree: Tree) -> list[Finding]:
    """An accessor of a counter or of an error is called by more than tests."""
    return _without_reader(tree, _asked_for, _is_called, 'nobody but tests asks for {}()')


def counters_have_readers(tree: Tree) -> list[Finding]:
    """A counter in a struct is read by more than tests."""
    return _without_reader(tree, _counters, _is_read, 'nobody but tests reads {}')


RULES = [accessors_have_readers, counters_have_readers]
