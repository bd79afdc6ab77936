# SPDX-License-Identifier: Apache-2.0
"""mpirun softspine run: the bytes of one process, refusals, and what becomes of the others when a rank fails."""
from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from running_fabric import pcap, udp_frame
from softspine import TESTBEDS, Problems, Skip, Softspine, main
from web_service import Served

PODS = '''name: pods
run: {clock: virtual, duration: DURATION, seed: 5}
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m, BUFFER_PROFILE: {pg_lossless_100000_40m_profile: {dynamic_th: -7}}}}
detection: {loss_of_signal: 5us}
convergence: 10us
workload:
  - {name: all, pattern: permutation, message: 64KiB, messages: 4, rate: 60Gbps, dscp: 3}
  - {name: incast, pattern: incast, from: [h2, h3, h4, h5, h9, h13], to: h1, message: 512KiB, messages: 1, transport: rc, dscp: 3}
collectives: [{name: ring, op: all_reduce, algorithm: ring, protocol: simple, size: 256KiB, ranks: [h2, h6, h10, h14]}]
faults:
  - {at: 20us, link: "p3-agg1:Ethernet8", set: down}
  - {at: 50us, link: "p3-agg1:Ethernet8", set: up}
  - {at: 60us, link: "p1-tor1:Ethernet8", set: dead, until: 90us}
'''
BONDS = '''name: bonds
run: {clock: virtual, duration: 9s, seed: 1}
fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 2, aggregations_per_plane: 1, host_link: {rate: 200Gbps, length: 3m},
  fabric_link: {rate: 400Gbps, length: 40m}, bond: {mode: lacp, lacp_rate: fast, updelay: 200ms}}
profiles: {default: {base: lossless}}
workload: [{name: job, pattern: pairs, from: [s1-h1-nic1], to: [s2-h1-nic1], message: 64KiB, messages: 1000, mtu: 4096, qps: 2, transport: rc, dscp: 3, rate: 10Mbps}]
faults:
  - {at: 2s, link: "s1-h1-nic1:eth1", set: dead}
  - {at: 3s, link: "s2-h1-nic1:eth0", set: dead}
'''
OUTPUTS = ('report.json', 'events.jsonl', 'counters.jsonl', 'flows.jsonl', 'pfc.txt', 'qlen.txt', 'steps.json', 'all.pcapng', 'run.trace')
FILES = '''name: files
run: {clock: virtual, duration: 100us, seed: 1}
include: [fabric.yaml]
profiles: {default: {base: sonic-tomahawk-100g-40m, config_db: switch.json}}
workload:
  - {name: listed, pattern: list, file: flows.txt}
  - {name: web, pattern: poisson, load: 10%, sizes: sizes.txt, until: 50us, transport: rc}
'''
BESIDE = {'fabric.yaml': 'fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}\n',
          'switch.json': '{"DEVICE_METADATA": {"localhost": {"hostname": "tor"}}}\n',
          'flows.txt': '1\n0 9 3 100 65536 0.00001\n',
          'sizes.txt': '1000 0\n64000 100\n'}


def launcher(binary: str) -> list[str]:
    """That of the MPI that the program is linked with."""
    is_mpich = 'libmpich' in subprocess.run(['ldd', binary], capture_output=True, text=True, check=False).stdout
    for name in ('mpirun.mpich' if is_mpich else 'mpirun.openmpi', 'mpirun'):
        if shutil.which(name) is not None:
            return [name] if is_mpich else [name, '--oversubscribe']
    raise Skip('there is no mpirun')


