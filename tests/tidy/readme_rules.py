# SPDX-License-Identifier: Apache-2.0
"""The first page and the pages of docs/: a number is a claim, and a claim has a test; links lead somewhere; nothing is left out."""
from __future__ import annotations

import posixpath
import re

from readme_claims import CLAIMS
from tree import Finding, Tree

NUMBER = re.compile(r'(?<![\w.-])\d')
STANDARD = re.compile(r'\b802\.\d+\w*|\bRFC \d+|\bTomahawk 5\b')  # names
CODE_SPAN = re.compile(r'`[^`]*`')
LINK = re.compile(r'(?<!\\)\[[^\]]*\]\(([^)\s]*)\)')
DATE = re.compile(r'\b20\d\d-\d\d-\d\d\b')
BENCH = re.compile(r'softspine bench|tools/bench/\w|tests/(?:bench|wire)/\w')
README = 'README.md'
README_LINES = 120
MEASURED = 'docs/performance.md'
GENERATED = ('docs/reference/', 'docs/sonic-tests.md')
TESTBEDS = 'docs/testbeds.md'
TABLE = 'tests/tidy/readme_claims.py'


def without_blocks(text: str) -> str:
    """Fenced blocks are other tests' (tests/wire/command/page.py); their lines are left empty."""
    return re.sub(r'^```.*?^```$', lambda block: '\n' * block[0].count('\n'), text, flags=re.MULTILINE | re.DOTALL)


def sentences(text: str) -> list[tuple[int, str]]:
    """Of paragraphs, lists and tables, with the line on which each paragraph begins."""
    out: list[tuple[int, str]] = []
    paragraph: list[str] = []
    begin = 0

    def end() -> None:
        joined = re.sub(r'\s+', ' ', ' '.join(paragraph)).strip()
        spans = CODE_SPAN.findall(joined)
        hidden = CODE_SPAN.sub('`\0`', joined)
        for sentence in re.split(r'(?<=[.;:]) (?=[A-Z`])', hidden):
            count = sentence.count('`\0`')
            for span in spans[:count]:
                sentence = sentence.replace('`\0`', span, 1)
            del spans[:count]
            if sentence:
                out.append((begin, sentence))
        paragraph.clear()

    for number, line in enumerate(without_blocks(text).splitlines(), 1):
        if not line.strip() or line.startswith(('|', '#', '- ')):
            end()
        if not line.strip():
            continue
        begin = begin if paragraph else number
        paragraph.append(line)
        if line.startswith(('|', '#')):
            end()
    end()
    return out


def has_number(sentence: str) -> bool:
    return NUMBER.search(STANDARD.sub('', CODE_SPAN.sub('', sentence))) is not None


def pages(tree: Tree) -> list[str]:
    return [path for path in tree.paths(('.md',)) if path == README or (path.startswith('docs/') and not path.startswith(GENERATED))]


def numbers_in_readme_have_a_test(tree: Tree) -> list[Finding]:
    """Each sentence of README and docs/ with a number names the test that holds it (readme_claims.py), and the test is there."""
    findings = []
    for page in pages(tree):
        if page == MEASURED:
            continue
        claims = CLAIMS.get(page, {}) if TABLE in tree.texts else {}
        told = [(line, s) for line, s in sentences(tree.texts[page]) if has_number(s)]
        findings += [Finding(page, line, f'a number without a test in {TABLE}: {sentence}') for line, sentence in told if sentence not in claims]
        known = {sentence for _, sentence in told}
        for sentence, holders in claims.items():
            if sentence not in known:
                findings.append(Finding(page, 1, f'has no such sentence any more ({TABLE}): {sentence}'))
            for path, word in (holder.split(' ', 1) for holder in holders):
                if word not in tree.texts.get(path, ''):
                    findings.append(Finding(path, 1, f'does not have {word}, which should hold: {sentence}'))
    return findings


def figures_name_their_bench(tree: Tree) -> list[Finding]:
    """Each section of docs/performance.md with a figure names a bench or a test that measures, and figures in seconds their date."""
    text = tree.texts.get(MEASURED, '')
    findings, line = [], 1
    for section in re.split(r'^(?=## )', text, flags=re.MULTILINE):
        figures = [s for _, s in sentences(section) if has_number(DATE.sub('', s))]
        title = section.split('\n', 1)[0]
        if figures and not BENCH.search(section) and not title.startswith('## What'):
            findings.append(Finding(MEASURED, line, f'names no bench that measured: {figures[0]}'))
        if any(re.search(r'/s\b|seconds? ', s) for s in figures) and 'softspine bench' in section and not DATE.search(title):
            findings.append(Finding(MEASURED, line, 'has no date in its title'))
        line += section.count('\n')
    for path in sorted(set(re.findall(r'(?:tools|tests)/(?:bench|wire)/[\w/.]+', text))):
        if not any(there == path.rstrip('.') or there.startswith(path.rstrip('.') + '/') for there in tree.texts):
            findings.append(Finding(MEASURED, 1, f'there is no {path}'))
    return findings


def anchors(text: str) -> set[str]:
    """As GitHub makes them of titles."""
    titles = re.findall(r'^#+ (.*)$', without_blocks(text), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', title.lower()).replace(' ', '-') for title in titles}


def links_lead_somewhere(tree: Tree) -> list[Finding]:
    """Each relative link of a page leads to a file or folder that is there, and to a title of it."""
    folders = {posixpath.dirname(path) for path in tree.texts}
    findings = []
    for page in tree.paths(('.md',)):
        for number, line in enumerate(without_blocks(tree.texts[page]).splitlines(), 1):
            for link in LINK.findall(CODE_SPAN.sub('', line)):
                path, _, anchor = link.partition('#')
                if re.match(r'[a-z]+:', link):
                    continue
                there = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
                if there not in tree.texts and there not in folders:
                    findings.append(Finding(page, number, f'leads nowhere: {link}'))
                elif anchor and anchor not in anchors(tree.texts.get(there, '')):
                    findings.append(Finding(page, number, f'leads to no title of {there}: {link}'))
    return findings


def first_page_is_short(tree: Tree) -> list[Finding]:
    """README is what a newcomer reads in five minutes; and every page of docs/ is reached from it."""
    if README not in tree.texts:
        return []
    findings = [Finding(README, README_LINES, f'longer than {README_LINES} lines')] if len(tree.lines(README)) > README_LINES else []
    return findings + [Finding(README, 1, f'does not lead to {page}') for page in pages(tree) if page != README and f']({page}' not in tree.texts[README]]


def testbeds_are_listed(tree: Tree) -> list[Finding]:
    """docs/testbeds.md lists each testbed that ships, and none that does not."""
    if TESTBEDS not in tree.texts:
        return []
    cells = re.findall(r'^\| ([\w, -]+) \| (?:virtual|wall) \|', tree.texts[TESTBEDS], re.MULTILINE)
    listed = {name for cell in cells for name in cell.split(', ')}
    shipped = {path[len('testbeds/'):-len('.yaml')] for path in tree.paths(('.yaml',), 'testbeds/') if path.count('/') == 1}
    return [Finding(TESTBEDS, 1, f'lists {name} wrongly: it is {"not " if name in listed else ""}there') for name in sorted(listed ^ shipped)]


RULES = [numbers_in_readme_have_a_test, figures_name_their_bench, links_lead_somewhere, first_page_is_short, testbeds_are_listed]
