# SPDX-License-Identifier: Apache-2.0
"""docs/reference is what tools/reference/make.py makes of the program that is here."""
from __future__ import annotations

import subprocess
import sys

from softspine import ROOT, Problems, Softspine, main

PAGES = ROOT / 'docs' / 'reference'
MAKE = ROOT / 'tools' / 'reference' / 'make.py'


def is_what_the_program_says(it: Softspine) -> Problems:
    """each page of docs/reference is what the program says of itself; else: tools/reference/make.py PROGRAM"""
    made = it.folder / 'reference'
    done = subprocess.run([sys.executable, '-B', MAKE, it.binary, '--into', made], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f'{MAKE.name}: exit status {done.returncode}\n{done.stdout}{done.stderr}'
        return
    for name in sorted({path.name for folder in (made, PAGES) for path in folder.iterdir()}):
        texts = [(folder / name).read_text().splitlines() if (folder / name).is_file() else [] for folder in (PAGES, made)]
        for number, (here, there) in enumerate(zip(*[text + [''] * (max(map(len, texts)) - len(text)) for text in texts]), 1):
            if here != there:
                yield f'{name}:{number}: "{here}", the program says "{there}"'
                break


def names_what_a_run_reports(it: Softspine) -> Problems:
    """the pages name the keys, fields, metrics and views that are known to be there"""
    for page, words in {'testbed.md': ['`ack_timeout`', '`flow_control`'], 'config_db.md': ['`dynamic_th`', '`restoration_time`'],
                        'report.md': ['`flows.*.fct_acked_p99_ps`', '`switches.*.drops.queue_full`', '`totals.balanced`', '| Frames marked CE. |'],
                        'metrics.md': ['| `softspine_errors_total` | counter |', '`host`, `quantile` |'], 'commands.md': ['  queue watermark unicast ', '--dilation'],
                        'sai.md': ['`SAI_PORT_STAT_PFC_n_RX_PKTS`']}.items():
        text = (PAGES / page).read_text()
        yield from (f'{page} does not name {word}' for word in words if word not in text)


if __name__ == '__main__':
    sys.exit(main([is_what_the_program_says, names_what_a_run_reports]))
