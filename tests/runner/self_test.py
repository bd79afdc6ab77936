# SPDX-License-Identifier: Apache-2.0
"""The runner must tell a failure from a pass: samples of every way in which a program can end."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'tidy'))

import fuzzing  # noqa: E402
import outcome  # noqa: E402
import suites  # noqa: E402
from builds import Build, Program  # noqa: E402
from processes import Finished, Processes  # noqa: E402
from tap import Tap  # noqa: E402

XML = '''<?xml version="1.0"?><testsuites><testsuite name="A">
<testcase name="Passes" classname="A" status="run" result="completed"/>
<testcase name="Fails" classname="A" status="run" result="completed"><failure message="1 is not 2"/></testcase>
<testcase name="Skips" classname="A" status="run" result="skipped"><skipped message="a.cpp:2&#x0A;no device"/></testcase>
<testcase name="DISABLED_Off" classname="A" status="notrun" result="suppressed"/>
<testcase name="Filtered" classname="A" status="notrun" result="suppressed"/>
</testsuite></testsuites>'''
DIED = '''[ RUN      ] A.Passes
[       OK ] A.Passes (0 ms)
[ RUN      ] A.Dies
broken: x (values 1, 2)
'''


def kinds(found: list[outcome.Outcome]) -> str:
    return ' '.join(o.kind for o in found)


def same(found, wanted) -> list[str]:
    return [] if found == wanted else [f'found {found!r}, wanted {wanted!r}']


def gtest_with(xml: str | None, done: Finished) -> list[outcome.Outcome]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'gtest.xml'
        if xml is not None:
            path.write_text(xml)
        return outcome.of_gtest('unit/a', done, path)


def reads_gtest() -> list[str]:
    found = gtest_with(XML, Finished(1, ''))
    return same(kinds(found), 'passed failed skipped skipped') + same(found[2].message, 'no device') + same(
        found[1].message, '1 is not 2')


def a_crash_is_a_failure_of_the_test_that_ran() -> list[str]:
    found = gtest_with(None, Finished(-6, DIED))
    return same(kinds(found), 'passed failed') + same(found[1].name, 'unit/a: A.Dies') + (
        [] if 'SIGABRT' in found[1].message and 'values 1, 2' in found[1].message else [found[1].message])


def a_program_that_never_began_is_a_failure() -> list[str]:
    return same(kinds(gtest_with(None, Finished(127, 'no such library'))), 'failed')


def a_status_that_no_test_explains_is_a_failure() -> list[str]:
    passing = XML.replace('<failure message="1 is not 2"/>', '')
    return same(kinds(gtest_with(passing, Finished(66, 'WARNING: ThreadSanitizer: data race'))),
                'passed passed skipped skipped failed')


def running_out_of_time_is_a_failure() -> list[str]:
    return same(kinds(outcome.of_exit('bench/a', Finished(-15, '', timed_out=True))), 'failed')


def reads_tap() -> list[str]:
    text = 'ok 1 - one\nnot ok 2 - two\n# because\n# of this\nok 3 - three # SKIP no /dev/net/tun\n1..3\n'
    found = outcome.of_tap('wire/a', Finished(1, text))
    return same(kinds(found), 'passed failed skipped') + same(found[1].message, 'because\nof this') + same(
        found[2].message, 'no /dev/net/tun')


def a_plan_not_kept_is_a_failure() -> list[str]:
    return same(kinds(outcome.of_tap('a', Finished(0, '1..3\nok 1 - one\n'))), 'passed failed') + same(
        kinds(outcome.of_tap('a', Finished(0, ''))), 'failed')


def reads_exit_statuses() -> list[str]:
    return (same(kinds(outcome.of_exit('a', Finished(0, ''))), 'passed') + same(kinds(outcome.of_exit('a', Finished(1, ''))), 'failed')
            + same(kinds(outcome.of_exit('a', Finished(77, 'no device'))), 'skipped')
            + same(kinds(outcome.of_exit('a', Finished(0, "x ERROR OCCURRED: 'pool'"))), 'failed'))


def a_program_past_its_time_leaves_nothing_behind() -> list[str]:
    """Its child ignores TERM and holds a pipe: the pipe ends only when the child is gone."""
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    script = "trap '' TERM; cat /dev/zero >/dev/null & wait"
    runner = _KeepsDescriptors()
    done = runner.run(['bash', '-c', script], dict(os.environ), timeout=1)
    os.close(writing)
    left = os.read(reading, 1)
    os.close(reading)
    return same(done.timed_out, True) + same(done.status, -signal.SIGKILL) + same(left, b'')


def says_what_runs_and_what_does_not() -> list[str]:
    """Each suite is named once, and the default is what fits into the patience of a newcomer."""
    problems = []
    for names in (suites.DEFAULT, suites.QUICK, suites.ALL, ['mutants']):
        words = suites.plan(names, 1).replace(':', ' ').split()
        problems += [f'{names}: {name} is not said' for name in suites.NAMES if name not in words]
    build, run = suites.estimate(suites.DEFAULT, suites.ONE_IN)
    if build + run > 25:
        problems.append(f'the default takes {build + run:.0f} minutes')
    return problems + same(sorted(suites.ALL + suites.BY_NAME_ONLY), sorted(suites.NAMES))


def says_that_it_draws_a_part() -> list[str]:
    """And nothing of a build where none is needed."""
    return same(['build' in suites.plan([name], 1).splitlines()[0] for name in ('rules', 'unit')], [False, True]) + same([f'one in {suites.ONE_IN} of' in suites.plan(suites.DEFAULT, one_in) for one_in in (1, suites.ONE_IN)], [False, True])


def a_program_draws_what_was_said() -> list[str]:
    program = Program('runner/draws', ['sh', '-c', 'echo "$SOFTSPINE_ONE_IN"; false'], {}, [], 'exitcode', True, 0, 10)
    said, logs = [], suites.LOGS
    with tempfile.TemporaryDirectory() as folder:
        suites.LOGS = Path(folder) / 'logs'
        for one_in in (3, 7):
            runner = suites.Runner(Processes(), Path(folder), [], one_in, None, fuzzing.FuzzLength(seconds=1))
            said += [o.message.split()[-1] for o in runner._run_program(suites.SUITES[0], program)]
    suites.LOGS = logs
    return same(said, ['3', '7'])


def builds_what_is_run() -> list[str]:
    """A program of another suite is not, and one that no test is only for suites that start such."""
    made = _MadeOfWords('/b', [], 0)
    for helpers in (False, True):
        made.compile(None, [p for p in made.programs() if p.name == 'unit'], helpers)
    return same(made.built, [['script', 'unit'], ['helper', 'script', 'unit']])


def prepares_what_tests_share_before_the_first() -> list[str]:
    """A suite whose script fails has one failure, which says why, and runs nothing."""
    found, logs = [], suites.LOGS
    with tempfile.TemporaryDirectory() as folder:
        suites.LOGS = Path(folder) / 'logs'
        for ending in ('touch "$0.done"', 'echo no kernel; exit 3'):
            script = Path(folder) / 'make'
            script.write_text(f'#!/bin/sh\n{ending}\n')
            script.chmod(0o755)
            suite = suites.Suite('s', _OneProgram(str(script) + '.done'), frozenset({'s'}), 0, prepares=(str(script),))
            runner = suites.Runner(Processes(), Path(folder) / ending[:4], [suite], 1, None, fuzzing.FuzzLength(seconds=1))
            found += [(o.kind, o.message.splitlines()[-1:]) for o in runner.run(suite).outcomes]
            (Path(folder) / 'make.done').unlink(missing_ok=True)
    suites.LOGS = logs
    return same(found, [('passed', []), ('failed', ['no kernel'])])


class _OneProgram(Build):
    """Its test passes where what was to be made is there."""
    def __init__(self, made: str) -> None:
        super().__init__(made, [], 0)

    def configure(self, processes) -> None: pass
    def compile(self, processes, programs, helpers=False) -> None: pass

    def programs(self) -> list[Program]:
        return [Program('s/made', ['test', '-e', self.folder], {}, ['s'], 'exitcode', True, 0, 10)]


class _MadeOfWords(Build):
    built: list[list[str]] = []

    def _introspect(self, what: str) -> list[dict]:
        if what == '--targets':
            return [{'type': kind, 'filename': [f'/b/{name}']} for kind, name in (('executable', 'unit'), ('executable', 'fuzz'),
                                                                                ('executable', 'helper'), ('static library', 'lib'))]
        return [{'name': name, 'cmd': [f'/b/{name}', *more], 'env': {}, 'suite': [name], 'protocol': 'gtest', 'is_parallel': True,
                 'priority': 0, 'timeout': 1} for name, more in (('unit', ['--of', '/b/script', '/etc/passwd']), ('fuzz', []))]

    def _must(self, processes, command: list[str], env: dict[str, str]) -> None:
        self.built.append(command[3:])


def counts_what_a_fuzzer_did() -> list[str]:
    """A target that stops before its inputs are through has not had them."""
    text = '#9\tREDUCE cov: 12 ft: 34 corp: 5/6b\nDone 2000 runs in 4 second(s)\n'
    found = fuzzing.outcome_of('fuzz/a', Finished(0, text), fuzzing.FuzzLength(seconds=0, runs=2000))
    short = fuzzing.outcome_of('fuzz/a', Finished(0, text), fuzzing.FuzzLength(seconds=0, runs=2001))
    silent = fuzzing.outcome_of('fuzz/a', Finished(0, ''), fuzzing.FuzzLength(seconds=5))
    crashed = fuzzing.outcome_of('fuzz/a', Finished(1, text), fuzzing.FuzzLength(seconds=5))
    return (same(found.message, '2,000 inputs, 500 a second, 12 edges, 34 features')
            + same(kinds([found, short, silent, crashed]), 'passed failed failed failed'))


def a_texts_words_are_the_fuzzers_dictionary() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / 'text').write_text('queue_limit: {rate: 1Gbps, a: 0.5%}\n')
        (Path(folder) / 'bytes').write_bytes(b'words \xff')
        return same(fuzzing.words_of(Path(folder)), ['0.5%', '1Gbps', 'queue_limit', 'rate'])


class _KeepsDescriptors(Processes):
    grace_seconds = 0.2

    def _start(self, command, env, cwd, sink) -> subprocess.Popen:
        return subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.STDOUT,
                                start_new_session=True, close_fds=False)


TESTS = [reads_gtest, a_crash_is_a_failure_of_the_test_that_ran, a_program_that_never_began_is_a_failure,
         a_status_that_no_test_explains_is_a_failure, running_out_of_time_is_a_failure, reads_tap, a_plan_not_kept_is_a_failure,
         reads_exit_statuses, a_program_past_its_time_leaves_nothing_behind, says_what_runs_and_what_does_not,
         says_that_it_draws_a_part, a_program_draws_what_was_said, builds_what_is_run, prepares_what_tests_share_before_the_first,
         counts_what_a_fuzzer_did, a_texts_words_are_the_fuzzers_dictionary]


def main() -> int:
    tap = Tap()
    for test in TESTS:
        if tap.wants(test.__name__):
            tap.point(test.__name__, test())
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
