# SPDX-License-Identifier: Apache-2.0
"""One run, from its options to its files; and runs that are interrupted, killed, or meet another."""
from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from softspine import TESTBEDS, Problems, Skip, Softspine, main

TWO_TIER = TESTBEDS / 'two-tier.yaml'
SMALL = '''name: small
run: {clock: virtual, duration: 4ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 10Gbps}, fabric_link: {rate: 10Gbps}}
workload: [{name: w, pattern: permutation, message: 64KiB, messages: 4, qps: 2, mtu: 1024, rate: 2Gbps}]
'''
LONG = SMALL.replace('virtual', 'wall').replace('4ms', '600s').replace('64KiB', '1GiB')

TWO_EDGES = '''name: edges
run: {clock: virtual, duration: 1ms}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    a: {kind: host, address: 10.0.1.11, edge: {pcap: {in: in.pcap}}}
    b: {kind: host, address: 10.0.1.12, edge: {pcap: {out: out.pcap}}}
  links:
    - {endpoints: [tor1, a], rate: 1Gbps}
    - {endpoints: [tor1, b], rate: 1Gbps}
'''


def tshark(*arguments: object) -> str:
    if shutil.which('tshark') is None:
        raise Skip('tshark is not installed')
    done = subprocess.run(['tshark', *(str(a) for a in arguments)], capture_output=True, text=True, timeout=400, check=False)
    if done.returncode != 0:
        raise AssertionError(f'tshark: {done.stderr}')
    return done.stdout


def complaints(capture: Path) -> Problems:
    """What tshark finds malformed or wrong in any frame."""
    bad = tshark('-r', capture, '-Y', '_ws.malformed || _ws.expert.severity >= error || ip.checksum.status == bad',
                 '-o', 'ip.check_checksum:TRUE')
    yield from (f'tshark complains: {line}' for line in bad.splitlines()[:5])


def exits_as_expected(it: Softspine) -> Problems:
    """run exits with 0 when all is as expected, and with 1 when not: then it says what was expected and found"""
    done = it('run', TWO_TIER)
    yield from done.exited(0)
    yield from done.says('Expectations: 5 of 5 held')
    if done.err:
        yield f'a short run says on stderr: {done.err}'
    file = it.write('it.yaml', SMALL + 'expect:\n  - {value: flows.w.completed, equal: 9}\n  - {value: totals.balanced, equal: true}\n')
    done = it('run', file)
    yield from done.exited(1)
    yield from done.says('1 of 2 held', 'FAILED flows.w.completed: equal 9, is 8')
    dead = SMALL + 'faults: [{at: 1us, link: "h1:eth0", set: down}]\n'
    done = it('run', it.write('it.yaml', dead))
    yield from done.exited(1)
    yield from done.says('flows stalled: they have not ended and have no way to go on', 'h1:eth0 has no link')
    stalled = it('run', it.write('it.yaml', dead), '--json').json()['totals']['stalled_flows']
    done = it('run', it.write('it.yaml', dead + f'expect: [{{value: totals.stalled_flows, equal: {stalled}}}]\n'))
    yield from done.exited(0)


def says_what_happened(it: Softspine) -> Problems:
    """the summary tells of faults, pauses, retransmissions and losses with their place, and of nothing that was not"""
    storm = it('run', TESTBEDS / 'pfc-storm.yaml')
    yield from storm.exited(0)
    yield from storm.says('What happened', 'at 1 ms: h1 storms: pauses of priority 3 without end', 'PFC: ', 'pause frames sent, most at ',
                          'priorities stood still for', 'packets were still under way at the end', 'Dropped: 0 packets')
    lossy = it('run', it.write('it.yaml', SMALL.replace('4ms', '40ms').replace('rate: 2Gbps', 'rate: 2Gbps, transport: rc') +
                               'faults: [{at: 0s, link: "h1:eth0", set: lossy, drop: 5%}]\n'))
    yield from lossy.exited(0)
    yield from lossy.says('cable of h1:eth0', 'loses 5%', 'w: ', ' retransmitted (', 'Lost on links that were up', 'Lost at', ': vanished')
    quiet = it('run', it.write('it.yaml', SMALL))
    if 'What happened' in quiet.out or 'Lost' in quiet.out or 'under way' in quiet.out:
        yield f'a run in which nothing happened says:\n{quiet.out}'


