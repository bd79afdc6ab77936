# SPDX-License-Identifier: Apache-2.0
"""identify: a fabric's hash from its captures, the profile that predicts it, probes, other inputs, and what is refused."""
from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import time
from ipaddress import ip_address
from pathlib import Path

from hash_laboratory import capture, check, roce
from softspine import Problems, Run, Softspine, main

LINKS = [f'Ethernet{4 * n}' for n in range(8)]
FABRIC = '''
name: unknown
run: {clock: virtual, duration: 2ms, seed: 3}
fabric: {kind: leaf-spine, tors: 2, spines: 9, hosts_per_tor: 12, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
workload:
  - {name: flows, pattern: all_to_all, message: 1KiB, messages: 1, qps: 2, mtu: 1024}
roles: {tor: mine}
'''
SPINES = 9
# A chip's hash, and those of hosts that forward; with the words that it is called by.
HASHES = {'{model: RTAG7, algorithm: CRC_ETHERNET_LO, seed: 3042, offset: 5}': ('RTAG7 CRC_ETHERNET_LO', 'offset 5'),
          '{model: LINUX, policy: 1, seed: 4242}': ('LINUX policy 1, seed 4242', 'L4_DST_PORT'),
          '{model: OVS, algorithm: L4, seed: 77}': ('OVS L4, basis 77',)}


def uplinks(it: Softspine, file: Path) -> list[str]:
    """The ports of tor1 that flows to the other rack may take, from what explain says."""
    found = set()
    for sport in range(50000, 50200):
        found.add(it('explain', file, '--from', 'h1', '--to', 'h24', '--sport', sport, '--json').json()['hops'][0]['out_port'])
        if len(found) == SPINES:
            break
    return sorted(found, key=lambda port: int(port.removeprefix('Ethernet')))


def finds_the_hash_of_a_fabric(it: Softspine) -> Problems:
    """a fabric's captures give its hash; the profile then predicts flows that were not seen, port by port"""
    for hashed, words in HASHES.items():
        yield from finds_a_hash(it, hashed, words)


