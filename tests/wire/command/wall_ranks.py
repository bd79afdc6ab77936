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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from outside_testbeds import need_programs, network
from ranks import launcher, mpirun
from softspine import MARK, Problems, Skip, Softspine, main
from two_machines import two_machines

# A window lasts as long as the longest cable allows, times the dilation, 50 ms: a machine that has much else to do then still has time for a meeting. (With
# five busy processes a core a meeting took 20 ms.)
FAR = '2000km'  # 10 ms
BUILT_IN = '''name: far
run: {clock: CLOCK, duration: 300ms, seed: 3, dilation: DILATION}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: LENGTH}}
workload: [{name: w, pattern: all_to_all, hosts: [h1, h2, h3, h4], message: 16KiB, messages: 20, rate: 100Mbps, transport: rc}]
'''
SPACES = '''name: spaces
run: {clock: wall, duration: 5min, dilation: 5}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: FAR}}
topology:
  nodes:
    h1: {namespace: {run: "RUN1"}}
    h2: {namespace: {run: "RUN2"}}
expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: totals.balanced, equal: true}
'''.replace('FAR', FAR)
DEVICES = '''name: devices
run: {clock: wall, dilation: 5}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m, mtu: 1500}, fabric_link: {rate: 1Gbps, length: FAR}}
topology: {nodes: {h1: {edge: {af_packet: {interface: HERE1}}}, h2: {edge: {tap: {name: HERE2}}}}}
'''.replace('FAR', FAR)
STAYS = '''name: stays
run: {clock: wall, dilation: 5}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: FAR}}
topology: {nodes: {h1: {namespace: {}}, h2: {namespace: {}}}}
'''.replace('FAR', FAR)

def report_of(it: Softspine) -> dict:
    return json.loads((it.folder / 'report.json').read_text())


def need_namespaces() -> None:
    if os.geteuid() != 0 or not os.path.exists('/dev/net/tun'):
        raise Skip('network namespaces and TAPs need root and /dev/net/tun')


