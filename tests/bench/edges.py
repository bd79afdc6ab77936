#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast frames cross from one interface to another, beside dpdk-testpmd on the same two veths, in turns in one run.

    python3 -B tests/bench/edges.py build/tools/softspine/softspine [KIND …] [--runs N] [--seconds S] [--bytes B]

    a0 ══ a1 ─ forwarder ─ b1 ══ b0      a dpdk-testpmd on a0 sends as fast as it can, the kernel counts what b0 receives

KIND is af_packet or af_xdp: how both forwarders use a1 and b1. dpdk-testpmd forwards in its mode `io` (it looks at nothing); softspine is a ToR
with its two hosts behind edges. The forwarder has one core, what sends has another; the ends that it uses
are in a network namespace, the forwarder's in another, and both end with the bench.
Printed are the medians of the runs, the least and the most, how many
a0 sent, and softspine's share of testpmd's. Where all that was sent has crossed, it is the sender that was measured.

It fails if a forwarder brings no frame across, or softspine is slower than a tenth of testpmd.
"""
from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

SKIPPED = 77
FLOOR = 0.1
SENDING, FORWARDING = 0, 1  # cores
AF_XDP = 44
MACS = ('02:00:00:00:aa:01', '02:00:00:00:aa:02')
RING = 'framesz=2048,blocksz=4096,framecnt=2048'
DEVICES = {'af_packet': ['net_af_packet0,iface=a1,' + RING, 'net_af_packet1,iface=b1,' + RING],
           'af_xdp': ['net_af_xdp0,iface=a1', 'net_af_xdp1,iface=b1']}
TESTBED = '''name: edges
run: {{clock: wall, duration: 1h}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    h1: {{kind: host, address: 10.0.1.11, mac: "{macs[0]}", edge: {{dpdk: "{devices[0]}"}}}}
    h2: {{kind: host, address: 10.0.1.12, mac: "{macs[1]}", edge: {{dpdk: "{devices[1]}"}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 100Gbps, mtu: 1500}}
    - {{endpoints: [tor1, h2], rate: 100Gbps, mtu: 1500}}
'''


def why_not() -> str:
    missing = [program for program in ('dpdk-testpmd', 'ip', 'nsenter', 'sysctl', 'taskset', 'unshare') if shutil.which(program) is None]
    if missing or os.geteuid() != 0 or (os.cpu_count() or 1) < 2:
        return f"{', '.join(missing)} missing" if missing else 'needs root' if os.geteuid() != 0 else 'needs two cores'
    return ''


def has_xdp() -> str:
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as refused:
        return f'no AF_XDP socket: {refused}'
    return ''


@contextmanager
def forwarders_side() -> Iterator[list[str]]:
    """Words before a command that run it where a1 and b1 are. Apart, since DPDK's af_packet takes one number for two processes' interfaces."""
    with subprocess.Popen(['unshare', '--net', 'sh', '-c', 'echo; exec cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        inside = ['nsenter', '--net', '-t', str(holder.pid)]
        for pair, mac in zip('ab', MACS):
            subprocess.run(['ip', 'link', 'add', f'{pair}0', 'address', mac, 'type', 'veth', 'peer', 'name', f'{pair}1', 'netns', str(holder.pid)], check=True)
            for words, end in (([], f'{pair}0'), (inside, f'{pair}1')):
                subprocess.run([*words, 'sysctl', '-qw', f'net.ipv6.conf.{end}.disable_ipv6=1'], check=True)
                subprocess.run([*words, 'ip', 'link', 'set', end, 'up'], check=True)
        yield inside
        holder.stdin.close()


def testpmd(core: int, name: str, devices: list[str], more: list[str]) -> list[str]:
    vdevs = [word for device in devices for word in ('--vdev', device)]
    return ['dpdk-testpmd', '--lcores', f'0@{core},1@{core}', '--no-pci', '--no-huge', '-m', '512', '--file-prefix', f'{name}{os.getpid()}', *vdevs,
            '--', '--auto-start', '--nb-cores=1', '--total-num-mbufs=32768', *more]


def softspine(program: str, kind: str, folder: Path) -> list[str]:
    testbed = folder / 'edges.yaml'
    testbed.write_text(TESTBED.format(macs=MACS, devices=DEVICES[kind]))
    return ['taskset', '-c', str(FORWARDING), program, 'run', str(testbed), '--quiet', '--no-server']


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen]:
    with log.open('w') as sink:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=sink, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def frames() -> tuple[int, int]:
    """That a0 has sent, that b0 has received."""
    numbers = {name.strip(): rest.split() for name, _, rest in (line.partition(':') for line in Path('/proc/net/dev').read_text().splitlines())}
    return int(numbers['a0'][9]), int(numbers['b0'][1])


def runs_for(process: subprocess.Popen, seconds: float) -> bool:
    """Whether it has not ended in that time."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def wait_for_frames(process: subprocess.Popen, log: Path) -> None:
    end = time.monotonic() + 30
    _, before = frames()
    while frames()[1] < before + 1000:
        if not runs_for(process, 0.05) or time.monotonic() > end:
            sys.exit(f'no frame crosses:\n{log.read_text()[-2000:]}')


