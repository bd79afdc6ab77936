# SPDX-License-Identifier: Apache-2.0
"""A machine whose NICs softspine drives itself: QEMU, Debian's kernel, and devices on its PCI bus, whose cables end in this test.

    with Machine(folder, binary, ['e1000', 'virtio-net-pci'], 'vfio-pci') as it:
        it.sh('softspine run /job/x.yaml &')
        it.cables[0].send(frame)

Its root folder is made here: busybox, the program, DPDK's drivers for these devices, the modules that they need. /job in it is
`folder`/job. Commands go through its second serial port to the shell that its `init` becomes, one after the other.
"""
from __future__ import annotations

import json
import os
import re
import select
import shutil
import socket
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'command'))
from outside_testbeds import made  # noqa: E402
from softspine import ROOT, Skip  # noqa: E402

HERE = Path(__file__).resolve().parent
MODULES = ['virtio_pci', '9pnet_virtio', '9p', 'uio_pci_generic', 'vfio_iommu_type1', 'vfio-pci']
DRIVERS = ['bus_pci', 'bus_vdev', 'mempool_ring', 'net_e1000', 'net_vmxnet3', 'net_virtio']
FAR_BUS = 0x80  # of the second NUMA node
FIRST_SLOT = 0x10  # of the NICs on the PCI bus, or of the ports before them
MAX_FRAME = 65536


def mac_of(nic: int) -> str:
    return f'52:54:00:00:00:{nic + 1:02x}'


def cable_option(folder: Path, nic: int, is_far_end: bool = False) -> str:
    ends = [folder / f'cable{nic}', folder / f'cable{nic}.far']
    local, remote = reversed(ends) if is_far_end else ends
    return f'dgram,id=n{nic},local.type=unix,local.path={local},remote.type=unix,remote.path={remote}'


class Cable:
    """The far end of a NIC's cable."""

    def __init__(self, folder: Path, nic: int) -> None:
        self._theirs, ours = folder / f'cable{nic}', folder / f'cable{nic}.far'
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 << 20)
        self.socket.bind(str(ours))
        self.socket.setblocking(False)
        self.received: list[bytes] = []
        self.unsent: deque[bytes] = deque()

    def connect(self) -> None:
        self.socket.connect(str(self._theirs))

    def send(self, frame: bytes) -> None:
        """As soon as the device takes it: flush()."""
        self.unsent.append(frame)
        self.flush()

    def flush(self) -> None:
        try:
            while self.unsent:
                self.socket.send(self.unsent[0])
                self.unsent.popleft()
        except BlockingIOError:
            return

    def take(self) -> None:
        """What has come, without waiting."""
        while True:
            try:
                self.received.append(self.socket.recv(MAX_FRAME))
            except BlockingIOError:
                return


def copy(root: Path, file: Path, to: str = '') -> None:
    """A link stays one: DPDK's drivers are looked for in one folder and needed by each other from another."""
    target, real = root / (to or str(file).lstrip('/')), file.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    if to or real == file:
        shutil.copy(real, target)
    elif not os.path.lexists(target):
        target.symlink_to(real)
        copy(root, real)


def with_libraries(root: Path, file: Path, to: str = '') -> None:
    copy(root, file, to)
    for library in set(re.findall(r'/\S+\.so\S*', subprocess.run(['ldd', file], capture_output=True, text=True, check=True).stdout)):
        copy(root, Path(os.path.realpath(os.path.dirname(library))) / os.path.basename(library))


def module_files(kernel: Path) -> list[Path]:
    """MODULES and those that they need, in the order in which they are to be loaded."""
    folder = kernel.parent.parent / 'lib' / 'modules' / kernel.name.removeprefix('vmlinuz-')
    files = {file.name.split('.')[0].replace('-', '_'): file for file in folder.rglob('*.ko*')}
    out: list[Path] = []

    def add(name: str) -> None:
        file = files.get(name.replace('-', '_'))
        if file is None or file in out:  # None: built in
            return
        needs = subprocess.run(['modinfo', '-F', 'depends', file], capture_output=True, text=True, check=True).stdout.strip()
        for other in filter(None, needs.split(',')):
            add(other)
        out.append(file)

    for module in MODULES:
        add(module)
    return out


