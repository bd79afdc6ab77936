# SPDX-License-Identifier: Apache-2.0
"""softspine sweep: its table beside runs one by one, the cache, interruption, and what it refuses."""
from __future__ import annotations

import csv
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from softspine import TESTBEDS, Problems, Run, Softspine, main

SMALL = '''name: small
run: {clock: virtual, duration: 5ms, seed: 1}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
workload:
  - {name: perm, pattern: permutation, message: 64KiB, messages: 4, rate: 80Gbps}
expect:
  - {value: flows.perm.fct_max, at_most: 20us}
'''
COLLECT = ('--collect', 'flows.perm.fct_max', '--collect', 'busiest=max(links.*.utilisation)')


def has_what_single_runs_have(it: Softspine) -> Problems:
    """each row is what `run --set` reports, and a row that is not as expected is one with its reason"""
    it.write('small.yaml', SMALL)
    done = it('sweep', 'small.yaml', '--set', 'run.seed=1,2', '--set', 'workload.0.messages=2,4,x', *COLLECT, '--cache', 'cache', '--csv', 'all.csv', '--sqlite', 'all.sqlite')
    yield from done.exited(1)
    yield from done.complains('of 6 runs', '2 failed')
    rows = list(csv.DictReader((it.folder / 'all.csv').open()))
    if [(row['seed'], row['messages']) for row in rows] != [(seed, count) for seed in '12' for count in '24x']:
        yield f'rows are {rows}'
    with closing(sqlite3.connect(it.folder / 'all.sqlite')) as database:
        database.row_factory = sqlite3.Row
        stored = [{name: '' if value is None else str(value) for name, value in dict(row).items() if name != 'run_id'}
                  for row in database.execute('SELECT * FROM by_run')]
    if stored != rows:
        yield f'the database has {stored}, the file {rows}'
    for row in rows:
        settings = ['--set', f'run.seed={row["seed"]}', '--set', f'workload.0.messages={row["messages"]}']
        alone = it('run', 'small.yaml', *settings, '--json', '--quiet', '--idle-rows')
        if row['messages'] == 'x':
            if row['result'] != 'failed' or 'workload[0].messages' not in row['why'] or alone.status != 2:
                yield f'{row}, alone {alone.status}'
            continue
        report = alone.json()
        told = (str(report['flows']['perm']['fct_max_ps']), max(link['utilisation'] for link in report['links'].values()))
        if (row['flows.perm.fct_max_ps'], float(row['busiest'])) != told or report['settings'] != settings[1::2]:
            yield f'{row}, alone {told}, {report["settings"]}'
        if (row['result'] == 'ok') != (alone.status == 0) or ('fct_max: at_most 20us' in row['why']) != (alone.status == 1):
            yield f'{row}, alone {alone.status}'
    if {row['result'] for row in rows} != {'ok', 'unexpected', 'failed'}:
        yield f'these are not all kinds of rows: {rows}'


def takes_from_the_cache_what_it_had(it: Softspine) -> Problems:
    """the same sweep again runs nothing, a larger one only what is new, another testbed all"""
    it.write('small.yaml', SMALL)
    sweep = ['sweep', 'small.yaml', *COLLECT, '--cache', 'cache', '--json', '--quiet']
    first = it(*sweep, '--set', 'run.seed=1..4').json()
    again = it(*sweep, '--set', 'run.seed=1..4').json()
    if any(row['cached'] for row in first['rows']) or not all(row['cached'] for row in again['rows']):
        yield f'{first}, again {again}'
    if [row['values'] for row in first['rows']] != [row['values'] for row in again['rows']]:
        yield 'the cache has other numbers'
    more = it(*sweep, '--set', 'run.seed=3..6').json()
    if [row['cached'] for row in more['rows']] != [True, True, False, False]:
        yield f'{more}'
    it.write('small.yaml', SMALL + '# changed\n')
    if any(row['cached'] for row in it(*sweep, '--set', 'run.seed=1..4').json()['rows']):
        yield 'a changed testbed comes from the cache'


