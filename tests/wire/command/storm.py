# SPDX-License-Identifier: Apache-2.0
"""softspine storm: captures of every kind, made here byte by byte, and what is said of them."""
from __future__ import annotations

import json
import shutil
import signal
import struct
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

from softspine import TESTBEDS, Problems, Skip, Softspine, main

US = 10_000  # ticks of 100 ps
CABLES = [('h1:eth0', 'tor1:Ethernet0'), ('h2:eth0', 'tor1:Ethernet4'), ('tor1:Ethernet8', 'spine1:Ethernet0'),
          ('tor2:Ethernet8', 'spine1:Ethernet4'), ('h3:eth0', 'tor2:Ethernet0')]
PORTS = [port for cable in CABLES for port in cable]


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def option(code: int, value: bytes) -> bytes:
    return struct.pack('<HH', code, len(value)) + padded(value)


def block(kind: int, body: bytes) -> bytes:
    length = struct.pack('<I', len(body) + 12)
    return struct.pack('<I', kind) + length + body + length


def pfc(source: int, quanta: int, priority: int = 3) -> bytes:
    times = b''.join(struct.pack('>H', quanta if n == priority else 0) for n in range(8))
    frame = bytes.fromhex('0180c2000001') + bytes([2, 0, 0, 0, 0, source]) + bytes.fromhex('88080101')
    return (frame + struct.pack('>H', 1 << priority) + times).ljust(60, b'\0')


def fabric_capture(path: Path, pauses: list[tuple[str, int, int]], end: int = 20_000) -> Path:
    """`pauses`: (port, from us, until us): refreshed every 100 us, XON if it ends before the capture."""
    peers = dict(CABLES) | {b: a for a, b in CABLES}
    out = block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1))
    for port in PORTS:
        out += block(1, struct.pack('<HHI', 1, 0, 0) + option(2, port.encode()) + option(3, f'link to {peers[port]}'.encode())
                     + option(8, struct.pack('<Q', 100_000_000_000)) + option(9, b'\x0a'))
    frames = [(end, 'h1:eth0', b'\2' * 12 + b'\x08\0' + bytes(46))]
    for port, begin, until in pauses:
        frames += [(at, port, pfc(PORTS.index(port), 0xFFFF)) for at in range(begin, until, 100)]
        if until < end:
            frames.append((until, port, pfc(PORTS.index(port), 0)))
    for at, port, data in sorted(frames):
        ticks = at * US
        out += block(6, struct.pack('<IIIII', PORTS.index(port), ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
                     + padded(data) + option(2, struct.pack('<I', 2)))
    path.write_bytes(out)
    return path


STORM = [('h1:eth0', 2_000, 20_000), ('tor1:Ethernet8', 2_040, 20_000), ('spine1:Ethernet4', 2_100, 20_000),
         ('tor2:Ethernet0', 2_180, 20_000), ('tor1:Ethernet4', 2_060, 20_000), ('h3:eth0', 500, 560)]


def pcap(path: Path, frames: list[tuple[int, bytes]], link_type: int = 1) -> Path:
    out = struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)
    for at, data in frames:
        out += struct.pack('<IIII', 1_700_000_000, at, len(data), len(data)) + data
    path.write_bytes(out)
    return path


def names_the_root(it: Softspine) -> Problems:
    """a storm: its root, its way, its victims; text and JSON say the same"""
    file = fabric_capture(it.folder / 'storm.pcapng', STORM)
    done = it('storm', file)
    yield from done.exited(0)
    yield from done.says('STORM: root h1', 'h1:eth0 pauses tor1:Ethernet0', 'priority 3', 'from 2 ms on for 18 ms',
                         'Victims: 5 nodes, 2 of them hosts: h2, h3, spine1, tor1, tor2', 'still paused at the end')
    facts = it('storm', file, '--json').json()
    storm = facts['storms'][0]
    found = (facts['verdict'], storm['root'], [step['hops'] for step in storm['spread']], storm['begin_ps'])
    if found != ('storm', 'h1', [0, 1, 1, 2, 3], 2_000_000_000):
        yield f'--json: {found}'
    paused = {link['from']: link['paused_ps'] for link in facts['links']}
    if paused['h1:eth0'] != 18_000_000_000 or paused['h3:eth0'] != 60_000_000:
        yield f'paused: {paused}'


