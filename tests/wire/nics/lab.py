# SPDX-License-Identifier: Apache-2.0
"""A run in a machine with NICs, the frames that hosts at the ends of its cables send, and what has come out of them."""
from __future__ import annotations

import json
import struct
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

from machine import Machine, mac_of
from pcapng import frames_by_port

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from frames import checksum, ipv4  # noqa: E402
from softspine import Problems  # noqa: E402

KINDS = ['e1000', 'e1000e', 'vmxnet3', 'virtio-net-pci']
BROADCAST = b'\xff' * 6
GATEWAY = bytes([10, 0, 1, 1])
MIN_FRAME = 60
HUGEPAGES = 400  # of 2 MiB


def mac_bytes(nic: int) -> bytes:
    return bytes.fromhex(mac_of(nic).replace(':', ''))


def ip_of(nic: int) -> bytes:
    return bytes([10, 0, 1, 11 + nic])


def arp(operation: int, sender: tuple[bytes, bytes], target: tuple[bytes, bytes], to: bytes) -> bytes:
    return (to + sender[0] + bytes.fromhex('0806000108000604') + struct.pack('>H', operation) + b''.join(sender) + b''.join(target)).ljust(MIN_FRAME, b'\0')


def ip_frame(nic: int, to_mac: bytes, to: bytes, protocol: int, payload: bytes, dscp: int = 0, ttl: int = 64) -> bytes:
    ecn_capable = 2
    return to_mac + mac_bytes(nic) + b'\x08\0' + ipv4(ip_of(nic), to, protocol, payload, tos=dscp << 2 | ecn_capable, ttl=ttl)


def udp(nic: int, to_mac: bytes, to: bytes, number: int, size: int, dscp: int = 0, ttl: int = 64) -> bytes:
    payload = struct.pack('>I', number) + bytes((number + i) & 0xFF for i in range(size - 4 - 14 - 20 - 8))
    return ip_frame(nic, to_mac, to, 17, struct.pack('>HHHH', 1000 + nic, 2000, 8 + len(payload), 0) + payload, dscp, ttl)


def ping(nic: int, to_mac: bytes, to: bytes, size: int = 32) -> bytes:
    echo = struct.pack('>BBHHH', 8, 0, 0, 7, nic) + bytes(size)
    return ip_frame(nic, to_mac, to, 1, echo[:2] + struct.pack('>H', checksum(echo)) + echo[4:])


def solicitation(nic: int) -> bytes:
    """For the gateway's address, fd00:0:0:1::1, to the group of its last three bytes."""
    network = bytes.fromhex('fd000000000000010000000000000000')
    target = network[:15] + b'\x01'
    source, group = network[:15] + bytes([11 + nic]), bytes.fromhex('ff0200000000000000000001ff000001')
    message = b'\x87\0\0\0' + bytes(4) + target + b'\x01\x01' + mac_bytes(nic)
    sum_of = checksum(source + group + struct.pack('>II', len(message), 58) + message)
    message = message[:2] + struct.pack('>H', sum_of) + message[4:]
    return (bytes.fromhex('3333ff000001') + mac_bytes(nic) + b'\x86\xdd'
            + struct.pack('>IHBB', 6 << 28, len(message), 58, 255) + source + group + message)


def pause(nic: int, priority: int, quanta: int) -> bytes:
    times = [quanta if n == priority else 0 for n in range(8)]
    return (bytes.fromhex('0180c2000001') + mac_bytes(nic) + struct.pack('>HHH8H', 0x8808, 0x0101, 1 << priority, *times)).ljust(MIN_FRAME, b'\0')


def write_pcap(path: Path, frames: list[bytes]) -> None:
    records = (struct.pack('<IIII', 0, 0, len(frame), len(frame)) + frame for frame in frames)
    path.write_bytes(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b''.join(records))


