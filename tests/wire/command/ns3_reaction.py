# SPDX-License-Identifier: Apache-2.0
"""The runs beside HPCC's ns-3 with pauses that are obeyed at once, as the simulator does it without our changes to it.

What it gave with 802.3's reaction time is published in docs/truth.md; what it would give without is worked out by its rules
(hpcc_twin), which have to give the published figures with the reaction time.
"""
from __future__ import annotations

import json
import sys

import yaml
from hpcc_twin import Twin
from pauses_in_effect import in_effect_ps
from softspine import TESTBEDS, Problems, Softspine, main

QUANTUM_PS = 5_120
REACTION_PS = 394 * QUANTUM_PS  # 802.3, 31B.3.7, at 100 Gb/s
# Of HPCC's ns-3, as docs/truth.md has them: pauses, ms in effect, us of the first and the last completion.
PUBLISHED = {'incast': (681, 83.01, 695.9, 2793.1), 'permutation': (821, 5.982, 229.5, 671.9)}
PERCENT = 0.01


def work_of(name: str) -> tuple[dict[int, int], int]:
    (row,) = yaml.safe_load((TESTBEDS / f'ns3-{name}.yaml').read_text())['workload']
    to = row['to'] if isinstance(row['to'], list) else [row['to']] * len(row['from'])
    number = [[int(host[1:]) - 1 for host in hosts] for hosts in (row['from'], to)]
    return dict(zip(*number, strict=True)), int(row['message'].removesuffix('B')) // row['mtu']


def figures_of(twin: Twin) -> tuple[float, ...]:
    return twin.pauses(), twin.stood_ps() / 1e9, min(twin.completed_ps) / 1e6, max(twin.completed_ps) / 1e6


def compare(what: str, found: tuple[float, ...], wanted: tuple[float, ...]) -> Problems:
    for name, one, other in zip(('pauses', 'ms in effect', 'us until the first is done', 'us until the last is done'), found, wanted, strict=True):
        if abs(one - other) > PERCENT * other:
            yield f'{what}, {name}: {one}, not {other}'


def follows_the_rules_of_ns3(it: Softspine) -> Problems:
    """the simulator's rules, worked out again, give its published figures, within one percent"""
    for name, published in PUBLISHED.items():
        yield from compare(name, figures_of(Twin(*work_of(name), REACTION_PS, shares_crossing=False)), published)


def obeys_at_once_as_ns3(it: Softspine) -> Problems:
    """with a reaction time of 0 our figures are those of the simulator's rules, within one percent"""
    for name in PUBLISHED:
        text = (TESTBEDS / f'ns3-{name}.yaml').read_text().replace('length: 198m}', 'length: 198m, pfc_response_time: 0ps}')
        capture = ['--capture', 'it.pcapng', '--capture-filter', 'ether proto 0x8808', '--report', 'it.json', '--quiet']
        it('run', it.write(f'{name}.yaml', text), *capture)
        report = json.loads((it.folder / 'it.json').read_text())
        (flows,) = report['flows'].values()
        in_effect = in_effect_ps(it.folder / 'it.pcapng', 0, QUANTUM_PS) / 1e9
        pauses = sum(link['pauses'] for link in it('storm', 'it.pcapng', '--json').json()['links'])
        found = pauses, in_effect, flows['fct_acked_min_ps'] / 1e6, flows['fct_acked_max_ps'] / 1e6
        yield from compare(name, found, figures_of(Twin(*work_of(name), 0, shares_crossing=True)))


if __name__ == '__main__':
    sys.exit(main([follows_the_rules_of_ns3, obeys_at_once_as_ns3]))
