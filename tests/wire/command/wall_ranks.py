# SPDX-License-Identifier: Apache-2.0
"""mpirun softspine run by the wall clock: one time for all ranks, their network measured, and real hosts at each of them."""
from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from outside_testbeds import need_programs, network
from ranks import launcher, mpirun
from softspine import Problems, Skip, Softspine, main
from two_machines import two_machines

# Two racks far from each other: 40 km are 200 us.
BUILT_IN = '''name: far
run: {clock: CLOCK, duration: 300ms, seed: 3, dilation: DILATION}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 40km}}
workload: [{name: w, pattern: all_to_all, hosts: [h1, h2, h3, h4], message: 16KiB, messages: 20, rate: 100Mbps, transport: rc}]
'''
SPACES = '''name: spaces
run: {clock: wall, duration: 2min, dilation: DILATION}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 200km}}
topology:
  nodes:
    h1: {namespace: {run: "RUN1"}}
    h2: {namespace: {run: "RUN2"}}
expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: totals.balanced, equal: true}
'''
STAYS = '''name: stays
run: {clock: wall, dilation: 4}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 200km}}
topology: {nodes: {h1: {namespace: {}}, h2: {namespace: {}}}}
'''

def report_of(it: Softspine) -> dict:
    return json.loads((it.folder / 'report.json').read_text())


def need_namespaces() -> None:
    if os.geteuid() != 0 or not os.path.exists('/dev/net/tun'):
        raise Skip('network namespaces and TAPs need root and /dev/net/tun')


def counts_what_the_virtual_clock_counts(it: Softspine) -> Problems:
    """built-in hosts: the report of 2 and 3 ranks by the wall clock is that of one process by the virtual one, in the time that the dilation says"""
    virtual = it.write('virtual.yaml', BUILT_IN.replace('CLOCK', 'virtual').replace('DILATION', '1'))
    yield from it('run', virtual, '--quiet', '--report', 'report.json').exited(0)
    alone = report_of(it)
    for ranks, dilation in ((2, 1), (2, 5), (3, 2)):
        wall = it.write('wall.yaml', BUILT_IN.replace('CLOCK', 'wall').replace('DILATION', str(dilation)))
        done = mpirun(it, ranks, 'run', wall, '--quiet', '--report', 'report.json')
        if done.returncode != 0:
            yield f'{ranks} ranks: {done.returncode}, {done.stderr}'
            continue
        report = report_of(it)
        engine = report['engine']
        yield from (f'{ranks} ranks: another {key}' for key in alone if key not in ('engine', 'clock') and alone[key] != report[key])
        if not 0.3 * dilation * 0.99 <= engine['wall_seconds'] <= 0.3 * dilation * 1.2 + 1:
            yield f"{ranks} ranks: 0.3 s took {engine['wall_seconds']} s at a dilation of {dilation}"
        if not 0 < engine['meeting_p50_ps'] <= engine['meeting_p99_ps'] or not 0 < engine['clock_uncertainty_ps'] < 1e9:
            yield f'{ranks} ranks: the engine reports {engine}'
        if 'a meeting of ranks takes p50' not in done.stdout:
            yield f'{ranks} ranks: {done.stdout[:600]}'


def refuses_a_network_that_is_too_slow(it: Softspine) -> Problems:
    """two machines with 1 ms between them: a dilation that is too small is refused with the number that would do, and that one runs; so does a long cable"""
    with two_machines(it, 0.001) as machines:
        text = BUILT_IN.replace('CLOCK', 'wall').replace('40km', '300m').replace('300ms', '300us')
        done = machines.run('run', it.write('near.yaml', text.replace('DILATION', '10')), '--quiet')
        said = re.search(r'takes ([0-9.]+) ms for a meeting .*A dilation of ([0-9]+) would do, or cables of ([0-9]+) km between ranks', done.stderr)
        if done.returncode != 2 or said is None or done.stderr.count('would do') != 1:
            yield f'too small a dilation: {done.returncode}, {done.stderr}'
            return
        if not 1 <= float(said[1]) < 10:
            yield f'a meeting over 1 ms takes {said[1]} ms'
        done = machines.run('run', it.write('near.yaml', text.replace('DILATION', said[2])), '--quiet', '--report', 'report.json')
        if done.returncode != 0:
            yield f'a dilation of {said[2]}: {done.returncode}, {done.stderr}'
        elif (late := report_of(it)['engine']['lateness_p99_ps'] * int(said[2])) > 100e9:
            yield f'at a dilation of {said[2]} it is {late * 1e-9} ms late'
        done = machines.run('run', it.write('near.yaml', text.replace('DILATION', '10').replace('300m', said[3] + 'km')), '--quiet')
        if done.returncode != 0:
            yield f'cables of {said[3]} km: {done.returncode}, {done.stderr}'


