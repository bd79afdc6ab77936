# SPDX-License-Identifier: Apache-2.0
"""drive.py TARGET CORPUS: libFuzzer on a copy of the corpus, so that the checkout stays as it is. SOFTSPINE_FUZZ says for how long, as
libFuzzer's option. Finds are kept in out/fuzz. The last line says how many inputs the target had, how fast, and how much of it they reached."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONGEST_WORD = 60
FEWEST_A_SECOND = 100  # a target slower than that, with a number of inputs asked for, is out of time


def words_of(corpus: Path) -> list[str]:
    """The words of a corpus of texts: keys and values that the fuzzer would not guess."""
    found: set[str] = set()
    for file in (f for f in corpus.rglob('*') if f.is_file()):
        content = file.read_bytes()
        if all(byte in b'\n\t' or 32 <= byte < 127 for byte in content):
            found |= {w for w in re.findall(r'[A-Za-z0-9_.|%-]+', content.decode()) if 1 < len(w) <= LONGEST_WORD}
    return sorted(found)


def options(place: Path, finds: Path, length: str) -> list[str]:
    dictionary = place / 'words'
    words = words_of(place / 'corpus')
    dictionary.write_text(''.join(f'"{word}"\n' for word in words))
    return [length, *([f'-dict={dictionary}'] if words else []), '-timeout=20',
            '-detect_leaks=0',  # after each input: a switch that learns has them all look like one. LeakSanitizer looks at the end
            '-rss_limit_mb=4096', '-print_final_stats=1',
            f'-artifact_prefix={finds}/', '-error_exitcode=1']  # libFuzzer's own is 77, which means skipped everywhere else


def summary(output: str, length: str) -> tuple[bool, str]:
    """Whether the target had the inputs that were asked for, and what to say of it."""
    counted = re.search(r'^Done (\d+) runs in (\d+) second', output, re.MULTILINE)
    if counted is None:
        return False, 'does not say how many inputs it had'
    runs, seconds = int(counted[1]), max(int(counted[2]), 1)
    said = f'{runs:,} inputs, {runs // seconds:,} a second'
    if reached := re.findall(r'\bcov: (\d+) ft: (\d+)', output):
        said += f', {reached[-1][0]} edges, {reached[-1][1]} features'
    wanted = int(length.removeprefix('-runs=')) if length.startswith('-runs=') else 1
    return runs >= wanted, said if runs >= wanted else f'{said}: {wanted:,} were asked for'


def main() -> int:
    program, kept = sys.argv[1:]
    length = os.environ.get('SOFTSPINE_FUZZ', '-max_total_time=30')
    finds = ROOT / 'out' / 'fuzz' / Path(kept).name
    finds.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        shutil.copytree(kept, place / 'corpus')
        seconds = int(length.split('=')[1]) / (FEWEST_A_SECOND if length.startswith('-runs') else 1)
        done = subprocess.run([program, str(place / 'corpus'), *options(place, finds, length)], timeout=120 + seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace', check=False)
    enough, said = summary(done.stdout, length)
    print(done.stdout, said, sep='\n')
    return done.returncode or (0 if enough else 1)


if __name__ == '__main__':
    sys.exit(main())
