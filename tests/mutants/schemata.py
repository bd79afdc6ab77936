# SPDX-License-Identifier: Apache-2.0
"""A source with all its mutants in it, each behind a question at run time. Lines stay where they are."""
from __future__ import annotations

from catalogue import Mutant


def with_mutants(text: str, mutants: list[Mutant]) -> str:
    """Spans are equal, apart, or one in the other; what a mutant puts in a place is not mutated again."""
    groups: dict[tuple[int, int], list[Mutant]] = {}
    for mutant in mutants:
        groups.setdefault((mutant.begin, mutant.end), []).append(mutant)
    spans = sorted(groups, key=lambda span: (span[0], -span[1]))
    return _render(text, 0, len(text), spans, groups)


def _render(text: str, begin: int, end: int, spans: list[tuple[int, int]], groups) -> str:
    """`spans`: those inside, outer ones first."""
    out, at, i = [], begin, 0
    while i < len(spans):
        span = spans[i]
        inside = [s for s in spans[i + 1:] if s[0] < span[1]]
        if any(s[1] > span[1] for s in inside):
            raise ValueError(f'spans cross: {text[span[0]:span[1]]!r}')
        out += [text[at:span[0]], _choice(_render(text, *span, inside, groups), groups[span])]
        at = span[1]
        i += 1 + len(inside)
    out.append(text[at:end])
    return ''.join(out)


def _choice(original: str, mutants: list[Mutant]) -> str:
    if any(m.rule in ('clause', 'negate') for m in mutants):
        original = f'static_cast<bool>({original})'  # so that both sides have one type
    for mutant in mutants:
        on = f'softspine::mutants::on({mutant.number})'
        after = mutant.after.replace('\n', ' ')
        original = (f'{{ if ({on}) {{ {after} }} else {{ {original} }} }}' if mutant.is_statement
                    else f'({on} ? ({after}) : ({original}))')
    return original
