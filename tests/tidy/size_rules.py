# SPDX-License-Identifier: Apache-2.0
"""How long a file and a function may be. Past 500 and 70 it is two things; nine in ten are far below."""
from __future__ import annotations

import ast
import re

from tree import CPP, Finding, Tree, room_of

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 70
USUAL_FILE_LINES = 200  # nine in ten of what is built have no more
USUAL_FUNCTION_LINES = 18
NOT_A_FUNCTION = re.compile(r'^\s*(template\s*<[^{;]*>\s*)?(inline\s+)?(namespace|class|struct|enum|union|extern)\b')
TEMPLATE_ARGUMENTS = r'<[^<>(){};]*(?:<[^<>(){};]*>[^<>(){};]*)*>'
FUNCTION_NAME = re.compile(rf'((?:[\w:~]|{TEMPLATE_ARGUMENTS})*\boperator\s*(?:\(\)|[^\s(]+)|(?:[\w:~]|{TEMPLATE_ARGUMENTS})+)\s*\(([^()]*)')
MEASURED = CPP + ('.py', '.sh', '.build', '.yaml', '.html', '.js', '.css')


def files_of_one_idea(tree: Tree) -> list[Finding]:
    """No file is longer than 500 lines."""
    measured = set(tree.paths(MEASURED)) | set(tree.scripts('bash')) | set(tree.scripts('python'))
    return [Finding(path, MAX_FILE_LINES, f'{len(tree.lines(path))} lines, at most {MAX_FILE_LINES}')
            for path in sorted(measured) if len(tree.lines(path)) > MAX_FILE_LINES]


def functions_of_one_page(tree: Tree) -> list[Finding]:
    """No function is longer than 70 lines."""
    findings = []
    for path in tree.paths(CPP):
        for number, length, name in cpp_functions(tree.texts[path]):
            if length > MAX_FUNCTION_LINES:
                findings.append(Finding(path, number, f'{name}: {length} lines, at most {MAX_FUNCTION_LINES}'))
    for path in tree.scripts('python'):
        for node in ast.walk(ast.parse(tree.texts[path])):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = node.end_lineno - node.lineno + 1
                if length > MAX_FUNCTION_LINES:
                    findings.append(Finding(path, node.lineno, f'{node.name}: {length} lines, at most {MAX_FUNCTION_LINES}'))
    return findings


def nine_in_ten_are_short(tree: Tree) -> list[Finding]:
    """Nine in ten of the rooms' C++ files have at most 200 lines, nine in ten of their functions at most 18."""
    built = [path for path in tree.paths(CPP) if room_of(path) not in ('', 'tests')]
    files = [(len(tree.lines(path)), path, 1) for path in built]
    functions = [(length, path, number) for path in built for number, length, _ in cpp_functions(tree.texts[path])]
    findings = []
    for what, sizes, usual in (('files', files, USUAL_FILE_LINES), ('functions', functions, USUAL_FUNCTION_LINES)):
        if sizes and (lines := ninth_tenth(sizes))[0] > usual:
            findings.append(Finding(lines[1], lines[2], f'{lines[0]} lines, and one in ten of {len(sizes)} {what} has as many: at most {usual}'))
    return findings


def ninth_tenth(sizes: list[tuple]) -> tuple:
    """The 90th percentile: so many have at most its size."""
    return sorted(sizes)[-(-9 * len(sizes) // 10) - 1]


def cpp_functions(text: str) -> list[tuple[int, int, str]]:
    """(first line, lines, name) of each function at namespace or class level: braces counted, not parsed."""
    blank = blank_out(text)
    found, stack, head = [], [], 0  # stack: (is function, line of the head, name, where its head began; None: of a namespace or class)
    for i, c in enumerate(blank):
        if c == '{':
            is_function, name = False, ''
            is_body = blank[i - 1].isspace()  # else an initialiser, a_{1}: clang-format leaves no space before it
            if is_body and not any(entry[0] for entry in stack):
                is_function, name = _is_function_head(blank[head:i])
            start = head + len(blank[head:i]) - len(blank[head:i].lstrip())
            holds_others = NOT_A_FUNCTION.match(blank[head:i]) is not None
            stack.append((is_function, blank.count('\n', 0, start) + 1, name, None if holds_others else head))
            head = i + 1
        elif c == '}' and stack:
            is_function, first, name, before = stack.pop()
            if is_function:
                found.append((first, blank.count('\n', 0, i) + 1 - first + 1, name))
            head = i + 1 if is_function or before is None or blank[i + 1:i + 2] not in (',', ' ') else before
        elif c == ';':
            head = i + 1
    return found


def _is_function_head(head: str) -> tuple[bool, str]:
    head = re.sub(r'^\s*(#[^\n]*\n|public:|private:|protected:|\s)*', '', head)
    if NOT_A_FUNCTION.match(head) or '(' not in head or re.search(r'(^|[^=!<>])=\s*$', head):
        return False, ''
    name = FUNCTION_NAME.search(head)
    if not name:
        return False, ''
    test = re.match(r'TEST(?:_[FP])?', name[1])
    return True, f'{name[1]}({name[2].strip()})' if test else name[1]


def blank_out(text: str) -> str:
    """Comments, strings and characters as spaces, with every newline kept."""
    def spaces(match: re.Match[str]) -> str:
        return re.sub(r'[^\n]', ' ', match[0])
    return re.sub(r'R"(\w*)\((?:.|\n)*?\)\1"|//[^\n]*|/\*(?:.|\n)*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'',
                  spaces, text)


RULES = [files_of_one_idea, functions_of_one_page, nine_in_ten_are_short]