def joins_namespaces(it: Softspine) -> Problems:
    """ping and iperf3 between namespaces at two ranks: no loss, the round trip of the cables and the meetings; names, outcomes and counters are whole, nothing is left"""
    need_namespaces()
    need_programs('ping', 'iperf3')
    before = network()
    file = it.write('spaces.yaml', SPACES.replace('DILATION', '2')
                    .replace('RUN1', 'ping -q -c 20 -i 0.1 h2 && softspine-guest await served 30 && iperf3 -c h2 -t 3 -J >iperf.json')
                    .replace('RUN2', 'iperf3 -s -1 & until softspine-guest listening tcp 5201 5; do :; done; softspine-guest signal served; wait'))
    done = mpirun(it, 2, 'run', file, '--quiet', '--folder', it.folder / 'o', '--report', 'report.json')
    if done.returncode != 0:
        texts = {path: path.read_text()[-500:] for path in (it.folder / 'o').glob('h?/std*')}
        yield f'{done.returncode}, {done.stderr} {done.stdout} {texts}'
        return
    report = report_of(it)
    ping = (it.folder / 'o' / 'h1' / 'stdout').read_text()
    least = float(re.search(r'= ([0-9.]+)/', ping)[1])
    if ' 0% packet loss' not in ping or not 8 <= least < 20:  # twice 2 ms, at a dilation of 2
        yield f'ping: {ping}'
    sent = json.loads((it.folder / 'o' / 'h1' / 'iperf.json').read_text())['end']['sum_received']['bits_per_second']
    if not 1e6 < sent <= 0.5e9:
        yield f'iperf3 at half of 1 Gb/s: {sent}'
    if sorted(report['commands']) != ['h1', 'h2'] or any(report['edges'][host]['in_packets'] < 20 for host in ('h1', 'h2')):
        yield f"{report['commands']} {report['edges']}"
    if sorted(path.name for path in (it.folder / 'o').iterdir()) != ['board', 'board.1', 'h1', 'h2']:
        yield f"the folder has {list((it.folder / 'o').iterdir())}"
    yield from (f'{thing} is left behind' for thing in network() - before)


def joins_machines(it: Softspine) -> Problems:
    """ping between namespaces on two machines with 1 ms between them"""
    need_programs('ping')
    with two_machines(it, 0.001) as machines:
        file = it.write('spaces.yaml', SPACES.replace('DILATION', '4').replace('RUN1', 'ping -q -c 20 -i 0.2 h2').replace('RUN2', 'true'))
        done = machines.run('run', file, '--quiet', '--folder', it.folder / 'o', '--report', 'report.json')
        ping = (it.folder / 'o' / 'h1' / 'stdout').read_text()
        least = re.search(r'= ([0-9.]+)/', ping)
        if done.returncode != 0 or ' 0% packet loss' not in ping or not 16 <= float(least[1]) < 40:
            yield f'{done.returncode}, {done.stderr} {ping}'
        elif (apart := report_of(it)['engine']['clock_uncertainty_ps'] * 4) > 3e9:
            yield f'clocks may be {apart * 1e-9} ms apart'


def refuses_what_is_not_there(it: Softspine) -> Problems:
    """verbs hosts and guests: status 2, said once"""
    for host in ('verbs: {}', 'guest: {kind: uml, run: "true"}'):
        file = it.write('no.yaml', STAYS.replace('namespace: {}', host))
        done = mpirun(it, 2, 'run', file, '--quiet')
        if done.returncode != 2 or done.stderr.count('not there with more than one rank yet') != 1:
            yield f'{host}: {done.returncode}, {done.stderr}'


def _environment(it: Softspine) -> tuple[str, ...]:
    # OpenMPI's mpirun kills ranks a second after Ctrl-C, else.
    patience = [] if 'mpich' in launcher(it.binary)[0] else ['--mca', 'odls_base_sigkill_timeout', '20']
    return ('env', 'OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1', *launcher(it.binary), *patience, '-n', '2')


def _folders() -> set[str]:
    return {str(path) for path in Path('/tmp').glob('softspine-run-*')}


