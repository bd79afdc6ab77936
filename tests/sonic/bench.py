# SPDX-License-Identifier: Apache-2.0
"""One case in a network namespace of its own: the switch, its RPC server, and PTF, which runs the test.

The namespace is made by unshare, and ends with its last process; so do the TAPs. In it PTF's ports are the kernel's side
of the TAPs, with the MAC and the address that the switch knows their hosts by.
"""
from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import platforms
from cases import Case

ROOT = Path(__file__).resolve().parents[2]
TAP_QUEUE = 30000  # frames: PTF sends in bursts, and a switch that is late must lose none of them
READY_SECONDS = 30
CASE_SECONDS = 5400  # of a threshold probe; any other test takes minutes


class Failed(Exception):
    """The bench could not be set up; nothing is known about the test."""


def _run(*command: object) -> str:
    return subprocess.run([str(each) for each in command], check=True, capture_output=True, text=True).stdout


def _wait(what: str, ready) -> object:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until:
        found = ready()
        if found:
            return found
        time.sleep(0.1)
    raise Failed(f'{what} is not there after {READY_SECONDS} s')


def _ask_for_gateway(number: int) -> None:
    """An ARP request, as a host makes it: from now on the switch knows where the host is."""
    own = bytes.fromhex(platforms.mac(number).replace(':', ''))
    arp = struct.pack('>HHBBH6s4s6s4s', 1, 0x0800, 6, 4, 1, own, socket.inet_aton(platforms.address(number)), bytes(6),
                      socket.inet_aton(platforms.GATEWAY))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806)) as raw:
        raw.bind((platforms.tap_name(number), 0))
        raw.send((b'\xff' * 6 + own + b'\x08\x06' + arp).ljust(60, b'\0'))
        raw.settimeout(READY_SECONDS)
        while True:
            frame, sender = raw.recvfrom(2048)
            if sender[2] != socket.PACKET_OUTGOING and frame[20:22] == b'\0\x02':
                return frame[22:28]


class Bench:
    def __init__(self, case: Case, binary: Path, third_party: Path, bindings: Path, folder: Path) -> None:
        self._case, self._binary, self._third_party, self._bindings, self._folder = case, binary, third_party, bindings, folder
        self._sockets = tempfile.mkdtemp(prefix='softspine-')  # the path of a socket may not be long, and `folder` may
        os.environ['XDG_RUNTIME_DIR'] = self._sockets
        self._processes: list[subprocess.Popen] = []

    def run(self) -> tuple[int, str]:
        """PTF's exit status and what it has printed."""
        try:
            self._make_interfaces_quiet()
            self._start_switch()
            router = self._introduce_hosts()
            pools = self._start_rpc()
            return self._run_ptf(router, pools)
        finally:
            for process in reversed(self._processes):
                process.send_signal(signal.SIGINT)
                process.wait(60)
            shutil.rmtree(self._sockets)

    def lost_frames(self) -> int:
        """What the kernel has dropped before the switch: then nothing that was counted is worth much."""
        report = json.loads((self._folder / 'report.json').read_text())
        return sum(edge['in_drops']['edge_full'] for edge in report['edges'].values())

    def _make_interfaces_quiet(self) -> None:
        _run('ip', 'link', 'set', 'lo', 'up')
        _run('sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1', 'net.ipv6.conf.default.disable_ipv6=1')

    def _start(self, name: str, *command: object) -> None:
        out = (self._folder / f'{name}.log').open('w')
        self._processes.append(subprocess.Popen([str(each) for each in command], stdout=out, stderr=out))

    def _start_switch(self) -> None:
        case = self._case
        testbed = self._folder / 'testbed.yaml'
        testbed.write_text(platforms.testbed(case.platform, case.used, case.tables, case.weights))
        self._start('softspine', self._binary, 'run', testbed, '--report', self._folder / 'report.json')
        _wait('the switch', lambda: subprocess.run([self._binary, 'show', 'fabric'], capture_output=True).returncode == 0)
        for number in case.used:
            _run('ip', 'link', 'set', platforms.tap_name(number), 'address', platforms.mac(number), 'txqueuelen', TAP_QUEUE)

    def _introduce_hosts(self) -> str:
        router = b''
        for number in self._case.used:
            router = _ask_for_gateway(number)
        return ':'.join(f'{byte:02x}' for byte in router)

    def _start_rpc(self) -> dict[str, int]:
        program = [ROOT / 'tools' / 'sai-rpc', '--node', 'dut']
        self._start('sai-rpc', '/usr/bin/python3', *program)
        listed = _run('/usr/bin/python3', *program, '--objects')
        _wait('the RPC server', lambda: 'calls at' in (self._folder / 'sai-rpc.log').read_text())
        return {line.split()[1]: int(line.split()[0], 0) for line in listed.splitlines()}

    def _run_ptf(self, router: str, ids: dict[str, int]) -> tuple[int, str]:
        case = self._case
        ports = self._folder / 'ports.ini'
        ports.write_text(''.join(f'{number}@{platforms.port_name(number)}\n' for number in range(case.platform.ports)))
        wanted = case.parameters | {'router_mac': router, 'port_map_file_ini': str(ports)}
        if case.pool:
            wanted['buf_pool_roid'] = hex(ids[case.pool])
        module, _, _ = case.test.partition('.')
        tests = self._bindings / ('py3' if module == 'sai_qos_tests' else 'probe')
        interfaces = [part for number in case.used for part in ('--interface', f'{number}@{platforms.tap_name(number)}')]
        command = ['/usr/bin/python3', self._third_party / 'ptf' / 'ptf', '--test-dir', tests, case.test, *interfaces, '--relax',
                   '--disable-ipv6', '--disable-vxlan', '--disable-geneve', '--disable-erspan', '--disable-mpls', '--disable-nvgre',
                   '--qlen', '40000', '--test-params', ';'.join(f'{key}={value!r}' for key, value in wanted.items())]
        path = [self._bindings, self._third_party / 'ptf' / 'src', self._bindings / 'py3']
        environment = {**os.environ, **case.environment, 'PYTHONPATH': ':'.join(str(each) for each in path), 'PYTHONDONTWRITEBYTECODE': '1'}
        done = subprocess.run([str(each) for each in command], env=environment, cwd=self._folder, timeout=CASE_SECONDS * (1 + 2 * case.hours),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


if __name__ == '__main__':
    sys.exit('not a program: see run')
