# SPDX-License-Identifier: Apache-2.0
"""What is wrong is said with its place, exits with 2, and starts nothing."""
from __future__ import annotations

import json
import re
import subprocess
import sys

from softspine import TESTBEDS, Done, Problems, Softspine, main

FABRIC = ('fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 1Gbps}, '
          'fabric_link: {rate: 1Gbps}}\n')
# What the file holds, and what is said of it.
BROKEN = {
    'broken YAML': ('name: it\nrun: {clock: wall\n  x: [\n', r'it\.yaml:\d+:\d+: not YAML'),
    'an unknown key': ('name: it\nrun: {sed: 7}\n' + FABRIC, r"it\.yaml:2:7: run\.sed: .*did you mean 'seed'"),
    'a missing unit': ('name: it\nrun: {duration: 20}\n' + FABRIC, r"it\.yaml:2:17: run\.duration: '20' has no unit"),
    'a link to nowhere': ('name: it\n' + FABRIC + 'topology:\n  links:\n    - {endpoints: [tor1, nowhere], rate: 1Gbps}\n',
                          r"it\.yaml:5:\d+: topology\.links\[0\]\.endpoints\[1\]: .*nowhere"),
    'a duplicate address': ('name: it\ntopology:\n  nodes:\n    t: {kind: switch}\n    a: {kind: host, address: 10.0.0.1/24}\n'
                            '    b: {kind: host, address: 10.0.0.1/24}\n  links:\n    - {endpoints: [a, t], rate: 1Gbps}\n'
                            '    - {endpoints: [b, t], rate: 1Gbps}\n', r'it\.yaml:6:\d+: topology\.nodes\.b\.\S+ .*10\.0\.0\.1'),
    'a value that no report has': ('name: it\n' + FABRIC + 'expect:\n  - {value: switches.tor9.rx_packets, equal: 0}\n',
                                   r"it\.yaml:4:\d+: expect\[0\]: .*switches has no 'tor9': did you mean 'tor1'"),
    'a number that lacks its unit': ('name: it\n' + FABRIC + 'expect:\n  - {value: hosts.h1.rate, at_least: 90}\n',
                                     r'it\.yaml:4:\d+: expect\[0\]: .*hosts\.h1\.rate_bps is a rate: 90 needs a unit'),
    'nothing': ('', r'it\.yaml: empty'),
}


def nothing_started(it: Softspine, before: set) -> Problems:
    made = set(it.folder.rglob('*')) - before
    yield from (f'{path} was made' for path in made)


def names_place_of_errors(it: Softspine) -> Problems:
    """a broken file is told by path and line, by run and by check, and nothing starts"""
    for what, (text, said) in BROKEN.items():
        file = it.write('it.yaml', text)
        before = set(it.folder.rglob('*'))
        for command in ('run', 'check'):
            done = it(command, file, *(['--report', 'r.json', '--capture', 'c.pcapng'] if command == 'run' else []))
            yield from done.exited(2)
            if done.out:
                yield f'{what}: {command} says on stdout: {done.out}'
            if not re.search(said, done.err):
                yield f'{what}: {command} does not say {said} but: {done.err}'
        yield from nothing_started(it, before)


def tells_all_errors_at_once(it: Softspine) -> Problems:
    """all errors are told, not the first alone"""
    done = it('check', it.write('it.yaml', 'name: it\nrun: {sed: 7, duration: 20}\n' + FABRIC + 'xyz: 1\n'))
    yield from done.exited(2)
    yield from done.complains('run.sed', 'run.duration', 'xyz', '3 errors')


def tells_a_hundred_of_many_errors(it: Softspine) -> Problems:
    """of 20,000 mistakes a hundred are printed, how many more there are, and the count of all"""
    done = it('check', it.write('it.yaml', 'name: it\n' + FABRIC + ''.join(f'x{n}: 1\n' for n in range(20_000))))
    yield from done.exited(2)
    lines = done.err.splitlines()
    yield from (f'{line}: not the {n}-th mistake' for n, line in enumerate(lines[:100]) if f'x{n}: ' not in line)
    if len(lines) != 102:
        yield f'{len(lines)} lines of errors, the last: {lines[-1]}'
    yield from done.complains('softspine: 19900 more like these', '20000 errors')


