# SPDX-License-Identifier: Apache-2.0
"""`softspine doctor FILE` and `softspine run FILE` agree, whatever this machine or this process lacks."""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from outside_testbeds import need_programs
from softspine import TESTBEDS, Done, Problems, Skip, Softspine, main

TESTBED = '''name: it
run: {{clock: wall, duration: {duration}}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    h1: {{kind: host, {host}}}
    h2: {{kind: host}}
  links:
    - {{endpoints: [tor1, h1], rate: 10Gbps, mtu: {mtu}}}
    - {{endpoints: [tor1, h2], rate: 10Gbps}}
'''
# h1 and the MTU of its link, and of both ends of the veth dv0.
HOSTS = {
    'tap': ('edge: {tap: {name: dtap0}}', 1500),
    'tap of a name that a veth has': ('edge: {tap: {name: dv0}}', 1500),
    'af_packet': ('edge: {af_packet: {interface: dv0}}', 1500),
    'af_packet with jumbo frames': ('edge: {af_packet: {interface: dv0}}', 9000),
    'af_packet longer than its slots': ('edge: {af_packet: {interface: dv0}}', 9200),
    'af_packet on nothing': ('edge: {af_packet: {interface: nosuch}}', 1500),
    'af_xdp': ('edge: {dpdk: "net_af_xdp0,iface=dv0"}', 1500),
    'af_xdp with the longest frames': ('edge: {dpdk: "net_af_xdp0,iface=dv0"}', 3506),
    'af_xdp with longer ones': ('edge: {dpdk: "net_af_xdp0,iface=dv0"}', 3507),
    'net_af_packet': ('edge: {dpdk: "net_af_packet0,iface=dv0"}', 1500),
    'net_pcap': ('edge: {dpdk: "net_pcap0,iface=dv0"}', 1500),
    'net_tap': ('edge: {dpdk: "net_tap0,iface=dtap0"}', 1500),
    'vhost-user': ('edge: {vhost_user: {socket: v.sock}}', 1500),
    'namespace': ('namespace: {run: "true"}', 1500),
    'namespace with tags': ('namespace: {run: "true"}, vlan: {id: 100}', 1500),
    'verbs': ('verbs: {run: "true"}', 1500),
    'pci': ('edge: {dpdk: "0000:ff:1f.7"}', 1500),
    'nothing outside': ('address: 10.0.1.11', 1500),
}
VETH = ('ip link set lo up && ip link add dv0 mtu $MTU type veth peer name dv1 mtu $MTU && ip link set dv0 up && ip link set dv1 up && exec "$@"')
NETWORK = ('unshare', '--net', 'sh', '-c', VETH, 'sh')


def text_of(host: str, mtu: int) -> str:
    """A host's command ends the run; the rest is over soon."""
    return TESTBED.format(host=host, mtu=mtu, duration='1min' if 'run:' in host else '50ms')


def without(right: str) -> tuple[str, ...]:
    return 'setpriv', f'--bounding-set=-{right}', f'--inh-caps=-{right}'


# What a run is started by; what it then lacks.
SITUATIONS = {
    'with all': NETWORK,
    'without net_admin': (*NETWORK, *without('net_admin')),
    'without net_raw': (*NETWORK, *without('net_raw')),
    'without sys_admin': (*NETWORK, *without('sys_admin')),
    'without ipc_lock': (*NETWORK, *without('ipc_lock')),
    'without any right': (*NETWORK, *without('all')),
    'without /dev/net/tun': ('unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /dev/net && exec "$@"', 'sh', *NETWORK),
    'root of a user namespace': (*NETWORK, 'unshare', '-r'),
    'root of a user namespace and its network': ('unshare', '-r', *NETWORK),
}


def ask(it: Softspine, before: tuple[str, ...], *words: object) -> Done:
    done = subprocess.run([*before, it.binary, *(str(word) for word in words)], env=it.env, cwd=it.folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)
    return Done(' '.join(str(word) for word in words), done.returncode, done.stdout, done.stderr, 0)