def speeds_of(command: list[str], size: int, seconds: float, folder: Path) -> tuple[float, float]:
    """Million frames a second that a0 sent, and that reached b0."""
    log = folder / 'forwarder.log'
    load = testpmd(SENDING, 'sends', ['net_af_packet9,iface=a0,' + RING],
                   ['--forward-mode=txonly', f'--eth-peer=0,{MACS[1]}', '--tx-ip=10.0.1.11,10.0.1.12', f'--txpkts={size}'])
    with running(command, log) as forwarder, running(load, folder / 'sends.log'):
        wait_for_frames(forwarder, log)
        begin, before = time.monotonic(), frames()
        if not runs_for(forwarder, seconds):
            sys.exit(f'it has ended:\n{log.read_text()[-2000:]}')
        after, took = frames(), time.monotonic() - begin
        return (after[0] - before[0]) / took / 1e6, (after[1] - before[1]) / took / 1e6


def measure(kind: str, inside: list[str], arguments: argparse.Namespace) -> bool:
    speeds: dict[str, list[tuple[float, float]]] = {'dpdk-testpmd': [], 'softspine': []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        commands = {'dpdk-testpmd': testpmd(FORWARDING, 'forwards', DEVICES[kind], ['--forward-mode=io', '--port-topology=paired']),
                    'softspine': softspine(arguments.program, kind, folder)}
        for _ in range(arguments.runs):
            for forwarder, command in commands.items():
                speeds[forwarder].append(speeds_of([*inside, *command], arguments.bytes, arguments.seconds, folder))
    medians = {}
    for forwarder, runs in speeds.items():
        sent, seen = zip(*runs)
        medians[forwarder] = statistics.median(seen)
        print(f'{kind:10} {forwarder:13} {medians[forwarder]:6.3f} M frames/s ({min(seen):.3f} to {max(seen):.3f}, {len(seen)} runs) '
              f'of {statistics.median(sent):.3f} M/s', flush=True)
    share = medians['softspine'] / medians['dpdk-testpmd']
    print(f'{kind:10} softspine is {share:.2f} times dpdk-testpmd, frames of {arguments.bytes} B', flush=True)
    return share >= FLOOR


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('kinds', nargs='*', metavar='KIND', choices=[[], *DEVICES], help=', '.join(DEVICES))
    parser.add_argument('--runs', type=int, default=5, help='of each forwarder, 5 if not given')
    parser.add_argument('--seconds', type=float, default=3, help='that each run is measured, 3 if not given')
    parser.add_argument('--bytes', type=int, default=64, help='of a frame, without its FCS, 64 if not given')
    arguments = parser.parse_args()
    if reason := why_not():
        print(f'skipped: {reason}')
        return SKIPPED
    if os.environ.get('SOFTSPINE_BENCH_NETNS') is None:
        os.execvpe('unshare', ['unshare', '--net', sys.executable, '-B', *sys.argv], {**os.environ, 'SOFTSPINE_BENCH_NETNS': '1'})
    good = True
    with forwarders_side() as inside:
        for kind in arguments.kinds or DEVICES:
            if kind == 'af_xdp' and (reason := has_xdp()):
                print(f'{kind}: skipped: {reason}')
            else:
                good &= measure(kind, inside, arguments)
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
