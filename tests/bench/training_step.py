#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one step of a training of GPT-13B on 128 GPUs costs, packet by packet: CPU time and peak memory.

    python3 -B tests/bench/training_step.py build/tools/softspine/softspine [--whole]

Without --whole it is two of 80 layers and a fortieth of the gradients, so that the bench runs in the suite. The limits of the
whole step are the project's: 20 minutes of one core, 1 GiB. It also fails if a byte is missing: in a reduce-scatter over sixteen
ranks each sends fifteen sixteenths of the bytes.
"""
from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TESTBED = Path(__file__).with_suffix('') / 'gpt-13b.yaml'
GRADIENTS = 6_497_239_040
SMALLER = 40
WHOLE_SECONDS, SMALL_SECONDS, PEAK_GIB = 1200, 60, 1


def text_of(whole: bool) -> str:
    text = TESTBED.read_text()
    if whole:
        return text
    for bytes_in in (GRADIENTS, GRADIENTS // 2):
        text = text.replace(f'{bytes_in}B', f'{bytes_in // SMALLER}B')
    return text.replace('times: 40', 'times: 1')


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('program')
    parser.add_argument('--whole', action='store_true', help='minutes')
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        testbed, report = Path(folder) / 'gpt-13b.yaml', Path(folder) / 'report.json'
        testbed.write_text(text_of(chosen.whole))
        process = subprocess.Popen([chosen.program, 'run', testbed, '--quiet', '--no-server', '--report', report], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f'FAILED: exit status {process.returncode}')
        found = json.loads(report.read_text())
    seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20
    most = WHOLE_SECONDS if chosen.whole else SMALL_SECONDS
    hops = sum(node['rx_packets'] for node in found['switches'].values())
    training = found['training']['gpt']
    print(f'{hops / 1e6:.1f} M packet-hops, {training["step_ps"] / 1e9:.1f} ms of emulated time; {seconds:.0f} s of CPU time, '
          f'at most {most}; {peak:.2f} GiB, at most {PEAK_GIB}')
    sent = training['mean']['groups']['data']['sent_bytes']
    gradients = GRADIENTS // (1 if chosen.whole else SMALLER)
    failures = [text for text, has_failed in (
        ('too much', seconds > most or peak > PEAK_GIB),
        (f'{training["steps_done"]} steps', training['steps_done'] != 1),
        (f'{found["totals"]["dropped_packets"]} packets dropped', found['totals']['dropped_packets'] != 0),
        (f'a rank sent {sent} bytes to others of its data-parallel group', sent != gradients * 15 // 16)) if has_failed]
    for failure in failures:
        print(f'FAILED: {failure}')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
