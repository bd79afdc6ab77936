# SPDX-License-Identifier: Apache-2.0
"""The suite `mutants`: one build with all mutants in it, one point of TAP for each. What survives and is not in accepted.py
fails. Results by file are in out/mutants/report.txt, all of them in out/mutants/mutants.json; results.py says what is kept for
the next run. A pattern (-k) limits it to mutants whose place, text or rule has it in it."""
from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'tidy'))

from accepted import ACCEPTED, accepted_as  # noqa: E402
from campaign import BaselineFailed, Campaign, Verdict, enough_tools, write_json  # noqa: E402
from catalogue import SHARE, CatalogueError, all_mutants  # noqa: E402
from copy_of_sources import CopyError, MutatedCopy  # noqa: E402
from results import Results, digest_of, killers, write_killers, write_left_out  # noqa: E402
from tap import Tap  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / 'out' / 'mutants'


def by_file(verdicts: list[Verdict]) -> str:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        table[verdict.mutant.path][kind_of(verdict)] += 1
    kinds = ['killed', 'survived', 'not reached', 'accepted', 'by hand']
    width = max((len(path) for path in table), default=0)
    lines = [f"{'':{width}}  " + '  '.join(f'{kind:>11}' for kind in kinds)]
    lines += [f'{path:{width}}  ' + '  '.join(f'{counts[kind]:11}' for kind in kinds) for path, counts in sorted(table.items())]
    total = sum(table.values(), Counter())
    lines.append(f"{'all':{width}}  " + '  '.join(f'{total[kind]:11}' for kind in kinds))
    return '\n'.join(lines) + '\n'


def kind_of(verdict: Verdict) -> str:
    return accepted_as(verdict.mutant.key, verdict.kind)


def say(text: str) -> None:
    with (OUT / 'progress').open('a') as file:
        file.write(text + '\n')


def main() -> int:
    tap = Tap()
    pattern = os.environ.get('SOFTSPINE_TEST_PATTERN', '')
    if missing := enough_tools():
        tap.skip('mutants', missing)
        return tap.end()
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / 'progress').write_text('')
    jobs = int(os.environ.get('SOFTSPINE_JOBS', os.cpu_count() or 1))
    try:
        mutants = all_mutants(ROOT)
        copy = MutatedCopy(ROOT, jobs)
        kept, left_out = copy.make(mutants)
        say(f'{len(kept)} mutants are built, {len(left_out)} do not compile')
        write_left_out(OUT, left_out)
        campaign = Campaign(copy.programs(), copy.source)
        results = Results(OUT, digest_of(ROOT))
        campaign.learn(jobs, results.tests())
        results.keep_tests(campaign.tests)
    except (CatalogueError, CopyError, BaselineFailed) as error:
        tap.point('the mutated copy builds, and passes without a mutant', [str(error)])
        return tap.end()
    say(f'{len(campaign.tests)} tests, {sum(t.seconds for t in campaign.tests):.0f} s')
    chosen = [m for m in kept if pattern in f'{m} {m.rule}']
    before = killers(ROOT, OUT)

    def judge(mutant) -> Verdict:
        known = results.verdict_on(mutant)
        verdict = known or campaign.judge(mutant, before.get(mutant.key, ''))
        if not known:
            results.keep(verdict)
        say(f'{kind_of(verdict):11} {verdict.seconds:6.1f} s  {mutant}  {verdict.by}')
        return verdict

    with ThreadPoolExecutor(jobs) as pool:
        verdicts = list(pool.map(judge, chosen))
    write_killers(OUT, before, verdicts, mutants)
    for verdict in verdicts:
        problems = [] if kind_of(verdict) in ('killed', 'accepted', 'by hand') else [f'{verdict.kind}: {verdict.mutant.rule}']
        tap.point(verdict.mutant.key, problems)
    # Of rules that only find what looks like an operand, some do not compile. What somebody wrote down has to.
    broken = [str(m) for m in left_out if m.rule not in SHARE]
    tap.point('what is chosen by hand compiles', broken)
    if not pattern:
        keys = {m.key for m in mutants}
        stale = [f'no such mutant: {key}' for key in ACCEPTED if key not in keys]
        stale += [f'is {v.kind}: {v.mutant.key}' for v in verdicts if v.mutant.key in ACCEPTED and kind_of(v) not in ('accepted', 'by hand')]
        tap.point('accepted.py names mutants that are there and survive, or that no program reaches', stale)
        write_json(OUT / 'mutants.json', verdicts, left_out, ACCEPTED)
        (OUT / 'report.txt').write_text(by_file(verdicts))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
