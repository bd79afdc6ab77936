# SPDX-License-Identifier: Apache-2.0
"""The checkout as rules see it: relative path → text. A self-test builds one by hand."""
from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ('dataplane', 'pipelines', 'control', 'analysis', 'testbeds', 'tools', 'tests')
CPP = ('.cpp', '.hpp')


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f'{self.path}:{self.line}: {self.text}'


class Tree:
    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    @classmethod
    def of_checkout(cls) -> 'Tree':
        """Tracked files, and new ones that git does not ignore."""
        listed = subprocess.run(['git', '-c', f'safe.directory={ROOT}', 'ls-files', '-co', '--exclude-standard', '-z'],
                                cwd=ROOT, check=True, capture_output=True).stdout.decode()
        texts = {}
        for name in sorted(set(filter(None, listed.split('\0')))):
            path = ROOT / name
            if not path.is_file() or path.is_symlink():
                continue
            content = path.read_bytes()
            if b'\0' not in content[:8192]:
                texts[name] = content.decode(errors='replace')
            else:
                texts[name] = ''  # binary: only its name can break a rule
        return cls(texts)

    def paths(self, suffixes: tuple[str, ...] = (), under: str = '') -> list[str]:
        return [p for p in self.texts if p.startswith(under) and (not suffixes or p.endswith(suffixes))]

    def lines(self, path: str) -> list[str]:
        return self.texts[path].splitlines()

    def scripts(self, language: str) -> list[str]:
        """Files that begin with a #! of this language, or have its suffix."""
        suffix = {'bash': '.sh', 'python': '.py'}[language]
        return [p for p, text in self.texts.items()
                if p.endswith(suffix) or (text.startswith('#!') and language in text.split('\n', 1)[0])]


def room_of(path: str) -> str:
    first = PurePosixPath(path).parts[0]
    return first if first in ROOMS else ''
