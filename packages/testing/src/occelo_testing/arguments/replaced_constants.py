"""Constants that decide lengths or positions, and are replaced: the graph follows, or says that it cannot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot


def check_followed(
    build: Callable[[Any], Any], values: Mapping[Any, Any], dtype: str, known_within: bool = False
) -> None:
    """Replace the 1 in ``build(1)`` by a constant 2 and by an input that is 2: both compute ``build(2)``.

    With ``known_within``, a length within the graph may be fixed, too, so that a strict replacement is an error.
    """
    one = ot.constant(np.array(1, dtype))
    with_one = build(one)
    np.testing.assert_array_equal(
        og.evaluate(with_one, values), og.evaluate(build(1), values), strict=True
    )
    if dtype == "int64":
        assert with_one.type.shape == build(1).type.shape
    expected: Any = og.evaluate(build(2), values)
    for new in (ot.constant(np.array(2, dtype)), ot.scalar("n", dtype=dtype)):
        given = dict(values)
        if not isinstance(new, og.Constant):
            given[new] = np.array(2, dtype)
        followed = og.clone_replace(with_one, {one: new}, rebuild_strict=False)
        np.testing.assert_array_equal(og.evaluate(followed, given), expected)
        assert followed.type.is_super(ot.TensorType(followed.dtype, expected.shape))
        try:
            strictly = og.clone_replace(with_one, {one: new})
            value: Any = og.evaluate(strictly, given)
        except ValueError:
            # it says that a length, here or within, was known when the graph was built
            assert known_within or with_one.type.shape != build(2).type.shape
        else:
            np.testing.assert_array_equal(value, expected)
