# SPDX-License-Identifier: Apache-2.0
"""explain, polarization and source-ports: what they say, as text and as JSON, and what they refuse."""
from __future__ import annotations

import ipaddress
import json
import re
import shutil
import struct
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from softspine import TESTBEDS, Problems, Softspine, main


def check(holds: object, what: str) -> Problems:
    if not holds:
        yield what


def explains_a_packet(it: Softspine) -> Problems:
    """explain says every hop: key, hash, bucket, port; the same in JSON"""
    question = ['explain', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h16', '--sport', '50000', '--qp', '17']
    done = it(*question)
    yield from done.exited(0)
    yield from done.says('CRC(seed 0, offset 0)', 'SRC_IP 0a000102', 'L4_SRC_PORT c350', 'mod 4', 'arrives at h16')
    answer = it(*question, '--json').json()
    hops = answer['hops']
    yield from check([hop['switch'] for hop in hops][::2] == ['tor1', 'tor4'], f'not from tor1 to tor4: {hops}')
    choice = hops[0]
    yield from check(choice['hash']['key'] == '0a0001020a000405c35012b711000000', f'another key: {choice}')
    yield from check(int(choice['hash']['hash'], 16) % 4 == choice['bucket'], f'the bucket is not the hash modulo 4: {choice}')
    yield from check(choice['out_port'] == f'Ethernet{16 + 4 * choice["bucket"]}', f'not the bucket\'s port: {choice}')
    yield from check((answer['end'], answer['at']) == ('host', 'h16'), f'does not arrive: {answer}')
    down = it(*question, '--down', f'tor1:{choice["out_port"]}', '--json').json()
    yield from check(down['hops'][0]['buckets'] == 3, 'a link that is down is still in the group')


def explains_a_capture(it: Softspine) -> Problems:
    """explain of a capture: an object a line, and the shares are those of the run"""
    done = it('explain', TESTBEDS / 'replay.yaml', '--pcap', TESTBEDS / 'replay' / 'in.pcap', '--from', 'h1', '--json')
    yield from done.exited(0)
    packets = [json.loads(line) for line in done.out.splitlines()]
    yield from check(len(packets) == 256, f'{len(packets)} packets, not 256')
    ports = [packet['hops'][0]['out_port'] for packet in packets]
    report = it.folder / 'r.json'
    # The testbed writes beside itself: run it in the test's own folder.
    (it.folder / 'replay').mkdir()
    (it.folder / 'replay' / 'in.pcap').write_bytes((TESTBEDS / 'replay' / 'in.pcap').read_bytes())
    it.write('replay.yaml', (TESTBEDS / 'replay.yaml').read_text())
    yield from it('run', it.folder / 'replay.yaml', '--report', report).exited(0)
    links = json.loads(report.read_text())['links']
    for port in ('Ethernet4', 'Ethernet8'):
        sent = links[f'tor1:{port}']['tx_packets']
        yield from check(ports.count(port) == sent, f'{port}: explained {ports.count(port)}, carried {sent}')


def tells_polarization(it: Softspine) -> Problems:
    """polarization names the tier, the pair, the reason, and cures that cure"""
    picture = it.folder / 'links.svg'
    done = it('polarization', TESTBEDS / 'polarized.yaml', '--picture', picture)
    yield from done.exited(0)
    yield from done.says('aggregation up', 'POLARIZED', 'both hash alike', 'ecmp_hash_offset', 'cure-aggregation')
    yield from check(ElementTree.parse(picture).getroot().tag.endswith('svg'), 'the picture is no SVG')
    found = it('polarization', TESTBEDS / 'polarized.yaml', '--json').json()
    yield from check([tier['verdict'] for tier in found['tiers']][1] == 'POLARIZED', f'{found["tiers"]}')
    yield from check(found['polarized'][0]['cause']['kind'] == 'alike', f'{found["polarized"]}')
    cures = [cure['cure'] for cure in found['cures']]
    yield from check(cures[0] == 'offset' and 'seed' not in cures, f'not the least change first, or one that does not help: {cures}')
    even = it('polarization', TESTBEDS / 'cured-offset.yaml', '--json').json()
    yield from check(not any(tier['verdict'] in ('UNEVEN', 'POLARIZED') for tier in even['tiers']), f'cured-offset: {even["tiers"]}')
    yield from check(even['cures'] == [], f'who is well is offered a cure: {even["cures"]}')


def is_a_check(it: Softspine) -> Problems:
    """--fail-if: 1 if the fabric is what is named, else 0"""
    for file, word, status in [('polarized', 'polarized', 1), ('polarized', 'uneven', 0), ('cured-offset', 'polarized', 0),
                               ('cured-seed-only', 'polarized', 1)]:
        yield from it('polarization', TESTBEDS / f'{file}.yaml', '--no-cures', '--fail-if', word).exited(status)
    yield from it('polarization', TESTBEDS / 'polarized.yaml', '--fail-if', 'nonsense').exited(2)


LINKS = 'host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n'
EVEN_THOUGH_DEPENDENT = 'name: it\nfabric: {kind: leaf-spine, tors: 4, spines: 6, links_per_spine: 2, hosts_per_tor: 6, ' + LINKS
FAT_TREE = 'name: it\nrun: {duration: 100us}\nfabric: {kind: fat-tree, k: 8, hosts_per_tor: 4, ' + LINKS


def lets_dependence_without_harm_pass(it: Softspine) -> Problems:
    """links that are loaded as by chance are not POLARIZED, whatever they depend on: no cure, and --fail-if lets them pass"""
    file = it.write('even.yaml', EVEN_THOUGH_DEPENDENT)
    for flows in (1_000, 20_000):
        done = it('polarization', file, '--random', flows, '--fail-if', 'polarized')
        yield from done.exited(0)
        yield from done.says('evenly loaded, dependent', 'Dependent: aggregation down by tor up', 'No harm is done')
        yield from check('cure' not in done.out and 'POLARIZED' not in done.out, done.out)
    found = it('polarization', file, '--random', 1_000, '--json').json()
    yield from check([pair['later'] for pair in found['dependent']] == ['aggregation down'] and found['polarized'] == [], f'{found["dependent"]}')
    yield from check('POLARIZED' not in it('check', file).out, 'check says otherwise')


def is_told_to_who_has_not_asked(it: Softspine) -> Problems:
    """check and run say that a default fat tree is polarized, by its workload or by random flows; a cured one is not"""
    line = 'POLARIZED: aggregation up by tor up: the fullest link has 4.00 times its share'
    workload = 'workload: [{name: p, pattern: permutation, message: 4KiB, qps: 8}]\n'
    bare, busy = it.write('bare.yaml', FAT_TREE), it.write('busy.yaml', FAT_TREE + workload)
    for done in (it('check', bare), it('check', busy), it('run', busy)):
        yield from done.exited(0)
        yield from done.says(line, 'why, and what cures it: softspine polarization ')
    told = it('check', busy, '--json').json()['polarized']
    yield from check([(tier['tier'], tier['by']) for tier in told] == [('aggregation up', 'tor up')], f'{told}')
    cured = it.write('cured.yaml', FAT_TREE + workload + 'profiles: {a: {hash: {offset: 10}}}\nroles: {aggregation: a}\n')
    for done in (it('check', cured), it('run', cured)):
        yield from check('POLARIZED' not in done.out, f'what is cured is called polarized: {done.out}')


def is_expected(it: Softspine) -> Problems:
    """expect: on polarization: judged by run and by polarization, and read by check; no section where nothing is expected"""
    text = (TESTBEDS / 'cured-offset.yaml').read_text()
    for command in ('run', 'polarization'):
        done = it(command, TESTBEDS / 'polarized.yaml')
        yield from done.exited(0)
        yield from done.says('ok     polarization.tiers.aggregation up.verdict: equal \'POLARIZED\'')
        done = it(command, it.write('wrong.yaml', text.replace('polarized, equal: false', 'polarized, equal: true')))
        yield from done.exited(1)
        yield from done.says('FAILED polarization.polarized: equal true, is false')
    found = it('polarization', it.folder / 'wrong.yaml', '--json').json()
    yield from check([one['held'] for one in found['expectations']] == [False, True, True] and 'engine' not in found, f'{found["expectations"]}')
    yield from it('polarization', it.folder / 'wrong.yaml', '--random', '100').exited(0)
    for was, now, said in [('up.idle_links', 'up.idle_linx', "did you mean 'idle_links'?"), ('aggregation up.', 'core up.', "no 'core up'"),
                           ('idle_links, equal: 0', 'idle_links, equal: 5us', 'is a number without a unit'),
                           ('polarized, equal: false', 'polarized, equal: 3', 'is true or false, not a number')]:
        done = it('check', it.write('bad.yaml', text.replace(was, now)))
        yield from done.exited(2)
        yield from done.complains('bad.yaml:', said)
    reports = [it('run', TESTBEDS / f'{name}.yaml', '--json').json() for name in ('cured-offset', 'two-tier')]
    yield from check([report.get('polarization', {}).get('polarized') for report in reports] == [False, None], 'the section is wrong')


def draws_what_the_name_says(it: Softspine) -> Problems:
    """--picture: PNG where the name ends in .png, and no third kind"""
    if shutil.which('rsvg-convert'):
        picture = it.folder / 'links.png'
        yield from it('polarization', TESTBEDS / 'polarized.yaml', '--no-cures', '--picture', picture).exited(0)
        yield from check(picture.read_bytes().startswith(b'\x89PNG'), 'a .png that is no PNG')
    done = it('polarization', TESTBEDS / 'polarized.yaml', '--picture', it.folder / 'links.jpg')
    yield from done.exited(2)
    yield from done.complains('.svg nor .png')


def capture(path: Path, frames: list[bytes], snap: int = 65535) -> Path:
    """A pcap file of frames, cut after `snap` bytes."""
    out = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, snap, 1)
    for n, frame in enumerate(frames):
        out += struct.pack('<IIII', n, 0, min(snap, len(frame)), len(frame)) + frame[:snap]
    path.write_bytes(out)
    return path


