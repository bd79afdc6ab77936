#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real hosts on TAPs, through one ToR: what an idle fabric costs, how long a ping takes, how much TCP a core carries. Beside Linux's bridge, in turns in one run.

    python3 -B tests/bench/taps.py build/tools/softspine/softspine [OTHER …] [--runs N] [--seconds S] [--mtu M]

    iperf3, ping ─ namespace a ══ TAP ─ softspine: a ToR ─ TAP ══ namespace b ─ iperf3        and, for the bridge, veths in the place of the TAPs

Each program is a fabric; a second one is compared with the first (an earlier build, say). For each way across are printed, as medians of the runs:

    idle      CPU of the fabric, of one core, while nothing is sent
    ping      median round trip of 500 pings, 2 ms apart: the fabric sleeps before each; of 100 pings, 20 ms apart: caches and cores have gone cold, too
    TCP       Gb/s of one iperf3 stream; Gb per second of the fabric's CPU time, to which the kernel adds what a TAP's receiver does

The bridge has no process of its own; "bridge, MTU frames" is a bridge whose veths neither cut nor join (ethtool -K tso off gso off gro off), so that it, too, is
crossed by frames of the MTU. All of it is in namespaces that end with the bench. It fails if a fabric carries no TCP.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

SKIPPED = 77
MACS = {'a': '02:00:00:00:aa:01', 'b': '02:00:00:00:aa:02'}
ADDRESSES = {'a': '10.0.1.11', 'b': '10.0.1.12'}
TESTBED = '''name: taps
run: {{clock: wall, duration: 1h}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    a: {{kind: host, address: 10.0.1.11, mac: "{macs[a]}", edge: {{tap: {{name: tapa}}}}}}
    b: {{kind: host, address: 10.0.1.12, mac: "{macs[b]}", edge: {{tap: {{name: tapb}}}}}}
  links:
    - {{endpoints: [tor1, a], rate: 100Gbps, mtu: {mtu}}}
    - {{endpoints: [tor1, b], rate: 100Gbps, mtu: {mtu}}}
'''


@dataclass
class Measured:
    """Of one run; per cent, microseconds, Gb/s, Gb per CPU second. None: there is no process to ask."""
    ping: float
    cold_ping: float
    speed: float
    idle: float | None = None
    per_cpu: float | None = None


def why_not() -> str:
    missing = [program for program in ('ethtool', 'iperf3', 'ip', 'nsenter', 'ping', 'unshare') if shutil.which(program) is None]
    if missing or os.geteuid() != 0:
        return f"{', '.join(missing)} missing" if missing else 'needs root'
    return '' if Path('/dev/net/tun').exists() else 'no /dev/net/tun'


