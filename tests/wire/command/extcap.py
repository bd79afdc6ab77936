# SPDX-License-Identifier: Apache-2.0
"""Running fabrics as interfaces of Wireshark: its own tshark lists them, captures them, and leaves nothing behind.

Wireshark ignores WIRESHARK_EXTCAP_DIR where it runs as root, so a test that is root starts it in a user namespace, as a user without rights there.
"""
from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from decoded import FABRIC as CONGESTED
from running_fabric import FABRIC
from softspine import ROOT, Problems, Skip, Softspine, main

PROGRAM = Path(sys.argv[2]).resolve()
USER = 1000
SOFT = 'softspine:running'
PORT = SOFT + ':tor1:Ethernet0'
SLOW = FABRIC.replace('400Mbps', '4Mbps')  # some 460 frames a second, which tshark prints with ease
THINNED = 'udp[16:4] & 1023 = 0'  # one frame of 1,024 of a queue pair, by its PSN
PROFILE = ROOT / 'tools' / 'extcap' / 'profile'
LOSSY = '''name: lossy
run: {clock: virtual, duration: 2ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 10Gbps}, fabric_link: {rate: 10Gbps}}
workload: [{name: w, pattern: pairs, from: [h1], to: [h3], message: 64KiB, messages: 20, mtu: 1024, rate: 2Gbps, transport: rc}]
faults: [{at: 0s, link: "h1:eth0", set: lossy, drop: 5%}]
'''


class Wireshark:
    """tshark as a user has it, with our program as its only external capture."""

    def __init__(self, it: Softspine) -> None:
        if shutil.which('tshark') is None:
            raise Skip('tshark is not installed')
        self.it = it
        folder = it.folder / 'extcap'
        folder.mkdir()
        (folder / PROGRAM.name).symlink_to(PROGRAM)
        self.before: list[str] = []
        if os.geteuid() == 0:
            self.before = ['unshare', '--user', f'--map-user={USER}', f'--map-group={USER}']
            if subprocess.run([*self.before, 'true'], stderr=subprocess.DEVNULL, check=False).returncode != 0:
                raise Skip('no user namespaces')
            (it.folder / 'run' / f'softspine-{USER}').symlink_to(it.sockets)
        self.env = {**it.env, 'WIRESHARK_EXTCAP_DIR': str(folder), 'XDG_CONFIG_HOME': str(it.folder / 'config'), 'HOME': str(it.folder)}

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen([*self.before, 'tshark', '-n', *arguments], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.it.folder)

    def __call__(self, *arguments: str, timeout: float = 60) -> tuple[int, str, str]:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err

    def interfaces(self) -> dict[str, str]:
        """Of ours: name → words."""
        status, out, err = self('-D')
        if status != 0:
            raise AssertionError(err)
        return dict(re.findall(r'^\d+\. (softspine:\S+) \((.*)\)$', out, flags=re.M))


def program(it: Softspine, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *arguments], env=it.env, capture_output=True, text=True, timeout=60, check=False)


def until(holds, what: str, seconds: float = 10) -> Problems:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            yield f'after {seconds} s still not: {what}'
            return
        time.sleep(0.02)


def captures(it: Softspine) -> dict:
    return it('capture', 'list', '--json').json()


def extcaps(it: Softspine) -> list[int]:
    """Processes of our program that capture for this test."""
    found = []
    for process in Path('/proc').glob('[0-9]*'):
        try:
            if it.mark.encode() in (process / 'environ').read_bytes() and b'--capture' in (process / 'cmdline').read_bytes() \
                    and b'softspine-extcap' in (process / 'cmdline').read_bytes():
                found.append(int(process.name))
        except OSError:
            pass  # it has just ended
    return found


@contextmanager
def running(it: Softspine, *options: str) -> Iterator:
    with it.running(it.write('running.yaml', SLOW), *options) as run:
        yield run


def ends_well(run) -> Problems:
    """No capture of ours was an error of the run."""
    done = run.end(signal.SIGINT)
    yield from done.exited(0)
    if 'capture' in done.err:
        yield f'the run complains: {done.err}'


