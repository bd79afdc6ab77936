# SPDX-License-Identifier: Apache-2.0
"""`run --record`: the queries of docs/recording.md against the report, its tables against the manual, and what a killed run leaves."""
from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

from softspine import ROOT, Problems, Softspine, main

TESTBED = '''name: questions
run: {clock: virtual, duration: 700us, seed: 5}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 3, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: in, pattern: incast, from: [h4, h5, h2], to: h1, message: 256KiB, messages: 1000, dscp: 3}
  - {name: ends, pattern: pairs, from: [h2], to: [h3], message: 16KiB, messages: 2, dscp: 3}
  - {name: asks, pattern: pairs, from: [h6], to: [h1], message: 64KiB, messages: 200, transport: rc, congestion_control: bdp_fc, dscp: 3}
  - {name: lossy, pattern: incast, from: [h4, h5], to: h3, message: 256KiB, messages: 1000, dscp: 8}
faults:
  - {at: 100us, node: h1, set: storm, priorities: [3], until: 250us}
  - {at: 400us, link: "tor1:Ethernet12", set: down}
  - {at: 500us, link: "tor1:Ethernet12", set: up}
expect: [{value: totals.balanced, equal: true}]
'''
failures: list[str] = []


def check(condition: bool, what: str) -> None:
    if not condition:
        failures.append(what)


def found() -> Problems:
    yield from failures
    failures.clear()


class Run:
    def __init__(self, program: str, folder: Path) -> None:
        (folder / 'questions.yaml').write_text(TESTBED, encoding='utf-8')
        subprocess.run([program, 'run', 'questions.yaml', '--quiet', '--no-server', '--record', 'run.sqlite', '--report', 'report.json', '--events',
                        'events.jsonl', '--record-interval', '10us', '--flow-series', 'flows.jsonl', '--sample-interval', '10us'],
                       cwd=folder, check=True, stdout=subprocess.DEVNULL)
        self.report = json.loads((folder / 'report.json').read_text(encoding='utf-8'))
        self.events = [json.loads(line) for line in (folder / 'events.jsonl').read_text(encoding='utf-8').splitlines()]
        self.flow_lines = [json.loads(line) for line in (folder / 'flows.jsonl').read_text(encoding='utf-8').splitlines()[1:-1]]
        self.database = sqlite3.connect(folder / 'run.sqlite')
        self.database.row_factory = sqlite3.Row

    def rows(self, sql: str) -> list[sqlite3.Row]:
        return self.database.execute(sql).fetchall()


def pauses_of(report: dict) -> dict[tuple[str, int], int]:
    """Of switches' ports, then of hosts': what each priority waited in all."""
    out = {}
    for port, row in report['ports'].items():
        for priority, counters in row.get('priorities', {}).items():
            out[port, int(priority)] = counters.get('paused_ps', 0)
    for host, row in report['hosts'].items():
        for port, priorities in row.get('pause', {}).items():
            for priority, counters in priorities.items():
                out[f'{host}:{port}', int(priority)] = counters.get('paused_ps', 0)
    return out


def longest_pause(run: Run, rows: list[sqlite3.Row]) -> None:
    pauses = pauses_of(run.report)
    check(rows[0]['paused_ps'] == max(pauses.values()) == pauses[rows[0]['port'], rows[0]['priority']], 'the longest pause')
    check(run.report['links'][rows[0]['port']]['to'] == rows[0]['paused_by'], 'who paused it')


def full_queue(run: Run, rows: list[sqlite3.Row]) -> None:
    row = rows[0]
    check(row['to_ps'] - row['from_ps'] >= 100_000_000, 'flow 4 stood still while the host stormed')
    queue = run.report['ports'][row['port']]['queues'][str(row['queue'])]
    check(0 < row['current_bytes'] <= queue['watermark_bytes'], 'the level of the full queue')


def most_drops(run: Run, rows: list[sqlite3.Row]) -> None:
    drops = {(port, reason): packets for port, row in run.report['ports'].items() for reason, packets in row.get('drops', {}).items()
             if not reason.endswith('consumed')}
    check(rows[0]['packets'] == max(drops.values()) == drops[rows[0]['port'], rows[0]['reason']], 'the port that dropped most')


def busiest_links(run: Run, rows: list[sqlite3.Row]) -> None:
    links = sorted(run.report['links'].items(), key=lambda each: (-each[1]['tx_bytes'], each[0]))
    check([(row['port'], row['utilisation']) for row in rows] == [(port, link['utilisation']) for port, link in links[:5]], 'the busiest links')


def uneven_uplinks(run: Run, rows: list[sqlite3.Row]) -> None:
    shares: dict[str, list[float]] = {}
    for port, link in run.report['links'].items():
        if link.get('share') is not None:
            shares.setdefault(port.split(':')[0], []).append(link['share'])
    check({row['switch']: (row['least'], row['most']) for row in rows} == {name: (min(of), max(of)) for name, of in shares.items()}, 'shares of uplinks')
    check(len(rows) == 2, 'both ToRs have uplinks')


def completions(run: Run, rows: list[sqlite3.Row]) -> None:
    check({row['workload']: (row['completed'], row['longest_ps'], row['again']) for row in rows} ==
          {name: (it['completed'], it['fct_max_ps'], it['retransmitted_packets']) for name, it in run.report['flows'].items()}, 'completion times')
    check(sum(row['completed'] for row in rows) > 0, 'some flow ends')


