# SPDX-License-Identifier: Apache-2.0
"""Prints results as TAP, which the runner and meson both read."""
from __future__ import annotations

import os

SHOWN = 40


class Tap:
    """Tests that SOFTSPINE_TEST_PATTERN does not name are left out."""

    def __init__(self) -> None:
        self._count = 0
        self._failed = False
        self._pattern = os.environ.get('SOFTSPINE_TEST_PATTERN', '')

    def wants(self, name: str) -> bool:
        return self._pattern in name

    def point(self, name: str, problems: list[str]) -> None:
        self._count += 1
        self._failed |= bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self._count} - {name}")
        for problem in problems[:SHOWN]:
            for line in problem.splitlines():
                print(f'# {line}')
        if len(problems) > SHOWN:
            print(f'# … and {len(problems) - SHOWN} more')

    def skip(self, name: str, reason: str) -> None:
        self._count += 1
        print(f'ok {self._count} - {name} # SKIP {reason}')

    def end(self) -> int:
        print(f'1..{self._count}')
        return 1 if self._failed else 0
