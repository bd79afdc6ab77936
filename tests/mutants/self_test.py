# SPDX-License-Identifier: Apache-2.0
"""Mutants are where they should be: rules on samples, and that by_hand.py and accepted.py still fit the sources."""
from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'tidy'))

from accepted import ACCEPTED, TRIED_BY_HAND, accepted_as  # noqa: E402
from by_hand import BY_HAND, Row  # noqa: E402
from campaign import Test, Verdict  # noqa: E402
from catalogue import CatalogueError, Mutant, _place_of, all_mutants  # noqa: E402
from cpp_text import CppText, is_whole  # noqa: E402
from operators import candidates  # noqa: E402
from results import KILLERS, Results, killers, write_killers  # noqa: E402
from schemata import with_mutants  # noqa: E402
from tap import Tap  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LEAST = 1_100
MOST_STALE = 60  # sources go on, and a stale key costs nothing
SAMPLE = '''
constexpr int kMost = 3 + 4;
int f(const std::array<int, 4>& a, int b) {
  static_assert(sizeof(int) > 2);
  constexpr int kTwo = 1 + 1;
  if (b >= kTwo && !a.empty()) b -= 2;
  for (int i = 0; i < b; ++i) step(i);
  const int c = std::min(b, a[0] + 1);
  return c == 3 ? b : c;
}
'''


def same(found, wanted) -> list[str]:
    return [] if found == wanted else [f'found  {found!r}', f'wanted {wanted!r}']


def rules_change_what_a_run_evaluates_and_nothing_else() -> list[str]:
    found = sorted((SAMPLE.count('\n', 0, c.begin) + 1, c.rule, SAMPLE[c.begin:c.end], c.after) for c in candidates(CppText(SAMPLE)))
    return same(found, [
        (6, 'clause', '!a.empty()', 'true'), (6, 'clause', 'b >= kTwo', 'true'), (6, 'drop', 'b -= 2;', ';'),
        (6, 'negate', 'b >= kTwo && !a.empty()', '!(b >= kTwo && !a.empty())'), (6, 'relation', 'b >= kTwo', 'b > kTwo'),
        (7, 'drop', 'step(i);', ';'),
        (8, 'extreme', 'std::min(b, a[0] + 1)', 'std::max(b, a[0] + 1)'), (8, 'sum', 'a[0] + 1', 'a[0] - 1'),
        (9, 'relation', 'c == 3', 'c != 3')])


def a_choice_stands_in_the_place_of_what_it_mutates() -> list[str]:
    text = 'if (a && b) x = 1;'

    def mutant(number: int, before: str, after: str, is_statement: bool = False) -> Mutant:
        begin = text.index(before)
        return Mutant(number, 'p', 1, begin, begin + len(before), before, after, is_statement, 'rule', str(number))

    found = with_mutants(text, [mutant(1, 'a', 'true'), mutant(2, 'a && b', '!(a && b)'), mutant(3, 'x = 1;', ';', True)])
    on = 'softspine::mutants::on'
    return same(found, f'if (({on}(2) ? (!(a && b)) : (({on}(1) ? (true) : (a)) && b))) {{ if ({on}(3)) {{ ; }} else {{ x = 1; }} }}')


def a_text_that_is_gone_or_there_twice_is_an_error() -> list[str]:
    problems = []
    for row, text in ((Row('p', 'gone', 'x', ''), 'here'), (Row('p', 'twice', 'x', ''), 'twice twice')):
        try:
            problems.append(f'{row.before}: found at {_place_of(row, text)}')
        except CatalogueError:
            pass
    return problems + same(_place_of(Row('p', 'a', 'b', '', within='(a)'), 'a (a)'), 3)


def texts_chosen_by_hand_are_in_the_sources() -> list[str]:
    problems = []
    for row in BY_HAND:
        try:
            _place_of(row, (ROOT / row.path).read_text())
        except (CatalogueError, OSError) as error:
            problems.append(f'{error} (move the row with the code: {row.why})')
    return problems


def what_is_chosen_by_hand_is_an_expression_or_a_statement() -> list[str]:
    """What is neither does not compile, and was left out without a word: a rule that nobody holds the tests to."""
    problems = [f'{text!r} is whole' for text in ('a &&', '>= b', '|| c', 'f(a', 'return a', 'if (a) b', '', 'a; b') if is_whole(text, False)]
    problems += [f'{text!r} is not whole' for text in ('a', '-a', 'f(a, {b})', 'a->b()', '[] { return 1; }()', 'x ? y : z') if not is_whole(text, False)]
    problems += same([is_whole(text, True) for text in ('int a = 1;', 'if (a) b', 'a = 1;', 'return a;', ';')], [False, False, True, True, True])
    for row in BY_HAND:
        is_statement = row.before.endswith(';')
        if not is_whole(row.before, is_statement) or not is_whole(row.after, is_statement):
            problems.append(f'{row.path}: {row.before} → {row.after}: {row.why}')
    return problems


