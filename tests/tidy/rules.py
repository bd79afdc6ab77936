# SPDX-License-Identifier: Apache-2.0
"""Each rule of the house as a test of this checkout."""
from __future__ import annotations

import sys

import class_rules
import comment_rules
import include_rules
import picture_rules
import reader_rules
import readme_rules
import room_rules
import size_rules
import text_rules
from tap import Tap
from tree import Tree

RULES = [*include_rules.RULES, *size_rules.RULES, *text_rules.RULES, *room_rules.RULES, *readme_rules.RULES,
         *reader_rules.RULES, *comment_rules.RULES, *class_rules.RULES,
         *picture_rules.RULES]


def main() -> int:
    tap, tree = Tap(), Tree.of_checkout()
    for rule in RULES:
        if tap.wants(rule.__name__):
            tap.point(rule.__name__, [str(finding) for finding in rule(tree)])
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