def costs_of_faults(run: Run, rows: list[sqlite3.Row]) -> None:
    keys = ('window_ps', 'lost_packets', 'flows_stalled', 'longest_stall_ps')
    wanted = [(fault['what'], *(fault['loss_window'][key] for key in keys)) for fault in run.report['faults'] if 'loss_window' in fault]
    check([(row['what'], *(row[key] for key in keys)) for row in rows] == wanted and len(wanted) >= 2, 'what faults cost')


def first_xoff(run: Run, rows: list[sqlite3.Row]) -> None:
    first = next(event for event in run.events if event.get('event') == 'xoff_raised')
    check((rows[0]['t_ps'], rows[0]['port'], rows[0]['priority_group']) == (first['t_ps'], first['port'], first['group']), 'the first XOFF')


def full_pools(run: Run, rows: list[sqlite3.Row]) -> None:
    wanted = {f'{switch}:{pool}': counters['watermark_bytes'] for switch, row in run.report['switches'].items()
              for pool, counters in row.get('pools', {}).items() if counters.get('watermark_bytes')}
    check({row['pool']: row['most_bytes'] for row in rows if row['most_bytes']} == wanted and len(wanted) > 2, 'watermarks of pools')
    check(all(row['size_bytes'] >= (row['most_bytes'] or 0) for row in rows), 'no pool is fuller than it is large')


def window_of_time(run: Run, rows: list[sqlite3.Row]) -> None:
    by_time = run.rows("SELECT t_ps, port, queue, current_bytes FROM queue_levels WHERE t_ps BETWEEN 150000000 AND 200000000 AND port LIKE 'tor1:%'")
    check([tuple(row) for row in rows] == [tuple(row) for row in by_time] and len(rows) > 5, 'a part of the queues, by rows and by time')


CHECKS = [longest_pause, full_queue, most_drops, busiest_links, uneven_uplinks, completions, costs_of_faults, first_xoff, full_pools, window_of_time]


def ask_the_questions(run: Run) -> None:
    manual = (ROOT / 'docs/recording.md').read_text(encoding='utf-8')
    questions = re.findall(r'^### (.+?)\n.*?```sql\n(.+?)```', manual, re.S | re.M)
    check(len(questions) == len(CHECKS), f'{len(questions)} questions have {len(CHECKS)} checks')
    for (question, sql), looks in zip(questions, CHECKS):
        rows = run.rows(sql)
        check(bool(rows), f'{question} no answer')
        if rows:
            looks(run, rows)


def name_the_tables(run: Run) -> None:
    manual = (ROOT / 'docs/recording.md').read_text(encoding='utf-8')
    for row in run.rows("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"):
        check(re.search(rf'\b{row["name"]}\b', manual) is not None, f'docs/recording.md does not name {row["name"]}')
    check(run.rows('SELECT text FROM testbed')[0]['text'] == TESTBED, 'the testbed as it was')


def have_the_flow_series(run: Run) -> None:
    columns = ['rate_bps', 'window_bytes', 'rtt_ps', 'sent_bytes', 'acks', 'cnps', 'ce_echoes']
    rows = run.rows(f'SELECT t_ps, source, source_qp, {", ".join("s." + column for column in columns)} FROM flow_samples AS s '
                    'JOIN flows USING(flow_id) ORDER BY s.rowid')
    wanted = [tuple(line[key] for key in ('t_ps', 'source', 'source_qp', *columns)) for line in run.flow_lines]
    check([tuple(row) for row in rows] == wanted and len(wanted) > 10, 'flows over time are those of --flow-series')


def leave_a_readable_file(program: str, folder: Path) -> None:
    """A run that is killed while it records."""
    (folder / 'long.yaml').write_text(TESTBED.replace('700us', '10s'), encoding='utf-8')
    path = folder / 'killed.sqlite'
    with subprocess.Popen([program, 'run', 'long.yaml', '--quiet', '--no-server', '--record', path, '--record-interval', '1us'], cwd=folder,
                          stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while not path.exists() or path.stat().st_size < 3_000_000:
            check(process.poll() is None, 'the run to be killed has ended')
            if process.poll() is not None:
                return
        process.send_signal(signal.SIGKILL)
    killed = sqlite3.connect(path)
    check(killed.execute('PRAGMA integrity_check').fetchone()[0] == 'ok', 'a killed run leaves a sound file')
    samples, rows = killed.execute('SELECT count(*), max(queue_rows) FROM samples').fetchone()
    check(samples > 10, 'a killed run leaves its samples')
    check(rows == killed.execute('SELECT count(*) FROM queue_samples').fetchone()[0], 'whole batches')
    check(not killed.execute("SELECT 1 FROM run WHERE key = 'end_ps'").fetchall(), 'no results')


def answers_the_questions(it: Softspine) -> Problems:
    """the manual's ten questions have the report's answers, and its tables are those of a recording"""
    run = Run(it.binary, it.folder)
    ask_the_questions(run)
    name_the_tables(run)
    have_the_flow_series(run)
    yield from found()


def survives_a_kill(it: Softspine) -> Problems:
    """a killed run leaves what it has recorded, whole"""
    leave_a_readable_file(it.binary, it.folder)
    yield from found()


if __name__ == '__main__':
    sys.exit(main([answers_the_questions, survives_a_kill]))
