# SPDX-License-Identifier: Apache-2.0
"""`run --html` and `softspine report`: the numbers on the page are the report's, nothing on it runs, and names that are HTML stay text."""
from __future__ import annotations

import json
import re
import shutil
import sqlite3
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from softspine import ROOT, Problems, Skip, Softspine, main

MOST_BYTES = 5_000_000
HOSTILE = '<script>alert(1)</script>"\'&<img src=x onerror=alert(2)>'
# testbed, sections of its page beside those of all, numbers on it at least
TESTBEDS = [('pfc-storm', ['faults', 'groups', 'hash', 'shares'], 50), ('link-flap', ['faults', 'hash', 'shares'], 40), ('ring-allreduce', ['collectives', 'groups'], 40),
            ('training-step', ['groups', 'shares', 'trainings', 'waits'], 40), ('incast', ['groups', 'hash', 'shares'], 25)]
ALWAYS = ['run', 'fabric', 'pauses', 'queues', 'flows', 'drops']
STEPS = 10  # of the colour scale
BINS = {'pauses': 240, 'groups': 400}
failures: list[str] = []


def check(condition: bool, what: str) -> None:
    if not condition:
        failures.append(what)


def complaints() -> Problems:
    yield from failures[:40]
    failures.clear()


class Page(HTMLParser):
    """The sections of a page, its numbers by their place in the report, and every tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.values: list[tuple[str, float]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ''
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append((tag, named))
        if tag == 'section':
            self.sections.append(named['id'] or '')
        if tag == 'data':
            self.values.append((named['data-report'] or '', float(named['value'] or 'nan')))

    def handle_data(self, data: str) -> None:
        self.text += data


def found(report: object, pointer: str) -> object:
    for step in pointer.split('/')[1:]:
        key = step.replace('~1', '/').replace('~0', '~')
        report = report[int(key)] if isinstance(report, list) else report[key]
    return report


def nothing_runs(page: Page, name: str) -> None:
    for tag, attributes in page.tags:
        check(tag not in ('script', 'iframe', 'object', 'embed', 'form', 'link', 'base'), f'{name}: <{tag}>')
        for key, value in attributes.items():
            check(not key.startswith('on'), f'{name}: {tag} {key}')
            if key in ('src', 'href'):
                check((value or '').startswith(('#', 'data:image/svg+xml,')), f'{name}: {key} {value[:40] if value else value}')


def numbers_are_the_reports(program: str, folder: Path, name: str, sections: list[str], most: int) -> None:
    ran = subprocess.run([program, 'run', ROOT / f'testbeds/{name}.yaml', '--quiet', '--no-server', '--html', 'page.html', '--record', 'run.sqlite',
                          '--report', 'report.json', '--idle-rows'], cwd=folder, capture_output=True, text=True, check=False)
    check(ran.returncode == 0, f'{name}: {ran.stderr}')
    text = (folder / 'page.html').read_text(encoding='utf-8')
    report = json.loads((folder / 'report.json').read_text(encoding='utf-8'))
    page = Page(text)
    check(page.sections[:3] == ALWAYS[:3] and set(page.sections) == set(ALWAYS + sections), f'{name}: sections {page.sections}')
    check(len(page.values) >= most, f'{name}: {len(page.values)} numbers')
    for pointer, value in page.values:
        try:
            wanted = found(report, pointer)
        except (KeyError, IndexError, TypeError):
            wanted = None
        check(wanted is not None and abs(value - wanted) <= 1e-9 * abs(wanted), f'{name}: {pointer} is {wanted}, the page has {value}')
    for expectation in report['expectations']:
        check(expectation['text'] in page.text, f'{name}: {expectation["text"]}')
    nothing_runs(page, name)
    again = subprocess.run([program, 'report', 'run.sqlite'], cwd=folder, capture_output=True, text=True, check=False)
    check(again.returncode == 0 and again.stdout == text, f'{name}: `softspine report` writes the same page {again.stderr}')


def rows_of(text: str, section: str) -> list[tuple[str, str]]:
    """What each picture of a section says, and the picture."""
    inside = re.search(f'<section id="{section}">(.*?)</section>', text, re.S)
    rows = re.findall(r'<div class="row"><span>(.*?)</span>(<svg.*?</svg>)', inside[1] if inside else '', re.S)
    return [(re.sub('<[^>]*>', '', words), svg) for words, svg in rows]


def strips_are_the_pauses(text: str, database: sqlite3.Connection) -> None:
    """The sum over a strip's cells, each by its colour, is the time that was paused, and it begins where that does."""
    end = database.execute('SELECT max(t_ps) FROM samples').fetchone()[0]
    strips = rows_of(text, 'pauses')
    check(len(strips) == min(30, database.execute('SELECT count(DISTINCT port || priority) FROM pauses').fetchone()[0]), f'{len(strips)} strips')
    for words, svg in strips:
        port, priority = re.match(r'(\S+), priority (\d)', words).groups()
        first, paused = database.execute('SELECT min(t_ps - paused_ps), sum(paused_ps) FROM pauses WHERE port = ? AND priority = ?',
                                         (port, priority)).fetchone()
        cells = [(int(x), int(width), int(step)) for x, width, step in re.findall(r'x="(\d+)" width="(\d+)" height="1" class="c(\d)"', svg)]
        drawn = sum(width * (step + 0.5) / STEPS for _, width, step in cells) * end / BINS['pauses']
        check(abs(drawn - paused) <= 0.06 * paused + 2 * end / BINS['pauses'], f'{words}: {drawn} drawn of {paused}')
        check(abs(cells[0][0] - BINS['pauses'] * first / end) <= 1, f'{words}: begins in {cells[0][0]}')


