#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/reference/manual.py --into PREFIX --sai-rpc SCRIPT PROGRAM…: man pages, completion and JSON Schema, as an installation has them.

The first PROGRAM is softspine, which says what a testbed file may hold; every other is a program with a command line of
its own. `meson install` calls this. All is read from the programs: their --describe, and what --help says of the script.
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import completion  # noqa: E402
import man_pages  # noqa: E402
from command_line import command_line_of  # noqa: E402

SAI_RPC = 'softspine-sai-rpc'


def said_by(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, 'COLUMNS': '90'}).stdout


def files_of(programs: list[str], sai_rpc: str, zsh_folder: str) -> dict[str, str]:
    """By path below PREFIX."""
    version = ' '.join(said_by(programs[0], '--version').split()[:2])
    files = {'share/softspine/testbed.schema.json': said_by(programs[0], 'check', '--schema')}
    for program in programs:
        command = command_line_of(program)
        name = command.words[0]
        files |= {f'share/man/man1/{page}': text for page, text in man_pages.pages(command, version).items()}
        files[f'share/bash-completion/completions/{name}'] = completion.bash(command)
        files[f'{zsh_folder}/_{name}'] = completion.zsh(command)
        files[f'share/fish/vendor_completions.d/{name}.fish'] = completion.fish(command)
    files[f'share/man/man1/{SAI_RPC}.1'] = man_pages.page_of_help(
        SAI_RPC, "SAI's Thrift calls, answered from a switch of a running fabric", version, said_by(sys.executable, '-B', sai_rpc, '--help'))
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('programs', nargs='+')
    parser.add_argument('--sai-rpc', required=True)
    parser.add_argument('--into', type=Path, default=os.environ.get('MESON_INSTALL_DESTDIR_PREFIX'))
    parser.add_argument('--zsh', default='share/zsh/site-functions', help='the folder of completion functions for zsh')
    arguments = parser.parse_args()
    if not arguments.into:
        parser.error('--into says where')
    for name, text in files_of(arguments.programs, arguments.sai_rpc, arguments.zsh).items():
        path = Path(arguments.into, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o644)
    return 0


if __name__ == '__main__':
    sys.exit(main())