def ends_with_an_endless_file(it: Softspine) -> Problems:
    """a file without an end is refused, whoever reads it, in a short line"""
    capture = it.folder / 'empty.pcap'
    capture.write_bytes(bytes.fromhex('d4c3b2a1020004000000000000000000ffff000001000000'))
    for arguments in (['check', '/dev/zero'], ['run', '/dev/zero'], ['identify', '--csv', '/dev/zero'], ['identify', '--traceroute', '/dev/zero', '--hop', 1],
                      ['import', 'hpcc', '/dev/zero'], ['import-hash', '/dev/zero'], ['storm', capture, '--ports', '/dev/zero'],
                      ['storm', capture, '--events', '/dev/zero'], ['pause-counters', 'tor1=/dev/zero,/dev/zero']):
        done = it(*arguments)
        yield from done.exited(2)
        if '/dev/zero' not in done.err or len(done.err) > 300 or not re.search('larger than|too long', done.err):
            yield f'{arguments}: {done.err[:500]}'


def needs_a_file(it: Softspine) -> Problems:
    """no such file, a folder, no file at all: 2, and why"""
    before = set(it.folder.rglob('*'))
    for command in ('run', 'check'):
        for arguments, said in ((['none.yaml'], 'No such file'), ([it.folder], 'directory'), ([], 'FILE is required')):
            done = it(command, *arguments)
            yield from done.exited(2)
            yield from done.complains(said)
    yield from nothing_started(it, before)


def refuses_wrong_options(it: Softspine) -> Problems:
    """wrong options and commands: 2, and what is wrong with them"""
    file = TESTBEDS / 'two-tier.yaml'
    before = set(it.folder.rglob('*'))
    for arguments, said in (([], 'subcommand is required'), (['bogus'], 'bogus'), (['run', file, '--bogus'], '--bogus'),
                            (['run', file, '--clock', 'never'], '--clock'), (['run', file, '--duration', '20'], 'unit'),
                            (['run', file, '--workers', '0'], '--workers'), (['run', file, '--seed', 'x'], '--seed'),
                            (['run', file, '--dilation', '0'], '--dilation'), (['run', file, file], 'not expected'),
                            (['run', file, '--capture', 'c.pcapng', '--capture-limit', '5'], 'unit'),
                            (['run', file, '--capture', 'c.pcapng', '--snaplen', '0'], '--snaplen'),
                            (['run', file, '--capture-port', 'tor1:*'], '--capture'),
                            (['run', file, '--counters', 'drops'], 'goes with --counters-file'),
                            (['run', file, '--sample-interval', '1us'], 'goes with --counters-file, --flow-series or --qlen-file'),
                            (['link', 'tor1', 'sideways'], 'sideways'), (['link', 'tor1'], 'STATE'), (['show'], 'WORDS'),
                            (['show', 'fabric', '--every', '5'], 'unit'), (['inject', 'tor1:Ethernet0'], 'WHAT')):
        done = it(*arguments)
        yield from done.exited(2)
        yield from done.complains(said)
    yield from nothing_started(it, before)


def narrows_the_testbeds_counters(it: Softspine) -> Problems:
    """--counters and --sample-interval also go with the counters file that the testbed names"""
    file = it.write('counted.yaml', 'name: it\nrun: {duration: 50us, telemetry: {counters_file: c.jsonl}}\n' + FABRIC)
    yield from it('run', file, '--counters', 'tx_packets', '--sample-interval', '25us', '--quiet').exited(0)
    head = json.loads((it.folder / 'c.jsonl').read_text().splitlines()[0])
    if head['sample_interval_ps'] != 25_000_000 or {name for names in head['counters'].values() for name in names} != {'tx_packets'}:
        yield f'written: {head}'


def finds_obstacles_before_the_run(it: Softspine) -> Problems:
    """a report or capture that cannot be written, or that would be empty, is told before the run"""
    file = TESTBEDS / 'two-tier.yaml'
    before = set(it.folder.rglob('*'))
    for arguments, said in ((['--report', 'none/r.json'], 'none/r.json'), (['--report', it.folder], 'directory'),
                            (['--capture', 'none/c.pcapng'], 'none/c.pcapng'), (['--capture', it.folder], 'directory'),
                            (['--capture', 'c.pcapng', '--capture-port', 'tor9:*'], 'tor9:*')):
        done = it('run', file, *arguments)
        yield from done.exited(2)
        yield from done.complains(said)
        if done.out:
            yield f'{done.command}: ran: {done.out[:200]}'
    yield from nothing_started(it, before | {it.sockets})


