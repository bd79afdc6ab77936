#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of verbs hosts over a fabric that loses, damages, reorders, marks, pauses and fails: every byte is right, or the program sees what
rdma-core's pages say. One program does drawn writes, reads, sends and atomics at another's memory, and knows what it must find there."""
from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from softspine import ROOT, Problems, Skip, Softspine, main
from verbs_hosts import on

# h1, h2 below tor1, h3, h4 below tor2. h2 and h4 are built-in hosts.
LAB = '''name: verbs-faults
run: {{clock: wall}}
fabric: {{kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {{rate: 10Gbps, mtu: 4200}}, fabric_link: {{rate: 10Gbps, mtu: 4200}}}}
roles: {{tor: {tor}, aggregation: lossless}}
topology:
  nodes: {{h1: {{verbs: {{}}}}, h3: {{verbs: {{}}}}}}
{more}'''
SLOW_LINK = '''name: verbs-marks
run: {clock: wall}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    h1: {kind: host, verbs: {}, nic: {congestion_control: dcqcn_connectx}}
    h3: {kind: host, verbs: {}, nic: {congestion_control: dcqcn_connectx}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 4200}
    - {endpoints: [tor1, h3], rate: 200Mbps, mtu: 4200}
profiles:
  marking:
    base: lossless
    WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: 5000B,
                                    ecn_green_max_threshold: 20000B, ecn_green_mark_probability: 100%}}
roles: {tor: marking}
'''
ALL_RIGHT = 'the memory is right, and'
EXCEEDED = 'transport retry counter exceeded'


def program(it: Softspine) -> Path:
    if shutil.which('cc') is None or not Path('/usr/include/infiniband/verbs.h').exists():
        raise Skip('cc or libibverbs-dev is not installed: tools/install build')
    out = it.folder / 'checked_verbs'
    if not out.exists():
        subprocess.run(['cc', '-O2', '-o', out, ROOT / 'tests/wire/command/checked_verbs.c', '-libverbs'], check=True)
    return out


class Talk:
    """h1's program does operations at the memory of h3's, until told to stop or until one fails."""

    def __init__(self, it: Softspine, seed: int, *, timeout: int = 10, retries: int = 7, rnr_retries: int = 7, receives: int = 32) -> None:
        self.it, self.seed = it, seed
        self.folder = it.folder / f'talk-{seed}'
        self.folder.mkdir()
        words = [str(word) for word in (seed, timeout, retries, rnr_retries, receives)]
        self.answers, self.asks = (on(it, host, str(program(it)), str(self.folder), role, *words) for host, role in (('h3', 'answers'), ('h1', 'asks')))

    def until(self, what: str, holds: Callable[[dict], bool], seconds: float = 60) -> dict:
        """The report as it then is."""
        end = time.monotonic() + seconds
        while not holds(report := self.it.show('report')):
            if time.monotonic() > end or self.asks.poll() is not None and self.answers.poll() is not None:
                raise AssertionError(f'seed {self.seed}: never {what}: {self.end(10)}')
        return report

    def goes_on(self, packets: int = 2000) -> dict:
        before = sent(self.it.show('report'), 'h1')['sent_pkts']
        return self.until(f'{packets} packets', lambda report: sent(report, 'h1')['sent_pkts'] >= before + packets)

    def end(self, patience: float = 60) -> list[str]:
        """The words of who asks and of who answers. An operation that waits for something is killed in the end."""
        (self.folder / 'stop').touch()
        words = []
        for each in (self.asks, self.answers):
            try:
                words.append(each.communicate(timeout=patience)[0].strip())
            except subprocess.TimeoutExpired:
                each.kill()
                words.append('it stood still: ' + each.communicate()[0])
        return words

    def all_right(self) -> Problems:
        asked, answered = self.end()
        if not asked.endswith(' right') or ALL_RIGHT not in answered:
            yield f'seed {self.seed}: {asked!r}, {answered!r}'

    def fails_with(self, status: str) -> Problems:
        self.asks.wait(60)
        asked, answered = self.end()
        if not asked.startswith(f'{status}, ') or not asked.endswith(' 7 flushed') or answered != 'the other has failed':
            yield f'seed {self.seed}: {asked!r}, {answered!r}'


def sent(report: dict, host: str) -> dict:
    return report['edges'][host]['statistics']


def lab(it: Softspine, more: str = '', tor: str = 'lossless'):
    return it.running(it.write('lab.yaml', LAB.format(more=more, tor=tor)), '--folder', it.folder / 'o')


def loss_and_damage(it: Softspine) -> Problems:
    """frames are lost and damaged on all links between switches: retries, and every byte is right"""
    program(it)
    with lab(it):
        for spine in ('spine1', 'spine2'):
            yield from it('inject', spine, 'lossy', '--drop', '1%', '--corrupt', '1%').exited(0)
        for seed in range(3):
            talk = Talk(it, seed)
            talk.goes_on()
            yield from talk.all_right()
        counted = sent(it.show('report'), 'h1')
        if counted['retransmitted_pkts'] < 50 or counted['completer_retry_err'] == 0 or counted['rcvd_seq_err'] == 0:
            yield f'little was sent again: {counted}'


def spray(it: Softspine) -> Problems:
    """each packet takes its own way, one of which is longer by 10 us: packets overtake each other, and every byte is right"""
    program(it)
    longer = '  links: [{endpoints: [tor1, spine2], rate: 10Gbps, length: 2km, mtu: 4200}]\nprofiles: {spraying: {base: lossless, groups: {mode: spray}}}\n'
    with lab(it, more=longer, tor='spraying'):
        for seed in range(10, 13):
            talk = Talk(it, seed)
            talk.goes_on(5000)
            yield from talk.all_right()
        report = it.show('report')
        if sent(report, 'h3')['out_of_seq_request'] < 50 or sent(report, 'h1')['rcvd_seq_err'] < 50:
            yield f'few packets overtook others: {report["edges"]}'


def marks(it: Softspine) -> Problems:
    """a slow link behind a fast one marks, the receiver's NIC sends CNPs, DCQCN slows the sender down, and every byte is right"""
    program(it)
    with it.running(it.write('lab.yaml', SLOW_LINK), '--folder', it.folder / 'o'):
        talk = Talk(it, 20, timeout=16)
        talk.goes_on()
        yield from talk.all_right()
        report = it.show('report')
        cnps = report['edges']['h3']['np_cnp_sent'], report['edges']['h1']['rp_cnp_handled'], report['switches']['tor1']['ecn_marked_packets']
        if not all(cnps):
            yield f'CNPs sent, CNPs handled, packets marked: {cnps}'
        if report['totals']['dropped_packets']:
            yield f'{report["totals"]["drops"]}'


