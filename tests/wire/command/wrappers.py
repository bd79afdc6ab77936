# SPDX-License-Identifier: Apache-2.0
"""Scripts that a user starts: asked for help they say what they do, and do nothing."""
from __future__ import annotations

import subprocess
import sys

from softspine import ROOT, Problems, Softspine, main

WRAPPERS = ['tools/test', 'tools/demo', 'tools/install', 'tools/sai-rpc', 'tools/package', 'tools/docs', 'tools/bench/peers', '.ci/run', '.ci/nightly', 'tests/sonic/run',
            'testbeds/guests/kernel/build', 'testbeds/guests/kernel/probe', 'testbeds/guests/root/make', 'testbeds/guests/qemu/make', 'testbeds/replay/make']
# What installs, downloads, configures or builds.
WORKERS = ['apt-get', 'apt', 'dpkg-deb', 'dpkg-buildpackage', 'buildah', 'podman', 'meson', 'ninja', 'make', 'tar', 'cpio', 'softspine', 'unshare']


def helps_and_does_nothing(it: Softspine) -> Problems:
    """--help of every script prints its words, installs and builds nothing, and writes no file"""
    programs, home = it.folder / 'bin', it.folder / 'home'
    programs.mkdir()
    home.mkdir()
    for name in WORKERS:
        (programs / name).write_text(f'#!/bin/sh\necho {name} >>{it.folder}/called\nexit 1\n')
        (programs / name).chmod(0o755)
    env = {**it.env, 'PATH': f'{programs}:{it.env["PATH"]}', 'HOME': str(home), 'XDG_CACHE_HOME': str(home), 'SOFTSPINE_CACHE': str(home)}
    replayed = (ROOT / 'testbeds' / 'replay' / 'in.pcap').stat().st_mtime_ns
    for wrapper in WRAPPERS:
        for option in ('--help', '-h'):
            done = subprocess.run([ROOT / wrapper, option], capture_output=True, text=True, env=env, cwd=it.folder, stdin=subprocess.DEVNULL, timeout=60,
                                  check=False)
            if done.returncode not in (0, 1, 2) or len((done.stdout + done.stderr).split()) < 10:
                yield f'{wrapper} {option} exits with {done.returncode}: {done.stdout}{done.stderr}'
            if (it.folder / 'called').exists():
                yield f'{wrapper} {option} called {(it.folder / "called").read_text().split()}'
                (it.folder / 'called').unlink()
    yield from (f'{path} was written' for path in home.rglob('*'))
    if (ROOT / 'testbeds' / 'replay' / 'in.pcap').stat().st_mtime_ns != replayed:
        yield 'in.pcap was written anew'


def knows_all_of_them(it: Softspine) -> Problems:
    """every executable script of the checkout that takes options is tried"""
    listed = subprocess.run(['git', 'ls-files', '-s'], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    executable = {line.split('\t')[1] for line in listed if line.startswith('100755')}
    no_options = {'testbeds/namespaces/enter', 'testbeds/verbs_device/enter', 'testbeds/verbs_device/library/make_map',
                  'testbeds/guests/root/init', 'testbeds/guests/kernel/patch', 'tools/hooks/commit-msg', 'tools/debian/rules'}
    yield from (f'{name} is not tried' for name in sorted(executable - set(WRAPPERS) - no_options) if not name.startswith('testbeds/guests/scripts/'))


if __name__ == '__main__':
    sys.exit(main([helps_and_does_nothing, knows_all_of_them]))
