# SPDX-License-Identifier: Apache-2.0
"""A running lossless fabric: what it shows of buffers and pauses, faults put into it, other thresholds, live captures."""
from __future__ import annotations

import signal
import sys
import time

from one_run import complaints, tshark
from softspine import Problems, Softspine, main

# Two hosts at 100 Gb/s into one, a thousand times slower than real: the ToR pauses them again and again.
FABRIC = '''name: lossless
run: {clock: wall, dilation: 1000, duration: 1s, seed: 1}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 40m}}
profiles:
  default: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: -7}}}
  wide: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: 0}}}
  other-cells: {base: lossless, cell: 208B}
workload: [{name: w, pattern: incast, from: [h3, h4], to: h1, message: 1MiB, messages: 100000, mtu: 4096, dscp: 3}]
'''


def running(it: Softspine):
    return it.running(it.write('lossless.yaml', FABRIC))


def wait_until(claim, seconds: float = 20) -> bool:
    until = time.monotonic() + seconds
    while not claim():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def pauses(it: Softspine, node: str, port: str, way: str = 'TX') -> int:
    return it.show('pfc', 'counters')[node][port][f'SAI_PORT_STAT_PFC_3_{way}_PKTS']


def shows_pauses_and_buffers(it: Softspine) -> Problems:
    """show pfc counters, watermarks and pools in SONiC's words; clear watermarks"""
    with running(it):
        if not wait_until(lambda: pauses(it, 'tor1', 'Ethernet8') > 5):
            yield 'tor1 pauses nobody'
        for what, words in (('pfc counters', ['Port Rx', 'Port Tx', 'PFC3', 'tor1', 'Ethernet8']),
                            ('priority-group watermark shared', ['Ingress shared pool occupancy per PG:', 'PG3']),
                            ('priority-group watermark headroom', ['Ingress headroom per PG:']),
                            ('priority-group drop counters', ['Ingress PG dropped packets:']),
                            ('queue watermark unicast', ['Egress shared pool occupancy per unicast queue:', 'UC3']),
                            ('buffer_pool watermark', ['Shared pool maximum occupancy:', 'ingress_lossless_pool']),
                            ('headroom-pool watermark', ['Headroom pool maximum occupancy:']),
                            ('pfcwd stats', ['STORM DETECTED/RESTORED', 'TX OK/DROP', 'RX LAST OK/DROP'])):
            yield from it('show', *what.split()).says(*words)
        groups = it.show('priority-group', 'watermark', 'shared', '--node', 'tor1')
        if list(groups) != ['tor1'] or set(groups['tor1']) != {f'Ethernet{p}|PG{g}' for p in (0, 4, 8) for g in range(8)}:
            yield f'priority groups: {list(groups)} {list(groups.get("tor1", []))[:9]}'
        name = 'SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES'
        if groups['tor1']['Ethernet8|PG3'][name] < 100_000:
            yield f'Ethernet8|PG3: {groups["tor1"]["Ethernet8|PG3"]}'


def clears_watermarks(it: Softspine) -> Problems:
    """clear watermarks: they begin at what is held then; of one switch, or of all"""
    name = 'SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES'
    with running(it):
        def mark() -> int:
            return it.show('priority-group', 'watermark', 'shared')['tor1']['Ethernet8|PG3'][name]
        wait_until(lambda: mark() > 100_000)
        for host in ('h3', 'h4'):
            yield from it('link', f'{host}:eth0', 'down').exited(0)
        wait_until(lambda: it.show('queue', 'counters')['tor1']['Ethernet0:3']['SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES'] == 0)
        yield from it('clear', 'watermarks', '--node', 'tor2').says('tor2: cleared')
        if mark() < 100_000:
            yield 'clearing tor2 cleared tor1'
        yield from it('clear', 'watermarks').says('every switch: cleared')
        if mark() != 0:
            yield f'cleared, with nothing held: {mark()}'
        for wrong, said in ((['watermarks', '--node', 'h1'], 'h1 is a host'), (['watermark'], 'WHAT')):
            done = it('clear', *wrong)
            yield from done.exited(2)
            yield from done.complains(said)


