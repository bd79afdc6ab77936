# SPDX-License-Identifier: Apache-2.0
"""flag_rules.py BUILD: rules over the command lines that a build compiles its sources with. Nothing is compiled."""
from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from compiled_rules import of_checkout, put_together
from tap import Tap

MPI_FOLDER = 'dataplane/mpi/'
INCLUDES = ('-isystem', '-I')


def include_folders(command: str) -> list[str]:
    """Each option's word, or the next one if it stands alone."""
    words = shlex.split(command)
    found = []
    for i, word in enumerate(words):
        option = next((o for o in INCLUDES if word.startswith(o)), None)
        if option is not None:
            found.append(word[len(option):] or ' '.join(words[i + 1:i + 2]))
    return found


def mpi_is_found_in_its_folder(build: Path) -> list[str]:
    """Only what lies in dataplane/mpi is compiled with a folder in which there is an mpi.h: any other room that had it would be compiled again
    with each other MPI, and could include it."""
    findings = []
    for unit in json.loads((build / 'compile_commands.json').read_text()):
        folders = [f for f in include_folders(unit['command']) if (build / f / 'mpi.h').exists()]
        paths = [of_checkout(path) or str(path) for path in put_together(build / unit['file'])]
        if others := [path for path in paths if not path.startswith(MPI_FOLDER)]:
            findings += [f'{others[0]} is compiled with {folder}' for folder in folders]
    return findings


def main() -> int:
    tap = Tap()
    if tap.wants(mpi_is_found_in_its_folder.__name__):
        tap.point(mpi_is_found_in_its_folder.__name__, mpi_is_found_in_its_folder(Path(sys.argv[1]).resolve()))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
