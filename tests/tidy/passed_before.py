# SPDX-License-Identifier: Apache-2.0
"""Remembers, outside the tree, which checks have passed, so that only what has changed is checked again.

A check is known by all that its result depends on: its command, the texts of the file and of whatever it includes of
ours (on any branch of an #if), its settings, and the versions of the installed compilers and headers. So a
remembered pass holds in any checkout of this machine. A failure is not remembered.
"""
from __future__ import annotations

import hashlib
import os
import re
import subprocess
import time
from functools import cache
from pathlib import Path

from include_rules import INCLUDE
from tree import ROOT, Tree

COMPILERS_AND_HEADERS = re.compile(r'(g\+\+|gcc|cpp|clang|libclang)|\S+-dev\b')
KEPT_SECONDS = 30 * 24 * 3600


def default_folder() -> Path:
    own = Path(os.environ.get('XDG_CACHE_HOME') or Path.home() / '.cache') / 'softspine'
    return Path(os.environ.get('SOFTSPINE_CACHE') or own) / 'tidy'


@cache
def installed() -> str:
    listed = subprocess.run(['dpkg-query', '-W', '-f', '${Package} ${Version}\n'], capture_output=True, text=True, check=True)
    return '\n'.join(line for line in listed.stdout.splitlines() if COMPILERS_AND_HEADERS.match(line))


class PassedBefore:
    def __init__(self, tree: Tree, folder: Path, root: Path = ROOT) -> None:
        self._tree = tree
        self._folder = folder
        self._root = root
        self._reads: dict[str, set[str]] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for stamp in folder.iterdir():
            if stamp.stat().st_mtime < time.time() - KEPT_SECONDS:
                stamp.unlink(missing_ok=True)

    def knows(self, key: str) -> bool:
        stamp = self._folder / key
        if not stamp.exists():
            return False
        os.utime(stamp)  # in use: not to be forgotten
        return True

    def remember(self, key: str, paths: list[str]) -> None:
        """Unless someone has changed what it read: then the tool may have seen either text."""
        if all(self._on_disk(read) == self._tree.texts[read] for read in self._all_reads(paths)):
            (self._folder / key).touch()
            self._last(paths).touch()

    def last_seen(self, paths: list[str]) -> float:
        """When they passed last, whatever their texts were; 0: not within memory."""
        return self._last(paths).stat().st_mtime if self._last(paths).exists() else 0

    def key(self, paths: list[str], *conditions: str) -> str:
        digest = hashlib.sha256()
        for part in conditions:
            digest.update(part.replace(str(ROOT), '').encode() + b'\0')
        for read in sorted(self._all_reads(paths)):
            digest.update(f'{read}\0{self._tree.texts[read]}\0'.encode())
        return digest.hexdigest()

    def reads(self, path: str) -> set[str]:
        """The file, and what it includes of the tree, and so on."""
        if path not in self._reads:
            found, ahead = {path}, [path]
            while ahead:
                for target in self._included_by(ahead.pop()):
                    if target not in found:
                        found.add(target)
                        ahead.append(target)
            self._reads[path] = found
        return self._reads[path]

    def _all_reads(self, paths: list[str]) -> set[str]:
        return set().union(*map(self.reads, paths))

    def _last(self, paths: list[str]) -> Path:
        return self._folder / hashlib.sha256(f'last {paths}'.encode()).hexdigest()

    def _on_disk(self, path: str) -> str:
        file = self._root / path
        return file.read_bytes().decode(errors='replace') if file.exists() else ''

    def _included_by(self, path: str) -> list[str]:
        matches = filter(None, map(INCLUDE.match, self._tree.lines(path)))
        return [m[2] for m in matches if m[2] in self._tree.texts]
