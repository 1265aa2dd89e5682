"""Cases for the rules of sorting."""

from __future__ import annotations

from occelo_rewrite.examples.case import Case
from occelo_sorting import functions as sorting
from occelo_sorting.ops.order_statistics import OrderStatistics

CASES: list[Case] = [
    Case("order_of_one", lambda x: sorting.sort(x[:, 0, None])),
    Case("order_of_one", lambda x: sorting.argsort(x[:, 0, None]), differentiable=False),
    Case("sort_of_sort", lambda x: sorting.sort(sorting.sort(x))),
    Case("read_of_sorted_rows", lambda x: OrderStatistics()(sorting.sort(x), [0, 2])),
    Case("argsort_of_sort", lambda x: sorting.argsort(sorting.sort(x)), differentiable=False),
]