def roce(n: int, source: str = '10.0.1.2', destination: str = '10.0.4.5', tag: bytes = b'', payload: int = 1024) -> bytes:
    """A RoCEv2 packet of the n-th flow, as real adapters send it: MACs that no testbed has."""
    udp = struct.pack('>HHHH', 0xc000 + n * 37 % 0x4000, 4791, 8 + 12 + payload, 0)
    bth = struct.pack('>BBHII', 10, 0, 0xffff, 17 + n, 0)
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0x6a, 20 + len(udp) + len(bth) + payload, 0, 0x4000, 64, 17, 0,
                     ipaddress.ip_address(source).packed, ipaddress.ip_address(destination).packed)
    total = sum(struct.unpack('>10H', ip))
    total = (total & 0xffff) + (total >> 16)
    ip = ip[:10] + struct.pack('>H', ~(total + (total >> 16)) & 0xffff) + ip[12:]
    return bytes.fromhex('b8cef6000001b8cef6000002') + tag + b'\x08\x00' + ip + udp + bth + bytes(payload)


def takes_real_captures(it: Softspine) -> Problems:
    """--pcap: sliced, tagged, with foreign MACs: the same flows, the bytes of the wire; foreign addresses with --from"""
    fabric = TESTBEDS / 'two-tier.yaml'
    frames = [roce(n) for n in range(200)]
    whole = capture(it.folder / 'whole.pcap', frames)
    answers = [it('polarization', fabric, '--pcap', file, '--json').json()
               for file in (whole, capture(it.folder / 'sliced.pcap', frames, 96),
                            capture(it.folder / 'tagged.pcap', [roce(n, tag=bytes.fromhex('8100600a')) for n in range(200)], 96))]
    taken = [[[link['flows'] for link in group['links'].values()] for group in found['tiers'][0]['groups']] for found in answers]
    for found, links in zip(answers, taken):
        yield from check((found['flows'], found['arrived']) == (200, 200), f'{found["flows"]} flows, {found["arrived"]} arrive')
        yield from check(links == taken[0], f'sliced or tagged flows take other links: {links}, whole ones {taken[0]}')
    sent = sum(link['bytes'] for group in answers[1]['tiers'][0]['groups'] for link in group['links'].values())
    yield from check(sent == sum(map(len, frames)), f'{sent} bytes, not those of the wire')
    foreign = capture(it.folder / 'foreign.pcap', [roce(n, source='192.0.2.7') for n in range(50)], 96)
    done = it('polarization', fabric, '--pcap', foreign)
    yield from done.exited(2)
    yield from done.complains('50 of 50 packets come from addresses that no host', '--from')
    for place in ('h1', 'tor1:Ethernet0'):
        found = it('polarization', fabric, '--pcap', foreign, '--from', place, '--json').json()
        yield from check(found['arrived'] == 50, f'--from {place}: {found["arrived"]} of 50 arrive')
    both = it('polarization', fabric, '--pcap', whole, '--pcap', foreign, '--from', 'h1', '--json').json()
    yield from check(both['flows'] == 250, f'two files: {both["flows"]} flows')
    yield from it('polarization', fabric, '--pcap', foreign, '--from', 'h99').exited(2)


