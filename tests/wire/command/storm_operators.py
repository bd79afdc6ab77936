# SPDX-License-Identifier: Apache-2.0
"""softspine storm on what operators bring of a run whose truth is known: mirrors with tags and ERSPAN, switches with one
MAC address for all ports, captures of each switch or port, config_db.json; and lists that have no end."""
from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

import storm_captures as single
from softspine import TESTBEDS, Problems, Softspine, main
from storm_captures import Frame, block, is_pause, option, padded, pcap

STORM = TESTBEDS / 'pfc-storm.yaml'
SPEED = ('--speed', '100Gbps')
Seen = tuple[int, str, Frame]


class Run:
    def __init__(self, it: Softspine) -> None:
        it('run', STORM, '--capture', 'run.pcapng', '--snaplen', 64, '--quiet')
        self.frames, self.peers = single.read_pcapng(it.folder / 'run.pcapng')
        self.seen = single.seen_at_both_ends(self.frames, self.peers)
        self.pauses = sum(is_pause(frame) for frame in self.frames)
        self.of_h1 = sum(is_pause(frame) and frame.port == 'h1:eth0' for frame in self.frames)

    def ports(self, switches_only: bool = False) -> list[str]:
        return [port for port in self.peers if not (switches_only and port.startswith('h'))]


def node_of(port: str) -> str:
    return port.split(':')[0]


def tagged(frame: bytes, tags: str) -> bytes:
    return frame[:12] + bytes.fromhex(tags) + frame[12:]


def mirrored(frame: bytes, source: int, session: int, kind: str) -> bytes:
    """In GRE, from 10.0.0.SOURCE or fd00::SOURCE to the collector."""
    gre = {'I': '000088be', 'II': f'100088be 00000001 1064 {session:04x} 00000000',
           'III': f'100022eb 00000001 2064 {session:04x} 00000000 0000 0001 0000000000000000'}[kind.split()[0]]
    if kind.endswith('6'):
        outer = bytes.fromhex('86dd 60000000 0000 2f40 fd00') + bytes(13) + bytes([source]) + bytes.fromhex('fd00') + bytes(14)
    else:
        outer = bytes.fromhex('0800 4500 0000 0000 0000 402f 0000 0a0000') + bytes([source]) + bytes.fromhex('0a090909')
    return bytes.fromhex('00005e000001 020707070707') + outer + bytes.fromhex(gre) + frame


def reads_what_mirrors_send(it: Softspine) -> Problems:
    """behind tags, in ERSPAN I, II and III over IPv4 and IPv6: the storm of the same frames without all that"""
    run = Run(it)
    known = (*SPEED, '--testbed', STORM, '--json')
    plain = it('storm', pcap(it.folder / 'plain.pcap', 1, [(at, frame.bytes) for at, _, frame in run.seen]), *known).json()
    if {storm['root'] for storm in plain['storms']} != {'h1'}:
        yield f'plain: {plain["headline"]}'
    nodes = sorted({node_of(port) for port in run.peers})
    wraps = {name: (lambda frame, port, tags=tags: tagged(frame, tags)) for name, tags in
             (('tag', '810003e7'), ('QinQ', '88a800018100 0002'), ('old QinQ', '9100000181000002'))}
    wraps |= {kind: (lambda frame, port, kind=kind: mirrored(frame, nodes.index(node_of(port)) + 1, run.ports().index(port), kind))
              for kind in ('I', 'II', 'III', 'II 6', 'III 6')}
    wraps['II in a tag'] = lambda frame, port: tagged(wraps['II'](frame, port), '81000064')
    for name, wrap in wraps.items():
        done = it('storm', pcap(it.folder / 'wrapped.pcap', 1, [(at, wrap(frame.bytes, port)) for at, port, frame in run.seen]), *known)
        yield from done.exited(0)
        found = done.json()
        told, right = ([(storm['root'], storm['to'], storm['victims']) for storm in report['storms']] for report in (found, plain))
        if told != right or found['capture']['pause_frames'] != 2 * run.pauses:
            yield f'{name}: {found["headline"]}, {found["capture"]["pause_frames"]} pause frames of {2 * run.pauses}'
        if 'tag' in name and 'II' not in name and found['storms'] != plain['storms']:
            yield f'{name}: another storm than without tags'


