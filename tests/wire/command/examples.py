# SPDX-License-Identifier: Apache-2.0
"""The scripts of examples/: each draws its picture of what a run has written, and what it prints is what the report says."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from softspine import ROOT, TESTBEDS, Problems, Skip, Softspine, main

PYTHON = '/usr/bin/python3'  # Debian's, whose pandas and matplotlib the scripts use
PNG = b'\x89PNG\r\n\x1a\n'


def drawn(it: Softspine, script: str, *arguments: str) -> tuple[str, list[str]]:
    """What the script printed, and what is wrong with its picture."""
    for module in ('pandas', 'matplotlib'):
        if subprocess.run([PYTHON, '-c', f'import {module}'], capture_output=True, check=False).returncode != 0:
            raise Skip(f'no {module}: tools/install examples')
    done = subprocess.run([PYTHON, '-B', ROOT / 'examples' / script, *arguments, '-o', 'it.png'], cwd=it.folder, capture_output=True, text=True,
                          env={**os.environ, 'MPLCONFIGDIR': str(it.folder)}, check=False)
    picture = it.folder / 'it.png'
    problems = [done.stderr[-1000:]] if done.returncode != 0 or done.stderr else []
    if not picture.exists() or not (data := picture.read_bytes()).startswith(PNG) or len(data) < 10_000:
        problems.append(f'{script} draws nothing')
    return done.stdout, problems


def report_of(it: Softspine, name: str, *options: str) -> dict:
    done = it('run', TESTBEDS / f'{name}.yaml', '--report', f'{name}.json', '--quiet', *options)
    if done.status != 0:
        raise AssertionError(done.err)
    return json.loads((it.folder / f'{name}.json').read_text())


def draws_completion(it: Softspine) -> Problems:
    """completion_cdf.py has the report's flows, and its median lies at the report's"""
    flows = report_of(it, 'websearch', '--record', 'websearch.sqlite')['flows']['web']
    text, problems = drawn(it, 'completion_cdf.py', 'websearch.sqlite')
    yield from problems
    words = text.replace(',', '').split()
    median = float(words[words.index('median') + 1])
    if f'{flows["completed"]} flows' not in text or abs(median - flows['fct_p50_ps'] / 1e6) > 0.02 * median:
        yield f'{text}: the report has {flows["completed"]} flows and {flows["fct_p50_ps"]} ps'
    text, problems = drawn(it, 'completion_cdf.py', '--slowdown', 'websearch.sqlite')
    yield from problems


def draws_queues(it: Softspine) -> Problems:
    """queue_over_time.py has the queue that the report calls fullest"""
    most = report_of(it, 'ecn-ramp', '--record', 'ramp.sqlite')['switches']['tor1']['queue_watermark_bytes']
    text, problems = drawn(it, 'queue_over_time.py', 'ramp.sqlite')
    yield from problems
    found = int(text.split()[-2].replace(',', ''))
    if not 0.99 * most <= found <= most or not text.startswith('tor1:Ethernet0 queue 3'):
        yield f'{text}: the report has {most}'


def draws_bus_bandwidth(it: Softspine) -> Problems:
    """busbw_over_size.py has the report's bandwidths, and a line for each setting of a sweep"""
    sizes = report_of(it, 'ring-allreduce')['collectives']['grads']['sizes']
    text, problems = drawn(it, 'busbw_over_size.py', 'ring-allreduce.json')
    yield from problems
    yield from (f'{text}: the report has {row}' for row in sizes.values() if f'{row["busbw_bps"] / 1e9:.2f} Gb/s' not in text)
    it('sweep', TESTBEDS / 'ring-allreduce.yaml', '--no-cache', '--quiet', '--set', 'collectives.0.algorithm=ring,tree',
       '--collect', 'collectives.grads.sizes.*.busbw_bps', '--csv', 'algorithms.csv')
    swept, problems = drawn(it, 'busbw_over_size.py', 'algorithms.csv')
    yield from problems
    lines = swept.splitlines()
    if [line.partition(':')[0] for line in lines] != ['algorithm ring', 'algorithm tree'] or lines[0].partition(': ')[2] != text.strip().partition('grads: ')[2]:
        yield f'the sweep has {swept}, the report {text}'


def shows_what_can_be_run(it: Softspine) -> Problems:
    """each script names the commands that make its input, with a testbed that ships"""
    for script in sorted((ROOT / 'examples').glob('*.py')):
        text = script.read_text().partition('"""')[2].partition('"""')[0]
        named = [Path(word) for word in text.split() if word.startswith('testbeds/')]
        yield from (f'{script.name}: no {name}' for name in named if not (ROOT / name).exists())
        if not named or f'python3 examples/{script.name}' not in text:
            yield f'{script.name} does not say how it is used'


if __name__ == '__main__':
    sys.exit(main([draws_completion, draws_queues, draws_bus_bandwidth, shows_what_can_be_run]))
