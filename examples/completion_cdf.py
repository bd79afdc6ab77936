# SPDX-License-Identifier: Apache-2.0
"""Completion times of flows as a cumulative distribution, a line for each workload of each recording.

  softspine run testbeds/websearch.yaml --record websearch.sqlite
  python3 examples/completion_cdf.py websearch.sqlite -o cdf.png
"""
from __future__ import annotations

import argparse
import sqlite3
from pathlib import Path

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402

PS_PER_US = 1_000_000


def flows_of(recording: Path) -> pd.DataFrame:
    """A row for each flow that was completed."""
    with sqlite3.connect(f'file:{recording}?mode=ro', uri=True) as database:
        return pd.read_sql('SELECT workload, fct_ps, slowdown FROM flows WHERE fct_ps IS NOT NULL', database)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('recordings', nargs='+', type=Path, help='of softspine run --record')
    parser.add_argument('--slowdown', action='store_true', help='over the time that a flow would take alone, not in microseconds')
    parser.add_argument('-o', '--output', default='completion.png', help='.png, .svg or .pdf (completion.png)')
    arguments = parser.parse_args()

    figure, axes = plt.subplots(figsize=(6.4, 4), layout='constrained')
    for recording in arguments.recordings:
        for workload, flows in flows_of(recording).groupby('workload'):
            values = flows['slowdown'].dropna() if arguments.slowdown else flows['fct_ps'] / PS_PER_US
            values = values.sort_values()
            shares = [(n + 1) / len(values) for n in range(len(values))]
            axes.step(values, shares, where='post', label=f'{recording.stem}: {workload}')
            print(f'{recording.stem} {workload}: {len(values)} flows, median {values.median():.4g}, 99 % {values.quantile(0.99):.4g}')
    axes.set(xscale='log', ylim=(0, 1), xlabel='slowdown' if arguments.slowdown else 'completion time (µs)', ylabel='share of flows')
    axes.grid(alpha=0.3)
    axes.legend(loc='lower right')
    figure.savefig(arguments.output, dpi=150)


if __name__ == '__main__':
    main()