def takes_faults(it: Softspine) -> Problems:
    """inject: a lossy link, a deaf port, a storm, a slow receiver, each ended by `clear`; what is wrong is named"""
    with running(it) as run:
        yield from it('inject', 'tor1:Ethernet0', 'lossy', '--drop', '10%', '--corrupt', '5%', '--direction', 'out').says('lossy')
        if not wait_until(lambda: it.show('links')['tor1:Ethernet0']['damaged_packets'] > 10):
            yield 'nothing is damaged'
        links = it.show('links')
        if links['tor1:Ethernet0']['vanished_packets'] < 10 or links['h1:eth0']['vanished_packets'] != 0:
            yield f'lost: {links["tor1:Ethernet0"]}, {links["h1:eth0"]}'
        yield from it('inject', 'tor1:Ethernet0', 'clear').exited(0)
        before = it.show('links')['tor1:Ethernet0']
        time.sleep(0.5)
        after = it.show('links')['tor1:Ethernet0']
        if after['vanished_packets'] != before['vanished_packets'] or after['tx_packets'] == before['tx_packets']:
            yield f'well: {before} {after}'
        yield from it('inject', 'h1', 'storm', '--priorities', '3').exited(0)
        if not wait_until(lambda: pauses(it, 'tor1', 'Ethernet0', 'RX') > 3):
            yield 'the storm does not reach tor1'
        yield from it('inject', 'tor1:Ethernet0', 'deaf', '--priorities', '3').exited(0)
        sent = it.show('links')['tor1:Ethernet0']['tx_packets']
        if not wait_until(lambda: it.show('links')['tor1:Ethernet0']['tx_packets'] > sent + 10):
            yield 'a deaf port is paused'
        yield from it('inject', 'h1', 'clear').exited(0)
        yield from it('inject', 'h1', 'slow_receiver', '--drain', '10Gbps', '--for', '1ms').exited(0)
        for arguments, said in ((['tor9', 'deaf'], "node: there is no node 'tor9'"),
                                (['tor1:Ethernet0', 'lossy'], "needs 'drop' or 'corrupt'"),
                                (['tor1:Ethernet0', 'lossy', '--drop', '1'], "drop: '1' has no unit"),
                                (['tor1:Ethernet0', 'lossy', '--drop', '101%'], 'drop: must be at most 100%'),
                                (['spine1', 'storm'], 'spine1 is not a built-in host'),
                                (['tor1:Ethernet0', 'storm'], 'link: is not for this fault'),
                                (['h1', 'storm', '--priorities', '8'], 'priorities are 0 to 7'),
                                (['h1', 'storm', '--for', '0s'], 'until: ends before it begins'),
                                (['tor1:Ethernet0', 'lossi'], 'lossi')):
            done = it('inject', *arguments)
            yield from done.exited(2)
            yield from done.complains(said)
        report = it.show('report')
        if not report['totals']['balanced']:
            yield f'not balanced: {report["totals"]}'
        yield from run.end(signal.SIGINT).exited(0)


def takes_faults_of_links(it: Softspine) -> Problems:
    """inject: frames of one direction die, all die, a drain; `link … up` ends each; what is wrong is named"""
    uplink = 'tor2:Ethernet8'
    with running(it) as run:
        for fault in (['one_way', '--direction', 'out'], ['dead', '--carrier', 'stays']):
            lost = it.show('links')[uplink]['vanished_packets']
            yield from it('inject', uplink, *fault).exited(0)
            if not wait_until(lambda: it.show('links')[uplink]['vanished_packets'] > lost + 10):
                yield f'{fault}: no frames die'
            if not it.show('links')[uplink]['up']:
                yield f'{fault}: the link is down'
            yield from it('link', uplink, 'up').exited(0)
            sent = it.show('links')['spine1:Ethernet0']['tx_packets']
            if not wait_until(lambda: it.show('links')['spine1:Ethernet0']['tx_packets'] > sent + 10):
                yield f'{fault}: frames die for ever'
        yield from it('inject', 'spine1', 'drained', '--links-after', '1ms').exited(0)
        if not wait_until(lambda: not it.show('links')[uplink]['up']):
            yield 'drained: the link is still up'
        yield from it('link', 'spine1', 'up').exited(0)
        if not wait_until(lambda: it.show('links')[uplink]['up']):
            yield 'drained: up does not end it'
        for arguments, said in (([uplink, 'one_way'], "needs 'direction'"), (['spine1', 'one_way', '--direction', 'in'], 'node: is not for this fault'),
                                ([uplink, 'drained', '--for', '1ms'], 'until: is not for this fault'),
                                ([uplink, 'dead', '--links-after', '1ms'], 'links_after: is not for this fault')):
            done = it('inject', *arguments)
            yield from done.exited(2)
            yield from done.complains(said)
        report = it.show('report')
        if not report['totals']['balanced']:
            yield f'not balanced: {report["totals"]}'
        yield from run.end(signal.SIGINT).exited(0)