TWO_PORTS = '''name: ports
run: {clock: virtual, duration: 1ms, clock_ppm: 0, start_jitter: 0%}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    tor2: {kind: switch, role: tor}
    h1: {kind: host, bond: {mode: MODE}}
    h2: {kind: host, bond: {mode: MODE}}
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps}
    - {endpoints: [tor2, h1], rate: 10Gbps}
    - {endpoints: [tor1, h2], rate: 10Gbps}
    - {endpoints: [tor2, h2], rate: 10Gbps}
workload: [{name: w, pattern: pairs, from: h1, to: h2, message: 64KiB, messages: 1, qps: 4, mtu: 1024}]
'''


def says_what_went_by_each_nic_port(it: Softspine) -> Problems:
    """four messages of 64 frames of 1,082 bytes and a RETH: two leave by each port where queue pairs take turns, all by eth0 of an active backup"""
    for mode, of_eth0 in (('balance-xor', 2), ('active-backup', 4)):
        done = it('run', it.write('it.yaml', TWO_PORTS.replace('MODE', mode)), '--report', 'r.json')
        yield from done.exited(0)
        ports = json.loads((it.folder / 'r.json').read_text())['hosts']['h1']['ports']
        rows = {words[1]: words for words in (line.split() for line in done.out.split('Bytes by NIC port')[-1].splitlines()) if words[:1] == ['h1']}
        for port, messages in (('eth0', of_eth0), ('eth1', 4 - of_eth0)):
            if ports[port]['sent_bytes'] != messages * (64 * 1082 + 16) or f'{25 * messages}.0' not in rows.get(port, []):
                yield f'{mode}, {port}: {ports[port]}, {rows.get(port)}'
    if 'Bytes by NIC port' in it('run', it.write('it.yaml', SMALL)).out:
        yield 'NICs of one port have a table'


def reports_in_json(it: Softspine) -> Problems:
    """--json is the report, byte for byte, and holds what the table says"""
    done = it('run', TWO_TIER, '--json', '--report', 'r.json')
    yield from done.exited(0)
    if done.out != (it.folder / 'r.json').read_text():
        yield 'stdout is not the report'
    report = done.json()
    version = it('--version').out.split()[1]
    if next(iter(report)) != 'softspine' or report['softspine'] != {'version': version, 'format': 1} or report['interrupted'] is not False:
        yield f'program {version}, the report begins with {report["softspine"]}'
    found = {key: report['flows']['perm'][key] for key in ('completed', 'missing_packets')}
    if found != {'completed': 64, 'missing_packets': 0} or not all(e['held'] for e in report['expectations']):
        yield f'the report has {found}, {report["expectations"]}'
    failed = it('run', it.write('it.yaml', SMALL + 'expect: [{value: flows.w.completed, equal: 9}]\n'), '--json')
    yield from failed.exited(1)
    if [e['held'] for e in failed.json()['expectations']] != [False]:
        yield f'a failed expectation is reported as {failed.json()["expectations"]}'


def draws_bus_bandwidth(it: Softspine) -> Problems:
    """--busbw has a mark for each size of each collective, with the report's bandwidth and time"""
    done = it('run', TESTBEDS / 'ring-allreduce.yaml', '--no-server', '--quiet', '--busbw', 'busbw.svg', '--report', 'r.json')
    yield from done.exited(0)
    yield from done.says('busbw.svg  bus bandwidth over size')
    picture = (it.folder / 'busbw.svg').read_text()
    for size, found in json.loads((it.folder / 'r.json').read_text())['collectives']['grads']['sizes'].items():
        words = f'{int(size) >> 20} MiB: {found["busbw_bps"] / 1e9:.4g} Gb/s, {found["time_ps"] / 1e6:.4g} us, ring, simple'
        if picture.count(words) != 1:
            yield f'the picture does not have "{words}" once'


def ends_where_memory_ends(it: Softspine) -> Problems:
    """a run that has too little memory for packets says what was needed and what there is, shows no rates, and exits with 1"""
    far = SMALL.replace('duration: 4ms', 'duration: 4ms, memory: 4MiB').replace('hosts_per_tor: 2', 'hosts_per_tor: 1')
    far = far.replace('10Gbps}}', '10Gbps, length: 1000km}}').replace(', rate: 2Gbps', '').replace('messages: 4', 'messages: 100')
    file = it.write('it.yaml', far)
    needed = it('check', file, '--json').json()['packet_memory']
    if needed['limit_bytes'] != 4 << 20 or needed['bytes_at_most'] <= needed['limit_bytes']:
        yield f'check says {needed}'
    done = it('run', file, '--report', 'r.json')
    yield from done.exited(1)
    yield from done.complains('out of memory for packets', 'there are 4194304 B (run: memory)', f'up to {needed["bytes_at_most"]} B')
    if done.out:
        yield f'says on stdout: {done.out}'
    report = json.loads((it.folder / 'r.json').read_text())
    if 'out of memory' not in report['incomplete'] or not report['errors']:
        yield 'the report is not marked'
    enough = it('run', it.write('it.yaml', far.replace(', memory: 4MiB', '')))
    yield from enough.exited(0)


