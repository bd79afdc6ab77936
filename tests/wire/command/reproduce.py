# SPDX-License-Identifier: Apache-2.0
"""softspine reproduce: the list, a quick experiment, its files, and what it refuses."""
from __future__ import annotations

import json
import os
import re
import signal
import sys

from softspine import ROOT, Problems, Run, Softspine, main

QUICK = 'dcqcn-convergence'
QUICK_ONES = {QUICK, 'uet-single-path'}  # with all seeds; the others take half an hour: SOFTSPINE_REPRODUCE=all
PAGE = ROOT / 'docs' / 'reproduce.md'


def lists_what_there_is(it: Softspine) -> Problems:
    """without a name it lists the experiments, with --json their claims, too"""
    done = it('reproduce')
    yield from done.exited(0)
    yield from done.says('EXPERIMENT', 'meta-fig7', 'Figure 19', QUICK)
    listed = it('reproduce', '--json').json()
    if len(listed) != len(done.out.splitlines()) - 2 or not all(each['claims'] for each in listed):
        yield f'--json lists {listed}'


def shows_ours_beside_theirs(it: Softspine) -> Problems:
    """a run prints both, judges, and writes picture, page and testbed; the testbed gives the same numbers again"""
    done = it('reproduce', QUICK, '--seeds', '1', '--svg', 'pictures', '--html', 'page.html', '--keep', 'kept')
    yield from done.exited(0)
    yield from done.says('slower flow', 'RATIO', '1 seed, 1 run, ', 'Shape: 2 of 2 claims hold', 'Assumed:')
    if '<svg' not in (it.folder / 'pictures' / f'{QUICK}.svg').read_text() or '<table>' not in (it.folder / 'page.html').read_text():
        yield 'picture or page is not there'
    (trial,) = it('reproduce', QUICK, '--seeds', '1', '--json').json()
    report = it('run', it.folder / 'kept' / f'{QUICK}-two-flows.yaml', '--json', '--quiet').json()
    ours = {cell['row']: cell['ours'] for cell in trial['cells']}
    for row, key in (('slower flow', 'flow_rate_min_bps'), ('faster flow', 'flow_rate_max_bps')):
        if abs(report['flows']['pair'][key] / 1e9 * 4178 / 4096 - ours[row]) > 1e-6:
            yield f'{row}: {ours[row]}, the kept testbed gives {report["flows"]["pair"][key]}'
    if not trial['holds'] or trial['seeds'] != 1 or not all(claim['holds'] for claim in trial['claims']):
        yield f'--json has {trial}'


def exits_with_1_if_a_claim_does_not_hold(it: Softspine) -> Problems:
    """one draw of a permutation is seldom theirs: the claim is shown as such, and the exit status is 1"""
    done = it('reproduce', 'uet-single-path', '--seeds', '1')
    yield from done.exited(1)
    yield from done.says('Shape: 2 of 3 claims hold', 'NOT    their permutation', 'since theirs is one draw')


def as_on_the_page(value: float) -> str:
    size = abs(value)
    return f'{value:.{0 if size >= 1000 else 1 if size >= 10 else 2}f}'


def is_what_the_page_says(it: Softspine) -> Problems:
    """the numbers and the claims of docs/reproduce.md are those that come out"""
    text = PAGE.read_text()
    cells = re.findall(r'^\| ([a-z0-9-]+) \| (.+?); (.+?) \| ([-\d.]+) \| ([-\d.]+) ± ([-\d.]+) \|$', text, re.MULTILINE)
    shapes = dict(re.findall(r'^\| ([a-z0-9-]+) \| (\d+ of \d+) \|', text, re.MULTILINE))
    names = [each['name'] for each in it('reproduce', '--json').json()]
    if sorted(shapes) != sorted(names) or {cell[0] for cell in cells} != set(names):
        yield f'the page has {sorted(shapes)}, the command {sorted(names)}'
    for name in names if os.environ.get('SOFTSPINE_REPRODUCE') == 'all' else [name for name in names if name in QUICK_ONES]:
        (trial,) = it('reproduce', name, '--json', timeout=7200).json()
        shape = f'{sum(claim["holds"] for claim in trial["claims"])} of {len(trial["claims"])}'
        if shape != shapes.get(name):
            yield f'{name}: {shape} claims hold, the page says {shapes.get(name)}'
        found = {(cell['row'], cell['column']): cell for cell in trial['cells']}
        for _, row, column, *numbers in (cell for cell in cells if cell[0] == name):
            cell = found[row, column]
            told = [as_on_the_page(cell[key]) for key in ('published', 'ours', 'deviation')]
            if told != numbers:
                yield f'{name}, {row}, {column}: {told}, the page says {numbers}'


