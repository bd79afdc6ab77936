# SPDX-License-Identifier: Apache-2.0
"""Guests with rdma_rxe at the far ends of a Machine's cables: QEMU, Debian's kernel and the guests' root folder, as softspine's own
QEMU guests have them, but their NIC is the cable's end and no edge of a run."""
from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from lab import ip_of
from machine import Machine, cable_option, mac_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from outside_testbeds import made  # noqa: E402

MTU = 4200


def name_of(nic: int) -> str:
    return f'h{nic + 1}'


def address_of(nic: int) -> str:
    return '.'.join(map(str, ip_of(nic)))


class Peers:
    """Those in a group know each other by name, and wait for each other; `run` is each one's command."""

    def __init__(self, folder: Path, groups: list[list[int]], run: str) -> None:
        self.folder, self._groups, self._run = folder, groups, run
        self._qemu, self._kernel, self._initramfs, accelerator = made('qemu/make').split()
        self._accelerator = ['-accel', 'kvm', '-cpu', 'host,-arch-capabilities'] if accelerator == 'kvm' else ['-accel', 'tcg', '-cpu', 'max']
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> Peers:
        for number, group in enumerate(self._groups):
            board = self.folder / f'board{number}'
            board.mkdir()
            (board / 'guests').write_text(''.join(f'{name_of(nic)}\n' for nic in group))
            (board / 'hosts').write_text('127.0.0.1 localhost\n' + ''.join(f'{address_of(nic)} {name_of(nic)}\n' for nic in group))
            for nic in group:
                self._processes.append(self._start(nic, board))
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def folder_of(self, nic: int) -> Path:
        return self.folder / name_of(nic)

    def _start(self, nic: int, board: Path) -> subprocess.Popen:
        own = self.folder_of(nic)
        own.mkdir()
        (own / 'settings').write_text(f"NAME={name_of(nic)}\nCPU_MHZ=1000.000\nBOND_MODE=''\nNICS=1\nNIC0_MAC={mac_of(nic)}\nNIC0_MTU={MTU}\n"
                                      f'NIC0_ADDRESSES={address_of(nic)}/24\nNIC0_GATEWAYS=10.0.1.1\n')
        (own / 'run').write_text(self._run + '\n')
        shared = 'local,path={},mount_tag={},security_model=none'
        command = [self._qemu, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-m', '320M', '-machine', 'q35', *self._accelerator,
                   '-kernel', self._kernel, '-initrd', self._initramfs, '-append', 'console=ttyS0 panic=-1 net.ifnames=0 no_timer_check guest=9p',
                   '-serial', f'file:{own}/console', '-virtfs', shared.format(own, 'guest'), '-virtfs', shared.format(board, 'board'),
                   '-netdev', cable_option(self.folder, nic, is_far_end=True), '-device', f'virtio-net-pci,netdev=n{nic},mac={mac_of(nic)}']
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(own / 'qemu.err').open('w'))

    def are_done(self) -> bool:
        return all(process.poll() is not None for process in self._processes)

    def said(self, nic: int) -> str:
        return '\n'.join((self.folder_of(nic) / name).read_text(errors='replace')[-600:] for name in ('stdout', 'stderr', 'console')
                         if (self.folder_of(nic) / name).exists())

    def counters(self, nic: int) -> dict[str, int]:
        """rdma_rxe's, as the guest wrote them at its end."""
        rows = (line.split() for line in (self.folder_of(nic) / 'counters').read_text().splitlines())
        return {name: int(value) for device, name, value in rows if device == 'rxe0'}


def wait_for(machine: Machine, is_it: Callable[[], bool], turns: int) -> bool:
    """So many times a second, in which the machine's frames are taken."""
    for _ in range(turns):
        if is_it():
            return True
        machine.sh('usleep 1000000')
    return is_it()
