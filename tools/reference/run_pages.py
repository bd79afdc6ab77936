# SPDX-License-Identifier: Apache-2.0
"""What a run counts: the report's fields, Prometheus' metrics, SAI's names. Read from runs of testbeds that have a bit of all."""
from __future__ import annotations

import json
import re
import signal
import sys
import time
from pathlib import Path

TESTBEDS = Path(__file__).resolve().parents[2] / 'testbeds'
# PFC and credit, a watchdog, queue pairs with DCQCN, faults, files as hosts and their NICs, parallel links: all that counts something of its own.
ALL_SORTS = f'''name: all-sorts
run: {{clock: virtual, duration: 2ms, seed: 1}}
fabric:
  kind: leaf-spine
  tors: 2
  spines: 2
  hosts_per_tor: 3
  host_link: {{rate: 100Gbps, length: 3m}}
  fabric_link: {{rate: 100Gbps, length: 40m}}
topology:
  nodes:
    h3: {{edge: {{pcap: {{in: "{TESTBEDS}/replay/in.pcap"}}}}, nic: {{pfc_enable: [3]}}}}
    h6: {{edge: {{pcap: {{out: out.pcap}}}}, nic: {{pfc_enable: [3]}}}}
    h7: {{kind: host}}
    h8: {{kind: host}}
  links:
    - {{endpoints: ["h7", "tor1"], rate: 100Gbps, length: 3m, flow_control: credit}}
    - {{endpoints: ["h8", "tor1"], rate: 100Gbps, length: 3m, flow_control: credit}}
roles: {{tor: lossless, aggregation: lossless}}
workload:
  - {{name: incast, pattern: incast, from: [h2, h4, h5], to: h1, message: 64KiB, transport: rc, congestion_control: dcqcn_connectx}}
  - {{name: pair, pattern: pairs, from: [h7], to: [h8], message: 64KiB}}
faults:
  - {{at: 300us, node: h1, set: storm, priorities: [3], until: 500us}}
  - {{at: 300us, link: "tor1:Ethernet0", set: lossy, drop: 1%, until: 500us}}
'''
ALL_HAPPENED_PS = 10**9
UNITS = {'_ps': 'ps', '_ns': 'ns', '_us': 'us', '_ms': 'ms', '_s': 's', '_seconds': 's', '_bps': 'bit/s', '_bytes': 'bytes', '_percent': '%', '_packets': 'packets', '_frames': 'frames'}
EMPTY = 'not always there'
KINDS = {'a queue': re.compile('SAI_QUEUE_'), 'a priority group': re.compile('SAI_INGRESS_PRIORITY_GROUP_'), 'a buffer pool': re.compile('SAI_BUFFER_POOL_'), 'a port': re.compile('')}
NAMED = {'flows', 'switches', 'ports', 'links', 'hosts', 'edges', 'nics', 'commands'}  # of the report: maps by what the testbed calls it


def write_testbed(program) -> str:
    path = program.folder / 'all-sorts.yaml'
    path.write_text(ALL_SORTS)
    return str(path)


def paths_of(value: object, way: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], object]]:
    """Every path of a report with a value of it; `*` for names that a testbed gives, priorities, and places in a list."""
    if isinstance(value, dict) and value:
        named = len(way) == 1 and way[0] in NAMED
        return [it for key, inner in value.items() for it in paths_of(inner, (*way, '*' if named or key.isdigit() else key))]
    if isinstance(value, list) and value:
        return [it for inner in value for it in paths_of(inner, (*way, '*'))]
    return [(way, value)]


def kind_of(key: str, value: object) -> str:
    unit = next((word for ending, word in UNITS.items() if key.endswith(ending)), '')
    if isinstance(value, bool):
        return 'true or false'
    if isinstance(value, list):
        return 'a list'
    if isinstance(value, dict):
        return 'a map'
    if isinstance(value, str):
        return 'text'
    if isinstance(value, float):
        return unit or 'a number'
    return unit or ('a count' if isinstance(value, int) else EMPTY)


def declared(program, name: str) -> dict[str, dict[str, str]]:
    """What the program's tables say of each counter that has this name: report, sai or metric."""
    return {row[name]: row for row in json.loads(program('check', '--counters')) if name in row}


