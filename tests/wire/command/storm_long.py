# SPDX-License-Identifier: Apache-2.0
"""softspine storm on a capture of 2 GB: a file with holes, its frames spread over all of it. HOLES = 640 makes it 10 GB."""
from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

from softspine import Problems, Softspine, main
from storm import STORM, fabric_capture

HOLE = 16 << 20
HOLES = 128
BLOCK_OF_NOBODY = 0x00000BAD
MOST_KIB = 100 << 10


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


def reads_gigabytes_in_little_memory(it: Softspine) -> Problems:
    """the same verdict as of the frames alone, in at most 100 MiB"""
    small = fabric_capture(it.folder / 'small.pcapng', STORM)
    large = with_holes(it.folder / 'large.pcapng', small.read_bytes())
    if large.stat().st_size < 2e9:
        yield f'{large.stat().st_size} bytes: this tests little'
    with subprocess.Popen([it.binary, 'storm', large, '--json'], stdout=subprocess.PIPE, env=it.env) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0 or used.ru_maxrss > MOST_KIB:
        yield f'exited with {process.returncode}, took {used.ru_maxrss} KiB'
    alone = it('storm', small, '--json').out.replace(str(small), str(large))
    if out.decode() != alone:
        yield f'says {out.decode()[:2000]}\nof the frames alone {alone[:2000]}'


if __name__ == '__main__':
    sys.exit(main([reads_gigabytes_in_little_memory]))
