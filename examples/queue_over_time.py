# SPDX-License-Identifier: Apache-2.0
"""The fullest queues of a recording over time, and the length from which their frames are marked.

  softspine run testbeds/ecn-ramp.yaml --record ramp.sqlite
  python3 examples/queue_over_time.py ramp.sqlite -o queue.png
"""
from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402

PS_PER_MS = 1_000_000_000
# A row stands where a length has changed: it holds until the next row.
LEVELS = 'SELECT t_ps, port, queue, current_bytes, ecn_min_bytes, ecn_max_bytes FROM queue_levels ORDER BY t_ps'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('recording', type=Path, help='of softspine run --record')
    parser.add_argument('--queues', type=int, default=3, help='how many of them, the fullest first (3)')
    parser.add_argument('-o', '--output', default='queue.png', help='.png, .svg or .pdf (queue.png)')
    arguments = parser.parse_args()

    with sqlite3.connect(f'file:{arguments.recording}?mode=ro', uri=True) as database:
        levels = pd.read_sql(LEVELS, database)
        end_ps = pd.read_sql('SELECT max(t_ps) AS t FROM samples', database)['t'][0]
    figure, axes = plt.subplots(figsize=(6.4, 4), layout='constrained')
    fullest = levels.groupby(['port', 'queue'])['current_bytes'].max().nlargest(arguments.queues)
    marks = set()
    for (port, queue), most in fullest.items():
        rows = levels[(levels['port'] == port) & (levels['queue'] == queue)]
        times, lengths = [0, *rows['t_ps'], end_ps], [0, *rows['current_bytes'], rows['current_bytes'].iloc[-1]]
        axes.step([t / PS_PER_MS for t in times], [length / 1000 for length in lengths], where='post', label=f'{port}, queue {queue}')
        marks |= {(rows[column].iloc[0], word) for column, word in (('ecn_min_bytes', 'ECN marks from here'), ('ecn_max_bytes', 'ECN marks all'))}
        print(f'{port} queue {queue}: at most {most:,.0f} bytes')
    for length, word in sorted(mark for mark in marks if pd.notna(mark[0])):
        axes.axhline(length / 1000, color='grey', linestyle='--', linewidth=0.8)
        axes.annotate(word, (0, length / 1000), xytext=(3, 2), textcoords='offset points', fontsize='small', color='grey')
    axes.set(xlabel='emulated time (ms)', ylabel='queue (kB)', xlim=(0, end_ps / PS_PER_MS))
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc='lower right')
    figure.savefig(arguments.output, dpi=150)


if __name__ == '__main__':
    main()