def there_are_enough_mutants_and_none_twice() -> list[str]:
    try:
        mutants = all_mutants(ROOT)
    except CatalogueError:
        return []  # told by the test above
    problems = [] if len(mutants) >= LEAST else [f'{len(mutants)} mutants, at least {LEAST}']
    if len({m.key for m in mutants}) != len(mutants) or len({m.number for m in mutants}) != len(mutants):
        problems.append('two mutants have one key or number')
    most = int(re.search(r'kMost = 1 << (\d+)', (ROOT / 'tests/mutants/mutant.hpp').read_text())[1])
    if max(m.number for m in mutants) >= 1 << most:
        problems.append(f'mutant.hpp has no room for number {max(m.number for m in mutants)}')
    return problems


def accepted_survivors_have_a_reason() -> list[str]:
    problems = [f'{key}: why?' for key, reason in ACCEPTED.items() if not reason.startswith(('equivalent: ', 'performance: ', TRIED_BY_HAND))]
    tested = re.compile(rf'{TRIED_BY_HAND}((unit|model|scenario)/\w+: \w+\.\w+|wire/\w+: \w+|does not compile)$')
    return problems + [f'{key}: which test fails?' for key, reason in ACCEPTED.items() if reason.startswith(TRIED_BY_HAND) and not tested.match(reason)]


def what_no_program_reaches_is_not_taken_for_equivalent() -> list[str]:
    equivalent = next(key for key, reason in ACCEPTED.items() if reason.startswith('equivalent: '))
    by_hand = next(key for key, reason in ACCEPTED.items() if reason.startswith(TRIED_BY_HAND))
    kinds = ('killed', 'survived', 'not reached')
    return same([[accepted_as(key, kind) for kind in kinds] for key in (equivalent, by_hand, 'another')],
                [['killed', 'accepted', 'not reached'], ['killed', 'survived', 'by hand'], ['killed', 'survived', 'not reached']])


def a_campaign_goes_on_where_it_stopped() -> list[str]:
    def mutant(number: int) -> Mutant:
        return Mutant(number, 'p', 1, 0, 1, 'a', 'b', False, 'rule', f'key {number}')

    killed, survivor = Verdict(mutant(1), 'killed', 'unit/x: A.B', 1.5), Verdict(mutant(2), 'survived')
    with TemporaryDirectory() as folder:
        out = Path(folder)
        first = Results(out, 'sources')
        first.keep(killed)
        first.keep(survivor)
        first.keep_tests([Test('unit/x', 'A.B', 0.5, frozenset({1, 2}))])
        with (out / 'verdicts.jsonl').open('a') as file:
            file.write('{"key": "key 3", "ki')  # killed while it wrote
        again, changed = Results(out, 'sources'), None
        found = [again.verdict_on(mutant(number)) for number in (1, 2, 3)]
        problems = same(found, [killed, survivor, None]) + same([t.reaches for t in again.tests()], [frozenset({1, 2})])
        again.keep(Verdict(mutant(3), 'not reached'))
        problems += same([Results(out, 'sources').verdict_on(mutant(n)) is None for n in (1, 2, 3, 4)], [False, False, False, True])
        changed = Results(out, 'other sources')
        problems += same((changed.verdict_on(mutant(1)), changed.tests()), (None, []))
        write_killers(out, {'key 2': 'unit/y: C.D', 'gone': 'x'}, [killed, survivor], [mutant(1), mutant(2)])
        return problems + same(killers(out, out), {'key 1': 'unit/x: A.B', 'key 2': 'unit/y: C.D'})


def killers_that_are_checked_in_are_of_mutants() -> list[str]:
    known = {m.key for m in all_mutants(ROOT)}
    text = (ROOT / KILLERS).read_text() if (ROOT / KILLERS).exists() else '{}'
    stale = [key for key in json.loads(text) if key not in known]
    return [f'{len(stale)} of {KILLERS} are of no mutant, as {stale[0]}: copy out/mutants/killers.json there'] if len(stale) > MOST_STALE else []


TESTS = [a_campaign_goes_on_where_it_stopped, killers_that_are_checked_in_are_of_mutants, rules_change_what_a_run_evaluates_and_nothing_else, a_choice_stands_in_the_place_of_what_it_mutates,
         a_text_that_is_gone_or_there_twice_is_an_error, texts_chosen_by_hand_are_in_the_sources,
         what_is_chosen_by_hand_is_an_expression_or_a_statement,
         there_are_enough_mutants_and_none_twice, accepted_survivors_have_a_reason,
         what_no_program_reaches_is_not_taken_for_equivalent]


def main() -> int:
    tap = Tap()
    for test in TESTS:
        if tap.wants(test.__name__):
            tap.point(test.__name__, test())
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