def lists_fabrics(it: Softspine) -> Problems:
    """tshark -D has each running fabric and each port of its switches, and none when nothing runs"""
    wireshark = Wireshark(it)
    if found := wireshark.interfaces():
        yield f'without a fabric: {found}'
    with running(it):
        nodes = it.show('map')['nodes']
        names = [f'{node}:{port}' for node, _, ports in nodes for port, *_ in ports]
        peers = iter([names[peer] for _, _, ports in nodes for _, peer, _ in ports])
        wanted = {SOFT: 'fabric running'}
        for name in names:
            peer = next(peers)
            if not name.startswith('h'):
                wanted[f'{SOFT}:{name}'] = f'link to {peer}'
        if (found := wireshark.interfaces()) != wanted:
            yield f'{found} instead of {wanted}'
    if found := wireshark.interfaces():
        yield f'after the fabric: {found}'


def lists_no_more_ports_than_wireshark_asks_for(it: Softspine) -> Problems:
    """128 ports are listed; of a fabric with more, the fabric alone"""
    wireshark = Wireshark(it)
    large = re.sub('overrides: .*\n', '', FABRIC).replace('tors: 2', 'tors: 8').replace('hosts_per_tor: 2', 'hosts_per_tor: 8')
    for spines, ports in ((4, 128), (5, 0)):
        with it.running(it.write('running.yaml', large.replace('spines: 2', f'spines: {spines}'))):
            if len(found := wireshark.interfaces()) != 1 + ports:
                yield f'{spines} spines: {len(found)} interfaces instead of {1 + ports}'


def shows_frames_at_once(it: Softspine) -> Problems:
    """packets come within a second; Ctrl-C leaves no capture, no process and no error"""
    wireshark = Wireshark(it)
    with running(it) as run:
        process = wireshark.start('-i', PORT, '-l', '-T', 'fields', '-e', 'frame.interface_name', '-e', 'udp.dstport', '-e', 'frame.time_epoch')
        lines = [process.stdout.readline().split()]
        now_s, here = it.show('fabric')['now_ps'] / 1e12, time.monotonic()
        ages = []
        while len(ages) < 2000:
            lines.append(process.stdout.readline().split())
            ages.append(now_s + time.monotonic() - here - float(lines[-1][2]))
        if any(line[:2] != ['tor1:Ethernet0', '4791'] for line in lines):
            yield f'{lines[:5]}'
        if not 0 < sorted(ages)[1900] < 1:
            yield f'frames are up to {sorted(ages)[1900]:.2f} s old'
        yield from (f'captures: {found}' for found in [captures(it)] if len(found) != 1 or not next(iter(found)).startswith('wireshark-'))
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait(20)
        yield from until(lambda: not captures(it), 'no capture')
        yield from until(lambda: not extcaps(it), 'no process')
        yield from ends_well(run)


def obeys_its_options(it: Softspine) -> Problems:
    """direction, filter, snap length and ports of the dialogue choose frames, in the fabric"""
    wireshark = Wireshark(it)
    fields = ['-T', 'fields', '-e', 'frame.interface_name', '-e', 'frame.packet_flags_direction', '-e', 'frame.cap_len', '-e', 'frame.len', '-e', 'infiniband.bth.opcode']
    key = 'extcap.softspine_running_tor1_ethernet0.'

    def seen(interface: str, *options: str) -> Counter:
        words = [word for option in options for word in ('-o', option)]
        status, out, err = wireshark('-i', interface, '-c', '200', *words, *fields)
        if status != 0:
            raise AssertionError(err)
        return Counter(tuple(line.split('\t')) for line in out.splitlines())

    with running(it) as run:
        both = seen(PORT)
        whole = max(int(row[3]) for row in both)
        if {row[:2] for row in both} != {('tor1:Ethernet0', '0x00000001')} or any(row[2] != row[3] for row in both) or whole < 1024:
            yield f'by default: {both}'  # h1 sends and receives nothing
        if any(row[1] != '0x00000001' for row in seen(PORT, key + 'direction:received')):
            yield 'received: frames that were sent'
        if {row[2] for row in seen(PORT, key + 'snaplen:40')} != {'40'}:
            yield 'not cut to 40 bytes'
        uplinks = seen(SOFT, 'extcap.softspine_running.ports:spine*:* h3:eth0', 'extcap.softspine_running.direction:sent')
        if not uplinks or any(row[1] != '0x00000002' or not row[0].startswith('spine') for row in uplinks):
            yield f'spines send: {uplinks}'
        everywhere = seen(SOFT)
        if any(row[1] != '0x00000002' for row in everywhere) or not {row[0] for row in everywhere} >= {'h1:eth0', 'tor2:Ethernet0'}:
            yield f'every port: {everywhere}'
        process = wireshark.start('-i', SOFT, '-f', 'udp', '-o', 'extcap.softspine_running.filter:src host 10.0.1.2')
        yield from until(lambda: captures(it), 'a capture')
        yield from (f'filter: {row["filter"]}' for row in captures(it).values() if row['filter'] != '(src host 10.0.1.2) and (udp)')
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        yield from until(lambda: not captures(it), 'no capture')
        yield from ends_well(run)


