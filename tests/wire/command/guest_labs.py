# SPDX-License-Identifier: Apache-2.0
"""Programs in guests: exec, shell and cp by a guest's line, which is none of the fabric's."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from labs import Terminal, inside, lab, within
from outside_testbeds import made, need_guests
from softspine import Problems, Softspine, main

KIND = 'uml'
LAB = '''name: lab
run: {clock: wall}
fabric: {kind: star, hosts: 2, host_link: {rate: 1Gbps}}
topology: {nodes: {h1: {guest: {kind: KIND, memory: 256MiB}}, h2: {guest: {kind: KIND, memory: 256MiB}}}}
'''
PROGRAMS = int(os.environ.get('SOFTSPINE_GUEST_PROGRAMS', '1000'))
MEGABYTES = 10
AT_ONCE = 12


def need() -> str:
    if KIND == 'uml':
        need_guests()
    else:
        made('qemu/make')
    return LAB.replace('KIND', KIND)


def popen(it: Softspine, host: str, *command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([it.binary, 'exec', host, '--', *command], env=it.env, cwd=it.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def is_the_guests(it: Softspine) -> Problems:
    """a guest without a command stays up; a program is on its network, in its folder, with its variables and names, and its orphans are reaped"""
    with lab(it, need()):
        yield from it('exec', 'h1', '--', 'ping', '-c', '1', '-W', '20', 'h2').exited(0)
        said = inside(it, 'sh', '-c', 'hostname; pwd; echo $SOFTSPINE_GUEST; uname -m; echo $PATH; cat /proc/net/dev; echo kept >file')[1].decode().split()
        if said[:4] != ['h1', '/guest', 'h1', 'x86_64'] or 'eth0:' not in said:
            yield f'it sees {said}'
        if (it.sockets / 'lab' / 'files' / 'h1' / 'file').read_text() != 'kept\n':
            yield 'what it writes is not in the folder of the host'
        if inside(it, 'ibv_devinfo')[0] != 0:
            yield 'it has no RDMA device'
        orphans = inside(it, 'sh', '-c', 'for n in 1 2 3; do (sleep 0.1 >/dev/null & echo $!) & done; wait')[1].decode().split()
        if len(orphans) != 3 or not within(20, lambda: inside(it, 'sh', '-c', 'for n; do [ ! -e /proc/$n ] || exit 1; done', 'sh', *orphans)[0] == 0):
            yield f'its orphans {orphans} are left: {inside(it, "ps")[1].decode()}'
        for host in ('h9', 'tor1'):
            yield from it('exec', host, '--', 'true').exited(2)


def many_programs(it: Softspine) -> Problems:
    """1,000 programs in a row in a guest, none lost, each with its own status"""
    with lab(it, need()):
        began = time.monotonic()
        for number in range(PROGRAMS):
            status, said = inside(it, 'sh', '-c', f'echo {number}; exit {number % 120}')
            if (status, said) != (number % 120, f'{number}\n'.encode()):
                yield f'program {number}: {status} {said!r}'
        print(f'# {PROGRAMS} programs in {time.monotonic() - began:.1f} s')
        statuses = [inside(it, *command)[0] for command in (['nothing-of-that-name'], ['/etc/passwd'], ['sh', '-c', 'kill -TERM $$'])]
        if statuses != [127, 126, 128 + signal.SIGTERM]:
            yield f'no program, no permission, killed: {statuses}'


def carried_bytes(it: Softspine) -> int:
    return it.show('interfaces', 'counters')['tor1']['rx_bytes']


def streams(it: Softspine) -> Problems:
    """10 MB of stdin and of stdout arrive whole, stderr apart, many programs at once; the fabric carries none of it"""
    with lab(it, need()):
        given = os.urandom(1 << 20) * MEGABYTES
        before, began = carried_bytes(it), time.monotonic()
        status, got = inside(it, 'cat', given=given)
        print(f'# {MEGABYTES} MiB both ways in {time.monotonic() - began:.1f} s')
        if status != 0 or got != given:
            yield f'cat: {status}, {len(got)} bytes of {len(given)}'
        if carried_bytes(it) - before > len(given) / 10:
            yield f'the fabric has carried {carried_bytes(it) - before} bytes meanwhile'
        both = it('exec', 'h1', '--', 'sh', '-c', 'echo out; echo err >&2')
        if (both.out, both.err) != ('out\n', 'err\n'):
            yield f'{both}'

        def one(number: int) -> tuple[int, bool]:
            mine = os.urandom(100_000)
            status, got = inside(it, 'sh', '-c', f'cat; exit {number}', given=mine, host=('h1', 'h2')[number % 2])
            return status, got == mine
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for number, outcome in enumerate(pool.map(one, range(3 * AT_ONCE))):
                if outcome != (number, True):
                    yield f'program {number} of many at once: {outcome}'


def signals(it: Softspine) -> Problems:
    """a signal to softspine exec reaches the program in the guest, whose status is handed on; with a killed exec the program ends"""
    with lab(it, need()):
        for number, name in ((signal.SIGTERM, 'TERM'), (signal.SIGINT, 'INT'), (signal.SIGHUP, 'HUP'), (signal.SIGUSR1, 'USR1')):
            program = popen(it, 'h1', 'bash', '-c', f'trap "exit 42" {name}; echo ready; while :; do read -t 0.05 <>/run/never; done')
            program.stdout.readline()
            program.send_signal(number)
            if program.wait(20) != 42:
                yield f'{name}: {program.returncode}'
        program = popen(it, 'h1', 'sh', '-c', 'echo ready; exec sleep 1234')
        program.stdout.readline()
        program.kill()
        program.wait(20)
        if not within(20, lambda: b'1234' not in inside(it, 'ps')[1]):
            yield 'a program outlives its killed exec'


def a_terminal(it: Softspine) -> Problems:
    """a shell in a guest: window size and its change, Ctrl-C, Ctrl-Z of a program in it and of the whole, and the status"""
    with lab(it, need()):
        terminal = Terminal(it, 'shell', 'h1')
        try:
            terminal.await_text('h1:/guest# ')
            terminal.type('stty size; tty\n')
            terminal.await_text('40 123')
            terminal.await_text('/dev/pts/')
            terminal.resize(25, 81)
            if not within(20, lambda: says(terminal, 'stty size\n', '25 81')):
                yield 'the window keeps its size'
            terminal.begin('')
            terminal.type('\x03')
            terminal.await_text('h1:/guest# ')
            terminal.type('echo status $?\n')
            terminal.await_text('status 130')
            terminal.begin('')
            terminal.type('\x1a')
            terminal.await_text('Stopped')
            terminal.type('fg\n')
            terminal.await_text('goes-on')
            terminal.type('\x03')
            terminal.await_text('h1:/guest# ')
            terminal.type('exit 7\n')
            terminal.await_text('outer> ')
            terminal.type('echo it was $?, and of two $(stty -a | tr " ;" "\\n" | grep -cx "icanon\\|echo")\n')
            terminal.await_text('it was 7, and of two 2')
            terminal.stop_and_end(f'{it.binary} exec h1 -- ')
            terminal.type(f'{it.binary} exec h1 -- sh -c "test -t 1; echo terminal \\$? >&2" | cat\n')
            terminal.await_text('terminal 1')
        except AssertionError as problem:
            yield str(problem)
        finally:
            terminal.end()


def says(terminal: Terminal, typed: str, wanted: str) -> bool:
    terminal.type(typed)
    try:
        terminal.await_text(wanted, 1)
    except AssertionError:
        return False
    return True


def copies(it: Softspine) -> Problems:
    """cp carries files and folders to a guest and back, with their modes; what is not there is an error"""
    with lab(it, need()):
        script = it.write('script.sh', '#!/bin/sh\necho it runs\n')
        script.chmod(0o750)
        yield from it('cp', 'script.sh', 'h1:script.sh').exited(0)
        if inside(it, './script.sh') != (0, b'it runs\n'):
            yield 'the script does not run in the guest'
        yield from it('cp', 'h1:script.sh', 'back.sh').exited(0)
        back = it.folder / 'back.sh'
        if back.read_bytes() != script.read_bytes() or back.stat().st_mode & 0o777 != 0o750:
            yield f'the script came back with mode {back.stat().st_mode:o}'
        big = it.folder / 'big'
        big.write_bytes(os.urandom(2 << 20))
        yield from it('cp', 'big', 'h1:/tmp/other').exited(0)
        yield from it('cp', 'big', 'h1:/tmp/').exited(0)
        yield from it('cp', 'h1:/tmp/big', 'again').exited(0)
        if (it.folder / 'again').read_bytes() != big.read_bytes() or inside(it, 'cmp', '/tmp/big', '/tmp/other')[0] != 0:
            yield 'a file of 2 MiB has changed on its way'
        (it.folder / 'tree' / 'below').mkdir(parents=True)
        it.write('tree/below/file', 'x' * 100_000)
        (it.folder / 'tree' / 'link').symlink_to('below/file')
        yield from it('cp', 'tree', 'h2:/tmp/there').exited(0)
        yield from it('cp', 'h2:/tmp/there', 'back').exited(0)
        if [(it.folder / 'back' / name).read_text() for name in ('below/file', 'link')] != ['x' * 100_000] * 2:
            yield 'the folder has changed on its way'
        yield from it('cp', 'tree/below/file', 'h2:/tmp/there/below/file').exited(0)
        yield from it('cp', 'h1:/etc/hosts', 'hosts').exited(0)
        if 'h2' not in (it.folder / 'hosts').read_text():
            yield 'h1 knows no h2'
        yield from it('cp', 'h1:/proc/version', 'version').exited(0)
        if 'Linux version' not in (it.folder / 'version').read_text():
            yield 'a file of /proc comes empty'
        inside(it, 'ln', '-s', '/etc/shadow', 'link')
        yield from it('cp', 'h1:link', 'shadow').exited(1)
        for *pair, why in (('h1:nothing', '.', 'nothing: no such file or folder'), ('nothing', 'h1:x', 'nothing: No such file'),
                           ('script.sh', 'h1:/nowhere/x', 'nowhere/x'), ('h1:script.sh', 'nowhere/x', 'nowhere/x: No such file'),
                           ('h1:..', '.', 'has no name'), ('h1:/sys/kernel', '.', 'folders of /proc and /sys')):
            done = it('cp', *pair)
            yield from done.exited(1)
            yield from done.complains(why)
        for pair in (('a', 'b'), ('h1:a', 'h2:b')):
            yield from it('cp', *pair).exited(2)
        if left := [path.name for path in it.folder.glob('.softspine-cp*')]:
            yield f'work folders are left: {left}'


def has_another_agent(it: Softspine) -> Problems:
    """an agent that is killed in a guest is started again: its programs are lost, with a word, and new ones begin; memory runs out for others first"""
    with lab(it, need()):
        program = popen(it, 'h1', 'sh', '-c', 'echo ready; exec sleep 1000')
        program.stdout.readline()
        scores = 'for name in $(pidof softspine-agent) self; do cat /proc/$name/oom_score_adj; done'
        if (said := inside(it, 'sh', '-c', scores)[1].decode().split()) != ['-1000', '0']:
            yield f'oom_score_adj of the agent and of a program: {said}'
        inside(it, 'sh', '-c', 'kill -KILL $(pidof softspine-agent)')
        _, said = program.communicate(timeout=30)
        if program.returncode != 128 + signal.SIGKILL or b'h1: its softspine-agent has been started again' not in said:
            yield f'an exec ends with {program.returncode}: {said!r}'
        if inside(it, 'echo', 'here') != (0, b'here\n') or b'sleep 1000' in inside(it, 'ps')[1]:
            yield 'no program begins, or an old one is left'


def ends_with_the_guest(it: Softspine) -> Problems:
    """a guest that dies under programs: their execs say so and end, the other guest's go on; then there is no way in"""
    with lab(it, need()):
        doomed = [popen(it, 'h1', 'sh', '-c', 'echo ready; exec sleep 1000') for _ in range(3)]
        other = popen(it, 'h2', 'sh', '-c', 'echo ready; exec sleep 1000')
        for program in (*doomed, other):
            program.stdout.readline()
        popen(it, 'h1', 'poweroff', '-f')
        for program in doomed:
            _, said = program.communicate(timeout=30)
            if program.returncode != 128 + signal.SIGKILL or b'h1 has ended' not in said:
                yield f'an exec ends with {program.returncode}: {said!r}'
        if other.poll() is not None or inside(it, 'echo', 'here', host='h2') != (0, b'here\n'):
            yield 'the other guest ended, too'
        gone = it('exec', 'h1', '--', 'true')
        yield from gone.exited(2)
        yield from gone.complains('h1 is not up')
        other.kill()


