# SPDX-License-Identifier: Apache-2.0
"""dual-tor-bond, whole: real bonds over two ToRs that answer as one system, rdma_rxe over them, links cut and repaired."""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from one_run import tshark
from outside_testbeds import need_guests, whole_run
from softspine import TESTBEDS, Problems, Softspine, main

PING_EVERY = 0.05
# The kernel looks at the carrier every 100 ms (miimon); twice that is what a cut may cost.
LONGEST_GAP = 2 * 0.1
# As the testbed has them, in seconds.
FIRST_CUT, LAST_REPAIR = 45, 69
TO_HOSTS = ('tor1:Ethernet0', 'tor1:Ethernet4', 'tor2:Ethernet0', 'tor2:Ethernet4')
SYSTEM = '00:00:5e:00:01:01'


def one_aggregate(bonding: str) -> Problems:
    """At the end, in the words of the kernel."""
    head, *ports = bonding.split('Slave Interface: ')
    if 'IEEE 802.3ad' not in head or 'Number of ports: 2' not in head or f'Partner Mac Address: {SYSTEM}' not in head:
        yield f'no aggregate of two ports:\n{bonding}'
    aggregators = re.findall(r'Aggregator ID: (\d+)', bonding)
    if len(ports) != 2 or len(aggregators) != 3 or len(set(aggregators)) != 1:
        yield f'the ports are in the aggregates {aggregators}, the active one first'
    partners = [re.search(r'details partner lacp pdu:.*?port number: (\d+)', port, re.S) for port in ports]
    numbers = [int(found[1]) for found in partners if found]
    if len(numbers) != 2 or numbers[1] - numbers[0] != 1024:
        yield f'the numbers of the ToRs\' ports are {numbers}'


def failures(bonding: str) -> list[int]:
    return [int(count) for count in re.findall(r'Link Failure Count: (\d+)', bonding)]


def gaps(pings: str) -> list[int]:
    """How many pings were lost in a row, each time."""
    answered = [int(number) for number in re.findall(r'bytes from .*icmp_seq=(\d+)', pings)]
    return [after - before - 1 for before, after in zip(answered, answered[1:]) if after - before > 1]


def pings_go_on(folder: Path) -> Problems:
    for guest, peer in (('h1', 'h2'), ('h2', 'h1')):
        text = (folder / guest / f'pings.{peer}').read_text()
        lost, sent = gaps(text), len(re.findall('bytes from', text))
        print(f'# {guest} to {peer}: {sent} pings answered, lost in a row: {lost}')
        if sent < 500:
            yield f'{guest} to {peer}: only {sent} pings were answered:\n{text[-500:]}'
        if any(count * PING_EVERY > LONGEST_GAP for count in lost):
            yield f'{guest} to {peer}: gaps of {[round(count * PING_EVERY, 2) for count in lost]} s, {LONGEST_GAP} s are allowed'


def queue_pairs_survive(folder: Path) -> Problems:
    results = [json.loads(line) for path in folder.glob('*/results.jsonl') for line in path.read_text().splitlines()]
    good = [(r['tool'], r['from'], r['to']) for r in results if r['exit'] == 0 and r['server_exit'] == 0]
    wanted = [(tool, *pair) for tool in ('ib_write_bw', 'rping') for pair in (('h1', 'h2'), ('h2', 'h1'))]
    print(f'# writes, Gb/s: {[r.get("gbps") for r in results if r["tool"] == "ib_write_bw"]}')
    if sorted(good) != sorted(wanted):
        yield f'ended well: {good}'
        return
    # The run ends when the last command has: what began so long before has met all cuts, and more than what was under way then.
    end, last = ends_at(folder.parent / 'c.jsonl'), max(r['ended'] for r in results)
    for r in results:
        began, ended = (end - (last - r[key]) for key in ('began', 'ended'))
        print(f'# {r["tool"]} {r["from"]} to {r["to"]}: {began:.1f} s to {ended:.1f} s, {r.get("rounds", 1)} times')
        if began > FIRST_CUT or ended < LAST_REPAIR:
            yield f'{r["tool"]} from {r["from"]} to {r["to"]} went on from {began:.1f} s to {ended:.1f} s: it has not met all cuts'


