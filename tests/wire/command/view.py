# SPDX-License-Identifier: Apache-2.0
"""`softspine view`: what its API answers is what the recording's rows say, and what the report says of the end; its page, in a browser."""
from __future__ import annotations

import json
import signal
import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from live_page import ROWS, Browser
from recording import TESTBED
from softspine import Problems, Run, Softspine, main
from web_service import Served

OVERHEAD = 8 + 4 + 12  # preamble, FCS and gap of a frame
LARGEST = 4154 + OVERHEAD
WORST = 1 << 62


class Recorded:
    """A run, its rows and its report; and `softspine view` of it."""

    def __init__(self, it: Softspine, run: Run) -> None:
        self.served = Served(it, run)
        self.rows = sqlite3.connect(it.folder / 'run.sqlite')
        self.report = json.loads((it.folder / 'report.json').read_text())
        self.ports = dict(self.rows.execute('SELECT port_id, name FROM ports'))
        self.end_ps = self.one("SELECT value FROM run WHERE key = 'end_ps'")

    def one(self, sql: str, *values):
        return self.rows.execute(sql, values).fetchone()[0]

    def loads(self, at_ps: int) -> dict:
        return self.served.json(f'/api/show/loads?at_ps={at_ps}')


@contextmanager
def viewed(it: Softspine, *options: str, record: bool = True) -> Iterator[Recorded]:
    if record:
        done = it('run', it.write('questions.yaml', TESTBED), '--quiet', '--no-server', '--record', 'run.sqlite', '--report', 'report.json', '--record-interval', '10us')
        if done.status != 0:
            raise AssertionError(done.err)
    run = Run(it, ['view', 'run.sqlite', *options])
    try:
        yield Recorded(it, run)
    finally:
        done = run.end(signal.SIGINT, timeout=20)
        if done.status != 0:
            raise AssertionError(f'view ended with {done.status}: {done.err}')


def wanted_loads(of: Recorded, at_ps: int) -> dict[int, list]:
    """By SQL, over all rows up to the instant: port → tx_bytes, paused_ps, queue's bytes, drops."""
    found: dict[int, list] = defaultdict(lambda: [0, 0, 0, 0])
    peers = dict(of.rows.execute('SELECT port_id, peer_port_id FROM ports'))
    hosts = {port for port, in of.rows.execute("SELECT port_id FROM ports JOIN nodes USING(node_id) WHERE kind = 'host'")}
    for port, sent, frames, came, arrivals in of.rows.execute(
            'SELECT port_id, sum(tx_bytes), sum(tx_packets), sum(rx_bytes), sum(rx_packets) FROM port_samples WHERE t_ps <= ? GROUP BY port_id', (at_ps,)):
        found[port][0] = (sent or 0) + OVERHEAD * (frames or 0)
        if peers[port] in hosts:
            found[peers[port]][0] = (came or 0) + OVERHEAD * (arrivals or 0)
    for table in ('priority_samples', 'nic_priority_samples'):
        for port, paused in of.rows.execute(f'SELECT port_id, max(p) FROM (SELECT port_id, sum(paused_ps) AS p FROM {table} WHERE t_ps <= ? GROUP BY port_id, priority) GROUP BY port_id', (at_ps,)):
            found[port][1] = paused or 0
    for port, held in of.rows.execute('SELECT port_id, max(current_bytes) FROM (SELECT port_id, current_bytes, row_number() OVER (PARTITION BY port_id, queue ORDER BY rowid DESC) AS age '
                                      'FROM queue_samples WHERE t_ps <= ? AND current_bytes IS NOT NULL) WHERE age = 1 GROUP BY port_id', (at_ps,)):
        found[port][2] = held
    for port, packets in of.rows.execute("SELECT port_id, sum(packets) FROM drops WHERE t_ps <= ? AND reason NOT LIKE '%consumed' GROUP BY port_id", (at_ps,)):
        found[port][3] = packets
    return {port: values for port, values in found.items() if any(values)}