def cells_have_the_colour_of_their_share(text: str) -> None:
    cells = re.findall(r'<i class="c(\d)" title="[^"]*: ([\d.e+-]+) %">', text)
    check(len(cells) >= 5 and any(step != '0' for step, _ in cells), f'{len(cells)} cells of the fabric')
    for step, percent in cells:
        check(abs(float(percent) / 10 - int(step) - 0.5) <= 0.501, f'a cell of {percent} % has colour {step}')


def level_at(database: sqlite3.Connection, port: str, group: int, pool: int, t_ps: int) -> tuple[int, int]:
    """What a group, and its pool, shared just before an instant."""
    of_group = database.execute('SELECT shared_bytes FROM group_samples JOIN ports USING(port_id) WHERE name = ? AND priority_group = ? AND t_ps < ? '
                                'AND shared_bytes IS NOT NULL ORDER BY t_ps DESC LIMIT 1', (port, group, t_ps)).fetchone()
    of_pool = database.execute('SELECT shared_bytes FROM pool_samples WHERE pool_id = ? AND t_ps < ? AND shared_bytes IS NOT NULL '
                               'ORDER BY t_ps DESC LIMIT 1', (pool, t_ps)).fetchone()
    return of_group[0], of_pool[0]


def a_bad_end_is_said(program: str, folder: Path) -> None:
    """What went wrong with the fabric, with the run, and with the recording."""
    database = sqlite3.connect(folder / 'run.sqlite')
    database.execute("INSERT INTO deadlocks VALUES(1000, 'tor1 and spine1')")
    database.execute("INSERT INTO stalled VALUES('to-h1', 'h5', 'h1', 7, 'its link is down')")
    database.execute("INSERT OR REPLACE INTO report VALUES('notices', '[\"mind this\"]')")
    database.execute("UPDATE run SET value = 1 WHERE key = 'interrupted'")
    database.execute("INSERT INTO expectations VALUES(0, 'it went well')")
    database.commit()
    html = subprocess.run([program, 'report', 'run.sqlite'], cwd=folder, capture_output=True, text=True, check=True).stdout
    words = Page(html).text
    check('<p class="bad">9 of 10 expectations held' in html, 'a verdict that is bad has its colour')
    for wanted in ('Deadlock at 1 ns: tor1 and spine1', '7 flows of to-h1 from h5 to h1 stalled: its link is down', 'mind this', 'The run was interrupted.',
                   '9 of 10 expectations held', 'FAILED it went well'):
        check(wanted in words, f'the page does not say: {wanted}')
    database.execute("DELETE FROM run WHERE key IN ('end_ps', 'interrupted')")
    database.execute('UPDATE pools SET size_bytes = NULL')
    database.commit()
    database.close()
    page = Page(subprocess.run([program, 'report', 'run.sqlite'], cwd=folder, capture_output=True, text=True, check=True).stdout)
    check('The recording was cut off' in page.text and 'groups' not in page.sections, 'a recording that was cut off')


