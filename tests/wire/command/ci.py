# SPDX-License-Identifier: Apache-2.0
"""What CI systems have of softspine: test cases in JUnit's XML, exit statuses, the examples of docs/ci.md, and a run without rights."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from page import blocks_of
from softspine import ROOT, Problems, Skip, Softspine, main

FABRIC = '''name: cases
run: {duration: 2ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 2, host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}
workload: [{name: pairs, pattern: permutation, message: 64KiB, messages: 1, transport: rc, dscp: 3}]
expect:
  - {value: flows.pairs.completed, equal: 4}
  - {value: totals.dropped_packets, equal: 1}
  - {value: switches.*.drops.*, at_most: 0}
'''
COMMANDS = '''name: commands
run: {clock: wall, duration: 60s}
fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 3, host_link: {rate: 1Gbps}, fabric_link: {rate: 1Gbps}}
topology: {nodes: {h1: {verbs: {run: "true"}}, h2: {verbs: {run: "printf 'a < b\\\\n\\\\033[1m' >&2; exit 3"}}, h3: {verbs: {timeout: 300ms, run: "exec sleep 60"}}}}
'''
PAGE = ROOT / 'docs' / 'ci.md'
NOBODY = 65534


def suite_of(it: Softspine, name: str = 'junit.xml') -> ElementTree.Element:
    (suite,) = ElementTree.parse(it.folder / name).getroot()
    return suite


def outcomes(suite: ElementTree.Element) -> dict[str, str]:
    """Of each case: its failure or error, or nothing."""
    return {case.get('name', ''): next((f'{child.tag}: {child.get("message")}' for child in case), '') for case in suite.iter('testcase')}


def cases(it: Softspine) -> Problems:
    """run --junit writes a case for the run and each expectation, with its place, the same names whatever comes out, and the summary"""
    file = it.write('cases.yaml', FABRIC)
    yield from it('run', file, '--quiet', '--junit', 'junit.xml').exited(1)
    suite = suite_of(it)
    wanted = {'the run': '', 'flows.pairs.completed (expect[0])': '', 'totals.dropped_packets (expect[1])': 'failure: totals.dropped_packets: equal 1, is 0',
              'switches.*.drops.* (expect[2])': ''}
    if outcomes(suite) != wanted:
        yield f'{outcomes(suite)}'
    if {key: suite.get(key) for key in ('name', 'tests', 'failures', 'errors')} != {'name': 'cases', 'tests': '4', 'failures': '1', 'errors': '0'}:
        yield f'{suite.attrib}'
    lines = [case.get('line') for case in suite.iter('testcase')]
    if lines != [None, '6', '7', '8'] or {case.get('file') for case in suite.iter('testcase')} != {str(file)}:
        yield f'they stand in lines {lines}'
    if 'of emulated time' not in (suite.findtext('system-out') or ''):
        yield 'there is no summary'
    yield from it('run', file, '--quiet', '--set', 'expect.1.equal=0', '--junit', 'good.xml').exited(0)
    if list(outcomes(suite_of(it, 'good.xml'))) != list(wanted) or any(outcomes(suite_of(it, 'good.xml')).values()):
        yield f'good: {outcomes(suite_of(it, "good.xml"))}'
    yield from it('run', file, '--set', 'run.duration=1', '--junit', 'none.xml').exited(2)
    if (it.folder / 'none.xml').exists():
        yield 'wrong input has test cases'


def commands(it: Softspine) -> Problems:
    """a case for each host's command says how it failed, whatever it printed; an error of the run is an error"""
    yield from it('run', it.write('commands.yaml', COMMANDS), '--quiet', '--junit', 'junit.xml', '--flows', '/dev/full').exited(1)
    found = outcomes(suite_of(it))
    if found['command of h1'] or 'status 3' not in found['command of h2'] or 'a < b' not in found['command of h2'] or 'timeout' not in found['command of h3']:
        yield f'{found}'
    stalled = FABRIC[:FABRIC.index('expect:')] + 'faults: [{link: "h1:eth0", at: 1us, set: down}]\n'
    done = it('run', it.write('stalled.yaml', stalled), '--quiet', '--junit', 'stalled.xml')
    yield from done.exited(1)
    if not outcomes(suite_of(it, 'stalled.xml'))['the run'].startswith('error: '):
        yield f'{outcomes(suite_of(it, "stalled.xml"))} {done.err}'


def steps_of(text: str) -> list[str]:
    """The commands of an example: `- run: …`, or items of `script:`."""
    github = re.findall(r'^ *- run: (.*)$', text, re.MULTILINE)
    script = re.search(r'^  script:\n((?:    - .*\n)+)', text + '\n', re.MULTILINE)
    return github or (re.findall(r'- (.*)', script[1]) if script else [])


def examples(it: Softspine) -> Problems:
    """the steps of the GitHub and the GitLab example that call softspine do what the page says, and both write the files that they keep"""
    blocks = {block.words[0]: '\n'.join(block.lines) for block in blocks_of(PAGE.read_text()) if block.kind == 'yaml' and block.words}
    programs = it.folder / 'bin'
    programs.mkdir()
    (programs / 'softspine').symlink_to(it.binary)
    env = {**it.env, 'PATH': f'{programs}:{it.env["PATH"]}'}
    for name in ('github.yml', 'gitlab.yml'):
        folder = it.folder / name
        folder.mkdir()
        (folder / 'fabric.yaml').write_text(blocks['fabric.yaml'])
        steps = [step for step in steps_of(blocks[name]) if step.startswith('softspine ')]
        if len(steps) != 2:
            yield f'{name}: {steps}'
        for step in steps:
            done = subprocess.run(['sh', '-e', '-c', step], cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != 0:
                yield f'{name}: {step}: {done.returncode} {done.stdout}{done.stderr}'
        for result in ('junit.xml', 'report.json'):
            if not (folder / result).is_file() or result not in blocks[name]:
                yield f'{name}: no {result}'


def without_rights(it: Softspine) -> Problems:
    """check and run need no root, no writable folder, no home and no locale"""
    if os.geteuid() != 0 or shutil.which('setpriv') is None:
        raise Skip('needs root, to give it up')
    it.folder.chmod(0o755)
    program = it.folder / 'program'
    shutil.copy(it.binary, program)
    checkout, results = it.folder / 'checkout', Path(it.folder / 'results')
    checkout.mkdir(mode=0o755)
    results.mkdir()
    os.chown(results, NOBODY, NOBODY)
    (checkout / 'fabric.yaml').write_text(FABRIC.replace('equal: 1', 'equal: 0'))
    env = {'PATH': '/usr/bin:/bin', 'LC_ALL': 'tr_TR.UTF-8', 'HOME': '/nonexistent', 'XDG_RUNTIME_DIR': str(results)}
    bare = ['setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all']
    for words in (['check', '--strict', 'fabric.yaml'], ['run', 'fabric.yaml', '--quiet', '--junit', str(results / 'junit.xml')]):
        done = subprocess.run([*bare, program, *words], cwd=checkout, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            yield f'{words}: {done.returncode} {done.stdout[-500:]}{done.stderr[-500:]}'
    if outcomes(suite_of(it, 'results/junit.xml')).get('the run') != '':
        yield 'it has no test cases'


if __name__ == '__main__':
    sys.exit(main([cases, commands, examples, without_rights]))