def disagreement(it: Softspine, before: tuple[str, ...], file: Path) -> str:
    doctor = ask(it, before, 'doctor', file, '--json')
    run = ask(it, before, 'run', file, '--quiet', '--no-server', '--folder', it.folder / 'o')
    if doctor.status not in (0, 1):
        return f'doctor exits with {doctor.status}: {doctor.err}'
    said = doctor.json()
    missing = [row for row in said['rows'] if row['state'] in ('missing', 'unknown')]
    if said['ready'] != (doctor.status == 0) or said['ready'] != (not missing):
        return f'doctor exits with {doctor.status} and says {said}'
    if not all(row['mend'] for row in missing):
        return f'nothing mends {missing}'
    if said['ready'] != (run.status == 0):
        return f'doctor misses {missing}, and the run ends with {run.status}: {run.err[-300:]}'
    return ''


def agrees_with_run(it: Softspine) -> Problems:
    """whatever kind of host in whatever situation: doctor misses something exactly where run does not start"""
    need_programs('ip', 'setpriv', 'unshare')
    if os.geteuid() != 0:
        raise Skip('taking rights away needs root')
    if subprocess.run(['unshare', '-rn', 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('no user namespaces here')
    ready = 0
    for number, (kind, (host, mtu)) in enumerate(HOSTS.items()):
        file = it.write(f'{number}.yaml', text_of(host, mtu))
        it.env['MTU'] = str(mtu)
        for situation, before in SITUATIONS.items():
            if wrong := disagreement(it, before, file):
                yield f'{kind}, {situation}: {wrong}'
        ready += ask(it, NETWORK, 'doctor', file).status == 0
    if not 3 <= ready < len(HOSTS):
        yield f'{ready} of {len(HOSTS)} kinds of host are ready on this machine: too few or too many to learn from'


def serves_users(it: Softspine) -> Problems:
    """an ordinary user is told what is missing, and that a fabric of built-in hosts lacks nothing"""
    need_programs('setpriv')
    if os.geteuid() != 0:
        raise Skip('becoming another user needs root')
    for folder in (it.folder, *it.folder.parents):
        if not folder.stat().st_mode & 1 and folder.owner() == 'root':
            folder.chmod(folder.stat().st_mode | 0o055)
    program = it.folder / 'softspine'
    shutil.copy(it.binary, program)
    shutil.copy(TESTBEDS / 'two-tier.yaml', it.folder)
    it.write('tap.yaml', text_of(*HOSTS['tap']))
    user = ('setpriv', '--reuid=65534', '--regid=65534', '--clear-groups')

    def say(*words: str) -> Done:
        done = subprocess.run([*user, program, 'doctor', *words], cwd=it.folder, env=it.env, capture_output=True, text=True, timeout=60, check=False)
        return Done(' '.join(words), done.returncode, done.stdout, done.stderr, 0)
    yield from say('two-tier.yaml').exited(0)
    tap = say('tap.yaml')
    yield from tap.exited(1)
    yield from tap.says('missing  CAP_NET_ADMIN', 'we have no such right; mend: sudo softspine run tap.yaml')
    everything = say('--json')
    yield from everything.exited(1)
    states = {row['what']: row['state'] for row in everything.json()['rows']}
    if states['CAP_NET_RAW'] != 'missing' or states['instruction sets'] != 'ok' or states['memory'] != 'ok':
        yield f'the user is told {states}'


def refuses_wrong_input(it: Softspine) -> Problems:
    """a wrong file, and options that are about a file, are refused"""
    for words, error in ((('nosuch.yaml',), 'No such file'), (('--workers', '3'), 'FILE, for --workers'), (('--nosuch',), '--nosuch'),
                         ((it.write('bad.yaml', 'name: it\nnosuch: 1\n'),), 'bad.yaml:2')):
        done = it('doctor', *words)
        yield from done.exited(2)
        yield from done.complains(error)


def is_strict_if_asked(it: Softspine) -> Problems:
    """what is short is no failure, but with --strict"""
    file = it.write('many.yaml', text_of('address: 10.0.1.11', 1500).replace('duration: 50ms', 'duration: 50ms, workers: 128'))
    done = it('doctor', file)
    yield from done.exited(0)
    yield from done.says('short    processors', '128 workers', 'mend: --workers ')
    yield from it('doctor', file, '--strict').exited(1)
    yield from it('doctor', file, '--workers', '1', '--clock', 'virtual', '--strict').exited(0)


if __name__ == '__main__':
    sys.exit(main([agrees_with_run, serves_users, refuses_wrong_input, is_strict_if_asked]))