def says_what_is_wrong(it: Softspine) -> Problems:
    """a filter that is wrong, a port and a fabric that are not there are said"""
    wireshark = Wireshark(it)
    refused = program(it, '--extcap-interface', PORT, '--extcap-capture-filter', 'udp prot')
    if 'syntax error' not in refused.stdout:
        yield f'a wrong filter: {refused}'
    good = program(it, '--extcap-interface', PORT, '--extcap-capture-filter', 'udp port 4791')
    if good.stdout or good.stderr or good.returncode:
        yield f'a good filter: {good}'
    pipe = it.folder / 'pipe'
    os.mkfifo(pipe)
    with running(it) as run:
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        for name, words in ((SOFT + ':tor1:Ethernet1', 'no port to capture is named tor1:Ethernet1'), ('softspine:walking', 'no fabric is running here'), ('eth0', 'names no fabric')):
            done = program(it, '--capture', '--extcap-interface', name, '--fifo', str(pipe))
            if done.returncode != 2 or words not in done.stderr:
                yield f'{name}: {done}'
        os.close(reader)
        done = program(it, '--capture', '--extcap-interface', PORT, '--fifo', str(it.folder / 'none'))
        if done.returncode != 2 or 'No such file' not in done.stderr:
            yield f'no pipe: {done}'
        status, out, err = wireshark('-i', PORT, '-f', 'udp prot', '-c', '1')
        if status == 0 or out or captures(it):
            yield f'tshark takes a wrong filter: {out} {err}'
        yield from ends_well(run)


def outlives_nothing(it: Softspine) -> Problems:
    """a reader that leaves, a killed tshark and a killed program leave no capture; nor does a program without a reader stay when it is told to stop"""
    wireshark = Wireshark(it)
    with running(it) as run:
        process = wireshark.start('-i', PORT)
        yield from until(lambda: captures(it) and extcaps(it), 'a capture')
        for pid in extcaps(it):
            os.kill(pid, signal.SIGKILL)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        yield from until(lambda: not captures(it), 'no capture of a killed program')
        pipe = it.folder / 'pipe'
        os.mkfifo(pipe)
        arguments = [PROGRAM, '--capture', '--extcap-interface', PORT, '--fifo', pipe]
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, None):
            waits = subprocess.Popen(arguments, env=it.env)
            reader = os.open(pipe, os.O_RDONLY)
            yield from until(lambda: captures(it), 'a capture')
            if number is None:
                os.close(reader)  # with nothing said
            else:
                waits.send_signal(number)
            if waits.wait(10) != 0:
                yield f'{number}: status {waits.returncode}'
            yield from until(lambda: not captures(it), f'no capture after {number}')
            if number is not None:
                os.close(reader)
        early = subprocess.Popen(arguments, env=it.env)
        time.sleep(0.3)
        early.terminate()
        if early.wait(10) != 0:
            yield f'before its reader: status {early.returncode}'
        # Nothing matches, so nothing is written: the reader's leaving is seen all the same, though nobody stops the capture.
        lonely = subprocess.Popen([*arguments, '--filter', 'udp port 1'], env=it.env)
        reader = os.open(pipe, os.O_RDONLY)
        yield from until(lambda: captures(it), 'a capture')
        lonely.kill()
        lonely.wait(10)
        os.close(reader)
        yield from until(lambda: not captures(it), 'no capture without reader and program')
        yield from ends_well(run)


