# SPDX-License-Identifier: Apache-2.0
"""`run --http`, by curl, and a WebSocket of Python's own library."""
from __future__ import annotations

import json
import random
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from running_fabric import FABRIC, METRIC, rate_now
from softspine import Problems, Run, Softspine, main
from web_socket import Closed, Refused, WebSocket

TOKEN = 'correct-horse-battery-staple'


class Served:
    """A fabric with HTTP, and curl."""

    def __init__(self, it: Softspine, run: Run) -> None:
        run.await_words(' is at http://')
        said = run._err
        said.seek(0)
        self.url = re.search(r' is at (http://\S+)', said.read().decode())[1]
        self.it = it

    def curl(self, path: str, *options: str) -> tuple[int, str]:
        done = subprocess.run(['curl', '-s', '-g', '--max-time', '20', '-w', '\n%{http_code}', *options, self.url + path], capture_output=True, text=True,
                              check=False)
        text, _, status = done.stdout.rpartition('\n')
        return int(status or 0), text

    def json(self, path: str, *options: str):
        status, text = self.curl(path, *options)
        if status != 200:
            raise AssertionError(f'{path}: {status} {text}')
        return json.loads(text)


def quiet_fabric(it: Softspine) -> Path:
    """Nobody sends: two looks see the same."""
    return it.write('running.yaml', re.sub(r'workload: .*\n', '', FABRIC))


def serves_what_show_shows(it: Softspine) -> Problems:
    """/api has every reading command, and says what `show --json` says"""
    with it.running(quiet_fabric(it), '--http', '127.0.0.1:0') as run:
        served = Served(it, run)
        document = served.json('/api/openapi.json')
        listed = {path for path, operations in document['paths'].items() if 'get' in operations}
        views = [view['view'] for view in it.show('views')]
        yield from (f'/api has no {view}' for view in views if '/api/show/' + view.replace(' ', '/') not in listed)
        if '/api/entrance' in listed:
            yield 'the way onto hosts is served'
        if any('post' in operations for operations in document['paths'].values()):
            yield 'without --http-control the document has changes'
        for view in views:
            path = '/api/show/' + view.replace(' ', '/')
            if view in ('prometheus', 'report', 'counters', 'fabric', 'queue counters', 'interfaces counters'):
                continue  # these have instants; below
            needs_node = any(p['required'] for p in document['paths'][path]['get']['parameters'])
            there = served.json(path + ('?node=tor1' if needs_node else ''))
            here = it.show(*view.split(), *(['--node', 'tor1'] if needs_node else []))
            for each in (there, here):  # the instant of the look
                if view in ('loads', 'pressure', 'flow paths'):
                    each.pop('at_ps')
            if there != here:
                yield f'{view}: /api has {json.dumps(there)[:300]}, show has {json.dumps(here)[:300]}'
        fabric = served.json('/api/show/fabric')
        if fabric['name'] != 'running' or fabric['web']['connections'] != 1:
            yield f'fabric: {fabric}'
        one = served.json('/api/show/interfaces/counters?node=tor1')
        if list(one) != list(it.show('interfaces', 'counters', '--node', 'tor1')):
            yield f'interfaces of tor1: {list(one)}'
        for path, status in (('/api/show/arp', 400), ('/api/show/arp?node=nobody', 400), ('/api/show/nothing', 404), ('/../../etc/passwd', 404),
                             ('/%2e%2e/%2e%2e/etc/passwd', 404), ('/api/link', 405), ('/api/show/flow/paths?port=tor1', 400), ('/api/show/flow/paths?port=tor1:x', 400),
                             ('/api/show/flow/paths?most=0', 400), ('/api/show/flow/paths?most=1001', 400), ('/api/show/flow/paths?most=-1', 400),
                             ('/api/show/flow/paths?most=9x', 400), ('/api/show/flow/paths?node=nobody', 400), ('/api/show/flow/paths?flow=1', 400),
                             ('/api/entrance?node=h1', 404)):
            got, text = served.curl(path, '--path-as-is')
            if got != status or not json.loads(text)['error']:
                yield f'{path}: {got} {text}'


