# SPDX-License-Identifier: Apache-2.0
"""What `meson install` lays down runs without the clone and without the build folder, and says of itself what --help says."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from softspine import ROOT, Problems, Skip, Softspine, main

BUILD = Path(sys.argv[1]).resolve().parents[2]
# In its own mount namespace, where the checkout and what was built of it are empty folders.
HIDDEN = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none "$0" && { [ ! -e "$1" ] || mount -t tmpfs none "$1"; } && cd "$2" && shift 2 && exec "$@"']
NAMESPACES = '''name: pair
run: {clock: wall, duration: 20s}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology: {nodes: {h1: {namespace: {run: "ping -c 1 -W 5 10.0.1.2"}}, h2: {namespace: {run: "softspine-guest --help | head -1; true"}}}}
'''
VERBS = '''name: verbs-lab
run: {clock: wall}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
topology: {nodes: {h1: {verbs: {}}, h2: {verbs: {}}}}
'''


def install(it: Softspine) -> Path:
    """The prefix below the test's folder."""
    done = subprocess.run(['meson', 'install', '-C', str(BUILD), '--no-rebuild', '--destdir', str(it.folder / 'root')], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])
    (prefix,) = (path.parent.parent for path in (it.folder / 'root').rglob('bin/softspine'))
    return prefix


class Installed(Softspine):
    """The installed program, with nothing of the checkout in sight."""

    def __init__(self, it: Softspine, prefix: Path) -> None:
        self.prefix = prefix
        self.folder, self.mark, self.sockets = it.folder, it.mark, it.sockets
        self.binary = str(prefix / 'bin' / 'softspine')
        self.env = {**it.env, 'PATH': f'{prefix / "bin"}:{it.env["PATH"]}'}

    def hidden(self) -> tuple[str, ...]:
        if os.geteuid() != 0:
            raise Skip('only root hides a folder from a program')
        return (*HIDDEN, str(ROOT), str(BUILD), str(self.folder))

    def sh(self, text: str, timeout: float = 120) -> str:
        done = subprocess.run([*self.hidden(), 'bash', '-c', f'exec 2>&1; {text}'], env=self.env, capture_output=True, text=True, timeout=timeout, check=False)
        return f'{done.stdout}{done.stderr}status {done.returncode}'


