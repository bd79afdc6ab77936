# SPDX-License-Identifier: Apache-2.0
"""tools/package: the Debian package is built, looked at by lintian, installed in a root without build tools, used, and purged.

Its argument is the folder for the package and the root. Needs root, and Debian's packages from its mirror.
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'tidy'))
from tap import Tap  # noqa: E402

# A root as a user's machine has it: its own /proc, no view of this machine's processes, and nothing stays mounted.
INSIDE = ['unshare', '--mount', '--pid', '--fork', '--mount-proc', 'sh', '-c',
          'mount -t proc proc "$0/proc" && mount -t sysfs sysfs "$0/sys" && mount --bind /dev "$0/dev" && mount -t tmpfs none "$0/tmp" && exec chroot "$0" env -i '
          'PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash -c "$1"']
PAIR = '''name: pair
run: {clock: wall, duration: 20s}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology: {nodes: {h1: {verbs: {run: "softspine-verbs --serve --sessions 1"}}, h2: {verbs: {run: "softspine-verbs h1 --wait 10s --qps 2 --messages 50"}}}}
expect: [{value: commands.*.exit_status, equal: 0}, {value: totals.balanced, equal: true}]
'''
# What apt, dpkg and ldconfig keep for themselves, and copies of files of users before a dependency had a group.
KEPT = ('etc/passwd-', 'etc/group-', 'etc/shadow-', 'etc/gshadow-', 'var/cache/', 'var/log/', 'var/lib/apt/', 'var/lib/dpkg/', 'etc/ld.so.cache', 'root/.cache', 'run/')
USES = [
    ('it says release, commit and DPDK', 'softspine --version', 'DPDK 22.11'),
    ('there is no compiler, and no checkout', 'command -v g++ cc gcc meson ninja git || echo none of them', 'none of them'),
    ('a fabric of 8 switches runs', 'cd /usr/share/softspine && softspine run testbeds/two-tier.yaml --report /tmp/r.json', 'Expectations: 5 of 5 held'),
    ('a storm is captured and its root is named', 'cd /tmp && softspine run /usr/share/softspine/testbeds/pfc-storm.yaml --capture c.pcapng --quiet && softspine storm c.pcapng',
     'STORM: root h1'),
    ('programs with an RDMA device of ours verify every byte', 'cd /tmp && softspine run pair.yaml --folder v && cat v/h2/stdout', 'every byte was right'),
    ('doctor names what guests need', '! softspine doctor /usr/share/softspine/testbeds/rxe-two-tier.yaml', '/usr/libexec/softspine/install guests'),
    ('bash completes', '. /usr/share/bash-completion/completions/softspine && COMP_WORDS=(softspine sho) COMP_CWORD=1 && _softspine && echo "${COMPREPLY[@]}"', 'show'),
]


def run(*command: object, **more) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)


def problems_of(done: subprocess.CompletedProcess, said: str = '') -> list[str]:
    text = done.stdout + done.stderr
    return [] if done.returncode == 0 and said in text else [f'{done.args[-1]}: status {done.returncode}\n{text[-3000:]}']


def files_below(root: Path) -> set[str]:
    found = {str(path.relative_to(root)) for path in root.rglob('*')}
    return {name for name in found if not name.startswith(KEPT)}


class Machine:
    """A root folder with Debian's smallest set of packages."""

    def __init__(self, folder: Path) -> None:
        self.root = folder

    def make(self) -> list[str]:
        return problems_of(run('mmdebstrap', '--mode=root', '--variant=apt', '--skip=cleanup/apt', 'bookworm', self.root))

    def sh(self, text: str) -> subprocess.CompletedProcess:
        return run(*INSIDE, self.root, f'{text}')

    def gives(self, text: str, said: str) -> list[str]:
        return problems_of(self.sh(f'cat /pair.yaml >/tmp/pair.yaml; {text}'), said)


def the_package(tap: Tap, folder: Path) -> Path | None:
    done = run(ROOT / 'tools' / 'package', '--into', folder)
    tap.point('tools/package builds a package of the commit', problems_of(done, '.deb'))
    if done.returncode != 0:
        return None
    package = Path(done.stdout.split()[-1])
    found = run('lintian', '--allow-root', '--fail-on', 'error,warning', package)
    tap.point('lintian has nothing against it', problems_of(found) or [line for line in found.stdout.splitlines() if line[:2] in ('E:', 'W:')])
    return package


def pages_and_completion(tap: Tap, root: Path) -> None:
    pages = sorted((root / 'usr/share/man/man1').glob('softspine*'))
    bad = [line for page in pages for line in run('mandoc', '-T', 'lint', '-W', 'error', page).stdout.splitlines()]
    tap.point('mandoc reads every man page', bad or ([] if len(pages) > 20 else [f'{len(pages)} pages']))
    shells = [('zsh', 'usr/share/zsh/vendor-completions/_softspine', ['zsh', '-n']), ('fish', 'usr/share/fish/vendor_completions.d/softspine.fish', ['fish', '--no-execute'])]
    tap.point('zsh and fish read their completion', [it for _, file, command in shells for it in problems_of(run(*command, root / file))])
    offered = run('fish', '--no-config', '-c', f'source {root}/usr/share/fish/vendor_completions.d/softspine.fish; complete -C "softspine show queue "').stdout.split()
    tap.point('fish completes the words of a view', [] if {'counters', 'watermark'} <= set(offered) else [str(offered)])


def installed_and_purged(tap: Tap, package: Path, machine: Machine) -> None:
    problems = machine.make()
    tap.point('a root without build tools is made', problems)
    if problems:
        return
    (machine.root / 'pair.yaml').write_text(PAIR)
    (machine.root / package.name).write_bytes(package.read_bytes())
    before = files_below(machine.root)
    tap.point('apt installs it with what it depends on', problems_of(machine.sh(f'apt-get -qq install -y --no-install-recommends /{package.name}')))
    for name, text, said in USES:
        tap.point(name, machine.gives(text, said))
    pages_and_completion(tap, machine.root)
    tap.point('apt purges it and what it brought', problems_of(machine.sh('apt-get -qq purge -y --autoremove softspine')))
    tap.point('nothing is left of it', sorted(files_below(machine.root) - before)[:20])


def main() -> int:
    tap = Tap()
    if os.geteuid() != 0:
        tap.skip('a Debian package', 'only root makes a root folder')
        return tap.end()
    with tempfile.TemporaryDirectory(prefix='softspine-package-', dir='/var/tmp') as folder:
        package = the_package(tap, Path(folder))
        if package is not None:
            installed_and_purged(tap, package, Machine(Path(folder, 'root')))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
