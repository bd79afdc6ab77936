# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DistributedDataParallel trains over the fabric: four ranks in network namespaces, gradients by Gloo over TCP."""
from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from softspine import Problems, Skip, Softspine, main  # noqa: E402

PYTHON = '/usr/bin/python3'  # Debian's, whose packages are there
JOB = Path(__file__).resolve().parent / 'ddp.py'
RANKS = 4
STEPS = 100
CUT_AFTER = 20  # steps
TESTBED = f'''name: ddp
run: {{clock: wall, duration: 5min}}
fabric: {{kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {{rate: 1Gbps}}, fabric_link: {{rate: 1Gbps}}}}
topology:
  nodes:
''' + ''.join(f'''    h{rank + 1}: {{namespace: {{timeout: 4min, run: "GLOO_SOCKET_IFNAME=eth0 exec {PYTHON} -B {JOB} {rank} {RANKS} 10.0.1.2 {STEPS}"}}}}
''' for rank in range(RANKS)) + '''expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: totals.balanced, equal: true}
'''


def need_torch() -> None:
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    if subprocess.run([PYTHON, '-c', 'import torch.distributed'], capture_output=True, check=False).returncode != 0:
        raise Skip('not installed: python3-torch (tools/install training)')


def last_words(it: Softspine) -> set[str]:
    return {(it.folder / 'o' / f'h{rank + 1}' / 'stdout').read_text().splitlines()[-1] for rank in range(RANKS)}


def steps_done(it: Softspine) -> int:
    path = it.folder / 'o' / 'h1' / 'stdout'
    steps = re.findall(r'step (\d+)', path.read_text()) if path.exists() else []
    return int(steps[-1]) if steps else 0


def crossed(it: Softspine) -> dict[str, int]:
    """Octets that came to each spine so far."""
    counters = it.show('counters')
    return {spine: sum(port['SAI_PORT_STAT_IF_IN_OCTETS'] for port in counters[spine].values() if 'SAI_PORT_STAT_IF_IN_OCTETS' in port) for spine in ('spine1', 'spine2')}


def trained(it: Softspine, cut: bool) -> tuple[str, list[str]]:
    """What the ranks said at the end, and what was wrong."""
    problems: list[str] = []
    with it.running(it.write('ddp.yaml', TESTBED), '--folder', it.folder / 'o') as run:
        if cut:
            while steps_done(it) < CUT_AFTER and run.process.poll() is None:
                time.sleep(0.05)
            before = crossed(it)
            lost = max(before, key=before.get)
            problems += it('link', lost, 'down').exited(0)
            if steps_done(it) == STEPS:
                problems.append('the job was over before the cut')
        done = run.end(timeout=200)
    problems += done.exited(0)
    if cut:
        print(f'# octets at the cut: {before}; {lost} went down')
    words = last_words(it)
    if len(words) != 1 or not next(iter(words)).startswith('loss 0x'):
        problems.append(f'the ranks ended with {words}')
    return words.pop(), problems


def alone() -> str:
    """The same job without any network: one process computes all ranks' gradients."""
    return subprocess.run([PYTHON, '-B', JOB, 'alone', str(RANKS), '-', str(STEPS)], capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def numbers(words: str) -> list[float]:
    return [float.fromhex(word) for word in words.split()[1::2]]


def trains(it: Softspine) -> Problems:
    """DistributedDataParallel over Gloo: the loss is that of one process, and the same to the bit when a spine goes down in the middle"""
    need_torch()
    whole, problems = trained(it, cut=False)
    yield from problems
    with_cut, problems = trained(it, cut=True)
    yield from problems
    if with_cut != whole:
        yield f'with a cut: {with_cut}; without: {whole}'
    expected = numbers(alone())
    print(f'# {whole}; one process: {expected}')
    if any(abs(a - b) > 1e-4 * abs(b) for a, b in zip(numbers(whole), expected, strict=True)):
        yield f'{numbers(whole)}, but one process computes {expected}'


if __name__ == '__main__':
    sys.exit(main([trains]))
