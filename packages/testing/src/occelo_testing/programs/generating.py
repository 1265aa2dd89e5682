"""`random_program` draws the random program of a seed.

`occelo_testing.random_programs` calls it for each seed that it tests.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occelo_testing.programs import elementwise, indexing, reductions, shapes
from occelo_testing.programs.drawing import Drawing, Form, Profile, Unfit
from occelo_testing.programs.program import Program
from occelo_testing.programs.step_family import StepFamily
from occelo_testing.programs.values import DTYPES

PROFILES = {
    "floats": Profile(("float64",)),
    "narrow": Profile(("float16", "float32", "float64")),
    "mixed": Profile(DTYPES),
    "integers": Profile(("int64", "int8", "uint8", "bool", "int32", "uint64", "float64")),
    "complex": Profile(("complex64", "complex128", "float64", "float32", "int64")),
    "special": Profile(DTYPES, special=True),
    "special floats": Profile(("float64", "float32"), special=True),
    "smooth": Profile(("float64",), smooth=True, steps=(3, 7)),
}
WRITES = Profile(
    ("float64",),
    steps=(2, 7),
    stretch=True,
    forms=[
        (4.0, indexing.writing),
        (2.0, indexing.reading),
        (1.0, indexing.simple_reading),
        (2.0, indexing.adding_an_element),
        (1.0, indexing.writing_in_a_branch),
        (1.0, elementwise.arithmetic),
        (1.0, shapes.reordered),
        (1.0, shapes.joined),
        (1.0, reductions.reduction),
        (1.0, reductions.cumulative),
    ],
)
"""Programs that write parts of tensors, and read them through views."""
ACCUMULATIONS = Profile(
    ("float64", "float32"), steps=(1, 1), forms=[(1.0, reductions.accumulation)], largest=1500
)
"""Sums of products of matrices and other terms."""
GRAPHS = Profile(
    ("float64",),
    forms=[
        (4.0, elementwise.unary),
        (1.0, elementwise.composed),
        (4.0, elementwise.plain_arithmetic),
        (2.0, elementwise.two_arguments),
        (1.0, elementwise.comparison),
        (3.0, reductions.reduction),
        (1.0, reductions.cumulative),
        (1.0, reductions.position),
        (1.0, reductions.normalized),
        (1.0, shapes.reordered),
        (1.0, shapes.expanded),
        (1.0, shapes.flattened),
        (1.0, shapes.joined),
        (3.0, indexing.simple_reading),
    ],
)
"""Programs for laws of all layers. All inputs are numbers, none of them a position or a length."""
_USUAL = [*elementwise.FORMS, *reductions.FORMS, *shapes.FORMS, *indexing.FORMS]
_SMOOTH = [
    *elementwise.SMOOTH_FORMS,
    *reductions.SMOOTH_FORMS,
    *shapes.FORMS,
    *indexing.SMOOTH_FORMS,
]
_ATTEMPTS = 200


def _table(forms: Sequence[tuple[float, Form]]) -> tuple[list[Form], np.ndarray]:
    weights = np.array([w for w, _ in forms])
    return [f for _, f in forms], np.cumsum(weights) / weights.sum()


_SHARE = 1.0  # the weight of the steps of families, relative to those of the core


def _with_families(
    profile: Profile, families: Sequence[StepFamily]
) -> tuple[list[Form], np.ndarray]:
    usual = profile.forms or (_SMOOTH if profile.smooth else _USUAL)
    if not families:
        return _table(usual)
    total = sum(w for w, _ in usual)
    forms = list(usual)
    for family in families:
        own = family.smooth_forms if profile.smooth else family.forms
        factor = _SHARE * total / len(families) / sum(w for w, _ in own)
        forms += [(factor * w, f) for w, f in own]
    return _table(forms)


def random_program(
    seed: int, profile: Profile | None = None, families: Sequence[StepFamily] = ()
) -> Program:
    """A random program, determined by ``seed``, ``profile`` and ``families``.

    Without a profile, the seed chooses one of `PROFILES`. Half of the steps are of ``families``. Raises BuildFailure if NumPy runs the program, but Occelo
    cannot build its graph.
    """
    random = np.random.default_rng(seed)
    if profile is None:
        profile = list(PROFILES.values())[int(random.integers(len(PROFILES)))]
    lengths = [(0, 1, 2), (1, 2, 3), (1, 3), (3, 1, 5), (2, 3), (1, 1, 4), (0, 1, 3), (7, 1)]
    d = Drawing(random, profile, lengths[int(random.integers(len(lengths)))], seed)
    for _ in range(d.whole(1, 3)):
        d.new_input(
            d.choice(profile.dtypes),
            tuple(d.choice(d.lengths) for _ in range(d.choice([0, 1, 1, 2, 2, 2, 3]))),
        )
    forms, bounds = _with_families(profile, families)
    count = d.whole(*profile.steps)
    steps = 0
    for _ in range(_ATTEMPTS):
        if steps == count:
            break
        form = forms[int(np.searchsorted(bounds, random.random()))]
        before = len(d.nodes)
        try:
            form(d)
        except Unfit:
            del d.nodes[before:], d.made[before:]
        else:
            steps += 1
    return _with_outputs(d, seed)


def _with_outputs(d: Drawing, seed: int) -> Program:
    used = {i for node in d.nodes for i in getattr(node, "args", ())}
    loose = [
        m.position
        for m in d.made
        if m.position not in used and hasattr(d.nodes[m.position], "args")
    ]
    more = [m.position for m in d.made if d.chance(0.15)]
    outputs = loose + [p for p in more if p not in loose]
    return Program(tuple(d.nodes), tuple(outputs or [len(d.nodes) - 1]), seed).pruned()
