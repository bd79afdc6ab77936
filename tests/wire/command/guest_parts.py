# SPDX-License-Identifier: Apache-2.0
"""What a testbed gives its guests: a root folder or image over ours, files, a kernel. The user's own is never written."""
from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from labs import inside, lab
from outside_testbeds import made, need_guests
from softspine import Problems, Softspine, main

KIND = 'uml'
LAB = '''name: lab
run: {clock: wall}
fabric: {kind: star, hosts: 2, host_link: {rate: 1Gbps}}
topology:
  nodes:
    h1: {guest: {kind: KIND, memory: 256MiB, MORE}}
    h2: {guest: {kind: KIND, memory: 256MiB, MORE}}
'''
HELLO = '#include <stdio.h>\nint main(void) { puts("hello of mine"); return 7; }\n'
BANNER = b'(softspine@softspine)'
MINE = b'(softspine@of-myself)'


def need(more: str) -> str:
    if KIND == 'uml':
        need_guests()
    else:
        made('qemu/make')
    return LAB.replace('KIND', KIND).replace('MORE', more)


def entries(folder: Path) -> Iterator[str]:
    for path in sorted([folder, *folder.rglob('*')]):
        facts = path.lstat()
        holds = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ''
        yield f'{path} {facts.st_mode:o} {facts.st_uid} {facts.st_ino} {facts.st_mtime_ns} {holds}'


def hash_of(folder: Path) -> str:
    return hashlib.sha256('\n'.join(entries(folder)).encode()).hexdigest()


def put(path: Path, text: str | bytes, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)
    return path


def own_root(it: Softspine) -> Path:
    """Three programs, one of them static and in a real /bin, which ours has as a link; and a file in /etc."""
    root = it.folder / 'mine'
    source = put(it.folder / 'hello.c', HELLO)
    (root / 'bin').mkdir(parents=True)
    subprocess.run(['gcc', '-static', '-o', root / 'bin' / 'hello', source], check=True)
    put(root / 'usr' / 'local' / 'bin' / 'mine', '#!/bin/sh\necho mine of $(hostname) in $(pwd)\n', 0o755)
    put(root / 'opt' / 'tool', '#!/usr/bin/env bash\ncat /etc/mine.conf\n', 0o755)
    put(root / 'etc' / 'mine.conf', 'of mine\n')
    return root


def said(it: Softspine, host: str, command: str) -> tuple[int, str]:
    status, out = inside(it, 'sh', '-c', command, host=host)
    return status, out.decode()


def runs_own_programs(it: Softspine) -> Problems:
    """programs of an own root folder run beside ours, on the fabric; what a guest changes stays its own, and the folder is the same afterwards"""
    text = need('root: mine')
    root = own_root(it)
    before = hash_of(root)
    with lab(it, text):
        for command, wanted in (('hello', (7, 'hello of mine\n')), ('/bin/hello; /usr/bin/hello', (7, 2 * 'hello of mine\n')), ('mine', (0, 'mine of h1 in /guest\n')),
                                ('/opt/tool', (0, 'of mine\n')), ('cd; pwd', (0, '/root\n')), ('cat /etc/passwd | head -c 4', (0, 'root'))):
            if (got := said(it, 'h1', command)) != wanted:
                yield f'{command}: {got}'
        for command in ('ping -c 1 -W 20 h2', 'ibv_devinfo', 'busybox true && /bin/bash -c true && /sbin/ip link show eth0', 'test -c /dev/null && test -d /proc/1'):
            if (got := said(it, 'h1', command))[0] != 0:
                yield f'{command}: {got}'
        wild = 'rm -r /opt /usr/local/bin/mine && echo other >/etc/mine.conf && echo new >/bin/hello && mkdir /etc/new && rm /usr/bin/ping && cat /etc/mine.conf'
        if (got := said(it, 'h1', wild)) != (0, 'other\n'):
            yield f'changes: {got}'
        if (got := said(it, 'h1', '/opt/tool; ping; test -d /etc/new && cat /bin/hello')) != (0, 'new\n'):
            yield f'changed: {got}'
        if (got := said(it, 'h2', '/opt/tool && hello; ls -d /etc/new; ping -c 1 -W 20 h1')) != (0, 'of mine\nhello of mine\n' + got[1].partition('hello of mine\n')[2]):
            yield f'the other guest: {got}'
        if (got := said(it, 'h1', 'mount -o remount,rw /layers/root; echo x >/layers/root/x; ls /layers'))[1] != '':
            yield f'the layers are seen: {got}'
    if hash_of(root) != before:
        yield 'the own root folder has changed'
    yield from it.leftovers()