def says_no_storm(it: Softspine) -> Problems:
    """congestion is no storm, nor is a capture without pauses; both exit with 0"""
    done = it('storm', fabric_capture(it.folder / 'c.pcapng', [('h1:eth0', 500, 900), ('tor1:Ethernet8', 600, 950)]))
    yield from done.exited(0)
    yield from done.says('No storm', 'h1:eth0 pauses tor1:Ethernet0', 'until it sent XON')
    done = it('storm', fabric_capture(it.folder / 'n.pcapng', []))
    yield from done.exited(0)
    yield from done.says('no pause frames in 1 frame.')
    short = it('storm', fabric_capture(it.folder / 's.pcapng', [('h1:eth0', 100, 400)], end=400))
    yield from short.says('too short')
    yield from it('storm', it.folder / 's.pcapng', '--storm-after', '200us').says('STORM: root h1')


def reads_one_port(it: Softspine) -> Problems:
    """a pcap of one port: who paused is known by its MAC; the speed has to be told"""
    file = pcap(it.folder / 'port.pcap', [(at, pfc(0x11, 0xFFFF)) for at in range(0, 50_000, 300)])
    done = it('storm', file)
    yield from done.exited(0)
    yield from done.says('STORM: from 02:00:00:00:00:11 or from behind it', 'which way frames went', '--speed')
    done = it('storm', file, '--speed', '100Gbps')
    yield from done.says('STORM: from 02:00:00:00:00:11 or from behind it', 'the capture does not say what it is')
    if 'how fast' in done.out:
        yield 'still asks for --speed'
    lapses = it('storm', file, '--speed', '400Gbps', '--json').json()['links'][0]
    # 167 XOFFs, each good for 65535 quanta of 1.28 ns; the last one's is cut off by the end.
    if (lapses['paused_ps'], lapses['lapsed']) != (166 * 65535 * 1280, 166):
        yield f'at 400G: {lapses}'


def reads_its_own_captures(it: Softspine) -> Problems:
    """a capture of softspine run says where its links lead; standard input works"""
    text = ('name: small\nrun: {clock: virtual, duration: 1ms}\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, '
            'host_link: {rate: 10Gbps}, fabric_link: {rate: 10Gbps}}\n'
            'workload: [{name: w, pattern: permutation, message: 16KiB, messages: 1, qps: 1, mtu: 1024, rate: 2Gbps}]\n')
    yield from it('run', it.write('small.yaml', text), '--capture', 'run.pcapng').exited(0)
    if b', one of 4 ports' not in (it.folder / 'run.pcapng').read_bytes():
        yield 'does not say how many ports a switch has'
    yield from it('run', 'small.yaml', '--capture', 'part.pcapng', '--capture-filter', 'udp').exited(0)
    if b'one of' in (it.folder / 'part.pcapng').read_bytes():
        yield 'says of frames that were filtered that they are all of a node'
    facts = it('storm', 'run.pcapng', '--json').json()
    peers = {port['name']: port['peer'] for node in facts['nodes'] for port in node['ports']}
    if peers.get('tor1:Ethernet0') != 'h1:eth0' or None in peers.values():
        yield f'links: {peers}'
    if {node['name']: node['tier'] for node in facts['nodes']}['spine2'] != 2:
        yield f'tiers: {facts["nodes"]}'
    file = fabric_capture(it.folder / 'storm.pcapng', STORM)
    piped = subprocess.run([it.binary, 'storm', '-', '--json'], input=file.read_bytes(), capture_output=True, check=False)
    if piped.returncode != 0 or json.loads(piped.stdout)['storms'][0]['root'] != 'h1':
        yield f'from standard input: {piped}'
    yield from it('storm', file, '--testbed', 'small.yaml').says('STORM: root h1')