def refuses_what_it_does_not_know(it: Softspine) -> Problems:
    """unknown names, places that cannot be written and contradictions are errors before anything runs"""
    for arguments, words in ((('meta-fig8',), "there is no experiment 'meta-fig8'"), ((QUICK, '--html', 'none/page.html'), 'none/page.html'),
                             ((QUICK, '--svg', '/proc/none'), '/proc/none'), ((QUICK, '--seeds', '0'), '--seeds'), ((QUICK, '--all'), '--all')):
        done = it('reproduce', *arguments)
        yield from done.exited(2)
        yield from done.complains(words)


def shows_what_it_has_when_interrupted(it: Softspine) -> Problems:
    """Ctrl-C ends the run, and what was found till then is printed as interrupted"""
    run = Run(it, ['reproduce', QUICK, '--seeds', '50', '--json', '--whole'])
    run.await_words('run 6 of 50')
    done = run.end(signal.SIGINT)
    yield from done.exited(1)
    (trial,) = json.loads(done.out)
    if not trial['interrupted'] or trial['holds'] or not 5 <= trial['seeds'] < 50:
        yield f'it says {trial}'


def ends_between_two_runs_when_interrupted(it: Softspine) -> Problems:
    """a signal while no fabric runs (a kept testbed waits for a pipe's reader) ends the next run, and the report is printed"""
    (it.folder / 'kept').mkdir()
    pipe = it.folder / 'kept' / 'uet-single-path-permutation.yaml'
    os.mkfifo(pipe)
    run = Run(it, ['reproduce', 'uet-single-path', '--keep', 'kept', '--json'])
    run.await_words('waiting for somebody')
    run.process.send_signal(signal.SIGINT)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    done = run.end()
    os.close(reader)
    yield from done.exited(1)
    (trial,) = json.loads(done.out or '[{}]')
    if not trial.get('interrupted') or trial['runs'] != 1 or trial['seeds'] != 0:
        yield f'it says {trial}'


def keeps_what_came_out_before_a_failure(it: Softspine) -> Problems:
    """the second experiment cannot keep its testbed: the first one's numbers and picture are there nevertheless"""
    (it.folder / 'kept' / 'uet-single-path-one-flow.yaml').mkdir(parents=True)
    done = it('reproduce', QUICK, 'uet-single-path', '--seeds', '1', '--keep', 'kept', '--svg', 'pictures', '--json')
    yield from done.exited(1)
    yield from done.complains('uet-single-path-one-flow.yaml')
    if [trial['name'] for trial in json.loads(done.out or '[]')] != [QUICK]:
        yield f'it prints {done.out}'
    if [path.name for path in (it.folder / 'pictures').iterdir()] != [f'{QUICK}.svg']:
        yield 'the picture is not there, or one more'


if __name__ == '__main__':
    sys.exit(main([lists_what_there_is, shows_ours_beside_theirs, exits_with_1_if_a_claim_does_not_hold, is_what_the_page_says,
                   refuses_what_it_does_not_know, shows_what_it_has_when_interrupted,
                   ends_between_two_runs_when_interrupted, keeps_what_came_out_before_a_failure]))
