# SPDX-License-Identifier: Apache-2.0
"""Of each rule, trees that break it and trees that only look as if they did."""
from __future__ import annotations

from picture_cases import STAGE, pipelines

LICENCE = 'SPDX-License-Identifier: ' + 'Apache-2.0'
LONG_BODY = 'int f(int a,\n      int b) {\n' + '  a += b;\n' * 68 + '}\n'
POLICIES = "policies_lib = static_library('policies',\n  'units/a.cpp',\n  include_directories: root)\n"
SLASHES, TO_DO, AWAY = '//', 'TO' + 'DO', '/ho' + 'me/ann/x'


def class_of(lines: int, bases: str = '') -> str:
    return f'class A{bases} {{\n' + '  int a;\n' * (lines - 2) + '};\n'


def members(count: int) -> str:
    return 'int A::f() { return 1; }\n' * count


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
    'no_folder_cycles': (
        [{'control/a/a.cpp': '#include "control/b/b.hpp"\n', 'control/b/b.hpp': '', 'control/b/c.hpp': '#include "control/a/a.hpp"\n',
          'control/a/a.hpp': ''},
         {'control/a/a.hpp': '#include "control/b/x/b.hpp"\n', 'control/b/x/b.hpp': '#include "control/c/c.hpp"\n',
          'control/c/c.hpp': '', 'control/c/c.cpp': '#include "control/a/a.hpp"\n'},
         {'tools/a.hpp': '#include "tools/b/b.hpp"\n', 'tools/b/b.hpp': '', 'tools/b/c.cpp': '#include "tools/a.hpp"\n'}],
        [{'control/a/a.hpp': '#include "control/b/b.hpp"\n', 'control/b/b.hpp': '#include "control/c/c.hpp"\n', 'control/c/c.hpp': '',
          'control/a/x/a.cpp': '#include "control/a/a.hpp"\n#include "control/c/c.hpp"\n'},
         {'control/a/a.hpp': '#include "control/b/gone.hpp"\n', 'control/b/b.hpp': '#include "control/a/a.hpp"\n'}]),
    'files_of_one_idea': ([{'a.py': 'x\n' * 501}, {'run': '#!/usr/bin/env bash\n' + 'x\n' * 500}],
                          [{'a.py': 'x\n' * 500, 'b.json': '1\n' * 900}]),
    'functions_of_one_page': (
        [{'control/a.cpp': LONG_BODY + 'x;\n'}, {'control/a.cpp': 'namespace n {\nnamespace {\nint a;\n}  // namespace\n' + LONG_BODY + 'x;\n}\n}\n'},
         {'control/a.cpp': 'namespace n {\nstruct A {\n};  // of one\nenum class B { kC };\n' + LONG_BODY + 'x;\n}\n}\n'}, {'control/a.cpp': 'namespace n {\nclass C {\n' + LONG_BODY + '};\n}\n'},
         {'tests/a_test.cpp': 'TEST(A, B) {\n' + '  f();\n' * 69 + '}\n'}, {'a.py': 'def f():\n' + '    g()\n' * 70}],
        [{'control/a.cpp': LONG_BODY.replace('  a += b;\n', '', 1)},
         {'control/a.cpp': 'namespace n {\n' + 'int f() { return 1; }\n' * 90 + '}\n'},
         {'control/a.cpp': 'const char* names[] = {\n' + '  "f(x) {",\n' * 90 + '};\n'}]),
    'nine_in_ten_are_short': (
        [{f'control/{n}.cpp': 'x\n' * (201 if n < 2 else 9) for n in range(10)},
         {'tools/a.cpp': 2 * ('void f() {\n' + '  g();\n' * 17 + '}\n') + 8 * 'void f() {}\n'}],
        [{f'control/{n}.cpp': 'x\n' * (400 if n == 0 else 200) for n in range(10)}, {f'tests/{n}.cpp': 'x\n' * 400 for n in range(9)},
         {'tools/a.cpp': 'void f() {\n' + '  g();\n' * 50 + '}\n' + 9 * ('void f() {\n' + '  g();\n' * 14 + '}\n')}]),
    'classes_of_one_idea': (
        [{'control/a.hpp': 'namespace n {\n' + class_of(401) + '}\n'}, {'control/a.hpp': 'enum class E { kA };\n' + class_of(401, ' final : public B<C>')},
         {'control/a.hpp': class_of(201), 'control/a.cpp': members(100), 'control/a_more.cpp': members(100)},
         {'control/a.hpp': class_of(201), 'control/b.hpp': 'class B;\n', 'tools/a.cpp': members(200)},
         {'control/a.hpp': 'template <typename T>\n' + class_of(398), 'control/a.cpp': 'template <typename T>\nA<B<T>, 3>::A() {\n}\n'},
         {'control/a.hpp': class_of(400), 'control/a.cpp': 'bool A::operator==(const A& a) const { return true; }\n'},
         {'control/a.cpp': 'class B {\n' + class_of(399) + '};\n'}],
        [{'control/a.hpp': class_of(400)}, {'tests/a.hpp': class_of(500)}, {'control/a.hpp': class_of(300) + class_of(300).replace('A', 'B')},
         {'control/a.hpp': class_of(201), 'control/a.cpp': members(199)},
         {'control/a.hpp': class_of(201), 'control/a.cpp': members(200).replace('A::', 'B::')},
         {'control/a.hpp': class_of(201), 'tools/a.hpp': class_of(201), 'control/a.cpp': members(100), 'tools/a.cpp': members(100)},
         {'control/a.hpp': class_of(201).replace('A', 'A<int>') + class_of(201).replace('A', 'A<bool>')},
         {'control/a.hpp': 'enum class E {\n' + '  kA,\n' * 500 + '};\n'}]),
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
    'no_module_of_pythons_is_hidden': ([{'tests/' + 'warnings.py': ''}], [{'tests/check_warnings.py': '', 'control/time.cpp': ''}]),
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
    'complaints_cannot_throw': ([{'tools/softspine/a.cpp': 'fmt::print(stderr, "x");\n'}, {'tools/verbs/a.hpp': 'std::cerr << 1;\n'}],
                                [{'tools/softspine/a.cpp': 'complain("x");\nfmt::print("x");\n', 'tests/a.cpp': 'fmt::print(stderr, "x");\n'}]),
    'loops_keep_what_they_walk_over': (
        [{'control/a.cpp': 'for (const auto& [a, b] : rows_of(x).items()) f(a);\n'}, {'tests/a.cpp': 'for (const auto& it : parse(x).value()) f(it);\n'}],
        [{'control/a.cpp': 'for (const auto& [a, b] : rows.items()) f(a);\nfor (const auto& it : rows_of(x)) f(it);\n'}]),
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
    'named_files_exist': (
        [{'control/a.cpp': f'int x;  {SLASHES} see gone.hpp.\n'}, {'a.py': '# as b.py does\n'}, {'a.py': '"""One.\n\nWith b.py.\n"""\n'},
         {'run': '#!/usr/bin/env bash\ntrue # see gone.py\n'}, {'a.yaml': 'a: 1 # gone.yaml\n'}, {'a/meson.build': '# of b.cpp\n'},
         {'control/README.md': 'read `gone.md`\n'}, {'control/a.cpp': f'{SLASHES} control/b/c.hpp\n', 'control/c.hpp': ''},
         {'control/a.cpp': f'{SLASHES} each *_tables.cpp\n'}, {'tests/README.md': 'in /README.md\n'}],
        [{'control/a.hpp': f'{SLASHES} see a.cpp, c/d.hpp, /README.md\n', 'control/a.cpp': '', 'b/c/d.hpp': '', 'README.md': ''},
         {'control/a.cpp': f'{SLASHES} each *_tables.cpp\n', 'control/hash_tables.cpp': ''}, {'README.md': 'your own.yaml\n'},
         {'control/a.cpp': f'open("gone.yaml"); f("{SLASHES} gone.hpp"); {SLASHES} net.pythonic, a.md5\n'},
         {'control/a.cpp': f'f(\'"\', "{SLASHES} gone.hpp");\n'},
         {'a.py': 'f("gone.yaml", "# gone.py", """gone.py""")\n'}, {'control/README.md': 'of /usr/lib/python3/x.py\n'}]),
    'pictures_show_the_order_of_calls': (
        [{}, pipelines('    departure', '    gone'), pipelines('    core', '    kern'), pipelines(STAGE.format('bridge'), ''),
         pipelines(STAGE.format('route'), STAGE.format('route') + STAGE.format('police')), pipelines('//   parse → route', '//   route'),
         pipelines(STAGE.format('route'), STAGE.format('classify') + STAGE.format('route')),
         pipelines('    receive(burst_);\n    forward(burst_);\n', '    forward(burst_);\n    receive(burst_);\n'),
         pipelines('schedule → mark →', 'mark → schedule →'), pipelines('schedule → mark →', 'schedule →'),
         pipelines('─ mark → serialize ──', '─ serialize ─────────'), pipelines('{\n    mark(', '{\n    mmu_.release(a);\n    mark('),
         pipelines('wire busy → queue ─┐', 'wire busy → queue'), pipelines('queue ─┐', 'queue ┐'), pipelines('                         └─', '                        └─'),
         pipelines('wire->send', 'wire->end'), pipelines('admission_.admit', 'others_.admit'),
         pipelines('    const uint32_t cells', '    mark(port, packet);\n    const uint32_t cells'),
         pipelines('    if (port.busy)', '    raise_xoff(group);\n    if (port.busy)')],
        [pipelines(), pipelines('wire busy', 'port busy'), pipelines('parse(burst)', 'look(burst);\n  parse(burst)')]),
    'rooms_have_cards': (
        [{}, {f'{room}/README.md': 'x\n' * 61 for room in ('dataplane', 'pipelines', 'control', 'analysis', 'testbeds', 'tools', 'tests')}],
        [{f'{room}/README.md': 'x\n' for room in ('dataplane', 'pipelines', 'control', 'analysis', 'testbeds', 'tools', 'tests')}]),
    'testbeds_are_tests': ([{'testbeds/two.yaml': '', 'tests/README.md': 'two', 'tests/tidy/x.py': 'two'}],
                           [{'testbeds/two.yaml': '', 'tests/wire/a.py': 'run("two.yaml")'}]),
    'numbers_in_readme_have_a_test': (
        [{'README.md': 'It is quick. It takes 3 s.\n'}, {'README.md': '| a | up to 20 % |\n'}, {'docs/a.md': '- It has 3.\n'},
         {'README.md': 'No.\n', 'tests/tidy/readme_claims.py': ''}],
        [{'README.md': 'On x86-64 (`--for 3s`), RoCEv2, 802.1Qbb, RFC 3720.\n\n```console\n3 of 4 held\n```\n', 'docs/reference/a.md': 'At most 3.\n'}]),
    'figures_name_their_bench': (
        [{'docs/performance.md': '## Seconds\nIt is 3 times.\n'}, {'docs/performance.md': '## Seconds\n`softspine bench`: 3 M/s.\n'},
         {'docs/performance.md': '## Limits: `tests/bench/gone.py`\nAt most 3.\n'}],
        [{'docs/performance.md': '## Seconds, 2026-01-01\n`softspine bench`: 3 M/s.\n'},
         {'docs/performance.md': '## Limits: `tests/bench/a.py`\nAt most 3.\n', 'tests/bench/a.py': ''}]),
    'links_lead_somewhere': (
        [{'docs/a.md': 'See [b](b.md).\n'}, {'README.md': '![a](docs/a.svg)\n', 'docs/b.svg': ''}, {'a.md': '[x](#y-z)\n\n# Y\n'},
         {'a.md': '[x](b.md#y)\n', 'b.md': '```\n# Y\n```\n'}],
        [{'docs/a.md': 'See [b](../b.md#one-two), `[c](d)` and [e](https://e.example/f).\n', 'b.md': '# One two!\n'},
         {'a.md': '[folder](docs/reference)\n```\n[x](y)\n```\n', 'docs/reference/b.md': ''}]),
    'first_page_is_short': ([{'README.md': 'x\n' * 121}, {'README.md': 'x\n', 'docs/a.md': 'y\n'}],
                            [{'README.md': '[a](docs/a.md)\n' * 120, 'docs/a.md': 'y\n', 'docs/reference/b.md': 'z\n'}]),
    'testbeds_are_listed': (
        [{'docs/testbeds.md': '| a | virtual | x |\n', 'testbeds/b.yaml': '', 'testbeds/a.yaml': ''}, {'docs/testbeds.md': '| a, b | wall | x |\n', 'testbeds/a.yaml': ''}],
        [{'docs/testbeds.md': '| a, b | wall | x |\n', 'testbeds/a.yaml': '', 'testbeds/b.yaml': '', 'testbeds/guests/c.yaml': ''}]),
    'headers_have_names_of_their_own': (
        [{'control/a/tables.hpp': '', 'control/b/tables.hpp': ''}, {'control/tables.hpp': '', 'tools/c/tables.hpp': ''}],
        [{'control/a/tables.hpp': '', 'control/b/my_tables.hpp': '', 'tools/tables.cpp': ''}]),
    'types_have_names_of_their_own': (
        [{'control/a/a.hpp': 'namespace softspine::control {\nstruct A {\n};\n}\n', 'control/b/b.hpp': 'namespace softspine::control {\nclass A final {\n};\n}\n'}],
        [{'control/a/a.hpp': 'namespace softspine::control {\nclass A;\nstruct B {\n};\n}\n', 'control/b/b.hpp': 'namespace softspine::control {\nclass A {\n struct B {\n };\n};\n}\n',
          'tools/b/c.hpp': 'namespace softspine::tools {\nstruct A {\n};\n}\n'}]),
    'only_known_rooms': ([{'src/a.cpp': ''}], [{'control/a.cpp': '', 'README.md': '', '.ci/run': ''}]),
}