def doubts_what_a_capture_leaves_out(it: Softspine) -> Problems:
    """a filter, cut frames, a testbed of another fabric: said, and no switch is the root of it"""
    storm = TESTBEDS / 'pfc-storm.yaml'
    yield from it('run', storm, '--capture', 'all.pcapng', '--quiet').exited(0)
    whole = it('storm', 'all.pcapng', '--json').json()
    if whole['storms'][0]['root'] != 'h1' or whole['capture']['filtered']:
        yield f'unfiltered: {whole["headline"]}'
    # Without h1's pauses, tor1 would look like the root, and the testbed knows how many ports it has.
    mac = next(data[6:12] for name, data in pause_frames(it.folder / 'all.pcapng') if name == 'h1:eth0').hex(':')
    yield from it('run', storm, '--capture', 'part.pcapng', '--capture-filter', f'ether proto 0x8808 and not ether src {mac}',
                  '--quiet').exited(0)
    for more in ((), ('--testbed', storm)):
        part = it('storm', 'part.pcapng', *more, '--json').json()
        roots = [storm['root'] for storm in part['storms'] if storm['root']]
        if roots or not part['capture']['filtered'] or part['storms'][0]['seen_from'] != 'tor1':
            yield f'filtered, {more}: roots {roots}, {part["headline"]}'
    yield from it('run', storm, '--capture', 'pauses.pcapng', '--capture-filter', 'ether proto 0x8808', '--quiet').exited(0)
    yield from it('storm', 'pauses.pcapng', '--testbed', storm).says('STORM: root h1')
    yield from it('run', storm, '--capture', 'cut.pcapng', '--snaplen', 20, '--quiet').exited(0)
    cut = it('storm', 'cut.pcapng')
    yield from cut.exited(0)
    yield from cut.says('pause frames were captured too short', 'Whether there is a storm cannot be known')
    if 'No storm' in cut.out or it('storm', 'cut.pcapng', '--json').json()['verdict'] != 'unknown':
        yield f'cut: {cut.out}'
    other = 'name: other\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 10Gbps}, fabric_link: {rate: 10Gbps}}\n'
    yield from it('storm', 'all.pcapng', '--testbed', it.write('other.yaml', other)).says('capture and testbed do not fit')


