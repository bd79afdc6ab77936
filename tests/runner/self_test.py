# SPDX-License-Identifier: Apache-2.0
"""The runner must tell a failure from a pass: it runs a project whose tests end in every way in which a program can end."""
from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from importlib import util
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / room) for room in ('tidy', 'fuzz')]

import drive  # noqa: E402
import suites  # noqa: E402
from meson import Meson, StepFailed  # noqa: E402
from tap import Tap  # noqa: E402

spec = util.spec_from_file_location('runner', Path(__file__).with_name('__main__.py'))
runner = util.module_from_spec(spec)
spec.loader.exec_module(runner)

XML = '''<testsuites><testsuite name="A"><testcase name="Passes" status="run" classname="A"/>
<testcase name="Fails" status="run" classname="A"><failure message="1 is not 2"/></testcase>
<testcase name="Skips" status="run" classname="A"><skipped message="a.cpp:2&#x0A;no device"/></testcase>
<testcase name="DISABLED_Off" status="notrun" classname="A"/><testcase name="Filtered" status="notrun" classname="A"/></testsuite></testsuites>'''
GTEST = f'for a; do f=${{a#--gtest_output=xml:}}; done; mkdir -p t; cat >$f <<X\n{XML}\nX\n'
TWO = 'echo "ok 1 - one"; echo "not ok 2 - two"; echo "# because"; echo "# of this"; '
# name: (protocol, script, what it comes to)
ENDINGS = {
    'gtest': ('gtest', f'{GTEST} exit 1', ['A.Passes passed', 'A.Fails failed 1 is not 2', 'A.Skips skipped no device', 'A.DISABLED_Off skipped disabled']),
    'leaks': ('gtest', f'{GTEST.replace(XML.splitlines()[1], "")} echo "Sanitizer: leak"; exit 66', [
        'A.Passes passed', 'A.Skips skipped no device', 'A.DISABLED_Off skipped disabled', 'program failed FAIL, exit status 66 Sanitizer: leak']),
    'crashes': ('gtest', 'echo broken; kill -6 $$', ['failed FAIL, exit status -6 broken']),
    'tap': ('tap', f'{TWO} echo "ok 3 - three # SKIP no tun"; echo 1..3; exit 1', ['one passed', 'two failed # because # of this', 'three skipped no tun']),
    'short': ('tap', 'echo "ok 1 - one"; echo 1..3', ['one passed', 'program failed ERROR, exit status 0 ok 1 - one 1..3']),
    'none': ('tap', 'true', ['failed reported no test']),
    'passes': ('exitcode', 'echo so many', ['passed so many']),
    'skips': ('exitcode', 'echo no device; exit 77', ['skipped no device']),
    'errs': ('exitcode', 'echo ERROR OCCURRED', ['failed OK, exit status 0 ERROR OCCURRED']),
    'filters': ('gtest', 'case "$*" in *--gtest_filter=\\*passes\\**) exit 3;; esac; exit 4', ['failed FAIL, exit status 4']),
    'points': ('tap', 'echo "ok 1 - of$SOFTSPINE_TEST_PATTERN"; echo 1..1', ['of passed']),
    'hangs': ('exitcode', 'sleep 99', ['failed TIMEOUT, exit status -15']),
    'draws': ('exitcode', 'echo $SOFTSPINE_ONE_IN', ['passed 7']),
}


def set_up(folder: Path) -> suites.Build:
    build = suites.Build(str(folder / 'build'), [], 0)
    subprocess.run(['meson', 'setup', str(build.path), str(folder)], check=True, stdout=subprocess.DEVNULL)
    (build.path / 'softspine-options').write_text(json.dumps([build.compiler, build.options]))
    return build


def project(folder: Path) -> suites.Suite:
    lines = ["project('softspine')", "sh = find_program('sh')"]
    for name, (protocol, script, _) in ENDINGS.items():
        (folder / name).write_text(script)
        lines.append(f"test('t/{name}', sh, args: [files('{name}')], suite: 't', protocol: '{protocol}', timeout: {1 if name == 'hangs' else 300})")
    (folder / 'meson.build').write_text('\n'.join(lines))
    return suites.Suite('t', set_up(folder), frozenset({'t'}), 0, reads_only=True)


def same(found, wanted) -> list[str]:
    return [] if found == wanted else [f'found  {found!r}', f'wanted {wanted!r}']