def goes_on_after_ctrl_c(it: Softspine) -> Problems:
    """Ctrl-C keeps the rows that there are, leaves no process behind, and the same command goes on from there"""
    it.write('small.yaml', SMALL.replace('messages: 4', 'messages: 200').replace('20us', '1s'))
    sweep = ['sweep', 'small.yaml', *COLLECT, '--cache', 'cache', '--json', '--quiet', '--jobs', '2', '--set', 'run.seed=1..60']
    run = Run(it, sweep)
    until = time.monotonic() + 60
    while len(list(it.folder.glob('cache/*.json'))) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    done = run.end(signal.SIGINT)
    yield from done.exited(1)
    rows = done.json()['rows']
    made = sum(row['result'] == 'ok' for row in rows)
    if not 3 <= made < 60 or any(row['result'] not in ('ok', 'not run') for row in rows):
        yield f'{made} rows of {rows}'
    again = it(*sweep)
    yield from again.exited(0)
    if sum(row['cached'] for row in again.json()['rows']) < made:
        yield 'what was run before the interruption is run again'


def lists_commands_that_fill_the_cache(it: Softspine) -> Problems:
    """--list prints a line for a shell each; when they have run, the sweep itself runs nothing"""
    it.write("it's small.yaml", SMALL)
    sweep = ['sweep', "it's small.yaml", *COLLECT, '--cache', 'cache', '--set', 'run.seed=1..2', '--set', 'workload.0={name: perm, pattern: permutation, message: 1KiB, messages: 3}']
    lines = it(*sweep, '--list').out.splitlines()
    if len(lines) != 2 or list(it.folder.glob('cache/*.json')):
        yield f'{lines}'
    (it.folder / 'bin').mkdir()
    (it.folder / 'bin' / 'softspine').symlink_to(Path(it.binary))
    for line in lines:
        ended = subprocess.run(['sh', '-c', line], env={**it.env, 'PATH': f'{it.folder}/bin:/usr/bin:/bin'}, cwd=it.folder, capture_output=True, text=True)
        if ended.returncode != 0:
            yield f'{line}: {ended}'
    again = it(*sweep, '--json', '--quiet').json()
    if not all(row['cached'] for row in again['rows']):
        yield f'{again}'


def refuses_what_it_cannot_do(it: Softspine) -> Problems:
    """wrong paths, values and files are errors before anything runs"""
    it.write('small.yaml', SMALL)
    good = ('--set', 'run.seed=1', '--collect', 'flows.perm.fct_p99', '--cache', 'cache')
    for arguments, words in ((('--set', 'run.seed=', *good[2:]), 'a value is missing'), (('--set', 'run.seed=2..1', *good[2:]), 'ends before it begins'),
                             (('--set', 'run.sede=1..2', *good[2:]), "did you mean 'seed'"), ((*good[:2], '--collect', 'flows.prem.fct_p99'), 'flows.prem'),
                             ((*good[:2], '--collect', 'most(flows.perm.fct_p99)'), 'there is no function'), ((*good, '--over', 'run.duration'), 'no --set varies it'),
                             ((*good, '--csv', 'none/x.csv'), 'none/x.csv'), ((*good, '--sqlite', 'none/x.sqlite'), 'none/x.sqlite'), ((*good, '--set', 'run.seed=2'), 'set twice')):
        done = it('sweep', 'small.yaml', *arguments)
        yield from done.exited(2)
        yield from done.complains(words)
    it.env['TMPDIR'] = '/proc'
    done = it('sweep', 'small.yaml', *good)
    yield from done.exited(2)
    yield from done.complains('cannot make a folder')
    if list(it.folder.glob('cache/*.json')):
        yield 'something was run'


def has_examples_that_are_right(it: Softspine) -> Problems:
    """each example of the help names paths that its shipped testbed and its report have"""
    text = it('sweep', '--help').out.replace('\\\n', ' ')
    examples = [line.split(' | ')[0].replace('--list', '') for line in text.splitlines() if line.startswith('  softspine sweep ')]
    if len(examples) < 4:
        yield f'there are {len(examples)}'
    for example in examples:
        words = shlex.split(example)[1:]
        done = it(words[0], TESTBEDS / words[1], *words[2:], '--list')
        yield from done.exited(0)


if __name__ == '__main__':
    sys.exit(main([has_what_single_runs_have, takes_from_the_cache_what_it_had, goes_on_after_ctrl_c, lists_commands_that_fill_the_cache,
                   refuses_what_it_cannot_do, has_examples_that_are_right]))