def hops_of(told: list[dict]) -> list[list[str]]:
    return [[f'{hop["switch"]}:{hop["out_port"]}' for hop in one['hops']] for one in told]


def explains_real_captures(it: Softspine) -> Problems:
    """explain --pcap: foreign MACs, tags, slices, several files, unknown senders: the ways that the flows take; what was cut is said"""
    fabric, flows, tag = TESTBEDS / 'two-tier.yaml', 12, bytes.fromhex('8100600a')

    def told(*arguments: object) -> list[dict]:
        done = it('explain', fabric, *arguments, '--json')
        return [json.loads(line) for line in done.out.splitlines()]

    asked = [it('explain', fabric, '--from', 'h1', '--to', 'h16', '--sport', 0xc000 + n * 37 % 0x4000, '--qp', 17 + n, '--json').json() for n in range(flows)]
    files = {name: capture(it.folder / f'{name}.pcap', frames, snap) for name, frames, snap in [
        ('whole', [roce(n) for n in range(flows)], 65535), ('sliced', [roce(n) for n in range(flows)], 96),
        ('tagged', [roce(n, tag=tag) for n in range(flows)], 96), ('foreign', [roce(n, source='192.0.2.7') for n in range(flows)], 96),
        ('no_bth', [roce(n) for n in range(flows)], 44), ('no_ports', [roce(n) for n in range(flows)], 36)]}
    for name in ('whole', 'sliced', 'tagged'):
        found = told('--pcap', files[name])
        yield from check(hops_of(found) == hops_of(asked) and all(one['at'] == 'h16' for one in found), f'{name}: {found[0]}')
    both = told('--pcap', files['whole'], '--pcap', files['tagged'])
    yield from check([(one['file'], one['packet']) for one in both] == [(str(files[name]), n + 1) for name in ('whole', 'tagged') for n in range(flows)],
                     f'two files: {both[0]}')
    yield from check({one['end'] for one in told('--pcap', files['foreign'])} == {'unknown_sender'}, 'a foreign address has a sender')
    by_host = told('--pcap', files['foreign'], '--from', 'h1')
    yield from check(hops_of(told('--pcap', files['foreign'], '--from', 'tor1:Ethernet0')) == hops_of(by_host), 'h1 is not at tor1:Ethernet0')
    yield from check({one['at'] for one in by_host} == {'h16'}, f'foreign: {by_host[0]}')
    cut = told('--pcap', files['no_bth'])
    yield from check(hops_of(cut) == hops_of(asked) and all('before its BTH' in one['remark'] for one in cut), f'no BTH: {cut[0]}')
    yield from check({one['end'] for one in told('--pcap', files['no_ports'])} == {'cut_before_ports'}, 'no ports, and no word of it')
    yield from it('explain', fabric, '--pcap', files['no_bth']).says('packet 1, from h1', 'it was cut before its BTH')
    done = it('polarization', fabric, '--pcap', files['no_bth'], '--no-cures')
    yield from check('12 of 12 packets were cut before their QPs' in done.out + done.err, f'polarization: {done.err}')
    done = it('explain', fabric, '--pcap', files['foreign'], '--from', 'tor9:Ethernet0')
    yield from done.exited(2)
    yield from done.complains("neither a host nor a switch's port 'tor9:Ethernet0': did you mean 'tor")
    yield from check("did you mean 'h" not in it('explain', fabric, '--pcap', files['foreign'], '--from', 'h1:eth1').err, 'a port of a host, which --from does not take')


