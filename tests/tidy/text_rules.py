# SPDX-License-Identifier: Apache-2.0
"""What must stand in a file, and what must not."""
from __future__ import annotations

import re
import sys
from pathlib import PurePosixPath

from tree import CPP, Finding, Tree

LICENCE = 'SPDX-License-Identifier: ' + 'Apache-2.0'
# Formats without comments, texts of others, and data that tests read as it is.
NO_COMMENTS = ('.json', '.pcap', '.pcapng', '.txt', '.golden', '.png', '.svg', '.csv', '.jsonl')
NO_LICENCE = ('LICENSE', '.gitattributes')
UNFINISHED = re.compile(r'\b(' + '|'.join(['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK']) + r')\b')
NAMELESS = {'util', 'utils', 'common', 'misc', 'manager', 'managers', 'helper', 'helpers'}
# Built from pieces, so that this file does not break its own rule.
FOREIGN_PATH = re.compile('(?<![\\w.])/(' + '|'.join(['ho' + 'me', 'Use' + 'rs', 'wo' + 'rk']) + r')/[\w.-]+')
SLEEP = re.compile(r'\b(sleep_for|sleep_until|usleep|nanosleep|time\.sleep|asyncio\.sleep)\b|(^|[;&|]|\bdo)\s*sleep\s+[\d.$]|\bsleep\(')
CLOCK = re.compile(r'\b(steady_clock|system_clock|high_resolution_clock|clock_gettime|gettimeofday|__rdtsc|rte_rdtsc\w*)\b')
# Code indented under a comment is an example in a manual; what was switched off begins beside the slashes.
DEAD_CPP = re.compile(r'^\s*//\s{0,2}('
                      r'(return|break|continue|throw|delete|goto)\b[^.]*;'
                      r'|(if|for|while|switch)\s*\(.*\)\s*\{?'
                      r'|(const\s+|static\s+|constexpr\s+)*(auto|int|bool|uint\d+_t|int\d+_t|size_t|std::[\w:<>]+)[&*]?\s+[\w\[\], &*]+(\s*[={(].*)?;'
                      r'|[\w.:>\[\]-]+(\(.*\)|\s*[+|&-]?=\s*[^=].*|\+\+|--);'
                      r'|#\s*include\b.*|\}\s*(else.*)?\{?|EXPECT_\w+\(.*|ASSERT_\w+\(.*'
                      r')\s*$')
DEAD_PYTHON = re.compile(r'^\s*#\s*(return\b [\w.(\[]+$|import \w+$|from [\w.]+ import \w+|def \w+\(.*\):|(if|for|while) .*:$|print\(.*\)$'
                         r'|[\w.]+ = [\w.]+\(.*\)$|[\w.]+\(.*\)$)')


def licence_line(tree: Tree) -> list[Finding]:
    """Every text file that can carry a comment says its licence in its first five lines."""
    findings = []
    for path, text in tree.texts.items():
        name = PurePosixPath(path).name
        if not text or name in NO_LICENCE or path.endswith(NO_COMMENTS) or '/corpus/' in path:
            continue
        if LICENCE not in '\n'.join(text.splitlines()[:5]):
            findings.append(Finding(path, 1, f'no "{LICENCE}"'))
    return findings


def nothing_unfinished(tree: Tree) -> list[Finding]:
    """No notes to a later self."""
    return _matches(tree, tree.texts, UNFINISHED, 'unfinished: {}')


def no_dead_code(tree: Tree) -> list[Finding]:
    """No commented-out code, no #if 0 (a heuristic: lines that read as statements)."""
    findings = _matches(tree, tree.paths(CPP), DEAD_CPP, 'commented-out code? {}')
    findings += _matches(tree, tree.paths(CPP), re.compile(r'^\s*#\s*if\s+(0|false)\b.*'), 'dead: {}')
    return findings + _matches(tree, tree.scripts('python'), DEAD_PYTHON, 'commented-out code? {}')


def names_say_what(tree: Tree) -> list[Finding]:
    """No file or folder is named for being a rest."""
    findings = []
    for path in tree.texts:
        for part in PurePosixPath(path).parts:
            if NAMELESS & set(re.split(r'[^a-z]+', part.lower())):
                findings.append(Finding(path, 1, f'"{part}" does not say what it holds'))
    return findings


def file_names_are_snake_case(tree: Tree) -> list[Finding]:
    """Sources, headers and scripts are named in snake_case."""
    return [Finding(path, 1, 'not snake_case') for path in tree.paths(CPP + ('.py', '.sh'))
            if not re.fullmatch(r'[a-z0-9_]+', PurePosixPath(path).stem)]