def changes_with_the_seed(it: Softspine) -> Problems:
    """--seed changes what is drawn, and nothing else does"""
    file = it.write('it.yaml', SMALL)
    reports = []
    for seed in (1, 1, 2, 3, 4, 5):
        report = it('run', file, '--json', '--seed', seed).json()
        reports.append(json.dumps({key: report[key] for key in report if key not in ('engine', 'seed')}))
    if reports[0] != reports[1]:
        yield 'one seed, two results'
    if len(set(reports)) < 3:  # nine permutations of four hosts, times the hash of their source ports
        yield f'{len(set(reports))} results of 5 seeds'


def captures_for_tshark(it: Softspine) -> Problems:
    """--capture is read by tshark without a complaint, and has every frame that was sent"""
    report = it('run', it.write('it.yaml', SMALL), '--json', '--capture', 'c.pcapng', '--snaplen', 2000).json()
    capture = it.folder / 'c.pcapng'
    yield from complaints(capture)
    rows = tshark('-r', capture, '-T', 'fields', '-e', 'frame.interface_name', '-e', 'infiniband.bth.opcode')
    found = Counter(row.split('\t')[0] for row in rows.splitlines() if row.split('\t')[1])
    sent = {port: link['tx_packets'] for port, link in report['links'].items() if link['tx_packets'] > 0}
    if dict(found) != sent:
        yield f'captured {dict(found)}, sent {sent}'


def captures_a_port_both_ways(it: Softspine) -> Problems:
    """--capture-port takes both directions of the ports named, and of these alone"""
    it('run', it.write('it.yaml', SMALL), '--capture', 'c.pcapng', '--capture-port', 'tor1:*', '--snaplen', 64)
    capture = it.folder / 'c.pcapng'
    yield from complaints_of_cut_frames(capture)
    rows = tshark('-r', capture, '-T', 'fields', '-e', 'frame.interface_name', '-e', 'frame.packet_flags_direction')
    ways = {tuple(row.split('\t')) for row in rows.splitlines()}
    if {name.split(':')[0] for name, _ in ways} != {'tor1'}:
        yield f'captured at {sorted(ways)}'
    for port in {name for name, _ in ways}:
        if len({way for name, way in ways if name == port}) != 2:
            yield f'{port}: only one direction'
    longest = max(int(n) for n in tshark('-r', capture, '-T', 'fields', '-e', 'frame.cap_len').split())
    if longest != 64:
        yield f'--snaplen 64 left {longest} bytes'


def complaints_of_cut_frames(capture: Path) -> Problems:
    """Cut frames are malformed by design where a header is cut; Ethernet, IPv4 and UDP are whole."""
    bad = tshark('-r', capture, '-Y', '(_ws.malformed && !infiniband) || ip.checksum.status == bad', '-o', 'ip.check_checksum:TRUE')
    yield from (f'tshark complains: {line}' for line in bad.splitlines()[:5])


def keeps_the_capture_limit(it: Softspine) -> Problems:
    """--capture-limit is kept, what is beyond it is counted, and the file is whole"""
    done = it('run', TWO_TIER, '--capture', 'c.pcapng', '--capture-limit', '1MB')
    yield from done.exited(0)
    yield from done.says('beyond its limit')
    size = (it.folder / 'c.pcapng').stat().st_size
    if not 900_000 < size <= 1_000_000:
        yield f'{size} bytes of 1 MB'
    yield from complaints(it.folder / 'c.pcapng')


