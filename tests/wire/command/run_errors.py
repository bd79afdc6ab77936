# SPDX-License-Identifier: Apache-2.0
"""What goes wrong while a fabric runs: it is said at once, shown, reported, counted, and the run goes on and exits with 1."""
from __future__ import annotations

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable

from outside_testbeds import need_programs
from running_fabric import fabric_of
from softspine import Problems, Run, Skip, Softspine, main, need_xdp

# Two hosts behind one switch: a TAP of our own, and whatever stands at the other port.
EDGES = '''name: edges
run: {{clock: wall, duration: 10min}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    a: {{kind: host, address: 10.0.1.11, edge: {{tap: {{name: gone0}}}}}}
    b: {{kind: host, address: 10.0.1.12, edge: {other}}}
  links:
    - {{endpoints: [tor1, a], rate: 1Gbps}}
    - {{endpoints: [tor1, b], rate: 1Gbps}}
'''


def until(holds: Callable[[], bool], what: str, seconds: float = 20) -> Problems:
    """Waits for it."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            yield f'{what}: not within {seconds} s'
            return
        time.sleep(0.1)


def limit_files(run: Run, size: int) -> None:
    """As if the disk were full from now on: no file of the run grows beyond so many bytes."""
    resource.prlimit(run.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def errors_in_report(it: Softspine, path: str = 'r.json') -> list[tuple[str, str]]:
    return [(error['who'], error['what']) for error in json.loads((it.folder / path).read_text())['errors']]


def ends_cleanly_by_every_signal(it: Softspine) -> Problems:
    """Ctrl-C, SIGTERM and SIGHUP end a run with its counters and its report"""
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with it.running(fabric_of(it), '--report', 'r.json') as run:
            done = run.end(how)
        yield from done.exited(0)
        yield from done.says('running: ', 'Dropped: 0 packets')
        if json.loads((it.folder / 'r.json').read_text())['testbed'] != 'running':
            yield f'{how}: no report'
        (it.folder / 'r.json').unlink()
    with it.running(fabric_of(it), '--duration', '8s', before=('nohup',)) as run:
        run.process.send_signal(signal.SIGHUP)
        ended = run.end(timeout=60)
    yield from ended.exited(0)
    if ended.seconds < 8:
        yield f'under nohup, SIGHUP ended the run after {ended.seconds:.1f} s'


def bears_a_reader_that_leaves(it: Softspine) -> Problems:
    """a live capture whose reader leaves has failed: the fabric runs on, says so, and exits with 1"""
    pipe = it.folder / 'live.pcapng'
    os.mkfifo(pipe)
    reader = subprocess.Popen(['head', '-c', '100000', pipe], stdout=subprocess.DEVNULL)
    with it.running(fabric_of(it), '--capture', pipe, '--report', 'r.json') as run:
        reader.wait(60)
        yield from until(lambda: it.show('fabric')['errors'] != [], 'show fabric has the error')
        captures = it('capture', 'list', '--json').json()
        if (captures['run']['state'], captures['run']['failure']) != ('failed', 'its reader has gone'):
            yield f'capture list: {captures}'
        yield from it('capture', 'list').says('failed', 'run failed: its reader has gone')
        yield from it('show', 'fabric').says('errors: 1', 'capture run: ', 'its reader has gone')
        yield from it('show', 'prometheus').says('softspine_errors_total 1')
        before = it.show('flows')['w']['received_packets']
        time.sleep(0.5)
        if it.show('flows')['w']['received_packets'] <= before:
            yield 'no packet moves any more'
        done = run.end(signal.SIGINT)
    yield from done.exited(1)
    yield from done.complains('softspine: capture run: ', 'its reader has gone')
    yield from done.says('Errors\n', 'its reader has gone')
    if errors_in_report(it) != [('capture run', f'{pipe}: its reader has gone')]:
        yield f'the report has {errors_in_report(it)}'


def opens_no_file_on_a_worker(it: Softspine) -> Problems:
    """a capture to a pipe without a reader is refused at once; one whose reader sleeps ends in seconds, and nothing waits"""
    pipe = it.folder / 'pipe.pcapng'
    os.mkfifo(pipe)
    with it.running(fabric_of(it)) as run:
        begin = time.monotonic()
        refused = it('capture', 'start', pipe)
        yield from refused.exited(2)
        yield from refused.complains('nobody reads from this pipe')
        if time.monotonic() - begin > 4:
            yield f'refused after {time.monotonic() - begin:.1f} s'
        sleeper = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        yield from it('capture', 'start', pipe).exited(0)
        yield from until(lambda: it('capture', 'list', '--json').json()['pipe']['bytes'] > 100_000, 'the pipe is full')
        before = it.show('flows')['w']['received_packets']
        time.sleep(0.5)
        if it.show('flows')['w']['received_packets'] <= before:
            yield 'no packet moves while the pipe is full'
        begin = time.monotonic()
        stopped = it('capture', 'stop', 'pipe')
        yield from stopped.exited(2)
        yield from stopped.complains('its reader takes nothing')
        if time.monotonic() - begin > 10:
            yield f'stopped after {time.monotonic() - begin:.1f} s'
        os.close(sleeper)
        done = run.end(signal.SIGINT)
    yield from done.exited(1)


def says_that_a_disk_is_full(it: Softspine) -> Problems:
    """a capture on a full disk has failed, with the reason; the run exits with 1"""
    with it.running(fabric_of(it), '--report', 'r.json') as run:
        limit_files(run, 200_000)
        yield from it('capture', 'start', 'full.pcapng').exited(0)
        yield from until(lambda: it('capture', 'list', '--json').json()['full']['state'] == 'failed', 'the capture has failed')
        yield from it('capture', 'list').says('full failed: File too large')
        limit_files(run, resource.RLIM_INFINITY)
        done = run.end(signal.SIGINT)
    yield from done.exited(1)
    yield from done.complains('File too large')
    if errors_in_report(it) != [('capture full', f'{it.folder}/full.pcapng: File too large')]:
        yield f'the report has {errors_in_report(it)}'


def keeps_an_old_report(it: Softspine) -> Problems:
    """a report that a full disk has no room for leaves the old one as it was, and nothing beside it"""
    (it.folder / 'r.json').write_text('the old one\n')
    (it.folder / 'link.json').symlink_to('r.json')
    with it.running(fabric_of(it), '--report', 'r.json') as run:
        limit_files(run, 1_000)
        done = run.end(signal.SIGINT)
    yield from done.exited(1)
    yield from done.complains('r.json: cannot be written: File too large')
    if (it.folder / 'r.json').read_text() != 'the old one\n':
        yield f'the old report is {(it.folder / "r.json").read_text()[:80]!r}'
    yield from (f'{left} is left behind' for left in it.folder.glob('*.part'))
    os.chmod(it.folder / 'r.json', 0o600)
    yield from it('run', fabric_of(it), '--duration', '100ms', '--report', 'link.json').exited(0)
    if errors_in_report(it) or not (it.folder / 'link.json').is_symlink():
        yield 'a link to the report was not followed'
    if (it.folder / 'r.json').stat().st_mode & 0o777 != 0o600:
        yield f'the report\'s mode has become {(it.folder / "r.json").stat().st_mode:o}'
    piped = it('run', fabric_of(it), '--duration', '100ms', '--report', '/dev/stdout')
    yield from piped.exited(0)
    yield from piped.says('"testbed": "running"')


def says_that_stdout_is_full(it: Softspine) -> Problems:
    """tables, JSON and help that stdout does not take: status 1 and an error"""
    file = it.write('short.yaml', fabric_of(it).read_text().replace('600s', '100ms'))
    for arguments in (['run', file], ['run', file, '--json'], ['check', file], ['check', file, '--json'], ['--help'],
                      ['polarization', file], ['check', '--schema']):
        with open('/dev/full', 'wb') as full:
            done = subprocess.run([it.binary, *arguments], stdout=full, stderr=subprocess.PIPE, env=it.env, cwd=it.folder, check=False)
        if done.returncode != 1 or b'cannot write to stdout' not in done.stderr:
            yield f'{arguments}: {done.returncode}, {done.stderr!r}'
    closed = subprocess.run(['sh', '-c', f'exec "{it.binary}" check "{file}" >&-'], stderr=subprocess.PIPE, env=it.env, cwd=it.folder, check=False)
    if closed.returncode != 1 or b'cannot write to stdout' not in closed.stderr:
        yield f'with stdout closed: {closed.returncode}, {closed.stderr!r}'
    # A reader that has enough is no error of a command that only prints.
    cut = subprocess.run(['sh', '-c', f'"{it.binary}" check --schema | head -1'], capture_output=True, env=it.env, cwd=it.folder, check=False)
    if cut.stderr:
        yield f'| head -1: {cut.stderr!r}'


def works_without_stderr(it: Softspine) -> Problems:
    """a stderr that is closed or full costs what it would have said, never the status, stdout or the report"""
    wrong = it.write('wrong.yaml', fabric_of(it).read_text().replace('kind: leaf-spine', 'kind: leaf-spin'))
    file = it.write('short.yaml', fabric_of(it).read_text().replace('600s', '10ms'))
    unmet = it.write('unmet.yaml', file.read_text() + 'expect: [{value: flows.w.flows, equal: 0}]\n')
    many = len(os.sched_getaffinity(0)) + 1  # more workers than cores: there is a warning to print
    for where in ('2>&-', '2>/dev/full'):
        for status, arguments in ((2, f'check {wrong}'), (2, 'chekc'), (1, f'run {unmet} --no-server --workers {many} --report r.json')):
            done = subprocess.run(['sh', '-c', f'exec "{it.binary}" {arguments} {where}'], capture_output=True, env=it.env, cwd=it.folder, check=False)
            if done.returncode != status:
                yield f'{arguments} {where}: {done.returncode}, not {status}'
        if not (it.folder / 'r.json').exists():
            yield f'{where}: no report'
        elif json.loads((it.folder / 'r.json').read_text())['testbed'] != 'running' or b'FAILED flows.w.flows' not in done.stdout:
            yield f'{where}: the report or what is printed is not whole'
        (it.folder / 'r.json').unlink(missing_ok=True)


def keeps_an_old_file_where_none_can_be_made(it: Softspine) -> Problems:
    """on a disk without a free inode, or without rsvg-convert, an old report or picture stays as it was"""
    need_programs('unshare', 'mount')
    if os.geteuid() != 0:
        raise Skip('a file system of our own needs root')
    file = it.write('short.yaml', fabric_of(it).read_text().replace('600s', '10ms'))
    # The folder itself, the old report, and a file that takes nearly all blocks.
    steps = ('mkdir small && mount -t tmpfs -o nr_inodes=3,size=64k tmpfs small && echo old > small/r.json && head -c 57344 /dev/zero > small/filler && '
             f'"{it.binary}" run {file} --no-server --report small/r.json > /dev/null; echo "exited with $?"; cat small/r.json; ls small')
    done = subprocess.run(['unshare', '--mount', 'sh', '-c', steps], capture_output=True, text=True, env=it.env, cwd=it.folder, check=False)
    if done.stdout != 'exited with 1\nold\nfiller\nr.json\n' or 'small/r.json: cannot be written: No space left on device' not in done.stderr:
        yield f'{done.stdout!r}, {done.stderr!r}'
    picture = it.write('old.png', 'old\n')
    it.env['PATH'] = str(it.folder)
    converted = it('run', file, '--no-server', '--timeline', picture)
    yield from converted.exited(1)
    yield from converted.complains('rsvg-convert is not installed')
    if not picture.exists() or picture.read_text() != 'old\n':
        yield 'the old picture is gone'


def sees_interfaces_vanish(it: Softspine) -> Problems:
    """a TAP or af_packet interface that is deleted: its link goes down, the error is said, the fabric runs on"""
    need_programs('ip', 'unshare', 'nsenter')
    if os.geteuid() != 0:
        raise Skip('interfaces need root')
    yield from interfaces_vanish(it, '{af_packet: {interface: veth0}}')


def sees_interfaces_of_devices_vanish(it: Softspine) -> Problems:
    """so is one that a DPDK device stands on"""
    need_programs('ip', 'unshare', 'nsenter')
    if os.geteuid() != 0:
        raise Skip('interfaces need root')
    need_xdp()
    for device in ('net_af_packet7', 'net_af_xdp0'):
        yield from interfaces_vanish(it, f'{{dpdk: "{device},iface=veth0"}}')


def interfaces_vanish(it: Softspine, other: str) -> Problems:
    file = it.write('edges.yaml', EDGES.format(other=other))
    space = ('unshare', '--net', 'sh', '-c', 'ip link add veth0 type veth peer name veth1 && ip link set veth0 up && ip link set veth1 up && exec "$@"', 'sh')
    with it.running(file, '--report', 'r.json', '--events', 'e.jsonl', before=space) as run:
        down = lambda port: not it.show('links')[port]['up']  # noqa: E731
        if down('tor1:Ethernet0') or down('tor1:Ethernet4'):
            yield 'a link is down at the start'
        inside = ['nsenter', '-t', str(run.process.pid), '-n', 'ip', 'link']
        with subprocess.Popen(['unshare', '--net', 'sleep', '60']) as elsewhere:
            network_of = lambda process: os.readlink(f'/proc/{process}/ns/net')  # noqa: E731
            yield from until(lambda: network_of(elsewhere.pid) != network_of('self'), 'another namespace is there')
            subprocess.run([*inside, 'set', 'gone0', 'netns', str(elsewhere.pid)], check=True)
            time.sleep(0.5)
            if down('tor1:Ethernet0'):
                yield 'a TAP that was moved into another namespace counts as deleted'
            subprocess.run(['nsenter', '-t', str(elsewhere.pid), '-n', 'ip', 'link', 'del', 'gone0'], check=True)
            elsewhere.kill()
        yield from until(lambda: down('tor1:Ethernet0'), 'tor1:Ethernet0 goes down')
        subprocess.run([*inside, 'del', 'veth0'], check=True)
        yield from until(lambda: down('tor1:Ethernet4'), 'tor1:Ethernet4 goes down')
        if len(it.show('fabric')['errors']) != 2:
            yield f'show fabric: {it.show("fabric")["errors"]}'
        it('link', 'tor1:Ethernet0', 'up')  # nobody is there: it does not stay up
        yield from until(lambda: down('tor1:Ethernet0'), 'the link goes down again')
        done = run.end(signal.SIGINT)
    yield from done.exited(1)
    yield from done.complains('softspine: a: gone0: the interface was deleted', 'softspine: b: veth0: the interface was deleted')
    events = [json.loads(line) for line in (it.folder / 'e.jsonl').read_text().splitlines()]
    if (gone := [each['what'] for each in events if each.get('event') == 'outside_gone']) != [
            'a:eth0: gone0: the interface was deleted', 'b:eth0: veth0: the interface was deleted']:
        yield f'the events have {gone}'
    if errors_in_report(it) != [('a', 'gone0: the interface was deleted'), ('b', 'veth0: the interface was deleted')]:
        yield f'the report has {errors_in_report(it)}'


def counts_what_the_outside_counts(it: Softspine) -> Problems:
    """a vhost-user peer that breaks the framing is counted, and shown as a notice: no error"""
    file = it.write('edges.yaml', EDGES.replace('tap: {{name: gone0}}', f'vhost_user: {{{{socket: {it.folder}/a.sock}}}}')
                    .format(other=f'{{vhost_user: {{socket: {it.folder}/b.sock}}}}'))
    with it.running(file, '--report', 'r.json') as run:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(it.folder / 'a.sock'))
            peer.sendall(b'\xff' * 4096)
            offends = lambda: it.show('nics')['a']['statistics'].get('vhost_offenders', 0) == 1  # noqa: E731
            yield from until(offends, 'the offender is counted')
        yield from it('show', 'fabric').says('notice: a:eth0: 1 vhost_offenders', 'errors: 0')
        yield from it('show', 'prometheus').says('statistic="vhost_offenders"} 1')
        done = run.end(signal.SIGINT)
    yield from done.exited(0)
    yield from done.says('Notice: a:eth0: 1 vhost_offenders')


def takes_as_many_workers_as_it_says(it: Softspine) -> Problems:
    """128 workers run; 129 are refused, on the command line and in the file"""
    file = it.write('short.yaml', fabric_of(it).read_text().replace('clock: wall, duration: 600s', 'duration: 20us'))
    yield from it('run', file, '--workers', 128, '--no-server').exited(0)
    refused = it('run', file, '--workers', 129)
    yield from refused.exited(2)
    yield from refused.complains('--workers', '128')
    many = it('check', it.write('many.yaml', file.read_text().replace('duration: 20us', 'duration: 20us, workers: 129')))
    yield from many.exited(2)
    yield from many.complains('run.workers', '128')


if __name__ == '__main__':
    sys.exit(main([ends_cleanly_by_every_signal, bears_a_reader_that_leaves, opens_no_file_on_a_worker, says_that_a_disk_is_full,
                   keeps_an_old_report, says_that_stdout_is_full, works_without_stderr,
                   keeps_an_old_file_where_none_can_be_made, sees_interfaces_vanish, sees_interfaces_of_devices_vanish, counts_what_the_outside_counts,
                   takes_as_many_workers_as_it_says]))
