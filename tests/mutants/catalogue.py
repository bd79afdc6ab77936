# SPDX-License-Identifier: Apache-2.0
"""All mutants of a checkout: those chosen by hand (by_hand.py), and a fixed sample of those by rule (operators.py)."""
from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from by_hand import BY_HAND, Row
from cpp_text import CppText
from operators import candidates

ROOMS = ('dataplane', 'pipelines', 'analysis/explain', 'analysis/identify', 'control/capture', 'control/compile', 'control/engineering', 'control/imports', 'control/load',
         'control/placement', 'control/record', 'control/report', 'control/routing', 'control/telemetry', 'control/topology', 'testbeds/hosts', 'testbeds/run', 'analysis/storm')
# Reached by wire alone, which works with the kernel and the wall clock, or in a process of its own; or only a picture's
# coordinates, as DRAWN (whose files keep their numbers).
OUT_OF_REACH = ('dataplane/dpdk/', 'dataplane/edge/bus_error_guard', 'dataplane/edge/kernel_interface', 'dataplane/edge/owned_fd',
                'dataplane/edge/tap_edge', 'dataplane/edge/vhost_', 'dataplane/engine/wall_clock', 'dataplane/packet/huge_heap', 'dataplane/units/check',
                'analysis/storm/picture')
DRAWN = ('analysis/explain/polarization_picture', 'control/telemetry/svg', 'analysis/storm/fabric_map', 'analysis/storm/timeline')
SHARE = {'clause': 80, 'drop': 30, 'extreme': 100, 'negate': 35, 'relation': 60, 'sum': 25}  # of a thousand
MOST_IN_A_FILE = 200


class CatalogueError(Exception):
    pass


@dataclass(frozen=True)
class Mutant:
    number: int
    path: str
    line: int
    begin: int
    end: int
    before: str
    after: str
    is_statement: bool
    rule: str  # of operators.py, or the sentence of by_hand.py
    key: str  # stays when other lines change

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: {_one_line(self.before)} → {_one_line(self.after)}'


def _one_line(text: str) -> str:
    return re.sub(r'\s+', ' ', text).strip()


def _is_sampled(key: str, rule: str) -> bool:
    return int(hashlib.sha1(key.encode()).hexdigest()[:8], 16) % 1000 < SHARE[rule]


def sources(root: Path) -> list[str]:
    found = {str(p.relative_to(root)) for room in ROOMS for suffix in ('*.cpp', '*.hpp') for p in (root / room).rglob(suffix)}
    return sorted({p for p in found if not p.startswith(OUT_OF_REACH)} | {row.path for row in BY_HAND})


def _place_of(row: Row, text: str) -> int:
    within = row.within or row.before
    if text.count(within) != 1 or within.count(row.before) != 1:
        raise CatalogueError(f'{row.path}: by_hand.py looks for a text that is there {text.count(within)} times: {within!r}')
    return text.index(within) + within.index(row.before)


def of_file(root: Path, path: str, first_number: int) -> list[Mutant]:
    text = (root / path).read_text()
    seen: Counter[str] = Counter()
    spans = []
    for row in (r for r in BY_HAND if r.path == path):
        begin = _place_of(row, text)
        spans.append((begin, begin + len(row.before), row.after, row.before[-1] == ';', row.why, True))
    if path.startswith(ROOMS) and not path.startswith(DRAWN):
        spans += [(c.begin, c.end, c.after, c.is_statement, c.rule, False) for c in candidates(CppText(text))]
    found = []
    for begin, end, after, is_statement, rule, by_hand in spans:
        before = text[begin:end]
        plain = f'{path}: {_one_line(before)} → {_one_line(after)}'
        seen[plain] += 1
        key = plain if seen[plain] == 1 else f'{plain} #{seen[plain]}'
        if by_hand or _is_sampled(key, rule):
            found.append(Mutant(first_number + len(found), path, text.count('\n', 0, begin) + 1, begin, end, before, after,
                                is_statement, rule, key))
    if len(found) > MOST_IN_A_FILE:
        raise CatalogueError(f'{path}: {len(found)} mutants, at most {MOST_IN_A_FILE}')
    return found


def all_mutants(root: Path) -> list[Mutant]:
    """A file's numbers start at a multiple of MOST_IN_A_FILE, so that a change in one leaves the others as they are."""
    return [m for i, path in enumerate(sources(root)) for m in of_file(root, path, (i + 1) * MOST_IN_A_FILE)]
