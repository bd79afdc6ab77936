# SPDX-License-Identifier: Apache-2.0
"""Labs: up, ls, logs and down, and exec, shell and cp on hosts that are network namespaces of this machine."""
from __future__ import annotations

import fcntl
import os
import pty
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

from softspine import Problems, Skip, Softspine, main

LAB = '''name: lab
run: {clock: wall, duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology: {nodes: {h1: {namespace: {}}, h2: {namespace: {timeout: 1ms, run: "echo done >said; exit 3"}}}}
'''
BUILT_IN = '''name: built-in
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
'''
CYCLES = int(os.environ.get('SOFTSPINE_LAB_CYCLES', '5'))
MEGABYTES = 10


def need_namespaces() -> None:
    if subprocess.run(['unshare', '--net', 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('no network namespace can be made here')


@contextmanager
def lab(it: Softspine, text: str = LAB, *options: str) -> Iterator[None]:
    up = it('up', it.write('lab.yaml', text), *options)
    if up.status != 0:
        raise AssertionError(f'{up.command}: {up.status} {up.out} {up.err}')
    try:
        yield
    finally:
        it('down', '--quiet')


def inside(it: Softspine, *command: str, given: bytes = b'', host: str = 'h1') -> tuple[int, bytes]:
    done = subprocess.run([it.binary, 'exec', host, '--', *command], env=it.env, cwd=it.folder, input=given, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=240, check=False)
    return done.returncode, done.stdout


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def stays_up(it: Softspine) -> Problems:
    """a lab outlives its testbed's duration, its host's command and that command's timeout; ls and logs tell of it, down ends it"""
    need_namespaces()
    up = it('up', it.write('lab.yaml', LAB))
    yield from up.exited(0)
    yield from up.says('lab is up', 'h1 h2')
    yield from it('up', it.folder / 'lab.yaml').exited(2)
    if not within(10, lambda: inside(it, 'cat', str(it.sockets / 'lab' / 'files' / 'h2' / 'said'), host='h2')[0] == 0):
        yield 'the command of h2 has never run'
    row = it('ls', '--json').json()[0]
    wanted = {'name': 'lab', 'state': 'up', 'clock': 'wall', 'hosts': ['h1', 'h2'], 'errors': 0, 'socket': str(it.sockets / 'lab.sock')}
    if {key: row[key] for key in wanted} != wanted or row['now_ps'] < 10**9 or not 0 < row['age_seconds'] < 60:
        yield f'ls --json: {row}'
    if not os.path.exists(f'/proc/{row["process"]}'):
        yield f'no process {row["process"]}'
    yield from it('ls').says('lab', 'up', 'wall', 'h1 h2', 'lab.sock')
    yield from it('logs', 'lab').exited(0)
    down = it('down', 'lab')
    yield from down.exited(1)
    yield from down.says('h2', 'status 3')
    if it('ls', '--json').json() != []:
        yield 'ls lists a lab that is down'
    yield from it('down', 'lab').exited(2)
    yield from it('logs').exited(2)


def serves_its_page(it: Softspine) -> Problems:
    """up --http: the page, /api and /metrics of a lab that is up; down ends them"""
    with lab(it, BUILT_IN, '--http', '127.0.0.1:0'):
        found = re.search(r' is at (http://\S+)', it('logs').out)
        if not found:
            yield f'logs: {it("logs").out}'
            return
        for path, words in (('/', '<!DOCTYPE html>'), ('/api/show/fabric', '"name":"built-in"'), ('/metrics', 'softspine_link_up')):
            page = subprocess.run(['curl', '-s', '-f', '--max-time', '20', found[1] + path], capture_output=True, text=True, check=False)
            if page.returncode != 0 or words.lower() not in page.stdout.lower():
                yield f'{path}: curl {page.returncode}, {page.stdout[:200]}'
    after = subprocess.run(['curl', '-s', '--max-time', '20', found[1]], capture_output=True, check=False)
    if after.returncode != 7:
        yield f'curl once it is down: {after}'
    taken = it('up', it.folder / 'lab.yaml', '--http', '0.0.0.0:0')
    yield from taken.exited(2)
    yield from taken.complains('--http-token')


def says_why_not(it: Softspine) -> Problems:
    """up of a file with a mistake, on the virtual clock, or with a host that cannot be set up, ends with the run's error and status"""
    wrong = it('up', it.write('wrong.yaml', LAB.replace('tors', 'tours')))
    yield from wrong.exited(2)
    yield from wrong.complains('did you mean')
    yield from it('up', it.write('lab.yaml', LAB), '--clock', 'virtual').exited(2)
    taken = it('up', it.folder / 'lab.yaml', '--capture', '/nowhere/c.pcapng')
    yield from taken.exited(2)
    yield from taken.complains('/nowhere/c.pcapng')
    need_namespaces()
    bad = it('up', it.write('bad.yaml', LAB.replace('h1: {namespace: {}}', 'h1: {namespace: {}, mac: "03:00:00:00:00:01"}')))
    if bad.status == 0:
        yield f'a host with a group address as its MAC is up: {bad.out}'
    yield from bad.complains('h1')
    if it('ls', '--json').json() != []:
        yield 'a lab that has failed is listed'


def other_ends(it: Softspine) -> Problems:
    """a lab that ends by itself, and one that is killed, are listed as ended until down clears them; runs are listed beside labs"""
    done = it('up', it.write('b.yaml', BUILT_IN), '--duration', '30ms')
    yield from done.exited(0)
    if not within(20, lambda: it('ls', '--json').json()[0]['state'] == 'ended'):
        yield 'it never ends'
    if it('ls', '--json').json()[0]['status'] != 0:
        yield f'it ended with {it("ls").out}'
    yield from it('logs').says('30 ms of emulated time')
    yield from it('down').exited(0)
    yield from it('up', it.folder / 'b.yaml', '--quiet').exited(0)
    os.kill(it('ls', '--json').json()[0]['process'], signal.SIGKILL)
    if not within(20, lambda: it('ls', '--json').json()[0]['state'] == 'ended'):
        yield 'a killed lab is listed as up'
    yield from it('down').exited(1)
    with it.running(it.folder / 'b.yaml', '--clock', 'wall', '--duration', '60s'):
        row = it('ls', '--json').json()[0]
        if row['state'] != 'run' or row['name'] != 'built-in':
            yield f'ls of a run: {row}'


def interfaces() -> set[str]:
    return set(os.listdir('/sys/class/net'))


KINDS = ('net', 'mnt', 'uts', 'pid')


def alive(spaces: set[str]) -> set[str]:
    """Which of these namespaces a process is in, or a mount holds."""
    found = {space for space in spaces if space in Path('/proc/self/mountinfo').read_text()}
    for process in Path('/proc').glob('[0-9]*'):
        try:
            found |= {os.readlink(process / 'ns' / kind) for kind in KINDS} & spaces
        except OSError:
            pass  # it has just ended
    return found


def leave_nothing(it: Softspine) -> Problems:
    """many ups and downs, each with a program on a host, leave no process, interface, namespace, socket or file"""
    need_namespaces()
    it.write('lab.yaml', LAB.replace('exit 3', 'exit 0'))
    devices, temporary, spaces = interfaces(), set(os.listdir('/tmp')), set()
    for number in range(CYCLES):
        yield from it('up', it.folder / 'lab.yaml').exited(0)
        left = subprocess.Popen([it.binary, 'exec', 'h1', '--', 'sleep', '1000'], env=it.env, stdin=subprocess.DEVNULL)
        spaces |= set(inside(it, 'sh', '-c', f'readlink {" ".join("/proc/self/ns/" + kind for kind in KINDS)}')[1].decode().split())
        yield from it('down', '--quiet').exited(0)
        if left.wait(20) != 128 + signal.SIGKILL:
            yield f'cycle {number}: a program on a host ends with {left.returncode} when its lab goes down'
        yield from it.leftovers()
    if interfaces() - devices:
        yield f'interfaces are left: {interfaces() - devices}'
    if len(spaces) < len(KINDS) or not within(10, lambda: not alive(spaces)):
        yield f'of {len(spaces)} namespaces these are left: {alive(spaces)}'
    made = {name for name in set(os.listdir('/tmp')) - temporary if name.startswith('softspine-run')}
    if made:
        yield f'files are left: {made}'


def many_programs(it: Softspine) -> Problems:
    """200 programs in a row on a host, none lost, each with its own status"""
    need_namespaces()
    with lab(it):
        for number in range(200):
            status, said = inside(it, 'sh', '-c', f'echo {number}; exit {number % 120}')
            if (status, said) != (number % 120, f'{number}\n'.encode()):
                yield f'program {number}: {status} {said!r}'
        statuses = [inside(it, *command)[0] for command in (['nothing-of-that-name'], ['/etc/passwd'], ['sh', '-c', 'kill -TERM $$'])]
        if statuses != [127, 126, 128 + signal.SIGTERM]:
            yield f'no program, no permission, killed: {statuses}'
        for host in ('tor1', 'h9'):
            yield from it('exec', host, '--', 'true').exited(2)


def is_on_the_host(it: Softspine) -> Problems:
    """a program has the host's network, processes and name, this folder, and none of the rights that a host's command lacks"""
    need_namespaces()
    with lab(it):
        yield from it('exec', 'h1', '--', 'ping', '-c', '1', '-W', '5', 'h2').exited(0)
        said = inside(it, 'sh', '-c', 'hostname; pwd; cat /proc/net/dev; echo $SOFTSPINE_GUEST; readlink /proc/self >/dev/null && echo proc')[1].decode()
        words = said.split()
        if words[:2] != ['h1', str(it.folder)] or 'eth0:' not in words or words[-2:] != ['h1', 'proc']:
            yield f'it sees {said}'
        inside(it, 'sh', '-c', 'for n in 1 2 3; do (sleep 0.1 &) & done')
        if not within(10, lambda: inside(it, 'sh', '-c', 'ps -e -o stat,args | grep -q "^Z\\|sleep 0[.]1"')[0] == 1):
            yield f'its orphans are left: {inside(it, "ps", "-e", "-o", "stat,args")[1].decode()}'
        bounding = inside(it, 'grep', 'CapBnd', '/proc/self/status')[1].split()[-1]
        if int(bounding, 16) & (1 << 16 | 1 << 17 | 1 << 22 | 1 << 25 | 1 << 27):
            yield f'its capabilities are {bounding!r}'


def streams(it: Softspine) -> Problems:
    """10 MB of stdin and of stdout arrive whole, and stderr apart from them"""
    need_namespaces()
    with lab(it):
        given = os.urandom(1 << 20) * MEGABYTES
        status, got = inside(it, 'cat', given=given)
        if status != 0 or got != given:
            yield f'cat: {status}, {len(got)} bytes of {len(given)}'
        both = it('exec', 'h1', '--', 'sh', '-c', 'echo out; echo err >&2')
        if (both.out, both.err) != ('out\n', 'err\n'):
            yield f'{both}'


def signals(it: Softspine) -> Problems:
    """a signal to softspine exec reaches the program, whose status is handed on; with a killed exec the program ends"""
    need_namespaces()
    with lab(it):
        for number, name in ((signal.SIGTERM, 'TERM'), (signal.SIGINT, 'INT'), (signal.SIGHUP, 'HUP'), (signal.SIGUSR1, 'USR1')):
            program = subprocess.Popen([it.binary, 'exec', 'h1', '--', 'bash', '-c', f'trap "exit 42" {name}; echo ready; while :; do sleep 0.02; done'],
                                       env=it.env, stdout=subprocess.PIPE)
            program.stdout.readline()
            program.send_signal(number)
            if program.wait(20) != 42:
                yield f'{name}: {program.returncode}'
        program = subprocess.Popen([it.binary, 'exec', 'h1', '--', 'sh', '-c', 'echo ready; exec sleep 1234'], env=it.env, stdout=subprocess.PIPE)
        program.stdout.readline()
        program.kill()
        program.wait(20)
        if not within(10, lambda: b'1234' not in inside(it, 'ps', '-e', '-o', 'args')[1].replace(b'\0', b' ')):
            yield 'a program outlives its killed exec'


class Terminal:
    """softspine on a terminal of its own, as the job of a shell that reads no files."""

    def __init__(self, it: Softspine, *arguments: str) -> None:
        self.child, self.master = pty.fork()
        if self.child == 0:
            os.chdir(it.folder)
            os.execve('/bin/bash', ['bash', '--norc', '--noprofile', '-i'], {**it.env, 'PS1': 'outer> ', 'HOME': str(it.folder), 'PS0': ''})
        self.text = ''
        self.await_text('outer> ')
        self.resize(40, 123)
        self.type(' '.join([it.binary, *arguments]) + '\n')

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def begin(self, before: str) -> None:
        """A program that says when it runs, and when it runs again; what is typed says neither."""
        self.type(before + """bash -c 'trap "echo go""es-on" CONT; echo be""gins; while :; do read -t 0.05; done'\n""")
        self.await_text('begins')

    def stop_and_end(self, before: str) -> None:
        """Such a program by softspine exec: Ctrl-Z stops both, `fg` lets both go on, Ctrl-C ends both."""
        self.begin(before)
        self.type('\x1a')
        self.await_text('Stopped')
        self.await_text('outer> ')
        self.type('fg\n')
        self.await_text('goes-on')
        self.type('\x03')
        self.await_text('outer> ')
        self.type('echo it was $?\n')
        self.await_text('it was 130')

    def await_text(self, wanted: str, seconds: float = 20) -> None:
        """Until it stands there; what came up to it is forgotten."""
        until = time.monotonic() + seconds
        while wanted not in self.text:
            ready, _, _ = select.select([self.master], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise AssertionError(f'never says {wanted!r} but {self.text[-500:]!r}')
            self.text += os.read(self.master, 4096).decode(errors='replace')
        self.text = self.text[self.text.index(wanted) + len(wanted):]

    def end(self) -> None:
        os.kill(self.child, signal.SIGHUP)
        os.close(self.master)
        os.waitpid(self.child, 0)


def a_terminal(it: Softspine) -> Problems:
    """a shell on a host: window size and its change, Ctrl-C, Ctrl-Z of a program in it and of the whole, and the status"""
    need_namespaces()
    it.write('.bashrc', 'PS1="inner> "\n')
    with lab(it):
        terminal = Terminal(it, 'shell', 'h1')
        try:
            terminal.await_text('inner> ')
            terminal.type('stty size; hostname; tty\n')
            terminal.await_text('40 123')
            terminal.await_text('h1')
            terminal.await_text('/dev/')
            terminal.resize(25, 81)
            terminal.type('stty size\n')
            terminal.await_text('25 81')
            terminal.begin('')
            terminal.type('\x03')
            terminal.await_text('inner> ')
            terminal.type('echo status $?\n')
            terminal.await_text('status 130')
            terminal.begin('')
            terminal.type('\x1a')
            terminal.await_text('Stopped')
            terminal.await_text('inner> ')
            terminal.type('fg\n')
            terminal.await_text('goes-on')
            terminal.type('\x03')
            terminal.await_text('inner> ')
            terminal.type('exit 7\n')
            terminal.await_text('outer> ')
            terminal.type('echo it was $?\n')
            terminal.await_text('it was 7')
            terminal.stop_and_end(f'{it.binary} exec h1 -- ')
        except AssertionError as problem:
            yield str(problem)
        finally:
            terminal.end()


def roots_of_their_own(it: Softspine) -> Problems:
    """a lab of who is root by `unshare -r` alone is entered from outside that, by the same user"""
    need_namespaces()
    if subprocess.run(['unshare', '-r', 'true'], capture_output=True, check=False).returncode != 0:
        raise Skip('no user namespace can be made here')
    up = subprocess.run(['unshare', '-r', it.binary, 'up', it.write('lab.yaml', LAB)], env=it.env, capture_output=True, text=True, timeout=60, check=False)
    if up.returncode != 0:
        yield f'{up}'
    status, said = inside(it, 'sh', '-c', 'id -u; hostname; exit 9')
    if (status, said) != (9, b'0\nh1\n'):
        yield f'{status} {said!r}'
    yield from it('down', '--quiet').exited(1)


def copies(it: Softspine) -> Problems:
    """cp carries files and folders to a host and back, with their modes; what is not there is an error"""
    need_namespaces()
    with lab(it):
        script = it.write('script.sh', '#!/bin/sh\necho it runs\n')
        script.chmod(0o750)
        yield from it('cp', 'script.sh', 'h1:script.sh').exited(0)
        if inside(it, 'sh', '-c', '$SOFTSPINE_FOLDER/script.sh') != (0, b'it runs\n'):
            yield 'the script does not run on the host'
        (it.folder / 'tree' / 'below').mkdir(parents=True)
        it.write('tree/below/file', 'x' * 100_000)
        yield from it('cp', 'tree', f'h2:{it.folder}/there').exited(0)
        yield from it('cp', f'h2:{it.folder}/there', 'back').exited(0)
        if (it.folder / 'back' / 'below' / 'file').read_text() != 'x' * 100_000:
            yield 'the folder has changed on its way'
        yield from it('cp', 'h1:/etc/hosts', 'hosts').exited(0)
        if 'h2' not in (it.folder / 'hosts').read_text():
            yield 'h1 knows no h2'
        yield from it('cp', 'h1:nothing', '.').exited(1)
        for pair in (('a', 'b'), ('h1:a', 'h2:b')):
            yield from it('cp', *pair).exited(2)


def follows(it: Softspine) -> Problems:
    """logs --follow shows the lab's summary when it ends, and ends with it"""
    yield from it('up', it.write('b.yaml', BUILT_IN)).exited(0)
    follower = subprocess.Popen([it.binary, 'logs', '--follow'], env=it.env, stdout=subprocess.PIPE, text=True)
    os.kill(it('ls', '--json').json()[0]['process'], signal.SIGTERM)
    said = follower.communicate(timeout=20)[0]
    if follower.returncode != 0 or not re.search(r'built-in: .* on the wall clock', said):
        yield f'{follower.returncode}: {said}'
    yield from it('down').exited(0)


if __name__ == '__main__':
    sys.exit(main([stays_up, serves_its_page, says_why_not, other_ends, leave_nothing, many_programs, is_on_the_host, streams, signals, a_terminal, roots_of_their_own, copies, follows]))
