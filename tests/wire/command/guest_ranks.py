# SPDX-License-Identifier: Apache-2.0
"""Guests at several ranks: each rank boots its own, and what they send crosses from one rank to the other."""
from __future__ import annotations

import os
import re
import signal
import sys

from outside_testbeds import need_guests
from ranks import mpirun
from softspine import Problems, Softspine, main
from two_machines import two_machines
from wall_ranks import FAR, folders_of, rank_process, report_of, two_ranks, until

LAB = '''name: guests
run: {clock: wall, duration: 10min, dilation: 5}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: FAR}}
topology:
  nodes:
    h1: {guest: {kind: uml, memory: 256MiB, timeout: 5minRUN1}}
    h2: {guest: {kind: uml, memory: 256MiB, timeout: 5minRUN2}}
expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: totals.balanced, equal: true}
'''.replace('FAR', FAR)
# A guest without a processor answers late: 4.3 s.
WRITES = '--qps 4 --messages 40 --message 16KiB --depth 2 --ack-timeout 20'


def runs(one: str, two: str) -> str:
    return LAB.replace('RUN1', f', run: "{one}"').replace('RUN2', f', run: "{two}"')


def crosses(ping: str) -> Problems:
    """Over two cables of 10 ms there and back, at a dilation of 5, is 200 ms; a guest without a processor takes longer."""
    least = re.search(r'= ([0-9.]+)/', ping)
    if ' 0% packet loss' not in ping or least is None or float(least[1]) < 197:
        yield f'ping: {ping}'


def writes_from_rank_to_rank(it: Softspine) -> Problems:
    """ping and RDMA writes between guests at two ranks: every byte is right; names, signals, outcomes and counters are whole"""
    need_guests()
    file = it.write('guests.yaml', runs(f'ping -q -c 5 -W 20 h2 && softspine-verbs h2 --wait 60s {WRITES} && softspine-guest signal done',
                                        'softspine-verbs --serve --sessions 1 && softspine-guest await done 60'))
    done = mpirun(it, 2, 'run', file, '--quiet', '--folder', it.folder / 'o', '--report', 'report.json', timeout=550)
    texts = {path: path.read_text()[-500:] for path in (it.folder / 'o').glob('h?/std*')}
    if done.returncode != 0:
        yield f'{done.returncode}, {done.stderr} {done.stdout} {texts}'
        return
    said = (it.folder / 'o' / 'h1' / 'stdout').read_text()
    yield from crosses(said)
    if not all('was right' in texts[it.folder / 'o' / host / 'stdout'] for host in ('h1', 'h2')):
        yield f'{texts}'
    received = report_of(it)['commands']['h2']['counters']['rxe0']['rdma_recvs']
    if received == 0:
        yield f"{report_of(it)['commands']}"


def joins_machines_by_guests(it: Softspine) -> Problems:
    """ping between guests on two machines with 1 ms between them"""
    need_guests()
    with two_machines(it, 0.001) as machines:
        file = it.write('guests.yaml', runs('ping -q -c 5 -W 20 h2 && softspine-guest signal tried', 'softspine-guest await tried 120'))
        out = it.folder / 'o'
        with it.running(file, '--quiet', '--folder', out, '--report', 'report.json', before=machines.command()) as run:
            yield from run.end(timeout=400).exited(0)
        yield from crosses((out / 'h1' / 'stdout').read_text())


def answers_while_guests_run(it: Softspine) -> Problems:
    """exec and cp at either rank through rank 0; Ctrl-C at it ends all guests, and nothing is left"""
    need_guests()
    file = it.write('stays.yaml', LAB.partition('expect:')[0].replace('RUN1', '').replace('RUN2', ''))
    with it.running(file, '--quiet', '--report', 'report.json', before=two_ranks(it)) as run:
        for host in ('h1', 'h2'):
            until(lambda host=host: it('exec', host, '--', 'true').status == 0, f'exec on {host}', 300)
            yield from it('exec', host, '--', 'hostname').says(host)
        yield from it('exec', 'h1', '--', 'ping', '-q', '-c', '2', '-W', '20', 'h2').says(' 0% packet loss')
        it.write('here', 'a text\n')
        yield from it('cp', 'here', 'h2:there').exited(0)
        yield from it('exec', 'h2', '--', 'cat', 'there').says('a text')
        os.kill(rank_process(it, 0), signal.SIGINT)
        yield from run.end(timeout=120).exited(0)
    yield from (f'{thing} is left behind' for thing in folders_of(it))


if __name__ == '__main__':
    sys.exit(main([writes_from_rank_to_rank, joins_machines_by_guests, answers_while_guests_run]))