def until(holds: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Waits for it; a failure says for what."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f'{what}: not within {seconds} s')
        time.sleep(0.05)


def crosses(ping: str) -> Problems:
    """Pings over two cables of 10 ms there and back, at a dilation of 5: 200 ms, and what the machine takes."""
    least = re.search(r'= ([0-9.]+)/', ping)
    if ' 0% packet loss' not in ping or least is None or not 197 <= float(least[1]) < 600:
        yield f'ping: {ping}'


def counts_what_the_virtual_clock_counts(it: Softspine) -> Problems:
    """built-in hosts: the report of 2 and 3 ranks by the wall clock is that of one process by the virtual one, in no less time than the dilation says"""
    text = BUILT_IN.replace('LENGTH', FAR)
    virtual = it.write('virtual.yaml', text.replace('CLOCK', 'virtual').replace('DILATION', '1'))
    yield from it('run', virtual, '--quiet', '--report', 'report.json').exited(0)
    alone = report_of(it)
    for ranks, dilation in ((2, 3), (3, 2)):
        wall = it.write('wall.yaml', text.replace('CLOCK', 'wall').replace('DILATION', str(dilation)))
        done = mpirun(it, ranks, 'run', wall, '--quiet', '--report', 'report.json')
        if done.returncode != 0:
            yield f'{ranks} ranks: {done.returncode}, {done.stderr}'
            continue
        report = report_of(it)
        engine = report['engine']
        yield from (f'{ranks} ranks: another {key}' for key in alone if key not in ('engine', 'clock') and alone[key] != report[key])
        if not 0.3 * dilation * 0.99 <= engine['wall_seconds'] <= 0.3 * dilation + 20:
            yield f"{ranks} ranks: 0.3 s took {engine['wall_seconds']} s at a dilation of {dilation}"
        if not 0 < engine['meeting_p50_ps'] <= engine['meeting_p99_ps'] or not 0 < engine['clock_uncertainty_ps'] < 1e12:
            yield f'{ranks} ranks: the engine reports {engine}'
        if 'a meeting of ranks takes p50' not in done.stdout or "from rank 0's" not in done.stdout:
            yield f'{ranks} ranks: {done.stdout[:600]}'


def refuses_a_network_that_is_too_slow(it: Softspine) -> Problems:
    """two machines with 1 ms between them: a dilation that is too small is refused with the one that would do, by what was measured, or the cables; three times that dilation runs"""
    with two_machines(it, 0.001) as machines:
        near = BUILT_IN.replace('CLOCK', 'wall').replace('300ms', '300us').replace('LENGTH', '300m')
        done = machines.run('run', it.write('near.yaml', near.replace('DILATION', '10')), '--quiet')
        said = re.search(r'meet every ([0-9.]+) us .*takes ([0-9.]+) ms for a meeting .*A dilation of ([0-9]+) would do, or cables of ([0-9]+) km between ranks', done.stderr)
        if done.returncode != 2 or said is None or done.stderr.count('would do') != 1:
            yield f'too small a dilation: {done.returncode}, {done.stderr}'
            return
        window_us, takes_ms, dilation, kilometres = (float(each) for each in said.groups())
        if takes_ms < 1:
            yield f'a meeting over 1 ms takes {takes_ms} ms'
        for what, is_said, needed in (('a dilation', dilation, 2 * takes_ms * 1000 / window_us), ('cables', kilometres, 2 * takes_ms / 10 * 200)):
            if not 0.9 * needed <= is_said <= 1.1 * needed + 1:
                yield f'{what} of {is_said} would do, where twice a meeting needs {needed}: {done.stderr}'
        done = machines.run('run', it.write('near.yaml', near.replace('DILATION', str(round(3 * dilation)))), '--quiet', '--report', 'report.json')
        if done.returncode != 0:
            yield f'three times a dilation of {dilation}: {done.returncode}, {done.stderr}'
        elif (late := report_of(it)['engine']['lateness_p50_ps'] * 3 * dilation) > 100e9:
            yield f'at three times a dilation of {dilation} it is {late * 1e-9} ms late'


def joins_namespaces(it: Softspine) -> Problems:
    """ping and iperf3 between namespaces at two ranks: no loss, the round trip of the cables and the meetings; names, outcomes and counters are whole, nothing is left"""
    need_namespaces()
    need_programs('ping', 'iperf3')
    before = network()
    file = it.write('spaces.yaml', SPACES
                    .replace('RUN1', 'ping -q -c 10 -i 0.1 h2 && softspine-guest await served 60 && iperf3 -c h2 -t 1 -J >iperf.json')
                    .replace('RUN2', 'iperf3 -s -1 & until softspine-guest listening tcp 5201 5; do :; done; softspine-guest signal served; wait'))
    done = mpirun(it, 2, 'run', file, '--quiet', '--folder', it.folder / 'o', '--report', 'report.json')
    if done.returncode != 0:
        texts = {path: path.read_text()[-500:] for path in (it.folder / 'o').glob('h?/std*')}
        yield f'{done.returncode}, {done.stderr} {done.stdout} {texts}'
        return
    report = report_of(it)
    yield from crosses((it.folder / 'o' / 'h1' / 'stdout').read_text())
    sent = json.loads((it.folder / 'o' / 'h1' / 'iperf.json').read_text())['end']['sum_received']['bits_per_second']
    if not 1e4 < sent <= 1e9 / 5:
        yield f'iperf3 at a fifth of 1 Gb/s: {sent}'
    if sorted(report['commands']) != ['h1', 'h2'] or any(report['edges'][host]['in_packets'] < 10 for host in ('h1', 'h2')):
        yield f"{report['commands']} {report['edges']}"
    if sorted(path.name for path in (it.folder / 'o').iterdir()) != ['board', 'board.1', 'h1', 'h2']:
        yield f"the folder has {list((it.folder / 'o').iterdir())}"
    yield from (f'{thing} is left behind' for thing in network() - before)


def joins_machines(it: Softspine) -> Problems:
    """ping between namespaces on two machines with 1 ms between them; exec on the one of the other machine is refused"""
    need_programs('ping')
    with two_machines(it, 0.001) as machines:
        file = it.write('spaces.yaml', SPACES.replace('RUN1', 'ping -q -c 10 -i 0.1 h2 && softspine-guest await tried 120').replace('RUN2', 'softspine-guest await tried 120'))
        out = it.folder / 'o'
        with it.running(file, '--quiet', '--folder', out, '--report', 'report.json', before=machines.command()) as run:
            until(lambda: it('exec', 'h1', '--', 'true').status == 0, 'exec on h1')
            until(lambda: 'is not up' not in it('exec', 'h2', '--', 'true').err, 'h2 is up')
            refused = it('exec', 'h2', '--', 'true')
            (out / 'tried').touch()
            (out / 'tried').rename(out / 'board' / 'tried')
            done = run.end()
        yield from refused.exited(2)
        yield from refused.complains(f"h2 runs at rank 1, on {machines.spaces[1]}: programs are started on hosts of rank 0's machine alone")
        yield from done.exited(0)
        yield from crosses((out / 'h1' / 'stdout').read_text())
        # By the wall clock: at least half of the ways there and back.
        if not 1e9 <= (apart := report_of(it)['engine']['clock_uncertainty_ps'] * 5) < 100e9:
            yield f"a clock may be {apart * 1e-9} ms from rank 0's"


@contextmanager
def _device_hosts() -> Iterator[tuple[str, str]]:
    """Two network namespaces, in which hosts behind devices are, and a veth pair whose other end is in the first. Names of devices: those of the namespaces."""
    names = (f'one{os.getpid()}', f'two{os.getpid()}')
    try:
        for name in names:
            _ip('netns', 'add', name)
        _ip('link', 'add', names[0], 'type', 'veth', 'peer', 'name', 'far', 'netns', names[0])
        _ip('link', 'set', names[0], 'up')
        yield names
    finally:
        for name in names:
            subprocess.run(['ip', 'netns', 'del', name], check=False)


def _ip(*words: str) -> str:
    return subprocess.run(['ip', *words], capture_output=True, text=True, check=True).stdout


def _make_host(space: str, device: str, node: dict) -> None:
    _ip('-n', space, 'link', 'set', device, 'address', node['ports'][0]['mac'], 'up')
    _ip('-n', space, 'addr', 'add', node['ipv4'] + '/24', 'dev', device)
    _ip('-n', space, 'route', 'add', 'default', 'via', node['ipv4'].rsplit('.', 1)[0] + '.1')


def joins_devices(it: Softspine) -> Problems:
    """an AF_PACKET interface at one rank and a TAP at the other: ping, a carrier that follows its link, an interface that is deleted"""
    need_namespaces()
    need_programs('ping')
    with _device_hosts() as (one, two):
        file = it.write('devices.yaml', DEVICES.replace('HERE1', one).replace('HERE2', two))
        nodes = {node['name']: node for node in it('check', file, '--json', '--nodes').json()['fabric']}
        with it.running(file, '--quiet', before=two_ranks(it)) as run:
            _ip('link', 'set', two, 'netns', two)
            _make_host(one, 'far', nodes['h1'])
            _make_host(two, two, nodes['h2'])
            ping = ['ip', 'netns', 'exec', one, 'ping', '-q', '-i', '0.1', nodes['h2']['ipv4']]
            until(lambda: subprocess.run([*ping, '-c', '1', '-W', '1'], capture_output=True, check=False).returncode == 0, 'a first ping')
            yield from crosses(subprocess.run([*ping, '-c', '5'], capture_output=True, text=True, check=False).stdout)
            yield from it('link', 'h2:eth0', 'down').exited(0)
            until(lambda: 'NO-CARRIER' in _ip('-n', two, 'link', 'show', two), 'the TAP sees that its link is down')
            yield from it('link', 'h2:eth0', 'up').exited(0)
            until(lambda: 'NO-CARRIER' not in _ip('-n', two, 'link', 'show', two), 'the TAP sees that its link is up')
            _ip('-n', two, 'link', 'del', two)
            until(lambda: [(error['who'], error['what']) for error in it.show('report')['errors']] == [('h2', f'{two}: the interface was deleted')], 'an error in the report')
            os.kill(rank_process(it, 0), signal.SIGINT)
            run.end()


def refuses_what_is_not_there(it: Softspine) -> Problems:
    """verbs hosts: status 2, said once; check --ranks says it, too, and how long a meeting may take"""
    file = it.write('no.yaml', STAYS.replace('namespace: {}', 'verbs: {}', 1))
    words = ['verbs hosts are not there with more than one rank yet']
    done = mpirun(it, 2, 'run', file, '--quiet')
    if done.returncode != 2 or any(done.stderr.count(each) != 1 for each in words):
        yield f'{done.returncode}, {done.stderr}'
    yield from it('check', file, '--ranks', 2).says(*words, 'at a dilation of 5, a meeting may take 50')
    plan = it('check', file, '--ranks', 2, '--json').json()['ranks']
    if plan['not_there'] != words or plan['meeting_at_most_ps'] != 5 * plan['window_ps']:
        yield f'{plan}'


def _forget_sockets(it: Softspine, before: set[str]) -> None:
    """Of ranks that were killed; all else has to go by itself."""
    shutil.rmtree(it.sockets, ignore_errors=True)
    until(lambda: not [*it.leftovers()] and not network() - before, 'all processes, interfaces and namespaces have gone')


def two_ranks(it: Softspine) -> tuple[str, ...]:
    """Before the program; folders of hosts that have no other place are then below `temporary`."""
    if 'libmpi' not in subprocess.run(['ldd', it.binary], capture_output=True, text=True, check=False).stdout:
        raise Skip('this softspine was built without MPI')
    (it.folder / 'temporary').mkdir()
    return ('env', 'OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1', f"TMPDIR={it.folder / 'temporary'}", *launcher(it.binary), '-n', '2')


def folders_of(it: Softspine) -> set[str]:
    return {str(path) for path in (it.folder / 'temporary').glob('softspine-run-*')}


def _process(it: Softspine, *has: str) -> int:
    """The number of the first process of this test whose command line and environment have these words."""
    for process in sorted(Path('/proc').glob('[0-9]*'), key=lambda path: int(path.name)):
        try:
            words = [*(process / 'cmdline').read_bytes().split(b'\0'), *(process / 'environ').read_bytes().split(b'\0')]
        except OSError:
            continue  # it has just ended
        if all(word.encode() in words for word in (*has, f'{MARK}={it.mark}')):
            return int(process.name)
    raise AssertionError(f'no process has {has}')


def rank_process(it: Softspine, rank: int) -> int:
    return _process(it, it.binary, f"{'PMI_RANK' if 'mpich' in launcher(it.binary)[0] else 'OMPI_COMM_WORLD_RANK'}={rank}")


def answers_while_hosts_run(it: Softspine) -> Problems:
    """show, exec at either rank, link and inject through rank 0; Ctrl-C at it ends all hosts, and nothing is left"""
    need_namespaces()
    need_programs('ping')
    before = network()
    with it.running(it.write('stays.yaml', STAYS), '--quiet', '--report', 'report.json', before=two_ranks(it)) as run:
        if it.show('fabric')['hosts_outside'] != ['h1', 'h2']:
            yield f"show fabric: {it.show('fabric')}"
        until(lambda: it('exec', 'h2', '--', 'true').status == 0, 'exec on h2')
        if len(folders_of(it)) != 2:
            yield f'hosts have the folders {folders_of(it)}'
        for here, there in (('h1', 'h2'), ('h2', 'h1')):
            yield from it('exec', here, '--', 'ping', '-q', '-c', '2', '-i', '0.2', there).says(' 0% packet loss')
        yield from it('link', 'tor2:Ethernet4', 'down').exited(0)
        yield from it('exec', 'h1', '--', 'ping', '-q', '-c', '1', '-W', '1', 'h2').exited(1)
        yield from it('link', 'h2:eth0', 'down').exited(0)
        until(lambda: 'NO-CARRIER' in it('exec', 'h2', '--', 'ip', 'link', 'show', 'eth0').out, 'h2 sees that its link is down')
        for port in ('h2:eth0', 'tor2:Ethernet4'):
            yield from it('link', port, 'up').exited(0)
        until(lambda: 'NO-CARRIER' not in it('exec', 'h2', '--', 'ip', 'link', 'show', 'eth0').out, 'h2 sees that its link is up')
        yield from it('exec', 'h1', '--', 'ping', '-q', '-c', '2', '-i', '0.2', 'h2').says(' 0% packet loss')
        counters = it.show('report')['edges']
        if any(counters[host]['in_packets'] < 4 for host in ('h1', 'h2')):
            yield f'{counters}'
        os.kill(rank_process(it, 0), signal.SIGINT)
        yield from run.end().exited(0)
    if not report_of(it)['totals']['balanced']:
        yield f"{report_of(it)['totals']}"
    yield from (f'{thing} is left behind' for thing in (network() - before) | folders_of(it))


def is_an_error_of_the_run(it: Softspine) -> Problems:
    """a host of another rank whose command fails, and one that ends unasked: rank 0 reports them; Ctrl-C at mpirun ends the other one"""
    need_namespaces()
    file = it.write('fails.yaml', SPACES.replace('RUN1', 'true').replace('RUN2', 'echo no way >&2; exit 3'))
    done = mpirun(it, 2, 'run', file, '--quiet', '--report', 'report.json')
    command = report_of(it)['commands']['h2']
    if done.returncode != 1 or command['exit_status'] != 3 or 'h2: its command ended with status 3 | no way' not in done.stderr:
        yield f'{done.returncode}, {command}, {done.stderr}'
    before = network()
    with it.running(it.write('stays.yaml', STAYS), '--quiet', '--folder', it.folder / 'o', before=two_ranks(it)) as run:
        until(lambda: it('exec', 'h2', '--', 'true').status == 0, 'exec on h2')
        os.kill(_process(it, 'tail', '/dev/null', 'SOFTSPINE_GUEST=h2'), signal.SIGKILL)
        until(lambda: it.show('report')['errors'], 'an error in the report')
        errors = it.show('report')['errors']
        if len(errors) != 1 or errors[0]['who'] != 'h2' or 'has ended unasked' not in errors[0]['what']:
            yield f'the report has {errors}'
        run.end(signal.SIGINT)
    _forget_sockets(it, before)  # mpirun may have killed the ranks: it waits for a second


def begins_on_all_ranks_or_none(it: Softspine) -> Problems:
    """a host of rank 1 that cannot be started: status 2, said once, and the other rank's host ends"""
    need_namespaces()
    before = network()
    folder = it.folder / 'o' / 'h2'
    (folder / 'settings').mkdir(parents=True)
    (folder / '.softspine').touch()
    subprocess.run(['mount', '-t', 'tmpfs', 'none', folder / 'settings'], check=True)  # a file of the host's cannot be put there
    try:
        done = mpirun(it, 2, 'run', it.write('stays.yaml', STAYS), '--quiet', '--folder', it.folder / 'o')
    finally:
        subprocess.run(['umount', folder / 'settings'], check=True)
    if done.returncode != 2 or done.stderr.count('softspine: h2: ') != 1:
        yield f'{done.returncode}, {done.stderr}'
    yield from (f'{thing} is left behind' for thing in network() - before)


def ends_hosts_with_a_rank(it: Softspine) -> Problems:
    """a rank that is killed: the other one ends, and no host, interface or namespace is left at either"""
    need_namespaces()
    before = network()
    with it.running(it.write('stays.yaml', STAYS), '--quiet', '--folder', it.folder / 'o', before=two_ranks(it)) as run:
        until(lambda: it('exec', 'h2', '--', 'true').status == 0, 'exec on h2')
        os.kill(rank_process(it, 1), signal.SIGKILL)
        if run.end(timeout=60).status == 0:
            yield 'it ends as if nothing had happened'
    _forget_sockets(it, before)


if __name__ == '__main__':
    sys.exit(main([counts_what_the_virtual_clock_counts, refuses_a_network_that_is_too_slow, joins_namespaces, joins_machines, joins_devices, refuses_what_is_not_there, answers_while_hosts_run,
                   is_an_error_of_the_run, begins_on_all_ranks_or_none, ends_hosts_with_a_rank]))