def helps_with_examples(it: Softspine) -> Problems:
    """--help of every command has examples; --version is a version"""
    for command in ('run', 'check', 'show', 'link', 'inject', 'profile', 'clear', 'capture', 'storm', 'bench'):
        done = it(command, '--help')
        yield from done.exited(0)
        yield from done.says('Example', f'softspine {command} ')
        yield from (f'no word on {command} in --help' for _ in [0] if command not in it('--help').out)
    version = it('--version')
    yield from version.exited(0)
    if not re.fullmatch(r'softspine \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}(-dirty)?|unknown), DPDK \d+\.\d+\.\d+\)\n', version.out):
        yield f'--version says {version.out!r}'


def checks_what_is_shipped(it: Softspine) -> Problems:
    """check describes every testbed shipped, as text, with nodes, and as JSON"""
    for file in sorted(TESTBEDS.glob('*.yaml')):
        yield from it('check', file).exited(0)
    file = TESTBEDS / 'two-tier.yaml'
    yield from it('check', file).says('two-tier: virtual clock', '16 host', '4 tor')
    yield from it('check', file, '--nodes').says('tor1 tor 10.255.0.1', 'Ethernet16', 'spine1:Ethernet0')
    facts = it('check', file, '--json', '--nodes', '--seed', 5).json()
    if (facts['nodes'], facts['seed']) != ({'aggregation': 4, 'host': 16, 'tor': 4}, 5) or len(facts['fabric']) != 24:
        yield f'check --json: {facts["nodes"]}, seed {facts["seed"]}, {len(facts["fabric"])} nodes'


def shows_the_nodes_of_a_wrong_file(it: Softspine) -> Problems:
    """check --nodes of a file with an error, though it comes by a pipe, prints the error and the nodes"""
    text = (TESTBEDS / 'two-tier.yaml').read_text() + '\nno_such_key: 1\n'
    for options in ([], ['--json']):
        command = [it.binary, 'check', '/dev/stdin', '--nodes', *options]
        found = subprocess.run(command, input=text, capture_output=True, text=True, env=it.env, timeout=60)
        done = Done(' '.join(command), found.returncode, found.stdout, found.stderr, 0)
        yield from done.exited(2)
        yield from done.complains('no_such_key', '1 error')
        yield from done.says('tor1', '10.255.0.1', 'spine1:Ethernet0')


def has_a_schema(it: Softspine) -> Problems:
    """check --schema is a JSON Schema that the testbeds shipped obey and broken ones do not"""
    schema = it('check', '--schema').json()
    if 'json-schema.org' not in schema.get('$schema', ''):
        yield f'no $schema: {list(schema)}'
    try:
        import jsonschema
        import yaml
    except ImportError:
        return
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for file in sorted(TESTBEDS.glob('*.yaml')):
        yield from (f'{file.name}: {error.message}' for error in validator(schema).iter_errors(yaml.safe_load(file.read_text())))
    for what in ('an unknown key', 'a missing unit'):
        if validator(schema).is_valid(yaml.safe_load(BROKEN[what][0])):
            yield f'the schema allows {what}'


def asks_for_a_fabric(it: Softspine) -> Problems:
    """without a running fabric, show, link and inject say so"""
    frames = TESTBEDS / 'replay' / 'in.pcap'
    for arguments in (['show', 'links'], ['link', 'tor1:Ethernet0', 'down'], ['inject', 'h1', 'storm'], ['capture', 'list'], ['inject', 'tor1:Ethernet0', frames],
                      ['show', 'links', '--fabric', 'other']):
        done = it(*arguments)
        yield from done.exited(2)
        yield from done.complains('no fabric is running here')
    done = it('show', 'bogus')
    yield from done.exited(2)
    yield from done.complains('bogus', 'interfaces counters', 'ip route', 'prometheus')
    for path, said in (('none.pcap', 'No such file'), (it.write('text.pcap', 'no frames'), 'text.pcap')):
        done = it('inject', 'tor1:Ethernet0', path)
        yield from done.exited(2)
        yield from done.complains(said)


if __name__ == '__main__':
    sys.exit(main([names_place_of_errors, tells_all_errors_at_once, tells_a_hundred_of_many_errors, ends_with_an_endless_file, needs_a_file, refuses_wrong_options,
                   narrows_the_testbeds_counters, finds_obstacles_before_the_run, helps_with_examples, checks_what_is_shipped, shows_the_nodes_of_a_wrong_file,
                   has_a_schema, asks_for_a_fabric]))
