# SPDX-License-Identifier: Apache-2.0
"""tools/docs: every page of the manual as HTML, which loads nothing from elsewhere, and an index in which each is found."""
from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tests' / 'tidy'))
from tap import Tap  # noqa: E402


def made(folder: Path) -> list[str]:
    done = subprocess.run([ROOT / 'tools' / 'docs', '--into', folder], capture_output=True, text=True, check=False)
    return [] if done.returncode == 0 and not done.stderr else [f'status {done.returncode}: {done.stdout}{done.stderr}']


def lost_pages(folder: Path) -> list[str]:
    titles = {page.relative_to(ROOT): next(line[2:] for line in page.read_text().splitlines() if line.startswith('# ')) for page in (ROOT / 'docs').rglob('*.md')}
    found = {entry['location']: entry['title'] for entry in json.loads((folder / 'search' / 'search_index.json').read_text())['docs']}
    names = {page: str(page.with_suffix('.html')).replace('README.html', 'index.html') for page in titles}
    return [f'{page} is not found as {title}' for page, title in titles.items() if found.get(names[page]) != title]


def from_elsewhere(folder: Path) -> list[str]:
    loads = re.compile(r'<(?:script|img|iframe)[^>]* src="((?:https?:)?//[^"]*)"|<link[^>]* href="((?:https?:)?//[^"]*)"')
    return [f'{page.name} loads {found[0]}' for page in folder.rglob('*.html') for found in [loads.search(page.read_text())] if found and 'canonical' not in found[0]]


def missing_scripts(folder: Path) -> list[str]:
    """Of the page that searches."""
    scripts = re.findall(r'<script src="([^"]*)"', (folder / 'search.html').read_text())
    return [f'there is no {script}' for script in scripts if not (folder / script.lstrip('./')).exists()]


def broken_anchors(folder: Path) -> list[str]:
    """Links within the manual that lead to no title: mkdocs looks at files alone."""
    texts = {page: page.read_text() for page in folder.rglob('*.html')}
    titles = {page.resolve(): set(re.findall(r' id="([^"]*)"', text)) for page, text in texts.items()}
    out = []
    for page, text in texts.items():
        for path, anchor in re.findall(r'href="([^":#]*)#([^"]+)"', text):
            there = (page.parent / path).resolve() if path else page.resolve()
            if there in titles and anchor not in titles[there]:
                out.append(f'{page.relative_to(folder)}: {path}#{anchor}')
    return sorted(set(out))


def main() -> int:
    tap = Tap()
    if subprocess.run(['/usr/bin/python3', '-c', 'import mkdocs'], capture_output=True, check=False).returncode != 0:
        tap.skip('the manual as HTML', 'no mkdocs: tools/install docs')
        return tap.end()
    with tempfile.TemporaryDirectory(prefix='softspine-manual-') as name:
        folder = Path(name)
        tap.point('mkdocs makes the manual, and every link leads to a file', made(folder))
        for what, look in (('every page of docs/ is found by its title', lost_pages), ('no page loads anything from elsewhere', from_elsewhere),
                           ('the scripts that search are there', missing_scripts), ('every link to a title leads to one', broken_anchors)):
            tap.point(what, look(folder))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
