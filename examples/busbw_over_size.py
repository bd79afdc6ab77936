# SPDX-License-Identifier: Apache-2.0
"""Bus bandwidth of collectives over their size, as nccl-tests defines it: of reports, or of a sweep's table.

  softspine run testbeds/ring-allreduce.yaml --report ring.json
  python3 examples/busbw_over_size.py ring.json -o busbw.png
  softspine sweep testbeds/ring-allreduce.yaml --set collectives.0.algorithm=ring,tree \\
    --collect 'collectives.grads.sizes.*.busbw_bps' --csv algorithms.csv
  python3 examples/busbw_over_size.py algorithms.csv -o algorithms.png
"""
from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402

BUSBW = re.compile(r'collectives\.([^.]+)\.sizes\.(\d+)\.busbw_bps$')


def of_report(file: Path) -> pd.DataFrame:
    """Rows of (line, bytes, bit/s)."""
    collectives = json.loads(file.read_text())['collectives']
    return pd.DataFrame([(f'{file.stem}: {name}', int(size), row['busbw_bps']) for name, it in collectives.items() for size, row in it['sizes'].items()],
                        columns=['line', 'bytes', 'bps'])


def of_sweep(file: Path) -> pd.DataFrame:
    """The same: a line for each combination of what was set."""
    table = pd.read_csv(file)
    table = table[table['result'].isin(['ok', 'unexpected'])]  # the testbed's expectations are about its own settings
    measured = {column: found for column in table.columns if (found := BUSBW.search(column))}
    settings = table.columns[:list(table.columns).index(next(iter(measured)))]
    rows = [(', '.join(f'{name.split(".")[-1]} {row[name]}' for name in settings), int(found[2]), row[column])
            for _, row in table.iterrows() for column, found in measured.items()]
    return pd.DataFrame(rows, columns=['line', 'bytes', 'bps'])


def words_for(size: int) -> str:
    for power, unit in ((30, 'GiB'), (20, 'MiB'), (10, 'KiB')):
        if size >= 1 << power:
            return f'{size / (1 << power):g} {unit}'
    return f'{size} B'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('files', nargs='+', type=Path, help='reports (.json) of softspine run, tables (.csv) of softspine sweep')
    parser.add_argument('-o', '--output', default='busbw.png', help='.png, .svg or .pdf (busbw.png)')
    arguments = parser.parse_args()

    rows = pd.concat([of_sweep(file) if file.suffix == '.csv' else of_report(file) for file in arguments.files])
    figure, axes = plt.subplots(figsize=(6.4, 4), layout='constrained')
    for line, points in rows.groupby('line', sort=False):
        points = points.sort_values('bytes')
        axes.plot(points['bytes'], points['bps'] / 1e9, marker='o', label=line)
        print(f'{line}: ' + ', '.join(f'{words_for(size)} {bps / 1e9:.2f} Gb/s' for size, bps in zip(points['bytes'], points['bps'])))
    sizes = sorted(set(rows['bytes']))
    axes.set_xscale('log', base=2)
    axes.set_xticks(sizes, [words_for(size) for size in sizes])
    axes.minorticks_off()
    axes.set(xlabel='size', ylabel='bus bandwidth (Gb/s)')
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc='lower right')
    figure.savefig(arguments.output, dpi=150)


if __name__ == '__main__':
    main()
