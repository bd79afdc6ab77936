#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of verbs hosts by the libraries above verbs, as Debian has them: librdmacm, UCX, OpenMPI.

Connections of rdma_cm are made by datagrams of queue pair 1, which tshark decodes.
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from one_run import tshark
from softspine import ROOT, Problems, Skip, Softspine, main
from verbs_hosts import LAB, beside, on

# What the server and the client run, and what both say when all went well.
PAIRS = [(['rping', '-s', '-C', '100', '-V', '-p', '7401'], ['rping', '-c', '-a', 'h1', '-C', '100', '-V', '-p', '7401'], ''),
         (['ucmatose', '-c', '20', '-p', '7402'], ['ucmatose', '-s', 'h1', '-c', '20', '-p', '7402'], 'return status 0'),
         (['udaddy', '-c', '20'], ['udaddy', '-s', 'h1', '-c', '20'], 'return status 0'),
         (['rdma_server', '-p', '7404'], ['rdma_client', '-s', 'h1', '-p', '7404'], 'end 0'),
         (['ib_write_bw', '-R', '-n', '200', '-p', '7405'], ['ib_write_bw', '-R', '-n', '200', '-p', '7405', 'h1'], 'BW average')]
# ConnectRequest, ConnectReject, ConnectReply, ReadyToUse, DisconnectRequest, DisconnectReply, SIDR's two.
ATTRIBUTES = {'0x0010', '0x0012', '0x0013', '0x0014', '0x0015', '0x0016', '0x0017', '0x0018'}
UCX = {'UCX_NET_DEVICES': 'softspine0:1', 'UCX_TLS': 'rc_verbs,ud_verbs,self'}
COLLECTIVES = 9
HOSTS = [f'h{number}' for number in range(1, 9)]
EIGHT = '''name: verbs-eight
run: {clock: wall}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, mtu: 4200}, fabric_link: {rate: 100Gbps, mtu: 4200}}
topology: {nodes: {''' + ', '.join(f'{host}: {{verbs: {{}}}}' for host in HOSTS) + '}}\n'
MPI_SIZES = ['8', '4096', '100000']


def need(programs: list[str], suite: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise Skip(f'{missing[0]} is not installed: tools/install {suite}')


def beside_a_listener(it: Softspine, server: list[str], client: list[str]) -> tuple[str, str]:
    """What both said: the server on h1, the client on h2. Who asks before the server listens is rejected, and a server that is asked twenty
    times while it begins has lost some: so it first waits for events (recvfrom) or, with a thread for them, for that thread (futex)."""
    serves = on(it, 'h1', *server)
    until = time.monotonic() + 30
    while serves.poll() is None and time.monotonic() < until:
        if Path(f'/proc/{serves.pid}/comm').read_text().strip() == server[0][:15] \
                and Path(f'/proc/{serves.pid}/syscall').read_text().split()[0] in ('45', '202'):
            break
    asks = on(it, 'h2', *client)
    said = asks.communicate(timeout=60)[0]
    if asks.returncode != 0:
        serves.kill()
    answered = serves.communicate(timeout=60)[0]
    told = [(serves.returncode, answered), (asks.returncode, said)]
    return tuple(words if status == 0 else f'status {status}: {words}' for status, words in told)


def they_connect(it: Softspine) -> Problems:
    """rping, ucmatose, udaddy, rdma_client and perftest's -R run unmodified, and say that all was well"""
    need([server[0] for server, _, _ in PAIRS], 'tests')
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o', '--capture', 'c.pcapng', '--capture-port', 'h?:*',
                    '--full', '--capture-limit', '30MB'):
        for server, client, word in PAIRS:
            for whose, said in zip(('server', 'client'), beside_a_listener(it, server, client)):
                if word not in said or said.startswith('status '):
                    yield f'{client[0]}, the {whose}: {said}'
        refused = on(it, 'h2', 'rping', '-c', '-a', 'h1', '-C', '1', '-p', '7499').communicate(timeout=60)[0]
        if 'RDMA_CM_EVENT_REJECTED' not in refused:
            yield f'nobody listens, and rping says {refused}'
    seen = tshark('-r', it.folder / 'c.pcapng', '-Y', 'infiniband.mad.mgmtclass == 0x07', '-T', 'fields', '-e',
                  'infiniband.mad.attributeid').split()
    if set(seen) != ATTRIBUTES:
        yield f'the messages were {sorted(set(seen))}'
    bad = tshark('-r', it.folder / 'c.pcapng', '-Y', 'infiniband.mad && (_ws.malformed || _ws.expert.severity >= error)')
    yield from (f'tshark complains: {line}' for line in bad.splitlines()[:5])


def newer_verbs(it: Softspine) -> Problems:
    """ibv_wr_... posts and extended completion queues poll, between two hosts' devices, and each byte is right"""
    need(['cc'], 'tests')
    program = it.folder / 'extended_verbs'
    subprocess.run(['cc', '-O2', '-o', program, ROOT / 'tests/wire/command/extended_verbs.c', '-libverbs'], check=True)
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        said = on(it, 'h1', str(program)).communicate(timeout=60)[0]
        if said != 'all right\n':
            yield said


