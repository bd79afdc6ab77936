# SPDX-License-Identifier: Apache-2.0
"""NICs are taken out of the machine while softspine drives them: the run says so, and goes on with the others."""
from __future__ import annotations

import json
import sys
from pathlib import Path

from lab import BROADCAST, GATEWAY, KINDS, Lab, arp, ip_of, is_echo_reply, is_from, mac_bytes, ping, udp
from machine import Machine, mac_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from softspine import Problems, Softspine, main  # noqa: E402

HOST = '    h{n}: {{kind: host, address: 10.0.1.1{n}, mac: "{mac}", edge: {{dpdk: "{device}"}}}}'
LINK = '    - {{endpoints: [tor1, h{n}], rate: 1Gbps, mtu: 4200}}'
NICS = [*KINDS, 'e1000']  # h1 to h5, of which h5 stays
STAYS = len(KINDS)
COUNT = 20
PORTS = [(f'tor1:Ethernet{4 * n}', f'h{n + 1}:eth0') for n in range(len(NICS))]


def testbed(machine: Machine) -> str:
    lines = {text: '\n'.join(text.format(n=n + 1, mac=mac_of(n), device=machine.address(n)) for n in range(len(NICS))) for text in (HOST, LINK)}
    return ('name: unplugged\nrun: {clock: wall, duration: 20min}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n'
            f'{lines[HOST]}\n  links:\n{lines[LINK]}\n')


def what_was_said(lab: Lab, nic: int) -> str:
    return f'{lab.machine.address(nic)}: the device was taken out of this machine'


def frames_to(lab: Lab, nic: int) -> int:
    return sum(is_from(STAYS)(frame) for frame in lab.machine.cables[nic].received)


def one_after_the_other(it: Softspine, driver: str) -> Problems:
    """While frames come for it, each kind is taken out; the last host goes on."""
    with Machine(it.folder, it.binary, NICS, driver, has_slots=True) as machine:
        lab = Lab(machine, PORTS)
        lab.start(testbed(machine), '--events', 'events.jsonl')
        for nic in range(len(NICS)):
            lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
            lab.receives(nic, lambda frame: frame[28:32] == GATEWAY, 'answer of the gateway')
        for nic in range(len(KINDS)):
            lab.send(STAYS, *(udp(STAYS, mac_bytes(nic), ip_of(nic), number, 100) for number in range(COUNT)))
            lab.receives(nic, lambda _, nic=nic: frames_to(lab, nic) == COUNT, 'last frame of the host that stays')
            machine.take_out(nic)
            lab.send(STAYS, *(udp(STAYS, mac_bytes(nic), ip_of(nic), number, 100) for number in range(COUNT)))
            lab.until(f'[ ! -e /sys/bus/pci/devices/{machine.address(nic)} ]', 30)
            lab.until(f'softspine show links | grep "tor1:Ethernet{4 * nic} .* D "', 20)
            lab.send(STAYS, *(udp(STAYS, lab.gateway, ip_of(nic), number, 100) for number in range(COUNT)))
            lab.send(STAYS, ping(STAYS, lab.gateway, GATEWAY, 100 + 2 * nic))
            lab.receives(STAYS, lambda frame, nic=nic: is_echo_reply(GATEWAY)(frame) and len(frame) == 14 + 20 + 8 + 100 + 2 * nic, 'answer to a ping')
        status, _ = lab.sh('kill -INT $(cat pid); wait $(cat pid)')
        stderr = (machine.job / 'err').read_text()
        if status != 1 or 'defect' in stderr:
            yield f'{driver}: ended with {status}, which is to be 1: {stderr[-1500:]}'
        report = json.loads((machine.job / 'report.json').read_text())
        events = [json.loads(line) for line in (machine.job / 'events.jsonl').read_text().splitlines()]
        wanted = [(f'h{nic + 1}', what_was_said(lab, nic)) for nic in range(len(KINDS))]
        if (errors := [(each['who'], each['what']) for each in report['errors']]) != wanted:
            yield f'{driver}: the errors are {errors}, and should be {wanted}'
        gone = [each['what'] for each in events if each.get('event') == 'outside_gone']
        if gone != [f'h{nic + 1}:eth0: {what_was_said(lab, nic)}' for nic in range(len(KINDS))]:
            yield f'{driver}: the events have {gone}'
        if not report['totals']['balanced']:
            yield f'{driver}: not balanced: {report["totals"]}'
        for nic in range(len(KINDS)):
            if f'softspine: h{nic + 1}: {what_was_said(lab, nic)}' not in stderr:
                yield f'{driver}: stderr does not name {machine.address(nic)}: {stderr[-1500:]}'
            yield from counted(driver, nic, report, machine)
        if (dropped := sum(report['totals']['drops'].get(reason, 0) for reason in ('link_down', 'neighbour_incomplete'))) < COUNT * len(KINDS):
            yield f'{driver}: of {COUNT * len(KINDS)} packets to hosts that were gone {dropped} are counted: {report["totals"]["drops"]}'


def counted(driver: str, nic: int, report: dict, machine: Machine) -> Problems:
    """What was handed to the device has come out of it, but for what it had in its rings."""
    handed, came = report['edges'][f'h{nic + 1}']['out_packets'], len(machine.cables[nic].received)
    if not came <= handed <= came + COUNT:
        yield f'{driver}, {NICS[nic]}: {handed} frames were handed out, and {came} came'


def under_uio(it: Softspine) -> Problems:
    """NICs are taken out under uio_pci_generic: errors and events name them, and the others go on"""
    yield from one_after_the_other(it, 'uio_pci_generic')


def under_vfio(it: Softspine) -> Problems:
    """NICs are taken out under vfio-pci: the kernel gets them back at once, and the others go on"""
    yield from one_after_the_other(it, 'vfio-pci')


if __name__ == '__main__':
    sys.exit(main([under_uio, under_vfio]))