def with_length(frame: bytes, total: int) -> bytes:
    """The same packet, with another total length in its IPv4 header."""
    ip = frame[14:16] + struct.pack('>H', total) + frame[18:24] + bytes(2) + frame[26:34]
    summed = sum(struct.unpack('>10H', ip))
    summed = (summed & 0xffff) + (summed >> 16)
    return frame[:14] + ip[:10] + struct.pack('>H', ~(summed + (summed >> 16)) & 0xffff) + ip[12:] + frame[34:]


def claimed(path: Path, frames: list[bytes], length: int) -> Path:
    """A pcap file of frames that were `length` bytes long on the wire, or say so."""
    out = struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)
    for n, frame in enumerate(frames):
        out += struct.pack('<IIII', n, 0, len(frame), length) + frame
    path.write_bytes(out)
    return path


def takes_captures_of_offloads(it: Softspine) -> Problems:
    """--pcap: frames that no link carries are followed and counted; those cut before their ports are none of another's flow"""
    fabric = TESTBEDS / 'two-tier.yaml'
    frames = [roce(n)[:96] for n in range(200)]
    plain = it('polarization', fabric, '--pcap', claimed(it.folder / 'plain.pcap', frames, 1096), '--json').json()
    for name, total, length in [('tso', 19986, 20000), ('big-tcp', 0, 65000), ('jumbo', 9200, 9214), ('huge', 1082, 0xffffffff)]:
        path = claimed(it.folder / f'{name}.pcap', [with_length(frame, total) for frame in frames], length)
        done = it('polarization', fabric, '--pcap', path, '--json', '--fail-if', 'polarized')
        yield from done.exited(0)
        found = done.json()
        yield from check((found['flows'], found['arrived'], found['lost']) == (200, 200, {}), f'{name}: {found["arrived"]} arrive, {found["lost"]}')
        yield from check(found['tiers'][0]['of_flows'] == plain['tiers'][0]['of_flows'], f'{name}: flows take other links')
        yield from done.complains('200 of 200 packets are longer than the links take')
    for stored in (34, 40):
        cut = claimed(it.folder / f'cut{stored}.pcap', [frame[:stored] for frame in frames], 1096)
        done = it('polarization', fabric, '--pcap', cut)
        yield from done.exited(2)
        yield from done.complains('200 of 200 packets were cut before their ports')
    both = it('polarization', fabric, '--pcap', it.folder / 'plain.pcap', '--pcap', it.folder / 'cut34.pcap', '--json').json()
    yield from check(both['flows'] == 200, f'{both["flows"]} flows: those that were cut are flows of their own')


