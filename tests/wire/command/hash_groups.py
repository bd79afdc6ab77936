# SPDX-License-Identifier: Apache-2.0
"""`show hash groups`: members, shares and expected shares of ECMP groups and LAGs, against ports' counters, routes and weights; and the page's list of them."""
from __future__ import annotations

import sys
import time
from collections import defaultdict

from live_page import ROWS, Browser
from softspine import Problems, Softspine, main
from web_service import Served

# tor1 has a LAG of three ports to spine1, a link to spine2 with three times the weight, and one to spine3.
GROUPED = '''name: grouped
run: {clock: wall, duration: 600s}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    tor2: {kind: switch, role: tor}
    spine1: {kind: switch, role: aggregation}
    spine2: {kind: switch, role: aggregation}
    spine3: {kind: switch, role: aggregation}
    h1: {kind: host}
    h2: {kind: host}
    h3: {kind: host}
    h4: {kind: host}
  links:
    - {endpoints: [tor1, h1], rate: 1Gbps, length: 3m}
    - {endpoints: [tor1, h2], rate: 1Gbps, length: 3m}
    - {endpoints: [tor2, h3], rate: 1Gbps, length: 3m}
    - {endpoints: [tor2, h4], rate: 1Gbps, length: 3m}
    - &up {endpoints: [tor1, spine1], rate: 1Gbps, length: 40m}
    - *up
    - *up
    - {endpoints: [tor1, spine2], rate: 1Gbps, length: 40m}
    - {endpoints: [tor1, spine3], rate: 1Gbps, length: 40m}
    - {endpoints: [tor2, spine1], rate: 1Gbps, length: 40m}
    - {endpoints: [tor2, spine2], rate: 1Gbps, length: 40m}
    - {endpoints: [tor2, spine3], rate: 1Gbps, length: 40m}
  lags: [{name: bundle, between: [tor1, spine1]}]
profiles: {default: {hash: {algorithm: XXH3}, lag_hash: {seed: 3}, groups: {weights: {spine2: 3}}}}
workload:
  - {name: w, pattern: pairs, from: [h1, h2], to: [h3, h4], message: 64KiB, messages: 2, mtu: 1024, qps: 64, source_port: per_qp, rate: 400Mbps}
  - {name: small, pattern: pairs, from: [h3], to: [h1], message: 1KiB, messages: 1, mtu: 1024}
'''


def settled(it: Softspine) -> dict:
    """Counters of ports once all flows have ended."""
    until = time.monotonic() + 60
    while any(row['state'] != 'ended' for row in it.show('flow', 'paths', '--most', '1000')['rows']) and time.monotonic() < until:
        time.sleep(0.1)
    return it.show('counters')


def groups_of(rows: list[dict]) -> dict[str, list[dict]]:
    out: dict[str, list[dict]] = defaultdict(list)
    for row in rows:
        out[row['group']].append(row)
    return out


def hosts_group(rows: list[dict], subnet: str) -> list[dict]:
    return next(rows for rows in groups_of(rows).values() if subnet in rows[0]['destinations'])


