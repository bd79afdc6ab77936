# SPDX-License-Identifier: Apache-2.0
"""MPI over UCX over rdma_rxe: Debian's OpenMPI, unmodified, in four user-mode Linux guests, across the fabric.

A guest sees this machine's /usr, so what is installed here runs there. mpirun in h1 starts its daemons in the others by a
"remote shell" that passes the command over the folder that all guests share.

UCX connects its queue pairs over UD. It checks the destination address in a datagram's GRH (ETH_DGID_CHECK), which fails with
rxe: all datagrams are dropped, those to itself too. So that check is off. Reliable connections carry all data.
"""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from gloo import crossed  # noqa: E402
from one_run import tshark  # noqa: E402
from outside_testbeds import need_guests, whole_run  # noqa: E402
from softspine import Problems, Skip, Softspine, main  # noqa: E402

HERE = Path(__file__).resolve().parent
HOSTS = ('h1', 'h2', 'h3', 'h4')
FABRIC = '''fabric:
  kind: leaf-spine
  tors: 2
  spines: 2
  hosts_per_tor: 2
  host_link: {rate: 10Gbps, length: 3m, mtu: 4200}
  fabric_link: {rate: 10Gbps, length: 40m, mtu: 4200}
roles: {tor: lossless, aggregation: lossless}
'''
TESTBED = '''name: mpi
run: {clock: wall, duration: 14min}
''' + FABRIC + '''topology:
  nodes:
    h1: {nic: &lossless {dscp: 3}, guest: &all {kind: uml, memory: 1GiB, timeout: 13min, run: "softspine-guest await rank 60 >/run/rank && . /run/rank"}}
    h2: {nic: *lossless, guest: *all}
    h3: {nic: *lossless, guest: *all}
    h4: {nic: *lossless, guest: *all}
expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: switches.*.dropped_packets, equal: 0}
  - {value: totals.balanced, equal: true}
'''
# What each guest does. The scripts of its own /usr go along.
RANK = '''mkdir /run/kept && cp /usr/bin/softspine-* /usr/lib/steady_time.so /run/kept
export LD_PRELOAD= PATH=/run/kept:/usr/sbin:/usr/bin
mount -t hostfs none /usr -o /usr || exit 9
if [ $SOFTSPINE_GUEST = h1 ]; then
  mpirun.openmpi --allow-run-as-root -n 4 --host h1,h2,h3,h4 --mca plm_rsh_agent /board/agent --mca plm_rsh_no_tree_spawn 1 \\
    --mca pml ucx --mca btl self --mca coll_tuned_use_dynamic_rules 1 {algorithm} -x UCX_NET_DEVICES=rxe0:1 \\
    -x UCX_TLS=rc_verbs,ud_verbs,self -x UCX_UD_ETH_DGID_CHECK=n -x UCX_RNDV_SCHEME=put_zcopy -x UCX_RC_TIMEOUT=30s -x UCX_UD_TIMEOUT=120s /board/mpi_check {arguments}
  status=$?
  softspine-guest signal over
else
  softspine-guest await run-$SOFTSPINE_GUEST 120 >/run/command && bash /run/command
  status=$?
  softspine-guest signal ended-$SOFTSPINE_GUEST $status
  softspine-guest await over 700
fi
(exit $status)
'''
AGENT = '''#!/bin/bash
host=$1
shift
softspine-guest signal run-$host "$*"
exit $(softspine-guest await ended-$host 700)
'''
RETRANSMISSIONS = ('out_of_seq_request', 'rcvd_seq_err', 'duplicate_request', 'completer_retry_err', 'retry_exceeded_err')
COLLECTIVES = 9


def need_mpi() -> None:
    if shutil.which('mpicc.openmpi') is None or shutil.which('mpirun.openmpi') is None:
        raise Skip('not installed: openmpi-bin libopenmpi-dev (tools/install training)')
    need_guests()


class Job:
    """An MPI job of four guests."""

    def __init__(self, it: Softspine, arguments: str, *options: object, algorithm: str = '') -> None:
        self._it = it
        self._options = options
        self._program = it.folder / 'mpi_check'
        self._rank = RANK.format(arguments=arguments, algorithm=algorithm)
        subprocess.run(['mpicc.openmpi', '-O2', '-Wall', '-Wextra', '-Werror', '-o', self._program, HERE / 'mpi_check.c'], check=True)

    def run(self, cut_after: str | None = None) -> tuple[dict, list[str]]:
        """Its report, and what was wrong. `cut_after`: words of rank 0, after which the spine that has carried most goes down."""
        it, board, problems = self._it, self._it.folder / 'o' / 'board', []
        with it.running(it.write('mpi.yaml', TESTBED), '--folder', it.folder / 'o', '--report', 'report.json', *self._options) as run:
            shutil.copy(self._program, board)
            (board / 'agent').write_text(AGENT)
            (board / 'agent').chmod(0o755)
            (board / '.rank').write_text(self._rank)
            (board / '.rank').rename(board / 'rank')
            if cut_after is not None:
                while cut_after not in self.said() and run.process.poll() is None:
                    time.sleep(0.05)
                before = crossed(it)
                lost = max(before, key=before.get)
                problems += it('link', lost, 'down').exited(0)
                print(f'# octets at the cut: {before}; {lost} went down')
                if before[lost] < 1_000_000:
                    problems.append(f'nothing to speak of had crossed {lost}')
                if 'all right' in self.said():
                    problems.append('the job was over before the cut')
            done = run.end(timeout=800)
        problems += done.exited(0)
        if 'all right' not in self.said():
            problems.append(f'mpi_check: {self.said()[-1500:]}\n{(it.folder / "o" / "h1" / "stderr").read_text()[-1500:]}')
        problems += it.leftovers()
        report = it.folder / 'report.json'
        return (json.loads(report.read_text()) if report.exists() else {}), problems

    def said(self) -> str:
        path = self._it.folder / 'o' / 'h1' / 'stdout'
        return path.read_text() if path.exists() else ''

    def right(self) -> int:
        return len(re.findall(r'^\w+ \d+ right', self.said(), re.MULTILINE))