def make_image(folder: Path, binary: str, kernel: Path) -> Path:
    root = folder / 'root'
    for name in ('proc', 'sys', 'dev', 'tmp', 'run', 'job', 'bin', 'usr/lib', 'usr/lib64'):
        (root / name).mkdir(parents=True)
    for name in ('lib', 'lib64'):
        (root / name).symlink_to(f'usr/{name}')
    copy(root, HERE / 'init', 'init')
    (root / 'init').chmod(0o755)
    copy(root, Path(shutil.which('busybox') or '/bin/busybox'), 'bin/busybox')
    for applet in subprocess.run(['busybox', '--list'], capture_output=True, text=True, check=True).stdout.split():
        if applet != 'busybox':
            (root / 'bin' / applet).symlink_to('busybox')
    stripped = folder / 'softspine'
    subprocess.run(['strip', '-o', stripped, binary], check=True)
    with_libraries(root, Path(binary), 'bin/softspine')
    shutil.copy(stripped, root / 'bin' / 'softspine')
    drivers = next(Path('/usr/lib').glob('*/dpdk/pmds-*'))
    for driver in DRIVERS:
        with_libraries(root, drivers / f'librte_{driver}.so')
    modules = module_files(kernel)
    for module in modules:
        copy(root, module, f'modules.d/{module.name}')
    (root / 'modules').write_text(''.join(f'/modules.d/{module.name}\n' for module in modules))
    image = folder / 'image'
    subprocess.run(f'find . -print0 | cpio --null --quiet -H newc -R 0:0 -o > {image}', shell=True, cwd=root, check=True)
    shutil.rmtree(root)
    return image


