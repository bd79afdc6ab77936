# SPDX-License-Identifier: Apache-2.0
"""A number in README is a claim, and a claim has a test."""
from __future__ import annotations

import re

from readme_claims import CLAIMS
from tree import Finding, Tree

NUMBER = re.compile(r'(?<![\w.-])\d')
CODE_SPAN = re.compile(r'`[^`]*`')
README = 'README.md'
TABLE = 'tests/tidy/readme_claims.py'


def sentences(text: str) -> list[tuple[int, str]]:
    """Of paragraphs and tables, with the line on which each paragraph begins; code blocks are other tests' (readme.py)."""
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

    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or (line.startswith('    ') and not paragraph) or line.startswith(('|', '#', '- ')):
            end()
        if not line.strip() or (line.startswith('    ') and not paragraph):
            continue
        begin = begin if paragraph else number
        paragraph.append(line)
        if line.startswith(('|', '#')):
            end()
    end()
    return out


def numbers_in_readme_have_a_test(tree: Tree) -> list[Finding]:
    """Each sentence of README with a number names the test that holds it (readme_claims.py), and the test is there."""
    if README not in tree.texts:
        return []
    claims = CLAIMS if TABLE in tree.texts else {}
    told = [(line, s) for line, s in sentences(tree.texts[README]) if NUMBER.search(CODE_SPAN.sub('', s))]
    findings = [Finding(README, line, f'a number without a test in {TABLE}: {sentence}')
                for line, sentence in told if sentence not in claims]
    known = {sentence for _, sentence in told}
    for sentence, holders in claims.items():
        if sentence not in known:
            findings.append(Finding(README, 1, f'has no such sentence any more ({TABLE}): {sentence}'))
        for path, word in (holder.split(' ', 1) for holder in holders):
            if word not in tree.texts.get(path, ''):
                findings.append(Finding(path, 1, f'does not have {word}, which should hold: {sentence}'))
    return findings


RULES = [numbers_in_readme_have_a_test]