def answers_by_its_rows(it: Softspine) -> Problems:
    """loads at any instant are sums over the rows up to it, in whatever order instants are asked for; at the end they are the report's"""
    with viewed(it) as of:
        instants = of.served.json('/api/recording/samples')['instants_ps']
        if instants != [t for t, in of.rows.execute('SELECT t_ps FROM samples ORDER BY t_ps')] or len(instants) < 60:
            yield f'instants: {instants}'
        for at_ps in (instants[40], instants[3], instants[3] + 1, instants[-1], 0, instants[60], instants[59], of.end_ps, WORST):
            answer = of.loads(at_ps)
            found = {row[0]: [row[1], row[2], row[4], row[5]] for row in answer['ports']}
            if found != wanted_loads(of, at_ps) or answer['at_ps'] != max([t for t in instants if t <= at_ps], default=0):
                yield f'at {at_ps}: {answer["at_ps"]}, {found} instead of {wanted_loads(of, at_ps)}'
        end = {of.ports[row[0]]: row for row in of.loads(of.end_ps)['ports']}
        for name, link in of.report['links'].items():
            # A port has sent a frame when its last bit has left; a link counts it from its first on.
            leaving = link['tx_bytes'] + OVERHEAD * link['tx_packets'] - end[name][1] if link['tx_packets'] and not name.startswith('h') else 0
            if not 0 <= leaving <= LARGEST:
                yield f'{name}: {end[name]}, and the report has {link}'
        lost = sum(row['packets'] for row in of.report['losses'])
        if sum(of.loads(of.end_ps)['drops'].values()) != lost or lost == 0:
            yield f'drops: {of.loads(of.end_ps)["drops"]} instead of {lost}'
        down = [of.ports[port] for port in of.loads(450_000_000)['down']]
        if sorted(down) != ['spine1:Ethernet0', 'tor1:Ethernet12'] or of.loads(350_000_000)['down'] or of.loads(of.end_ps)['down']:
            yield f'down: {down}'


def has_map_thresholds_and_events(it: Softspine) -> Problems:
    """the map is that of the fabric; thresholds and events are those of the rows; sections are the report's; what is not there is said"""
    with viewed(it) as of:
        with it.running(it.write('live.yaml', TESTBED.replace('virtual, duration: 700us', 'wall, duration: 600s, dilation: 1000000')), '--http', '127.0.0.1:0') as run:
            live = Served(it, run)
            answer = of.served.json('/api/show/map')
            recorded = answer.pop('recording')
            if answer != live.json('/api/show/map'):
                yield 'another map'
            kinds = {path for path, operations in live.json('/api/openapi.json')['paths'].items() if 'get' in operations and path.startswith('/api/show/')}
            if missing := kinds - set(of.served.json('/api/openapi.json')['paths']):
                yield f'not even refused: {missing}'
        if recorded['end_ps'] != of.end_ps or len(recorded['lacks']) != 1 or 'hosts' not in recorded['lacks'][0]:
            yield f'recording: {recorded}'
        at_ps = of.one('SELECT t_ps FROM group_samples WHERE shared_bytes > 0 ORDER BY shared_bytes DESC LIMIT 1')
        rows = of.served.json(f'/api/show/thresholds?node=tor1&at_ps={at_ps}')
        groups = {(row['port'], row['of']): row for row in rows if row['xoff_bytes'] is not None}
        for port, group, pool, fixed, alpha, size in of.rows.execute(
                "SELECT x.port_id, priority_group, pool_id, fixed_bytes, alpha, size_bytes FROM xoff_thresholds AS x JOIN pools ON pools.name = pool JOIN ports USING(port_id) WHERE ports.name LIKE 'tor1:%'"):
            def last(column: str, table: str, where: str) -> int:
                row = of.rows.execute(f'SELECT {column} FROM {table} WHERE {where} AND t_ps <= ? AND {column} IS NOT NULL ORDER BY rowid DESC LIMIT 1', (at_ps,)).fetchone()
                return row[0] if row else 0
            own = f'port_id = {port} AND priority_group = {group}'
            wanted = (last('shared_bytes', 'group_samples', own) + last('headroom_bytes', 'group_samples', own),
                      fixed + int(alpha * (size - last('shared_bytes', 'pool_samples', f'pool_id = {pool}'))))
            row = groups.pop((of.ports[port].split(':')[1], f'group {group}'))
            if (row['bytes'], row['xoff_bytes']) != wanted:
                yield f'{row} instead of {wanted}'
        if groups or not any(row['marks_from_bytes'] for row in rows):
            yield f'further groups: {groups}'
        events = of.served.json('/api/recording/events?at_ps=420000000&most=3&without=drops,pause_received')
        counts = dict(of.rows.execute('SELECT event, count(*) FROM events WHERE t_ps <= 420000000 GROUP BY event'))
        listed = of.rows.execute("SELECT t_ps, event FROM events WHERE t_ps <= 420000000 AND event NOT IN ('drops', 'pause_received') ORDER BY event_id DESC LIMIT 3").fetchall()
        if events['counts'] != counts or [(row['t_ps'], row['event']) for row in events['events']] != listed[::-1] or len(listed) != 3:
            yield f'events: {events} instead of {listed}'
        for path, section in (('flows', 'flows'), ('links', 'links')):
            if of.served.json(f'/api/show/{path}') != of.report[section]:
                yield f'{path} is not the report\'s'
        if of.served.json('/api/show/report') != of.report:
            yield 'another report'
        for path in ('/api/show/mac', '/api/show/thresholds?node=h1', '/api/show/thresholds?node=tor9', '/metrics'):
            status, text = of.served.curl(path)
            if status != 400 or 'the recording does not have this' not in text:
                yield f'{path}: {status} {text}'


