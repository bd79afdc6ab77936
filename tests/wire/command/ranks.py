# SPDX-License-Identifier: Apache-2.0
"""mpirun softspine run: the bytes of one process, refusals, and what becomes of the others when a rank fails."""
from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from softspine import Problems, Skip, Softspine, main

PODS = '''name: pods
run: {clock: virtual, duration: DURATION, seed: 5}
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
detection: {loss_of_signal: 5us}
convergence: 10us
workload:
  - {name: all, pattern: permutation, message: 64KiB, messages: 4, rate: 60Gbps, dscp: 3}
  - {name: incast, pattern: incast, from: [h5, h9, h13], to: h1, message: 64KiB, messages: 1, dscp: 3}
faults:
  - {at: 20us, link: "p3-agg1:Ethernet8", set: down}
  - {at: 50us, link: "p3-agg1:Ethernet8", set: up}
  - {at: 60us, link: "p1-tor1:Ethernet8", set: dead, until: 90us}
'''
OUTPUTS = ('report.json', 'events.jsonl', 'counters.jsonl', 'all.pcapng')


def mpirun(it: Softspine, ranks: int, *words: object, timeout: float = 100) -> subprocess.CompletedProcess[str]:
    if shutil.which('mpirun') is None:
        raise Skip('there is no mpirun')
    env = {**it.env, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
    done = subprocess.run(['mpirun', '--oversubscribe', '-n', str(ranks), it.binary, *map(str, words)], capture_output=True, text=True, env=env,
                          cwd=it.folder, stdin=subprocess.DEVNULL, timeout=timeout, check=False)
    if 'built without MPI' in done.stderr:
        raise Skip('this softspine was built without MPI')
    return done


def outputs_of(folder: Path) -> dict[str, object]:
    """Each file's bytes; the report without what the machine decides."""
    out: dict[str, object] = {name: (folder / name).read_bytes() for name in OUTPUTS}
    report = json.loads(out['report.json'])
    report.pop('engine')
    out['report.json'] = json.dumps(report)
    for name in OUTPUTS:
        (folder / name).unlink()
    return out


def asked(file: Path, workers: int = 1) -> list[object]:
    return ['run', file, '--quiet', '--no-server', '--workers', workers, '--report', 'report.json', '--events', 'events.jsonl', '--counters-file', 'counters.jsonl',
            '--sample-interval', '50us', '--capture', 'all.pcapng', '--capture-limit', '20MB']


def has_the_bytes_of_one_process(it: Softspine) -> Problems:
    """report, events, counters and capture of 1, 2, 3 ranks with 1 and 2 workers each"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '150us'))
    yield from it(*asked(file)).exited(0)
    alone = outputs_of(it.folder)
    for ranks, workers in itertools.product((2, 3), (1, 2)):
        done = mpirun(it, ranks, *asked(file, workers))
        if done.returncode != 0:
            yield f'{ranks} ranks of {workers} workers: {done.returncode}, {done.stderr}'
            continue
        others = outputs_of(it.folder)
        yield from (f'{ranks} ranks of {workers} workers: another {name}' for name in OUTPUTS if alone[name] != others[name])


def refuses_what_is_not_there(it: Softspine) -> Problems:
    """what is not there over ranks, another file, a wrong file: status 2, said once"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '100us'))
    for words, why in ((['--record', 'out.sqlite'], '--record is not there with more than one rank yet'),
                       (['--clock', 'wall'], 'the wall clock is not there with more than one rank yet'),
                       (['--report', 'no/where.json'], 'no/where.json')):
        done = mpirun(it, 2, 'run', file, '--quiet', *words)
        if done.returncode != 2 or done.stderr.count(why) != 1:
            yield f'{words}: {done.returncode}, {done.stderr}'
    wrong = it.write('wrong.yaml', 'name: wrong\nfabrik: {}\n')
    done = mpirun(it, 2, 'run', wrong, '--quiet')
    if done.returncode != 2 or done.stderr.count("unknown key 'fabrik'") != 1:
        yield f'a wrong file: {done.returncode}, {done.stderr}'
    script = it.folder / 'other'
    script.write_text(f'#!/bin/sh\ncd {it.folder}/$OMPI_COMM_WORLD_RANK && exec {it.binary} run pods.yaml --quiet\n')
    script.chmod(0o755)
    for rank in (0, 1):
        (it.folder / str(rank)).mkdir()
        (it.folder / str(rank) / 'pods.yaml').write_text(PODS.replace('DURATION', f'{rank + 1}00us'))
    binary, it.binary = it.binary, str(script)
    done = mpirun(it, 2)
    it.binary = binary
    if done.returncode != 2 or 'rank 1 has another file pods.yaml than rank 0' not in done.stderr:
        yield f'another file: {done.returncode}, {done.stderr}'


def _ranks_of(mpi: subprocess.Popen[str]) -> list[int]:
    """The processes below mpirun, when both have begun to run."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = subprocess.run(['pgrep', '-P', str(mpi.pid)], capture_output=True, text=True, check=False).stdout.split()
        if len(found) == 2:
            return [int(each) for each in found]
        time.sleep(0.05)
    return []


def ends_with_a_rank(it: Softspine) -> Problems:
    """a rank that is stopped or killed ends the others within 10 s, and is named"""
    if shutil.which('mpirun') is None:
        raise Skip('there is no mpirun')
    file = it.write('pods.yaml', PODS.replace('DURATION', '10s').replace('messages: 4', 'messages: 1000000'))
    env = {**it.env, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
    for how, words in ((signal.SIGSTOP, 'rank 1 has given no sign of life'), (signal.SIGKILL, 'rank 1')):
        with subprocess.Popen(['mpirun', '--oversubscribe', '-n', '2', it.binary, 'run', str(file), '--quiet', '--events', 'events.jsonl'], env=env, cwd=it.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as mpi:
            ranks = _ranks_of(mpi)
            end = time.monotonic() + 30
            while len(ranks) == 2 and time.monotonic() < end and not (it.folder / 'events.jsonl').exists():
                time.sleep(0.05)
            if len(ranks) != 2:
                mpi.kill()
                if 'built without MPI' in mpi.communicate()[1]:
                    raise Skip('this softspine was built without MPI')
                yield 'the ranks did not begin'
                return
            os.kill(ranks[1], how)
            began = time.monotonic()
            try:
                _, errors = mpi.communicate(timeout=20)
            except subprocess.TimeoutExpired:
                for each in ranks:
                    os.kill(each, signal.SIGKILL)
                mpi.kill()
                yield f'{how.name}: still there after 20 s'
                continue
            took = time.monotonic() - began
            if took > 10 or mpi.returncode == 0 or words not in errors or (how == signal.SIGSTOP and mpi.returncode != 2):
                yield f'{how.name}: {took:.1f} s, {mpi.returncode}, {errors}'
            (it.folder / 'events.jsonl').unlink(missing_ok=True)


def shows_how_it_would_be_spread(it: Softspine) -> Problems:
    """check --ranks: links that are cut, windows, the parts"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '100us'))
    yield from it('check', file, '--ranks', 4).says('over 4 ranks: ', 'links are cut, a meeting every ', 'rank 3 ')
    plan = it('check', file, '--ranks', 2, '--json').json()['ranks']
    if plan['cut_links'] == 0 or plan['window_ps'] > plan['shortest_cut_ps'] or len(plan['parts']) != 2 or sum(part['hosts'] for part in plan['parts']) != 16:
        yield f'the plan is {plan}'


if __name__ == '__main__':
    sys.exit(main([has_the_bytes_of_one_process, refuses_what_is_not_there, ends_with_a_rank, shows_how_it_would_be_spread]))
