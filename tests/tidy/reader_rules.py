# SPDX-License-Identifier: Apache-2.0
"""What is counted, and what goes wrong, is read by somebody who is no test: shown, reported, or acted on.

By names, not by types: two classes with an accessor of one name are read if either is. So a defect can hide, but what is found is one.
"""
from __future__ import annotations

import re
from pathlib import PurePosixPath

from tree import CPP, Finding, Tree

# What only tests can want to know, and why.
FOR_TESTS = {
    ('dataplane/engine/clock.hpp', 'idle_rounds'): 'of ManualClock, which is a test\'s',
    ('dataplane/congestion/reaction_point.hpp', 'target_bps'): 'no counter: a rate that steps, held against the paper\'s formula',
    ('dataplane/engine/engine.hpp', 'lost_on_links'): 'the sum; what is shown are the links\' own counters',
    ('dataplane/hashing/hash_key.hpp', 'used_bytes'): 'no counter: how far a key is filled, held against the model\'s',
}
COMMENT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
ACCESSOR = re.compile(r'\b(?:u?int\d+_t|size_t|double|Duration|Instant) (\w+)\(\) const(?: noexcept)?(?: override)? \{\s*return (\w+_)(?:\.load\([^)]*\))?;\s*\}')
ERROR = re.compile(r'[\w>&*]\s+(\w*(?:error|fault|failure|offender|statistics|refus)\w*)\(\) const\b')
MEMBER = re.compile(r'^\s*(?:std::atomic<)?uint(?:32|64)_t>? (\w*[a-z0-9])(?: = 0|\{0\})?;', re.M)


def _code(tree: Tree) -> dict[str, str]:
    """Without comments and texts; what ships, not its tests."""
    return {path: COMMENT.sub('', tree.texts[path]) for path in tree.paths(CPP) if not path.startswith('tests/')}


def _grows(name: str) -> re.Pattern[str]:
    """It is counted up, or raised to a new maximum."""
    return re.compile(rf'\+\+[\w.\->\[\]()*: ]*?\b{name}\b|\b{name}(?:\[[^\]]*\])?(?: \+=|\+\+|\.fetch_add| = std::max\()')


def _line(tree: Tree, path: str, name: str) -> int:
    return next((n for n, line in enumerate(tree.lines(path), 1) if re.search(rf'\b{name}\b', line.split('//')[0])), 1)


def _counts(code: dict[str, str], header: str, member: str) -> bool:
    """The class's own files count it up."""
    stem = str(PurePosixPath(header).with_suffix(''))
    return any(path.startswith(stem) and _grows(member).search(text) for path, text in code.items())


def _is_called(everything: str, accessor: str) -> bool:
    called = len(re.findall(rf'\b{accessor}\(', everything)) - len(re.findall(rf'\b{accessor}\([^()]*\) const\b', everything))
    return called > 0 or re.search(rf'&\w+::{accessor}\b', everything) is not None


def accessors_have_readers(tree: Tree) -> list[Finding]:
    """An accessor of a counter or of an error is called by more than tests."""
    code = _code(tree)
    everything = '\n'.join(code.values())
    findings = []
    for path, text in code.items():
        if not path.endswith('.hpp'):
            continue
        counted = {name for name, member in ACCESSOR.findall(text) if _counts(code, path, member)}
        for name in sorted(counted | set(ERROR.findall(text))):
            if (path, name) not in FOR_TESTS and not _is_called(everything, name):
                findings.append(Finding(path, _line(tree, path, name), f'nobody but tests asks for {name}()'))
    return findings


def counters_have_readers(tree: Tree) -> list[Finding]:
    """A counter in a struct is read by more than tests."""
    code = _code(tree)
    everything = '\n'.join(code.values())
    findings = []
    for path, text in code.items():
        if not path.endswith('.hpp'):
            continue
        for name in sorted(set(MEMBER.findall(text))):
            written = len(_grows(name).findall(everything))
            declared = len(re.findall(rf'\bu?int\d+_t>? {name}\b', everything))
            mentioned = len(re.findall(rf'\b{name}\b', everything))
            if written and mentioned - written - declared <= 0:
                findings.append(Finding(path, _line(tree, path, name), f'nobody but tests reads {name}'))
    return findings


RULES = [accessors_have_readers, counters_have_readers]