def fails_if_it_saw_nothing(it: Softspine) -> Problems:
    """--fail-if: a check fails if no flow arrives, or none had a choice by a hash; the text says what became of the flows"""
    fabric = TESTBEDS / 'two-tier.yaml'
    nowhere = capture(it.folder / 'nowhere.pcap', [roce(n, destination='192.0.2.9') for n in range(30)])
    done = it('polarization', fabric, '--pcap', nowhere)
    yield from done.exited(0)
    yield from done.says('30 flows, 0 arrive, 30 do not: no_route 30', 'Nothing is judged')
    done = it('polarization', fabric, '--pcap', nowhere, '--fail-if', 'polarized')
    yield from done.exited(1)
    yield from done.complains('no flow arrives')
    text = (TESTBEDS / 'two-tier.yaml').read_text()
    sprayed = it.write('sprayed.yaml', text + 'profiles: {default: {groups: {mode: spray}}}\n')
    done = it('polarization', sprayed, '--random', '500', '--fail-if', 'uneven')
    yield from done.exited(1)
    yield from done.complains('no flow had a choice by a hash')


THREE_TIERS = """name: captured
run: {clock: virtual, duration: 2ms, seed: 3}
fabric: {kind: fat-tree, k: 4, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
profiles: {default: {hash: {algorithm: CRC_32LO, offset: %d}}}
workload: [{name: perm, pattern: permutation, message: 4KiB, messages: 1, qps: 16}]
"""


def first_ports(compared: list[dict]) -> dict[tuple, str]:
    """By which port each flow was seen to leave its first switch."""
    return {(flow['source'], flow['source_port'], flow['qp']): flow['hops'][0]['actual'][0]['port'] for flow in compared}


def compares_with_captures(it: Softspine) -> Problems:
    """explain --against: a fabric agrees with its own capture, and differs from another's where that sent flows elsewhere"""
    files = [it.write(f'{offset}.yaml', THREE_TIERS % offset) for offset in (5, 12)]
    captures = [it.folder / f'{n}.pcapng' for n in range(2)]
    for file, path in zip(files, captures):
        yield from it('run', file, '--capture', path).exited(0)
    done = it('explain', files[0], '--against', captures[0])
    yield from done.exited(0)
    yield from done.says('256 flows: ', ' 0 differ, 0 undecided', 'tor up', 'aggregation up')
    same, others = (it('explain', file, '--against', path, '--json').json() for file, path in zip(files, captures))
    away = sum(flow['source'].split('.')[:3] != flow['destination'].split('.')[:3] for flow in same['compared'])
    yield from check((same['agree'], same['without_choice']) == (away, 256 - away), f'{away} flows leave their rack: {same["agree"]} agree')
    done = it('explain', files[1], '--against', captures[0], '--json')
    yield from done.exited(1)
    ours, theirs = first_ports(same['compared']), first_ports(others['compared'])
    for flow in done.json()['compared']:
        key, first = (flow['source'], flow['source_port'], flow['qp']), flow['hops'][0]
        yield from check((first['verdict'] == 'differs') == (ours[key] != theirs[key]), f'{ours[key]}, the other {theirs[key]}: {first}')
        yield from check(first['predicted'] == [theirs[key]], f'the other fabric sent it to {theirs[key]}: {first}')
    yield from check(sum(ours[key] != theirs[key] for key in ours) > 50, 'both fabrics do the same')
    yield from it('explain', files[1], '--against', captures[0]).says('Differences', 'predicted', 'packet')
    one = it.folder / 'one.pcapng'
    yield from it('run', files[0], '--capture', one, '--capture-port', 'p1-tor1:*').exited(0)
    part = it('explain', files[0], '--against', one, '--json')
    yield from part.exited(0)
    found = part.json()
    yield from check(0 < found['agree'] < away and found['differ'] == 0 and found['captured_ports'] == 4, f'one switch: {part.out[:300]}')


