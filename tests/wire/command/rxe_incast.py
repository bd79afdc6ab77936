# SPDX-License-Identifier: Apache-2.0
"""rxe-incast, whole: three rdma_rxe guests write to a fourth through a slow link; with pauses, without, and with DCQCN."""
from __future__ import annotations

import json
import struct
import sys
import zlib
from pathlib import Path

from one_run import tshark
from outside_testbeds import need_guests, whole_run
from softspine import TESTBEDS, Problems, Softspine, main

TESTBED = TESTBEDS / 'rxe-incast.yaml'
WRITERS = ('h1', 'h2', 'h3')
RETRIES = ('out_of_seq_request', 'rcvd_seq_err', 'duplicate_request', 'completer_retry_err')


def rxe(report: dict, host: str) -> dict[str, int]:
    return report['commands'][host]['counters']['rxe0']


def sum_of(report: dict, counter: str) -> int:
    return sum(rxe(report, host)[counter] for host in (*WRITERS, 'h4'))


def each_wrote(it: Softspine) -> Problems:
    results = [json.loads(line) for path in (it.folder / 'o').glob('*/results.jsonl') for line in path.read_text().splitlines()]
    done = {r['from']: r.get('gbps') for r in results if r['to'] == 'h4' and r['exit'] == 0 and r['server_exit'] == 0}
    print(f'# bandwidth by writer, Gb/s: {done}')
    if sorted(done) != sorted(WRITERS) or not all(done.values()):
        yield f'not every guest has written to h4: {results}'


def packets_of(capture: Path, which: str, out: Path) -> list[bytes]:
    """The frames that a display filter lets pass, as bytes."""
    tshark('-r', capture, '-Y', which, '-F', 'pcap', '-w', out)
    data, at, frames = out.read_bytes(), 24, []
    while at < len(data):
        captured, length = struct.unpack_from('<II', data, at + 8)
        if captured == length:
            frames.append(data[at + 16:at + 16 + captured])
        at += 16 + captured
    return frames


def icrc_is_right(frame: bytes) -> bool:
    """By zlib's CRC over what annex A17 says, masked as it says; IPv4 without options."""
    packet = bytearray(frame[14:14 + struct.unpack_from('>H', frame, 16)[0]])
    icrc = struct.unpack_from('<I', packet, len(packet) - 4)[0]
    for at in (1, 8, 10, 11, 26, 27, 32):
        packet[at] = 0xff
    return zlib.crc32(b'\xff' * 8 + bytes(packet[:-4])) == icrc


def pauses_and_marks_are_in_it(it: Softspine) -> Problems:
    capture = it.folder / 'c.pcapng'
    for port in ('tor2:', 'spine1:', 'tor1:'):
        rows = tshark('-r', capture, '-Y', f'macc.opcode == 0x0101 && frame.interface_name contains "{port}"', '-T', 'fields', '-e', 'frame.number')
        if not rows.split():
            yield f'no pause frame of {port} is in the capture'
    marked = packets_of(capture, 'ip.dsfield.ecn == 3 && frame.interface_name contains "tor2:"', it.folder / 'marked.pcap')
    if len(marked) < 100:
        yield f'{len(marked)} marked packets are in the capture'
    wrong = sum(not icrc_is_right(frame) for frame in marked)
    if wrong:
        yield f'{wrong} of {len(marked)} marked packets have a wrong ICRC'


def nothing_is_lost(it: Softspine) -> Problems:
    """rxe-incast: three guests write through one slow link, and pauses see to it that nothing is lost"""
    need_guests()
    report, problems = whole_run(it, TESTBED, '--capture', 'c.pcapng', '--snaplen', 4300, '--capture-limit', '150MB', timeout=500)
    yield from problems
    yield from each_wrote(it)
    for host in (*WRITERS, 'h4'):
        if rxe(report, host)['out_of_seq_request'] != 0:
            yield f'{host} saw a packet out of sequence: {rxe(report, host)}'
    # rdma_rxe counts a packet as received once it has found its ICRC right: so none was damaged by being marked.
    sent, received = sum_of(report, 'sent_pkts'), sum_of(report, 'rcvd_pkts')
    paused = {host: report['edges'][host]['paused_ps'] / 1e12 for host in WRITERS}
    marked = report['switches']['tor2']['ecn_marked_packets']
    print(f'# {sent} RoCE packets sent, {received} received, {marked} marked; paused for {paused} s')
    if sent != received or sent < 3 * 4800:
        yield f'{sent} packets sent, {received} taken by queue pairs'
    if min(paused.values()) == 0:
        yield f'paused for {paused} s'
    yield from pauses_and_marks_are_in_it(it)


def without_pauses(it: Softspine) -> Problems:
    """rxe-incast without PFC: the slow link's switch drops, and the guests have to send again"""
    need_guests()
    text = TESTBED.read_text()
    text = text[:text.index('expect:')].replace('base: lossless\n', 'base: lossless\n    PORT_QOS_MAP: {global: {pfc_enable: []}}\n')
    report, problems = whole_run(it, it.write('it.yaml', text.replace('pairs --to', 'pairs --messages 60 --to')), timeout=500)
    yield from problems
    drops = report['switches']['tor2']['dropped_packets'] + report['switches']['spine1']['dropped_packets'] + report['switches']['tor1']['dropped_packets']
    retries = {name: sum_of(report, name) for name in RETRIES}
    print(f'# {drops} packets dropped; {retries}')
    if drops == 0 or report['switches']['tor2']['pfc_tx_packets'] != 0:
        yield f'{drops} drops, {report["switches"]["tor2"]}'
    if retries['out_of_seq_request'] == 0 or retries['rcvd_seq_err'] == 0:
        yield f'nobody had to send again: {retries}'


def with_dcqcn(it: Softspine) -> Problems:
    """rxe-incast with DCQCN in the NICs: marks become CNPs, and CNPs hold the guests to rates"""
    need_guests()
    text = TESTBED.read_text()
    text = text[:text.index('expect:')].replace('kind: host, guest:', 'kind: host, nic: {congestion_control: dcqcn_paper}, guest:')
    report, problems = whole_run(it, it.write('it.yaml', text), timeout=500)
    yield from problems
    yield from each_wrote(it)
    edges = report['edges']
    np, rp = edges['h4']['np_cnp_sent'], {host: edges[host]['rp_cnp_handled'] for host in WRITERS}
    ignored = sum(edges[host]['rp_cnp_ignored'] for host in WRITERS)
    print(f'# {edges["h4"]["np_ecn_marked_roce_packets"]} marked, {np} CNPs, handled {rp}, pauses of tor2: {report["switches"]["tor2"]["pfc_tx_packets"]}')
    if np == 0 or sum(rp.values()) + ignored != np or ignored > np / 10:
        yield f'{np} CNPs sent, {rp} handled: {edges}'
    # One that has no processor for a while is slower than its rate.
    if not any(edges[host]['held_by_rate'] for host in WRITERS):
        yield f'nobody was held to a rate: {edges}'
    # A guest that has no processor for a while may lose what is no RoCE: its NIC pauses the lossless priorities only.
    sent, received = sum_of(report, 'sent_pkts'), sum_of(report, 'rcvd_pkts')
    drops = report['totals']['drops']
    if report['totals']['dropped_packets'] != drops['edge_full'] or sent != received:
        yield f'{sent} packets sent, {received} taken by queue pairs; drops: {drops}'


if __name__ == '__main__':
    sys.exit(main([nothing_is_lost, without_pauses, with_dcqcn]))
