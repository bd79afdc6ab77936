# SPDX-License-Identifier: Apache-2.0
"""The wall clock against a clock of our own: rates are as configured, and dilation slows all alike."""
from __future__ import annotations

import signal
import sys
import time

from softspine import Problems, Softspine, main

GIGABIT = '''name: gigabit
run: {clock: wall, duration: 600s}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 40m}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h2], message: 1GiB, messages: 64, mtu: 4096}]
'''
FINITE = '''name: finite
run: {clock: wall, duration: 400ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 40m}}
workload: [{name: w, pattern: permutation, message: 64KiB, messages: 100, qps: 4, mtu: 1024, rate: 800Mbps}]
'''
GAP = 24  # FCS, preamble and the gap between frames: on the wire beside a frame's bytes


def look(it: Softspine) -> tuple[float, float, float, float]:
    """Before and after asking, by our clock; the fabric's own time; bits that the last link has carried."""
    before = time.monotonic()
    report = it.show('report')
    after = time.monotonic()
    link = report['links']['tor2:Ethernet0']
    return before, after, report['duration_ps'] * 1e-12, 8 * (link['tx_bytes'] + GAP * link['tx_packets'])


def carries_a_gigabit(it: Softspine) -> Problems:
    """a 1 Gb/s link carries 1 Gb/s ± 1 % of real time over 10 s, and the lateness is reported"""
    with it.running(it.write('gigabit.yaml', GIGABIT)) as run:
        a = look(it)
        time.sleep(10)
        b = look(it)
        done = run.end(signal.SIGINT)
    yield from done.exited(0)
    shortest, longest = b[0] - a[1], b[1] - a[0]
    for what, amount, wanted in (('emulated seconds', b[2] - a[2], 1), ('bits', b[3] - a[3], 1e9)):
        lowest, highest = amount / longest / wanted, amount / shortest / wanted
        if highest < 0.99 or lowest > 1.01:
            yield f'{what} in a second: {lowest:.4f} to {highest:.4f} of what they should be'
    yield from done.says('engine lateness p50', 'p99', 'max', 'dilation 1')


def slows_down_by_the_dilation(it: Softspine) -> Problems:
    """--dilation 10 takes ten times the time, and comes to the same"""
    file = it.write('finite.yaml', FINITE)
    reports = {}
    for dilation in (1, 10):
        done = it('run', file, '--dilation', dilation, '--json')
        yield from done.exited(0)
        reports[dilation] = done.json()
        seconds = reports[dilation]['engine']['wall_seconds']
        if not 0.4 * dilation * 0.99 <= seconds <= 0.4 * dilation * 1.1 + 0.2 or done.seconds < seconds:
            yield f'0.4 s, {dilation} times slower, took {seconds:.2f} s, {done.seconds:.2f} s in all'
    for key in ('completed', 'received_packets', 'missing_packets', 'fct_max_ps', 'latency_max_ps', 'rate_bps'):
        fast, slow = (reports[n]['flows']['w'][key] for n in (1, 10))
        if abs(fast - slow) > 0.001 * abs(fast):
            yield f'flows.w.{key}: {fast} without, {slow} with dilation'
    if reports[1]['flows']['w']['completed'] != 16:
        yield f'only {reports[1]["flows"]["w"]["completed"]} of 16 flows completed'
    engine = reports[10]['engine']
    if engine['dilation'] != 10 or not 0 <= engine['lateness_p50_ps'] <= engine['lateness_p99_ps'] <= engine['lateness_max_ps']:
        yield f'the engine reports {engine}'


if __name__ == '__main__':
    sys.exit(main([carries_a_gigabit, slows_down_by_the_dilation]))