def report(program) -> str:
    found: dict[tuple[str, ...], str] = {}
    known, fields = declared(program, 'report'), declared(program, 'field')
    for file in (write_testbed(program), *(str(TESTBEDS / f'{name}.yaml') for name in ('pfc-storm-watchdog', 'deadlock', 'two-tier'))):
        for way, value in paths_of(json.loads(program('run', file, '--json', '--quiet'))):
            if way not in found or found[way] == EMPTY:
                found[way] = kind_of(way[-1], value)
    inner = {way[:n] for way in found for n in range(1, len(way))}
    rows = {}
    for way, kind in found.items():
        form = next((form for form in fields if is_of(way, form.split('.'))), '')
        if '.'.join(way) in known:
            rows['.'.join(way)] = kind, known['.'.join(way)]['help']
        elif form:
            rows[form] = fields[form]['unit'], fields[form]['help']
        elif way not in inner and not any(form.startswith('.'.join(way) + '.') for form in fields):  # not a list that is empty here
            sys.exit(f'{".".join(way)} is in a report, and nothing says what it means')
    rows |= {form: (row['unit'], row['help']) for form, row in fields.items() if form not in rows}
    text = ('# The report: every field\n\n`softspine run --report FILE` writes it, and `value` of an [expectation](testbed.md#expectation) is a path into it. `*` stands for names '
            'that the testbed gives, for priorities, and for places in a list. A path may leave out the unit at its end: `flows.perm.fct_max` is `flows.perm.fct_max_ps`.\n')
    top_of = {path: path.split('.')[0] if '.' in path else 'the run' for path in rows}
    for top in dict.fromkeys(top_of.values()):
        text += f'\n## {top}\n\n| field | is | means |\n|---|---|---|\n'
        text += ''.join(f'| `{path}` | {kind} | {sentence} |\n' for path, (kind, sentence) in rows.items() if top_of[path] == top)
    return text


def is_of(way: tuple[str, ...], form: list[str]) -> bool:
    return len(way) == len(form) and all(word in ('*', step) for word, step in zip(form, way))


def scraped(program, *views: str) -> list[str]:
    """What views of a running fabric print, after all has happened that makes a metric or a label appear."""
    run = program.start('run', write_testbed(program), '--clock', 'wall', '--dilation', '1000', '--duration', '10s', '--quiet', '--events', str(program.folder / 'events.jsonl'))
    try:
        until = time.monotonic() + 60
        while not list((program.folder / 'run').rglob('*.sock')) and run.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        while json.loads(program('show', 'fabric', '--json'))['now_ps'] < ALL_HAPPENED_PS:
            time.sleep(0.05)
        return [program('show', view) for view in views]
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)


def of_collectives(program) -> str:
    """The families of NCCL's names, from a fabric whose collective has ended."""
    path = program.folder / 'collective.yaml'
    path.write_text('name: collective\nrun: {clock: wall, duration: 600s}\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, '
                    'host_link: {rate: 1Gbps, length: 3m}, fabric_link: {rate: 1Gbps, length: 40m}}\n'
                    'collectives: [{name: c, op: all_reduce, size: 64KiB}]\n')
    run = program.start('run', str(path), '--quiet')
    try:
        until = time.monotonic() + 60
        text = ''
        while 'nccl_' not in text and run.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
            if list((program.folder / 'run').rglob('*.sock')):
                text = program('show', 'prometheus')
        return text[text.index('# HELP nccl_'):]
    finally:
        run.send_signal(signal.SIGINT)
        run.communicate(timeout=60)


def metrics(program) -> str:
    (text,) = scraped(program, 'prometheus')
    text += of_collectives(program)
    types = dict(re.findall(r'^# TYPE (\S+) (\S+)', text, re.MULTILINE))
    rows = []
    for name, help_text in re.findall(r'^# HELP (\S+) (.*)$', text, re.MULTILINE):
        samples = re.findall(rf'^{name}(?:_sum|_count)?\{{([^}}]*)\}}', text, re.MULTILINE)
        labels = ', '.join(f'`{label}`' for label in dict.fromkeys(label for sample in samples for label in re.findall(r'(\w+)="', sample)))
        rows.append(f'| `{name}` | {types.get(name, "")} | {labels} | {help_text} |\n')
    return ('# Metrics\n\n`softspine show prometheus` prints them, in the text format of Prometheus.\n\n| metric | type | labels | is |\n|---|---|---|---|\n' + ''.join(rows))


def sai(program) -> str:
    (text,) = scraped(program, 'counters')
    found: dict[str, dict[str, None]] = {}
    for objects in json.loads(text).values():
        for name, counters in objects.items():
            for counter in counters if isinstance(counters, dict) else [name]:
                kind = next(word for word, form in KINDS.items() if form.match(counter))
                found.setdefault(kind, {})[re.sub(r'(PFC|CREDIT)_\d_', r'\1_n_', counter)] = None
    out = "# Counters under SAI's names\n\n`softspine show counters` prints them as JSON, by switch and object. `n` stands for each of the priorities 0 to 7. What begins with CREDIT has no name in SAI.\n"
    known = {name.replace('#', 'n'): row['help'] for name, row in declared(program, "sai").items()}
    for kind, names in found.items():
        out += f'\n## Of {kind}\n\n| counter | is |\n|---|---|\n' + ''.join(f'| `{name}` | {known[name]} |\n' for name in names)
    return out
