# SPDX-License-Identifier: Apache-2.0
"""softspine storm on a capture that grows, and beside the event log of its run."""
from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from softspine import TESTBEDS, Problems, Softspine, main
from storm import STORM, fabric_capture

STORM_RUN = TESTBEDS / 'pfc-storm.yaml'


def finished(process: subprocess.Popen, number: int) -> tuple[int, str, str]:
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


@contextmanager
def following(it: Softspine, capture: str | Path, stdin: int | None = None) -> Iterator[subprocess.Popen]:
    """It ends with its test, however that ends."""
    with subprocess.Popen([it.binary, 'storm', capture, '--follow'], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=it.env) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    """What takes longer, the caller's own look at the outcome tells."""
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)


def has_read(process: subprocess.Popen, file: Path, size: int) -> bool:
    folder = Path(f'/proc/{process.pid}')
    for link in (folder / 'fd').iterdir():
        try:
            if os.readlink(link) == str(file.resolve()):
                return int((folder / 'fdinfo' / link.name).read_text().split()[1]) >= size
        except FileNotFoundError:
            pass  # closed since it was listed, as each library is that a start has loaded
    return False


def read_until(process: subprocess.Popen, text: str, seconds: float = 30) -> str:
    """What it says on stderr, up to this text."""
    assert process.stderr is not None
    said, until = b'', time.monotonic() + seconds
    while text not in said.decode() and time.monotonic() < until:
        if select.select([process.stderr], [], [], 0.1)[0]:
            said += os.read(process.stderr.fileno(), 1 << 16)
    return said.decode()


def unread(pipe: int) -> int:
    return struct.unpack('i', fcntl.ioctl(pipe, termios.FIONREAD, b'\0' * 4))[0]


def follows_a_file_that_grows(it: Softspine) -> Problems:
    """--follow: the verdict so far on stderr as it changes; SIGINT ends it cleanly, in the middle of a frame as well"""
    whole = fabric_capture(it.folder / 'whole.pcapng', STORM).read_bytes()
    growing = it.folder / 'growing.pcapng'
    growing.write_bytes(whole[:2000])
    with following(it, growing) as process:
        wait_until(lambda: has_read(process, growing, 2000))
        with growing.open('ab') as file:
            file.write(whole[2000:-7])
        said = read_until(process, 'its root is h1')
        wait_until(lambda: has_read(process, growing, len(whole) - 7))
        status, out, err = finished(process, signal.SIGINT)
    if status != 0 or 'STORM: root h1' not in out or 'interrupted at offset' not in out:
        yield f'exited with {status}: {out} {err}'
    if 'its root is h1' not in said:
        yield f'nothing was said while it grew: {said}{err}'


def follows_a_pipe(it: Softspine) -> Problems:
    """-: as tcpdump -w - writes it, with its end or with SIGINT"""
    whole = fabric_capture(it.folder / 'whole.pcapng', STORM).read_bytes()
    with following(it, '-', stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(whole[:len(whole) // 2])
        process.stdin.flush()
        wait_until(lambda: unread(process.stdin.fileno()) == 0)
        out, err = process.communicate(whole[len(whole) // 2:], timeout=60)
    if process.returncode != 0 or b'STORM: root h1' not in out or b'interrupted' in out:
        yield f'exited with {process.returncode}: {out.decode()} {err.decode()}'


def follows_one_capture_alone(it: Softspine) -> Problems:
    """--follow with several captures, or NODE=FILE: 2, and why; nothing is read as if it had not been said"""
    one, two = fabric_capture(it.folder / 'one.pcapng', STORM), fabric_capture(it.folder / 'two.pcapng', STORM)
    for given in ((one, two), (f'tor1={one}',), (f'tor1={one}', two)):
        done = it('storm', *given, '--follow')
        yield from done.exited(2)
        yield from done.complains('--follow: one capture alone')


def tells_one_story(it: Softspine) -> Problems:
    """--events: the fault that made the storm is its candidate; the log of another run tells nothing"""
    it('run', STORM_RUN, '--capture', 'run.pcapng', '--events', 'run.jsonl', '--quiet')
    done = it('storm', 'run.pcapng', '--events', 'run.jsonl', '--testbed', STORM_RUN)
    yield from done.exited(0)
    yield from done.says('fault: h1 storms: pauses of priority 3 without end', 'names and may have caused the storm from h1')
    story = it('storm', 'run.pcapng', '--events', 'run.jsonl', '--json').json()['events']
    times = [line['t_ps'] for line in story['lines']]
    causes = [line['what'] for line in story['lines'] if line['may_have_caused'] == 'h1' and line['names_its_node']]
    if times != sorted(times) or len(causes) != 1 or not causes[0].startswith('fault: h1 storms'):
        yield f'story: {story}'
    # Another run: the same fabric, other traffic and another storm.
    text = re.sub('seed: 1', 'seed: 9', STORM_RUN.read_text()).replace('node: h1, set', 'node: h4, set').replace('to: h1,', 'to: h4,')
    it('run', it.write('other.yaml', text), '--events', 'other.jsonl', '--quiet')
    it('run', TESTBEDS / 'deadlock.yaml', '--events', 'ring.jsonl', '--quiet')
    for name, said in (('other.jsonl', 'XOFFs that it has at captured ports are not in the capture'), ('ring.jsonl', 'none of its ports is in the capture')):
        done = it('storm', 'run.pcapng', '--events', name)
        yield from done.exited(0)
        yield from done.says(f"{name} is another run's", said, 'STORM: root h1')
    yield from it('storm', 'run.pcapng', '--testbed', STORM_RUN, '--events', 'ring.jsonl').says('it is of the testbed deadlock, not of pfc-storm')


def refuses_what_is_no_event_log(it: Softspine) -> Problems:
    """wrong lines: 2, with the line; cut off: said"""
    fabric_capture(it.folder / 'storm.pcapng', STORM)
    head = '{"events":1,"testbed":"x"}\n'
    for text, said in (('', 'is empty'), ('{}\n', 'is no event log'), ('{"series":1}\n', 'counters over time'), (head + 'x\n', 'events.jsonl:2'),
                       (head + '{"event":"fault"}\n', 'has no "t_ps"'), (head + '{"end_ps":1}\n{"t_ps":1,"event":"fault"}\n', 'behind the log')):
        done = it('storm', 'storm.pcapng', '--events', it.write('events.jsonl', text))
        yield from done.exited(2)
        yield from done.complains(said)
    cut = it('storm', 'storm.pcapng', '--events', it.write('cut.jsonl', head + json.dumps({'t_ps': 1_999_000_000, 'event': 'fault', 'what': 'tor1 x'}) + '\n{"t_'))
    yield from cut.exited(0)
    yield from cut.says('cut off', 'names and may have caused the storm from h1')


if __name__ == '__main__':
    sys.exit(main([follows_a_file_that_grows, follows_a_pipe, follows_one_capture_alone, tells_one_story, refuses_what_is_no_event_log]))