def pcapng(path: Path, frames: list[tuple[str, bytes]]) -> Path:
    """A capture of several interfaces, each frame with the name of its own; it does not say which way frames went."""
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack('<II', kind, 12 + len(body)) + body + struct.pack('<I', 12 + len(body))
    out = block(0x0a0d0d0a, struct.pack('<IHHq', 0x1a2b3c4d, 1, 0, -1))
    names = sorted({name for name, _ in frames})
    for name in names:
        out += block(1, struct.pack('<HHIHH', 1, 0, 0, 2, len(name)) + name.encode() + bytes(-len(name) % 4) + bytes(4))
    for n, (name, frame) in enumerate(frames):
        out += block(6, struct.pack('<IIIII', names.index(name), 0, n, len(frame), len(frame)) + frame)
    path.write_bytes(out)
    return path


def compares_with_foreign_captures(it: Softspine) -> Problems:
    """explain --against captures of others: a file a port, a file a switch, --ports; sliced, tagged, other MACs, no directions"""
    fabric, flows, tag = TESTBEDS / 'two-tier.yaml', 24, bytes.fromhex('8100600a')
    at: dict[str, list[int]] = {}
    for n in range(flows):
        told = it('explain', fabric, '--from', 'h1', '--to', 'h16', '--sport', 0xc000 + n * 37 % 0x4000, '--qp', 17 + n, '--json').json()
        at.setdefault(told['hops'][0]['out_port'], []).append(n)
    yield from check(len(at) > 2, f'all by one port: {at}')
    files = [f'tor1:{port}={capture(it.folder / f"{port}.pcap", [roce(n, tag=tag) for n in there], 96)}' for port, there in at.items()]
    done = it('explain', fabric, *(word for file in files for word in ('--against', file)), '--json')
    yield from done.exited(0)
    yield from check(done.json()['agree'] == flows, f'a file a port: {done.out[:300]}')
    named = [(port, roce(n)) for port, there in at.items() for n in there]
    switch = pcapng(it.folder / 'switch.pcapng', named)
    ports = it.write('ports.txt', ''.join(f'eth{port} tor1:{port}\n' for port in at))
    other = pcapng(it.folder / 'other.pcapng', [(f'eth{port}', frame) for port, frame in named])
    for arguments in (('--against', f'tor1={switch}'), ('--against', other, '--ports', ports)):
        found = it('explain', fabric, *arguments, '--json').json()
        yield from check((found['agree'], found['differ']) == (flows, 0), f'{arguments}: {found["agree"]} agree')
    first, second, *_ = at
    wrong = pcapng(it.folder / 'wrong.pcapng', [(second if frame == roce(at[first][0]) else port, frame) for port, frame in named])
    done = it('explain', fabric, '--against', f'tor1={wrong}')
    yield from done.exited(1)
    yield from done.says(f'{flows - 1} agree, 1 differ', f'10.0.1.2:{0xc000 + at[first][0] * 37 % 0x4000} > 10.0.4.5:4791', first, second)
    unknown = capture(it.folder / 'unknown.pcap', [roce(n, source='192.0.2.7') for n in at[first]])
    found = it('explain', fabric, '--against', f'tor1:{first}={unknown}', '--from', 'tor1:Ethernet0', '--json').json()
    yield from check(found['agree'] + found['differ'] == len(at[first]), f'foreign addresses: {found}')
    for arguments, said in [(('--against', switch), 'are of interfaces that are no port of the testbed'),
                            (('--against', f'tor9={switch}'), "no node and no port 'tor9'"),
                            (('--against', f'tor1={it.folder}/none'), 'none: No such file'),
                            (('--against', fabric), 'neither pcap nor pcapng'),
                            (('--against', f'h1:eth0={switch}'), 'decide nothing'),
                            (('--against', switch, '--ports', it.write('p.txt', 'Ethernet16 tor9:x\n')), "no port 'tor9:x'"),
                            (('--ports', ports), '--ports goes with --against')]:
        done = it('explain', fabric, *arguments)
        yield from done.exited(2)
        yield from done.complains(said)


