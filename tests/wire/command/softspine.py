# SPDX-License-Identifier: Apache-2.0
"""The softspine command as a user has it: started, asked, interrupted; and tests of it that print TAP.

A test is a generator of problems, its docstring is its name:

    def says_its_version(it: Softspine) -> Problems:
        '''--version is a version'''
        yield from it('--version').exited(0)

Sockets stand in a folder of the test's own, so that fabrics of others are neither seen nor disturbed.
"""
from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / 'tests' / 'tidy'))
from tap import Tap  # noqa: E402

TESTBEDS = ROOT / 'testbeds'
MARK = 'SOFTSPINE_TEST_MARK'  # in the environment of all that a test starts
Problems = Iterator[str]
AF_XDP = 44


class Skip(Exception):
    """The machine lacks something; the message says what."""


def need_xdp() -> None:
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW).close()
    except OSError as refused:
        raise Skip(f'no AF_XDP socket: {refused}') from None


def samples(variable: str, what: str) -> Path:
    """The folder with files of others that the variable names, else ../shared/thirdparty beside the checkout; as tests/harness/samples.hpp."""
    folder = Path(os.environ.get(variable, ROOT.parent / 'shared' / 'thirdparty'))
    if not (folder / what).exists():
        raise Skip(f'neither {variable} nor ../shared/thirdparty has {what}')
    return folder / what


@dataclass(frozen=True)
class Done:
    command: str
    status: int
    out: str
    err: str
    seconds: float

    def exited(self, status: int) -> Problems:
        if self.status != status:
            yield f'{self.command}: exited with {self.status}, not {status}\n{self.out[-1500:]}\n{self.err[-1500:]}'

    def says(self, *parts: str) -> Problems:
        yield from (f'{self.command}: does not say "{part}" but\n{self.out[-1500:]}' for part in parts if part not in self.out)

    def complains(self, *parts: str) -> Problems:
        yield from (f'{self.command}: stderr does not say "{part}" but\n{self.err[-1500:]}' for part in parts if part not in self.err)

    def json(self):
        return json.loads(self.out)


class Run:
    """A fabric that runs beside the test."""

    def __init__(self, it: Softspine, arguments: list[str], before: tuple[str, ...] = ()) -> None:
        self.command = 'softspine ' + ' '.join(arguments)
        self._begin = time.monotonic()
        self._out, self._err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.process = subprocess.Popen([*before, it.binary, *arguments], env=it.env, cwd=it.folder, stdin=subprocess.DEVNULL,
                                        stdout=self._out, stderr=self._err)

    def await_words(self, words: str, seconds: float = 60) -> None:
        """Until it has written them to stderr, or has ended; reading leaves the place of its writing where it is."""
        until = time.monotonic() + seconds
        while self.process.poll() is None and words.encode() not in os.pread(self._err.fileno(), 1 << 16, 0):
            if time.monotonic() > until:
                raise AssertionError(f'{self.command}: it never says "{words}": {self.end(signal.SIGKILL)}')
            time.sleep(0.05)

    def end(self, how: int | None = None, timeout: float = 60) -> Done:
        """What came of it: by itself, or by a signal."""
        if how is not None and self.process.poll() is None:
            self.process.send_signal(how)
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        texts = []
        for file in (self._out, self._err):
            file.seek(0)
            texts.append(file.read().decode(errors='replace'))
        return Done(self.command, self.process.returncode, *texts, time.monotonic() - self._begin)


class Softspine:
    def __init__(self, binary: str, folder: Path) -> None:
        self.binary = os.path.abspath(binary)
        self.folder = folder
        self.mark = folder.name
        self.sockets = folder / 'run' / f'softspine-{os.getuid()}'
        (folder / 'run').mkdir(mode=0o700)
        self.env = {**os.environ, 'XDG_RUNTIME_DIR': str(folder / 'run'), MARK: self.mark}

    def __call__(self, *arguments: object, timeout: float = 120, how: int | None = None) -> Done:
        return Run(self, [str(a) for a in arguments]).end(how, timeout)

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def show(self, *words: str):
        done = self('show', *words, '--json')
        if done.status != 0:
            raise AssertionError(f'{done.command}: {done.err}')
        return done.json()

    @contextmanager
    def running(self, *arguments: object, before: tuple[str, ...] = ()) -> Iterator[Run]:
        """From its first answer on. `before`: a command that becomes the run (unshare --net)."""
        run = Run(self, ['run', *(str(a) for a in arguments)], before)
        try:
            until = time.monotonic() + 60
            while self('show', 'fabric').status != 0:
                if run.process.poll() is not None or time.monotonic() > until:
                    raise AssertionError(f'{run.command}: does not run: {run.end(signal.SIGKILL)}')
                time.sleep(0.1)
            yield run
        finally:
            if run.process.poll() is None:
                run.end(signal.SIGINT, timeout=20)

    def leftovers(self) -> Problems:
        """Sockets and processes that outlived their run."""
        if self.sockets.exists():
            yield from (f'{path} is left behind' for path in self.sockets.iterdir())
        wanted = f'{MARK}={self.mark}'.encode()
        for process in Path('/proc').glob('[0-9]*'):
            try:
                if wanted in (process / 'environ').read_bytes().split(b'\0'):
                    yield f'process {process.name} is left behind: {(process / "cmdline").read_bytes()!r}'
            except OSError:
                pass  # it has just ended


def main(tests: list[Callable[[Softspine], Problems]]) -> int:
    """The program: TAP of all tests, each in a folder of its own. Its argument is the command's path."""
    tap = Tap()
    for test in tests:
        name = (test.__doc__ or test.__name__).strip()
        if not tap.wants(name):
            continue
        # Not $TMPDIR: sockets' paths are short.
        with tempfile.TemporaryDirectory(prefix='softspine-test-', dir='/tmp') as folder:
            it = Softspine(sys.argv[1], Path(folder))
            try:
                tap.point(name, [*test(it), *it.leftovers()])
            except Skip as reason:
                tap.skip(name, str(reason))
            except Exception as problem:  # noqa: BLE001: any of them is a failure of this test alone
                tap.point(name, [f'{type(problem).__name__}: {problem}', *it.leftovers()])
        sys.stdout.flush()
    return tap.end()
