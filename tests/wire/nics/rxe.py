# SPDX-License-Identifier: Apache-2.0
"""Hosts with rdma_rxe at the far ends of the cables: RoCEv2 of real hosts goes in and out of NICs that softspine drives, and DCQCN acts on it."""
from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

from lab import KINDS, Lab
from machine import Machine, mac_of
from pcapng import records_by_port
from peers import MTU, Peers, name_of, wait_for

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from rxe_incast import icrc_is_right  # noqa: E402
from softspine import Problems, Softspine, main  # noqa: E402

HOST = '    h{n}: {{kind: host, address: 10.0.1.1{n}, mac: "{mac}", nic: {{congestion_control: dcqcn_connectx}}, edge: {{dpdk: "{device}"}}}}'
LINK = f'    - {{{{endpoints: [tor1, h{{n}}], rate: {{rate}}, mtu: {MTU}}}}}'
PAIRS = [[0, 1], [2, 3]]
PORTS = [(f'tor1:Ethernet{4 * n}', f'h{n + 1}:eth0') for n in range(len(KINDS))]
SLOW = (1, 3)  # behind links so slow that their queues are marked
TOOLS = ('rping', 'ib_write_bw', 'ib_read_bw')
RUN = 'pairs --one-by-one --tclass 14 --messages 60 --limit 240 rping write_bw read_bw'  # DSCP 3 and ECT(0)
LOSSES = ('out_of_seq_request', 'rcvd_seq_err')  # a host that lacks time sends again as well, but in sequence
CNP, MARKED = 0x81, 3
LINE, TIME_RESET_US = 1000, 300  # bits in a microsecond; of a ConnectX adapter
MINUTES = 8


def testbed(machine: Machine) -> str:
    hosts = '\n'.join(HOST.format(n=n + 1, mac=mac_of(n), device=machine.address(n)) for n in range(len(KINDS)))
    links = '\n'.join(LINK.format(n=n + 1, rate='100Mbps' if n in SLOW else '1Gbps') for n in range(len(KINDS)))
    return ('name: rxe\nrun: {clock: wall, duration: 20min}\nprofiles:\n  default:\n    base: lossless\n    WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, '
            'wred_green_enable: true, green_min_threshold: 8KiB, green_max_threshold: 40KiB, green_drop_probability: 100%}}\n'
            f'topology:\n  nodes:\n    tor1: {{kind: switch, role: tor}}\n{hosts}\n  links:\n{links}\n')


def roce(frames: list[bytes]) -> list[bytes]:
    return [frame for frame in frames if frame[12:14] == b'\x08\0' and frame[23] == 17 and struct.unpack_from('>H', frame, 36)[0] == 4791]


def queue_pair(frame: bytes) -> int:
    return struct.unpack_from('>I', frame, 46)[0] & 0xFFFFFF


def bits_of(frame: bytes) -> int:
    return 8 * (max(len(frame), 60) + 24)


def is_cnp(frame: bytes) -> bool:
    return frame[42] == CNP


def tests_done(peers: Peers, nic: int) -> Problems:
    path = peers.folder_of(nic) / 'results.jsonl'
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if [(test['tool'], test['exit'], test['server_exit']) for test in done] != [(tool, 0, 0) for tool in TOOLS]:
        yield f'{name_of(nic)}, {KINDS[nic]}: {done}\n{peers.said(nic)}'


