# SPDX-License-Identifier: Apache-2.0
"""softspine top: on terminals of several sizes, without one, and what it leaves."""
from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from running_fabric import FABRIC
from softspine import TESTBEDS, Problems, Run, Softspine, main
from terminal_text import Screen

ROOT_OF_STORM = 'tor1:Ethernet0'  # to h1, whose NIC pauses it without end
SEEN_MS = 2  # by then the storm has spread


@contextmanager
def storm(it: Softspine) -> Iterator[Run]:
    """Slowed down, and with its first 2 ms behind it."""
    with it.running(TESTBEDS / 'pfc-storm.yaml', '--clock', 'wall', '--dilation', '1000', '--duration', '600ms') as run:
        until = time.monotonic() + 60
        while it.show('fabric')['now_ps'] < SEEN_MS * 10**9:
            if time.monotonic() > until:
                raise AssertionError('emulated time stands still')
        yield run


def top_of(it: Softspine, *options: str, every: str = '100ms') -> dict:
    done = it('top', '--json', '--every', every, *options)
    if done.status != 0:
        raise AssertionError(f'{done.command}: {done.err}')
    return done.json()


def prints_one_table(it: Softspine) -> Problems:
    """without a terminal, and with --once, it prints one table: in a storm the port that is paused is its first, and what it says is what show says"""
    with storm(it):
        table = it('top', '--every', '100ms')
        yield from table.exited(0)
        lines = table.out.splitlines()
        if not re.fullmatch(r'pfc-storm: \d+\.\d{3} ms, over \d+\.\d{3} ms, by hurt, 20 of \d+ ports', lines[0]) or 'PAUSED' not in lines[1]:
            yield f'begins with {lines[:2]}'
        if not re.match(rf'!{ROOT_OF_STORM} +100% ', lines[2]) or len(lines) != 22 or '\x1b' in table.out:
            yield table.out
        facts = top_of(it)
        first = facts['rows'][0]
        counters = it.show('pfc', 'counters')['tor1']['Ethernet0']
        if first['port'] != ROOT_OF_STORM or first['peer'] != 'h1:eth0' or first['queue'] != 3 or first['paused'] != 1 or not first['paused_now']:
            yield f'first: {first}'
        if not 0 < first['paused_ps'] <= counters['SAI_PORT_STAT_PFC_3_RX_PAUSE_DURATION_US'] * 10**6 + 10**6:
            yield f'{first["paused_ps"]} ps where show has {counters}'
        if facts['of'] != sum(len(node[2]) for node in it.show('map')['nodes']):
            yield f'{facts["of"]} ports'
        shares = [row['paused'] for row in facts['rows']]
        if facts['over_ps'] <= 0 or not all(0 <= share <= 1 for share in shares) or shares.count(1) < 5:
            yield f'shares: {shares}'
        full = [row for row in top_of(it, '--queues', '--sort', 'occupancy')['rows'] if row['xoff_raised']]
        if not full or any(row['queue'] != 3 or row['group_fill'] < 1 for row in full):
            yield f'groups that have raised XOFF: {full}'
        one = top_of(it, '--filter', 'h1:', '--rows', '5')['rows']
        if sorted(row['port'] for row in one) != ['h1:eth0', ROOT_OF_STORM]:
            yield f'--filter h1: {one}'


def rates_are_the_flows(it: Softspine) -> Problems:
    """utilisation and paths of flows: 400 Mb/s out of h1, into h3"""
    with it.running(it.write('running.yaml', FABRIC)):
        rows = {row['port']: row for row in top_of(it, '--rows', '100', every='1s')['rows']}
        wire = 0.4  # of 1 Gb/s: the rate of a workload is that on the wire
        for port, way in (('h1:eth0', 'out'), ('tor1:Ethernet0', 'in'), ('tor2:Ethernet0', 'out'), ('h3:eth0', 'in')):
            if not 0.95 * wire < rows[port][way] < 1.05 * wire:
                yield f'{port} {way}: {rows[port][way]} instead of {wire}'
        if rows['h2:eth0']['out'] != 0 or rows['h4:eth0']['in'] != 0:
            yield 'h2 or h4 is not silent'
        ranked = [max(row['in'], row['out']) for row in top_of(it, '--sort', 'utilisation')['rows']]
        if ranked != sorted(ranked, reverse=True):
            yield f'by utilisation: {ranked}'