def has_shares_and_expected_ones(it: Softspine) -> Problems:
    """shares are those of the ports' counters, expected ones those of weights and members; a link that goes down leaves its groups"""
    with it.running(it.write('grouped.yaml', GROUPED)):
        sent = {name: (port['SAI_PORT_STAT_IF_OUT_UCAST_PKTS'], port['SAI_PORT_STAT_IF_OUT_OCTETS']) for name, port in settled(it)['tor1'].items() if 'SAI_PORT_STAT_IF_OUT_OCTETS' in port}
        lags = it.show('lags')['bundle']
        rows = it.show('hash', 'groups', '--node', 'tor1')
        route = next(row for row in it.show('ip', 'route', '--node', 'tor1') if row['what'] == '2 hosts' and row['next_hops'] not in ('connected', 'unreachable'))
        ecmp, lag = hosts_group(rows, route['destination']), groups_of(rows)['bundle']
        uplinks = sorted(port for port, link in ((port.split(':')[1], link) for port, link in it.show('links').items() if port.startswith('tor1:')) if 'spine' in link['to'])
        bundle = [port for port in uplinks if it.show('links')[f'tor1:{port}']['to'].startswith('spine1')]
        singles = [port for port in uplinks if port not in bundle]
        together = tuple(sum(sent[port][i] for port in bundle) for i in (0, 1))
        wanted = {'bundle': (together, 1 / 5), singles[0]: (sent[singles[0]], 3 / 5), singles[1]: (sent[singles[1]], 1 / 5)}
        yield from compared(ecmp, wanted)
        yield from compared(lag, {port: (sent[port], 1 / 3) for port in bundle})
        if sum(row['tx_bytes'] for row in lag) != lags['ends']['tor1']['tx_bytes'] or abs(max(row['over_expected'] for row in lag) - lags['ends']['tor1']['max_over_mean']) > 2e-6:
            yield f'{lag} beside {lags}'
        if {f'{row["to"]} via {row["member"]}' for row in ecmp} != set(route['next_hops'].split(', ')):
            yield f'{ecmp} beside {route}'
        if {row['to'] for row in ecmp} != {'spine1', 'spine2', 'spine3'} or {row['mode'] for row in rows} != {'hash'}:
            yield f'next hops: {rows}'
        if any(0.5 > row['over_expected'] or row['over_expected'] > 2 for row in ecmp):
            yield f'not spread: {ecmp}'
        it('link', f'tor1:{singles[0]}', 'down')
        left = hosts_group(it.show('hash', 'groups', '--node', 'tor1'), route['destination'])
        if [(row['member'], row['expected']) for row in left] != [('bundle', 0.5), (singles[1], 0.5)] and [(row['member'], row['expected']) for row in left] != [(singles[1], 0.5), ('bundle', 0.5)]:
            yield f'without {singles[0]}: {left}'
        if it.show('hash', 'groups', '--node', 'spine3'):
            yield 'spine3 chooses among nothing, and has groups'


def compared(rows: list[dict], wanted: dict[str, tuple[tuple[int, int], float]]) -> Problems:
    of_all = sum(sent[1] for sent, _ in wanted.values())
    if {row['member'] for row in rows} != set(wanted):
        yield f'members: {rows} instead of {wanted}'
        return
    for row in rows:
        (packets, size), expected = wanted[row['member']]
        share = size / of_all
        found = (row['tx_packets'], row['tx_bytes'])
        if found != (packets, size) or abs(row['expected'] - expected) > 1e-6 or abs(row['share'] - share) > 1e-6 or abs(row['over_expected'] - share / expected) > 2e-6:
            yield f'{row} instead of {packets}, {size}, {share}, {expected}'


def stand_on_the_page(it: Softspine) -> Problems:
    """the page's groups of a chosen switch have the numbers of `show hash groups`, small and large, by keys"""
    with it.running(it.write('grouped.yaml', GROUPED), '--http', '127.0.0.1:0') as run:
        served = Served(it, run)
        settled(it)
        for size, dark in (((1300, 1100), False), ((420, 900), True)):
            browser = Browser(it, served.url, size, dark)
            try:
                yield from groups_on(it, browser)
                browser.picture(it.folder / f'groups-{size[0]}.png')
            finally:
                browser.end()


def groups_on(it: Softspine, browser: Browser) -> Problems:
    browser.until("kept.length > 2")
    browser.value("choose(fabric.groups.find((group) => group.name === 'tor1')); document.getElementById('fabric').focus()")
    browser.press('Enter')
    if not browser.until("document.querySelectorAll('#members tr').length > 2"):
        yield 'no groups: ' + str(browser.value("document.getElementById('members').innerText"))
        return
    groups = groups_of(it.show('hash', 'groups', '--node', 'tor1'))
    names = browser.value("[...document.getElementById('group').options].map((option) => option.value)")
    if names != list(groups):
        yield f'the list has {names} instead of {list(groups)}'
    for name, rows in groups.items():
        browser.value(f"list = document.getElementById('group'); list.value = '{name}'; list.dispatchEvent(new Event('change'))")
        shown = [[*row[:2], row[3], row[6]] for row in browser.value(ROWS.format('members'))]
        if shown != [[row['member'], row['to'], str(row['tx_packets']), f'{row["over_expected"]:.2f}'] for row in rows]:
            yield f'{name}: {shown} instead of {rows}'
        worst = max(row['over_expected'] for row in rows)
        if f'{worst:.2f} times' not in browser.value("document.getElementById('evenness').textContent"):
            yield f'{name}: ' + browser.value("document.getElementById('evenness').textContent")
    browser.value('groupRows.isOld = true')
    if not browser.until('!groupRows.isOld'):
        yield 'the page does not ask again'
    if browser.value("document.getElementById('group').value") != list(groups)[-1]:
        yield 'the chosen group does not stay'


if __name__ == '__main__':
    sys.exit(main([has_shares_and_expected_ones, stand_on_the_page]))
