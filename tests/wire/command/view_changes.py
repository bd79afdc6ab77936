# SPDX-License-Identifier: Apache-2.0
"""`softspine view` of what changes now and then: hash groups, and what ranks did and waited for, at any instant by the recording's rows, and at the end as the running fabric answered."""
from __future__ import annotations

import json
import signal
import sys
import time
from collections import defaultdict

from hash_groups import GROUPED
from live_page import ROWS, Browser
from recording import TESTBED
from softspine import Problems, Run, Softspine, main
from view import Recorded, viewed
from web_service import Served

RING = 'collectives: [{name: ring, op: all_reduce, size: 512KiB, algorithm: ring, protocol: simple, ranks: [h1, h2, h3, h4, h5, h6]}]\n'
KINDS = ('compute', 'reduce', 'send', 'wait')


def record(it: Softspine, text: str, *options: str) -> None:
    done = it('run', it.write('run.yaml', text), '--quiet', '--no-server', '--record', 'run.sqlite', '--report', 'report.json', '--record-interval', '10us', *options)
    if done.status != 0:
        raise AssertionError(done.err)


def wanted_groups(of: Recorded, node: str, at_ps: int) -> list[tuple]:
    """By SQL: group, member, peer, buckets' share, share of bytes, bytes."""
    table = of.one('SELECT max(hash_table_id) FROM hash_tables JOIN nodes USING(node_id) WHERE name = ? AND t_ps <= ?', node, at_ps)
    then = of.one('SELECT coalesce(max(t_ps), 0) FROM samples WHERE t_ps <= ?', at_ps)
    sent = dict(of.rows.execute('SELECT port_id, sum(tx_bytes) FROM port_samples WHERE t_ps <= ? GROUP BY port_id', (then,)))
    groups: dict[str, dict[str, list]] = defaultdict(dict)
    for group, member, buckets, port, peer in of.rows.execute(
            'SELECT g.name, member, buckets, m.port_id, peers.name FROM hash_groups AS g JOIN hash_group_members AS m USING(hash_group_id) JOIN ports ON ports.port_id = m.port_id '
            'JOIN ports AS o ON o.port_id = ports.peer_port_id JOIN nodes AS peers ON peers.node_id = o.node_id WHERE hash_table_id = ? ORDER BY hash_group_id, m.port_id', (table,)):
        row = groups[group].setdefault(member, [peer, buckets, 0])
        row[2] += sent.get(port) or 0
    out = []
    for group, members in groups.items():
        buckets = sum(row[1] for row in members.values())
        total = sum(row[2] for row in members.values())
        out += [(group, member, peer, round(own / buckets, 6), round(moved / total, 6) if total else 0, moved) for member, (peer, own, moved) in members.items()]
    return out


def has_groups_of_each_instant(it: Softspine) -> Problems:
    """members and shares at any instant are those of the rows, also while a link is down"""
    record(it, TESTBED.replace('hosts_per_tor: 3,', 'hosts_per_tor: 3, links_per_spine: 2,').replace('profiles:', 'topology: {lags: [{name: bundle, between: [tor1, spine1]}]}\nprofiles:', 1))
    with viewed(it, record=False) as of:
        seen = set()
        for node in ('tor1', 'tor2', 'spine1'):
            for at_ps in (0, 55_000_000, 399_000_000, 450_000_000, of.end_ps):
                rows = of.served.json(f'/api/show/hash/groups?node={node}&at_ps={at_ps}')
                found = [(row['group'], row['member'], row['to'], row['expected'], row['share'], row['tx_bytes']) for row in rows]
                if found != wanted_groups(of, node, at_ps):
                    yield f'{node} at {at_ps}: {found} instead of {wanted_groups(of, node, at_ps)}'
                seen.add((node, len(found)))
        if len([1 for node, members in seen if node == 'tor1' and members > 2]) < 2:
            yield f'the link that is down leaves no group: {seen}'
        for path in ('/api/show/hash/groups?node=h1', '/api/show/hash/groups?node=tor9'):
            if of.served.curl(path)[0] != 400:
                yield f'{path}: {of.served.curl(path)}'