def refuses_two_uses_of_one_file(it: Softspine) -> Problems:
    """outputs that would overwrite each other, the testbed or an edge's input are refused with status 2, and nothing is touched"""
    file = it.write('it.yaml', SMALL)
    (it.folder / 'link').symlink_to('it.yaml')
    other = it.folder / 'sub' / '..' / 'same'
    (it.folder / 'sub').mkdir()
    for arguments, words in ((['--capture', 'same', '--events', other], 'cannot write the capture same: events would be written there, too'),
                             (['--report', 'same', '--flows', 'same'], 'cannot write the flows same: the report would be written there, too'),
                             (['--counters-file', 'same', '--timeline', 'same.svg', '--report', 'same.svg'], 'the timeline same.svg: the report'),
                             (['--report', 'it.yaml'], 'cannot write the report it.yaml: it is the testbed'),
                             (['--capture', 'link'], 'cannot write the capture link: it is the testbed')):
        done = it('run', file, *arguments)
        yield from done.exited(2)
        yield from done.complains(words)
    (it.folder / 'dangling').symlink_to(Path('sub') / '..' / 'target')
    (it.folder / 'folder').symlink_to('sub')
    for arguments, words in ((['--report', 'dangling', '--flows', 'target'], 'the flows target: the report would be written there, too'),
                             (['--report', 'folder/x', '--flows', 'sub/x'], 'the flows sub/x: the report would be written there, too'),
                             (['--capture', 'c.pcapng', '--capture-rotate', '1MB', '--report', 'sub/../c-00002.pcapng'],
                              'cannot write the capture c.pcapng: the report would be written there, too')):
        done = it('run', file, *arguments)
        yield from done.exited(2)
        yield from done.complains(words)
    yield from it('run', file, '--capture', 'n.pcapng', '--capture-rotate', '1MB', '--report', 'n-x.pcapng').exited(0)
    edges = it.write('edges.yaml', TWO_EDGES)
    (it.folder / 'in.pcap').write_bytes(bytes.fromhex('d4c3b2a1020004000000000000000000ffff000001000000'))
    (it.folder / 'hard').hardlink_to(it.folder / 'in.pcap')
    for output, words in (('in.pcap', 'the report in.pcap: it is what a sends'), ('hard', 'the report hard: it is what a sends'),
                          ('out.pcap', 'the report out.pcap: what b receives would be written there, too')):
        done = it('run', edges, '--report', output)
        yield from done.exited(2)
        yield from done.complains(words)
    if file.read_text() != SMALL or (it.folder / 'in.pcap').stat().st_size != 24 or (it.folder / 'same').exists() or (it.folder / 'out.pcap').exists():
        yield f'something was written: {sorted(path.name for path in it.folder.iterdir())}'
    yield from it('run', file, '--report', '/dev/null', '--flows', '/dev/null', '--events', '/dev/null').exited(0)


def refuses_to_overwrite_what_a_testbed_names(it: Softspine) -> Problems:
    """files that a testbed is made of (include, import, config_db and its like) are no outputs, of a run or of a capture beside it"""
    it.write('more.yaml', 'profiles: {p: {config_db: p.json}}\n')
    it.write('p.json', '{}')
    it.write('clos.clab.yml', 'name: c\ntopology:\n  nodes: {s1: {kind: nokia_srlinux}, a: {kind: linux}, b: {kind: linux}}\n'
                              '  links: [{endpoints: ["s1:e1-1", "a:eth1"]}, {endpoints: ["s1:e1-2", "b:eth1"]}]\n')
    names = {'small.yaml': 'the testbed', 'more.yaml': '', 'p.json': ''}
    file = it.write('small.yaml', SMALL + 'include: [more.yaml]\nroles: {tor: p}\n')
    before = {name: (it.folder / name).read_text() for name in names}
    (it.folder / 'link').symlink_to('p.json')
    for output in (*names, 'link'):
        for option in ('--report', '--flows', '--capture', '--events', '--counters-file'):
            done = it('run', file, option, output)
            yield from done.exited(2)
            yield from done.complains(f'{output}: it is ' + (names.get(output) or 'a file that the testbed names'))
    imported = it.write('imported.yaml', 'name: i\nrun: {duration: 1us}\ntopology: {import: {file: clos.clab.yml, format: containerlab, rate: 25Gbps}}\n')
    done = it('run', imported, '--report', 'clos.clab.yml')
    yield from done.exited(2)
    yield from done.complains('clos.clab.yml: it is a file that the testbed names')
    long = it.write('small.yaml', LONG + 'include: [more.yaml]\nroles: {tor: p}\n')
    with it.running(long, '--report', 'r.json') as run:
        for output in ('p.json', 'link', 'r.json', 'small.yaml'):
            done = it('capture', 'start', it.folder / output, '--name', 'c')
            yield from done.exited(2)
            yield from done.complains('cannot write the capture')
        run.end(signal.SIGINT)
    before['small.yaml'] = LONG + 'include: [more.yaml]\nroles: {tor: p}\n'
    yield from (f'{name} was written to' for name, text in before.items() if (it.folder / name).read_text() != text)