def answers_while_hosts_run(it: Softspine) -> Problems:
    """show, exec at either rank, link and inject through rank 0; Ctrl-C ends all hosts, and nothing is left"""
    need_namespaces()
    need_programs('ping')
    if 'built without MPI' in mpirun(it, 2, 'views').stderr:
        raise Skip('this softspine was built without MPI')
    before, folders = network(), _folders()
    with it.running(it.write('stays.yaml', STAYS), '--quiet', '--report', 'report.json', before=_environment(it)) as run:
        if it.show('fabric')['hosts_outside'] != ['h1', 'h2']:
            yield f"show fabric: {it.show('fabric')}"
        until = time.monotonic() + 30
        while it('exec', 'h2', '--', 'true').status != 0 and time.monotonic() < until:
            time.sleep(0.1)
        for here, there in (('h1', 'h2'), ('h2', 'h1')):
            yield from it('exec', here, '--', 'ping', '-q', '-c', '3', '-i', '0.2', there).says(' 0% packet loss')
        yield from it('link', 'tor2:Ethernet4', 'down').exited(0)
        yield from it('exec', 'h1', '--', 'ping', '-q', '-c', '1', '-W', '1', 'h2').exited(1)
        yield from it('link', 'h2:eth0', 'down').exited(0)
        until = time.monotonic() + 10
        while 'NO-CARRIER' not in it('exec', 'h2', '--', 'ip', 'link', 'show', 'eth0').out and time.monotonic() < until:
            time.sleep(0.1)
        if time.monotonic() > until:
            yield 'h2 does not see that its link is down'
        for port in ('h2:eth0', 'tor2:Ethernet4'):
            yield from it('link', port, 'up').exited(0)
        yield from it('exec', 'h1', '--', 'ping', '-q', '-c', '3', '-i', '0.2', 'h2').says(' received')
        counters = it.show('report')['edges']
        if any(counters[host]['in_packets'] < 6 for host in ('h1', 'h2')):
            yield f'{counters}'
        run.end(signal.SIGINT)  # mpirun's status says that it was interrupted
    if not report_of(it)['totals']['balanced']:
        yield f"{report_of(it)['totals']}"
    yield from (f'{thing} is left behind' for thing in (network() - before) | (_folders() - folders))


def is_an_error_of_the_run(it: Softspine) -> Problems:
    """a host of another rank whose command fails, and one that ends unasked: rank 0 reports them"""
    need_namespaces()
    file = it.write('fails.yaml', SPACES.replace('DILATION', '1').replace('RUN1', 'true').replace('RUN2', 'echo no way >&2; exit 3'))
    done = mpirun(it, 2, 'run', file, '--quiet', '--report', 'report.json')
    command = report_of(it)['commands']['h2']
    if done.returncode != 1 or command['exit_status'] != 3 or 'h2: its command ended with status 3 | no way' not in done.stderr:
        yield f'{done.returncode}, {command}, {done.stderr}'


def ends_hosts_with_a_rank(it: Softspine) -> Problems:
    """a rank that is killed: the other one ends, and no host, interface or namespace is left at either"""
    need_namespaces()
    if 'built without MPI' in mpirun(it, 2, 'views').stderr:
        raise Skip('this softspine was built without MPI')
    before = network()
    with it.running(it.write('stays.yaml', STAYS), '--quiet', before=_environment(it)) as run:
        until = time.monotonic() + 30
        while it('exec', 'h2', '--', 'true').status != 0 and time.monotonic() < until:
            time.sleep(0.1)
        found = subprocess.run(['pgrep', '-f', '-x', f'{it.binary} run {it.folder}/stays.yaml --quiet'], capture_output=True, text=True, check=False).stdout.split()
        os.kill(int(found[-1]), signal.SIGKILL)
        if run.end(timeout=20).status == 0:
            yield 'it ends as if nothing had happened'
    shutil.rmtree(it.sockets, ignore_errors=True)
    until = time.monotonic() + 10
    while list(it.leftovers()) and time.monotonic() < until:
        time.sleep(0.1)
    yield from (f'{thing} is left behind' for thing in network() - before)


if __name__ == '__main__':
    sys.exit(main([counts_what_the_virtual_clock_counts, refuses_a_network_that_is_too_slow, joins_namespaces, joins_machines, refuses_what_is_not_there, answers_while_hosts_run,
                   is_an_error_of_the_run, ends_hosts_with_a_rank]))