def wanted_waits(of: Recorded, at_ps: int) -> list[tuple]:
    """By SQL: rank, waits, their sum, the first of the longest, its begin and reason."""
    ranks: dict[int, list] = {}
    for rank, begun, ended, reason in of.rows.execute('SELECT rank, from_ps, t_ps, reason FROM rank_waits WHERE t_ps <= ? ORDER BY wait_id', (at_ps,)):
        row = ranks.setdefault(rank, [0, 0, 0, 0, ''])
        row[0] += 1
        row[1] += ended - begun
        if ended - begun > row[2]:
            row[2:] = [ended - begun, begun, reason]
        elif reason is not None:
            raise AssertionError(f'a reason of a wait that is not the longest: {rank}, {ended}')
    return sorted(((rank, *row) for rank, row in ranks.items()), key=lambda row: (-row[3], row[0]))


def merged(spans: list[tuple[int, int]]) -> list[list[int]]:
    out: list[list[int]] = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def has_ranks_of_each_instant(it: Softspine) -> Problems:
    """waits, causes and spans at any instant are those of the rows; at the end they are those of `run --steps`; the page shows them"""
    record(it, TESTBED + RING, '--steps', 'steps.json')
    (job,) = json.loads((it.folder / 'steps.json').read_text())['jobs']
    with viewed(it, record=False) as of:
        for at_ps in (0, 120_000_000, 260_000_000, of.end_ps):
            (waits,) = of.served.json(f'/api/show/rank/waits?at_ps={at_ps}')
            found = [(row['rank'], row['waits'], row['waited_ps'], row['longest_ps'], row['from_ps'], row['text']) for row in waits['rows']]
            if found != wanted_waits(of, at_ps):
                yield f'at {at_ps}: {found} instead of {wanted_waits(of, at_ps)}'
            sums = sum(row['waited_ps'] for row in waits['causes']), sum(row['waits'] for row in waits['causes'])
            if sums != (sum(row[2] for row in found), sum(row[1] for row in found)):
                yield f'at {at_ps}: causes {waits["causes"]}'
            (spans,) = of.served.json(f'/api/show/rank/spans?at_ps={at_ps}')
            for row in spans['rows']:
                for kind in KINDS:
                    rows = of.rows.execute('SELECT from_ps, to_ps FROM rank_spans WHERE rank = ? AND kind = ? AND to_ps > from_ps AND to_ps <= ?', (row['rank'], kind, at_ps)).fetchall()
                    if [[begin, end] for begin, end, _ in row['spans'][kind]] != merged(rows):
                        yield f'rank {row["rank"]}, {kind} at {at_ps}: {row["spans"][kind]} instead of {merged(rows)}'
            begun = of.one('SELECT count(DISTINCT rank) FROM rank_steps WHERE t_ps <= ?', at_ps)
            if waits['ranks'] != begun or spans['ranks'] != begun or len(spans['rows']) != begun:
                yield f'at {at_ps}: {waits["ranks"]} and {spans["ranks"]} ranks instead of {begun}'
        (waits,) = of.served.json('/api/show/rank/waits')
        (spans,) = of.served.json('/api/show/rank/spans')
        if waits['causes'] != job['causes'] or {row['rank']: (row['waits'], row['waited_ps']) for row in waits['rows']} != {rank['rank']: (rank['waits'], rank['waited_ps']) for rank in job['ranks'] if rank['waits']}:
            yield f'{waits} instead of {job}'
        if [row['spans'] for row in spans['rows']] != [{kind: [[span['from_ps'], span['to_ps'], span['busy_ps']] for span in rank['spans'][kind]] for kind in KINDS} for rank in job['ranks']]:
            yield f'{spans} instead of {job}'
        yield from on_the_page(it, of, waits, spans)