def no_module_of_pythons_is_hidden(tree: Tree) -> list[Finding]:
    """No script is named as a module of Python's own: those beside it would import it in the module's place."""
    return [Finding(path, 1, "has the name of a module of Python's own") for path in tree.paths(('.py',))
            if PurePosixPath(path).stem in sys.stdlib_module_names]


def no_foreign_paths(tree: Tree) -> list[Finding]:
    """No path of a developer's machine."""
    return _matches(tree, tree.texts, FOREIGN_PATH, 'a path of one machine: {}')


def tests_do_not_sleep(tree: Tree) -> list[Finding]:
    """Outside tests/wire and tests/sonic no test waits for time to pass."""
    return _matches(tree, _timeless_tests(tree), SLEEP, 'sleeps: {}')


def tests_read_no_clock(tree: Tree) -> list[Finding]:
    """unit, model and scenario do not look at a clock of the machine."""
    paths = [p for p in tree.paths(CPP) if p.startswith(('tests/unit/', 'tests/model/', 'tests/scenario/'))]
    return _matches(tree, paths, CLOCK, 'reads a clock: {}')


def only_the_clock_reads_a_clock(tree: Tree) -> list[Finding]:
    """In dataplane and pipelines time is an argument."""
    allowed = ('dataplane/engine/wall_clock.',)
    paths = [p for p in tree.paths(CPP) if p.startswith(('dataplane/', 'pipelines/')) and not p.startswith(allowed)]
    return _matches(tree, paths, CLOCK, 'reads a clock: {}')


def dataplane_does_not_log(tree: Tree) -> list[Finding]:
    """Counters and traces, no lines of text."""
    says = re.compile(r'\b(spdlog|fmt)::|std::(cout|cerr|clog)\b|\bf?printf\s*\(|#\s*include\s*<(iostream|spdlog/.*|fmt/.*)>')
    paths = [p for p in tree.paths(CPP) if p.startswith(('dataplane/', 'pipelines/')) and p != 'dataplane/units/check.cpp']
    return _matches(tree, paths, says, 'dataplane writes text: {}')


def complaints_cannot_throw(tree: Tree) -> list[Finding]:
    """What a command says on stderr goes through complain(): fmt::print throws when stderr takes nothing."""
    paths = [p for p in tree.paths(CPP) if p.startswith('tools/')]
    says = re.compile(r'\bprint\s*\(\s*stderr\b|std::cerr\b')
    return _matches(tree, paths, says, 'complain() says it without throwing: {}')


def loops_keep_what_they_walk_over(tree: Tree) -> list[Finding]:
    """for (… : f().items()) walks over what f() gave, and that is gone: a loop keeps alive what it is given, not what that is a part of."""
    loop = re.compile(r'\bfor \([^;]*[^:]: ?[\w:]+\([^;]*\)\.(items|value|elements)\(\)\)')
    return _matches(tree, tree.paths(CPP), loop, 'a part of what is gone: {}')


def headers_have_a_guard(tree: Tree) -> list[Finding]:
    """#pragma once in every header."""
    return [Finding(path, 1, 'no #pragma once') for path in tree.paths(('.hpp',))
            if not re.search(r'^#pragma once$', tree.texts[path], re.M)]


def lines_end_clean(tree: Tree) -> list[Finding]:
    """No tab (make files aside), no space at a line's end, a newline at the file's."""
    findings = []
    for path, text in tree.texts.items():
        if not text or path.endswith(NO_COMMENTS) or path == 'LICENSE' or '/corpus/' in path:
            continue
        for number, line in enumerate(text.split('\n'), 1):
            if line != line.rstrip(' \r') or line.startswith('\t'):
                findings.append(Finding(path, number, 'a tab, or white space at the end'))
        if not text.endswith('\n'):
            findings.append(Finding(path, len(tree.lines(path)), 'no newline at the end'))
    return findings


def _timeless_tests(tree: Tree) -> list[str]:
    sources = set(tree.paths(CPP)) | set(tree.scripts('python')) | set(tree.scripts('bash'))
    return sorted(p for p in sources if p.startswith('tests/') and not p.startswith(('tests/wire/', 'tests/sonic/', 'tests/tidy/')))


def _matches(tree: Tree, paths, pattern: re.Pattern[str], text: str) -> list[Finding]:
    return [Finding(path, number, text.format(line.strip()[:100]))
            for path in paths for number, line in enumerate(tree.lines(path), 1) if pattern.search(line)]


RULES = [licence_line, nothing_unfinished, no_dead_code, names_say_what, file_names_are_snake_case, no_module_of_pythons_is_hidden, no_foreign_paths,
         tests_do_not_sleep, tests_read_no_clock, only_the_clock_reads_a_clock, dataplane_does_not_log, complaints_cannot_throw,
         loops_keep_what_they_walk_over, headers_have_a_guard, lines_end_clean]
