# SPDX-License-Identifier: Apache-2.0
"""softspine-verbs between rdma_rxe guests with 1, 4 and 16 queue pairs: the uplink of every packet is the one that `explain`
names, with and without the destination QP in the hash; one source port is one uplink, unless the QP is in the hash."""
from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from one_run import tshark
from outside_testbeds import need_guests, whole_run
from softspine import Problems, Softspine, main

PORT = 50_000
QP_UDF = 'hash: {udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: 4791}}]}'
# h1 → h3 over IPv4, h2 → h4 by name, which is IPv6. Both at once; phase by phase.
TESTBED = '''name: queue-pairs
run: {{clock: wall, duration: 5min}}
fabric:
  kind: leaf-spine
  tors: 2
  spines: 2
  hosts_per_tor: 2
  host_link: {{rate: 10Gbps, length: 3m, mtu: 4200}}
  fabric_link: {{rate: 10Gbps, length: 40m, mtu: 4200}}
profiles: {{default: {{{profile}}}}}
topology:
  nodes:
    h1: {{guest: {{kind: uml, timeout: 5min, run: "to=10.0.2.2; {client}"}}}}
    h2: {{guest: {{kind: uml, timeout: 5min, run: "to=h4; {client}"}}}}
    h3: {{guest: {{kind: uml, timeout: 5min, run: "softspine-verbs --serve --sessions {sessions} --json"}}}}
    h4: {{guest: {{kind: uml, timeout: 5min, run: "softspine-verbs --serve --sessions {sessions} --json"}}}}
expect:
  - {{value: commands.*.exit_status, equal: 0}}
  - {{value: switches.*.dropped_packets, equal: 0}}
  - {{value: totals.balanced, equal: true}}
'''
# A starved guest answers late: 1 s before a packet is sent again. Before a guest 1 MiB can wait: 16 × 2 × 16 KiB are under way.
MESSAGES, BYTES = 256, 16_384
VERBS = f'softspine-verbs $to --wait 60s --ack-timeout 18 --json --messages {MESSAGES} --message {BYTES}B --depth 2'
PHASES = {'1 QP': '--qps 1', '4 QPs': '--qps 4', '16 QPs': '--qps 16', '4 QPs, split': '--qps 4 --scaling split',
          '16 QPs, one source port': f'--qps 16 --source-port {PORT}'}
CLIENTS = ('h1', 'h2')
FIELDS = ('frame.interface_name', 'ip.src', 'ipv6.src', 'udp.srcport', 'infiniband.bth.destqp', 'infiniband.bth.psn',
          'infiniband.bth.opcode')