def follows_the_virtual_clock(it: Softspine) -> Problems:
    """on the virtual clock packets come, too, and tshark ends with the fabric"""
    wireshark = Wireshark(it)
    with it.running(it.write('running.yaml', FABRIC.replace('clock: wall, duration: 600s', 'clock: virtual, duration: 36000s'))) as run:
        process = wireshark.start('-i', PORT, '-f', THINNED, '-l', '-T', 'fields', '-e', 'infiniband.bth.psn')
        next((line for line in process.stderr if 'Capturing on' in line), '')
        begun = time.monotonic()
        first = process.stdout.readline()
        if not first.strip().isdigit() or time.monotonic() - begun > 3:
            yield f'{first!r} after {time.monotonic() - begun:.2f} s'
        done = run.end(signal.SIGINT)
        yield from done.exited(0)
        process.stdout.read()
        process.wait(20)
        yield from until(lambda: not extcaps(it), 'no process')


def wanted_rule(opcode: str, enabled: str, times: list[str], bth: str, nak: str, ecn: str) -> str:
    """By the fields, in the order of the rules; empty: Wireshark has no rule of ours for it."""
    if enabled:
        paused = [priority for priority, time in enumerate(times) if int(enabled, 16) >> priority & 1 and time not in ('', '0')]
        return f'PFC pauses class {paused[0]}' if paused else 'PFC resumes'
    if opcode == '0x0001':
        return 'PAUSE of the link'
    return 'CNP' if bth == '129' else 'Retransmission, or a NAK that asks for one' if nak == '3' else 'CE' if ecn == '3' else ''


def has_a_profile(it: Softspine) -> Problems:
    """the profile colours pauses by class, CE, CNPs and NAKs, and has columns for QP, PSN and emulated time"""
    wireshark = Wireshark(it)
    shutil.copytree(PROFILE, it.folder / 'config' / 'wireshark' / 'profiles' / 'softspine')
    names = ['macc.opcode', 'macc.cbfc.enbv', *(f'macc.cbfc.pause_time.c{priority}' for priority in range(8)), 'infiniband.bth.opcode', 'infiniband.aeth.syndrome.opcode', 'ip.dsfield.ecn']
    fields = [word for name in ('frame.coloring_rule.name', *names) for word in ('-e', name)]
    seen: Counter = Counter()
    for name, testbed in (('congested', CONGESTED), ('lossy', LOSSY)):
        yield from it('run', it.write(f'{name}.yaml', testbed), '--capture', f'{name}.pcapng', '--snaplen', '100', '--quiet').exited(0)
        status, out, err = wireshark('-r', f'{name}.pcapng', '-C', 'softspine', '--color', '-T', 'fields', *fields)
        if status != 0 or err:
            yield f'{status}: {err}'
        rows = Counter(re.sub(r'\x1b\[[0-9;]*m', '', line) for line in out.splitlines())
        for row, count in rows.items():
            rule, opcode, enabled, *times, bth, nak, ecn = row.split('\t')
            wanted = wanted_rule(opcode, enabled, times, bth, nak, ecn)
            seen[wanted] += count
            if wanted and rule != wanted:
                yield f'{rule} instead of {wanted} for {row}'
    if not {'PFC pauses class 3', 'PFC pauses class 4', 'PFC resumes', 'CNP', 'CE', 'Retransmission, or a NAK that asks for one'} <= set(seen):
        yield f'rules: {seen}'
    status, out, err = wireshark('-r', 'congested.pcapng', '-C', 'softspine', '-Y', 'udp.dstport == 4791', '-c', '2000')
    words = out.splitlines()[0].split()
    if not re.fullmatch(r'0\.\d{9}', words[1]) or not words[2].startswith('h') or not any(re.fullmatch('0x[0-9a-f]{6}', word) for word in words):
        yield f'columns: {words}'


if __name__ == '__main__':
    sys.exit(main([lists_fabrics, lists_no_more_ports_than_wireshark_asks_for, shows_frames_at_once, obeys_its_options, says_what_is_wrong, outlives_nothing, follows_the_virtual_clock, has_a_profile]))