def ends_when_interrupted(it: Softspine) -> Problems:
    """SIGINT and SIGTERM end a long run within 2 s: report printed, files whole, no socket left"""
    file = it.write('it.yaml', LONG)
    for how in (signal.SIGINT, signal.SIGTERM):
        with it.running(file, '--capture', 'c.pcapng', '--report', 'r.json') as run:
            time.sleep(0.5)
            asked = time.monotonic()
            done = run.end(how)
        yield from done.exited(0)
        yield from done.says('RoCEv2 traffic', 'engine lateness p50', 'c.pcapng', 'r.json', ', interrupted\n')
        if time.monotonic() - asked > 2:
            yield f'took {time.monotonic() - asked:.1f} s to end'
        report = json.loads((it.folder / 'r.json').read_text())
        if not report['totals']['balanced']:
            yield 'counters are not balanced'
        if report['interrupted'] is not True:
            yield 'the report has no mark'
        if not tshark('-r', it.folder / 'c.pcapng', '-c', 10):
            yield 'the capture is empty'
        yield from it.leftovers()


def lasts_until_it_is_stopped(it: Softspine) -> Problems:
    """a wall run without a duration says that it lasts until Ctrl-C, and does"""
    file = it.write('it.yaml', SMALL.replace('clock: virtual, duration: 4ms', 'clock: wall'))
    with it.running(file, '--report', 'r.json') as run:
        time.sleep(0.5)
        done = run.end(signal.SIGINT)
    yield from done.exited(0)
    yield from done.complains('without a duration, small runs until Ctrl-C')
    report = json.loads((it.folder / 'r.json').read_text())
    if report['interrupted'] is not False or 'interrupted' in done.out:
        yield 'it has no end before which it could be interrupted'
    lasted = report['duration_ps'] * 1e-12
    if not 0.4 <= lasted <= 5:
        yield f'it lasted {lasted} s'


def refuses_a_second_of_a_name(it: Softspine) -> Problems:
    """a second run of one name is refused clearly, and does not touch the files of the first"""
    file = it.write('it.yaml', LONG)
    with it.running(file, '--capture', 'c.pcapng', '--capture-limit', '2MB', '--report', 'r.json') as first:
        time.sleep(0.5)
        size = (it.folder / 'c.pcapng').stat().st_size
        second = it('run', file, '--capture', 'c.pcapng', '--report', 'r.json')
        yield from second.exited(2)
        yield from second.complains('another fabric answers at', 'small.sock')
        if (it.folder / 'c.pcapng').stat().st_size < size:
            yield "the second run emptied the first one's capture"
        third = it('run', it.write('other.yaml', LONG.replace('name: small', 'name: other')), '--duration', '100ms')
        yield from third.exited(0)
        yield from it('run', file, '--no-server', '--duration', '100ms').exited(0)
        yield from first.end(signal.SIGINT).exited(0)
    yield from complaints(it.folder / 'c.pcapng')


def runs_after_one_was_killed(it: Softspine) -> Problems:
    """a socket that a killed run left is no fabric, and no hindrance to the next run"""
    file = it.write('it.yaml', LONG)
    with it.running(file) as run:
        run.end(signal.SIGKILL)
    if not list(it.sockets.iterdir()):
        yield 'SIGKILL left no socket: the test tests nothing'
    asked = it('show', 'links')
    yield from asked.exited(2)
    yield from asked.complains('no fabric is running here')
    with it.running(file) as run:
        yield from run.end(signal.SIGINT).exited(0)


if __name__ == '__main__':
    sys.exit(main([exits_as_expected, says_what_happened, says_what_went_by_each_nic_port, reports_in_json, draws_bus_bandwidth, ends_where_memory_ends, changes_with_the_seed, captures_for_tshark, captures_a_port_both_ways,
                   keeps_the_capture_limit, refuses_two_uses_of_one_file, refuses_to_overwrite_what_a_testbed_names, ends_when_interrupted, lasts_until_it_is_stopped, refuses_a_second_of_a_name, runs_after_one_was_killed]))
