# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ show: their commands print what stands there, their testbed files are taken, their picture is ours."""
from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from outside_testbeds import need_guests
from page import Session, blocks_of, first_difference, pages, span_problems
from softspine import ROOT, TESTBEDS, Problems, Softspine, main

PICTURE = ROOT / 'docs' / 'pfc-storm.svg'
RACKS = ('name: it\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, '
         'fabric_link: {rate: 100Gbps, length: 40m}}\n')
# Pauses from XOFF to XON, and the time for which priorities stood still, in us: in HPCC's ns-3, and here (testbeds/ns3-*.yaml).
NS3 = {'ns3-incast': ((681, 83_010), (679, 83_290)), 'ns3-permutation': ((821, 5_981.9), (821, 5_983))}


def shows(page: Path, may: set[str]) -> Callable[[Softspine], Problems]:
    name = str(page.relative_to(ROOT))

    def test(it: Softspine) -> Problems:
        if 'guests' in may:
            need_guests()
        text = page.read_text()
        blocks = blocks_of(text)
        if 'guests' in may:
            blocks = [block for block in blocks if block.kind == 'yaml' or 'guests' in block.words]
        session = Session(it, name, may)
        yield from session.problems(blocks)
        yield from session.end()
        for block in session.skipped:
            print(f'# {name}:{block.line}: skipped, since it needs {" ".join(block.words)}')
        if 'guests' not in may:
            yield from span_problems(it, name, text)

    test.__doc__ = f'{name} shows what its commands print' + (', those with guests' if 'guests' in may else '')
    return test


def draws_the_picture(it: Softspine) -> Problems:
    """the picture in README is what its two commands draw"""
    yield from it('run', TESTBEDS / 'pfc-storm.yaml', '--capture', 'storm.pcapng', '--quiet').exited(0)
    yield from it('storm', 'storm.pcapng', '--picture', 'storm.svg').exited(0)
    if (it.folder / 'storm.svg').read_text() != PICTURE.read_text():
        yield f'storm --picture draws another picture than {PICTURE.relative_to(ROOT)}'


def pauses_as_ns3_does(it: Softspine) -> Problems:
    """incast and permutation have as many pauses, and for as long, as in HPCC's ns-3: within half a percent"""
    for name, (theirs, ours) in NS3.items():
        capture, report = it.folder / f'{name}.pcapng', it.folder / f'{name}.json'
        yield from it('run', TESTBEDS / f'{name}.yaml', '--capture', capture, '--capture-filter', 'ether proto 0x8808', '--report', report).exited(0)
        found = sum(link['pauses'] for link in it('storm', capture, '--json').json()['links'])
        facts = json.loads(report.read_text())
        stood = sum(node['paused_ps'] for nodes in ('switches', 'hosts') for node in facts[nodes].values()) / 1e6
        for what, value, there, here in zip(('pauses', 'us of pauses'), (found, stood), theirs, ours, strict=True):
            if abs(value - there) > there * 0.005 or abs(value - here) > here * 0.0001:
                yield f'{name}: {value} {what}, on the page {here}, in ns-3 {there}'


def strict_is_a_failure(it: Softspine) -> Problems:
    """check tells too little headroom and exits with 0; with --strict, with 1"""
    profile = 'profiles: {small: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: 2048B}}}}\nroles: {tor: small}\n'
    file = it.write('small.yaml', RACKS + profile)
    yield from it('check', file).exited(0)
    yield from it('check', file, '--strict').exited(1)
    yield from it('check', it.write('enough.yaml', RACKS + 'roles: {tor: lossless}\n'), '--strict').exited(0)


def sees_what_differs(it: Softspine) -> Problems:
    """a page that shows something else than what is printed is found out"""
    printed = ['two  words', '', 'a 3 s run', 'left out', 'the end']
    for shown, difference in ((['two words', 'a … s run', '…'], ''), (['…', 'the end'], ''), (['two words', '…', 'the … end'], 'the … end'),
                              (['two words'], '(nothing more, but it prints: a 3 s run)'), (['a 3 s run', '…'], 'a 3 s run'),
                              (['…', 'the end', 'the end'], 'the end'), (['two', '…'], 'two')):
        if first_difference(shown, printed) != difference:
            yield f'{shown}: {first_difference(shown, printed)!r}, not {difference!r}'
    page = ('```console\n$ softspine check none.yaml\n…\n$ echo $?\n1\n```\n```yaml\nworkload: 3\n```\n```sh\ntools/nothing\n```\n```perl\n```\n'
            '```console root\n$ false\n```\n')
    session = Session(it, 'page', set())
    found = [*session.problems(blocks_of(page)), *span_problems(it, 'page', 'See `softspine show everything --loud` and `softspine sing`.')]
    for part in ('`echo $?` does not print: 1', 'page:7: ', 'no tools/nothing', 'a block of perl', 'no --loud', 'no such view', 'no command of `softspine sing`'):
        if not any(part in problem for problem in found):
            yield f'not found: {part}, but {found}'
    if len(session.skipped) != 1:
        yield 'a block for root was not skipped'


if __name__ == '__main__':
    if 'guests' in sys.argv[2:]:
        sys.exit(main([shows(page, {'root', 'guests'}) for page in pages() if '```console guests' in page.read_text()]))
    allowed = {'root'} if os.geteuid() == 0 else set()
    sys.exit(main([*(shows(page, allowed) for page in pages()), draws_the_picture, pauses_as_ns3_does, strict_is_a_failure, sees_what_differs]))