def counted_alike(peers: Peers, nic: int, frames: dict[str, list[bytes]], edge: dict) -> Problems:
    """The host's own driver, the capture at both sides of the NIC, and the NIC's counters."""
    what = f'{name_of(nic)}, {KINDS[nic]}'
    counters, (switch, host) = peers.counters(nic), PORTS[nic]
    into, out = roce(frames[host]), roce(frames[switch])
    own = [frame for frame in into if not is_cnp(frame)]  # CNPs are the NIC's
    if len(own) != counters['sent_pkts'] or len([f for f in out if not is_cnp(f)]) != counters['rcvd_pkts']:
        yield f'{what}: rxe sent {counters["sent_pkts"]} and received {counters["rcvd_pkts"]}; the capture has {len(own)} and {len(out)}'
    if bad := [frame for frame in into + out if not icrc_is_right(frame)]:
        yield f'{what}: {len(bad)} frames have a wrong ICRC, such as {bad[0][:70].hex()}'
    if lost := {name: counters[name] for name in LOSSES if counters[name]}:
        yield f'{what}: rxe has missed packets: {lost}'
    marked = sum(frame[15] & 3 == MARKED for frame in out)
    seen = {'np_ecn_marked_roce_packets': marked, 'np_cnp_sent': len(into) - len(own), 'rp_cnp_handled': sum(map(is_cnp, out))}
    print(f'# {what}: {seen}')
    if {name: edge[name] for name in seen} != seen:
        yield f'{what}: the capture has {seen}, the NIC counts { {name: edge[name] for name in seen} }'
    if nic in SLOW and not 0 < seen['np_cnp_sent'] <= marked:
        yield f'{what}: {seen}'
    if nic not in SLOW and seen['rp_cnp_handled'] == 0:
        yield f'{what}: no CNP has come'


def first_cut_obeyed(nic: int, records: dict[str, list[tuple[float, bytes]]]) -> Problems:
    """The first CNP of a queue pair takes 1023/2048 of line rate. Until the rate grows by time, what of its frames has begun since the CNP
    fits under that rate, and to the bit where frames wait for it. Times are those of a frame's end."""
    switch, host = PORTS[nic]
    cut, qp = next((at, queue_pair(frame)) for at, frame in records[switch] if roce([frame]) and is_cnp(frame))
    bits, waits = 0, []
    for at, frame in records[host]:
        began = at - bits_of(frame) / LINE
        if cut < began < cut + TIME_RESET_US and roce([frame]) and not is_cnp(frame) and queue_pair(frame) == qp:
            waits.append(began - cut - bits / (LINE * (1 - 1023 / 2048)))
            bits += bits_of(frame)
    print(f'# {name_of(nic)}, {KINDS[nic]}: {len(waits)} frames in the {TIME_RESET_US} µs after the first cut')
    if min(waits, default=0) < -0.1 or min(map(abs, waits[1:]), default=0) > 0.1:  # a slow host may have none in so short a time
        yield f'{name_of(nic)}, {KINDS[nic]}: after the CNP at {cut} µs its frames began so much later than the rate asks: {waits} µs'


def rxe_hosts(it: Softspine, driver: str) -> Problems:
    with Machine(it.folder, it.binary, KINDS, driver, has_peers=True) as machine, Peers(it.folder, PAIRS, RUN) as peers:
        lab = Lab(machine, PORTS)
        lab.start(testbed(machine))
        is_done = wait_for(machine, peers.are_done, MINUTES * 60)
        yield from lab.end()
        if not is_done:
            yield 'not all hosts came to an end:\n' + '\n'.join(peers.said(nic) for nic in range(len(KINDS)))
            return
        records = records_by_port(machine.job / 'it.pcapng')
        frames = {port: [frame for _, frame in rows] for port, rows in records.items()}
        report = json.loads((machine.job / 'report.json').read_text())
        for nic in range(len(KINDS)):
            yield from tests_done(peers, nic)
            yield from counted_alike(peers, nic, frames, report['edges'][name_of(nic)])
            if nic not in SLOW:
                yield from first_cut_obeyed(nic, records)
        if report['switches']['tor1']['dropped_packets']:
            yield f"tor1 has dropped {report['switches']['tor1']['drops']}"


def under_uio(it: Softspine) -> Problems:
    """rdma_rxe hosts at the ends of the cables of four kinds of device, under uio_pci_generic, and DCQCN between them"""
    yield from rxe_hosts(it, 'uio_pci_generic')


def under_vfio(it: Softspine) -> Problems:
    """rdma_rxe hosts at the ends of the cables of four kinds of device, under vfio-pci, and DCQCN between them"""
    yield from rxe_hosts(it, 'vfio-pci')


if __name__ == '__main__':
    sys.exit(main([under_uio, under_vfio]))
