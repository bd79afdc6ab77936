# SPDX-License-Identifier: Apache-2.0
"""Who may include whom: the table of rooms, DPDK's two places, and the policies that never see a packet."""
from __future__ import annotations

import re
from pathlib import PurePosixPath

from tree import CPP, ROOMS, Finding, Tree, room_of

MAY_INCLUDE = {
    'dataplane': {'dataplane'},
    'pipelines': {'pipelines', 'dataplane'},
    'control': {'control', 'pipelines', 'dataplane'},
    'analysis': {'analysis', 'control', 'pipelines', 'dataplane'},
    'testbeds': {'testbeds', 'analysis', 'control', 'pipelines', 'dataplane'},
    'tools': {'tools', 'testbeds', 'analysis', 'control', 'pipelines', 'dataplane'},
    'tests': set(ROOMS),
}
DPDK_ROOMS = ('dataplane/packet/', 'dataplane/dpdk/', 'tests/')
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes_of(tree: Tree, path: str) -> list[tuple[int, str, str]]:
    """(line, bracket, name) of each include."""
    found = []
    for number, line in enumerate(tree.lines(path), 1):
        if match := INCLUDE.match(line):
            found.append((number, match[1], match[2]))
    return found


def include_arrows(tree: Tree) -> list[Finding]:
    """A room includes only the rooms that the table allows it."""
    findings = []
    for path in tree.paths(CPP):
        for number, _, name in includes_of(tree, path):
            target = room_of(name)
            if target and target not in MAY_INCLUDE.get(room_of(path), set(ROOMS)):
                findings.append(Finding(path, number, f'{room_of(path)} must not include {target}: {name}'))
    return findings


def own_headers_by_full_path(tree: Tree) -> list[Finding]:
    """An include in quotes names its room, so that the arrows can be read; in brackets are others' headers only."""
    findings = []
    for path in tree.paths(CPP):
        for number, bracket, name in includes_of(tree, path):
            if bracket == '"' and not room_of(name):
                findings.append(Finding(path, number, f'"{name}" does not begin with a room'))
            if bracket == '<' and room_of(name):
                findings.append(Finding(path, number, f'<{name}> is ours: in quotes'))
    return findings


def dpdk_in_its_rooms(tree: Tree) -> list[Finding]:
    """DPDK's headers stay in dataplane/packet and dataplane/dpdk."""
    return [Finding(path, number, f'{name} outside dataplane/packet and dataplane/dpdk')
            for path in tree.paths(CPP) if not path.startswith(DPDK_ROOMS)
            for number, _, name in includes_of(tree, path) if name.startswith('rte_')]


def policies_without_packets(tree: Tree) -> list[Finding]:
    """What is built into the `policies` library reaches no DPDK header, by whatever way."""
    findings = []
    for path in _policy_sources(tree):
        way = _way_to_dpdk(tree, path)
        if way:
            findings.append(Finding(path, 1, 'a policy reaches DPDK: ' + ' → '.join(way)))
    return findings


def _policy_sources(tree: Tree) -> list[str]:
    build = tree.texts.get('dataplane/meson.build', '')
    library = re.search(r"static_library\('policies',(.*?)\binclude_directories", build, re.S)
    named = re.findall(r"'([^']+\.cpp)'", library[1]) if library else []
    return [f'dataplane/{name}' for name in named if f'dataplane/{name}' in tree.texts]


def _way_to_dpdk(tree: Tree, start: str) -> list[str]:
    ways, seen = [[start]], {start}
    while ways:
        way = ways.pop(0)
        for _, _, name in includes_of(tree, way[-1]):
            if name.startswith('rte_'):
                return [*way, name]
            if name in tree.texts and name not in seen:
                seen.add(name)
                ways.append([*way, name])
    return []


def no_include_cycles(tree: Tree) -> list[Finding]:
    """Headers form a tree of levels, not a ring."""
    findings, done = [], set()

    def visit(path: str, trail: tuple[str, ...]) -> None:
        if path in trail:
            ring = trail[trail.index(path):]
            findings.append(Finding(path, 1, 'includes itself: ' + ' → '.join((*ring, path))))
            return
        if path in done or path not in tree.texts:
            return
        done.add(path)
        for _, _, name in includes_of(tree, path):
            visit(name, (*trail, path))

    for path in tree.paths(('.hpp',)):
        visit(path, ())
    return findings


def no_folder_cycles(tree: Tree) -> list[Finding]:
    """Folders of the second level (control/routing) include each other in one direction only."""
    arrows = _folder_arrows(tree)
    findings, told = [], set()
    for folder in sorted(arrows):
        ring = _shortest_ring(arrows, folder)
        if ring and frozenset(ring) not in told:
            told.add(frozenset(ring))
            steps = [arrows[one][other] for one, other in zip(ring, ring[1:])]
            findings.append(Finding(*steps[0][0][:2], f'a ring, {" → ".join(ring)}: ' + ', '.join(map(_include_said, steps))))
    return findings


def _include_said(includes: list[tuple[str, int, str]]) -> str:
    path, number, name = includes[0]
    return f'{path}:{number} {name}' + (f' and {len(includes) - 1} more' if len(includes) > 1 else '')


def _folder_arrows(tree: Tree) -> dict[str, dict[str, list[tuple[str, int, str]]]]:
    """folder → folder → the includes that make this arrow."""
    arrows: dict[str, dict[str, list[tuple[str, int, str]]]] = {}
    for path in tree.paths(CPP):
        for number, _, name in includes_of(tree, path):
            if name in tree.texts and _folder(name) != _folder(path):
                arrows.setdefault(_folder(path), {}).setdefault(_folder(name), []).append((path, number, name))
    return arrows


def _folder(path: str) -> str:
    return '/'.join(PurePosixPath(path).parts[:-1][:2])


def _shortest_ring(arrows: dict[str, dict[str, list[tuple[str, int, str]]]], start: str) -> list[str]:
    ways, seen = [[start]], set()
    while ways:
        way = ways.pop(0)
        for folder in sorted(arrows.get(way[-1], {})):
            if folder == start:
                return [*way, start]
            if folder not in seen:
                seen.add(folder)
                ways.append([*way, folder])
    return []


RULES = [include_arrows, own_headers_by_full_path, dpdk_in_its_rooms, policies_without_packets, no_include_cycles,
         no_folder_cycles]