def runs_a_command_in_it(it: Softspine) -> Problems:
    """the testbed's own command runs in the own root folder, with its status; another C library there does not break the guest's setup"""
    text = need("root: mine, run: 'exec hello', timeout: 2min")
    root = own_root(it)
    for place in ('usr/lib/x86_64-linux-gnu/libc.so.6', 'lib64/ld-linux-x86-64.so.2'):
        put(root / place, 'no library\n', 0o755)
    # Our bash has no C library then, by which a command runs; busybox needs none.
    for shell in ('sh', 'bash'):
        put(root / 'bin' / shell, '#!/bin/busybox sh\nexec /bin/busybox sh "$@"\n', 0o755)
    before = hash_of(root)
    done = it('run', it.write('own.yaml', text), '--folder', it.folder / 'out', '--report', 'own.json', timeout=280)
    yield from done.exited(1)
    for host in ('h1', 'h2'):
        if (out := (it.folder / 'out' / host / 'stdout').read_text()) != 'hello of mine\n':
            yield f'{host}: {out!r} {(it.folder / "out" / host / "stderr").read_text()!r}'
        if (status := (it.folder / 'out' / host / 'exit_status').read_text()) != '7\n':
            yield f'{host}: status {status!r}'
    if hash_of(root) != before:
        yield 'the own root folder has changed'


def mounts_images(it: Softspine) -> Problems:
    """an ext4 or squashfs image is laid over ours like a folder, and is not written"""
    root = own_root(it)
    subprocess.run(['mke2fs', '-q', '-t', 'ext4', '-d', root, it.folder / 'ext4.img', '16M'], check=True, capture_output=True)
    images = ['ext4.img']
    if shutil.which('mksquashfs'):
        subprocess.run(['mksquashfs', root, it.folder / 'own.squashfs', '-quiet', '-no-progress', '-comp', 'zstd'], check=True, capture_output=True)
        images.append('own.squashfs')
    for image in images:
        text = need(f'root: {image}')
        before = hash_of(it.folder / image)
        with lab(it, text):
            for host in ('h1', 'h2'):
                if (got := said(it, host, 'hello; /opt/tool && echo x >/etc/mine.conf && ping -c 1 -W 20 h2 >/dev/null')) != (0, 'hello of mine\nof mine\n'):
                    yield f'{image}, {host}: {got}'
        if hash_of(it.folder / image) != before:
            yield f'{image} has changed'


def brings_files(it: Softspine) -> Problems:
    """files and folders arrive at their places with bytes and modes; changes there stay in the guest, and nothing is left behind"""
    text = need('files: {/etc/app.conf: ./app.conf, /opt/app: app, /opt/app/conf: app.conf, /bin/mine: app/run, /etc/hosts.d/x: app.conf}')
    secret = os.urandom(300_000)
    put(it.folder / 'app.conf', 'key = 1\n', 0o600)
    put(it.folder / 'app' / 'run', '#!/bin/sh\necho runs $(wc -c </opt/app/data/big)\n', 0o755)
    put(it.folder / 'app' / 'data' / 'big', secret, 0o640)
    put(it.folder / 'app' / 'conf', 'to be replaced')
    (it.folder / 'app' / 'link').symlink_to('data/big')
    put(it.folder / 'neighbour', 'of the user')
    before = hash_of(it.folder / 'app')
    with lab(it, text):
        sums = f'{hashlib.sha256(secret).hexdigest()}  -\n'
        for command, wanted in (('mine; /usr/bin/mine', (0, 2 * 'runs 300000\n')), ('sha256sum </opt/app/link', (0, sums)), ('cat /etc/app.conf /opt/app/conf', (0, 2 * 'key = 1\n')),
                                ('stat -c %a /etc/app.conf /opt/app/run /opt/app/data/big /opt/app/conf /bin/mine /etc /opt', (0, '600\n755\n640\n600\n755\n755\n755\n')),
                                ('readlink /opt/app/link', (0, 'data/big\n')), ('echo other >/opt/app/data/big && cat /opt/app/link', (0, 'other\n')),
                                ('grep -c h2 /etc/hosts', (0, '2\n'))):
            if (got := said(it, 'h1', command)) != wanted:
                yield f'{command}: {got}'
        if KIND == 'uml':
            # A guest's root may mount any path of this machine; the keeper shows it the copies alone.
            got = said(it, 'h1', f'mkdir /tmp/m && mount -t hostfs none /tmp/m -o / && cat /tmp/m{it.folder}/neighbour /tmp/m{it.folder}/app/conf; '
                       f'echo x >/tmp/m{it.sockets}/lab/files/h1.files/tree/etc/app.conf')
            if got[0] == 0 or got[1]:
                yield f'a guest reads what it was not given, or writes its copies: {got}'
    if hash_of(it.folder / 'app') != before:
        yield 'the folder has changed'
    yield from it.leftovers()
    if left := list(it.sockets.rglob('*.files')):
        yield f'copies are left: {left}'