def gives_no_all_clear_to_what_it_cannot_read(it: Softspine) -> Problems:
    """frames to the address of pause frames, of a type that nobody knows, and mirrored ones that were cut"""
    run = Run(it)
    pauses = [(at, frame.bytes) for at, _, frame in run.seen if is_pause(frame)]
    unknown = it('storm', pcap(it.folder / 'it.pcap', 1, [(at, tagged(data, '893f0000')) for at, data in pauses]))
    yield from unknown.says('Whether there is a storm cannot be known', 'to the address of pause frames are of a kind that is not known here')
    cut = it('storm', single.pcap(it.folder / 'it.pcap', 1, [(at, mirrored(data, 1, 1, 'II')[:70]) for at, data in pauses]))
    yield from cut.says('Whether there is a storm cannot be known', 'captured too short')


def capture(path: Path, seen: list[Seen], ports: list[str], ways: bool, names: dict[str, str]) -> Path:
    """dumpcap at `ports`, in nanoseconds: with or without the ways of frames; `names` of ports, if not those without their node."""
    out = [block(0x0A0D0D0A, struct.pack('<IHHq', 0x1A2B3C4D, 1, 0, -1))]
    out += [block(1, struct.pack('<HHI', 1, 0, 262144) + option(2, names.get(port, port.split(':')[1]).encode()) + option(9, b'\x09')) for port in ports]
    for at_ps, port, frame in seen:
        if port not in ports:
            continue
        ticks, way = at_ps // 1000, option(2, struct.pack('<I', 2 if frame.port == port else 1)) if ways else b''
        out.append(block(6, struct.pack('<IIIII', ports.index(port), ticks >> 32, ticks & 0xFFFFFFFF, len(frame.bytes), len(frame.bytes))
                         + padded(frame.bytes) + way))
    path.write_bytes(b''.join(out))
    return path


def files_of(it: Softspine, run: Run, seen: list[Seen], by: str, ways: bool) -> list[str | Path]:
    """One capture of all; or of each switch, or each port of switches, or each port of all: NODE=FILE and NODE:PORT=FILE."""
    if by == 'all':
        return [capture(it.folder / 'all.pcapng', seen, run.ports(), ways, dict(zip(run.ports(), run.ports())))]
    ports = run.ports(by in ('switch', 'port'))
    parts = {node_of(port) if by == 'switch' else port: [] for port in ports}
    for port in ports:
        parts[node_of(port) if by == 'switch' else port].append(port)
    return [f'{part}={capture(it.folder / (part.replace(":", "-") + ".pcapng"), seen, of, ways, {})}' for part, of in parts.items()]


def config_dbs(it: Softspine, frames: list[Frame]) -> list[Path]:
    """Of each switch, with its address."""
    macs = {node_of(frame.port): frame.bytes[6:12].hex(':') for frame in frames if is_pause(frame) and not frame.port.startswith('h')}
    return [it.write(f'{node}.json', json.dumps({'DEVICE_METADATA': {'localhost': {'hostname': node, 'mac': mac, 'type': 'LeafRouter'}}}, indent=2))
            for node, mac in macs.items()]


