# SPDX-License-Identifier: Apache-2.0
"""Every rule must be able to fail: each is fed trees that break it and trees that only look as if they did."""
from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from compiled_rules import Check, CompiledRules, complaints
from passed_before import PassedBefore
from rules import RULES
from size_rules import cpp_functions
from tap import Tap
from tree import Tree

LICENCE = 'SPDX-License-Identifier: ' + 'Apache-2.0'
LONG_BODY = 'int f(int a,\n      int b) {\n' + '  a += b;\n' * 68 + '}\n'
POLICIES = "policies_lib = static_library('policies',\n  'units/a.cpp',\n  include_directories: root)\n"
SLASHES, TO_DO, AWAY = '//', 'TO' + 'DO', '/ho' + 'me/ann/x'

# rule: ([trees that break it], [trees that keep it])
CASES: dict[str, tuple[list[dict[str, str]], list[dict[str, str]]]] = {
    'include_arrows': (
        [{'dataplane/a.cpp': '#include "control/b.hpp"\n'}, {'pipelines/a.hpp': '#  include "control/b.hpp"\n'},
         {'control/a.cpp': '#include "testbeds/b.hpp"\n'}, {'testbeds/a.cpp': '#include "tools/b.hpp"\n'},
         {'control/a.cpp': '#include "tests/b.hpp"\n'}],
        [{'pipelines/a.cpp': '#include "dataplane/b.hpp"\n#include <map>\n'}, {'tests/a.cpp': '#include "tools/b.hpp"\n'}]),
    'own_headers_by_full_path': (
        [{'control/a.cpp': '#include "b.hpp"\n'}, {'control/a.cpp': '#include <dataplane/b.hpp>\n'}],
        [{'control/a.cpp': '#include "control/b.hpp"\n#include <boost/asio.hpp>\n'}]),
    'dpdk_in_its_rooms': (
        [{'pipelines/a.cpp': '#include <rte_mbuf.h>\n'}, {'dataplane/link/a.hpp': '#include <rte_ring.h>\n'}],
        [{'dataplane/packet/a.hpp': '#include <rte_mbuf.h>\n'}]),
    'policies_without_packets': (
        [{'dataplane/meson.build': POLICIES, 'dataplane/units/a.cpp': '#include "dataplane/b.hpp"\n',
          'dataplane/b.hpp': '#include "dataplane/packet/p.hpp"\n', 'dataplane/packet/p.hpp': '#include <rte_mbuf.h>\n'}],
        [{'dataplane/meson.build': POLICIES, 'dataplane/units/a.cpp': '#include "dataplane/b.hpp"\n',
          'dataplane/b.hpp': '#include <map>\n', 'dataplane/packet/p.hpp': '#include <rte_mbuf.h>\n'}]),
    'no_include_cycles': (
        [{'control/a.hpp': '#include "control/b.hpp"\n', 'control/b.hpp': '#include "control/a.hpp"\n'}],
        [{'control/a.hpp': '#include "control/b.hpp"\n#include "control/c.hpp"\n', 'control/b.hpp': '#include "control/c.hpp"\n',
          'control/c.hpp': ''}]),
    'files_of_one_idea': ([{'a.py': 'x\n' * 501}, {'run': '#!/usr/bin/env bash\n' + 'x\n' * 500}],
                          [{'a.py': 'x\n' * 500, 'b.json': '1\n' * 900}]),
    'functions_of_one_page': (
        [{'control/a.cpp': LONG_BODY + 'x;\n'}, {'control/a.cpp': 'namespace n {\nclass C {\n' + LONG_BODY + '};\n}\n'},
         {'tests/a_test.cpp': 'TEST(A, B) {\n' + '  f();\n' * 69 + '}\n'}, {'a.py': 'def f():\n' + '    g()\n' * 70}],
        [{'control/a.cpp': LONG_BODY.replace('  a += b;\n', '', 1)},
         {'control/a.cpp': 'namespace n {\n' + 'int f() { return 1; }\n' * 90 + '}\n'},
         {'control/a.cpp': 'const char* names[] = {\n' + '  "f(x) {",\n' * 90 + '};\n'}]),
    'licence_line': ([{'a.cpp': 'int x;\n'}, {'README.md': '# a\n'}, {'meson.build': '\n' * 9 + f'# {LICENCE}\n'}],
                     [{'a.cpp': f'// {LICENCE}\n', 'a.json': '{}', 'LICENSE': 'Apache\n'}]),
    'nothing_unfinished': ([{'a.md': f'{TO_DO}: write\n'}, {'a.cpp': f'// {TO_DO}(ann)\n'}], [{'a.md': 'TODOS\nautodoc\n'}]),
    'no_dead_code': (
        [{'control/a.cpp': f'{SLASHES} {line}\n'} for line in
         ('return x;', 'if (a > b) {', 'int x = 3;', 'f(x);', 'a->b.c = d;', 'std::vector<int> v;', '}', '++x; x++;'[5:])]
        + [{'control/a.cpp': '#if 0\n#endif\n'}, {'a.py': '# import os\n'}, {'a.py': '    # x = f(1)\n'}],
        [{'control/a.cpp': f'{SLASHES} {line}\n'} for line in
         ('arrives = left + propagation', 'Frees it; nobody else does.', 'if nothing is left (see node.hpp);', '   return table;',
          'for the ports of a node: each stands once', '0 <= x < 2^32;')]
        + [{'a.py': '# from here on nothing waits\n# if it is there: take it.\n'}]),
    'names_say_what': ([{'control/' + 'utils.cpp': ''}, {'tests/' + 'common/a.cpp': ''}, {'tools/string_' + 'helper.hpp': ''}],
                       [{'control/utilisation.cpp': ''}]),
    'file_names_are_snake_case': ([{'control/NodeMap.cpp': ''}, {'tests/a-b.py': ''}], [{'control/node_map2.cpp': ''}]),
    'no_foreign_paths': ([{'a.md': f'see {AWAY}\n'}, {'x.yaml': f'"{AWAY}"\n'}], [{'a.md': 'net' + AWAY + ' /dev/net/tun\n'}]),
    'tests_do_not_sleep': (
        [{'tests/unit/a.cpp': 'std::this_thread::' + 'sleep_for(x);\n'}, {'tests/model/a.py': 'time.' + 'sleep(1)\n'},
         {'tests/scenario/run.sh': 'while x; do ' + 'sleep 1; done\n'}],
        [{'tests/wire/a.py': 'time.' + 'sleep(1)\n', 'tests/unit/a.cpp': f'{SLASHES} who sleeps late\n'}]),
    'tests_read_no_clock': ([{'tests/unit/a.cpp': 'std::chrono::steady_' + 'clock::now()\n'}],
                            [{'tests/wire/a.cpp': 'std::chrono::steady_' + 'clock::now()\n'}]),
    'only_the_clock_reads_a_clock': ([{'dataplane/engine/worker.cpp': '__' + 'rdtsc()\n'}, {'pipelines/a.hpp': 'steady_' + 'clock\n'}],
                                     [{'dataplane/engine/wall_clock.cpp': '__' + 'rdtsc()\n'}]),
    'dataplane_does_not_log': ([{'dataplane/a.cpp': 'spdlog::info("x");\n'}, {'pipelines/a.cpp': 'std::cout << 1;\n'}],
                               [{'control/a.cpp': 'spdlog::info("x");\n', 'dataplane/a.cpp': 'snprintf(b, n, "x");\n'}]),
    'headers_have_a_guard': ([{'control/a.hpp': 'int x;\n'}], [{'control/a.hpp': '#pragma once\n'}]),
    'lines_end_clean': ([{'a.md': 'x \n'}, {'a.md': 'x'}, {'a.md': '\tx\n'}], [{'a.md': 'x\n', 'a.json': '{}'}]),
    'accessors_have_readers': (
        [{'control/a.hpp': 'uint64_t lost() const { return lost_; }\n', 'control/a.cpp': 'void A::f() { ++lost_; }\n',
          'tests/a.cpp': 'a.lost();\n'},
         {'control/a.hpp': 'uint64_t most() const noexcept { return most_.load(x); }\nvoid f() { most_.fetch_add(1); }\n'},
         {'control/a.hpp': 'uint32_t most() const { return most_; }\n', 'control/a.cpp': 'most_ = std::max(most_, n);\n'},
         {'control/a.hpp': 'const std::string& input_error() const { return text_; }\n', 'tests/a.cpp': 'a.input_error();\n'},
         {'control/a.hpp': 'std::map<X, Y> statistics() const;\n', 'control/a.cpp': 'std::map<X, Y> A::statistics() const {\n'}],
        [{'control/a.hpp': 'uint64_t lost() const { return lost_; }\n', 'control/a.cpp': '++lost_;\n', 'tools/b.cpp': 'x = a.lost();\n'},
         {'control/a.hpp': 'uint64_t lost() const { return lost_; }\n', 'control/a.cpp': '++lost_;\n', 'tools/b.cpp': 'f(&A::lost);\n'},
         {'control/a.hpp': 'uint64_t size() const { return size_; }\n'},
         {'control/a.hpp': 'std::string error() const;\n', 'tools/b.cpp': 'print(a->error());\n'}]),
    'counters_have_readers': (
        [{'control/a.hpp': 'struct A {\n  uint64_t drops = 0;\n};\n', 'control/a.cpp': '++counters_.drops;\n', 'tests/a.cpp': 'a.drops;\n'},
         {'control/a.hpp': 'struct A {\n  std::atomic<uint64_t> calls{0};\n};\n', 'control/a.cpp': '++context_.counters.calls;\n'},
         {'control/a.hpp': 'struct A {\n  uint64_t bytes = 0;\n};\n', 'control/a.cpp': 'port.bytes += n;  // bytes\n'}],
        [{'control/a.hpp': 'struct A {\n  uint64_t drops = 0;\n};\n', 'control/a.cpp': '++c.drops;\n', 'tools/b.cpp': 'show(c.drops);\n'},
         {'control/a.hpp': 'struct A {\n  uint64_t drops = 0;\n};\n', 'control/a.cpp': 'sum.drops += each.drops;\n'},
         {'control/a.hpp': 'struct A {\n  uint64_t limit = 0;\n};\n'}]),
    'rooms_have_cards': (
        [{}, {f'{room}/README.md': 'x\n' * 61 for room in ('dataplane', 'pipelines', 'control', 'testbeds', 'tools', 'tests')}],
        [{f'{room}/README.md': 'x\n' for room in ('dataplane', 'pipelines', 'control', 'testbeds', 'tools', 'tests')}]),
    'testbeds_are_tests': ([{'testbeds/two.yaml': '', 'tests/README.md': 'two', 'tests/tidy/x.py': 'two'}],
                           [{'testbeds/two.yaml': '', 'tests/wire/a.py': 'run("two.yaml")'}]),
    'numbers_in_readme_have_a_test': (
        [{'README.md': 'It is quick. It takes 3 s.\n'}, {'README.md': '| a | up to 20 % |\n'}],
        [{'README.md': 'On x86-64 (`--for 3s`), RoCEv2.\n\n    3 of 4 held\n'}]),
    'only_known_rooms': ([{'src/a.cpp': ''}], [{'control/a.cpp': '', 'README.md': '', '.ci/run': ''}]),
}


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
            return passed.knows(passed.key('a.cpp', condition))

        for name, text in texts.items():
            (root / name).write_text(text)
        passed = PassedBefore(Tree(texts), root / 'passed', root)
        passed.remember(passed.key('a.cpp', 'tool 1'), 'a.cpp')
        (root / 'c.hpp').write_text('int changed;\n')
        passed.remember(passed.key('a.cpp', 'tool 3'), 'a.cpp')
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
            said.append(rules.run([Check('a.cpp', ['bash', '-c', command])]))
        runs = (build / 'runs').read_text().count('x')
    wanted = [['a.cpp: exit status 1']] * 2 + [[]] * 2
    return [] if (said, runs) == (wanted, 3) else [f'said {said} in {runs} runs']


def main() -> int:
    tap = Tap()
    tests = {'every_rule_has_a_case': lambda: sorted({r.__name__ for r in RULES} ^ set(CASES)),
             'functions_are_measured_by_their_braces': function_measure,
             'a_compilers_complaints_survive_the_filter': noise,
             'what_has_passed_is_known_by_all_that_it_read': memory,
             'only_a_pass_is_remembered': a_failure_is_found_again}
    for rule in RULES:
        tests[f'{rule.__name__}_can_fail'] = lambda r=rule: problems_of(r, *CASES.get(r.__name__, ([], [])))
    for name, test in tests.items():
        if tap.wants(name):
            tap.point(name, test())
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
