#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What HPN's pod at its published size (15,360 GPUs) costs: CPU time and peak memory of check, explain, polarization, and of a run with 1,000 flows.

    python3 -B tests/bench/pod.py build/tools/softspine/softspine

The limits are the project's: `check` in 20 s, a run starts in 10 s, 3 GiB. A start is a run of a nanosecond of emulated time: all
is built, nothing moves, and the report is written. CPU time is measured, so that neighbours on the machine weigh less.
"""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

TESTBED = Path(__file__).with_suffix('') / 'hpn-pod.yaml'
PEAK_GIB = 3
REPORT_MB = 12  # 2,000 hosts and their links, not 15,360


@dataclass(frozen=True)
class Case:
    name: str
    arguments: list[str] = field(default_factory=list)
    seconds: float = 20


def cases(report: Path) -> list[Case]:
    alone = ['--quiet', '--no-server', '--report', str(report)]
    return [Case('check', ['check', str(TESTBED)]),
            Case('explain', ['explain', str(TESTBED), '--from', 's1-h1-nic1', '--to', 's9-h1-nic1']),
            Case('polarization', ['polarization', str(TESTBED)]),
            Case('start', ['run', str(TESTBED), '--duration', '1ns', *alone], seconds=10),
            Case('run', ['run', str(TESTBED), *alone])]


def measured(program: str, case: Case) -> tuple[int, float, float]:
    """Exit status, seconds of CPU time, GiB at most."""
    process = subprocess.Popen([program, *case.arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def main(program: str) -> int:
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / 'report.json'
        for case in cases(report):
            status, seconds, peak = measured(program, case)
            print(f'{case.name:13} {seconds:5.1f} s of CPU time, at most {case.seconds:.0f}; {peak:.2f} GiB, at most {PEAK_GIB}', flush=True)
            if status != 0:
                failures.append(f'{case.name}: exit status {status}')
            if seconds > case.seconds or peak > PEAK_GIB:
                failures.append(f'{case.name}: too much')
        megabytes = report.stat().st_size / 1e6
        found = json.loads(report.read_text())
    print(f'report        {megabytes:5.1f} MB, at most {REPORT_MB}; {found["idle"]["hosts"]} idle hosts have no row')
    if megabytes > REPORT_MB:
        failures.append('the report is too large')
    if found['flows']['w']['completed'] != 1000:
        failures.append(f'{found["flows"]["w"]["completed"]} of 1000 flows completed')
    for failure in failures:
        print(f'FAILED: {failure}')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
