# SPDX-License-Identifier: Apache-2.0
"""softspine reproduce: the list, a quick experiment, its files, and what it refuses."""
from __future__ import annotations

import json
import signal
import sys
import time

from softspine import Problems, Run, Softspine, main

QUICK = 'dcqcn-convergence'


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


def refuses_what_it_does_not_know(it: Softspine) -> Problems:
    """unknown names, places that cannot be written and contradictions are errors before anything runs"""
    for arguments, words in ((('meta-fig8',), "there is no experiment 'meta-fig8'"), ((QUICK, '--html', 'none/page.html'), 'none/page.html'),
                             ((QUICK, '--svg', '/proc/none'), '/proc/none'), ((QUICK, '--seeds', '0'), '--seeds'), ((QUICK, '--all'), '--all')):
        done = it('reproduce', *arguments)
        yield from done.exited(2)
        yield from done.complains(words)


def shows_what_it_has_when_interrupted(it: Softspine) -> Problems:
    """Ctrl-C ends the run, and what was found till then is printed as interrupted"""
    run = Run(it, ['reproduce', QUICK, '--seeds', '1000', '--json', '--whole'])
    time.sleep(3)
    done = run.end(signal.SIGINT)
    yield from done.exited(1)
    (trial,) = json.loads(done.out)
    if not trial['interrupted'] or trial['holds'] or trial['seeds'] >= 1000:
        yield f'it says {trial}'


if __name__ == '__main__':
    sys.exit(main([lists_what_there_is, shows_ours_beside_theirs, exits_with_1_if_a_claim_does_not_hold, refuses_what_it_does_not_know,
                   shows_what_it_has_when_interrupted]))
