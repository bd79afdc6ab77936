# SPDX-License-Identifier: Apache-2.0
"""What sonic-mgmt's tests import beside themselves: Python for SAI's Thrift calls, and the numbers of SAI's headers.

Both are made from SAI's own files, in a folder of the run: the calls by Debian's thrift compiler, the numbers by
evaluating the enumerations of inc/*.h.
"""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENUM = re.compile(r'typedef\s+enum\s+\w+\s*\{(.*?)\}\s*\w+\s*;', re.DOTALL)
ENUMERATOR = re.compile(r'(\w+)\s*(?:=\s*(.*))?$', re.DOTALL)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
CAST, SUFFIX = re.compile(r'\(\s*\w+_t\s*\)'), re.compile(r'(0x[0-9a-fA-F]+|\d+)[uUlL]+')


def enumerators(text: str, known: dict[str, int]) -> dict[str, int]:
    """Those of one header. One whose value needs a macro is left out: no test names such."""
    out: dict[str, int] = {}
    for body in ENUM.findall(COMMENT.sub('', text)):
        last = -1
        for part in body.split(','):
            found = ENUMERATOR.match(part.strip())
            if not found:
                continue
            name, value = found.groups()
            try:
                last = last + 1 if value is None else eval(SUFFIX.sub(r'\1', CAST.sub('', value)), {'__builtins__': {}}, {**known, **out})
            except (NameError, SyntaxError):
                continue
            out[name] = last
    return out


def make(sai: Path, folder: Path) -> None:
    """switch_sai_thrift in `folder`, from a checkout of SAI."""
    subprocess.run(['thrift', '-r', '--gen', 'py', '-out', folder, sai / 'saithrift' / 'switch_sai.thrift'], check=True)
    package = folder / 'switch_sai_thrift'
    shutil.move(folder / 'switch_sai', package)
    for source in package.glob('*.py'):
        source.write_text(source.read_text().replace('switch_sai.', 'switch_sai_thrift.'))
    numbers: dict[str, int] = {}
    for header in sorted((sai / 'inc').glob('*.h')):
        numbers |= enumerators(header.read_text(errors='replace'), numbers)
    (package / 'sai_headers.py').write_text(''.join(f'{name} = {value}\n' for name, value in numbers.items()))


def wrong_numbers(folder: Path) -> list[str]:
    """Counters to which tools/sai_rpc gives another number than SAI's headers do."""
    sys.path.insert(0, str(ROOT / 'tools' / 'sai_rpc'))
    from sai_numbers import COUNTERS
    text = (folder / 'switch_sai_thrift' / 'sai_headers.py').read_text()
    right = {name: int(value) for name, value in (line.split(' = ') for line in text.splitlines())}
    return [f'{name} is {right.get(name)}, not {number}' for counters in COUNTERS.values() for number, name in counters.items()
            if right.get(name) != number]


def link_tests(mgmt: Path, folder: Path) -> None:
    """The tests as they are, by links. A file that git holds as a link, and that was saved as its target's name, is the target."""
    for part in ('py3', 'probe'):
        (folder / part).mkdir()
        for source in (mgmt / 'tests' / 'saitests' / part).glob('*.py'):
            words = source.read_text().split()
            target = (source.parent / words[0]) if len(words) == 1 else source
            (folder / part / source.name).symlink_to(target.resolve())
