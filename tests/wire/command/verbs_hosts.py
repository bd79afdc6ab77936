#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of this machine with an RDMA device of ours: Debian's perftest and pingpongs, and softspine exec."""
from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time

from one_run import tshark
from softspine import TESTBEDS, Problems, Skip, Softspine, main

PROGRAMS = ('ibv_devinfo', 'ibv_rc_pingpong', 'ib_write_bw', 'ib_read_bw', 'ib_send_bw', 'ib_atomic_bw')
LAB = '''name: verbs-lab
run: {clock: wall}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, mtu: 4200}, fabric_link: {rate: 100Gbps, mtu: 4200}}
topology: {nodes: {h1: {verbs: {}}, h2: {verbs: {}}}}
'''


def need_programs() -> None:
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if missing:
        raise Skip(f'{missing[0]} is not installed: tools/install tests')


def whole_testbed(it: Softspine) -> Problems:
    """verbs: every tool ends well, every byte is right, nothing is lost, and tshark decodes all frames as RoCEv2"""
    need_programs()
    done = it('run', TESTBEDS / 'verbs.yaml', '--folder', it.folder / 'o', '--report', 'r.json', '--capture', 'c.pcapng',
              '--capture-port', 'h?:*', '--full', '--capture-limit', '60MB', timeout=280)
    yield from done.exited(0)
    report = json.loads((it.folder / 'r.json').read_text())
    for host, command in report['commands'].items():
        if command['exit_status'] != 0:
            yield f'{host}: {command} {(it.folder / "o" / host / "stderr").read_text()[-2000:]}'
    if 'every one was right' not in (it.folder / 'o' / 'h1' / 'stdout').read_text():
        yield 'softspine-verbs has not seen that every byte was right'
    for host, edge in report['edges'].items():
        if edge['statistics']['retransmitted_pkts'] > edge['statistics']['sent_pkts'] // 10:
            yield f'{host} sent much again: {edge["statistics"]}'
    # tshark takes a send without payload, which is 58 bytes long, for a packet that breaks off.
    sound = '!(infiniband.bth.opcode == 4 && frame.len == 58)'
    bad = tshark('-r', it.folder / 'c.pcapng', '-o', 'ip.check_checksum:TRUE', '-Y',
                 f'{sound} && (_ws.malformed || _ws.expert.severity >= error || ip.checksum.status == bad)')
    yield from (f'tshark complains: {line}' for line in bad.splitlines()[:5])
    others = tshark('-r', it.folder / 'c.pcapng', '-Y', 'udp.port == 4791 && !infiniband').splitlines()
    if others:
        yield f'no RoCEv2: {others[:3]}'


def on(it: Softspine, host: str, *command: str) -> subprocess.Popen[str]:
    return subprocess.Popen([it.binary, 'exec', host, '--', *command], env=it.env, cwd=it.folder, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def beside(it: Softspine, server: list[str], client: list[str], hosts: tuple[str, str] = ('h1', 'h2')) -> tuple[str, str]:
    """What both said: the server on the first host, the client on the second, which tries until the server listens."""
    serves = on(it, hosts[0], *server)
    until = time.monotonic() + 60
    while True:
        asks = on(it, hosts[1], *client)
        said = asks.communicate(timeout=120)[0]
        if asks.returncode == 0 or serves.poll() is not None or time.monotonic() > until:
            break
    if asks.returncode != 0:
        serves.kill()
    return serves.communicate(timeout=60)[0], said if asks.returncode == 0 else f'{asks.returncode}: {said}'


def programs_beside_a_run(it: Softspine) -> Problems:
    """exec runs programs on hosts of a fabric that runs; a name is a host's, and its exit status is the program's"""
    need_programs()
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        device = on(it, 'h1', 'ibv_devinfo').communicate(timeout=60)[0]
        if 'softspine0' not in device or 'PORT_ACTIVE' not in device:
            yield f'ibv_devinfo said {device}'
        ping = ['ibv_rc_pingpong', '-d', 'softspine0', '-g', '0', '-c', '-n', '200']
        said = beside(it, ping, [*ping, 'h1'])
        if any('200 iters' not in words for words in said):
            yield f'ibv_rc_pingpong: {said}'
        yield from it('exec', 'h1', '--', 'false').exited(1)
        yield from it('exec', 'tor1', '--', 'true').exited(2)
        yield from it('exec', 'h9', '--', 'true').exited(2)


def a_killed_program(it: Softspine) -> Problems:
    """a program that is killed in the middle leaves nothing, and the next one finds the device as it was"""
    need_programs()
    with it.running(it.write('lab.yaml', LAB), '--folder', it.folder / 'o'):
        for number in range(5):
            command = ['ib_write_bw', '-d', 'softspine0', '-D', '30', '-p', str(18700 + number)]
            serves = on(it, 'h1', *command)
            asks = on(it, 'h2', *command, 'h1')
            until = time.monotonic() + 60
            before = it.show('report')['edges']['h2']['in_packets']
            while it.show('report')['edges']['h2']['in_packets'] < before + 1000 and time.monotonic() < until:
                if asks.poll() is not None:
                    asks = on(it, 'h2', *command, 'h1')
            (asks if number % 2 == 0 else serves).kill()
            serves.kill()
            asks.kill()
            serves.wait(30)
            asks.wait(30)
        ping = ['ibv_rc_pingpong', '-d', 'softspine0', '-g', '0', '-c', '-n', '50']
        said = beside(it, ping, [*ping, 'h1'])
        if any('50 iters' not in words for words in said):
            yield f'ibv_rc_pingpong after that: {said}'


if __name__ == '__main__':
    sys.exit(main([whole_testbed, programs_beside_a_run, a_killed_program]))
