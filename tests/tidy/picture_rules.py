# SPDX-License-Identifier: Apache-2.0
"""The picture of a packet's way is compared with the code: the stages on each line with the calls, in their order.

A picture's lines fork at ┬ (on to ├ and └ below) and join again where ┐ stands above ┴ or ┘. Each way through a picture
is a subsequence of the calls, and each call is on one of the ways. What stands between arrows and is no stage's name is a remark.
"""
from __future__ import annotations

import re
from itertools import takewhile

from size_rules import blank_out, cpp_functions
from tree import Finding, Tree

CARD = 'pipelines/README.md'
ROLES = ('tor', 'aggregation', 'core')
SOURCES = ('pipelines/switch.hpp', 'pipelines/switch.cpp', 'dataplane/egress/egress.hpp', 'dataplane/egress/egress.cpp', 'dataplane/egress/admission.hpp',
           'dataplane/egress/departures.hpp', 'dataplane/egress/departures.cpp')

# A stage's name in the picture, and its call in the code. The hash is computed by `route`, the tag set by `rewrite`.
STAGES = {
    'parse': r'(?<!\.)\bparse\(', 'classify': r'\bclassify\(', 'bridge': r'\bbridge\(', 'router\'s MAC?': r'\baccept_routed\(',
    'route': r'\broute\(', 'hash': r'\broute\(', 'link of LAG': r'\bpick_link\(', 'rewrite': r'\brewrite\(', 'tag': r'\brewrite\(', 'egress': r'\begress_\.enqueue\(',
    'early drop': r'\bis_dropped_early\(', 'admit': r'\bmmu_\.admit\(', 'queue': r'\.queues\[q\]\.push\(', 'raise XOFF': r'\braise_xoff\(',
    'release': r'\bmmu_\.release\(', 'clear XOFF': r'\bclear_xoff\(', 'PFC or credit frame': r'\bmake_frame\(',
    'schedule': r'\bscheduler\.pick\(', 'mark': r'\bmark\(', 'serialize': r'\bwire->send\(',
}
# Calls that are read on into: these are on the way of a packet that is forwarded.
ON_THE_WAY = ('receive', 'forward', 'dispatch', 'dispatch_one', 'admit', 'add', 'release', 'start_following', 'start_own_frame',
              'start_next', 'start', 'send')
# The parts of the egress whose functions are read on into; a function of any other object is not.
PARTS = ('admission_', 'departures_')
# The rows of the card's picture, and where their code begins: that of the egress with what is not usual, since the usual
# packet takes one of its ways.
BEGINS = {**{role: 'run_with' for role in ROLES}, 'egress': 'enqueue_unusual', 'departure': 'finish_first'}

CALLS = list(dict.fromkeys(STAGES.values()))
READ_ON = rf'(?<![.\w:])(?:(?:{"|".join(PARTS)})\.)?(?P<next>{"|".join(ON_THE_WAY)})\('
CALL = re.compile('|'.join([*(rf'(?P<s{i}>{call})' for i, call in enumerate(CALLS)), READ_ON]))
ROLE_STAGE = re.compile(r'\bdataplane::(\w+)\(tables_')


def pictures_show_the_order_of_calls(tree: Tree) -> list[Finding]:
    """The stages of the card's picture, and of each role's header, are the calls of the code in their order."""
    rows = _rows(tree.texts.get(CARD, ''))
    findings = [Finding(CARD, 1, f'no picture of {row}') for row in BEGINS if row not in rows]
    for row, (line, drawing) in rows.items():
        role = row if row in ROLES else ''
        findings += _compared(CARD, line, row, _ways(drawing), _calls(_bodies(tree, role), BEGINS[row]))
    for role in ROLES:
        path = f'pipelines/{role}.hpp'
        unnamed = [stage for stage in ROLE_STAGE.findall(tree.texts.get(path, '')) if not CALL.search(f'{stage}(')]
        findings += [Finding(path, 1, f'{stage}() has no name in {CARD}') for stage in unnamed]
        if role in rows and _ways(_header_picture(tree.texts.get(path, ''))) != _ways(rows[role][1]):
            findings.append(Finding(path, 1, f'its picture is not that of {CARD}'))
    return findings