def storm(it: Softspine) -> Problems:
    """a storm behind the same ToR stops the program through the spine, by pauses alone; when it ends, the program goes on, and nothing was lost"""
    program(it)
    work = 'workload: [{name: to-h4, pattern: pairs, from: [h2], to: [h4], message: 1MiB, messages: 100000, dscp: 3, rate: 1Gbps}]\n'
    with lab(it, more=work):
        yield from it('link', 'spine2', 'down').exited(0)
        talk = Talk(it, 30, timeout=18)  # 1.07 s, up to eight times
        talk.goes_on()
        yield from it('inject', 'h4', 'storm').exited(0)
        talk.until('pauses at tor1', lambda report: report['switches']['tor1']['pfc_rx_packets'] > 0)
        before: list[int] = []

        def stands_still(report: dict) -> bool:
            before.append(sent(report, 'h1')['rcvd_pkts'])
            return len(before) > 2 and before[-3] == before[-1]
        talk.until('no answer', stands_still)
        yield from it('inject', 'h4', 'clear').exited(0)
        talk.goes_on()
        yield from talk.all_right()
        report = it.show('report')
        if report['totals']['dropped_packets']:
            yield f'{report["totals"]["drops"]}'


def short_cut(it: Softspine) -> Problems:
    """a spine goes down, then it is back and the other one goes: retries by other ways, and every byte is right"""
    program(it)
    with lab(it):
        talk = Talk(it, 40)
        for spine in ('spine1', 'spine2', 'spine1'):
            talk.goes_on()
            yield from it('link', spine, 'down').exited(0)
            talk.goes_on()
            yield from it('link', spine, 'up').exited(0)
        yield from talk.all_right()


def long_cut(it: Softspine) -> Problems:
    """no way is left for longer than all retries: one error, then flushes in order, and a queue pair in its error state; later ones are right again"""
    program(it)
    with lab(it):
        talk = Talk(it, 50, timeout=8, retries=3)
        talk.goes_on()
        for state in ('down', 'up'):
            for spine in ('spine1', 'spine2'):
                yield from it('link', spine, state).exited(0)
            if state == 'down':
                talk.until('an error', lambda report: sent(report, 'h1')['retry_exceeded_err'] > 0)
        yield from talk.fails_with(EXCEEDED)
        again = Talk(it, 51)
        again.goes_on()
        yield from again.all_right()


def receiver_not_ready(it: Softspine) -> Problems:
    """too few receives: RNR NAKs, and it is tried again until one is there; none at all: the RNR retry counter is exceeded"""
    program(it)
    with lab(it):
        talk = Talk(it, 60, receives=1)
        talk.until('RNR NAKs', lambda report: sent(report, 'h1')['rcvd_rnr_err'] > 3)
        yield from talk.all_right()
        yield from Talk(it, 61, receives=0, rnr_retries=3).fails_with('RNR retry counter exceeded')


if __name__ == '__main__':
    sys.exit(main([loss_and_damage, spray, marks, storm, short_cut, long_cut, receiver_not_ready]))
