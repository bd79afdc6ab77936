# SPDX-License-Identifier: Apache-2.0
"""Every rule must be able to fail: each is fed the trees of rule_cases.py."""
from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from compiled_rules import Check, CompiledRules, complaints
from flag_rules import mpi_is_found_in_its_folder
from passed_before import PassedBefore
from rule_cases import CASES
from rules import RULES
from size_rules import cpp_functions
from tap import Tap
from tree import ROOT, Tree


def problems_of(rule, breaking: list[dict[str, str]], keeping: list[dict[str, str]]) -> list[str]:
    problems = [f'does not see: {texts}'[:300] for texts in breaking if not rule(Tree(texts))]
    problems += [f'complains of {texts}'[:200] + f': {rule(Tree(texts))[0]}' for texts in keeping if rule(Tree(texts))]
    return problems if breaking and keeping else [*problems, 'has no case on one side']


def function_measure() -> list[str]:
    found = cpp_functions('namespace n {\nstruct S : B {\n  S() : a_{1} {\n    if (x) {\n    }\n  }\n};\n'
                          'int f() {\n  const auto g = [](int y) {\n    return y;\n  };\n  return g(\'{\');\n}\n}\n')
    wanted = [(3, 4, 'S'), (8, 6, 'f')]
    return [] if found == wanted else [f'found {found}, wanted {wanted}']


def noise() -> list[str]:
    said = complaints('a.cpp:1: error: x\n\n3 warnings generated.\nSuppressed 3 warnings\n1 warning treated as errors\n')
    return [] if said == ['a.cpp:1: error: x'] else [str(said)]


def memory() -> list[str]:
    """What has passed is known again by the same texts and conditions, and by no others."""
    texts = {'a.cpp': '#include "b.hpp"\n#include <map>\n', 'b.hpp': '#include "c.hpp"\n', 'c.hpp': '#include "b.hpp"\nint c;\n', 'd.hpp': ''}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def known(texts: dict[str, str], condition: str) -> bool:
            passed = PassedBefore(Tree(texts), root / 'passed')
            return passed.knows(passed.key(['a.cpp'], condition))

        for name, text in texts.items():
            (root / name).write_text(text)
        passed = PassedBefore(Tree(texts), root / 'passed', root)
        passed.remember(passed.key(['a.cpp'], 'tool 1'), ['a.cpp'])
        (root / 'c.hpp').write_text('int changed;\n')
        passed.remember(passed.key(['a.cpp'], 'tool 3'), ['a.cpp'])
        claims = {'the same': known(texts, 'tool 1'),
                  'another file': known({**texts, 'd.hpp': 'int d;'}, 'tool 1'),
                  'not the tool': not known(texts, 'tool 2'),
                  'not while it was being changed': not known(texts, 'tool 3'),
                  'not the source': not known({**texts, 'a.cpp': texts['a.cpp'] + '\n'}, 'tool 1'),
                  'not what it includes': not known({**texts, 'b.hpp': '#include "c.hpp"\nint b;\n'}, 'tool 1'),
                  'not what that includes': not known({**texts, 'c.hpp': 'int d;\n'}, 'tool 1')}
    return [f'{claim} does not hold' for claim, holds in claims.items() if not holds]


def a_failure_is_found_again() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        (build / 'compile_commands.json').write_text('[]')
        tree = Tree({'a.cpp': 'int a;\n'})
        (build / 'a.cpp').write_text(tree.texts['a.cpp'])
        rules = CompiledRules(build, tree, PassedBefore(tree, build / 'passed', build))
        command = 'echo x >>runs; test -e mended'
        said = []
        for mend in (False, False, True, True):
            if mend:
                (build / 'mended').touch()
            said.append(rules.run([Check('a.cpp', ['bash', '-c', command], ['a.cpp'])]))
        runs = (build / 'runs').read_text().count('x')
    wanted = [['a.cpp: exit status 1']] * 2 + [[]] * 2
    return [] if (said, runs) == (wanted, 3) else [f'said {said} in {runs} runs']


def the_least_recent_are_first() -> list[str]:
    """A check that begins when the time is over waits for the next one, which begins with it."""
    texts = {f'{name}.cpp': f'int {name};\n' for name in 'abc'}
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        (build / 'compile_commands.json').write_text('[]')
        for name, text in texts.items():
            (build / name).write_text(text)

        def run(minutes: float, changed: dict[str, str], names: str) -> tuple[str, int]:
            (build / 'runs').write_text('')
            for name, text in changed.items():
                (build / name).write_text(text)
            rules = CompiledRules(build, Tree({**texts, **changed}), PassedBefore(Tree({**texts, **changed}), build / 'passed', build), minutes)
            rules.run([Check(f'{n}.cpp', ['bash', '-c', f'echo {n} >>runs'], [f'{n}.cpp']) for n in names])
            return ''.join(sorted((build / 'runs').read_text().split())), rules.left

        said = [run(math.inf, {}, 'ab'), run(0, {'a.cpp': 'int d;\n'}, 'abc'), run(math.inf, {'a.cpp': 'int d;\n'}, 'abc')]
        passed = PassedBefore(Tree(texts), build / 'passed', build)
        said.append((passed.last_seen(['c.cpp']) > passed.last_seen(['b.cpp']), passed.last_seen(['never.cpp'])))
    wanted = [('ab', 0), ('', 2), ('ac', 0), (True, 0)]
    return [] if said == wanted else [f'said {said}, wanted {wanted}']


