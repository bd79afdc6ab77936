# SPDX-License-Identifier: Apache-2.0
"""Testbeds whose hosts are real: they are as they expect themselves to be, and leave nothing behind."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from softspine import ROOT, TESTBEDS, Problems, Skip, Softspine, main

TWO_GUESTS = '''name: two-guests
run: {clock: wall, duration: 4min}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 10Gbps, mtu: 4200}, fabric_link: {rate: 10Gbps, mtu: 4200}}
topology:
  nodes:
    h1: &guest {guest: {kind: uml, timeout: 4min, run: "pairs --messages 20 rping"}}
    h2: *guest
expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: switches.*.dropped_packets, equal: 0}
  - {value: totals.balanced, equal: true}
'''


# h1 and h2 make their tags themselves, each in a VLAN of its own; h3 has none. One of the pings fills frames to the MTU. What the kernel
# says without a tag, over the device below, ends at the ToR.
TAGGED = '''name: tagged
run: {clock: wall, duration: 30s}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology:
  nodes:
    h1: {vlan: 100, namespace: {run: "ip -d link show vlan100 && ping -c 3 -i 0.2 10.0.2.2 && ping -c 2 -i 0.2 -s 9072 -M do 10.0.3.2 && ping -6 -c 2 -i 0.2 fd00:0:0:3::2"}}
    h2: {vlan: 200, namespace: {}}
    h3: {namespace: {}}
expect:
  - {value: commands.*.exit_status, equal: 0}
  - {value: totals.drops.no_route, equal: 0}
  - {value: totals.balanced, equal: true}
'''


def need_programs(*names: str) -> None:
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        raise Skip('not installed: ' + ' '.join(missing))


def made(script: str, *arguments: str) -> str:
    """What one of the guests' scripts prints last. What it makes is cached, or made now, in minutes."""
    ran = subprocess.run([TESTBEDS / 'guests' / script, *arguments], capture_output=True, text=True, cwd=ROOT, check=False)
    if ran.returncode != 0:
        raise Skip(' '.join(ran.stderr.splitlines()[-1:]))
    return ran.stdout.splitlines()[-1]


def need_guests() -> None:
    """User-mode Linux guests. That they cannot be where nothing may be traced is the machine's affair, all else is ours."""
    obstacle = made('kernel/probe', made('kernel/build'), made('root/make'))
    if 'ptrace' in obstacle and 'fp regs' not in obstacle:
        raise Skip(obstacle)
    if obstacle:
        raise AssertionError(obstacle)


def network() -> set[str]:
    """Named namespaces, and the interfaces of our own one."""
    spaces = subprocess.run(['ip', 'netns', 'list'], capture_output=True, text=True, check=False).stdout.splitlines()
    return {f'namespace {name}' for name in spaces} | {f'interface {name}' for name in os.listdir('/sys/class/net')}


def whole_run(it: Softspine, *arguments: object, timeout: float) -> tuple[dict, list[str]]:
    """Its report, and what is wrong with it or was left behind."""
    before = network()
    done = it('run', *arguments, '--folder', it.folder / 'o', '--report', 'report.json', timeout=timeout)
    problems = list(done.exited(0))
    problems += [f'{thing} is left behind' for thing in network() - before]
    problems += it.leftovers()
    report = json.loads((it.folder / 'report.json').read_text()) if (it.folder / 'report.json').exists() else {}
    for host, command in report.get('commands', {}).items():
        if command['exit_status'] != 0:
            problems.append(f'{host}: {command}\n{(it.folder / "o" / host / "stderr").read_text()[-2000:]}')
    return report, problems


def namespaces(it: Softspine) -> Problems:
    """namespaces: kernel hosts ping, trace and move data across the fabric"""
    need_programs('ip', 'ping', 'traceroute', 'iperf3')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    report, problems = whole_run(it, TESTBEDS / 'namespaces.yaml', timeout=90)
    yield from problems
    # Two ToRs and a spine lie between h4 and h1: three hops answer, and then the host.
    hops = [line for line in (it.folder / 'o' / 'h4' / 'stdout').read_text().splitlines() if line[:2].strip().isdigit()]
    if len(hops) != 8:
        yield f'traceroute over IPv4 and IPv6 saw {hops}'
    if report['edges']['h1']['in_packets'] < 100 or report['totals']['drops']['ttl_expired'] != 6:
        yield f'report: {report["edges"]["h1"]}, {report["totals"]["drops"]}'