class Machine:
    """`has_slots`: each NIC is in a slot of its own, out of which it can be taken. `has_peers`: others are at the ends of the cables.
    `is_numa`: of two nodes, the second of which has the slots."""

    def __init__(self, folder: Path, binary: str, nics: list[str], driver: str, memory: str = '1536M', boot: str = '',
                 has_slots: bool = False, has_peers: bool = False, is_numa: bool = False) -> None:
        self.folder, self.nics, self.driver, self.memory, self.boot, self.has_slots = folder, nics, driver, memory, boot, has_slots or is_numa
        self.is_numa = is_numa
        self.job = folder / 'job'
        self.job.mkdir(exist_ok=True)
        words = made('qemu/make').split()
        self._qemu, self._kernel, self._is_kvm = words[0], Path(words[1]), words[3] == 'kvm'
        if shutil.which('modinfo') is None or shutil.which('strip') is None:
            raise Skip('no modinfo or no strip: apt-get install kmod binutils')
        self._image = make_image(folder, binary, self._kernel)
        self.cables = [] if has_peers else [Cable(folder, nic) for nic in range(len(nics))]
        self._commands = 0

    def __enter__(self) -> Machine:
        self._process = subprocess.Popen(self._command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=(self.folder / 'qemu.err').open('w'))
        self._shell = self._connect('shell')
        self._monitor = self._connect('monitor')
        self._read_reply()
        self.monitor('qmp_capabilities')
        self._hear(r'ready', 'booting', 120)
        for cable in self.cables:
            cable.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()

    def _command(self) -> list[str]:
        has_iommu = self.driver == 'vfio-pci'
        command = [self._qemu, '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot', '-m', self.memory, '-smp', '2',
                   *(['-accel', 'kvm', '-cpu', 'host,-arch-capabilities'] if self._is_kvm else ['-accel', 'tcg', '-cpu', 'max']),
                   '-machine', 'q35' + (',kernel-irqchip=split' if has_iommu else ''),
                   '-kernel', str(self._kernel), '-initrd', str(self._image),
                   '-append', f'console=ttyS0 panic=-1 no_timer_check {self.boot} ' + ('intel_iommu=on' if has_iommu else ''),
                   '-serial', f'file:{self.folder}/console',
                   '-chardev', f'socket,id=shell,path={self.folder}/shell,server=on,wait=off', '-serial', 'chardev:shell',
                   '-qmp', f'unix:{self.folder}/monitor,server=on,wait=off',
                   '-virtfs', f'local,path={self.job},mount_tag=job,security_model=none']
        if has_iommu:
            command += ['-device', 'intel-iommu,intremap=on,caching-mode=on']
        if self.is_numa:
            half = f'{int(self.memory[:-1]) // 2}M'
            command += [word for node in (0, 1) for word in
                        ('-object', f'memory-backend-ram,id=m{node},size={half}', '-numa', f'node,nodeid={node},memdev=m{node},cpus={node}')]
            command += ['-device', f'pxb-pcie,id=far,bus_nr={FAR_BUS},numa_node=1,bus=pcie.0']
        for nic, model in enumerate(self.nics):
            more = ',iommu_platform=on,disable-legacy=on' if has_iommu and model.startswith('virtio') else ''
            place = f'addr={FIRST_SLOT + nic:#x}'
            if self.has_slots:
                command += ['-device', f'pcie-root-port,id=slot{nic},chassis={nic + 1},{place}' + (',bus=far' if self.is_numa else '')]
                place = f'bus=slot{nic}'
            command += ['-netdev', cable_option(self.folder, nic), '-device', f'{model},id=d{nic},netdev=n{nic},mac={mac_of(nic)},{place}{more}']
        return command

    def _connect(self, name: str) -> socket.socket:
        out = socket.socket(socket.AF_UNIX)
        until = time.monotonic() + 30
        while True:
            try:
                out.connect(str(self.folder / name))
                return out
            except OSError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise AssertionError('QEMU: ' + (self.folder / 'qemu.err').read_text()) from None
                time.sleep(0.05)

    def _read_reply(self) -> dict:
        text = b''
        while not text.endswith(b'\n'):
            text += self._monitor.recv(1 << 16)
        return json.loads(text.splitlines()[-1])

    def monitor(self, command: str, **arguments: object) -> None:
        self._monitor.sendall(json.dumps({'execute': command, 'arguments': arguments}).encode() + b'\n')
        reply = self._read_reply()
        while 'event' in reply:
            reply = self._read_reply()
        if 'error' in reply:
            raise AssertionError(f'{command}: {reply}')

    def address(self, nic: int) -> str:
        return f'0000:{nic + 1 + FAR_BUS * self.is_numa:02x}:00.0' if self.has_slots else f'0000:00:{FIRST_SLOT + nic:02x}.0'

    def take_out(self, nic: int) -> None:
        """Asks the system in the machine to let go of the NIC; it is out when that has done so."""
        self.monitor('device_del', id=f'd{nic}')

    def plug(self, nic: int, is_in: bool) -> None:
        """Pulls a cable, or puts it in."""
        self.monitor('set_link', name=f'd{nic}', up=is_in)

    def sh(self, command: str, timeout: float = 60) -> tuple[int, str]:
        """Status and output. Frames that come meanwhile are taken from the cables."""
        self._commands += 1
        self._shell.sendall(f'{command}\necho "<end {self._commands}" $? ">"\n'.encode())
        text, end = self._hear(rf'<end {self._commands} (\d+) >', command, timeout)
        return int(end[1]), text.strip()

    def _hear(self, end: str, what: str, timeout: float) -> tuple[str, re.Match[str]]:
        text, until = '', time.monotonic() + timeout
        while not (found := re.search(end, text)):
            left = until - time.monotonic()
            if left <= 0 or self._process.poll() is not None:
                raise AssertionError(f'{what}: no end after {timeout} s\n{text[-1500:]}\n{self.console()[-1500:]}')
            self.wait(left)
            if select.select([self._shell], [], [], 0)[0]:
                text += self._shell.recv(1 << 16).decode(errors='replace')
        return text[:found.start()], found

    def wait(self, seconds: float) -> None:
        """Until a frame comes, or the shell says something; at most so long."""
        waiting = [cable.socket for cable in self.cables if cable.unsent]
        select.select([self._shell, *(cable.socket for cable in self.cables)], waiting, [], seconds)
        for cable in self.cables:
            cable.take()
            cable.flush()

    def console(self) -> str:
        return (self.folder / 'console').read_text(errors='replace')

    def bind(self, nics: list[int] | None = None) -> None:
        for nic in range(len(self.nics)) if nics is None else nics:
            device = f'/sys/bus/pci/devices/{self.address(nic)}'
            status, text = self.sh(f'echo {self.driver} > {device}/driver_override; [ ! -e {device}/driver ] || echo {self.address(nic)} > {device}/driver/unbind; '
                                   f'echo {self.address(nic)} > /sys/bus/pci/drivers_probe '
                                   f'&& readlink {device}/driver')
            if status != 0 or not text.endswith(self.driver):
                raise AssertionError(f'{self.address(nic)} is not bound to {self.driver}: {text}\n{self.console()[-1500:]}')


__all__ = ['Machine', 'ROOT', 'mac_of']