def fuzzers_are_counted() -> list[str]:
    """A target that stops before its inputs are through has not had them."""
    text = '#9\tREDUCE cov: 12 ft: 34 corp: 5/6b\nDone 2000 runs in 4 second(s)\n'
    found = [drive.summary(text, '-runs=2000'), drive.summary(text, '-runs=2001')[0], drive.summary('', '-max_total_time=5')[0]]
    return same(found, [(True, '2,000 inputs, 500 a second, 12 edges, 34 features'), False, False])


def plans_name_every_suite() -> list[str]:
    words = suites.plan(suites.DEFAULT, 5).replace(':', ' ').split()
    return [f'{name} is not said' for name in suites.NAMES if name not in words]


def of_meson(folder: Path) -> dict[str, list[str]]:
    """What each test comes to, a pattern's choice, and a step that fails."""
    suite, meson = project(folder), Meson({'SOFTSPINE_ONE_IN': '7', 'SOFTSPINE_TEST_PATTERN': ''})
    tests = meson.build(suite, [suite])
    found = meson.test(suite, tests, None)[0]
    points = {}
    for name, (_, _, wanted) in ENDINGS.items():
        own = [o for o in found if o.name.split(':')[0] == f't/{name}']
        points[f'{name}_is_seen'] = same([' '.join([*o.name.split(': ')[1:], o.kind, *o.message.split()]) for o in own], wanted)
    chosen = {o.name: o.message.split('\n')[0] for o in meson.test(suite, tests, 'passes')[0]}
    with redirect_stdout(io.StringIO()) as printed:
        runner.run(suite, meson, [suite], 'errs')
    points['a_failure_is_named_when_its_suite_ends'] = same('    failed: t/errs\n' in printed.getvalue(), True)
    points['a_pattern_chooses_tests_and_their_cases'] = same(
        [chosen.get('t/passes'), chosen.get('t/filters'), 't/points: ofpasses' in chosen, 't/draws' in chosen],
        ['so many', 'FAIL, exit status 3', True, False])
    try:
        meson.build(suites.Suite('u', suite.build, frozenset(), 0, prepares='/bin/false'), [])
        points['what_cannot_be_made_is_a_failure'] = ['is none']
    except StepFailed:
        points['what_cannot_be_made_is_a_failure'] = []
    return points


def builds_ahead(folder: Path) -> list[str]:
    """What has been built ahead stands, and what is being built ends with all its programs."""
    (folder / 'make').write_text('cat /proc/self/autogroup >weight 2>&1; chrt -p $$ >>weight; echo $$ >"$1.pid"; if [ "$2" = slow ]; then sleep 99; fi; touch "$1"')
    (folder / 'meson.build').write_text("""project('softspine')
sh = find_program('sh')
foreach name : ['fast', 'slow']
  made = custom_target(name, output: name, command: [sh, files('make'), '@OUTPUT@', name])
  test(name, sh, args: ['-c', 'true'], depends: made, suite: name)
endforeach
""")
    build = set_up(folder)
    fast, slow = (suites.Suite(name, build, frozenset({name}), 0) for name in ('fast', 'slow'))
    meson = Meson({})
    meson.build_ahead(build, [fast])
    meson._ahead.wait()
    weight = (build.path / 'weight').read_text()
    found = [(build.path / 'fast').exists(), 'SCHED_IDLE' in weight, 'nice 19' in weight or not Path('/proc/self/autogroup').exists()]
    meson.build_ahead(build, [slow])
    pid = build.path / 'slow.pid'
    while not (pid.exists() and pid.read_text()):
        if meson._ahead.poll() is not None:
            return ['what is slow ended by itself']
    ended = select.poll()
    ended.register(os.pidfd_open(int(pid.read_text())), select.POLLIN)
    meson.end_building_ahead()
    found += [bool(ended.poll(20_000)), (build.path / 'slow').exists()]
    return same(found, [True, True, True, True, False])


def main() -> int:
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / 'ahead'
        other.mkdir()
        points = {'fuzzers_are_counted': fuzzers_are_counted(), 'plans_name_every_suite': plans_name_every_suite(),
                  **of_meson(Path(folder)), 'builds_ahead': builds_ahead(other)}
    for name, problems in points.items():
        if tap.wants(name):
            tap.point(name, problems)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