def finds_a_hash(it: Softspine, hashed: str, words: tuple[str, ...]) -> Problems:
    true = it.write('true.yaml', FABRIC + f'profiles: {{mine: {{hash: {hashed}}}}}\n')
    seen = it.folder / 'seen.pcapng'
    yield from it('run', true, '--capture', seen, '--capture-port', 'tor1:*').exited(0)
    ports = uplinks(it, true)
    yield from check(len(ports) == SPINES, f'tor1 has other uplinks: {ports}')
    named = [word for port in ports for word in ('--port', f'tor1:{port}')]
    profile = it.folder / 'mine.yaml'
    done = it('identify', '--pcap', seen, *named, '--profile', profile, '--name', 'mine')
    yield from done.exited(0)
    yield from done.says('identified', *words, 'members by bucket: ' + ' '.join(f'tor1:{p}' for p in ports))
    yield from check(done.seconds <= 10, f'took {done.seconds:.1f} s')
    cut = it.folder / 'cut.pcapng'  # as a capture is that still grows
    cut.write_bytes(seen.read_bytes()[:seen.stat().st_size * 9 // 10])
    rest = it('identify', '--pcap', cut, *named)
    yield from rest.exited(0)
    yield from rest.says('identified', *words)
    yield from check('cut.pcapng: cut short: ' in rest.err and 'what came before is used' in rest.err, f'of a cut capture: {rest.err}')
    found = it.write('found.yaml', FABRIC + profile.read_text())
    for n in range(25):
        question = ['--from', f'h{1 + n % 12}', '--to', f'h{13 + n * 5 % 12}', '--sport', 40000 + 977 * n, '--qp', 100 + n, '--json']
        answers = [it('explain', file, *question).json()['hops'][0]['out_port'] for file in (true, found)]
        yield from check(answers[0] == answers[1], f'{question}: goes by {answers[0]}, predicted {answers[1]}')
    yield from it('polarization', found, '--no-cures').exited(0)
    yield from it('source-ports', found, '--from', 'h1', '--to', 'h24', '--paths', '2').exited(0)


def link_by_xor(row: dict[str, str]) -> str:
    """SAI's XOR of the 5-tuple in words of 16 bits, as one writes it down."""
    total = int(row['sport']) ^ int(row['dport']) ^ int(row['proto'])
    for address in (row['src'], row['dst']):
        number = int(ip_address(address))
        total ^= number >> 16 ^ number & 0xffff
    return LINKS[total % 8]


def probes_of(it: Softspine, count: int) -> list[dict[str, str]]:
    file = it.folder / 'probes.csv'
    it('identify', '--next-probes', count, '--from', '10.1.0.0/24', '--to', '10.2.0.0/16', '--probes-csv', file)
    header, *lines = file.read_text().splitlines()
    return [dict(zip(header.split(','), line.split(','), strict=True)) for line in lines]


def csv_of(it: Softspine, rows: list[dict[str, str]], links: list[str]) -> Path:
    columns = [name for name in rows[0] if name != 'probe']
    lines = [','.join([*(row[name] for name in columns), link]) for row, link in zip(rows, links, strict=True)]
    return it.write('seen.csv', '\n'.join([','.join([*columns, 'link']), *lines]) + '\n')


def makes_probes_to_begin_with(it: Softspine) -> Problems:
    """--next-probes without observations: a pcap, a CSV, and lines for iperf3, from one prefix to another"""
    pcap, csv = it.folder / 'p.pcap', it.folder / 'p.csv'
    done = it('identify', '--next-probes', 64, '--from', '10.1.0.0/24', '--to', '10.2.0.0/16', '--probes', pcap, '--probes-csv', csv)
    yield from done.exited(0)
    yield from done.says('iperf3 -c 10.2.', '-B 10.1.0.', '--cport ')
    rows = [line.split(',') for line in csv.read_text().splitlines()[1:]]
    yield from check(len(rows) == 64 and len({tuple(row[1:]) for row in rows}) == 64, f'{len(rows)} probes, or some twice')
    yield from check(all(row[1].startswith('10.1.0.') and row[2].startswith('10.2.') for row in rows), 'outside the prefixes')
    data, at, frames = pcap.read_bytes(), 24, 0
    while at < len(data):
        length = struct.unpack_from('<I', data, at + 8)[0]
        source = str(ip_address(data[at + 16 + 26:at + 16 + 30]))
        yield from check(source == rows[frames][1], f'frame {frames} comes from {source}, the list says {rows[frames][1]}')
        at += 16 + length
        frames += 1
    yield from check(frames == 64, f'{frames} frames')
    answer = it('identify', '--next-probes', 3, '--json').json()
    yield from check(len(answer['next_probes']) == 3, f'{answer}')
    yield from done.says('ib_write_bw -n 5 --flow_label=', 'It sets no queue pair')


def reads_traceroutes(it: Softspine) -> Problems:
    """--traceroute: commands with their outputs give the hash that the same flows as a CSV give; a trace without a flow is told of"""
    rows = [row for row in probes_of(it, 256) if row['proto'] == '6'][:64]
    links = [link_by_xor(row) for row in rows]
    text = ''.join(f'+ traceroute -n -T --sport={row["sport"]} -p {row["dport"]} -s {row["src"]} {row["dst"]}\n'
                   f'traceroute to {row["dst"]} ({row["dst"]}), 30 hops max, 60 byte packets\n 1  10.1.0.1  0.2 ms\n'
                   f' 2  10.9.0.{10 + LINKS.index(link)}  0.3 ms\n' for row, link in zip(rows, links, strict=True))
    traces = it.write('traces.txt', text)
    as_table = it('identify', '--csv', csv_of(it, rows, links), '--members', 8, '--json').json()
    answer = it('identify', '--traceroute', traces, '--hop', 2, '--members', 8, '--json').json()
    same = [(found['verdict'], found['flows'], len(found['classes'])) for found in (answer, as_table)]
    yield from check(same[0] == same[1] and same[0][1] == len(rows), f'traceroutes {same[0]}, the table {same[1]}')
    done = it('identify', '--traceroute', it.write('none.txt', 'traceroute to 10.2.0.5 (10.2.0.5), 30 hops max\n 2  10.9.0.1  0.3 ms\n'), '--hop', 2)
    yield from done.exited(2)
    yield from done.complains('1 of 1 traces do not say their flow', 'there is no flow in the input')
    done = it('identify', '--traceroute', traces)
    yield from done.exited(2)
    yield from done.complains('--traceroute and --hop go together')


def reads_tables_and_counters(it: Softspine) -> Problems:
    """a CSV, also with wrong rows, and counters between probes give the same hash; so do captures of single ports"""
    rows = probes_of(it, 64)
    links = [link_by_xor(row) for row in rows]
    answers = [it('identify', '--csv', csv_of(it, rows, links), '--members', 8, '--json')]
    sent = it.folder / 'probes.csv'
    counters = ['probe,link,before,after']
    chance = random.Random(5)
    for row, link in zip(rows, links, strict=True):
        counters += [f'{row["probe"]},{name},{1000 * int(row["probe"])},{1000 * int(row["probe"]) + (500 if name == link else chance.randrange(9))}'
                     for name in LINKS]
    answers.append(it('identify', '--counters', it.write('counters.csv', '\n'.join(counters)), '--sent', sent, '--json'))
    many = probes_of(it, 400)
    spoilt = [chance.choice(LINKS) if n % 20 == 0 else link_by_xor(row) for n, row in enumerate(many)]
    answers.append(it('identify', '--csv', csv_of(it, many, spoilt), '--json'))
    for done in answers:
        yield from done.exited(0)
        answer = done.json()
        first = answer['classes'][0]
        yield from check((answer['verdict'], first['hash']['algorithm'], first['hash']['offset']) == ('identified', 'XOR', 0), f'{answer}')
        yield from check(first['members'] == LINKS, f'not in the order of the ports: {first["members"]}')
        yield from check(done.seconds <= 10, f'took {done.seconds:.1f} s')
    yield from check(answers[2].json()['classes'][0]['agreeing'] < 400, 'wrong rows agree')
    frames = {name: [] for name in LINKS}
    for n in range(120):
        frame = roce(n, source=f'10.0.{n % 9}.{n * 7 % 200}', destination=f'10.4.{n % 13}.{n * 11 % 200}', tag=b'\x81\x00\x00\x05')
        source, destination = ip_address(frame[30:34]), ip_address(frame[34:38])
        sport, dport = struct.unpack_from('>HH', frame, 38)
        row = {'src': source, 'dst': destination, 'proto': 17, 'sport': sport, 'dport': dport}
        frames[link_by_xor(row)].append(frame)
    named = [word for name in LINKS for word in ('--port', f'{name}={capture(it.folder / (name + ".pcap"), frames[name], snap=96)}')]
    done = it('identify', *named, '--json')
    yield from done.exited(0)
    yield from check(done.json()['classes'][0]['hash']['algorithm'] == 'XOR', f'{done.out}')


def is_not_sure_of_little(it: Softspine) -> Problems:
    """few flows: indistinguishable, what is left, what would decide; no hash: nothing fits. Status 1, and no profile"""
    profile = it.folder / 'no.yaml'
    rows = probes_of(it, 12)
    done = it('identify', '--csv', csv_of(it, rows, [link_by_xor(row) for row in rows]), '--members', 8, '--next-probes', 5, '--profile', profile)
    yield from done.exited(1)
    yield from done.says('indistinguishable', 'next probes:')
    yield from check(not profile.exists(), 'a profile of what is not known')
    rows = probes_of(it, 200)
    chance = random.Random(7)
    done = it('identify', '--csv', csv_of(it, rows, [chance.choice(LINKS) for _ in rows]), '--profile', profile)
    yield from done.exited(1)
    yield from done.says('nothing fits 200 flows on a group of 8', '--all-seeds')
    yield from check(not profile.exists(), 'a profile of nothing')


def is_interrupted(it: Softspine) -> Problems:
    """Ctrl-C ends the search; it says so, and exits with 1"""
    rows = probes_of(it, 200)
    chance = random.Random(7)
    file = csv_of(it, rows, [chance.choice(LINKS) for _ in rows])
    run = Run(it, ['identify', '--csv', str(file), '--all-seeds'])
    time.sleep(2)
    done = run.end(signal.SIGINT)
    yield from done.exited(1)
    yield from done.says('interrupted')
    yield from check(done.seconds < 10, f'ended after {done.seconds:.1f} s')


def tells_soon_that_nothing_fits(it: Softspine) -> Problems:
    """five hundred flows whose links were drawn, also of a group that is no power of two: nothing fits, in less than 40 s of two cores"""
    drawn = random.Random(5)
    lines = [f'10.0.{drawn.randrange(256)}.{drawn.randrange(256)},10.1.{drawn.randrange(256)}.{drawn.randrange(256)},'
             f'{49152 + drawn.randrange(16384)},{drawn.randrange(1 << 24)},{LINKS[drawn.randrange(6)]}' for _ in range(500)]
    before = os.times()
    done = it('identify', '--csv', it.write('drawn.csv', '\n'.join(['src,dst,sport,dest_qp,link', *lines]) + '\n'))
    yield from done.exited(1)
    yield from done.says('nothing fits 500 flows on a group of 6')
    took = os.times().children_user - before.children_user  # of processors, whatever else they do meanwhile
    yield from check(took < 2 * 40, f'took {took:.1f} s')


def refuses_what_is_wrong(it: Softspine) -> Problems:
    """wrong input: status 2, and a message that names the file and the line"""
    good = it.write('good.csv', 'src,dst,sport,link\n' + ''.join(f'10.0.0.1,10.0.1.1,{n},{LINKS[n % 2]}\n' for n in range(20)))
    bad = it.write('bad.csv', 'src,dst,link\n10.0.0.1,10.0.1.1,a\n10.0.0.1,nowhere,a\n')
    one = capture(it.folder / 'one.pcap', [roce(1)])
    cut = it.folder / 'cut.pcap'
    cut.write_bytes(one.read_bytes()[:-9])
    for arguments, words in [
            ([], ('identify needs observations',)),
            (['--csv', it.folder / 'absent.csv'], ('absent.csv: cannot be opened: No such file',)),
            (['--csv', it.folder], (': is a directory',)),
            (['--csv', '/dev/zero'], ('/dev/zero: is larger than 64 MiB',)),
            (['--csv', bad], ('bad.csv:3:1: src and dst: expected two addresses',)),
            (['--csv', good, '--members', 1], ('--members 1: there are 2 links',)),
            (['--csv', good, '--members', 5000], ('2 to 4096 members',)),
            (['--csv', it.write('empty.csv', 'src,dst,link\n')], ('there is no flow in the input',)),
            (['--csv', good, '--probes', it.folder / 'p.pcap'], ('go with --next-probes',)),
            (['--csv', good, '--next-probes', 1, '--from', '10.1'], ('--from: expected a prefix',)),
            (['--csv', good, '--name', 'a: b'], ('a profile\'s name',)),
            (['--csv', good, '--name', 'mine'], ('--name requires --profile',)),
            (['--csv', good, '--from', '10.1.0.0/16'], ('--from requires --next-probes',)),
            (['--csv', good, '--to', '10.1.0.0/16'], ('--to requires --next-probes',)),
            (['--counters', good], ('--counters and --sent go together',)),
            (['--port', '=x'], ('--port: expected NAME=FILE',)),
            (['--port', f'a={it.folder / "absent.pcap"}'], ('absent.pcap: No such file',)),
            (['--port', f'a={it.folder}'], ('is a directory',)),
            (['--port', f'a={cut}'], ('cut.pcap: offset',)),
            (['--port', f'a={good}'], ('good.csv: offset 0',)),
            (['--port', 'a', '--pcap', one], ('--port a: there is no such interface',)),
            (['--next-probes', 0], ('--next-probes',))]:
        done = it('identify', *arguments)
        yield from done.exited(2)
        yield from done.complains(*words)
    done = it('identify', '--next-probes', 2, '--probes-csv', it.folder / 'absent' / 'p.csv')
    yield from done.exited(1)
    yield from done.complains('p.csv')


if __name__ == '__main__':
    sys.exit(main([finds_the_hash_of_a_fabric, makes_probes_to_begin_with, reads_traceroutes, reads_tables_and_counters, is_not_sure_of_little,
                   is_interrupted, tells_soon_that_nothing_fits, refuses_what_is_wrong]))