def tagged_namespaces(it: Softspine) -> Problems:
    """kernel hosts with 802.1Q devices ping across VLANs of one ToR, and an untagged one behind another"""
    need_programs('ip', 'ping')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    trial = 'ip tuntap add trial mode tap && ip link add link trial name vlan5 type vlan id 5'
    if subprocess.run(['unshare', '--net', 'sh', '-c', trial], capture_output=True, check=False).returncode != 0:
        raise Skip('this kernel has no 802.1Q')
    _, problems = whole_run(it, it.write('tagged.yaml', TAGGED), timeout=60)
    yield from problems
    said = (it.folder / 'o' / 'h1' / 'stdout').read_text()
    if 'vlan protocol 802.1Q id 100' not in said or said.count(' 0% packet loss') != 3:
        yield f'h1 said {said}'


TWO_SPACES = '''name: nsx
run: {{clock: wall, duration: 20s}}
fabric: {{kind: star, hosts: 2, host_link: {{rate: 1Gbps}}}}
topology:
  nodes:
    h1: {{namespace: {{run: "{run}", timeout: 10s}}}}
    h2: {{namespace: {{run: "ping -c 3 -i 0.1 h1"}}}}
'''


def files_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob('*')) if path.is_file() and not path.is_symlink()}


def leaves_what_is_not_its_own(it: Softspine) -> Problems:
    """--folder: what no run has made is refused, with status 2, and nothing in it is touched; what a run has made the next one uses"""
    need_programs('ip', 'ping')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    file = it.write('nsx.yaml', TWO_SPACES.format(run='echo hi'))
    folder = it.folder / 'p'
    for mine, named in (('board/keep', 'p/board: holds files'), ('h1/run', 'p/h1: holds files'), ('h2', 'p/h2: is needed for a folder')):
        (folder / mine).parent.mkdir(parents=True, exist_ok=True)
        (folder / mine).write_text('mine')
        (folder / 'other').write_text('stays')
        done = it('run', file, '--folder', folder)
        yield from done.exited(2)
        yield from done.complains(named)
        if files_in(folder) != {mine: 'mine', 'other': 'stays'}:
            yield f'{mine}: {files_in(folder)}'
        shutil.rmtree(folder)
    elsewhere = it.folder / 'elsewhere'
    elsewhere.mkdir()
    folder.mkdir()
    (folder / 'board').symlink_to(elsewhere)
    yield from it('run', file, '--folder', folder).exited(2)
    if list(elsewhere.iterdir()):
        yield 'a board that is a link was written to'
    (folder / 'board').unlink()
    (folder / 'other').write_text('stays')
    for _ in range(2):
        yield from it('run', file, '--folder', folder).exited(0)
        if (folder / 'h1' / 'stdout').read_text() != 'hi\n' or (folder / 'other').read_text() != 'stays':
            yield f'{files_in(folder)}'
        (folder / 'board' / 'left').write_text('by a command')
    lost = it('run', it.write('p/board/nsx.yaml', file.read_text()), '--folder', folder)
    yield from lost.exited(2)
    yield from lost.complains('the testbed', 'lies in it')