def sum_of(report: dict, counters: tuple[str, ...]) -> int:
    return sum(report['commands'][host]['counters']['rxe0'][counter] for host in HOSTS for counter in counters)


def collectives(it: Softspine) -> Problems:
    """OpenMPI over UCX: nine collectives of 8 B to 16 MB, every byte right, and no packet sent twice while the fabric is lossless"""
    need_mpi()
    sizes = ('8', '1000', '65536', '1048576', '16777216')
    job = Job(it, '1 all ' + ' '.join(sizes))
    report, problems = job.run()
    yield from problems
    if job.right() != COLLECTIVES * len(sizes):
        yield f'{job.right()} of {COLLECTIVES * len(sizes)} were right: {job.said()}'
    print(f'# {sum_of(report, ("sent_pkts",))} packets by rxe')
    if again := {name: count for name in RETRANSMISSIONS if (count := sum_of(report, (name,)))}:
        yield f'packets were sent again: {again}'


def a_cut(it: Softspine) -> Problems:
    """OpenMPI over UCX: a spine goes down in the middle, and every byte is right again"""
    need_mpi()
    job = Job(it, '3 all 65536 1048576')
    report, problems = job.run(cut_after='all_reduce 1048576')
    yield from problems
    if job.right() != 2 * COLLECTIVES:
        yield f'{job.right()} were right: {job.said()}'
    lost = report['totals']['dropped_packets']
    print(f'# {lost} frames lost, {sum_of(report, RETRANSMISSIONS[:3])} requests out of order or twice')


RING_BYTES = 1 << 20
OTHER_BYTES = 8192  # of a pair, at most
BUILT_IN = f'''name: ring
run: {{duration: 10s}}
{FABRIC}collectives: [{{name: c, op: all_reduce, algorithm: ring, protocol: simple, channels: 1, size: {RING_BYTES}B, ranks: [h1, h2, h3, h4], mtu: 4096}}]
'''
# By opcode of a reliable connection, behind the BTH: a write's first packet has a RETH, an answer's ends have an AETH; immediate data.
HEADERS = {0: 0, 1: 0, 2: 0, 3: 4, 4: 0, 5: 4, 6: 16, 7: 0, 8: 0, 9: 4, 10: 16, 11: 20, 13: 4, 14: 0, 15: 4, 16: 4}
ADDRESSES = {'10.0.1.2': 'h1', '10.0.1.3': 'h2', '10.0.2.2': 'h3', '10.0.2.3': 'h4'}


def data_by_pair(capture: Path) -> dict[tuple[str, str], int]:
    """Bytes of messages from host to host, as they leave the hosts: of writes, sends and what answers reads."""
    fields = ('ip.src', 'ip.dst', 'udp.length', 'infiniband.bth.opcode', 'frame.interface_name')
    rows = tshark('-r', capture, '-Y', 'infiniband.bth.opcode', '-T', 'fields', *(word for field in fields for word in ('-e', field)))
    bytes_of: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows.splitlines():
        source, destination, length, opcode, interface = row.split('\t')
        extra = HEADERS.get(int(opcode))
        if extra is None or not interface.startswith(ADDRESSES[source] + ':'):
            continue
        bytes_of[ADDRESSES[source], ADDRESSES[destination]] += int(length) - 8 - 12 - 4 - extra  # UDP, BTH, ICRC
    return dict(bytes_of)


def the_same_ring(it: Softspine) -> Problems:
    """OpenMPI's ring AllReduce and the built-in one: the same bytes from each rank to the next, and to no other"""
    need_mpi()
    job = Job(it, f'1 all_reduce {RING_BYTES}', '--capture', 'real.pcapng', algorithm='--mca coll_tuned_allreduce_algorithm 4')
    _, problems = job.run()
    yield from problems
    built_in = it('run', it.write('ring.yaml', BUILT_IN), '--capture', 'ring.pcapng', '--no-server', '--quiet')
    yield from built_in.exited(0)
    ours, theirs = data_by_pair(it.folder / 'ring.pcapng'), data_by_pair(it.folder / 'real.pcapng')
    print(f'# built in: {ours}\n# OpenMPI: {theirs}')
    moved = 2 * (len(HOSTS) - 1) * RING_BYTES // len(HOSTS)
    for pair in {(a, b) for a in HOSTS for b in HOSTS if a != b}:
        is_next = HOSTS.index(pair[1]) == (HOSTS.index(pair[0]) + 1) % len(HOSTS)
        if is_next and ours.get(pair) != moved:
            yield f'{pair}: the built-in ring moves {ours.get(pair)} bytes, not {moved}'
        # Beside the data: requests of rendezvous, acknowledgements of UCX, barriers, and the sum of wrong bytes.
        if not 0 <= theirs.get(pair, 0) - (moved if is_next else 0) <= OTHER_BYTES:
            yield f'{pair}: OpenMPI moves {theirs.get(pair)} bytes, the ring {moved if is_next else 0}'


if __name__ == '__main__':
    sys.exit(main([collectives, a_cut, the_same_ring]))