def begins(screen: Screen, *options: str) -> list[str]:
    screen.shows('outer>')
    screen.type(' '.join(['softspine', 'top', '--every', '100ms', *options]) + '\n')
    return screen.until(lambda grid: grid.is_full_screen and grid.lines()[2].startswith('!' + ROOT_OF_STORM[:11]) and '100%' in grid.lines()[2], 'the storm')


def is_as_before(screen: Screen, modes: int) -> Problems:
    screen.until(lambda grid: any(line.endswith('outer>') for line in grid.lines()), 'the prompt')
    if screen.grid.is_full_screen or not screen.grid.has_cursor:
        yield 'the screen is not given back'
    if screen.local_modes() != modes:
        yield f'modes {screen.local_modes():#x} where there were {modes:#x}'


def on_terminals(it: Softspine) -> Problems:
    """20x5, 80x24 and 250x60: the paused port is the first row, nothing leaves the screen, a new size is obeyed"""
    os.symlink(it.binary, it.folder / 'softspine')
    with storm(it):
        for columns, rows in ((20, 5), (80, 24), (250, 60)):
            with Screen(it, rows, columns) as screen:
                lines = begins(screen)
                if not lines[2].startswith('!' + ROOT_OF_STORM[:11]) or '100%' not in lines[2] or 'PAUSED' not in lines[1]:
                    yield f'{columns}x{rows}: {lines}'
                if columns == 250 and 'h1:eth0' not in lines[2]:
                    yield f'no peer: {lines[2]}'
                if (columns, rows) == (80, 24):
                    screen.resize(8, 40)
                    lines = screen.until(lambda grid: grid.fits and grid.lines()[-1] != '' and grid.lines()[2].startswith('!' + ROOT_OF_STORM), 'the new size')
                    if len(lines) != 8:
                        yield f'{lines}'
                    screen.grid.may_be_old = False
                screen.type('q')
                screen.until(lambda grid: not grid.is_full_screen, 'the end')


def colours(it: Softspine) -> Problems:
    """colours are orange and blue; NO_COLOR has none, and marks say the same"""
    os.symlink(it.binary, it.folder / 'softspine')
    with storm(it):
        for more, wanted in (({}, True), ({'NO_COLOR': '1'}, False), ({'NO_COLOR': ''}, True)):
            with Screen(it, 24, 80, **more) as screen:
                lines = begins(screen)
                if any('38;5;' in style for style in screen.grid.styles) != wanted:
                    yield f'{more}: {screen.grid.styles}'
                if not lines[2].startswith('!'):
                    yield f'no mark: {lines[2]}'
                screen.type('q')
                screen.until(lambda grid: not grid.is_full_screen, 'the end')


def obeys_keys(it: Softspine) -> Problems:
    """keys sort, filter, freeze, show queues and help"""
    os.symlink(it.binary, it.folder / 'softspine')
    with storm(it), Screen(it, 24, 100) as screen:
        begins(screen)
        for key, word in (('u', 'utilisation'), ('o', 'occupancy'), ('d', 'drops'), ('p', 'paused'), ('h', 'hurt')):
            screen.type(key)
            screen.until(lambda grid, word=word: f'by {word} ' in grid.lines()[0], f'by {word}')
        screen.type('?')
        screen.shows('q  quit')
        screen.type('x')
        screen.shows('by hurt')
        screen.type('v')
        screen.shows('PG.FULL')
        screen.type('v/spine')
        screen.shows('/spine_')
        screen.type('\r')
        lines = screen.until(lambda grid: '/spine' in grid.lines()[0] and ' of ' in grid.lines()[0] and not grid.lines()[-1].startswith('/'), 'filtered')
        rows = [line for line in lines[2:] if line]
        if not rows or any('spine' not in line and 'tor' not in line for line in rows):
            yield f'filtered: {rows}'
        screen.type('\x1b')
        screen.until(lambda grid: '/spine' not in grid.lines()[0], 'all again')
        screen.type(' ')
        title = screen.shows('standing still')[0]
        if screen.shows('standing still')[0] != title:
            yield 'it does not stand still'
        screen.type(' ')
        screen.until(lambda grid: 'over' in grid.lines()[0] and grid.lines()[0].split()[1] != title.split()[1], 'it goes on')
        screen.type('\x1b[B')
        screen.until(lambda grid: 'ports 2-' in grid.lines()[0], 'scrolled')
        screen.type('q')
        screen.until(lambda grid: not grid.is_full_screen, 'the end')