def leave_nothing(it: Softspine) -> Problems:
    """down while programs run in guests ends their execs, and leaves no process, socket or file"""
    text = need()
    temporary = set(os.listdir('/tmp'))
    yield from it('up', it.write('lab.yaml', text)).exited(0)
    left = [popen(it, host, *command) for host in ('h1', 'h2') for command in (('sleep', '1000'), ('sh', '-c', 'yes'), ('sh', '-c', 'cd /guest; exec sleep 1000'))]
    inside(it, 'true')
    yield from it('down', '--quiet').exited(0)
    for program in left:
        program.stdout.close()
        if program.wait(20) not in (128 + signal.SIGKILL, 128 + signal.SIGPIPE):
            yield f'an exec ends with {program.returncode} when its lab goes down: {program.stderr.read()!r}'
    yield from it.leftovers()
    if made_files := {name for name in set(os.listdir('/tmp')) - temporary if name.startswith('softspine-run')}:
        yield f'files are left: {made_files}'


if __name__ == '__main__':
    if sys.argv[2:] == ['qemu']:
        # A hundred times slower without KVM: whether the line is there.
        KIND, MEGABYTES, AT_ONCE = 'qemu', 1, 2
        sys.exit(main([is_the_guests, streams]))
    sys.exit(main([is_the_guests, many_programs, streams, signals, a_terminal, copies, has_another_agent, ends_with_the_guest, leave_nothing]))