def _compared(path: str, line: int, row: str, ways: list[list[str]], calls: list[str]) -> list[Finding]:
    findings, used = [], set()
    for way in ways:
        places = _places(way, calls)
        used.update(places)
        if len(places) < len(way):
            findings.append(Finding(path, line, f'{row}: the picture says {_named(way)}, the code {_named(calls)}'))
    return findings or [Finding(path, line, f'{row}: {_named([call])}, after {_named(calls[:i])}, is not in the picture')
                        for i, call in enumerate(calls) if i not in used]


def _places(way: list[str], calls: list[str]) -> list[int]:
    """Where in the code the steps of a way are, in their order; as far as they are."""
    places: list[int] = []
    for call in way:
        behind = places[-1] + 1 if places else 0
        if call not in calls[behind:]:
            break
        places.append(calls.index(call, behind))
    return places


def _named(calls: list[str]) -> str:
    return ' → '.join(next((name for name, its in STAGES.items() if its == call), call) for call in calls) or 'nothing'


def _rows(card: str) -> dict[str, tuple[int, list[str]]]:
    """row → (line, its drawing): of the card's code blocks, the lines that begin with its name, and those that go on below."""
    rows: dict[str, tuple[int, list[str]]] = {}
    last = None
    for number, line in enumerate(card.splitlines(), 1):
        named = re.match(rf'    ({"|".join(BEGINS)})  +\S', line)
        if named:
            last = rows[named[1]] = (number, [' ' * named.end(1) + line[named.end(1):]])
        elif last and re.match(r'     +[│├└]', line):
            last[1].append(line)
        else:
            last = None
    return rows


def _header_picture(text: str) -> list[str]:
    """Of the comment above the class: the indented lines from `parse` on."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('//   parse →')), len(lines))
    return [line[2:] for line in takewhile(lambda line: line.startswith('//   '), lines[first:])]


def _ways(drawing: list[str]) -> list[list[str]]:
    """The calls along each way through a drawing."""
    width = max(map(len, drawing), default=0)
    grid = [line.ljust(width) for line in drawing]
    ways, reached = [], set()

    def walk(row: int, column: int, text: str) -> None:
        while column < width:
            at = grid[row][column]
            if at == '┬':
                for below in range(row + 1, len(grid)):
                    if grid[below][column] in '├└':
                        reached.add((below, column))
                        walk(below, column + 1, text)
            elif at == '┐':
                row = next((below for below in range(row + 1, len(grid)) if grid[below][column] in '┴┘'), row)
                reached.add((row, column))
            text += at
            column += 1
        ways.append([STAGES[word] for word in _words(text) if word in STAGES])

    if grid:
        walk(0, 0, '')
    if reached != {(r, c) for r, line in enumerate(grid) for c, character in enumerate(line) if character in '├└┴┘'}:
        return [['a line that leads nowhere']]
    return [[call for i, call in enumerate(way) if way[i - 1:i] != [call]] for way in ways]


def _words(text: str) -> list[str]:
    return [word.strip() for word in re.split(r'[→─┬├└┐┴┘,:]', text)]


def _bodies(tree: Tree, role: str) -> dict[str, str]:
    """function → its text; `forward` is the role's stages."""
    bodies = {}
    for path in (*SOURCES, *([f'pipelines/{role}.hpp'] if role else [])):
        lines = blank_out(tree.texts.get(path, '')).splitlines()
        for first, length, name in cpp_functions(tree.texts.get(path, '')):
            name = 'forward' if path.endswith(f'/{role}.hpp') and name == 'run' else name.split('::')[-1]
            text = '\n'.join(lines[first - 1:first - 1 + length])
            bodies.setdefault(name, text[text.index('{'):])
    return bodies


def _calls(bodies: dict[str, str], function: str) -> list[str]:
    """The stages' calls on the way from a function on; one of several in a row."""
    calls: list[str] = []
    for match in CALL.finditer(bodies.get(function, '')):
        found = _calls(bodies, match['next']) if match['next'] else [CALLS[int(match.lastgroup[1:])]]
        calls += [call for i, call in enumerate(found) if [call] != (found[i - 1:i] if i else calls[-1:])]
    return calls


RULES = [pictures_show_the_order_of_calls]