def tells_all_uplinks(it: Softspine) -> Problems:
    """run tells of uplinks beyond the eighth what they carried"""
    it.write('wide.yaml', 'name: wide\nrun: {clock: virtual, duration: 1ms}\nfabric: {kind: leaf-spine, tors: 2, spines: 12, hosts_per_tor: 1, '
             'host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n'
             'workload: [{name: one, pattern: pairs, from: [h1], to: [h2], message: 4KiB, source_port: 49152}]\n')
    done = it('run', it.folder / 'wide.yaml')
    yield from done.exited(0)
    lines = [line for line in done.out.splitlines() if ' more: ' in line]
    idle = len(re.findall(r' 0\.0%', lines[0].split(' and ')[0])) if lines else 0
    found = re.search(r'and 4 more: (\S+)% to (\S+)%, (\d) without a byte', lines[0] if lines else '')
    yield from check(found and int(found[3]) + idle == 11, f'one of 12 uplinks carries all: {lines}')


def imports_a_hash(it: Softspine) -> Problems:
    """import-hash: what it prints is a profile, and the same as switch_config; what is wrong has its line"""
    conf = it.write('leaf.conf', 'forwarding-options {\n  enhanced-hash-key {\n    hash-seed 10;\n    family inet { no-protocol; }\n'
                    '    colour red;\n  }\n}\nsystem { host-name x; }\n')
    done = it('import-hash', conf)
    yield from done.exited(0)
    yield from done.says('Junos', '5: \'colour red;\' is not known here', '8: \'system { host-name x; }\'', 'leaf: {hash: {')
    found = it('import-hash', conf, '--json').json()
    yield from check(found['hash'] == {'fields': ['SRC_IP', 'DST_IP', 'L4_SRC_PORT', 'L4_DST_PORT'], 'seed': 10}, f'{found["hash"]}')
    yield from check(found['ignored_lines'] == 1 and found['not_taken'][0]['line'] == 5, f'{found}')
    fabric = ('name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 4, hosts_per_tor: 2, host_link: {rate: 100Gbps}, '
              'fabric_link: {rate: 100Gbps}}\nroles: {tor: leaf}\n')
    question = ['--from', 'h1', '--to', 'h3', '--json']
    printed = it('explain', it.write('printed.yaml', fabric + done.out), *question).json()
    named = it.write('named.yaml', fabric + 'profiles: {leaf: {switch_config: leaf.conf}}\n')
    yield from check(printed['hops'][0]['hash']['seed'] == 10, f'{printed["hops"][0]}')
    yield from check(it('explain', named, *question).json() == printed, 'switch_config and import-hash are not the same')
    done = it('check', named)
    yield from done.exited(0)
    yield from check('leaf.conf:5:1: ' in done.out + done.err, f'check does not warn: {done.out}{done.err}')
    lags = it.write('lags.conf', 'ip load-sharing fm6000 20\nport-channel load-balance trident fields ip source-ip source-port destination-ip destination-port\n')
    yield from it('import-hash', lags).says('lags: {hash: {seed: 20}, lag_hash: {fields: [SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT]}}')
    for text, said in [('nv set system forwarding hash-seed x\n', 'wrong.conf:1:1: nv set system forwarding hash-seed: expected a number'),
                       ('hello\n', 'has no line on hashing that is known here'), ('{"SWITCH_HASH": {}}', 'config_db and switch_json')]:
        wrong = it.write('wrong.conf', text)
        for done in (it('import-hash', wrong), it('check', it.write('w.yaml', fabric + 'profiles: {leaf: {switch_config: wrong.conf}}\n'))):
            yield from done.exited(2)
            yield from done.complains(said)


def few_flows_are_no_polarization(it: Softspine) -> Problems:
    """a handful of random flows is uneven and is not called so"""
    found = it('polarization', TESTBEDS / 'two-tier.yaml', '--random', '16', '--json', '--no-cures').json()
    tier = found['tiers'][0]
    yield from check(tier['of_flows']['max_over_mean'] > 1.5 and tier['verdict'] == 'as even as chance', f'{tier}')


