# SPDX-License-Identifier: Apache-2.0
"""C++ as tokens with brackets matched: enough to find statements and operands in clang-formatted sources."""
from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(r'''
    (?P<skip>\s+ | //[^\n]* | /\*.*?\*/)
  | (?P<directive>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)
  | (?P<string>(?:u8|[uUL])?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)" | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+')
  | (?P<number>\.?\d(?:['\w.]|(?<=[eEpP])[+-])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<sign><=>|->\*|<<=|>>=|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
''', re.VERBOSE | re.DOTALL | re.MULTILINE)

OPENING = {'(': ')', '[': ']', '{': '}', '<t': '>t'}
_BEFORE_BODY = {')', 'const', 'noexcept', 'override', 'final', 'else', 'do', 'try', 'mutable'}


@dataclass
class Token:
    kind: str  # word, number, string, sign
    text: str
    begin: int
    end: int
    partner: int = -1  # of a bracket
    is_body: bool = False  # of a '{': what follows are statements


class CppText:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        for found in _TOKEN.finditer(text):
            kind = found.lastgroup if found.lastgroup != 'raw' else 'string'
            if kind not in ('skip', 'directive'):
                self.tokens.append(Token(kind, found.group(), found.start(), found.end()))
        self._match()

    def spaced(self, i: int) -> bool:
        """Written ` op `, as clang-format writes what has two operands, and never a template's bracket."""
        token = self.tokens[i]
        return self.text[token.begin - 1:token.begin].isspace() and self.text[token.end:token.end + 1].isspace()

    def slice(self, first: int, last: int) -> str:
        """Of the tokens first … last - 1."""
        return self.text[self.tokens[first].begin:self.tokens[last - 1].end]

    def _match(self) -> None:
        """Templates' brackets get the texts `<t` and `>t`: they stand at a word, without a space."""
        stack: list[int] = []
        i = 0
        while i < len(self.tokens):
            token = self.tokens[i]
            top = self.tokens[stack[-1]].text if stack else ''
            if token.kind == 'sign':
                if token.text == '<' and not self.spaced(i) and i and self.tokens[i - 1].kind == 'word':
                    token.text = '<t'
                if token.text == '>>' and top == '<t':
                    self.tokens[i:i + 1] = [Token('sign', '>', token.begin, token.begin + 1),
                                            Token('sign', '>', token.begin + 1, token.end)]
                    token = self.tokens[i]
                if token.text == '>' and top == '<t':
                    token.text = '>t'
                if token.text in OPENING:
                    token.is_body = token.text == '{' and self._opens_body(i)
                    stack.append(i)
                elif stack and token.text == OPENING.get(top):
                    token.partner, self.tokens[stack[-1]].partner = stack[-1], i
                    stack.pop()
            i += 1

    def _opens_body(self, i: int) -> bool:
        if i and self.tokens[i - 1].text in _BEFORE_BODY:
            return True
        for j in range(i - 1, max(i - 12, -1), -1):  # -> Type {
            if self.tokens[j].text == '->':
                return self.tokens[j - 1].text in (')', 'mutable', 'noexcept', 'const')
            if self.tokens[j].text in (';', '{', '}', ')', '=', 'return', ','):
                return False
        return False


STATEMENTS = {'return', 'if', 'for', 'while', 'switch', 'do', 'break', 'continue'}


def is_whole(text: str, is_statement: bool) -> bool:
    """An expression that could stand in brackets, or a statement that declares nothing: nothing begun, nothing left open."""
    tokens = CppText(text).tokens
    if is_statement:
        declares = len(tokens) > 2 and tokens[0].kind == tokens[1].kind == 'word' and tokens[0].text not in STATEMENTS
        return bool(tokens) and tokens[-1].text == ';' and not declares and all(t.partner >= 0 for t in tokens if t.text in '()[]{}')
    if not tokens or any(t.partner < 0 for t in tokens if t.text in ('(', ')', '[', ']', '{', '}')):
        return False
    first, last = tokens[0], tokens[-1]
    begins = first.kind != 'sign' or first.text in ('(', '[', '!', '~', '-', '+', '*', '&', '++', '--', '::')
    ends = last.kind != 'sign' or last.text in (')', ']', '}', '++', '--')
    return begins and ends and first.text not in STATEMENTS and all(t.text != ';' for t in tokens if not _is_inside(tokens, t))


def _is_inside(tokens: list[Token], token: Token) -> bool:
    return any(t.is_body or t.text == '{' for t in tokens if t.partner >= 0 and t.begin < token.begin < tokens[t.partner].begin)