def on_the_page(it: Softspine, of: Recorded, waits: dict, spans: dict) -> Problems:
    browser = Browser(it, of.served.url, (1300, 1500), False)
    try:
        if not browser.until("!document.getElementById('waits').hidden && strips && strips.rows.length === 6"):
            yield 'no ranks: ' + str(browser.value("document.getElementById('waits').innerText"))
            return
        if [row[7] for row in browser.value(ROWS.format('rank-waits'))] != [row['text'] for row in waits['rows']]:
            yield f'waits: {browser.value(ROWS.format("rank-waits"))}'
        if browser.value('strips.rows.map((row) => row.spans)') != [row['spans'] for row in spans['rows']]:
            yield 'strips'
        instants = of.served.json('/api/recording/samples')['instants_ps']
        early = next(i for i, t in enumerate(instants) if t >= 120_000_000)
        browser.value(f"slider = document.getElementById('slider'); slider.value = '{early}'; slider.dispatchEvent(new Event('input'))")
        (then,) = of.served.json(f'/api/show/rank/waits?at_ps={instants[early]}')
        texts = json.dumps([row['text'] for row in then['rows']])
        if then == waits or not browser.until(f"JSON.stringify([...document.querySelectorAll('#rank-waits tr')].slice(1).map((row) => row.lastChild.textContent)) === JSON.stringify({texts})"):
            yield f'the slider leads to {browser.value(ROWS.format("rank-waits"))} instead of {then}'
        browser.value("opened = 'tor1'; askGroups()")
        rows = of.served.json(f'/api/show/hash/groups?node=tor1&at_ps={instants[early]}')
        first = [row['member'] for row in rows if row['group'] == rows[0]['group']]
        if not browser.until(f"JSON.stringify([...document.querySelectorAll('#members tr')].slice(1).map((row) => row.firstChild.textContent)) === JSON.stringify({json.dumps(first)})"):
            yield f'groups: {browser.value(ROWS.format("members"))} instead of {rows}'
        browser.value("document.getElementById('waits').scrollIntoView()")
        browser.picture(it.folder / 'ranks.png')
    finally:
        browser.end()


def says_what_was_not_asked_for(it: Softspine) -> Problems:
    """without --steps there are spans and no reasons, without ranks neither; the page says so"""
    record(it, TESTBED + RING)
    with viewed(it, record=False) as of:
        lacks = of.served.json('/api/show/map')['recording']['lacks']
        if not any('--steps' in sentence for sentence in lacks):
            yield f'lacks: {lacks}'
        if of.served.json('/api/show/rank/waits') is not None or len(of.served.json('/api/show/rank/spans')[0]['rows']) != 6:
            yield 'waits without reasons, or no spans'
        browser = Browser(it, of.served.url, (1300, 1500), False)
        try:
            if not browser.until("!document.getElementById('strips-part').hidden && document.getElementById('waits-part').hidden && !document.getElementById('waits').hidden"):
                yield 'the page has no strips'
        finally:
            browser.end()
    record(it, TESTBED)
    with viewed(it, record=False) as of:
        if of.served.json('/api/show/rank/waits') is not None or of.served.json('/api/show/rank/spans') is not None:
            yield 'ranks where there are none'


def answers_as_the_fabric_did(it: Softspine) -> Problems:
    """groups, waits and spans at the end are, byte for byte, what the running fabric answered"""
    views = [f'hash/groups?node={node}' for node in ('tor1', 'tor2', 'spine1')] + ['rank/waits', 'rank/spans']
    text = GROUPED.replace('profiles: {default: {', 'profiles: {default: {base: sonic-tomahawk-100g-40m, ') + RING.replace('h4, h5, h6', 'h4').replace('512KiB', '2MiB')
    with it.running(it.write('grouped.yaml', text), '--http', '127.0.0.1:0', '--record', 'run.sqlite', '--steps', 'steps.json') as run:
        live = Served(it, run)
        until = time.monotonic() + 60
        while it.show('collectives')['ring']['ranks_done'] < 4 and time.monotonic() < until:
            pass
        while any(row['state'] != 'ended' for row in it.show('flow', 'paths', '--most', '1000')['rows'] if row['workload'] != 'ring') and time.monotonic() < until:
            pass
        two_looks_later = it.show('fabric')['now_ps'] + 200_000_000_000  # at ranks' steps, every 100 ms
        while it.show('fabric')['now_ps'] < two_looks_later and time.monotonic() < until:
            pass
        answers = {view: live.json('/api/show/' + view) for view in views}
        run.end(signal.SIGINT, timeout=20)
    view = Run(it, ['view', 'run.sqlite'])
    served = Served(it, view)
    for path, answer in answers.items():
        recorded = served.json('/api/show/' + path)
        if recorded != answer or not answer:
            yield f'{path}: {recorded} instead of {answer}'
    yield from view.end(signal.SIGINT, timeout=20).exited(0)


if __name__ == '__main__':
    sys.exit(main([has_groups_of_each_instant, has_ranks_of_each_instant, says_what_was_not_asked_for, answers_as_the_fabric_did]))
