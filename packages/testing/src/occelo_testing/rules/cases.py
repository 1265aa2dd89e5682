"""`CASES`: the table of cases for all standard rules of the core and of the installed families.

Tests of rules check the law in `laws` for every case. If there is no case written by hand for a rule with patterns, the
table has cases that are made from the patterns.
"""

from __future__ import annotations

from collections.abc import Iterator

from occelo_graph.families import installed
from occelo_rewrite.examples import rules as core
from occelo_rewrite.examples.case import Case, drawn_cases, standard_rules


def _of_families() -> Iterator[Case]:
    for family in installed():
        table = family.load("cases")
        if table is not None:
            yield from table.CASES


_by_hand = [*core.CASES, *_of_families()]
_written = {c.rule for c in _by_hand}
CASES: list[Case] = [
    *_by_hand,
    *(
        case
        for rule in standard_rules().values()
        if rule.name not in _written
        for case in drawn_cases(rule)
    ),
]
"""Cases for all rules that are registered when this module is imported."""
