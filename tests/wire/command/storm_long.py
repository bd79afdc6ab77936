# SPDX-License-Identifier: Apache-2.0
"""softspine storm on long captures: 2 GB with holes, its frames spread over all of it (HOLES = 640 makes it 10 GB), pause frames without end, and frames captured whole (STORM_GIGABYTES of them)."""
from __future__ import annotations

import json
import os
import re
import resource
import struct
import subprocess
import sys
import time
from pathlib import Path

from softspine import Problems, Softspine, main
from storm import STORM, fabric_capture, pfc

HOLE = 16 << 20
HOLES = 128
BLOCK_OF_NOBODY = 0x00000BAD
MOST_KIB = 100 << 10
GIGABYTES = float(os.environ.get('STORM_GIGABYTES', '1'))
PAUSE_SECONDS = 150  # 1.5 MB each; 6,600 are 10 GB


def blocks(data: bytes) -> list[bytes]:
    out, at = [], 0
    while at < len(data):
        length = struct.unpack_from('<I', data, at + 4)[0]
        out.append(data[at:at + length])
        at += length
    return out


def with_holes(path: Path, capture: bytes) -> Path:
    """A block that is passed over, and of which nothing is on the disk, after every few frames."""
    parts = blocks(capture)
    first = next(i for i, part in enumerate(parts) if part.startswith(b'\6\0\0\0'))
    frames = parts[first:]
    with path.open('wb') as out:
        out.write(b''.join(parts[:first]))
        for n in range(HOLES):
            out.write(struct.pack('<II', BLOCK_OF_NOBODY, HOLE))
            out.seek(HOLE - 12, os.SEEK_CUR)
            out.write(struct.pack('<I', HOLE))
            out.write(b''.join(frames[n * len(frames) // HOLES:(n + 1) * len(frames) // HOLES]))
    return path


def measured(it: Softspine, *arguments: object) -> tuple[bytes, int, resource.struct_rusage]:
    """What it prints, its exit status, what it used."""
    with subprocess.Popen([it.binary, 'storm', *arguments], stdout=subprocess.PIPE, env=it.env) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return out, process.returncode, used


def pauses_without_end(path: Path) -> Path:
    """XOFF and XON in turn, each 50 us, and nothing else: of no frame can be said that it is of no interest."""
    frames, head = (pfc(0x11, 0xFFFF), pfc(0x11, 0)), struct.Struct('<IIII').pack
    with path.open('wb') as out:
        out.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for second in range(PAUSE_SECONDS):
            out.write(b''.join(head(1_700_000_000 + second, i * 50, 60, 60) + frames[i % 2] for i in range(20_000)))
    return path


def reads_pauses_alone_in_little_memory(it: Softspine) -> Problems:
    """1.5 million pauses: all are counted, in at most 100 MiB; the rate is printed"""
    file = pauses_without_end(it.folder / 'pauses.pcap')
    out, status, used = measured(it, file, '--speed', '100Gbps')
    print(f'# {file.stat().st_size / 1e6:.0f} MB in {used.ru_utime + used.ru_stime:.2f} s of the CPU: {file.stat().st_size / 1e6 / (used.ru_utime + used.ru_stime):.0f} MB/s, {used.ru_maxrss >> 10} MiB')
    if status != 0 or used.ru_maxrss > MOST_KIB:
        yield f'exited with {status}, took {used.ru_maxrss} KiB'
    number = f'{PAUSE_SECONDS * 10_000:,}'
    row = rf' 3 +{number} +{number} +{number} +0 +{PAUSE_SECONDS / 2:.4g} s +50.0% +50 us'
    if b'No storm' not in out or b'left out' in out or not re.search(row, out.decode()):
        yield f'does not say {row} but {out.decode()}'


def full_frames(path: Path) -> Path:
    """Packets of 1,500 B, 20,000 a second, every hundredth a PFC frame: XOFF a hundred times, then XON."""
    record, count = 16 + 1500, 20_000
    packet = bytes.fromhex('020000000002020000000011080045020000') + bytes(1482)
    second = bytearray()
    for i in range(count):
        frame = pfc(0x11, 0xFFFF if i // 10_000 == 0 else 0).ljust(1500, b'\0') if i % 100 == 0 else packet
        second += struct.pack('<IIII', 0, i * 50, 1500, 1500) + frame
    with path.open('wb') as out:
        out.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for n in range(int(GIGABYTES * 1e9 / len(second)) + 1):
            for k, byte in enumerate(struct.pack('<I', 1_700_000_000 + n)):
                second[k::record] = bytes([byte]) * count
            out.write(second)
    return path


def reads_full_frames_fast(it: Softspine) -> Problems:
    """captured whole: at least 200 MB/s of the processor's time, in at most 100 MiB; every XOFF is counted"""
    file = full_frames(it.folder / 'full.pcap')
    size = file.stat().st_size
    began = time.monotonic()
    out, status, used = measured(it, file, '--speed', '100Gbps', '--json')
    taken = time.monotonic() - began
    processor = used.ru_utime + used.ru_stime
    print(f'# {size / 1e9:.1f} GB in {taken:.2f} s, {processor:.2f} s of the CPU: {size / 1e6 / processor:.0f} MB/s, {used.ru_maxrss >> 10} MiB')
    if status != 0 or used.ru_maxrss > MOST_KIB or size / processor < 200e6:
        yield f'exited with {status}, took {used.ru_maxrss} KiB and {processor} s'
    seconds = (size - 24) // (20_000 * 1516)
    tally = json.loads(out)['capture']
    if tally['frames'] != seconds * 20_000 or tally['pause_frames'] != seconds * 200:
        yield f'{seconds} s: {tally["frames"]} frames, {tally["pause_frames"]} pause frames'


def reads_gigabytes_in_little_memory(it: Softspine) -> Problems:
    """the same verdict as of the frames alone, in at most 100 MiB"""
    small = fabric_capture(it.folder / 'small.pcapng', STORM)
    large = with_holes(it.folder / 'large.pcapng', small.read_bytes())
    if large.stat().st_size < 2e9:
        yield f'{large.stat().st_size} bytes: this tests little'
    out, status, used = measured(it, large, '--json')
    if status != 0 or used.ru_maxrss > MOST_KIB:
        yield f'exited with {status}, took {used.ru_maxrss} KiB'
    alone = it('storm', small, '--json').out.replace(str(small), str(large))
    if out.decode() != alone:
        yield f'says {out.decode()[:2000]}\nof the frames alone {alone[:2000]}'


if __name__ == '__main__':
    sys.exit(main([reads_gigabytes_in_little_memory, reads_pauses_alone_in_little_memory, reads_full_frames_fast]))