def stands_clocks_that_are_set(it: Softspine) -> Problems:
    """18 ms of a storm, and an hour's jump of the clock in its middle, ahead or back, or of one frame: a storm, and what happened to the clock"""
    hour, plain = 3_600_000_000, [(at, pfc(0x11, 0xFFFF)) for at in range(2_000, 20_000, 100)]
    other = b'\2' * 12 + b'\x08\0' + bytes(46)
    ports = it.write('ports.txt', '02:00:00:00:00:11 h1:eth0\n')
    for name, frames, said in (('ahead', [(at + (hour if at >= 10_000 else 0), data) for at, data in plain], 'the clock was set ahead by 3600 s, or nothing was captured for so long'),
                               ('back', [(at - (hour if at >= 10_000 else 0), data) for at, data in plain], 'the clock was set back by 3600 s'),
                               ('stray', [*plain[:90], (plain[89][0] + hour, other), *plain[90:]], '1 frame without a time that can be was left out')):
        out = struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        for at, data in frames:
            out += struct.pack('<IIII', 1_700_000_000 + at // 10**6, at % 10**6, len(data), len(data)) + data
        file = it.folder / f'{name}.pcap'
        file.write_bytes(out)
        for speed in ((), ('--speed', '100Gbps')):
            done = it('storm', file, *speed, '--ports', ports)
            yield from done.exited(0)
            yield from done.says('STORM: root h1', said, f'{name}.pcap: {"17.9" if name == "stray" else "17.8"} ms of 1 port', '180 XOFFs')


def pause_frames(path: Path) -> list[tuple[str, bytes]]:
    """Of our own captures: the port that sent each, and its bytes."""
    data, at, names, found = path.read_bytes(), 0, [], []
    while at < len(data):
        kind, length = struct.unpack_from('<II', data, at)
        body = data[at + 8:at + length - 4]
        if kind == 1:
            code, size = struct.unpack_from('<HH', body, 8)
            assert code == 2
            names.append(body[12:12 + size].decode())
        elif kind == 6 and body[32:34] == b'\x88\x08':
            found.append((names[struct.unpack_from('<I', body)[0]], body[20:80]))
        at += length
    return found


def reads_lists_of_ports(it: Softspine) -> Problems:
    """--ports: a folder is refused, lines that match nothing are told, an interface without a name has one here"""
    file = pcap(it.folder / 'port.pcap', [(at, pfc(0x11, 0xFFFF)) for at in range(0, 50_000, 300)])
    folder = it('storm', file, '--ports', it.folder)
    yield from folder.exited(2)
    yield from folder.complains('is a directory')
    names = it.write('ports.txt', 'interface 0 sw1:Ethernet4\n02-00-00-00-00-11 gpu7:mlx5_0\n02:00:00:00:00:12 gpu8:mlx5_0\neth33 sw1:Ethernet8\n')
    done = it('storm', file, '--speed', '100Gbps', '--ports', names)
    yield from done.says('STORM: root gpu7', 'gpu7:mlx5_0 pauses sw1:Ethernet4',
                         'nothing in this capture has these names or addresses: line 3 (02:00:00:00:00:12), 4 (eth33)')
    strange = it('storm', file, '--testbed', TESTBEDS / 'two-tier.yaml')
    yield from strange.says("none of its ports and addresses is in this capture: is it another fabric's?")


def draws(it: Softspine) -> Problems:
    """--picture: SVG that is XML, PNG that is a PNG; what cannot be written is told"""
    file = fabric_capture(it.folder / 'storm.pcapng', STORM)
    yield from it('storm', file, '--picture', 'it.svg').exited(0)
    root = xml.etree.ElementTree.fromstring((it.folder / 'it.svg').read_text())
    words = ' '.join(e.text or '' for e in root.iter('{http://www.w3.org/2000/svg}text'))
    yield from (f'the picture does not say {word}' for word in ('ROOT', 'its root is h1', 'spine1') if word not in words)
    for name, status, said in (('it.gif', 2, 'neither .svg nor .png'), ('none/it.svg', 1, 'No such file')):
        done = it('storm', file, '--picture', name)
        yield from done.exited(status)
        yield from done.complains(said)
    if shutil.which('rsvg-convert') is None:
        raise Skip('rsvg-convert is not installed')
    yield from it('storm', file, '--picture', 'it.png').exited(0)
    if not (it.folder / 'it.png').read_bytes().startswith(b'\x89PNG\r\n'):
        yield 'not a PNG'
    it.env['PATH'] = '/nonexistent'
    done = it('storm', file, '--picture', 'without.png')
    yield from done.exited(1)
    yield from done.complains('librsvg2-bin')
    if (it.folder / 'without.png').exists():
        yield 'an empty picture is left'


def refuses_what_is_no_capture(it: Softspine) -> Problems:
    """not a capture, wrong inside, of another kind: 2, with the offset; cut short: what stands is used, and it is said"""
    whole = fabric_capture(it.folder / 'storm.pcapng', STORM).read_bytes()
    wrong = bytearray(whole)
    wrong[whole.index(b'\6\0\0\0') + 4] = 9
    for name, data, said in (('text', b'no frames', 'offset 0: not a capture'), ('empty', b'', 'empty'),
                             ('gzip', b'\x1f\x8b\x08', 'gzip'), ('wrong', bytes(wrong), 'a block of 9 bytes')):
        (it.folder / name).write_bytes(data)
        done = it('storm', name)
        yield from done.exited(2)
        yield from done.complains(name, said)
        if done.out:
            yield f'{name}: says {done.out[:200]}'
    for arguments, said in ((['none.pcapng'], 'No such file'), ([it.folder], 'directory'), ([], 'FILE'),
                            (['text', '--speed', '100'], 'unit'), (['text', '--storm-after', '0s'], 'more than 0'),
                            ([pcap(it.folder / 'wifi', [(0, b'x' * 40)], 105)], 'Ethernet')):
        done = it('storm', *arguments)
        yield from done.exited(2)
        yield from done.complains(said)
    (it.folder / 'cut').write_bytes(whole[:-7])
    done = it('storm', 'cut')
    yield from done.exited(0)
    yield from done.says('cut short', 'STORM: root h1')


def stops_when_interrupted(it: Softspine) -> Problems:
    """SIGINT ends the reading, and what was read is analysed"""
    whole = fabric_capture(it.folder / 'storm.pcapng', STORM).read_bytes()
    process = subprocess.Popen([it.binary, 'storm', '-'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=it.env)
    assert process.stdin is not None
    process.stdin.write(whole)
    process.stdin.flush()
    try:
        process.wait(1)  # it waits for more
        yield f'ended by itself: {process.communicate()}'
        return
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    if process.returncode != 0 or b'STORM: root h1' not in out or b'interrupted at offset' not in out:
        yield f'exited with {process.returncode}: {out.decode()} {err.decode()}'


if __name__ == '__main__':
    sys.exit(main([names_the_root, says_no_storm, reads_one_port, reads_its_own_captures, doubts_what_a_capture_leaves_out, stands_clocks_that_are_set,
                   reads_lists_of_ports, draws, refuses_what_is_no_capture,
                   stops_when_interrupted]))