def samples(counters: Path) -> list[dict]:
    return [json.loads(line) for line in counters.read_text().splitlines()]


def ends_at(counters: Path) -> float:
    return samples(counters)[-1]['end_ps'] * 1e-12


def both_tors_carry_again(counters: Path) -> Problems:
    """After the last repair each ToR's port to each guest has packets, by far more than LACP's."""
    begin = (LAST_REPAIR + 2) * 1e12
    rows = [row for row in samples(counters) if row.get('port') in TO_HOSTS and 'priority' not in row and row['t_ps'] > begin]
    carried = dict.fromkeys(TO_HOSTS, 0)
    for row in rows:  # each has what was added, and of what has changed
        carried[row['port']] += row.get('rx_packets', 0) + row.get('tx_packets', 0)
    print(f'# packets after the last repair: {carried}')
    yield from (f'{port} carried {count} packets after the last repair' for port, count in carried.items() if count < 1000)


def lacpdus_are_good(capture: Path) -> Problems:
    """Of both ToRs, to tshark: nothing malformed, one system, numbers of ports shifted, all in use."""
    names = ('lacp.actor.sysid', 'lacp.actor.port', 'lacp.actor.key', 'lacp.actor.state', '_ws.malformed', 'lacp.version')
    rows = tshark('-r', capture, '-Y', f'lacp && lacp.actor.sysid == {SYSTEM}', '-T', 'fields', *(word for name in names for word in ('-e', name)))
    frames = [row.split('\t') for row in rows.splitlines()]
    seen = {(port, key) for _, port, key, *_ in frames}
    if {(int(port), int(key, 0)) for port, key in seen} != {(1025, 1), (1026, 2), (2049, 1), (2050, 2)}:
        yield f'ports and keys of the ToRs: {sorted(seen)}'
    if bad := [frame for frame in frames if frame[4] or int(frame[5], 0) != 1]:
        yield f'tshark complains of {bad[:3]}'
    used = {port for _, port, _, state, *_ in frames if int(state, 0) == 0x3f}
    if len(used) != 4:
        yield f'collecting and distributing were the ports {sorted(used)}'


def dual_tor_bond(it: Softspine) -> Problems:
    """dual-tor-bond: one aggregate over two ToRs; queue pairs survive cut links, pings pause no longer than detection takes"""
    need_guests()
    report, problems = whole_run(it, TESTBEDS / 'dual-tor-bond.yaml', '--capture', 'c.pcapng', '--capture-filter', 'ether proto 0x8809',
                                 '--counters-file', 'c.jsonl', '--sample-interval', '1s', '--counters', 'tx_packets,rx_packets', timeout=540)
    yield from problems
    folder = it.folder / 'o'
    bonding = {guest: (folder / guest / 'bonding').read_text() for guest in ('h1', 'h2')}
    for text in bonding.values():
        yield from one_aggregate(text)
    if (failed := {guest: failures(text) for guest, text in bonding.items()}) != {'h1': [1, 0], 'h2': [0, 1]}:
        yield f'ports that failed, by guest: {failed}'
    yield from queue_pairs_survive(folder)
    yield from both_tors_carry_again(it.folder / 'c.jsonl')
    yield from pings_go_on(folder)
    yield from lacpdus_are_good(it.folder / 'c.pcapng')
    # That a partner is lost is true of a guest that has ended before the other.
    odd = ('own system', 'no partner has', 'never agreed', 'another', 'were no LACPDUs')
    if notes := [note for note in report['notes'] if any(word in note for word in odd)]:
        yield f'notes: {notes}'


if __name__ == '__main__':
    sys.exit(main([dual_tor_bond]))