def results_of(stdout: Path) -> list[dict]:
    """One JSON object after the other."""
    text, at, found = stdout.read_text(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        result, end = json.JSONDecoder().raw_decode(text[at:])
        found.append(result)
        at += end
    return found


def roce_frames(capture: Path, where: str) -> list[tuple[str, tuple[str, ...]]]:
    """(port that sent it, what tells it from others)"""
    rows = tshark('-r', capture, '-Y', f'udp.dstport == 4791 && {where}', '-T', 'fields', *(word for name in FIELDS for word in ('-e', name)))
    return [(row.split('\t')[0], tuple(row.split('\t')[1:])) for row in rows.splitlines()]


def verified(results: list[dict]) -> Problems:
    for phase, result in zip(PHASES, results, strict=True):
        if not result['verified'] or result['verified_bytes'] != MESSAGES * BYTES or result['sent_bytes'] != MESSAGES * BYTES:
            yield f'{phase}: {result}'
        lost = {name: count for name, count in result['local_counters'].items() if count and name in ('out_of_seq_request', 'rcvd_seq_err')}
        if lost or result['completion_p50_ns'] > result['completion_p99_ns'] or result['bandwidth_bps'] < 1:
            yield f'{phase}: {lost} {result}'


def as_explained(it: Softspine, file: Path, capture: Path) -> tuple[list[str], Counter]:
    """Problems, and how many packets each (port, source address, destination QP) took."""
    sent = it.folder / 'sent.pcapng'
    tshark('-r', capture, '-Y', 'udp.dstport == 4791 && frame.interface_name matches "^h"', '-w', sent)
    told = [json.loads(line) for line in it('explain', file, '--pcap', sent, '--json', timeout=300).out.splitlines()]
    frames = [what for _, what in roce_frames(sent, 'ip || ipv6')]
    if len(told) != len(frames) or len(frames) < 5_000:
        return [f'{len(frames)} packets, {len(told)} explained'], Counter()
    predicted = Counter((f'{packet["hops"][0]["switch"]}:{packet["hops"][0]["out_port"]}', *what) for packet, what in zip(told, frames, strict=True))
    measured = Counter((port, *what) for port, what in roce_frames(capture, 'frame.interface_name matches "^tor.:Ethernet(8|12)"'))
    wrong = (predicted - measured) + (measured - predicted)
    print(f'# {len(frames)} packets, {sum(wrong.values())} not where explain says')
    shares: Counter = Counter()
    for (port, ipv4, ipv6, _, qp, _, _), count in measured.items():
        shares[port, ipv4 or ipv6, int(qp, 16)] += count
    return [f'explained and measured differ: {wrong.most_common(3)}'] if wrong else [], shares


def uplinks_of(shares: Counter, result: dict) -> dict[str, int]:
    """Of the data of one phase: packets by uplink."""
    wanted = {pair['peer_qp'] for pair in result['by_queue_pair']}
    found: Counter = Counter()
    for (port, source, qp), count in shares.items():
        if source == result['from'] and qp in wanted:
            found[port] += count
    return dict(sorted(found.items()))


def whole(it: Softspine, profile: str) -> tuple[list[str], dict[str, list[dict]], Counter]:
    need_guests()
    client = ' && '.join(f'{VERBS} {options}' for options in PHASES.values())
    file = it.write('queue-pairs.yaml', TESTBED.format(profile=profile, client=client, sessions=len(PHASES)))
    _, problems = whole_run(it, file, '--capture', 'c.pcapng', '--snaplen', 128, timeout=400)
    results = {host: results_of(it.folder / 'o' / host / 'stdout') for host in CLIENTS}
    for host in CLIENTS:
        problems += [f'{host}: {problem}' for problem in verified(results[host])]
    more, shares = as_explained(it, file, it.folder / 'c.pcapng')
    for number, phase in enumerate(PHASES):
        told = [f'{host} {uplinks_of(shares, results[host][number])}' for host in CLIENTS]
        print(f'# {phase}: {"; ".join(told)}')
    return problems + more, results, shares


def by_the_five_tuple(it: Softspine) -> Problems:
    """hash without QP: each packet takes the uplink that explain names; 16 queue pairs with one source port share one"""
    problems, results, shares = whole(it, 'hash: {}')
    yield from problems
    for host in CLIENTS:
        *others, spread, _, pinned = (uplinks_of(shares, result) for result in results[host])
        if len(pinned) != 1 or len(others[0]) != 1:
            yield f'{host}: one source port took {pinned}, one queue pair {others[0]}'
        if len(spread) != 2:
            yield f'{host}: 16 source ports took {spread}'
        if {pair['source_port'] for pair in results[host][-1]['by_queue_pair']} != {PORT}:
            yield f'{host}: told other ports than {PORT}'


def with_the_queue_pair(it: Softspine) -> Problems:
    """hash with a UDF on the QP: each packet takes the uplink that explain names; 16 queue pairs with one source port spread"""
    problems, results, shares = whole(it, QP_UDF)
    yield from problems
    for host in CLIENTS:
        pinned = uplinks_of(shares, results[host][-1])
        if len(pinned) != 2 or min(pinned.values()) * 4 < max(pinned.values()):
            yield f'{host}: 16 queue pairs with one source port took {pinned}'


if __name__ == '__main__':
    sys.exit(main([by_the_five_tuple, with_the_queue_pair]))