def has_flows_and_their_ways(it: Softspine) -> Problems:
    """ways at any instant are those that explain finds with the links of that instant; bytes are the rows', and the results' at the end"""
    with viewed(it) as of:
        flows = of.rows.execute('SELECT flow_id, source, destination, source_port, destination_qp, reliable, sent_bytes, first_sent_ps, iif(reliable, fct_acked_ps, fct_ps) '
                                'FROM flows').fetchall()
        for at_ps, down in ((0, []), (399_000_000, []), (450_000_000, ['--down', 'tor1:Ethernet12']), (of.end_ps, [])):
            crossing: dict[str, set[int]] = defaultdict(set)
            for flow, source, destination, port, qp, reliable, sent, first, took in flows:
                hops = it('explain', 'questions.yaml', '--from', source, '--to', destination, '--sport', port, '--qp', qp, *down, '--json').json()['hops']
                path = [f'{source}:eth0', *(f'{hop["switch"]}:{hop["out_port"]}' for hop in hops)]
                for each in path:
                    crossing[each].add(flow)
                answer = of.served.json(f'/api/show/flow/paths?node={source}&at_ps={at_ps}')
                row = next(row for row in answer['rows'] if row['flow'] == flow)
                by_rows = of.one('SELECT total(sent_bytes) FROM flow_samples WHERE flow_id = ? AND t_ps <= ?', flow, at_ps) if reliable else None
                then = of.one('SELECT max(t_ps) FROM samples WHERE t_ps <= ?', at_ps) or 0 if at_ps < of.end_ps else at_ps
                state = 'not begun' if first is None or first > then else 'ended' if took is not None and first + took <= then else 'goes on'
                if (row['path'], row['sent_bytes'], row['state'], row['end']) != (path, sent if at_ps == of.end_ps else by_rows, state, 'arrives'):
                    yield f'at {at_ps}: {row} instead of {path}, {sent}, {by_rows}, {state}'
                if ('lacks' in answer) != any(row['sent_bytes'] is None for row in answer['rows']):
                    yield f'at {at_ps}: {answer}'
            for port in of.ports.values():
                answer = of.served.json(f'/api/show/flow/paths?port={port}&at_ps={at_ps}')
                if {row['flow'] for row in answer['rows']} != crossing[port] or answer['found'] != len(crossing[port]) or answer['flows'] != len(flows):
                    yield f'{port} at {at_ps}: {answer} instead of {crossing[port]}'
        if len(of.served.json('/api/show/flow/paths?most=2')['rows']) != 2 or of.served.curl('/api/show/flow/paths?port=none:eth0')[0] != 400:
            yield 'limits'


def refuses_what_is_no_recording(it: Softspine) -> Problems:
    """what is no recording, and an address that others reach, are refused; a killed run's recording is shown up to there"""
    it.write('text.sqlite', 'not a database')
    for words, said in ((('text.sqlite',), 'not a database'), (('none.sqlite',), 'no such file'), (('text.sqlite', '--http', '0.0.0.0:0'), "this machine's own")):
        done = it('view', *words)
        yield from done.exited(2)
        yield from done.complains(said)
    run = Run(it, ['run', str(it.write('long.yaml', TESTBED.replace('700us', '10s'))), '--quiet', '--no-server', '--record', 'run.sqlite', '--record-interval', '1us'])
    path = it.folder / 'run.sqlite'
    while run.process.poll() is None and (not path.exists() or path.stat().st_size < 3_000_000):
        pass
    run.end(signal.SIGKILL)
    view = Run(it, ['view', 'run.sqlite'])
    served = Served(it, view)
    recording = served.json('/api/show/map')['recording']
    last = served.json('/api/show/loads')['at_ps']
    if len(recording['lacks']) != 2 or recording['end_ps'] != last or last <= 0 or not served.json('/api/show/loads')['ports']:
        yield f'killed: {recording}, {last}'
    yield from view.end(signal.SIGTERM).exited(0)


