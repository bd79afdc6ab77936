# SPDX-License-Identifier: Apache-2.0
"""A terminal, as far as softspine's screens need one: what stands on it, read from what a program writes to its pseudo terminal.

Sequences that it does not know are an error: a program that uses others has them tried here first.
"""
from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable

from softspine import Softspine

SEQUENCE = re.compile(r'\x1b\[(\??)([0-9;]*)([A-Za-z])')
UNFINISHED = re.compile(r'\x1b(\[[?0-9;]*)?$')


class Grid:
    """The cells of both of a terminal's screens, and its cursor."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        self.is_full_screen = False
        self.has_cursor = True
        self.styles: set[str] = set()
        self.kept = ''
        self.may_be_old = False  # its size is new, and what comes may have been drawn for the one before: that is cut
        self.fits = True         # nothing was cut since the first row was drawn
        self.clear()

    def clear(self) -> None:
        self.cells = [[' '] * self.columns for _ in range(self.rows)]
        self.row = self.column = 0

    def lines(self) -> list[str]:
        return [''.join(row).rstrip() for row in self.cells]

    def write(self, text: str) -> None:
        text = self.kept + text
        unfinished = UNFINISHED.search(text)
        self.kept = unfinished[0] if unfinished else ''
        text = text[:len(text) - len(self.kept)]
        at = 0
        while at < len(text):
            if text[at] == '\x1b':
                found = SEQUENCE.match(text, at)
                if not found:
                    raise AssertionError(f'no sequence of this terminal: {text[at:at + 12]!r}')
                self.obey(*found.groups())
                at = found.end()
            else:
                self.put(text[at])
                at += 1

    def put(self, char: str) -> None:
        if char == '\r':
            self.column = 0
        elif char == '\n':
            self.row += 1
            if self.row == self.rows:
                self.cells = self.cells[1:] + [[' '] * self.columns]
                self.row -= 1
        elif char == '\b':
            self.column -= 1
        elif char != '\a':
            if self.column == self.columns and not self.is_full_screen:  # a shell's lines may be long
                self.put('\r')
                self.put('\n')
            if self.column == self.columns and self.may_be_old:
                self.fits = False
                return
            if self.column == self.columns:
                raise AssertionError(f'a line is wider than the terminal at {char!r}: {self.lines()[self.row]}')
            self.cells[self.row][self.column] = char
            self.column += 1

    def obey(self, private: str, numbers: str, what: str) -> None:
        if private and what in 'hl':
            if numbers == '1049':
                self.is_full_screen = what == 'h'
                self.clear()
            elif numbers == '25':
                self.has_cursor = what == 'h'
            elif numbers != '2004':  # a shell's: text that is pasted
                raise AssertionError(f'unknown mode {numbers}')
        elif what == 'H':
            row, column = (int(number) for number in numbers.split(';'))
            if self.may_be_old:
                self.fits = row == 1 or (self.fits and row <= self.rows and column <= self.columns)
                row, column = min(row, self.rows), min(column, self.columns)
            if not (1 <= row <= self.rows and 1 <= column <= self.columns):
                raise AssertionError(f'the cursor leaves the terminal: {numbers}')
            self.row, self.column = row - 1, column - 1
        elif what == 'J' and numbers == '2':
            self.clear()
        elif what == 'm':
            self.styles.add(numbers)
        elif what not in 'CK':
            raise AssertionError(f'unknown sequence {numbers}{what}')


class Screen:
    """A shell on a pseudo terminal, which a test types at."""

    def __init__(self, it: Softspine, rows: int, columns: int, **more: str) -> None:
        self.child, self.master = pty.fork()
        if self.child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
            os.chdir(it.folder)
            env = {**it.env, 'PS1': 'outer> ', 'HOME': str(it.folder), 'PATH': f'{it.folder}:{os.environ["PATH"]}', 'TERM': 'xterm-256color', **more}
            os.execve('/bin/bash', ['bash', '--norc', '--noprofile', '--noediting', '-i'], env)
        self.grid = Grid(rows, columns)

    def __enter__(self) -> Screen:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.child, signal.SIGHUP)
        os.close(self.master)
        os.waitpid(self.child, 0)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        self.grid = Grid(rows, columns)
        self.grid.is_full_screen, self.grid.has_cursor, self.grid.may_be_old = True, False, True
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def until(self, holds: Callable[[Grid], bool], what: str, seconds: float = 30) -> list[str]:
        """Reads until the grid is so; its lines."""
        until = time.monotonic() + seconds
        while not holds(self.grid):
            ready, _, _ = select.select([self.master], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                raise AssertionError(f'{what}: never, but\n' + '\n'.join(self.grid.lines()))
            self.grid.write(os.read(self.master, 1 << 16).decode(errors='replace'))
        return self.grid.lines()

    def shows(self, words: str, seconds: float = 30) -> list[str]:
        return self.until(lambda grid: any(words in line for line in grid.lines()), f'"{words}"', seconds)

    def local_modes(self) -> int:
        """Of the terminal's driver: whether it echoes, edits lines, makes signals of keys."""
        return termios.tcgetattr(self.master)[3]
