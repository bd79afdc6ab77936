# SPDX-License-Identifier: Apache-2.0
"""Child processes that never outlive the runner: each leads a group, and the group is ended with it."""
from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

OUTPUT_LIMIT = 20_000_000  # a program that prints without end must not take the machine with it

@dataclass(frozen=True)
class Finished:
    status: int  # negative: the signal that ended it
    output: str
    timed_out: bool = False


class Processes:
    grace_seconds = 5.0  # between TERM and KILL: lets a testbed take down its guests

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: set[subprocess.Popen] = set()
        self._ended = False

    def run(self, command: list[str], env: dict[str, str], timeout: float, cwd: str | None = None) -> Finished:
        with tempfile.TemporaryFile() as sink:
            child = self._start(command, env, cwd, sink)
            timed_out = False
            try:
                child.wait(timeout)
            except subprocess.TimeoutExpired:
                timed_out = True
            finally:
                self._end(child)
            sink.seek(0)
            text = sink.read(OUTPUT_LIMIT).decode(errors='replace')
        return Finished(child.returncode, text, timed_out)

    def end_all(self) -> None:
        """From a signal's handler: no child survives, and no further one starts."""
        self._ended = True
        children = list(self._children)
        for child in children:
            _kill(child.pid, signal.SIGTERM)
        until = time.monotonic() + self.grace_seconds
        for child in children:
            try:
                child.wait(max(until - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                pass
            _kill(child.pid, signal.SIGKILL)

    def _start(self, command, env, cwd, sink) -> subprocess.Popen:
        with self._lock:
            if self._ended:
                raise KeyboardInterrupt
            child = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink,
                                     stderr=subprocess.STDOUT, start_new_session=True)
            self._children.add(child)
            return child

    def _end(self, child: subprocess.Popen) -> None:
        if child.poll() is None:
            _kill(child.pid, signal.SIGTERM)
            try:
                child.wait(self.grace_seconds)
            except subprocess.TimeoutExpired:
                pass
        _kill(child.pid, signal.SIGKILL)  # whatever it left behind in its group
        child.wait()
        with self._lock:
            self._children.discard(child)


def _kill(group: int, which: int) -> None:
    try:
        os.killpg(group, which)
    except ProcessLookupError:
        pass
