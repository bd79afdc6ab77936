# SPDX-License-Identifier: Apache-2.0
"""What tshark makes of the frames that hosts and switches of ours invent: pauses, acknowledgements, CNPs, marks."""
from __future__ import annotations

import struct
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from one_run import complaints, tshark
from softspine import Problems, Softspine, main

# Four reliable connections that DCQCN slows down, and an open incast that PFC has to stop.
FABRIC = '''name: decoded
run: {clock: virtual, duration: 1ms, seed: 1}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 3, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles:
  default:
    base: lossless
    BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: -7}}
    WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: 5000B,
      ecn_green_max_threshold: 200000B, ecn_green_mark_probability: 10%}}
workload:
  - {name: rc, pattern: incast, from: [h3, h4, h5, h6], to: h1, message: 64KiB, messages: 1000, mtu: 1024, dscp: 3, transport: rc, congestion_control: dcqcn_paper}
  - {name: open, pattern: incast, from: [h3, h4, h5, h6], to: h2, message: 64KiB, messages: 10, mtu: 1024, dscp: 4}
'''
ACK, CNP = 17, 0x81


def captured(it: Softspine, fabric: str = FABRIC) -> tuple[Path, dict]:
    done = it('run', it.write('decoded.yaml', fabric), '--capture', 'it.pcapng', '--snaplen', '2048', '--json', '--quiet')
    if done.status != 0:
        raise AssertionError(done.err)
    return it.folder / 'it.pcapng', done.json()


def fields(capture: Path, which: str, *names: str) -> list[list[str]]:
    wanted = [part for name in names for part in ('-e', name)]
    return [line.split('\t') for line in tshark('-n', '-r', capture, '-Y', which, '-T', 'fields', *wanted).splitlines()]


def frames_in(capture: Path) -> Iterator[tuple[bytes, int]]:
    """Bytes and true length, by the draft: enhanced packet blocks."""
    data, at = capture.read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from('<II', data, at)
        if kind == 6:
            stored, original = struct.unpack_from('<II', data, at + 20)
            yield data[at + 28:at + 28 + stored], original
        at += length


def icrc(frame: bytes) -> bytes:
    """Of an untagged IPv4 RoCEv2 frame, by the specification and zlib."""
    ip, udp, bth = bytearray(frame[14:34]), bytearray(frame[34:42]), bytearray(frame[42:54])
    ip[1] = ip[8] = ip[10] = ip[11] = udp[6] = udp[7] = bth[4] = 0xFF
    return struct.pack('<I', zlib.crc32(b'\xff' * 8 + ip + udp + bth + frame[54:-4]))


def decodes_pauses(it: Softspine) -> Problems:
    """each pause is macc to tshark: its opcode, priorities, times, sender and reason"""
    capture, report = captured(it)
    yield from complaints(capture)
    yield from paused(it, capture, {3, 4})
    pauses = fields(capture, 'eth.type == 0x8808', 'macc.opcode', 'macc.cbfc.enbv', 'macc.cbfc.pause_time.c3', 'macc.cbfc.pause_time.c4',
                    'eth.dst', 'eth.src', 'frame.len', 'frame.comment')
    # A counter counts what names its priority; a frame may name two.
    named = sum(int(row[1], 16).bit_count() for row in pauses)
    sent = sum(node['pfc_tx_packets'] for node in report['switches'].values())
    if not pauses or named != sent:
        yield f'{named} priorities decoded, {sent} sent'
    for opcode, enabled, time3, time4, to, source, length, comment in pauses:
        times = {time for bit, time in ((8, time3), (16, time4)) if int(enabled, 16) & bit}
        good = (opcode, to, length) == ('0x0101', '01:80:c2:00:00:01', '60') and source != '00:00:00:00:00:00'
        said = {'65535'} <= times if comment.startswith('XOFF') else {'0'} <= times and comment.startswith('XON')
        if not good or not said or not times <= {'0', '65535'} or int(enabled, 16) & ~0x18:
            yield f'a pause: {opcode} {enabled} {time3} {time4} {to} {source} {length} {comment}'
            return
    if fields(capture, 'macc.cbfc.enbv.not_zero || macc.opcode.unknown || macc.dst_address_invalid', 'frame.number'):
        yield 'tshark has remarks on pauses'


def paused(it: Softspine, capture: Path, wanted: set) -> Problems:
    """By `softspine storm`."""
    found = {link['priority'] for link in it('storm', capture, '--json').json()['links']}
    if found != wanted:
        yield f'storm: priorities {found} are paused, not {wanted}'


def decodes_link_pauses(it: Softspine) -> Problems:
    """with flow_control: pause each is PAUSE of 802.3 to tshark and to `storm`, as many as were counted, and none is PFC"""
    capture, report = captured(it, FABRIC.replace('length: 3m', 'length: 3m, flow_control: pause')
                               .replace('length: 40m', 'length: 40m, flow_control: pause'))
    yield from complaints(capture)
    pauses = fields(capture, 'eth.type == 0x8808', 'macc.opcode', 'macc.pause_time', 'eth.dst', 'frame.len', 'frame.comment')
    sent = sum(node['link_pause_tx_packets'] for node in report['switches'].values())
    if not sent or len(pauses) != sent or any(node['pfc_tx_packets'] for node in report['switches'].values()):
        yield f'{len(pauses)} frames decoded, {sent} sent'
    for opcode, time, to, length, comment in pauses:
        if (opcode, to, length) != ('0x0001', '01:80:c2:00:00:01', '60') or (time == '0') != comment.startswith('XON'):
            yield f'a pause: {opcode} {time} {to} {length} {comment}'
            return
    if {row[1] for row in pauses} != {'0', '65535'}:
        yield 'not both XOFF and XON'
    yield from paused(it, capture, {'all'})
    if fields(capture, 'macc.opcode.unknown || macc.dst_address_invalid', 'frame.number'):
        yield 'tshark has remarks on pauses'


