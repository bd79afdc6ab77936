# SPDX-License-Identifier: Apache-2.0
"""What a run writes: into pipes whose readers come late, sleep or leave; and onto disks that fill up while it goes on."""
from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from one_run import LONG, SMALL
from run_errors import errors_in_report, limit_files, until
from softspine import Problems, Run, Softspine, main

# What `a` sends is broadcast, so `b` receives it all.
REPLAY = '''name: replay
run: {clock: virtual, duration: 1s}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    a: {kind: host, address: 10.0.1.11, edge: {pcap: {in: in.pcap}}}
    b: {kind: host, address: 10.0.1.12, edge: {pcap: {out: pipe}}}
  links:
    - {endpoints: [tor1, a], rate: 1Gbps}
    - {endpoints: [tor1, b], rate: 1Gbps}
'''


def pipe_of(it: Softspine) -> Path:
    path = it.folder / 'pipe'
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return path


def is_full(reader: int) -> bool:
    return struct.unpack('i', fcntl.ioctl(reader, termios.FIONREAD, bytes(4)))[0] > 60_000


def broadcasts(count: int) -> bytes:
    frame = bytes.fromhex('ffffffffffff' '020000000001' '88b5') + bytes(986)
    records = (struct.pack('<IIII', 0, at, len(frame), len(frame)) + frame for at in range(count))
    return struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1) + b''.join(records)


def ends_while_a_reader_sleeps(it: Softspine) -> Problems:
    """Ctrl-C ends a run that waits for a pipe: counters, events, an edge's frames, the report; status 1, and the reason is said"""
    pipe = pipe_of(it)
    flaps = ''.join(f'  - {{at: {at}us, link: "tor1:Ethernet0", set: down}}\n  - {{at: {at + 10}us, link: "tor1:Ethernet0", set: up}}\n'
                    for at in range(10, 40_000, 20))
    (it.folder / 'in.pcap').write_bytes(broadcasts(400))
    for what, text, arguments in (('counters', LONG, ['--counters-file', pipe, '--sample-interval', '10us']),
                                  ('events', SMALL.replace('4ms', '60ms') + 'faults:\n' + flaps, ['--events', pipe]),
                                  ('frames', REPLAY, [])):
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        run = Run(it, ['run', str(it.write('it.yaml', text)), '--quiet', *map(str, arguments)])
        yield from until(lambda at=reader: is_full(at), f'{what}: the pipe is full')
        begin = time.monotonic()
        done = run.end(signal.SIGINT, timeout=30)
        os.close(reader)
        yield from done.exited(1)
        yield from done.complains('its reader takes nothing')
        if time.monotonic() - begin > 8:
            yield f'{what}: ended {time.monotonic() - begin:.1f} s after SIGINT'


def waits_for_a_reader_and_says_so(it: Softspine) -> Problems:
    """a pipe without a reader is waited for, and said to be; its reader then gets the whole file, as does one that came before"""
    file = it.write('it.yaml', SMALL)
    yield from it('run', file, '--events', 'events.jsonl', '--report', 'r.json').exited(0)
    for option, plain in (('--events', 'events.jsonl'), ('--report', 'r.json')):
        pipe = pipe_of(it)
        run = Run(it, ['run', str(file), option, str(pipe)])
        yield from until(lambda each=run: b'pipe' in os.pread(each._err.fileno(), 4096, 0), f'{option}: the wait is said')
        late = subprocess.run(['cat', pipe], capture_output=True, check=False, timeout=60)
        yield from run.end().exited(0)
        early = subprocess.Popen(['cat', pipe], stdout=subprocess.PIPE)
        time.sleep(0.3)  # it waits in open()
        yield from it('run', file, option, pipe).exited(0)
        got = early.communicate(timeout=60)[0]
        if option == '--report':
            if [json.loads(text)['totals'] for text in (late.stdout, got)] != [json.loads((it.folder / plain).read_text())['totals']] * 2:
                yield 'the report in the pipe is another one'
        elif [late.stdout, got] != [(it.folder / plain).read_bytes()] * 2:
            yield 'the events in the pipe are others'


def gives_up_a_reader_that_never_comes(it: Softspine) -> Problems:
    """Ctrl-C while the report waits for a reader of its pipe: status 1 within seconds, and the tables are printed"""
    run = Run(it, ['run', str(it.write('it.yaml', SMALL)), '--report', str(pipe_of(it))])
    yield from until(lambda: b'waiting' in os.pread(run._err.fileno(), 4096, 0), 'the wait is said')
    begin = time.monotonic()
    done = run.end(signal.SIGINT, timeout=30)
    yield from done.exited(1)
    yield from done.complains('cannot be written: nobody reads from this pipe')
    yield from done.says('RoCEv2 traffic')
    if time.monotonic() - begin > 6:
        yield f'ended {time.monotonic() - begin:.1f} s after SIGINT'


def says_at_once_that_lines_are_lost(it: Softspine) -> Problems:
    """counters over time on a full disk: said, shown and reported while the run goes on, once"""
    file = it.write('it.yaml', LONG)
    with it.running(file, '--counters-file', 'c.jsonl', '--sample-interval', '10us', '--report', 'r.json') as run:
        limit_files(run, 100_000)
        yield from until(lambda: [e['who'] for e in it.show('fabric')['errors']] == ['counters over time'], 'show fabric has the error')
        limit_files(run, resource.RLIM_INFINITY)
        done = run.end(signal.SIGINT)
    yield from done.exited(1)
    if done.err.count('File too large') != 1:
        yield f'stderr: {done.err}'
    if errors_in_report(it) != [('counters over time', 'c.jsonl: File too large')]:
        yield f'the report has {errors_in_report(it)}'


if __name__ == '__main__':
    sys.exit(main([ends_while_a_reader_sleeps, waits_for_a_reader_and_says_so, gives_up_a_reader_that_never_comes, says_at_once_that_lines_are_lost]))