def a_unit_is_what_it_includes() -> list[str]:
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        build = Path(folder)
        (build / 'l.p').mkdir()
        (build / 'l.p' / 'l-unity0.cpp').write_text(f'#include<{ROOT}/x/../control/a.cpp>\n#include<{ROOT}/control/b.cpp>\n')
        units = ['l.p/l-unity0.cpp', f'{ROOT}/tools/c.cpp', '/usr/d.cpp']
        (build / 'compile_commands.json').write_text(json.dumps([{'file': f, 'directory': folder, 'command': 'c++'} for f in units]))
        tree = Tree({'.clang-tidy': '', 'control/a.cpp': '', 'control/b.cpp': '', 'tools/c.cpp': ''})
        rules = CompiledRules(build, tree, PassedBefore(tree, build / 'passed'))
        asked: list[Check] = []
        rules.run = lambda checks: asked.extend(checks) or []
        rules.clang_tidy()
    found = [(c.name, c.paths) for c in asked]
    wanted = [(units[0], ['control/a.cpp', 'control/b.cpp']), (units[1], ['tools/c.cpp'])]
    return [] if found == wanted else [f'found {found}, wanted {wanted}']


def clang_gets_no_option_of_gccs_alone() -> list[str]:
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        build = Path(folder)
        command = 'ccache g++ -O2 --param=ggc-min-expand=100 -c a.cpp'
        (build / 'compile_commands.json').write_text(json.dumps([{'file': f'{ROOT}/a.cpp', 'directory': folder, 'command': command}]))
        tree = Tree({})
        CompiledRules(build, tree, PassedBefore(tree, build / 'passed'))
        (found,) = json.loads((build / 'tidy' / 'compile_commands.json').read_text())
    return [] if re.match(r'clang\S+ -O2 -c a\.cpp -W', found['command']) else [f'clang is given {found["command"]}']


def mpi_in_other_folders_is_found() -> list[str]:
    with tempfile.TemporaryDirectory(dir=ROOT) as folder:
        build = Path(folder)
        for name in ('mpi', 'other', 'l.p'):
            (build / name).mkdir()
        (build / 'mpi' / 'mpi.h').touch()
        (build / 'l.p' / 'l-unity0.cpp').write_text(f'#include<{ROOT}/dataplane/mpi/a.cpp>\n#include<{ROOT}/tools/b.cpp>\n')

        def finds(file: str, *words: str) -> bool:
            unit = {'file': file, 'directory': folder, 'command': ' '.join(['c++', *words, '-c', file])}
            (build / 'compile_commands.json').write_text(json.dumps([unit]))
            return bool(mpi_is_found_in_its_folder(build))

        ours, others, both = f'{ROOT}/dataplane/mpi/a.cpp', f'{ROOT}/tools/b.cpp', 'l.p/l-unity0.cpp'
        claims = {f'{words} with {file}': finds(file, *words) == wanted
                  for file, words, wanted in ((others, ('-isystemmpi',), True), (others, ('-isystem', 'mpi'), True), (others, ('-Iother', f'-I{folder}/mpi'), True),
                                              (both, ('-isystemmpi',), True), (ours, ('-isystemmpi',), False), (others, ('-Iother', '-isystemother'), False))}
    return [f'{claim} is judged wrong' for claim, holds in claims.items() if not holds]


def commits_with_long_subjects() -> list[str]:
    """In a repository that has our hooks git itself takes the message, or refuses it."""
    word = 'é' * 30
    taken = [f'{word}{word}', f'{word}\n\n{word}{word}{word}', f'Revert "{word}{word}"', f'fixup! {word}{word}']
    refused = [f'{word}{word}.', f'{word}\n{word}', f'\n\n{word}{word}.\n\nWhy.']
    with tempfile.TemporaryDirectory() as folder:
        git = ['git', '-C', folder, '-c', f'core.hooksPath={ROOT}/tools/hooks', '-c', 'user.name=a', '-c', 'user.email=a@b']
        subprocess.run([*git, 'init', '-q'], check=True)

        def takes(message: str) -> bool:
            done = subprocess.run([*git, 'commit', '-q', '--allow-empty', '-m', message], capture_output=True, check=False)
            return done.returncode == 0

        return [f'refuses {m!r}' for m in taken if not takes(m)] + [f'takes {m!r}' for m in refused if takes(m)]


def main() -> int:
    tap = Tap()
    tests = {'every_rule_has_a_case': lambda: sorted({r.__name__ for r in RULES} ^ set(CASES)),
             'functions_are_measured_by_their_braces': function_measure,
             'a_compilers_complaints_survive_the_filter': noise,
             'what_has_passed_is_known_by_all_that_it_read': memory,
             'only_a_pass_is_remembered': a_failure_is_found_again,
             'a_budget_begins_with_the_least_recent': the_least_recent_are_first,
             'sources_are_looked_at_as_they_are_compiled': a_unit_is_what_it_includes,
             'clang_gets_no_option_of_gccs_alone': clang_gets_no_option_of_gccs_alone,
             'mpi_in_other_folders_is_found': mpi_in_other_folders_is_found,
             'commits_with_long_subjects_are_refused': commits_with_long_subjects}
    for rule in RULES:
        tests[f'{rule.__name__}_can_fail'] = lambda r=rule: problems_of(r, *CASES.get(r.__name__, ([], [])))
    for name, test in tests.items():
        if tap.wants(name):
            tap.point(name, test())
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