@contextmanager
def namespace() -> Iterator[int]:
    """The process that holds it."""
    with subprocess.Popen(['unshare', '--net', 'sh', '-c', 'ip link set lo up; echo; exec cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        yield holder.pid
        holder.stdin.close()


def run(*words: object) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def inside(pid: int, *words: object) -> list[str]:
    return ['nsenter', '--net', '-t', str(pid), *(str(word) for word in words)]


def set_up(side: str, pid: int, interface: str, mtu: int) -> None:
    for words in (['sysctl', '-qw', f'net.ipv6.conf.{interface}.disable_ipv6=1'], ['ip', 'link', 'set', interface, 'address', MACS[side], 'mtu', mtu, 'up'],
                  ['ip', 'addr', 'add', f'{ADDRESSES[side]}/24', 'dev', interface]):
        run(*inside(pid, *words))


def cpu_seconds(pid: int) -> float:
    return sum(int((task / 'schedstat').read_text().split()[0]) for task in Path(f'/proc/{pid}/task').iterdir()) / 1e9


def median_ping(holders: dict[str, int], count: int, seconds_apart: float) -> float:
    said = run(*inside(holders['a'], 'ping', '-n', '-c', count, '-i', seconds_apart, ADDRESSES['b']))
    return 1000 * statistics.median(float(each) for each in re.findall(r'time=([\d.]+)', said))


def pings(holders: dict[str, int]) -> dict[str, float]:
    return {'ping': median_ping(holders, 500, 0.002), 'cold_ping': median_ping(holders, 100, 0.02)}


def stream(holders: dict[str, int], seconds: float) -> tuple[float, float]:
    """Gigabits that b received, and Gb/s."""
    with subprocess.Popen(inside(holders['b'], 'iperf3', '-s', '-1', '--forceflush'), stdout=subprocess.PIPE, text=True) as server:
        next(line for line in server.stdout if 'listening' in line)
        end = json.loads(run(*inside(holders['a'], 'iperf3', '-c', ADDRESSES['b'], '-t', seconds, '-J')))['end']['sum_received']
        server.communicate()
    return end['bytes'] * 8 / 1e9, end['bits_per_second'] / 1e9


def runs_for(process: subprocess.Popen, seconds: float) -> bool:
    """Whether it has not ended in that time."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


@contextmanager
def bridged(holders: dict[str, int], mtu: int, cuts: bool) -> Iterator[None]:
    run('ip', 'link', 'add', 'br0', 'type', 'bridge')
    run('ip', 'link', 'set', 'br0', 'mtu', mtu, 'up')
    for side, pid in holders.items():
        run('ip', 'link', 'add', f'v{side}', 'mtu', mtu, 'type', 'veth', 'peer', 'name', f'tap{side}', 'netns', pid)
        run('ip', 'link', 'set', f'v{side}', 'master', 'br0', 'up')
        if cuts:
            run(*inside(pid, 'ethtool', '-K', f'tap{side}', 'tso', 'off', 'gso', 'off', 'gro', 'off', 'tx', 'off'))
            run('ethtool', '-K', f'v{side}', 'tso', 'off', 'gso', 'off', 'gro', 'off')
        set_up(side, pid, f'tap{side}', mtu)
    try:
        yield
    finally:
        run('ip', 'link', 'del', 'va')
        run('ip', 'link', 'del', 'vb')
        run('ip', 'link', 'del', 'br0')


@contextmanager
def forwarded(program: str, holders: dict[str, int], mtu: int, folder: Path) -> Iterator[subprocess.Popen]:
    """By softspine, whose process is told."""
    testbed = folder / 'taps.yaml'
    testbed.write_text(TESTBED.format(macs=MACS, mtu=mtu))
    with (folder / 'log').open('w') as log, subprocess.Popen([program, 'run', testbed, '--quiet', '--no-server'], stdout=log, stderr=log) as fabric:
        try:
            end = time.monotonic() + 30
            while not all(Path(f'/sys/class/net/tap{side}').exists() for side in holders):
                if not runs_for(fabric, 0.02) or time.monotonic() > end:
                    sys.exit(f"no TAP:\n{(folder / 'log').read_text()[-2000:]}")
            for side, pid in holders.items():
                run('ip', 'link', 'set', f'tap{side}', 'netns', pid)
                set_up(side, pid, f'tap{side}', mtu)
            run(*inside(holders['a'], 'ping', '-n', '-c', '3', '-i', '0.1', ADDRESSES['b']))
            yield fabric
        finally:
            fabric.send_signal(signal.SIGINT)
            fabric.wait(20)


def of_bridge(holders: dict[str, int], arguments: argparse.Namespace, cuts: bool) -> Measured:
    with bridged(holders, arguments.mtu, cuts):
        return Measured(**pings(holders), speed=stream(holders, arguments.seconds)[1])


def of_fabric(program: str, holders: dict[str, int], arguments: argparse.Namespace, folder: Path) -> Measured:
    with forwarded(program, holders, arguments.mtu, folder) as fabric:
        pid = fabric.pid
        runs_for(fabric, 1)
        before, begin = cpu_seconds(pid), time.monotonic()
        runs_for(fabric, arguments.seconds)
        idle = 100 * (cpu_seconds(pid) - before) / (time.monotonic() - begin)
        round_trips = pings(holders)
        before = cpu_seconds(pid)
        gigabits, speed = stream(holders, arguments.seconds)
        return Measured(**round_trips, speed=speed, idle=idle, per_cpu=gigabits / (cpu_seconds(pid) - before))


def shown(runs: list[Measured], name: str, unit: str) -> str:
    values = [getattr(each, name) for each in runs]
    return '' if None in values else f'{statistics.median(values):8.2f} {unit} ({min(values):.2f} to {max(values):.2f})'


def print_rows(ways: dict[str, list[Measured]], mtu: int) -> None:
    print(f'MTU {mtu}, {len(next(iter(ways.values())))} runs: medians (least to most)')
    for way, runs in ways.items():
        print(f"{way}\n    " + '\n    '.join(f'{label:6} {text}' for label, name, unit in (
            ('idle', 'idle', '% of a core'), ('ping', 'ping', 'us, 2 ms apart'), ('', 'cold_ping', 'us, 20 ms apart'), ('TCP', 'speed', 'Gb/s'), ('', 'per_cpu', 'Gb per CPU second')) if (text := shown(runs, name, unit))), flush=True)


def print_ratios(ways: dict[str, list[Measured]], programs: list[str]) -> None:
    def median(way: str, name: str) -> float:
        return statistics.median(getattr(each, name) for each in ways[way])

    first = programs[0]
    for bridge in ('bridge', 'bridge, MTU frames'):
        print(f'{first}: {median(first, "speed") / median(bridge, "speed"):.2f} times the Gb/s of the {bridge}, '
              f'{median(first, "ping") / median(bridge, "ping"):.2f} times its ping')
    for other in programs[1:]:
        print(f'{first}: {median(first, "per_cpu") / median(other, "per_cpu"):.2f} times the Gb per CPU second of {other}, '
              f'{median(first, "ping") / median(other, "ping"):.2f} times its ping, {median(first, "idle") / median(other, "idle"):.3f} times its idle CPU')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('programs', nargs='+', metavar='PROGRAM')
    parser.add_argument('--runs', type=int, default=5, help='of each way across, 5 if not given')
    parser.add_argument('--seconds', type=float, default=3, help='that TCP is sent, and that idleness is measured, 3 if not given')
    parser.add_argument('--mtu', type=int, default=1500)
    arguments = parser.parse_args()
    if reason := why_not():
        print(f'skipped: {reason}')
        return SKIPPED
    if os.environ.get('SOFTSPINE_BENCH_NETNS') is None:
        os.execvpe('unshare', ['unshare', '--net', '--mount', 'sh', '-c', 'mount -t sysfs sys /sys && exec "$@"', 'sh', sys.executable, '-B', *sys.argv],
                   {**os.environ, 'SOFTSPINE_BENCH_NETNS': '1'})
    ways: dict[str, list[Measured]] = {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        holders = {side: stack.enter_context(namespace()) for side in 'ab'}
        for _ in range(arguments.runs):
            for program in arguments.programs:
                ways.setdefault(program, []).append(of_fabric(program, holders, arguments, folder))
            ways.setdefault('bridge', []).append(of_bridge(holders, arguments, cuts=False))
            ways.setdefault('bridge, MTU frames', []).append(of_bridge(holders, arguments, cuts=True))
    print_rows(ways, arguments.mtu)
    print_ratios(ways, arguments.programs)
    return 0 if all(each.speed > 0 for runs in ways.values() for each in runs) else 1


if __name__ == '__main__':
    sys.exit(main())