def has_metrics(it: Softspine) -> Problems:
    """/metrics is Prometheus' text, with the names of NCCL's inspector where collectives run"""
    fabric = it.write('collective.yaml', quiet_fabric(it).read_text() + 'collectives: [{name: c, op: all_reduce, size: [64KiB, 1MiB]}]\n')
    with it.running(fabric, '--http', '127.0.0.1:0') as run:
        served = Served(it, run)
        for _ in range(200):
            status, text = served.curl('/metrics')
            if text.count('nccl_bus_bandwidth_gbs{') == 2:
                break
        lines = text.splitlines()
        yield from (f'no sample: {line}' for line in lines if not line.startswith('#') and not METRIC.fullmatch(line))
        wanted = ('comm_name="c",n_nodes="4",nranks="4",collective="AllReduce",message_size="1-2MB",message_size_bytes="1048576",'
                  'algo_proto="Ring_')
        found = {name: float(line.rsplit(' ', 1)[1]) for line in lines for name in ('bus_bandwidth_gbs', 'collective_exec_time_microseconds')
                 if line.startswith(f'nccl_{name}{{') and wanted in line}
        size = it.show('collectives')['c']['sizes']['1048576']
        if status != 200 or found != {'bus_bandwidth_gbs': found.get('bus_bandwidth_gbs'),
                                      'collective_exec_time_microseconds': found.get('collective_exec_time_microseconds')} or len(found) != 2:
            yield f'{status}: {found} in {[line for line in lines if line.startswith("nccl")]}'
            return
        if abs(found['bus_bandwidth_gbs'] * 8e9 - size['busbw_bps']) > 1e-5 * size['busbw_bps']:
            yield f'busbw {found} where show has {size}'
        if abs(found['collective_exec_time_microseconds'] * 1e6 - size['time_ps']) > 1e-5 * size['time_ps']:
            yield f'time {found} where show has {size}'


def events_until(url: str, act, wanted) -> list[dict]:
    """All events from the head on, until one is as wanted; `act` is called when the head has come."""
    got: list[dict] = []
    with WebSocket(url + '/events') as reader:
        got += json.loads(reader.receive())
        act()
        while not any(wanted(event) for event in got):
            got += json.loads(reader.receive())
    return got


def sends_events(it: Softspine) -> Problems:
    """/events has what the event log has"""
    log = it.folder / 'events.jsonl'
    with it.running(it.write('running.yaml', FABRIC), '--http', '127.0.0.1:0', '--events', str(log)) as run:
        served = Served(it, run)

        def act() -> None:
            it('link', 'tor1:Ethernet8', 'down')
            it('link', 'tor1:Ethernet8', 'up')

        got = events_until(served.url, act, lambda event: event.get('event') == 'link_up')
        if got[0] != {'events': 1, 'testbed': 'running'}:
            yield f'begins with {got[0]}'
        for kind in ('link_down', 'fault', 'route_change', 'link_up'):
            if not any(event.get('event') == kind for event in got):
                yield f'no {kind} in {got[:20]}'
        times = [event['t_ps'] for event in got[1:]]
        if times != sorted(times):
            yield 'not in the order of time'
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    yield from (f'{event} is not in the log' for event in got if event not in logged)


def ends_with_the_run(it: Softspine) -> Problems:
    """a reader of /events is told that the run has ended"""
    with it.running(it.write('running.yaml', FABRIC), '--http', '127.0.0.1:0') as run:
        served = Served(it, run)

        got: list[dict] = []
        with WebSocket(served.url + '/events') as reader:
            got += json.loads(reader.receive())
            run.process.terminate()
            try:
                while True:
                    got += json.loads(reader.receive())
            except Closed as closed:
                code = closed.code
        if 'end_ps' not in got[-1] or code != 1000:
            yield f'closed by {code} after {got[-1]}'


