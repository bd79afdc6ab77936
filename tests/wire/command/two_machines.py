# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces in the place of two machines, joined by a cable that holds each frame back for a while, and mpirun over them.

The cable is a process of ours with a TAP in either namespace: not every kernel has netem. Machines have names of their own, so that MPI does not take them
for one, the second one has processes of its own as well, and both share this one's files."""
from __future__ import annotations

import ctypes
import fcntl
import heapq
import itertools
import os
import select
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from softspine import Skip, Softspine

ADDRESSES = ('10.77.7.1', '10.77.7.2')
TUNSETIFF, IFF_TAP, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 2, 0x1000, 0x40000000


def tap_in(space: str) -> int:
    with open(f'/run/netns/{space}', 'rb') as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f'setns {space}')
    tap = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack('16sH22x', b'cable', IFF_TAP | IFF_NO_PI))
    return tap


def carry(spaces: list[str], delay: float) -> None:
    """The cable: until it is killed."""
    taps = [tap_in(space) for space in spaces]
    print('there', flush=True)
    under_way: list[tuple[float, int, int, bytes]] = []
    numbers = itertools.count()
    while True:
        rest = max(0, under_way[0][0] - time.monotonic()) if under_way else None
        for tap in select.select(taps, [], [], rest)[0]:
            try:
                while frame := os.read(tap, 2048):
                    heapq.heappush(under_way, (time.monotonic() + delay, next(numbers), taps[1 - taps.index(tap)], frame))
            except BlockingIOError:
                pass
        while under_way and under_way[0][0] <= time.monotonic():
            _, _, tap, frame = heapq.heappop(under_way)
            try:
                os.write(tap, frame)
            except OSError:
                pass  # it is not up yet


class TwoMachines:
    def __init__(self, it: Softspine, spaces: tuple[str, str]) -> None:
        self.it = it
        self.spaces = spaces
        self.agent = it.folder / 'agent'
        # mpirun's: AGENT [options] HOST command…
        self.agent.write_text('#!/bin/sh\nwhile case $1 in -*) true ;; *) false ;; esac; do shift; done\n'
                              f'case $1 in {ADDRESSES[0]}) space={spaces[0]} ;; *) space={spaces[1]} ;; esac\nshift\n'
                              'exec ip netns exec $space unshare --uts --pid --fork --kill-child --mount-proc sh -c "hostname $space && exec sh -c \\"\\$*\\"" sh "$@"\n')
        self.agent.chmod(0o755)

    def command(self) -> tuple[str, ...]:
        """mpirun with a rank on each, the first one's on the first."""
        return ('ip', 'netns', 'exec', self.spaces[0], 'unshare', '--uts', 'sh', '-c', f'hostname {self.spaces[0]} && exec "$@"', 'sh',
                'mpirun.openmpi', '--allow-run-as-root', '-n', '2', '--host', ','.join(ADDRESSES), '--mca', 'plm_rsh_agent', str(self.agent),
                '--mca', 'btl', 'self,tcp', '--mca', 'pml', 'ob1', '--mca', 'btl_tcp_if_include', 'cable', '--mca', 'oob_tcp_if_include', 'cable',
                '-x', 'XDG_RUNTIME_DIR', '-x', 'SOFTSPINE_TEST_MARK', '-wdir', str(self.it.folder))

    def run(self, *words: object, timeout: float = 100) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*self.command(), self.it.binary, *map(str, words)], capture_output=True, text=True, env=self.it.env, cwd=self.it.folder,
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False)


@contextmanager
def two_machines(it: Softspine, delay: float) -> Iterator[TwoMachines]:
    """`delay`: seconds, in each direction."""
    if os.geteuid() != 0 or not os.path.exists('/dev/net/tun'):
        raise Skip('network namespaces and TAPs need root and /dev/net/tun')
    if shutil.which('mpirun.openmpi') is None or 'libmpich' in subprocess.run(['ldd', it.binary], capture_output=True, text=True, check=False).stdout:
        raise Skip('this softspine is not built with OpenMPI')
    spaces = (f'one-{os.getpid()}', f'two-{os.getpid()}')
    cable = None
    try:
        for space in spaces:
            subprocess.run(['ip', 'netns', 'add', space], check=True)
        cable = subprocess.Popen([sys.executable, '-B', __file__, str(delay), *spaces], stdout=subprocess.PIPE, text=True)
        if cable.stdout.readline() != 'there\n':
            raise AssertionError('the cable does not come up')
        for space, address in zip(spaces, ADDRESSES):
            for words in ('link set lo up', f'addr add {address}/24 dev cable', 'link set cable up'):
                subprocess.run(['ip', '-n', space, *words.split()], check=True)
        yield TwoMachines(it, spaces)
    finally:
        if cable is not None:
            cable.kill()
            cable.communicate()
        for space in spaces:
            subprocess.run(['ip', 'netns', 'del', space], check=False)


if __name__ == '__main__':
    carry(sys.argv[2:], float(sys.argv[1]))
