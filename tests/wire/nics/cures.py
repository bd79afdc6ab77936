# SPDX-License-Identifier: Apache-2.0
"""A machine with NICs and no preparation: `softspine doctor` says what is missing, its commands mend it, and `show devices` is right."""
from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from lab import BROADCAST, GATEWAY, KINDS, Lab, arp, ip_of, mac_bytes
from machine import Machine

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from outside_testbeds import need_programs
from softspine import Problems, Softspine, main  # noqa: E402

FRAMES = 40
TESTBED = '''name: nics
run: {{clock: wall, duration: 20min}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
{hosts}
  links:
{links}
'''
# As QEMU 7.2 has them: DPDK's driver, and what it says of the speed.
DRIVERS = {'e1000': ('net_e1000_em', 1000), 'e1000e': ('net_e1000_em', 1000), 'vmxnet3': ('net_vmxnet3', 10000), 'virtio-net-pci': ('net_virtio', None)}


def testbed(machine: Machine) -> str:
    numbers = range(len(KINDS))
    return TESTBED.format(
        hosts='\n'.join(f'    h{n + 1}: {{kind: host, address: 10.0.1.1{n + 1}, edge: {{dpdk: "{machine.address(n)}"}}}}' for n in numbers),
        links='\n'.join(f'    - {{endpoints: [tor1, h{n + 1}], rate: 1Gbps, mtu: 1500}}' for n in numbers))


def doctor(machine: Machine) -> tuple[int, list[dict]]:
    status, _ = machine.sh('softspine doctor it.yaml --json >rows')
    return status, [row for row in json.loads((machine.job / 'rows').read_text())['rows'] if row['state'] in ('missing', 'unknown')]


def follows_the_cures(machine: Machine) -> Problems:
    """Each, as it stands there."""
    status, missing = doctor(machine)
    wanted = {'hugepages', *(machine.address(nic) for nic in range(len(KINDS)))}
    if status != 1 or {row['what'] for row in missing} != wanted:
        yield f'{machine.driver}: doctor ends with {status} and misses {missing}'
    for row in missing:
        command = row['mend'].removeprefix('as root: ')
        said = machine.sh(command)
        if machine.driver not in command and row['what'] != 'hugepages':
            yield f'{machine.driver}: {command} said {said}'
    status, missing = doctor(machine)
    if status != 0:
        yield f'{machine.driver}: with all mended doctor ends with {status} and misses {missing}'


def bring_setpriv(machine: Machine) -> str:
    """The one that takes rights away (busybox's does not), by its path in the machine."""
    rights = machine.job / 'rights'
    rights.mkdir()
    program = shutil.which('setpriv')
    said = subprocess.run(['ldd', program], capture_output=True, text=True, check=True).stdout
    for file in (program, *re.findall(r'=> (/\S+)', said)):
        shutil.copy(file, rights)
    return 'LD_LIBRARY_PATH=/job/rights /job/rights/setpriv'


def agrees_with_run(machine: Machine) -> Problems:
    """Whichever right is taken away: doctor misses something exactly where run does not start."""
    (machine.job / 'short.yaml').write_text(testbed(machine).replace('20min', '100ms'))
    setpriv = bring_setpriv(machine)
    refused = []
    for right in ('sys_admin', 'sys_rawio', 'ipc_lock', 'net_admin', 'dac_override', 'all'):
        less = f'{setpriv} --bounding-set=-{right} --inh-caps=-{right} softspine'
        doctor_ends, _ = machine.sh(f'{less} doctor short.yaml >said')
        run_ends, _ = machine.sh(f'{less} run short.yaml --quiet --no-server >out 2>err </dev/null', 120)
        if (doctor_ends, run_ends) not in ((0, 0), (1, 2)):
            said = ''.join((machine.job / name).read_text() for name in ('said', 'err'))
            yield f'{machine.driver}, without {right}: doctor ends with {doctor_ends}, the run with {run_ends}: {said}'
        if run_ends != 0:
            refused.append(right)
    wanted = ['sys_admin' if machine.driver == 'uio_pci_generic' else 'ipc_lock', 'all']
    if refused != wanted:
        yield f'{machine.driver}: runs are refused without {refused}, not {wanted}'


def shows_devices(lab: Lab, devices: list[dict]) -> Problems:
    for nic, (kind, device) in enumerate(zip(KINDS, devices)):
        driver, speed = DRIVERS[kind]
        there = (device['device'], device['driver'], device['bus'], device['link']['up'], device['link']['speed_mbps'])
        if there != (lab.machine.address(nic), driver, 'pci', True, speed):
            yield f'{lab.machine.driver}, {kind}: shown as {there}'
        if not all(0 < device[ring] <= 4096 for ring in ('rx_descriptors', 'tx_descriptors')) or device['mtu_bytes'] < 1500:
            yield f'{lab.machine.driver}, {kind}: {device}'
        counted = {'rx_good_packets': len(lab.sent[nic]), 'tx_good_packets': len(lab.machine.cables[nic].received)}
        if not counted.items() <= device['counters'].items():
            yield f'{lab.machine.driver}, {kind}: {device["counters"]}, where its cable has {counted}'


def mends(it: Softspine, driver: str) -> Problems:
    need_programs('setpriv')
    with Machine(it.folder, it.binary, KINDS, driver) as machine:
        lab = Lab(machine, [])
        (machine.job / 'it.yaml').write_text(testbed(machine))
        yield from follows_the_cures(machine)
        machine.sh('softspine run it.yaml >out 2>err </dev/null & echo $! >pid')
        lab.until('softspine show fabric >/dev/null 2>&1', 90)
        lab.until('! softspine show links | grep -q " D "', 30)
        for nic in range(len(KINDS)):
            for _ in range(FRAMES):
                lab.send(nic, arp(1, (mac_bytes(nic), ip_of(nic)), (b'\0' * 6, GATEWAY), BROADCAST))
        for nic in range(len(KINDS)):  # of each request an answer
            lab.receives(nic, lambda _, nic=nic: len(machine.cables[nic].received) >= FRAMES, 'last answer')
        machine.sh('softspine show devices --json >devices')
        yield from shows_devices(lab, json.loads((machine.job / 'devices').read_text()))
        yield from lab.end()
        yield from agrees_with_run(machine)


def under_uio(it: Softspine) -> Problems:
    """doctor's commands prepare a machine without an IOMMU, it knows each right that a run needs, and devices are shown as they are"""
    yield from mends(it, 'uio_pci_generic')


def under_vfio(it: Softspine) -> Problems:
    """doctor's commands prepare a machine with an IOMMU, it knows each right that a run needs, and devices are shown as they are"""
    yield from mends(it, 'vfio-pci')


class OldMachine(Machine):
    """Of x86-64-v2: no AVX."""

    def _command(self) -> list[str]:
        command = super()._command()
        accelerator = command.index('-accel')
        return [*command[:accelerator], '-accel', 'tcg', '-cpu', 'Nehalem', *command[accelerator + 4:]]


def refuses_old_processors(it: Softspine) -> Problems:
    """on a processor without AVX2 each command says so, and ends with status 2"""
    with OldMachine(it.folder, it.binary, [], 'uio_pci_generic') as machine:
        for command in ('doctor', '--version'):
            ended, said = machine.sh(f'softspine {command}')
            if ended != 2 or said.strip() != ('softspine: this processor lacks AVX2, or what else of x86-64-v3 (with pclmulqdq) '
                                              'the program is built for'):
                yield f'{command} ends with {ended}: {said}'


if __name__ == '__main__':
    sys.exit(main([under_uio, under_vfio, refuses_old_processors]))
