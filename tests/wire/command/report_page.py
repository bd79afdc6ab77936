# SPDX-License-Identifier: Apache-2.0
"""`run --html` and `softspine report`: the numbers on the page are the report's, nothing on it runs, and names that are HTML stay text."""
from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

from softspine import ROOT, Problems, Skip, Softspine, main

MOST_BYTES = 5_000_000
HOSTILE = '<script>alert(1)</script>"\'&<img src=x onerror=alert(2)>'
# testbed, sections of its page beside those of all, numbers on it at least
TESTBEDS = [('pfc-storm', ['faults', 'shares'], 50), ('link-flap', ['faults', 'shares'], 40), ('ring-allreduce', ['collectives'], 40),
            ('training-step', ['shares', 'trainings'], 40), ('incast', ['shares'], 25)]
ALWAYS = ['run', 'fabric', 'pauses', 'queues', 'flows', 'drops']
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
    sys.exit(main([has_the_reports_numbers, is_drawn_by_a_browser, keeps_names_as_text, refuses_other_files, stays_small]))