def child_of(process: int) -> int:
    return int(Path(f'/proc/{process}/task/{process}/children').read_text().split()[0])


def leaves_the_terminal(it: Softspine) -> Problems:
    """q, Ctrl-C, Ctrl-\\, SIGTERM and Ctrl-Z give the terminal back, and fg goes on; so does the fabric's end, which is said"""
    os.symlink(it.binary, it.folder / 'softspine')
    with storm(it) as run, Screen(it, 24, 80) as screen:
        screen.shows('outer>')
        modes = screen.local_modes()
        for way in ('q', '\x03', '\x1c', 'TERM'):
            begins(screen)
            if screen.local_modes() == modes or screen.grid.has_cursor:
                yield 'the terminal is not its own'
            if way == 'TERM':
                os.kill(child_of(screen.child), signal.SIGTERM)
            else:
                screen.type(way)
            screen.until(lambda grid: not grid.is_full_screen, 'the end')
            yield from is_as_before(screen, modes)
            screen.type('echo status $?\n')
            screen.shows('status 0')
        begins(screen)
        screen.type('\x1a')
        screen.shows('Stopped')
        yield from is_as_before(screen, modes)
        screen.type('fg\n')
        screen.until(lambda grid: grid.is_full_screen and any(ROOT_OF_STORM in line for line in grid.lines()), 'it goes on')
        os.kill(run.process.pid, signal.SIGSTOP)
        screen.shows('no answer for 3 s')
        screen.type('?')
        screen.shows('q  quit')  # a fabric that does not answer blocks no key
        screen.type('x')
        os.kill(run.process.pid, signal.SIGCONT)
        screen.until(lambda grid: not any('no answer' in line for line in grid.lines()) and any('by hurt' in line for line in grid.lines()), 'an answer')
        run.end(signal.SIGINT)
        screen.shows('the last answer was of')
        yield from is_as_before(screen, modes)
        screen.type('echo status $?\n')
        screen.shows('status 0')


def without_a_fabric(it: Softspine) -> Problems:
    """no fabric, a wrong option and a fabric that ends between two looks are said"""
    yield from it('top').exited(2)
    yield from it('top').complains('no fabric is running here')
    yield from it('top', '--sort', 'size').exited(2)
    yield from it('top', '--every', '1ms').exited(2)
    with storm(it) as run:
        top = Run(it, ['top', '--every', '4s', '--json'])
        time_before = it.show('fabric')['now_ps']
        run.end(signal.SIGINT)
        done = top.end()
        yield from done.exited(0)
        yield from done.complains('rates since its start')
        if json.loads(done.out)['over_ps'] < time_before / 2:
            yield f'over {json.loads(done.out)["over_ps"]}'


def large_fabric(it: Softspine) -> Problems:
    """hundreds of switches are looked at within a second"""
    fabric = it.write('large.yaml', '''name: large
run: {clock: wall, duration: 600s, dilation: 100000}
fabric: {kind: fat-tree, k: 16, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: w, pattern: permutation, message: 1GiB, messages: 1, rate: 10Gbps}]
''')
    with it.running(fabric):
        begun = time.monotonic()
        facts = top_of(it, '--rows', '1000000')
        took = time.monotonic() - begun
        if facts['of'] != 6144 or len(facts['rows']) != 6144:
            yield f'{facts["of"]} ports, {len(facts["rows"])} rows'
        if took > 5:
            yield f'{took} s'


if __name__ == '__main__':
    sys.exit(main([prints_one_table, rates_are_the_flows, on_terminals, colours, obeys_keys, leaves_the_terminal, without_a_fabric, large_fabric]))