def mpirun(it: Softspine, ranks: int, *words: object, timeout: float = 100, script: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`script`: what is started in place of the program."""
    env = {**it.env, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
    done = subprocess.run([*launcher(it.binary), '-n', str(ranks), str(script or it.binary), *map(str, words)], capture_output=True, text=True, env=env,
                          cwd=it.folder, stdin=subprocess.DEVNULL, timeout=timeout, check=False)
    if 'built without MPI' in done.stderr:
        raise Skip('this softspine was built without MPI')
    return done


def recorded(path: Path) -> dict[str, object]:
    """Each table's rows as they stand; of the report not what the machine decides."""
    with closing(sqlite3.connect(path)) as database:
        names = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {f'the recording: {name}': database.execute(f'SELECT * FROM {name}' + (" WHERE section <> 'engine'" if name == 'report' else '')).fetchall()
                for name in names if not name.startswith('flow_way')}


def outputs_of(folder: Path) -> dict[str, object]:
    """Each file's bytes; the report without what the machine decides."""
    out: dict[str, object] = {name: (folder / name).read_bytes() for name in OUTPUTS}
    report = json.loads(out['report.json'])
    report.pop('engine')
    out['report.json'] = json.dumps(report)
    out |= recorded(folder / 'all.sqlite')
    out['page.html'] = re.sub(r'[0-9.]+ (s|ms) of wall time', '', (folder / 'page.html').read_text())
    for name in (*OUTPUTS, 'all.sqlite', 'page.html'):
        (folder / name).unlink()
    return out


def asked(file: Path, workers: int = 1) -> list[object]:
    return ['run', file, '--quiet', '--no-server', '--workers', workers, '--report', 'report.json', '--events', 'events.jsonl', '--counters-file', 'counters.jsonl',
            '--flow-series', 'flows.jsonl', '--sample-interval', '50us', '--pfc-file', 'pfc.txt', '--qlen-file', 'qlen.txt', '--steps', 'steps.json',
            '--record', 'all.sqlite', '--html', 'page.html', '--trace', 'run.trace', '--capture', 'all.pcapng', '--capture-limit', '20MB']


def has_the_bytes_of_one_process(it: Softspine) -> Problems:
    """all that 1, 2, 3 ranks with 1 and 2 workers each write"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '150us'))
    yield from it(*asked(file)).exited(0)
    alone = outputs_of(it.folder)
    if not any(rows for name, rows in alone.items() if 'flow_samples' in name) or not alone['pfc.txt']:
        yield 'there is nothing to compare'
    for ranks, workers in itertools.product((2, 3), (1, 2)):
        done = mpirun(it, ranks, *asked(file, workers))
        if done.returncode != 0:
            yield f'{ranks} ranks of {workers} workers: {done.returncode}, {done.stderr}'
            continue
        others = outputs_of(it.folder)
        yield from (f'{ranks} ranks of {workers} workers: another {name}' for name in alone if alone[name] != others.get(name))


def speaks_lacp(it: Softspine) -> Problems:
    """a bond's LACP finds a dead link on whichever rank it is; the report's notes, too, are those of one process"""
    file = it.write('bonds.yaml', BONDS)
    reports = []
    for ranks in (1, 2, 3):
        done = mpirun(it, ranks, 'run', file, '--quiet', '--report', 'report.json')
        reports.append(json.loads((it.folder / 'report.json').read_text()))
        reports[-1].pop('engine')
        if done.returncode != 1 or 'stalled' not in done.stderr:
            yield f'{ranks} ranks: {done.returncode}, {done.stderr}'
    if len(reports[0]['notes']) != 2 or not all('its partner is lost' in note for note in reports[0]['notes']):
        yield f"notes: {reports[0]['notes']}"
    yield from (f'{ranks} ranks: another report' for ranks in (2, 3) if reports[ranks - 1] != reports[0])


def cannot_write_what_others_wait_for(it: Softspine) -> Problems:
    """rank 0 cannot open its recording: status 2, said once, and nobody waits"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '100us'))
    for words in (['--record', '/dev/full'], ['--trace', '/dev/full/no'], ['--html', 'page.html', '--events', '/dev/full/no']):
        done = mpirun(it, 2, 'run', file, '--quiet', *words)
        if done.returncode != 2 or done.stderr.count('/dev/full') != 1:
            yield f'{words}: {done.returncode}, {done.stderr}'


def _other_at_rank_1(it: Softspine, testbed: str, files: dict[str, bytes], other: str, change: tuple[bytes, bytes] | None) -> Problems:
    """Each rank has a folder with the files; at rank 1 one is changed, or is not there."""
    for rank in ('0', '1'):
        shutil.rmtree(it.folder / rank, ignore_errors=True)
        (it.folder / rank).mkdir()
        for name, content in files.items():
            (it.folder / rank / name).write_bytes(content)
    if change is None:
        (it.folder / '1' / other).unlink()
    else:
        changed = files[other].replace(*change)
        (it.folder / '1' / other).write_bytes(changed)
        if changed == files[other]:
            yield f'{other} has no {change[0]!r}'
    script = it.folder / 'other'
    script.write_text(f'#!/bin/sh\ncd {it.folder}/${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}} && exec {it.binary} run {testbed} --quiet\n')
    script.chmod(0o755)
    done = mpirun(it, 2, script=script)
    wanted = 'rank 1 cannot begin' if change is None else f'rank 1 has another file {other} than rank 0'
    if done.returncode != 2 or done.stderr.count(wanted) != 1 or other not in done.stderr:
        yield f'{testbed} with another {other}: {done.returncode}, {done.stderr}'


def sees_another_file(it: Softspine) -> Problems:
    """a rank with another file of those that the testbed reads, or without it: the rank and the file are named, status 2"""
    own = {'files.yaml': FILES.encode()} | {name: text.encode() for name, text in BESIDE.items()}
    for other, change in (('files.yaml', (b'100us', b'200us')), ('fabric.yaml', (b'40m', b'41m')), ('switch.json', (b'tor', b'top')),
                          ('flows.txt', (b'65536', b'65537')), ('sizes.txt', (b'100\n', b'100 ')), ('sizes.txt', None)):
        yield from _other_at_rank_1(it, 'files.yaml', own, other, change)
    for testbed, beside, other, change in (('goal-trace', '*.goal', 'goal-trace.goal', (b'calc 20000', b'calc 20001')),
                                           ('chakra-trace', '*.et', 'chakra-trace.2.et', (b'report', b'Report')),
                                           ('msccl-plan', '*.xml', 'msccl-plan.xml', (b'all_pairs_4', b'all_pairs_5')),
                                           ('pxn-alltoall', '*.xml', 'gpu-server.xml', (b'A server', b'a server'))):
        files = {path.name: path.read_bytes() for path in (TESTBEDS / f'{testbed}.yaml', *TESTBEDS.glob(beside))}
        yield from _other_at_rank_1(it, f'{testbed}.yaml', files, other, change)
    files = {'replay.yaml': (TESTBEDS / 'replay.yaml').read_bytes().replace(b'replay/in.pcap', b'in.pcap'), 'in.pcap': (TESTBEDS / 'replay' / 'in.pcap').read_bytes()}
    yield from _other_at_rank_1(it, 'replay.yaml', files, 'in.pcap', (files['in.pcap'][-4:], b'\x7f\x7f\x7f\x7f'))


def replays_at_any_rank(it: Softspine) -> Problems:
    """captures that stand for hosts of several ranks: what enters together does so, and what is written has the bytes of one process"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '100us'))
    yield from it('run', file, '--quiet', '--capture', 'h2.pcapng', '--capture-port', 'h2:*', '--full').exited(0)
    yield from it('run', file, '--quiet', '--capture', 'h14.pcapng', '--capture-port', 'h14:*', '--full').exited(0)
    nodes = ''.join(f'    {host}: {{edge: {{pcap: {{{enters}out: out-{host}.pcap}}}}}}\n' for host, enters in
                    (('h2', 'in: h2.pcapng, zero: together, '), ('h14', 'in: h14.pcapng, zero: together, offset: 3us, '), ('h1', ''), ('h16', 'in: h2.pcapng, ')))
    replayed = it.write('replayed.yaml', PODS.split('workload:')[0].replace('DURATION', '200us') + f'topology:\n  nodes:\n{nodes}')
    found = []
    for ranks in (1, 2, 3):
        done = mpirun(it, ranks, 'run', replayed, '--quiet', '--report', 'report.json', '--counters-file', 'counters.jsonl')
        if done.returncode != 0:
            yield f'{ranks} ranks: {done.returncode}, {done.stderr}'
            return
        report = json.loads((it.folder / 'report.json').read_text())
        report.pop('engine')
        found.append([report, *((it.folder / name).read_bytes() for name in ('counters.jsonl', *(f'out-{host}.pcap' for host in ('h2', 'h14', 'h1', 'h16'))))])
    if found[0][0]['edges']['h1']['out_packets'] == 0 or found[0][0]['edges']['h14']['in_packets'] == 0:
        yield f"nothing to compare: {found[0][0]['edges']}"
    yield from (f'{ranks} ranks: another result' for ranks in (2, 3) if found[ranks - 1] != found[0])


def refuses_wrong_input(it: Softspine) -> Problems:
    """a file that cannot be written, a wrong testbed: status 2, said once"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '100us'))
    done = mpirun(it, 2, 'run', file, '--quiet', '--report', 'no/where.json')
    if done.returncode != 2 or done.stderr.count('no/where.json') != 1:
        yield f'{done.returncode}, {done.stderr}'
    wrong = it.write('wrong.yaml', 'name: wrong\nfabrik: {}\n')
    done = mpirun(it, 2, 'run', wrong, '--quiet')
    if done.returncode != 2 or done.stderr.count("unknown key 'fabrik'") != 1:
        yield f'a wrong file: {done.returncode}, {done.stderr}'


def _below(parent: int) -> list[int]:
    """The processes that it has started, and those that these have."""
    found = subprocess.run(['pgrep', '-P', str(parent)], capture_output=True, text=True, check=False).stdout.split()
    return [pid for each in map(int, found) for pid in (each, *_below(each))]


def _program_of(pid: int) -> str:
    try:
        return Path(os.readlink(f'/proc/{pid}/exe')).name
    except FileNotFoundError:  # it has ended
        return ''


def _ranks_of(mpi: subprocess.Popen[str], name: str) -> list[int]:
    """The processes below mpirun (MPICH's has one in between), when both have begun to run."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = [pid for pid in _below(mpi.pid) if _program_of(pid) == name]
        if len(found) == 2:
            return found
        time.sleep(0.05)
    return []


def ends_with_a_rank(it: Softspine) -> Problems:
    """a rank that is stopped or killed ends the others within 10 s, and is named (by MPICH's mpirun as a process)"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '10s').replace('messages: 4', 'messages: 1000000'))
    env = {**it.env, 'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}
    for how, words in ((signal.SIGSTOP, 'rank 1 has given no sign of life'), (signal.SIGKILL, 'BAD TERMINATION' if 'mpich' in launcher(it.binary)[0] else 'rank 1')):
        with subprocess.Popen([*launcher(it.binary), '-n', '2', it.binary, 'run', str(file), '--quiet', '--events', 'events.jsonl'], env=env, cwd=it.folder,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as mpi:
            ranks = _ranks_of(mpi, Path(it.binary).name)
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
                errors = ''.join(reversed(mpi.communicate(timeout=20)))
            except subprocess.TimeoutExpired:
                for each in ranks:
                    os.kill(each, signal.SIGKILL)
                mpi.kill()
                yield f'{how.name}: still there after 20 s'
                continue
            took = time.monotonic() - began
            if took > 10 or mpi.returncode == 0 or words not in errors or (how == signal.SIGSTOP and mpi.returncode != 2):
                yield f'{how.name}: {took:.1f} s, {mpi.returncode}, {errors}'
            if how == signal.SIGKILL:  # mpirun kills rank 0 in its turn, maybe before that one has seen it
                shutil.rmtree(it.sockets, ignore_errors=True)
            (it.folder / 'events.jsonl').unlink(missing_ok=True)


def answers_while_it_runs(it: Softspine) -> Problems:
    """not quiet: progress names the slowest rank; show, link, inject, capture and HTTP reach all ranks; Ctrl-C ends it with its report"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '10s').replace('messages: 4', 'messages: 1000000'))
    before = ('env', 'OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1', *launcher(it.binary), '-n', '3')
    if 'built without MPI' in mpirun(it, 2, 'run', file, '--set', 'run.duration=1us').stderr:
        raise Skip('this softspine was built without MPI')
    with it.running(file, '--http', '127.0.0.1:0', '--report', 'report.json', before=before) as run:
        yield from it('link', 'p4-agg1:Ethernet0', 'down').exited(0)
        links = it.show('links')
        if links['p4-agg1:Ethernet0']['up'] or links['p4-tor1:Ethernet8']['up'] or not links['p4-tor2:Ethernet8']['up']:
            yield f'{links}'
        for tor in ('p1-tor1', 'p4-tor2'):  # of the first rank, and of the last
            yield from it('show', 'ip', 'route', '--node', tor).says('connected', ' via Ethernet8')
            yield from it('show', 'thresholds', '--node', tor).says('group 3')
        pressure = {row[0] for row in it.show('pressure')['ports']}
        ports = [f'{node}:{port}' for node, _, of_node in it.show('map')['nodes'] for port, *_ in of_node]
        if not {ports.index('p1-tor1:Ethernet0'), ports.index('p4-tor2:Ethernet4')} <= pressure:
            yield f'pressure of {len(pressure)} of {len(ports)} ports'
        yield from it('inject', 'h16:eth0', 'dead', '--for', '20us').exited(0)
        nodes = {node['name']: node for node in it('check', file, '--json', '--nodes').json()['fabric']}
        frame = udp_frame(nodes['p4-tor2']['ports'][0]['mac'], nodes['h15']['ipv4'], nodes['h1']['ipv4'], b'x' * 100)
        yield from it('capture', 'start', 'udp.pcapng', '--filter', 'udp dst port 6000').exited(0)
        yield from it('inject', 'p4-tor2:Ethernet0', pcap(it.folder / 'f.pcap', [frame] * 50)).says('50 frames arrived')
        until = time.monotonic() + 30
        while it('capture', 'list', '--json').json()['udp']['frames'] < 250 and time.monotonic() < until:
            time.sleep(0.1)
        if (frames := it('capture', 'stop', '--json').json()['frames']) != 250:  # ToR, aggregation, core, aggregation, ToR
            yield f'50 frames over five switches are captured {frames} times'
        run.await_words('slowest: rank ')
        if (found := Served(it, run).json('/api/show/fabric')['hosts']) != 16:
            yield f'HTTP has {found} hosts'
        done = run.end(signal.SIGINT)
        report = json.loads((it.folder / 'report.json').read_text())
        yield from done.says('interrupted')
        if report['totals']['imbalances'] or not any('h16:eth0' in fault['what'] for fault in report['faults']):
            yield f"{report['totals']['imbalances']}, {report['faults']}"


def ends_a_capture_with_its_reader(it: Softspine) -> Problems:
    """a capture into a pipe, as Wireshark asks for it, ends on all ranks when its reader leaves, and the run goes on"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '10s').replace('messages: 4', 'messages: 1000000'))
    before = ('env', 'OMPI_ALLOW_RUN_AS_ROOT=1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1', *launcher(it.binary), '-n', '3')
    if 'built without MPI' in mpirun(it, 2, 'run', file, '--set', 'run.duration=1us').stderr:
        raise Skip('this softspine was built without MPI')
    pipe = it.folder / 'pipe'
    os.mkfifo(pipe)
    with it.running(file, '--quiet', before=before) as run:
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        with closing(socket.socket(socket.AF_UNIX)) as control:
            control.connect(str(it.sockets / 'pods.sock'))
            request = {'id': 1, 'command': 'capture start', 'arguments': {'path': str(pipe), 'name': 'w', 'for_reader': True, 'ports': ['p1-tor1:*', 'p4-tor2:*']}}
            control.sendall(json.dumps(request).encode() + b'\n')
            if b'started' not in (answer := control.recv(1000)):
                yield f'{answer!r}'
        os.set_blocking(reader, True)
        got = b''
        while len(got) < 200_000 and (part := os.read(reader, 65536)):
            got += part
        os.close(reader)
        if got[:4] != b'\x0a\x0d\x0d\x0a' or len(got) < 200_000:
            yield f'{len(got)} bytes, the first are {got[:8]!r}'
        until = time.monotonic() + 30
        while it('capture', 'list', '--json').json() and time.monotonic() < until:
            time.sleep(0.1)
        if left := it('capture', 'list', '--json').json():
            yield f'without its reader it goes on: {left}'
        before_ps = it.show('fabric')['now_ps']
        yield from it('capture', 'start', 'again.pcapng', '--port', 'p4-tor2:*').exited(0)
        while it('capture', 'list', '--json').json()['again']['frames'] == 0 and time.monotonic() < until:
            time.sleep(0.1)
        if it('capture', 'stop', '--json').json()['frames'] == 0 or it.show('fabric')['now_ps'] <= before_ps:
            yield 'the run does not go on'
        done = run.end(signal.SIGINT)
        if 'capture' in done.err:
            yield f'the run complains: {done.err}'


def shows_how_it_would_be_spread(it: Softspine) -> Problems:
    """check --ranks: links that are cut, windows, the parts"""
    file = it.write('pods.yaml', PODS.replace('DURATION', '100us'))
    yield from it('check', file, '--ranks', 4).says('over 4 ranks: ', 'links are cut, a meeting every ', 'rank 3 ')
    plan = it('check', file, '--ranks', 2, '--json').json()['ranks']
    if plan['cut_links'] == 0 or plan['window_ps'] > plan['shortest_cut_ps'] or len(plan['parts']) != 2 or sum(part['hosts'] for part in plan['parts']) != 16:
        yield f'the plan is {plan}'


if __name__ == '__main__':
    sys.exit(main([has_the_bytes_of_one_process, speaks_lacp, cannot_write_what_others_wait_for, sees_another_file, replays_at_any_rank, refuses_wrong_input, ends_with_a_rank, answers_while_it_runs, ends_a_capture_with_its_reader, shows_how_it_would_be_spread]))