def moves_over_the_run(it: Softspine) -> Problems:
    """the page has the whole run on its slider, shows at each place what the rows say, and plays it"""
    with viewed(it) as of:
        browser = Browser(it, of.served.url, (1300, 1100), False)
        try:
            yield from looks(it, of, browser)
        finally:
            browser.end()


def looks(it: Softspine, of: Recorded, browser: Browser) -> Problems:
    if not browser.until("recorded && recorded.frame && shown === last()"):
        yield 'nothing is shown: ' + str(browser.value('document.body.innerText'))[:500]
        return
    instants = of.served.json('/api/recording/samples')['instants_ps']
    storm = next(i for i, t in enumerate(instants) if t >= 200_000_000)
    browser.value(f"slider = document.getElementById('slider'); slider.value = '{storm}'; slider.dispatchEvent(new Event('input'))")
    if not browser.until(f"shown === {storm} && document.getElementById('counted').textContent.includes('xoff_raised')"):
        yield f'the slider leads to {browser.value("shown")}'
    before, now = (wanted_loads(of, instants[i]) for i in (storm - 1, storm))
    span = instants[storm] - instants[storm - 1]
    paused = {of.ports[port]: (values[1] - before.get(port, [0, 0])[1]) / span for port, values in now.items() if values[1] > before.get(port, [0, 0])[1]}
    shown = {row[0]: row[2] for row in browser.value(ROWS.format('paused'))}
    worst = dict(sorted(paused.items(), key=lambda each: -each[1])[:1])
    if not shown or not set(shown) <= set(paused) or any(f'{100 * share:.0f} %' != shown.get(port) for port, share in worst.items()):
        yield f'paused: {shown} instead of {paused}'
    held = {of.ports[port]: values[2] for port, values in now.items() if values[2]}
    queues = [row[0] for row in browser.value(ROWS.format('queues'))]
    if not queues or held[queues[0]] != max(held.values()):
        yield f'queues: {queues} instead of {held}'
    events = of.one("SELECT count(*) FROM events WHERE event = 'xoff_raised' AND t_ps <= ?", instants[storm])
    if f'xoff_raised {events}' not in browser.value("document.getElementById('counted').textContent"):
        yield 'events: ' + browser.value("document.getElementById('counted').textContent")
    if 'hosts' not in browser.value("document.getElementById('lacks').textContent"):
        yield 'what the recording lacks is not said'
    browser.value("document.getElementById('fabric').focus()")
    for key in ('ArrowDown', 'ArrowDown', 'Enter'):
        browser.press(key)
    if not browser.until("document.querySelectorAll('#thresholds tr').length > 2"):
        yield 'no thresholds'
    node = browser.value('opened')
    sent = {of.ports[port]: values[0] for port, values in now.items() if of.ports[port].startswith(f'{node}:')}
    above = {port: sent.get(port, 0) for port, link in of.report['links'].items() if port.startswith(f'{node}:') and link['to'].startswith('spine')}
    shares = {row[0]: float(row[2].split()[0]) for row in browser.value(ROWS.format('uplinks'))}
    if set(shares) != set(above) or not above or any(abs(shares[port] - 100 * value / sum(above.values())) > 0.6 for port, value in above.items()):
        yield f'uplinks: {shares} instead of {above}'
    browser.value("choosePort(portNumber('tor1:Ethernet0'))")
    if not browser.until("document.querySelectorAll('#flows tr').length > 3 && document.getElementById('crossing').textContent.includes('open loops')"):
        yield 'flows: ' + browser.value("document.getElementById('flow-section').innerText")
    rows = of.served.json(f'/api/show/flow/paths?port=tor1:Ethernet0&at_ps={instants[storm]}')['rows']
    if [row[0] for row in browser.value(ROWS.format('flows'))] != [f'{row["source"]} QP {row["source_qp"]} → {row["destination"]} QP {row["destination_qp"]}' for row in rows]:
        yield f'flows: {browser.value(ROWS.format("flows"))} instead of {rows}'
    if browser.picture(it.folder / 'view.png') < 20_000:
        yield 'an empty picture'
    browser.value("document.getElementById('play').click()")
    if not browser.until('!recorded.playing && shown === last()', 60):
        yield f'played to {browser.value("shown")}'
    if browser.value("document.getElementById('play').textContent") != 'play' or browser.value("document.getElementById('state').className"):
        yield 'after playing: ' + str(browser.value("document.getElementById('state').textContent"))


if __name__ == '__main__':
    sys.exit(main([answers_by_its_rows, has_map_thresholds_and_events, has_flows_and_their_ways, refuses_what_is_no_recording, moves_over_the_run]))
