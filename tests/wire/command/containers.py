# SPDX-License-Identifier: Apache-2.0
"""Hosts that somebody else has made: the recipe of docs/labs.md with a bare network namespace, and with a container."""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from page import blocks_of
from softspine import ROOT, Problems, Skip, Softspine, main

PAGE = ROOT / 'docs' / 'labs.md'
CONTAINER = 'softspine-test-web'
# What podman needs where it may not raise limits or make cgroups is not asked for.
PODMAN = ['podman', '--runtime', 'runc', '--cgroup-manager', 'cgroupfs']


def recipe() -> str:
    """Its lines, from the one that finds the process on."""
    (lines,) = re.findall(r'^    (pid=.*\n(?:    .*\n)+)', PAGE.read_text(), re.MULTILINE)
    return re.sub(r'^    ', '', lines, flags=re.MULTILINE)


def prepare(it: Softspine) -> dict[str, str]:
    for block in blocks_of(PAGE.read_text()):
        if block.kind == 'yaml' and 'container.yaml' in block.words:
            it.write('container.yaml', '\n'.join(block.lines) + '\n')
    (it.folder / 'bin').mkdir()
    (it.folder / 'bin' / 'softspine').symlink_to(it.binary)
    return {**it.env, 'PATH': f'{it.folder / "bin"}:{it.env["PATH"]}'}


def network_of(pid: int) -> str:
    """Interfaces, addresses, routes, and what the host's setup writes elsewhere."""
    look = 'ip -o addr; ip route show table all; ip -6 route show table all; ip rule; cat /proc/sys/net/ipv4/conf/all/arp_ignore'
    return subprocess.run(['nsenter', '--target', str(pid), '--net', 'sh', '-c', look], capture_output=True, text=True, check=False).stdout


def does_the_recipe(it: Softspine, pid: int) -> Problems:
    script = recipe().replace("$(podman inspect -f '{{.State.Pid}}' web)", str(pid))
    env = prepare(it)
    before = network_of(pid)
    try:
        done = subprocess.run(['sh', '-e', '-c', script], cwd=it.folder, env=env, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0 or not re.search('[23] received', done.stdout):  # the first, while its ToR asks for its MAC
            yield f'{done.returncode} {done.stdout} {done.stderr}'
        back = subprocess.run(['nsenter', '--target', str(pid), '--net', 'ping', '-c', '3', '-i', '0.2', '10.0.2.2'], capture_output=True, text=True,
                              timeout=60, check=False)
        if '3 received' not in back.stdout:
            yield f'back: {back.stdout}'
        yield from it('down', '--quiet').exited(0)
        if network_of(pid) != before:
            yield f'was {before}, and is {network_of(pid)}'
    finally:
        it('down', '--quiet')


def a_namespace(it: Softspine) -> Problems:
    """the recipe joins a process's namespace to the fabric, and leaves it as it was"""
    if subprocess.run(['unshare', '--net', 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('no network namespace can be made here')
    with subprocess.Popen(['unshare', '--net', 'sh', '-c', 'echo in; exec sleep 600'], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            yield from does_the_recipe(it, process.pid)
        finally:
            process.kill()


@contextmanager
def container(folder: Path) -> Iterator[int]:
    """A container of podman with a root folder that has busybox alone."""
    missing = [name for name in ('podman', 'runc', 'busybox') if shutil.which(name) is None]
    if missing:
        raise Skip(f'{missing[0]} is not installed')
    for name in ('bin', 'proc', 'sys', 'dev', 'etc', 'tmp'):
        (folder / name).mkdir(parents=True)
    shutil.copy(shutil.which('busybox'), folder / 'bin' / 'busybox')
    (folder / 'bin' / 'sleep').symlink_to('busybox')
    made = subprocess.run([*PODMAN, 'run', '--detach', '--name', CONTAINER, '--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=1024:1024', '--network', 'none',
                           '--rootfs', folder, '/bin/sleep', '600'], capture_output=True, text=True, timeout=60, check=False)
    try:
        if made.returncode != 0:
            raise Skip(f'podman starts no container here: {made.stderr.splitlines()[-1:]}')
        pid = subprocess.run([*PODMAN, 'inspect', '-f', '{{.State.Pid}}', CONTAINER], capture_output=True, text=True, check=True).stdout
        yield int(pid)
    finally:
        subprocess.run([*PODMAN, 'rm', '--force', '--time', '0', CONTAINER], capture_output=True, check=False)


def a_container(it: Softspine) -> Problems:
    """the recipe joins a container of podman to the fabric"""
    with container(it.folder / 'root') as pid:
        yield from does_the_recipe(it, pid)


if __name__ == '__main__':
    sys.exit(main([a_namespace, a_container]))
