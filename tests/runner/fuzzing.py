# SPDX-License-Identifier: Apache-2.0
"""A fuzz target's command, and what its run came to: how many inputs it had, how fast, and how much of the program they reached."""
from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import outcome
from builds import Program
from outcome import FAILED, PASSED, Outcome
from processes import Finished

FEWEST_A_SECOND = 100  # a target slower than that, with a number of inputs asked for, is out of time
LONGEST_WORD = 60


@dataclass(frozen=True)
class FuzzLength:
    """Of each target: seconds, or a number of inputs."""
    seconds: int
    runs: int = 0

    @property
    def timeout(self) -> float:
        return 120 + (self.runs / FEWEST_A_SECOND if self.runs else self.seconds)


def command(program: Program, place: Path, length: FuzzLength, finds: Path) -> list[str]:
    """Works on a copy of the corpus, so that the checkout stays as it is; a find is kept in `finds`."""
    corpus = place / 'corpus'
    corpus.mkdir()
    for kept in program.command[1:]:
        if Path(kept).is_dir():
            shutil.copytree(kept, corpus, dirs_exist_ok=True)
    words = words_of(corpus)
    dictionary = place / 'words'
    dictionary.write_text(''.join(f'"{word}"\n' for word in words))
    own = finds / program.name.split('/')[-1]
    own.mkdir(parents=True, exist_ok=True)
    return [program.command[0], str(corpus), f'-runs={length.runs}' if length.runs else f'-max_total_time={length.seconds}',
            *([f'-dict={dictionary}'] if words else []), '-timeout=20',
            '-detect_leaks=0',  # after each input: a switch that learns has them all look like one. LeakSanitizer looks at the end
            '-rss_limit_mb=4096', '-print_final_stats=1',
            f'-artifact_prefix={own}/', '-error_exitcode=1']  # libFuzzer's own is 77, which means skipped everywhere else


def words_of(corpus: Path) -> list[str]:
    """The words of a corpus of texts: keys and values that the fuzzer would not guess."""
    found: set[str] = set()
    for file in (f for f in corpus.rglob('*') if f.is_file()):
        content = file.read_bytes()
        if all(byte in b'\n\t' or 32 <= byte < 127 for byte in content):
            found |= {w for w in re.findall(r'[A-Za-z0-9_.|%-]+', content.decode()) if 1 < len(w) <= LONGEST_WORD}
    return sorted(found)


def outcome_of(name: str, done: Finished, length: FuzzLength) -> Outcome:
    found = outcome.of_exit(name, done)[0]
    if found.kind != PASSED:
        return found
    counted = re.search(r'^Done (\d+) runs in (\d+) second', done.output, re.MULTILINE)
    if counted is None:
        return Outcome(name, FAILED, 'does not say how many inputs it had')
    runs, seconds = int(counted[1]), max(int(counted[2]), 1)
    said = f'{runs:,} inputs, {runs // seconds:,} a second'
    if reached := re.findall(r'\bcov: (\d+) ft: (\d+)', done.output):
        said += f', {reached[-1][0]} edges, {reached[-1][1]} features'
    if runs < max(length.runs, 1):
        return Outcome(name, FAILED, f'{said}: {length.runs:,} were asked for')
    return Outcome(name, PASSED, said)