def boots_an_own_kernel(it: Softspine) -> Problems:
    """a kernel of one's own boots, with a root folder over ours or without; it is looked at, and tried, before the run"""
    built = Path(need_kernel())
    data = built.read_bytes()
    if data.count(BANNER) == 0:
        yield 'the kernel has another banner'
        return
    put(it.folder / 'my-linux', data.replace(BANNER, MINE), 0o755)
    own_root(it)
    with lab(it, need('kernel: my-linux, root: mine').replace('kernel: my-linux, root: mine}}\n', 'kernel: my-linux}}\n', 1)):
        for host in ('h1', 'h2'):
            status, version = inside(it, 'cat', '/proc/version', host=host)
            if status != 0 or MINE not in version:
                yield f'{host}: {version!r}'
        if said(it, 'h2', 'hello')[0] != 7:
            yield 'no program of the own root folder runs'
        if said(it, 'h1', 'ping -c 1 -W 20 h2')[0] != 0:
            yield 'its guests are not on the fabric'
    # Whoever looks at its sections takes it for a kernel; it does not boot.
    section = data.index(b'Linux version ')
    put(it.folder / 'my-linux', data[:4096] + bytes(section - 4096) + data[section:], 0o755)
    began = time.monotonic()
    done = it('up', it.write('lab.yaml', need('kernel: my-linux')))
    yield from done.exited(2)
    yield from done.complains('my-linux: the kernel does not start')
    if time.monotonic() - began > 60:
        yield f'a kernel that does not boot is found out after {time.monotonic() - began:.0f} s'
    yield from it.leftovers()


def need_kernel() -> str:
    need_guests()
    return made('kernel/build')


def refuses_what_is_wrong(it: Softspine) -> Problems:
    """check and run report a part that is missing or of another kind, with its line, before anything starts"""
    put(it.folder / 'text', 'no kernel')
    shutil.copy('/bin/true', it.folder / 'program')
    for keys, why in (('root: nowhere', "lab.yaml:6:51: topology.nodes.h1.guest.root: 'nowhere': No such file or directory"),
                      ('root: text', "'text': is neither a folder nor an ext4 or squashfs image"), ('root: /', "'/': is this whole machine"),
                      ('files: {/etc/x: nothing}', "h1.guest.files.'/etc/x': 'nothing': No such file"), ('files: {/proc/x: text}', 'would be hidden'),
                      ('files: {/a/../x: text}', "must not hold the parts '.' and '..'"), ('kernel: program', "'program': is no user-mode Linux"),
                      ('kernel: text', "'text': is no user-mode Linux"), ('cpus: 2', 'user-mode Linux has one processor'),
                      ('memory: 1MiB', 'must be at least 64MiB')):
        file = it.write('lab.yaml', LAB.replace('KIND', 'uml').replace('memory: 256MiB, MORE' if 'memory' in keys else 'MORE', keys))
        for command in ('check', 'run'):
            began = time.monotonic()
            done = it(command, file)
            yield from done.exited(2)
            yield from done.complains(why)
            if time.monotonic() - began > 5:
                yield f'{command}: {why}: after {time.monotonic() - began:.1f} s'


if __name__ == '__main__':
    if sys.argv[2:] == ['qemu']:
        KIND = 'qemu'
        sys.exit(main([runs_own_programs, brings_files, mounts_images]))
    sys.exit(main([refuses_what_is_wrong, runs_own_programs, runs_a_command_in_it, mounts_images, brings_files, boots_an_own_kernel]))
