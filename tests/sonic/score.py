# SPDX-License-Identifier: Apache-2.0
"""What came of a test, from what PTF printed; and the page with all of them."""
from __future__ import annotations

import re

from cases import NOT_APPLICABLE, Case

# The tests that read watermarks print what they expect, in bytes.
BETWEEN = re.compile(r'lower bound[^:\n]*: (\d+), actual[^:\n]*: (\d+), upper bound[^:\n]*: (\d+)')
# What a probe has found.
FOUND = re.compile(r'probing result: (?:point|range) \[(\d+), (\d+)\]')
ASSERTION = re.compile(r'^[\w.]*(?:Error|Exception|SystemExit)\b.*$', re.MULTILINE)


# Those that fill a pool print how much was in it too early, and how many frames were dropped too early.
TO_START = re.compile(r'^Actual headroom pool watermark value to start: (\d+)$', re.MULTILINE)
POOL_TO_START = re.compile(r'^Init pkts num sent: .* actual watermark value to start: (\d+)$', re.MULTILINE)
DROPPED = re.compile(r'^There are some unexpected (\d+) packet drop$', re.MULTILINE)


def cells_beside(output: str, parameters: dict) -> int | None:
    """By how many cells the last figure that was read lies outside its bounds."""
    cell = parameters['cell_size']
    if found := BETWEEN.findall(output):
        low, actual, high = map(int, found[-1])
        return -(-max(low - actual, actual - high, 0) // cell)
    if found := DROPPED.findall(output):
        return int(found[-1])
    if found := POOL_TO_START.findall(output):
        return max(int(found[-1]) // cell - 2, 0)  # the margin of that test
    if found := TO_START.findall(output):
        in_pool = int(found[-1]) // (cell * parameters['hdrm_pool_wm_multiplier'])
        return max(in_pool - 1, 0)  # one is within the bounds
    return None


def _reason(output: str) -> str:
    first, _, _ = output.partition('During handling of the above exception')
    messages = [match.group(0) for match in ASSERTION.finditer(first)]
    places = re.findall(r'(\w+)\.py", line (\d+), in (?:runTest|probe)\b', first)
    said = messages[-1][:160] if messages else 'no reason was printed'
    return said + (f' ({places[-1][0]}, line {places[-1][1]})' if places else '')


def _found(case: Case, output: str) -> str:
    found = FOUND.findall(output)
    if not found:
        return ''
    low, high = (f'{int(each):,}' for each in found[-1])
    out = f'found {low}' if low == high else f'found {low} to {high}'
    if case.published is not None:
        out += f', published {case.published:,}'
    return out + (f'; it counts {case.overcounts} too many' if case.overcounts else '')


def outcome_of(case: Case, status: int, output: str, lost_frames: int) -> dict:
    if lost_frames:
        return {'verdict': 'error', 'why': f'the kernel lost {lost_frames} frames before the switch', 'cells': None}
    if status == 0 and re.search(r'^OK$', output, re.MULTILINE):
        return {'verdict': 'passed', 'why': _found(case, output), 'cells': None}
    return {'verdict': 'failed', 'why': _found(case, output) or _reason(output), 'cells': cells_beside(output, case.parameters)}


def of_all(runs: list[dict]) -> dict:
    """One row of several runs of a test: the first that did not pass, if any did not."""
    others = [row for row in runs if row['verdict'] != 'passed']
    return (others or runs)[0] | {'runs': len(runs), 'not_passed': len(others)}


HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by tests/sonic/run --score: run it again rather than edit this. -->
# SONiC's own QoS tests

[sonic-mgmt](https://github.com/sonic-net/sonic-mgmt)'s `sai_qos_tests.py` and its threshold probes, unchanged, run by PTF against one switch of ours, with
the cell counts that it publishes of real chips (`tests/qos/files/qos_params.*.yaml`, `topo-any`). The switch runs on the wall clock, its ports are TAPs,
and [tools/sai-rpc](running.md#sais-calls) answers the tests' Thrift calls.

    tools/install sonic
    tests/sonic/run --third-party FOLDER --score docs/sonic-tests.md    # FOLDER has sonic-mgmt, ptf and SAI

One published figure is not used: `pkts_num_leak_out`, how many frames a chip still sends after TX of its port was disabled. Ours sends none.
"Beside" is how far the last value that the test read lies outside the test's own margin, in cells, where the test says so.

A probe passes if it finds something near what is published; how near, its row says. Two of them do not count what is published. HeadroomPoolProbing takes
two cells less of each group's headroom than it adds to its sum, by its step of 2: its authors saw 37 too many over 21 groups of a chip. And what
PfcXonProbing is held against is the most that PFCXonTest needs, which is no measurement.

"""


def _row(row: dict) -> str:
    beside = '' if row['cells'] is None or row['verdict'] == 'passed' else f'{row["cells"]:,}'
    why = row['why'].replace('|', '/')
    some = f' in {row["not_passed"]} of {row["runs"]} runs' if 0 < row['not_passed'] < row['runs'] else ''
    return f'| `{row["test"].removeprefix("sai_qos_tests.")}` | {row["name"]} | {row["verdict"]}{some} | {beside} | {why} |'


def page(rows: list[dict]) -> str:
    times = max(row['runs'] for row in rows)
    lines = [f'Each test has run {times} times, and passed if it passed each time.', ''] if times > 1 else []
    for platform in dict.fromkeys(row['platform'] for row in rows):
        of_it = [row for row in rows if row['platform'] == platform]
        passed = sum(row['verdict'] == 'passed' for row in of_it)
        ran = sum(row['verdict'] != 'not run' for row in of_it)
        lines += [f'## {platform}: {passed} of {ran} passed', '', '| test | parameters | verdict | beside | it said |', '|---|---|---|---|---|',
                  *map(_row, of_it), '']
    lines += ['## What does not apply', '', '| classes | why |', '|---|---|', *(f'| {names} | {why} |' for names, why in NOT_APPLICABLE.items()), '']
    return HEAD + '\n'.join(lines)