def asks_for_the_token(it: Softspine) -> Problems:
    """with a token nothing of the fabric is read without it, and with control it is changed by it alone"""
    token = it.write('token', TOKEN + '\n')
    token.chmod(0o600)
    with it.running(quiet_fabric(it), '--http', '0.0.0.0:0', '--http-token', str(token), '--http-control') as run:
        served = Served(it, run)
        served.url = served.url.replace('0.0.0.0', '127.0.0.1')
        ours = ('-H', f'Authorization: Bearer {TOKEN}')
        body = ('-H', 'Content-Type: application/json', '-d', '{"link": "tor1:Ethernet8", "state": "down"}')
        for path in ('/metrics', '/api/show/fabric', '/api/openapi.json', '/events', '/api/nothing'):
            if served.curl(path)[0] != 401:
                yield f'{path} without a token: {served.curl(path)}'
        for path in ('/metrics', '/api/show/fabric'):
            if served.curl(path, *ours)[0] != 200:
                yield f'{path} with the token: {served.curl(path, *ours)}'
        if served.curl('/api/link', *body)[0] != 401 or not it.show('links')['tor1:Ethernet8']['up']:
            yield 'a link went down without a token'
        done = served.curl('/api/link', *ours, *body)
        if done != (200, '"tor1:Ethernet8: 1 link down"\n') and done != (200, '"tor1:Ethernet8: 1 link down"'):
            yield f'link down: {done}'
        if it.show('links')['tor1:Ethernet8']['up']:
            yield 'it is still up'
        document = served.json('/api/openapi.json', *ours)
        posts = sorted(path for path, operations in document['paths'].items() if 'post' in operations)
        if posts != ['/api/capture/start', '/api/capture/stop', '/api/clear/watermarks', '/api/fault', '/api/inject', '/api/link', '/api/profile']:
            yield f'posts: {posts}'
        for options, status in ((('-H', 'Host: evil.example:8080'), 421), (('-H', 'Origin: http://evil.example'), 403), (('-H', 'Sec-Fetch-Site: cross-site'), 403),
                                (('-X', 'OPTIONS'), 405), (('-X', 'DELETE'), 405)):
            got = served.curl('/api/show/fabric', *ours, *options)
            if got[0] != status:
                yield f'{options}: {got}'

        with WebSocket(served.url + '/events', ('softspine.events', 'bearer.' + TOKEN)) as reader:
            if reader.protocol != 'softspine.events' or not reader.receive():
                yield 'no events by a subprotocol'
        try:
            WebSocket(served.url + '/events', ('softspine.events', 'bearer.' + TOKEN[:-1]))
            yield 'events without the token'
        except Refused as refused:
            if refused.status != 401:
                yield f'events without the token: {refused}'


def refuses_what_is_open_to_all(it: Softspine) -> Problems:
    """an address that others reach needs a token, and control does; a token that others read is none"""
    fabric = it.write('running.yaml', FABRIC)
    token = it.write('token', TOKEN)
    for options, words in ((['--http', '0.0.0.0:0'], 'needed'), (['--http', '[::]:0'], 'needed'), (['--http', '127.0.0.1:0', '--http-control'], '--http-token'),
                           (['--http', '127.0.0.1:0', '--http-token', token], '0600'), (['--http', 'example.org:80'], 'no address'),
                           (['--http-control'], '--http'), (['--http', '127.0.0.1:0', '--http-token', it.folder / 'none'], 'No such file')):
        done = it('run', fabric, *options)
        yield from done.exited(2)
        yield from done.complains(words)


def is_off_unless_asked(it: Softspine) -> Problems:
    """without --http no port is listened at"""
    with it.running(quiet_fabric(it)) as run:
        listens = subprocess.run(['ss', '-Hltnp'], capture_output=True, text=True, check=True).stdout
        yield from (line for line in listens.splitlines() if f'pid={run.process.pid},' in line)


def bears_abuse(it: Softspine) -> Problems:
    """garbage, slow, half-closed and greedy clients, 1,000 in all, and readers of events who do not read: the flows keep their rate"""
    expected = 400e6 / 8 / (1024 + 58 + 24)
    rng = random.Random(1)
    upgrade = b'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
    kinds = (rng.randbytes(200) + b'\r\n\r\n', b'GET / HT', b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' * 20,
             b'GET /api/show/report HTTP/1.1\r\nHost: localhost\r\n\r\n', b'GET /api/show/flow/paths?most=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n' * 20, b'POST /api/link HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n',
             b'GET /events HTTP/1.1\r\nHost: localhost\r\n' + upgrade)
    with it.running(it.write('running.yaml', FABRIC), '--http', '127.0.0.1:0') as run:
        served = Served(it, run)
        host, port = served.url.removeprefix('http://').split(':')
        crowd = []
        for n in range(1000):
            one = socket.create_connection((host, int(port)), 5)
            one.sendall(kinds[n % len(kinds)])
            if n % 7 == 0:
                one.shutdown(socket.SHUT_WR)
            crowd.append(one)
        low, high = rate_now(it, 3)
        if not low * 0.97 <= expected <= high * 1.03:
            yield f'{low:.0f} to {high:.0f} packets a second instead of {expected:.0f}'
        for one in crowd:
            one.close()
        if served.curl('/api/show/fabric')[0] != 200:
            yield 'it does not answer afterwards'
        report = it.show('report')
        if not report['totals']['balanced'] or report['flows']['w']['missing_packets'] or report['totals']['dropped_packets']:
            yield f'totals: {report["totals"]}'
        yield from run.end(signal.SIGINT).exited(0)


if __name__ == '__main__':
    sys.exit(main([serves_what_show_shows, has_metrics, sends_events, ends_with_the_run, asks_for_the_token, refuses_what_is_open_to_all,
                   is_off_unless_asked, bears_abuse]))