def decodes_responses(it: Softspine) -> Problems:
    """acknowledgements and CNPs: RoCE to tshark, as many as were counted, their ICRCs by zlib"""
    capture, report = captured(it)
    opcodes = Counter(int(row[0]) for row in fields(capture, 'udp.dstport == 4791', 'infiniband.bth.opcode'))
    flow = report['flows']['rc']
    # Each stands once for each link: three or five of them, so a bit more than that for those under way.
    for opcode, counted in ((CNP, flow['np_cnp_sent']), (ACK, sum(host['responses'] for host in report['hosts'].values()))):
        if not counted * 2 <= opcodes[opcode] <= counted * 5:
            yield f'opcode {opcode}: {opcodes[opcode]} decoded, {counted} counted at hosts'
    acks = fields(capture, 'infiniband.bth.opcode == 17', 'infiniband.aeth.syndrome.opcode', 'ip.dsfield.dscp')
    if not acks or any(row != ['0', '3'] for row in acks):
        yield f'acknowledgements: {Counter(map(tuple, acks))}'
    marks = {row[0] for row in fields(capture, 'infiniband.bth.opcode == 129', 'ip.dsfield.dscp')}
    if marks != {'48'}:
        yield f'CNPs have DSCP {marks}'
    checked = 0
    for frame, length in frames_in(capture):
        if len(frame) != length or frame[12:14] != b'\x08\x00' or frame[36:38] != b'\x12\xb7' or frame[42] not in (ACK, CNP):
            continue
        checked += 1
        if icrc(frame) != frame[-4:]:
            yield f'the ICRC of {frame.hex()} is {icrc(frame).hex()}'
            return
        if frame[42] == CNP and (frame[46] != 0x40 or any(frame[54:70]) or length != 74):
            yield f'no CNP: {frame.hex()}'
            return
    if checked != opcodes[ACK] + opcodes[CNP]:
        yield f'{checked} of {opcodes[ACK] + opcodes[CNP]} were whole'


def decodes_marks(it: Softspine) -> Problems:
    """CE: on as many frames as were marked, with a checksum that is right, and said so where it was done"""
    capture, report = captured(it)
    marked = fields(capture, 'ip.dsfield.ecn == 3', 'ip.checksum.status', 'frame.interface_name', 'frame.comment')
    here = sum(row[2].startswith('CE marked') for row in marked)
    counted = sum(node['ecn_marked_packets'] for node in report['switches'].values())
    if not counted or here != counted:
        yield f'{here} frames say that they were marked here, {counted} were counted'
    if any(row[1].startswith('h') for row in marked):
        yield 'a host sends marked frames'
    wrong = fields(capture, 'ip.checksum.status == 0', 'frame.number')
    checked = tshark('-n', '-r', capture, '-Y', 'ip.dsfield.ecn == 3 && ip.checksum.status == 1', '-o', 'ip.check_checksum:TRUE',
                     '-T', 'fields', '-e', 'frame.number').split()
    if wrong or len(checked) != len(marked):
        yield f'{len(checked)} of {len(marked)} checksums are right, {len(wrong)} wrong'


def decodes_whole_frames(it: Softspine) -> Problems:
    """--full: no frame is malformed to tshark, as each is without; its length is the wire's, and its ICRC zlib's"""
    short = it.write('short.yaml', FABRIC.replace('duration: 1ms', 'duration: 100us'))
    for arguments, malformed in ((['--snaplen', '2048'], True), (['--full'], False)):
        done = it('run', short, '--capture', 'it.pcapng', '--json', '--quiet', *arguments)
        if done.status != 0:
            raise AssertionError(done.err)
        capture = it.folder / 'it.pcapng'
        data = fields(capture, 'infiniband.bth.opcode < 13', 'frame.number')
        # Its dissector says so in the packet list's column alone.
        bad = [row for row in fields(capture, 'infiniband', '_ws.col.Info') if 'Malformed' in row[0]]
        if not data or bool(bad) != malformed:
            yield f'{arguments}: {len(bad)} malformed frames of {len(data)} with a payload'
    whole = [(frame, length) for frame, length in frames_in(capture) if frame[12:14] == b'\x08\x00' and frame[42] < 13]
    if len(whole) != len(data) or any(len(frame) != length for frame, length in whole):
        yield f'{len(whole)} frames, and not all whole'
    # A router changes TTL, ToS and checksum, which the ICRC does not cover.
    if wrong := [frame for frame, _ in whole if icrc(frame) != frame[-4:]]:
        yield f'{len(wrong)} of {len(whole)} ICRCs are not zlib\'s: {wrong[0].hex()}'


if __name__ == '__main__':
    sys.exit(main([decodes_pauses, decodes_link_pauses, decodes_responses, decodes_marks, decodes_whole_frames]))
