# SPDX-License-Identifier: Apache-2.0
"""Mutants by rule: of a relation its boundary or its opposite, of a condition a clause, of a sum its sign, of min and max
the other, and statements that are left out. Only where a run evaluates: no declarations of constants, no template
arguments, no labels."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cpp_text import CppText

RELATIONS = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '=='}
SUMS = {'+': '-', '-': '+', '*': '/', '/': '*'}
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '|=', '&=', '^=', '<<=', '>>='}
NOT_MUTATED = {'constexpr', 'static', 'static_assert', 'using', 'case', 'default', 'typedef', 'struct', 'class', 'enum',
               'namespace', 'template', 'public', 'private', 'protected', 'friend', 'throw', 'goto', 'asm', 'break',
               'SOFTSPINE_CHECK'}
HEADED = {'if', 'for', 'while', 'switch'}
WITHOUT_RESULT = {'prefetch', 'prefetch_front', 'prefetch_data', 'reserve'}  # left out, they change no result
SPLITS = {',', ';', '?', ':', 'return', *ASSIGNMENTS}


@dataclass(frozen=True)
class Candidate:
    begin: int
    end: int
    after: str
    rule: str
    is_statement: bool = False


def candidates(cpp: CppText) -> list[Candidate]:
    found = []
    for i, token in enumerate(cpp.tokens):
        if token.is_body and token.partner > 0:
            found += _of_body(cpp, i + 1, token.partner)
    return found


def _of_body(cpp: CppText, first: int, last: int) -> Iterator[Candidate]:
    """The statements directly in a body; deeper bodies are bodies of their own."""
    i = first
    while i < last:
        i = yield from _of_statement(cpp, i, last)


def _of_statement(cpp: CppText, i: int, last: int) -> Iterator[Candidate]:
    tokens = cpp.tokens
    text = tokens[i].text
    if text in HEADED:
        head = i + 1
        while tokens[head].text != '(':
            head += 1
            if tokens[head].text in ('{', ';'):  # if consteval
                return head
        yield from _of_head(cpp, text, head)
        return _after_attributes(cpp, tokens[head].partner + 1)
    if text in ('else', 'do', 'try', ';', '}'):
        return i + 1
    if text in ('[', '{') and tokens[i].partner > 0:
        return tokens[i].partner + 1
    end = i
    while end < last and tokens[end].text != ';':
        opens = tokens[end].partner > end
        if opens and tokens[end].is_body and tokens[end - 1].text != ')' and not _in_expression(cpp, i, end):
            return tokens[end].partner + 1  # a local type
        end = tokens[end].partner + 1 if opens else end + 1
        if tokens[end - 1].text == ':' and tokens[i].text in ('case', 'default'):
            return end
    if end >= last:
        return last
    if text not in NOT_MUTATED and not any(tokens[j].text == 'constexpr' for j in range(i, min(i + 3, end))):
        yield from _of_region(cpp, i, end)
        if _can_be_dropped(cpp, i, end):
            yield Candidate(tokens[i].begin, tokens[end].end, ';', 'drop', is_statement=True)
    return end + 1


def _in_expression(cpp: CppText, first: int, at: int) -> bool:
    return any(cpp.tokens[j].text in ('(', '=', 'return', '[') for j in range(first, at))


def _after_attributes(cpp: CppText, i: int) -> int:
    return cpp.tokens[i].partner + 1 if cpp.tokens[i].text == '[' else i


def _of_head(cpp: CppText, word: str, head: int) -> Iterator[Candidate]:
    first, last = head + 1, cpp.tokens[head].partner
    texts = [cpp.tokens[j].text for j in range(first, last)]
    if word == 'for' and ':' in texts and ';' not in texts:
        yield from _of_region(cpp, first + texts.index(':') + 1, last)
        return
    if word == 'for':
        return  # one step too far is no fault that a test need see: it may read what happens to be there
    yield from _of_region(cpp, first, last)
    equality = {'==', '!='} & set(texts) and not {'&&', '||'} & set(texts)  # negated as a relation already
    if word == 'if' and '=' not in texts and ';' not in texts and not equality:
        yield Candidate(cpp.tokens[first].begin, cpp.tokens[last - 1].end, f'!({cpp.slice(first, last)})', 'negate')


def _of_region(cpp: CppText, first: int, last: int) -> Iterator[Candidate]:
    """Pieces between commas, assignments and the like; what stands in brackets is a region of its own."""
    tokens = cpp.tokens
    start = first
    i = first
    while i <= last:
        text = tokens[i].text if i < last else ','
        if i < last and tokens[i].partner > i:
            if text in ('(', '[') and not _is_parameters(cpp, tokens[i].partner) and tokens[i - 1].text not in ('sizeof', 'decltype'):
                yield from _of_region(cpp, i + 1, tokens[i].partner)
            i = tokens[i].partner + 1
            continue
        if text in SPLITS and (text != '=' or i == last or cpp.spaced(i)):
            if i > start:
                yield from _of_piece(cpp, start, i)
            start = i + 1
        i += 1


def _is_parameters(cpp: CppText, closing: int) -> bool:
    after = cpp.tokens[closing + 1].text if closing + 1 < len(cpp.tokens) else ''
    return after in ('{', '->', 'mutable', 'noexcept')


def _top_level(cpp: CppText, first: int, last: int, wanted) -> list[int]:
    found, i = [], first
    while i < last:
        token = cpp.tokens[i]
        if token.partner > i:
            i = token.partner + 1
            continue
        if token.kind == 'sign' and token.text in wanted and i > first and cpp.spaced(i):
            found.append(i)
        i += 1
    return found


def _of_piece(cpp: CppText, first: int, last: int) -> Iterator[Candidate]:
    for word, neutral in (('||', 'false'), ('&&', 'true')):
        at = _top_level(cpp, first, last, {word})
        if at:
            for begin, end in zip([first, *(j + 1 for j in at)], [*at, last]):
                yield Candidate(cpp.tokens[begin].begin, cpp.tokens[end - 1].end, neutral, 'clause')
                yield from _of_piece(cpp, begin, end)
            return
    yield from _of_calls(cpp, first, last)
    relations = _top_level(cpp, first, last, RELATIONS)
    if len(relations) == 1:
        yield _swapped(cpp, first, relations[0], last, RELATIONS, 'relation')
        yield from _of_sum(cpp, first, relations[0])
        yield from _of_sum(cpp, relations[0] + 1, last)
    elif not relations:
        yield from _of_sum(cpp, first, last)


def _swapped(cpp: CppText, first: int, at: int, last: int, other: dict[str, str], rule: str) -> Candidate:
    left, right = cpp.slice(first, at), cpp.slice(at + 1, last)
    return Candidate(cpp.tokens[first].begin, cpp.tokens[last - 1].end, f'{left} {other[cpp.tokens[at].text]} {right}', rule)


def _of_sum(cpp: CppText, first: int, last: int) -> Iterator[Candidate]:
    if _top_level(cpp, first, last, {'<<', '>>', '&', '|', '^', '%'}):
        return
    sums = _top_level(cpp, first, last, {'+', '-'}) or _top_level(cpp, first, last, {'*', '/'})
    strings = any(cpp.tokens[j].kind == 'string' for j in range(first, last))
    if sums and not strings:
        yield _swapped(cpp, first, sums[-1], last, SUMS, 'sum')


def _of_calls(cpp: CppText, first: int, last: int) -> Iterator[Candidate]:
    tokens = cpp.tokens
    for i in range(first, last - 2):
        if tokens[i].text == 'std' and tokens[i + 2].text in ('min', 'max'):
            opening = i + 3
            if tokens[opening].text == '<t':
                opening = tokens[opening].partner + 1
            if tokens[opening].text == '(' and tokens[opening].partner < last:
                other = {'min': 'max', 'max': 'min'}[tokens[i + 2].text]
                end = tokens[tokens[opening].partner].end
                yield Candidate(tokens[i].begin, end, f'std::{other}{cpp.text[tokens[i + 2].end:end]}', 'extreme')


def _can_be_dropped(cpp: CppText, first: int, last: int) -> bool:
    """An assignment, a step or a call, and no declaration: no word directly after a word or a template."""
    tokens = cpp.tokens
    texts = [t.text for t in tokens[first:last]]
    if WITHOUT_RESULT & set(texts) or texts[0] in ('return', 'delete', 'new', 'auto', 'const', 'continue'):
        return False
    if texts[0] in ('++', '--') or texts[-1] in ('++', '--'):
        return True
    i = first
    while i < last:
        token = tokens[i]
        if token.text in ASSIGNMENTS:
            return i > first
        if token.text in ('&', '*') and i > first and not cpp.spaced(i):
            return False
        after = tokens[i + 1] if i + 1 < last else None
        if after is not None and after.kind == 'word' and (token.kind == 'word' or token.text in ('>t', '}')):
            return False
        i = token.partner + 1 if token.partner > i else i + 1
        if i < last and i > first and tokens[i - 1].text == '>t' and tokens[i].kind == 'word':
            return False
    return texts[-1] == ')' and tokens[first].kind == 'word' and texts[0] not in ('static_cast', 'sizeof')
