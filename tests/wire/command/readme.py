# SPDX-License-Identifier: Apache-2.0
"""What README.md shows: its testbed runs as it stands, and its commands print what stands there."""
from __future__ import annotations

import re
import sys

from softspine import ROOT, TESTBEDS, Problems, Softspine, main

README = (ROOT / 'README.md').read_text()
RACKS = ('name: it\nfabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 4, host_link: {rate: 100Gbps, length: 3m}, '
         'fabric_link: {rate: 100Gbps, length: 40m}}\n')


def blocks_after(text: str) -> list[str]:
    """The lines of the first code block after `text`, without its indent."""
    lines, found = README[README.index(text):].split('\n'), []
    for line in lines[1:]:
        if line.startswith('    ') or (found and not line.strip()):
            found.append(line[4:])
        elif found:
            break
    return found


def runs_its_testbed(it: Softspine) -> Problems:
    """the testbed file in README runs as it stands, and is as it expects"""
    done = it('run', it.write('readme.yaml', '\n'.join(blocks_after('This one runs as it stands:')) + '\n'))
    yield from done.exited(0)
    yield from done.says('Expectations: 4 of 4 held')


def checks_its_lossless_tables(it: Softspine) -> Problems:
    """the tables of buffers, profiles and faults in README are as the format has them"""
    roles = '\n'.join(blocks_after('## Lossless: buffers, PFC, ECN')) + '\n'
    tables = '\n'.join(blocks_after('or has them all itself:')) + '\n'
    for name, more in (('roles', roles), ('tables', roles + tables)):
        yield from it('check', it.write(f'{name}.yaml', RACKS + more)).exited(0)


def strict_is_a_failure(it: Softspine) -> Problems:
    """check tells too little headroom and exits with 0; with --strict, with 1"""
    profile = 'profiles: {small: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {xoff: 2048B}}}}\nroles: {tor: small}\n'
    file = it.write('small.yaml', RACKS + profile)
    yield from it('check', file).exited(0)
    yield from it('check', file, '--strict').exited(1)
    yield from it('check', it.write('enough.yaml', RACKS + 'roles: {tor: lossless}\n'), '--strict').exited(0)


def words_of(line: str) -> str:
    return re.sub(r'\s+', ' ', line).strip()


def transcripts() -> list[tuple[list[str], list[str]]]:
    """Commands that README shows, with the lines that it shows of what they print; `…` stands for lines left out."""
    found: list[tuple[list[str], list[str]]] = []
    for line in re.findall(r'^    (.*)$', README, re.MULTILINE):
        if command := re.match(r'\$ softspine (explain|source-ports|polarization) (.*?)(?:\s{3,}.*)?$', line):
            found.append(([command[1], *command[2].split()], []))
        elif re.match(r'\w*\$ ', line) or not found:
            found.append(([], []))
        elif line.strip() not in ('', '…'):
            found[-1][1].append(words_of(line))
    return [(command, lines) for command, lines in found if command]


def prints_what_readme_shows(it: Softspine) -> Problems:
    """explain, polarization and source-ports print the lines that README shows"""
    if len(transcripts()) != 3:
        yield f'README shows {len(transcripts())} of them'
    for command, lines in transcripts():
        arguments = [str(it.folder / a) if a.endswith('.svg') else a.replace('testbeds/', f'{TESTBEDS}/') for a in command]
        done = it(*arguments)
        printed = [words_of(line) for line in done.out.split('\n')]
        for line in lines:
            if line not in printed and not any(line.rstrip(',') in p for p in printed):
                yield f"softspine {' '.join(command)} does not print: {line}\n{done.out[:1500]}"


def tells_the_same_of_two_tier(it: Softspine) -> Problems:
    """two-tier's figures and ECMP shares are README's; what depends on the machine is not looked at"""
    done = it('run', TESTBEDS / 'two-tier.yaml')
    printed = [words_of(line) for line in done.out.split('\n')]
    lines = blocks_after('The command is')
    for line in lines[lines.index(next(x for x in lines if x.startswith('RoCEv2 traffic'))):]:
        if line.strip() not in ('', '…') and words_of(line) not in printed:
            yield f'run two-tier does not print: {words_of(line)}\n{done.out[:2500]}'


def tells_errors_as_shown(it: Softspine) -> Problems:
    """the errors that README shows are said in these words; their places are of a file that it does not show"""
    file = it.write('broken.yaml', 'name: broken\nrun: {duration: 1ms}\nfabric:\n  kind: leaf-spine\n  tors: 4x\n  spins: 2\n'
                                   '  hosts_per_tor: 1\n  host_link: {rate: 100}\n  fabric_link: {rate: 1Gbps}\n')
    done = it('check', file)
    yield from done.exited(2)
    for line in blocks_after('It says which lossless ports'):
        said = re.sub(r'^broken\.yaml:\d+:\d+: ', '', line)
        if said and not said.startswith('$') and said not in done.err.replace(str(file), 'broken.yaml'):
            yield f'check does not say: {said}\n{done.err}'


if __name__ == '__main__':
    sys.exit(main([runs_its_testbed, checks_its_lossless_tables, strict_is_a_failure, prints_what_readme_shows,
                   tells_the_same_of_two_tier, tells_errors_as_shown]))
