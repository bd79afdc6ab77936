# SPDX-License-Identifier: Apache-2.0
"""Guests that are not what was asked for: QEMU in the place of user-mode Linux, and guests that end unasked."""
from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

from outside_testbeds import made, need_guests
from softspine import Problems, Softspine, main

PAIR = '''name: pair
run: {{clock: wall, duration: {duration}}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    h1: {{kind: host, guest: {{kind: uml, memory: 256MiB, timeout: 4min, run: "{run}"}}}}
    h2: {{kind: host, guest: {{kind: uml, memory: 256MiB, timeout: 4min{other}}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 1Gbps}}
    - {{endpoints: [tor1, h2], rate: 1Gbps}}
'''
RPING = 'pairs --to h2 --messages 5 --size 1024 rping'
STAY = 'exec tail -f /dev/null'


def pair(it: Softspine, run: str, other: str = '', duration: str = '5min') -> Path:
    other = f', run: "{other}"' if other else ''
    return it.write('pair.yaml', PAIR.format(run=run, other=other, duration=duration))


def qemu_takes_the_place(it: Softspine) -> Problems:
    """where user-mode Linux cannot run, QEMU guests do, and stderr and the report say so"""
    made('qemu/make')
    it.env['SOFTSPINE_UML'] = 'never'
    done = it('run', pair(it, RPING, RPING), '--folder', it.folder / 'o', '--report', 'report.json', timeout=280)
    yield from done.exited(0)
    yield from done.complains('user-mode Linux cannot run here: SOFTSPINE_UML=never forbids it', 'takes its place for h1, h2')
    report = json.loads((it.folder / 'report.json').read_text())
    machines = {host: command['machine'] for host, command in report['commands'].items()}
    if set(machines) != {'h1', 'h2'} or not all(machine.startswith('QEMU') for machine in machines.values()):
        yield f'the report has {machines}'
    if len(report['notes']) != 1 or 'takes its place for h1, h2' not in report['notes'][0]:
        yield f'the report notes {report["notes"]}'
    if 'verified' not in (it.folder / 'o' / 'h1' / 'results.jsonl').read_text():
        yield 'rping verified nothing'


def names_what_to_install(it: Softspine) -> Problems:
    """without QEMU either, the error says why user-mode Linux cannot run and which command installs QEMU"""
    made('root/make')
    programs = it.folder / 'bin'
    programs.mkdir()
    for folder in ('/usr/sbin', '/usr/bin'):
        for program in Path(folder).iterdir():
            link = programs / program.name
            if not program.name.startswith('qemu') and not link.is_symlink():
                link.symlink_to(program)
    it.env.update(PATH=str(programs), SOFTSPINE_UML='never')
    done = it('run', pair(it, RPING))
    yield from done.exited(2)
    yield from done.complains('tools/install qemu', 'user-mode Linux cannot run here: SOFTSPINE_UML=never')


def stays_user_mode_linux(it: Softspine) -> Problems:
    """where user-mode Linux runs, nothing is noted, and a guest that turns itself off is an error of the run"""
    need_guests()
    done = it('run', pair(it, 'echo lights out >/dev/console; poweroff -f'), '--report', 'report.json')
    yield from done.exited(1)
    report = json.loads((it.folder / 'report.json').read_text())
    if report['notes'] or report['commands']['h1']['machine'] != 'user-mode Linux':
        yield f'the report has {report["notes"]}, {report["commands"]}'
    yield from says_how_it_ended(done, report, 'h1', 'lights out')


def boots_in_its_own_time(it: Softspine) -> Problems:
    """a command's timeout begins with the command: a guest that takes longer to boot runs it"""
    need_guests()
    file = pair(it, 'true')
    yield from it('run', file, '--report', 'report.json').exited(0)
    report = json.loads((it.folder / 'report.json').read_text())
    booted = report['engine']['wall_seconds'] - report['commands']['h1']['seconds']
    file.write_text(file.read_text().replace('timeout: 4min', f'timeout: {int(booted * 700)}ms', 1))
    yield from it('run', file, '--report', 'report.json').exited(0)
    command = json.loads((it.folder / 'report.json').read_text())['commands']['h1']
    if command['exit_status'] != 0 or command['timed_out']:
        yield f'{command}, with a timeout of 0.7 × {booted:.2f} s'


def says_how_it_ended(done, report: dict, host: str, last_words: str) -> Problems:
    """On stderr and in the report: who, and what its console said last."""
    yield from done.complains(f'{host}: has ended unasked', last_words)
    errors = [error for error in report['errors'] if error['who'] == host]
    if len(errors) != 1 or last_words not in errors[0]['what'] or errors[0]['first_ps'] <= 0:
        yield f'errors: {report["errors"]}'


def panics(it: Softspine) -> Problems:
    """a guest that panics is an error of the run, with the kernel's words"""
    need_guests()
    done = it('run', pair(it, 'echo c >/proc/sysrq-trigger; exec tail -f /dev/null'), '--report', 'report.json')
    yield from done.exited(1)
    yield from says_how_it_ended(done, json.loads((it.folder / 'report.json').read_text()), 'h1', 'sysrq triggered crash')


def killed_without_a_command(it: Softspine) -> Problems:
    """a guest without a command that is killed from outside is an error of the run, which goes on to its end"""
    need_guests()
    file = pair(it, STAY, duration='5min')
    folder = it.folder / 'o'
    with it.running(file, '--folder', folder, '--report', 'report.json') as run:
        until = time.monotonic() + 60
        while not (folder / 'h2' / 'ready').exists() and time.monotonic() < until:
            time.sleep(0.1)
        for pid in processes_of(folder / 'h2'):
            with contextlib.suppress(ProcessLookupError):  # the first one's end may take others along
                os.kill(pid, signal.SIGKILL)
        while not it.show('fabric')['errors'] and time.monotonic() < until:
            time.sleep(0.1)
        done = run.end(signal.SIGINT)
    yield from done.exited(1)
    yield from says_how_it_ended(done, json.loads((it.folder / 'report.json').read_text()), 'h2', 'infiniband rxe0: added eth0')


def processes_of(guest: Path) -> list[int]:
    """A user-mode Linux guest's own, by its folder; its keeper's go on."""
    found = []
    for process in Path('/proc').glob('[0-9]*'):
        try:
            if (process / 'comm').read_text() == 'linux\n' and f'uml_dir={guest}'.encode() in (process / 'cmdline').read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    if not found:
        raise AssertionError(f'no process belongs to {guest}')
    return found


if __name__ == '__main__':
    sys.exit(main([stays_user_mode_linux, boots_in_its_own_time, panics, killed_without_a_command, names_what_to_install, qemu_takes_the_place]))