def tracked(folder: str) -> set[str]:
    listed = subprocess.run(['git', 'ls-files', folder], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return {name for name in listed if (ROOT / name).exists()}


def holds_what_is_shipped(it: Softspine) -> Problems:
    """an installation has every testbed, page and script, and no source"""
    prefix = install(it)
    found = {str(path.relative_to(prefix)) for path in prefix.rglob('*') if not path.is_dir()}
    rooms = {path.parent.relative_to(ROOT).parts[1] for path in (ROOT / 'testbeds').glob('*/*.cpp')}
    testbeds = {name for name in tracked('testbeds') if name.split('/')[1] not in rooms and Path(name).name not in ('README.md', 'meson.build')
                and not (ROOT / name).suffix in ('.cpp', '.hpp')} - {'testbeds/namespaces/enter', 'testbeds/verbs_device/enter'}
    wanted = {f'share/softspine/{name}' for name in testbeds} | {f'share/doc/softspine/{name}' for name in tracked('docs')} | {f'share/softspine/{name}' for name in tracked('examples')}
    wanted |= {f'libexec/softspine/{name.removeprefix("testbeds/")}' for name in tracked('testbeds/guests') if name.count('/') == 3}
    wanted |= {f'libexec/softspine/{name}' for name in ('namespaces/enter', 'verbs_device/enter', 'verbs/libibverbs.so.1', 'verbs/libsoftspine_names.so',
                                                         'softspine-agent', 'softspine-keeper', 'install', 'packages', 'sai-rpc')}
    wanted |= {'bin/softspine', 'bin/softspine-verbs', 'bin/softspine-sai-rpc', 'share/doc/softspine/LICENSE', 'share/softspine/testbed.schema.json'}
    wanted |= {f'share/{name}' for name in ('man/man1/softspine.1', 'man/man1/softspine-run.1', 'man/man1/softspine-verbs.1', 'man/man1/softspine-sai-rpc.1',
                                           'bash-completion/completions/softspine', 'fish/vendor_completions.d/softspine.fish', 'zsh/site-functions/_softspine')}
    wanted |= {f'share/wireshark/profiles/softspine/{name}' for name in ('colorfilters', 'preferences')}
    if not any(name.endswith('/wireshark/extcap/softspine-extcap') for name in found):
        yield 'softspine-extcap is not where Wireshark looks'
    yield from (f'{name} is not installed' for name in sorted(wanted - found))
    yield from (f'{name} is installed' for name in sorted(found) if Path(name).suffix in ('.cpp', '.hpp', '.pyc', '.build', '.a'))
    if json.loads((prefix / 'share/softspine/testbed.schema.json').read_text()) != it('check', '--schema').json():
        yield 'the schema is another than that of check --schema'


def runs_without_the_clone(it: Softspine) -> Problems:
    """an installed softspine runs testbeds, namespaces and verbs hosts with neither the checkout nor the build folder there"""
    here = Installed(it, install(it))
    share = here.prefix / 'share' / 'softspine'
    yield from it('run', ROOT / 'testbeds' / 'two-tier.yaml', '--report', 'built.json', '--quiet').exited(0)
    for command, said in (
            (f'ls {ROOT}/* {BUILD}/*', f'cannot access \'{ROOT}/*\''),
            (f'softspine run {share}/testbeds/two-tier.yaml --report r.json --quiet', 'status 0'),
            (f'softspine run {share}/testbeds/pfc-storm.yaml --capture c.pcapng --quiet; softspine storm c.pcapng', 'STORM: root h1'),
            (f'softspine identify --help; softspine doctor {share}/testbeds/rxe-two-tier.yaml', f'{here.prefix}/libexec/softspine'),
            ('softspine-sai-rpc --help', 'softspine-sai-rpc --objects'),
            (f'softspine run {it.write("pair.yaml", NAMESPACES)} --folder ns --report ns.json; cat ns/h1/stdout', '1 received'),
            (f'softspine run {it.write("verbs.yaml", VERBS)} --folder v --quiet & until softspine show fabric; do :; done >/dev/null; '
             "softspine exec h1 -- sh -c 'ibv_devices; command -v softspine-verbs'; kill -INT %1; wait", 'softspine0')):
        done = here.sh(command)
        if said not in done:
            yield f'{command}: {done[-3000:]}'
    built, installed = ({**json.loads((it.folder / name).read_text()), 'engine': None} for name in ('built.json', 'r.json'))
    if built != installed:
        yield 'installed, it reports something else'
    if list(here.prefix.rglob('__pycache__')):
        yield 'a run has left bytecode in the installation'


def completed(prefix: Path, line: str) -> set[str]:
    """What bash offers at the end of the line."""
    words = line.split(' ')
    script = f'. {prefix}/share/bash-completion/completions/{words[0]}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _{words[0].replace("-", "_")}; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(['bash', '-c', script, 'bash', *words], capture_output=True, text=True, check=False)
    return set(done.stdout.split()) | set(done.stderr.split())


def completes_what_help_lists(it: Softspine) -> Problems:
    """bash completes commands, options, listed values and views as --help has them; a man page has each of them"""
    prefix = install(it)
    commands = completed(prefix, 'softspine ')
    listed = {line.split()[0] for line in it('--help').out.partition('Subcommands:\n')[2].partition('\n\n')[0].splitlines()}
    if commands != listed:
        yield f'commands: {commands ^ listed}'
    for line, offers in (('softspine run --clock ', {'wall', 'virtual'}), ('softspine bench f', {'forwarding', 'flood'}), ('softspine show pfc', {'pfc', 'pfcwd'}),
                         ('softspine show queue wat', {'watermark'}), ('softspine show --json queue watermark ', {'unicast'}), ('softspine link tor1:Ethernet0 u', {'up'}),
                         ('softspine run --report ', set()), ('softspine-verbs --scaling s', {'split'})):
        if (found := completed(prefix, line)) != offers:
            yield f'`{line}` offers {found}, not {offers}'
    for command in sorted(listed):
        text = it(command, '--help').out
        options = {word.split(',')[-1] for line in text.splitlines() if line.startswith('  -') for word in line.split()[:1]}
        if not options <= completed(prefix, f'softspine {command} -'):
            yield f'{command}: {options - completed(prefix, f"softspine {command} -")} not completed'
        page = (prefix / f'share/man/man1/softspine-{command}.1').read_text()
        yield from (f'{command}: its page lacks {option}' for option in options if option.replace('-', '\\-') not in page)
    if shutil.which('man') is None:
        raise Skip('no man')
    for page in sorted((prefix / 'share/man/man1').iterdir()):
        done = subprocess.run(['man', '--warnings', '-l', '-Tutf8', str(page)], capture_output=True, text=True, env={**it.env, 'MANWIDTH': '100', 'LC_ALL': 'C.UTF-8'}, check=False)
        if done.returncode != 0 or done.stderr or page.stem not in done.stdout.replace('‐', '-'):
            yield f'{page.name}: {done.stderr[:500]}'


if __name__ == '__main__':
    sys.exit(main([holds_what_is_shipped, runs_without_the_clone, completes_what_help_lists]))