def changes_profiles(it: Softspine) -> Problems:
    """profile: other thresholds under traffic: nothing is lost, the sums stay right, pauses become rarer"""
    with running(it) as run:
        wait_until(lambda: pauses(it, 'tor1', 'Ethernet8') > 5)
        yield from it('profile', 'tor1', 'wide').says('tor1: works by wide')
        for profile in ('default', 'wide'):
            yield from it('profile', 'tor1', profile).exited(0)
        for arguments, said in ((['tor1', 'widest'], "no profile 'widest'"), (['h1', 'wide'], 'h1 is a host'),
                                (['tor1', 'other-cells'], 'cannot be counted anew')):
            done = it('profile', *arguments)
            yield from done.exited(2)
            yield from done.complains(said)
        totals = it.show('report')['totals']
        if not totals['balanced'] or totals['dropped_packets']:
            yield f'totals: {totals}'
        yield from run.end(signal.SIGINT).exited(0)


def captures_live(it: Softspine) -> Problems:
    """capture start, list, stop: what was asked for, in files that tshark reads; what is wrong is named"""
    with running(it) as run:
        yield from it('capture', 'list').says('nothing is captured')
        yield from it('capture', 'start', 'pauses.pcapng', '--filter', 'ether proto 0x8808').says('capture pauses: started')
        yield from it('capture', 'start', 'all.pcapng', '--name', 'data', '--port', 'tor1:*', '--snaplen', '80', '--limit', '1MB').exited(0)
        wait_until(lambda: it('capture', 'list', '--json').json()['pauses']['frames'] > 10)
        rows = it('capture', 'list', '--json').json()
        if list(rows) != ['data', 'pauses'] or rows['pauses']['filter'] != 'ether proto 0x8808' or rows['data']['ports'] != 3:
            yield f'capture list: {rows}'
        yield from it('capture', 'list').says('NAME', 'pauses', 'running', 'all.pcapng')
        for arguments, said in ((['start', 'pauses.pcapng'], 'is there already'), (['stop'], 'several captures run'),
                                (['start', 'pauses.pcapng', '--name', 'x'], 'writes to that file'), (['stop', 'x'], "no capture 'x'"),
                                (['start', 'y.pcapng', '--filter', 'udp prot 1'], "the filter 'udp prot 1'"),
                                (['start', 'none/y.pcapng'], 'No such file'), (['start', 'y.pcapng', '--port', 'x:*'], 'x:*'),
                                (['start', 'y.pcapng', '--keep', '3'], '--rotate'), ([], 'required'),
                                (['start', 'y.pcapng', '--full', '--snaplen', '9'], 'excludes')):
            done = it('capture', *arguments)
            yield from done.exited(2)
            yield from done.complains(said)
        yield from it('capture', 'stop', 'pauses').says('capture pauses:', 'frames in')
        yield from complaints(it.folder / 'pauses.pcapng')
        types = set(tshark('-n', '-r', it.folder / 'pauses.pcapng', '-T', 'fields', '-e', 'eth.type').split())
        if types != {'0x8808'}:
            yield f'pauses.pcapng holds {types}'
        yield from it('storm', 'pauses.pcapng').exited(0)
        if not it('capture', 'stop', '--json').json()['frames']:
            yield 'data captured nothing'
        yield from it('capture', 'start', 'whole.pcapng', '--port', 'tor1:*', '--full').exited(0)
        wait_until(lambda: it('capture', 'list', '--json').json()['whole']['frames'] > 10)
        yield from it('capture', 'stop', 'whole').exited(0)
        sizes = tshark('-n', '-r', it.folder / 'whole.pcapng', '-T', 'fields', '-e', 'frame.len', '-e', 'frame.cap_len').splitlines()
        if not any(size.startswith('41') for size in sizes) or any(len(set(size.split())) != 1 for size in sizes):
            yield f'whole.pcapng: {sizes[:5]}'
        started = it('capture', 'start', 'ring.pcapng', '--rotate', '50KB', '--keep', '2', '--duration', '10ms')
        yield from started.exited(0)
        if started.status == 0 and not wait_until(lambda: it('capture', 'list', '--json').json()['ring']['files'] > 3):
            yield 'no files one after the other'
        yield from run.end(signal.SIGINT).exited(0)
    rings = sorted(path.name for path in it.folder.glob('ring-*.pcapng'))
    if len(rings) != 2:
        yield f'kept: {rings}'
    for ring in rings:
        yield from complaints(it.folder / ring)


if __name__ == '__main__':
    sys.exit(main([shows_pauses_and_buffers, clears_watermarks, takes_faults, takes_faults_of_links, changes_profiles, captures_live]))