def ucx(it: Softspine) -> Problems:
    """ucx_perftest sends, puts, gets and adds over rc_verbs, and sends over ud_verbs alone"""
    need(['ucx_perftest'], 'tests')
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        for number, (transports, test, size) in enumerate([
                ('rc_verbs,ud_verbs', 'tag_bw', '65536'), ('rc_verbs,ud_verbs', 'ucp_put_bw', '65536'),
                ('rc_verbs,ud_verbs', 'ucp_get', '65536'), ('rc_verbs,ud_verbs', 'ucp_fadd', '8'), ('ud_verbs', 'tag_bw', '9000')]):
            settings = [f'{name}={value}' for name, value in {**UCX, 'UCX_TLS': transports}.items()]
            command = ['env', *settings, 'ucx_perftest', '-t', test, '-n', '50', '-s', size, '-p', str(13400 + number)]
            said = beside(it, command, [*command, 'h1'])[1]
            if 'Final:' not in said:
                yield f'{transports}, {test}: {said[-1500:]}'


def libfabric(it: Softspine) -> Problems:
    """fi_pingpong over libfabric's verbs provider: connected endpoints, and reliable datagrams by ofi_rxm"""
    need(['fi_pingpong'], 'tests')
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        for number, endpoint in enumerate([['verbs', '-e', 'msg'], ['verbs;ofi_rxm', '-e', 'rdm']]):
            command = ['fi_pingpong', '-p', *endpoint, '-c', '-I', '100', '-S', '4096', '-B', str(7420 + number)]
            client = ['fi_pingpong', '-p', *endpoint, '-c', '-I', '100', '-S', '4096', '-P', str(7420 + number), 'h1']
            for whose, words in zip(('server', 'client'), beside(it, command, client)):
                if '100' not in words or 'error' in words.lower():
                    yield f'{endpoint}, the {whose}: {words[-1500:]}'


def gloo(it: Softspine) -> Problems:
    """Gloo's own ibverbs transport sums and broadcasts between four ranks, and each number is right"""
    need(['c++'], 'tests')
    program = it.folder / 'gloo_verbs'
    built = subprocess.run(['c++', '-O1', '-o', program, ROOT / 'tests/wire/training/gloo_verbs.cpp', '-lgloo', '-libverbs'],
                           capture_output=True, text=True, check=False)
    if 'gloo/' in built.stderr or '-lgloo' in built.stderr:
        raise Skip('libgloo-dev is not installed: tools/install tests')
    hosts = HOSTS[:4]
    with it.running(it.write('eight.yaml', EIGHT), '--folder', it.folder / 'o'):
        for count in ('1000', '300000'):
            meeting = it.folder / f'meet-{count}'
            meeting.mkdir()
            ranks = [on(it, host, str(program), str(number), '4', str(meeting), count) for number, host in enumerate(hosts)]
            told = [rank.communicate(timeout=100)[0] for rank in ranks]
            if told != ['right\n'] * 4:
                yield f'{count}: {told}'


def said(it: Softspine) -> str:
    return (it.folder / 'said').read_text()


def right(it: Softspine) -> int:
    return said(it).count(' right')


def mpi_check(it: Softspine, *arguments: str) -> subprocess.Popen[bytes]:
    """A rank on each host. mpirun's rsh agent is softspine exec; each host has a folder of its own for OpenMPI's files, as machines have."""
    need(['mpicc.openmpi', 'mpirun.openmpi'], 'ranks')
    subprocess.run(['mpicc.openmpi', '-O2', '-o', it.folder / 'mpi_check', ROOT / 'tests/wire/training/mpi_check.c'], check=True)
    agent = it.write('agent', f'#!/bin/sh\nhost=$1\nshift\nexport TMPDIR={it.folder}/$host\nmkdir -p "$TMPDIR"\n'
                     f'exec {it.binary} exec "$host" -- sh -c "$*"\n')
    agent.chmod(0o755)
    settings = [part for name, value in UCX.items() for part in ('-x', f'{name}={value}')]
    command = ['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe', '-n', str(len(HOSTS)), '--host', ','.join(HOSTS), '--mca', 'plm_rsh_agent',
               str(agent), '--mca', 'plm_rsh_no_tree_spawn', '1', '--mca', 'pml', 'ucx', '--mca', 'btl', 'self', *settings,
               str(it.folder / 'mpi_check'), *arguments]
    with open(it.folder / 'said', 'wb') as out:
        return subprocess.Popen(command, env={**os.environ, **it.env}, cwd=it.folder, stdout=out, stderr=subprocess.STDOUT)


def ended_well(it: Softspine, ranks: subprocess.Popen[bytes]) -> Problems:
    try:
        status = ranks.wait(timeout=120)
    except subprocess.TimeoutExpired:
        ranks.kill()
        status = ranks.wait()
    if status != 0 or right(it) != COLLECTIVES * len(MPI_SIZES) + 1:
        yield f'mpirun ended with {status}: {said(it)[-3000:]}'


def openmpi(it: Softspine) -> Problems:
    """mpirun runs every collective on eight hosts, and each byte is right"""
    with it.running(it.write('eight.yaml', EIGHT), '--folder', it.folder / 'o'):
        yield from ended_well(it, mpi_check(it, '1', 'all', *MPI_SIZES))


def a_cut(it: Softspine) -> Problems:
    """A spine goes down while eight ranks work, and each byte is right again"""
    with it.running(it.write('eight.yaml', EIGHT), '--folder', it.folder / 'o'):
        ranks = mpi_check(it, '3', 'all', *MPI_SIZES)
        while right(it) < COLLECTIVES and ranks.poll() is None:
            time.sleep(0.01)
        yield from it('link', 'spine1', 'down').exited(0)
        if 'all right' in said(it):
            yield 'the ranks were done before the cut'
        yield from ended_well(it, ranks)


if __name__ == '__main__':
    sys.exit(main([openmpi, a_cut] if sys.argv[2:] == ['mpi'] else [they_connect, newer_verbs, ucx, libfabric, gloo]))