def long_lists_say_so(program: str, folder: Path) -> None:
    database = sqlite3.connect(folder / 'run.sqlite')
    database.executemany('INSERT INTO losses VALUES(?, ?, 1)', [(f'tor{i}', 'queue_full') for i in range(100)])
    database.commit()
    lost = database.execute('SELECT count(*) FROM losses').fetchone()[0]
    database.close()
    ran = subprocess.run([program, 'report', 'run.sqlite'], cwd=folder, capture_output=True, text=True, check=True)
    check(f'And {lost - 40} more.' in ran.stdout, 'a list that is cut says how much is left out')


def heights_of(line: str) -> list[float]:
    return [100 - float(point.split(',')[1]) for point in line.split()]


def curves_are_the_levels(text: str, database: sqlite3.Connection) -> None:
    """Of the fullest groups: what is shared, and the threshold of that instant, by their own formula."""
    end = database.execute('SELECT max(t_ps) FROM samples').fetchone()[0]
    curves = rows_of(text, 'groups')
    check(len(curves) == 6, f'{len(curves)} curves of groups')
    for words, svg in curves:
        port, group = re.match(r'(\S+), priority group (\d)', words).groups()
        fixed, alpha, size, pool = database.execute(
            'SELECT fixed_bytes, alpha, size_bytes, pool_id FROM xoff_thresholds JOIN ports USING(port_id) JOIN pools ON pools.name = pool '
            'WHERE ports.name = ? AND priority_group = ?', (port, group)).fetchone()
        lines = dict(re.findall(r'class="(\w+)" points="([^"]*)"', svg))
        shared, xoff = heights_of(lines['line']), heights_of(lines['xoff'])
        used, in_pool = level_at(database, port, int(group), pool, end * 3 // 4)
        bin_at = BINS['groups'] * 3 // 4 - 1
        wanted = used / (fixed + alpha * (size - in_pool))
        check(used > 0 and abs(shared[bin_at] / xoff[bin_at] - wanted) <= 0.01, f'{words}: {shared[bin_at]} of {xoff[bin_at]}, not {wanted}')
        check(max(shared) > 30 and xoff[0] > 99, f'{words}: the highest is {max(shared)}, the threshold begins at {xoff[0]}')


def tables_of(text: str, section: str) -> list[list[str]]:
    """The cells of a section's rows, without tags and heads."""
    inside = re.search(f'<section id="{section}">(.*?)</section>', text, re.S)
    rows = re.findall(r'<tr>(.*?)</tr>', inside[1] if inside else '', re.S)
    return [[unescape(re.sub('<[^>]*>', '', cell)) for cell in row.split('<td>')[1:]] for row in rows if '<td>' in row]


def groups_are_the_recordings(text: str, database: sqlite3.Connection) -> None:
    """The least even groups first: their members, and how far the busiest is above its share."""
    wanted = database.execute('SELECT switch || \' \' || hash_group, destinations, count(*), max(share / expected) FROM hash_shares GROUP BY switch, hash_group '
                              'HAVING sum(tx_bytes) > 0 ORDER BY 4 DESC, 1 LIMIT 30').fetchall()
    found = [(row[0], row[1], int(row[2]), float(row[4])) for row in tables_of(text, 'hash')]
    check(len(wanted) >= 2 and [row[:3] for row in found] == [row[:3] for row in wanted], f'groups: {found} instead of {wanted}')
    check(all(abs(row[3] - ours[3]) <= 0.006 for row, ours in zip(found, wanted, strict=True)), f'shares: {found} instead of {wanted}')
    for row in tables_of(text, 'hash'):
        most = database.execute("SELECT max(share / expected) FROM hash_shares WHERE switch || ' ' || hash_group = ? AND member = ?", (row[0], row[5])).fetchone()[0]
        check(abs(most - float(row[4])) <= 0.006, f'{row}: its member has {most}')


def waits_are_the_steps(text: str, steps: dict) -> None:
    """Ranks with the longest waits, with their reasons; and what all waits were for."""
    ranks = sorted(((rank['longest_waits'][0], rank, job['name']) for job in steps['jobs'] for rank in job['ranks'] if rank['longest_waits']),
                   key=lambda each: each[0]['from_ps'] - each[0]['to_ps'])
    wanted = [(f'{job}: {rank["rank"]} ({rank["host"]})', str(rank['waits']), str(wait['peer']), wait['reason']['text']) for wait, rank, job in ranks][:30]
    rows = tables_of(text, 'waits')
    found = [(row[0], row[1].replace(',', ''), row[5], row[6]) for row in rows if len(row) == 7]
    check(len(wanted) > 3 and found == wanted, f'waits: {found} instead of {wanted}')
    causes = [(f'{job["name"]}: {cause["cause"]}', cause['at'], cause['by'] or '–', str(cause['waits'])) for job in steps['jobs'] for cause in job['causes']]
    shown = [(*row[:3], row[3].replace(',', '')) for row in rows if len(row) == 5]
    check(len(shown) == min(20, len(causes)) and set(shown) <= set(causes), f'causes: {shown} instead of {causes}')


def hostile_names_stay_text(program: str, folder: Path) -> None:
    """Every text of a recording, and its pictures, are another's."""
    database = sqlite3.connect(folder / 'run.sqlite')
    for table, column in database.execute("SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
                                          "WHERE m.type = 'table' AND c.type = 'TEXT' AND m.name NOT IN ('report', 'nodes')").fetchall():
        database.execute(f'UPDATE OR IGNORE {table} SET {column} = {column} || ? WHERE {column} IS NOT NULL', (HOSTILE,))
    database.execute("UPDATE nodes SET name = name || ?, role = role || ?", (HOSTILE, HOSTILE))
    database.execute("UPDATE run SET value = value || ? WHERE typeof(value) = 'text'", (HOSTILE,))
    database.commit()
    database.close()
    ran = subprocess.run([program, 'report', 'run.sqlite'], cwd=folder, capture_output=True, text=True, check=False)
    check(ran.returncode == 0, f'hostile: {ran.stderr}')
    page = Page(ran.stdout)
    check(HOSTILE in page.text, 'hostile: the names are there, as text')
    nothing_runs(page, 'hostile')
    for tag, attributes in page.tags:
        check(tag != 'img' or (attributes.get('src') or '').startswith('data:'), 'hostile: an image of elsewhere')


def wrong_files_are_refused(program: str, folder: Path) -> None:
    (folder / 'text').write_text('no database, but more than a hundred bytes of something else' * 9, encoding='utf-8')
    sqlite3.connect(folder / 'other.sqlite').execute('CREATE TABLE run(key)')
    for name, words in (('none.sqlite', 'there is no such file'), ('text', 'not a database'), ('other.sqlite', 'no recording of softspine')):
        ran = subprocess.run([program, 'report', name, '-o', 'out.html'], cwd=folder, capture_output=True, text=True, check=False)
        check(ran.returncode == 2 and words in ran.stderr, f'{name}: {ran.returncode} {ran.stderr}')
        check(not (folder / 'out.html').exists(), f'{name}: a page of nothing')


def a_large_fabric_is_a_small_page(program: str, folder: Path) -> None:
    """HPN's pod of 15,360 GPUs, for 20 us."""
    pod = ROOT / 'tests/bench/pod/hpn-pod.yaml'
    ran = subprocess.run([program, 'run', pod, '--quiet', '--no-server', '--duration', '20us', '--html', 'pod.html'], cwd=folder, capture_output=True,
                         text=True, check=False)
    check(ran.returncode < 2 and (folder / 'pod.html').exists(), f'pod: {ran.stderr}')
    check(0 < (folder / 'pod.html').stat().st_size <= MOST_BYTES, f'pod: {(folder / "pod.html").stat().st_size} bytes')


def draws_in_a_browser(folder: Path) -> None:
    browser = shutil.which('chromium')
    if browser is None:
        raise Skip('no chromium')
    for width in (380, 1200):
        picture = folder / f'{width}.png'
        subprocess.run([browser, '--headless', '--no-sandbox', '--disable-gpu', f'--window-size={width},1600', f'--screenshot={picture}',
                        (folder / 'page.html').as_uri()], capture_output=True, check=False, timeout=120)
        check(picture.exists() and picture.stat().st_size > 20_000, f'a picture {width} wide')


def has_the_reports_numbers(it: Softspine) -> Problems:
    """each number on a page is the report's, and nothing on it runs"""
    for testbed, sections, most in TESTBEDS:
        numbers_are_the_reports(it.binary, it.folder, testbed, sections, most)
    yield from complaints()


def is_drawn_by_a_browser(it: Softspine) -> Problems:
    """a browser draws the page, narrow and wide"""
    numbers_are_the_reports(it.binary, it.folder, *TESTBEDS[0])
    draws_in_a_browser(it.folder)
    yield from complaints()


def draws_what_was_recorded(it: Softspine) -> Problems:
    """strips of pauses, and groups against their XOFF thresholds, are those of the recording"""
    numbers_are_the_reports(it.binary, it.folder, *TESTBEDS[0])
    text = (it.folder / 'page.html').read_text(encoding='utf-8')
    database = sqlite3.connect(it.folder / 'run.sqlite')
    cells_have_the_colour_of_their_share(text)
    strips_are_the_pauses(text, database)
    curves_are_the_levels(text, database)
    database.close()
    # Samples that are longer than a strip's cells, and pauses that are shorter than samples.
    for testbed, interval in (('pfc-storm', '200us'), ('incast', '10us')):
        subprocess.run([it.binary, 'run', ROOT / f'testbeds/{testbed}.yaml', '--quiet', '--no-server', '--record-interval', interval,
                        '--record', 'again.sqlite', '--html', 'again.html'], cwd=it.folder, capture_output=True, check=True)
        database = sqlite3.connect(it.folder / 'again.sqlite')
        strips_are_the_pauses((it.folder / 'again.html').read_text(encoding='utf-8'), database)
        database.close()
    yield from complaints()


def has_groups_and_waits(it: Softspine) -> Problems:
    """hash groups are those of the recording, ranks' waits those of `run --steps`; without it the page says so"""
    for testbed, options in (('training-step', ['--steps', 'steps.json']), ('training-step', []), ('incast', [])):
        subprocess.run([it.binary, 'run', ROOT / f'testbeds/{testbed}.yaml', '--quiet', '--no-server', '--record', 'run.sqlite', '--html', 'page.html', *options],
                       cwd=it.folder, capture_output=True, check=True)
        text = (it.folder / 'page.html').read_text(encoding='utf-8')
        if testbed == 'incast':
            database = sqlite3.connect(it.folder / 'run.sqlite')
            groups_are_the_recordings(text, database)
            database.close()
        elif options:
            waits_are_the_steps(text, json.loads((it.folder / 'steps.json').read_text(encoding='utf-8')))
        else:
            rows = tables_of(text, 'waits')
            check(len(rows) > 3 and all(row[6] == '' for row in rows) and 'run --steps' in text, f'without reasons: {rows}')
    yield from complaints()


def says_what_is_wrong(it: Softspine) -> Problems:
    """deadlocks, stalled flows, failed expectations, a cut recording and a cut list are said"""
    numbers_are_the_reports(it.binary, it.folder, *TESTBEDS[0])
    long_lists_say_so(it.binary, it.folder)
    a_bad_end_is_said(it.binary, it.folder)
    yield from complaints()


def keeps_names_as_text(it: Softspine) -> Problems:
    """names that are HTML stay text"""
    numbers_are_the_reports(it.binary, it.folder, *TESTBEDS[0])
    hostile_names_stay_text(it.binary, it.folder)
    yield from complaints()


def refuses_other_files(it: Softspine) -> Problems:
    """what is no recording is refused"""
    wrong_files_are_refused(it.binary, it.folder)
    yield from complaints()


def stays_small(it: Softspine) -> Problems:
    """the page of 15,360 GPUs has 5 MB at most"""
    a_large_fabric_is_a_small_page(it.binary, it.folder)
    yield from complaints()


if __name__ == '__main__':
    sys.exit(main([has_the_reports_numbers, is_drawn_by_a_browser, draws_what_was_recorded, has_groups_and_waits, says_what_is_wrong, keeps_names_as_text,
                   refuses_other_files, stays_small]))