class Lab:
    """The machine, the run in it, and what the hosts at the ends of the cables do."""

    def __init__(self, machine: Machine, ports: list[tuple[str, str]]) -> None:
        """`ports`, by NIC: the switch's before it, and its host's own."""
        self.machine, self.ports = machine, ports
        self.gateway = b''
        self.sent: list[list[bytes]] = [[] for _ in machine.cables]
        self._answered = [0] * len(machine.cables)

    def start(self, text: str, *arguments: str, hugepages: int = HUGEPAGES, prepare: str = 'true') -> None:
        (self.machine.job / 'it.yaml').write_text(text)
        self.machine.sh(f'echo {hugepages} > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages; {prepare}')
        self.machine.bind()
        self.machine.sh('softspine run it.yaml --capture it.pcapng --full --report report.json ' + ' '.join(arguments)
                        + ' >out 2>err </dev/null & echo $! >pid')
        self.until('softspine show fabric >/dev/null 2>&1', 90)

    def until(self, command: str, seconds: int) -> None:
        status, text = self.sh(f'n=0; until {command}; do n=$((n+1)); [ -d /proc/$(cat pid) ] && [ $n -lt {seconds * 5} ] || break; usleep 200000; done; {command}',
                               seconds + 60)
        if status != 0:
            raise AssertionError(f'{command}: never; {text}\n' + ''.join((self.machine.job / name).read_text() for name in ('out', 'err')))

    def sh(self, command: str, timeout: float = 60) -> tuple[int, str]:
        out = self.machine.sh(command, timeout)
        self.answer()
        return out

    def answer(self) -> None:
        """As hosts do: ARP requests for their addresses."""
        for nic, cable in enumerate(self.machine.cables):
            for frame in cable.received[self._answered[nic]:]:
                if frame[12:14] != b'\x08\x06':
                    continue
                if frame[28:32] == GATEWAY:
                    self.gateway = frame[22:28]
                if frame[20:22] == b'\0\1' and frame[38:42] == ip_of(nic):
                    self.send(nic, arp(2, (mac_bytes(nic), ip_of(nic)), (frame[22:28], frame[28:32]), frame[6:12]))
            self._answered[nic] = len(cable.received)

    def send(self, nic: int, *frames: bytes) -> None:
        for frame in frames:
            self.machine.cables[nic].send(frame)
        self.sent[nic] += [frame.ljust(MIN_FRAME, b'\0') for frame in frames]

    def receives(self, nic: int, is_it: Callable[[bytes], bool], what: str, seconds: float = 20) -> None:
        """Until such a frame has come out of the NIC."""
        until = time.monotonic() + seconds
        while not any(is_it(frame) for frame in self.machine.cables[nic].received):
            if time.monotonic() > until:
                raise AssertionError(f'{self.machine.nics[nic]}: no {what} has come; {self.sh("softspine show nics; softspine show drops")[1]}')
            self.machine.wait(0.1)
            self.answer()

    def end(self) -> Problems:
        status, _ = self.sh('kill -INT $(cat pid); wait $(cat pid)')
        said = ''.join((self.machine.job / name).read_text() for name in ('out', 'err'))
        if status != 0 or 'defect' in said:
            yield f'softspine ended with {status}: {said[-1500:]}'
        if faults := [line for line in self.machine.console().splitlines() if 'fault addr' in line and not self.is_vmxnet3_starting(line)]:
            yield f'the IOMMU has refused: {faults[:8]}'
        if 'the device takes an MTU of' in said:
            yield f'a device takes less than its link: {said[:500]}'

    def is_vmxnet3_starting(self, line: str) -> bool:
        """When DPDK's driver starts QEMU's vmxnet3, the device reads address 0, which nobody gave it."""
        own = [self.machine.address(nic).removeprefix('0000:') for nic, model in enumerate(self.machine.nics) if model == 'vmxnet3']
        return 'DMA Read' in line and 'fault addr 0x0 ' in line and any(f'[{address}]' in line for address in own)

    def differences(self) -> Problems:
        """Both ways: what a port has sent is what has come by the cable, and what went into a cable is what the host's port has sent.
        What the NIC has dropped and counted, such as a LACPDU before the link is up, is no difference."""
        captured = defaultdict(list, frames_by_port(self.machine.job / 'it.pcapng'))
        edges = json.loads((self.machine.job / 'report.json').read_text())['edges']
        for nic, (switch, host) in enumerate(self.ports):
            edge = edges[host if host in edges else host.split(':')[0]]
            out = difference((frame.ljust(MIN_FRAME, b'\0') for frame in captured[switch]), self.machine.cables[nic].received,
                             sum(edge['out_drops'].values()))
            into = difference(self.sent[nic], (frame.ljust(MIN_FRAME, b'\0') for frame in captured[host]), sum(edge['in_drops'].values()))
            if out:
                yield f'{self.machine.driver}, {self.machine.nics[nic]}, out of {switch}: {out}'
            if into:
                yield f'{self.machine.driver}, {self.machine.nics[nic]}, into {host}: {into}'


def difference(wanted: Iterable[bytes], got: Iterable[bytes], dropped: int) -> str:
    wanted, got = Counter(wanted), Counter(got)
    missing, strange = wanted - got, got - wanted
    if sum(missing.values()) == dropped and not strange:
        return ''
    return (f'{sum(missing.values())} frames are missing, {dropped} were dropped, {sum(strange.values())} are strange; '
            f'missing: {next(iter(missing), b"")[:64].hex()}; strange: {next(iter(strange), b"")[:64].hex()}')


def is_type(ether_type: int, at: int = 12) -> Callable[[bytes], bool]:
    return lambda frame: struct.unpack_from('>H', frame, at)[0] == ether_type


def is_echo_reply(source: bytes) -> Callable[[bytes], bool]:
    return lambda frame: frame[12:14] == b'\x08\0' and frame[23] == 1 and frame[26:30] == source and frame[34] == 0


def is_from(nic: int) -> Callable[[bytes], bool]:
    return lambda frame: frame[6:12] == mac_bytes(nic) and frame[12:14] == b'\x08\0'