def knows_a_switch_by_its_address(it: Softspine) -> Problems:
    """all switches with one address each, by switch or port, pauses alone, with the ways and without: one storm, its root or where it comes from; never another root"""
    run = Run(it)
    frames = single.with_one_address_a_switch(run.frames)
    lists = [argument for file in config_dbs(it, frames) for argument in ('--ports', file)]
    pauses = [seen for seen in single.seen_at_both_ends(frames, run.peers) if is_pause(seen[2])]
    for ways in (True, False):
        for by in ('all', 'switch', 'port', 'every port'):
            files = files_of(it, run, pauses, by, ways)
            clocks = () if by == 'all' else ('--clocks-within', '0ps')
            for told in ((), ('--testbed', STORM), lists):
                name = f'by {by}, {"with" if ways else "no"} ways, {told[:1]}'
                done = it('storm', *files, *SPEED, *clocks, *told, '--json')
                yield from done.exited(0)
                found = done.json()
                roots = {storm['root'] for storm in found['storms']}
                if not told and not ways:  # whose address is whose cannot be known
                    if roots != {None}:
                        yield f'{name}: {found["headline"]}'
                    continue
                is_named = '--testbed' in told or (ways and by in ('all', 'every port'))
                if roots != ({'h1'} if is_named else {None}) or len(found['storms']) != 1:
                    yield f'{name}: {found["headline"]}, {len(found["storms"])} storms by {roots}'
                storm = found['storms'][0]
                if storm['explained_ps'] < 0.99 * found['paused_ps'] or abs(storm['xoffs'] - run.of_h1) > 1:
                    yield f'{name}: {storm["xoffs"]} XOFFs of {run.of_h1}, {storm["explained_ps"]} ps of {found["paused_ps"]}'
                counted = sum(link['xoffs'] for link in found['links'])
                most = run.pauses if by == 'all' and '--testbed' in told else run.pauses * 1.16  # where ports pause in step
                if not run.pauses <= counted <= most:
                    yield f'{name}: {counted} XOFFs of {run.pauses}'


def takes_names_from_config_db(it: Softspine) -> Problems:
    """aliases in a capture are the ports that config_db.json says; what is no config_db.json is refused"""
    run = Run(it)
    ports = [port for port in run.ports() if port.startswith('tor1:')]
    aliases = {port: f'etp{ports.index(port) + 1}' for port in ports}
    seen = single.seen_at_both_ends(single.with_one_address_a_switch(run.frames), run.peers)
    file, renamed = (capture(it.folder / f'{name}.pcapng', seen, ports, True, names)
                     for name, names in (('tor1', {}), ('renamed', aliases)))
    config = it.write('leaf.json', json.dumps({'DEVICE_METADATA': {'localhost': {'hostname': 'tor1'}},
                                               'PORT': {port.split(':')[1]: {'alias': alias} for port, alias in aliases.items()}}, indent=1))
    plain, lost, found = (it('storm', *SPEED, '--testbed', STORM, '--json', *more, f'tor1={which}').json()['storms']
                          for which, more in ((file, ()), (renamed, ()), (renamed, ('--ports', config))))
    if found != plain or lost == plain:
        yield f'with the list {found}\nwithout it {lost}\nwithout aliases {plain}'
    for text, said in (('{"VLAN": {}}', 'has neither DEVICE_METADATA|localhost nor PORT'), ('{"PORT": ', 'is no JSON'),
                       ('{"DEVICE_METADATA": {"localhost": {"mac": "x"}}}', "'x' is no MAC address")):
        done = it('storm', file, '--ports', it.write('config_db.json', text))
        yield from done.exited(2)
        yield from done.complains('config_db.json: ', said)


def reads_nothing_for_ever(it: Softspine) -> Problems:
    """a device or a pipe that has no end is refused where a text, or a file that is read twice, is needed"""
    run = Run(it)
    file = capture(it.folder / 'it.pcapng', run.seen, run.ports(), True, {})
    for arguments, said in ((('--ports', '/dev/zero'), '/dev/zero:1: is too long'), (('--events', '/dev/zero'), '/dev/zero:1: is too long')):
        done = it('storm', file, *arguments)
        yield from done.exited(2)
        yield from done.complains(said)
    pipe = it.folder / 'pipe'
    os.mkfifo(pipe)
    for other in (pipe, '/dev/zero'):
        done = it('storm', file, other)
        yield from done.exited(2)
        yield from done.complains('is no file but a pipe or device')


if __name__ == '__main__':
    sys.exit(main([reads_what_mirrors_send, gives_no_all_clear_to_what_it_cannot_read, knows_a_switch_by_its_address,
                   takes_names_from_config_db, reads_nothing_for_ever]))