def finds_source_ports(it: Softspine) -> Problems:
    """source-ports finds as many disjoint paths as there are spines, and explain agrees"""
    found = it('source-ports', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h16', '--json').json()
    yield from check(len(found['disjoint']) == 4 and found['search_space'] == 4, f'{found}')
    links = [link for path in found['disjoint'] for link in path['links']]
    yield from check(len(links) == len(set(links)) == 8, f'links are shared: {links}')
    for path in found['disjoint']:
        told = it('explain', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h16', '--sport', path['source_port'], '--json').json()
        yield from check([f'{hop["switch"]}:{hop["out_port"]}' for hop in told['hops'][:2]] == path['links'], f'{told}')


def refuses_what_is_not_there(it: Softspine) -> Problems:
    """hosts, links, captures that are not there: 2, and why"""
    for arguments, said in [(['explain', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h99'], "--to: there is no host 'h99': did you mean 'h9'?"),
                            (['explain', TESTBEDS / 'two-tier.yaml', '--from', 'tor1', '--to', 'h2'], "no host 'tor1': it is a switch"),
                            (['explain', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h2', '--down', 'tor1:Ethernet'], "no port 'tor1:Ethernet': did you mean 'tor1:Ethernet0'?"),
                            (['source-ports', TESTBEDS / 'two-tier.yaml', '--from', 'h01', '--to', 'h1'], "no host 'h01': did you mean 'h1'?"),
                            (['explain', TESTBEDS / 'two-tier.yaml'], 'needs --from and --to'),
                            (['explain', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h2', '--down', 'x:y'], "no port 'x:y'"),
                            (['explain', TESTBEDS / 'two-tier.yaml', '--pcap', 'none.pcap'], 'none.pcap'),
                            (['polarization', TESTBEDS / 'replay.yaml'], 'no workload'),
                            (['polarization', TESTBEDS / 'polarized.yaml', '--from', 'h1'], '--from goes with --pcap'),
                            (['source-ports', TESTBEDS / 'two-tier.yaml', '--from', 'h1', '--to', 'h1'], 'two hosts')]:
        done = it(*arguments)
        yield from done.exited(2)
        yield from done.complains(said)


def takes_nothing_in_silence(it: Softspine) -> Problems:
    """numbers out of range, and options that would change nothing: 2, and why"""
    between = ['--from', 'h1', '--to', 'h16']
    for arguments, said in [(['explain', *between, '--sport', '65536'], '--sport: Value 65536 not in range 0 to 65535'),
                            (['explain', *between, '--dport', '-1'], '--dport: Value -1 not in range 0 to 65535'),
                            (['explain', *between, '--port', '1'], '--port: h1 has no port 1, but one port, 0'),
                            (['explain', *between, '--flow-label', '7'], '--flow-label goes with --ipv6'),
                            (['explain', *between, '--protocol', 'tcp', '--qp', '7'], '--qp, --opcode: only UDP to port 4791 has them'),
                            (['explain', *between, '--dport', '80', '--opcode', '10'], '--qp, --opcode: only UDP to port 4791 has them'),
                            (['explain', '--pcap', 'any.pcap', '--qp', '7'], '--qp: packets of captures have theirs'),
                            (['explain', '--against', 'any.pcap', '--sport', '7'], '--sport: packets of captures have theirs'),
                            (['explain', '--against', 'any.pcap', '--port', '1'], '--port: of --against'),
                            (['explain', *between, '--all'], '--all requires --against'),
                            (['source-ports', *between, '--port', '1'], '--port: h1 has no port 1, but one port, 0'),
                            (['source-ports', *between, '--paths', '0'], '--paths: Value 0 not in range 1 to 65536'),
                            (['polarization', '--random', '0'], '--random: Value 0 not in range 1 to 10000000'),
                            (['polarization', '--random', '9', '--pcap', 'any.pcap'], '--random excludes --pcap'),
                            (['polarization', '--seed', '9'], '--seed requires --random')]:
        command, *rest = arguments
        done = it(command, TESTBEDS / 'two-tier.yaml', *rest)
        yield from done.exited(2)
        yield from done.complains(said)
    done = it('explain', TESTBEDS / 'dual-tor-bond.yaml', *between[:3], 'h2', '--port', '2')
    yield from done.exited(2)
    yield from done.complains('--port: h1 has no port 2, but ports 0 to 1')


if __name__ == '__main__':
    sys.exit(main([explains_a_packet, explains_a_capture, tells_polarization, is_a_check, lets_dependence_without_harm_pass, is_told_to_who_has_not_asked, is_expected, draws_what_the_name_says, takes_real_captures, explains_real_captures, compares_with_captures,
                   takes_captures_of_offloads, fails_if_it_saw_nothing,
                   compares_with_foreign_captures, tells_all_uplinks,
                   imports_a_hash, few_flows_are_no_polarization, finds_source_ports,
                   refuses_what_is_not_there, takes_nothing_in_silence]))
