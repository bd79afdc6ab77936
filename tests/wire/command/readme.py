# SPDX-License-Identifier: Apache-2.0
"""What README.md and docs/ show: their commands print what stands there, their testbed files are taken, their picture is ours."""
from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from outside_testbeds import need_guests
from page import Session, blocks_of, first_difference, pages, span_problems
from pauses_in_effect import in_effect_ps
from softspine import ROOT, TESTBEDS, Problems, Softspine, main

QUANTUM_PS = 5_120  # at 100 Gb/s
REACTION_PS = 394 * QUANTUM_PS  # 802.3, 31B.3.7
PICTURE = ROOT / 'docs' / 'pfc-storm.svg'
RACKS = ('name: it\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, '
         'fabric_link: {rate: 100Gbps, length: 40m}}\n')


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


def figures_of(it: Softspine, name: str) -> dict[str, float]:
    """What docs/truth.md says of a run beside ns-3, in its units."""
    done = it('run', TESTBEDS / f'{name}.yaml', '--capture', f'{name}.pcapng', '--capture-filter', 'ether proto 0x8808', '--report', f'{name}.json')
    if done.status != 0:
        raise AssertionError(done.out)
    report = json.loads((it.folder / f'{name}.json').read_text())
    (flows,) = report['flows'].values()
    completion = {which: flows[f'fct_acked_{key}_ps'] / 1e6
                  for which, key in (('least', 'min'), ('median', 'p50'), ('99th percentile', 'p99'), ('largest', 'max'))}
    in_effect = in_effect_ps(it.folder / f'{name}.pcapng', REACTION_PS, QUANTUM_PS)
    pauses = sum(link['pauses'] for link in it('storm', f'{name}.pcapng', '--json').json()['links'])
    return {**completion, 'in effect': in_effect / 1e9, 'pauses': pauses}


def is_beside_ns3_what_the_page_says(it: Softspine) -> Problems:
    """the figures beside ns-3 are those of docs/truth.md, and within half a percent of ns-3's"""
    rows = re.findall(r'^\| (incast|permutation): (.*) \| ([\d.]+)(?: \w+)? \| ([\d.]+)(?: \w+)? \|$', (ROOT / 'docs' / 'truth.md').read_text(), re.MULTILINE)
    figures = {'incast': figures_of(it, 'ns3-incast'), 'permutation': figures_of(it, 'ns3-permutation')}
    if len(rows) != 9:
        yield f'{len(rows)} rows'
    for run, what, theirs, ours in rows:
        value = next(value for key, value in figures[run].items() if key in what)
        digits = len(ours.partition('.')[2])
        if f'{value:.{digits}f}' != ours or abs(value - float(theirs)) > 0.005 * float(theirs):
            yield f'{run}, {what}: {value}; the page says {ours}, and ns-3 {theirs}'


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
    sys.exit(main([*(shows(page, allowed) for page in pages()), draws_the_picture, is_beside_ns3_what_the_page_says, strict_is_a_failure, sees_what_differs]))