def keeps_no_folder_of_its_own(it: Softspine) -> Problems:
    """without --folder nothing is left in the temporary folder, however the run ends; what failed is said on stderr, with its last words"""
    need_programs('ip', 'ping')
    if os.geteuid() != 0:
        raise Skip('namespaces need root')
    temporary = it.folder / 't'
    temporary.mkdir()
    it.env['TMPDIR'] = str(temporary)
    done = it('run', it.write('nsx.yaml', TWO_SPACES.format(run='echo hi')), '--report', 'r.json')
    yield from done.exited(0)
    yield from done.says('kept with --folder')
    if json.loads((it.folder / 'r.json').read_text())['commands']['h1']['stdout'] != '':
        yield 'the report names a file that is gone'
    failed = it('run', it.write('nsx.yaml', TWO_SPACES.format(run='echo wrong here >&2; exit 3')))
    yield from failed.exited(1)
    yield from failed.complains('h1: its command ended with status 3 | wrong here')
    late = it('run', it.write('nsx.yaml', TWO_SPACES.format(run='sleep 60').replace('10s', '1s')))
    yield from late.exited(1)
    yield from late.complains('h1: its command was ended after', 'its `timeout`')
    yield from (f'{path} is left behind' for path in temporary.iterdir())


def namespaces_of_a_user(it: Softspine) -> Problems:
    """namespaces work for who is root by `unshare -r` alone, with this machine's network or, `-n`, without one"""
    need_programs('ip', 'ping', 'unshare')
    if subprocess.run(['unshare', '-rn', 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('this machine permits no user namespace')
    file = it.write('nsx.yaml', TWO_SPACES.format(run='id -u; echo hi'))
    for options in ('-r', '-rn'):
        command = ['unshare', options, it.binary, 'run', file, '--folder', it.folder / options]
        done = subprocess.run(command, capture_output=True, text=True, env=it.env, cwd=it.folder, timeout=60, check=False)
        if done.returncode != 0:
            yield f'unshare {options}: exited with {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-1500:]}'
        elif (it.folder / options / 'h1' / 'stdout').read_text() != '0\nhi\n':
            yield f'{files_in(it.folder / options)}'


def names_interfaces(it: Softspine) -> Problems:
    """an interface that is not there is told from one that may not be used, and those that are there are named"""
    edge = TWO_SPACES.split('topology:')[0].format() + 'topology:\n  nodes: {h1: {edge: {af_packet: {interface: nosuch0}}}}\n'
    done = it('run', it.write('nsx.yaml', edge))
    yield from done.exited(2)
    yield from done.complains('h1: there is no interface nosuch0; there are: ', 'lo')


def namespaces_without_root(it: Softspine) -> Problems:
    """namespaces without the right to make them: said once, with the cure, exit status 2, and no file left"""
    ours = set(Path(tempfile.gettempdir()).glob('softspine-run-*'))
    command = [it.binary, 'run', TESTBEDS / 'namespaces.yaml']
    if os.geteuid() == 0:  # no capability, neither now nor after exec: what root is without them may do no more than anybody
        command = ['setpriv', '--bounding-set=-all', '--inh-caps=-all', *command]
    done = subprocess.run(command, capture_output=True, text=True, env=it.env, cwd=it.folder, timeout=60, check=False)
    if done.returncode != 2 or done.stderr.count('a namespace host needs root') != 1 or 'h1: network namespace' not in done.stderr:
        yield f'exited with {done.returncode}\n{done.stdout[-500:]}\n{done.stderr[-1500:]}'
    yield from (f'{path} is left behind' for path in set(Path(tempfile.gettempdir()).glob('softspine-run-*')) - ours)


def two_guests(it: Softspine) -> Problems:
    """two user-mode Linux guests verify data with rping across two tiers"""
    need_guests()
    report, problems = whole_run(it, it.write('two-guests.yaml', TWO_GUESTS), timeout=270)
    yield from problems
    results = [json.loads(line) for path in (it.folder / 'o').glob('*/results.jsonl') for line in path.read_text().splitlines()]
    if sorted((r['from'], r['to'], r.get('verified')) for r in results) != [('h1', 'h2', True), ('h2', 'h1', True)]:
        yield f'rping: {results}'
    if report['totals']['dropped_packets'] != 0:
        yield f'drops: {report["totals"]["drops"]}'


if __name__ == '__main__':
    sys.exit(main([two_guests] if 'guests' in sys.argv else [
        namespaces, tagged_namespaces, leaves_what_is_not_its_own, keeps_no_folder_of_its_own, namespaces_of_a_user, names_interfaces, namespaces_without_root]))
