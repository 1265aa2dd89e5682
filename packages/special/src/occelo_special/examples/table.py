"""The example calls of the family's functions, `EXAMPLES`; SciPy computes the expected results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from occelo_graph.examples.elementwise import (
    ABOVE_ONE,
    INSIDE,
    NEGATIVE,
    POSITIVE,
    REAL,
    UNIT,
    every_argument,
    examples_of_functions,
    of_scipy,
)
from occelo_graph.examples.example import Domain, Example, draw
from occelo_special import functions
from occelo_special.ops.special_functions import psi_rise

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import ArrayFunction

_SHAPE = (0.6, 3.0)

# Each row: name, reference, domains of the arguments. Functions are differentiated with respect to every argument
_TABLE: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    *((name, of_scipy(name), [REAL]) for name in ("j0", "j1", "i0", "i1", "log_ndtr")),
    *((name, of_scipy(name), [POSITIVE]) for name in ("gamma", "gammaln", "psi")),
    ("erfinv", of_scipy("erfinv"), [INSIDE]),
    *((name, of_scipy(name), [UNIT]) for name in ("erfcinv", "logit")),
    ("tri_gamma", lambda x: of_scipy("polygamma")(1, x).astype(x.dtype), [POSITIVE]),
    *(
        (name, of_scipy(name), [POSITIVE, POSITIVE])
        for name in ("poch", "gammainc", "gammaincc", "beta", "betaln")
    ),
    *((name, of_scipy(name), [_SHAPE, UNIT]) for name in ("gammaincinv", "gammainccinv")),
    *(
        (name, of_scipy(name), [_SHAPE, _SHAPE, UNIT])
        for name in ("betainc", "betaincc", "betaincinv", "betainccinv")
    ),
    ("gammau", lambda k, x: of_scipy("gammaincc")(k, x) * of_scipy("gamma")(k), [POSITIVE] * 2),
    ("gammal", lambda k, x: of_scipy("gammainc")(k, x) * of_scipy("gamma")(k), [POSITIVE] * 2),
    ("chi2sf", lambda x, k: of_scipy("gammaincc")(k / 2, x / 2), [POSITIVE, ABOVE_ONE]),
    ("factorial", lambda n: of_scipy("gamma")(n + 1), [POSITIVE]),
    ("hyp2f1", of_scipy("hyp2f1"), [POSITIVE, POSITIVE, ABOVE_ONE, (-0.7, 0.7)]),
    ("owens_t", of_scipy("owens_t"), [REAL, REAL]),
    ("ndtri_exp", of_scipy("ndtri_exp"), [NEGATIVE]),
    ("xlogy", of_scipy("xlogy"), [REAL, POSITIVE]),
    ("xlog1py", of_scipy("xlog1py"), [REAL, INSIDE]),
]
# differentiated with respect to the last argument
_OF_ORDERS: list[tuple[str, ArrayFunction, Sequence[Domain]]] = [
    (name, of_scipy(name), [(0.5, 2.5), POSITIVE]) for name in ("jv", "iv", "ive", "kv", "kve")
]


def _last(nin: int) -> tuple[int, ...]:
    return (nin - 1,)


EXAMPLES: list[Example] = [
    *examples_of_functions(functions, "special", _TABLE, ["float64", "float32"], every_argument),
    *examples_of_functions(functions, "special", _OF_ORDERS, ["float64"], _last),
    Example(
        "polygamma",
        "special",
        lambda x: functions.polygamma(2.0, x),
        lambda x: of_scipy("polygamma")(2, x),
        (draw(POSITIVE, (3,)),),
        (0,),
    ),
    Example(
        "psi_rise",
        "special",
        psi_rise,
        lambda z, m: of_scipy("psi")(z + m) - of_scipy("psi")(z),
        (draw(POSITIVE, (3,)), draw(POSITIVE, (3,))),
        (0, 1),
    ),
    Example(
        "kn",
        "special",
        lambda x: functions.kn(2.0, x),
        lambda x: of_scipy("kn")(2, x),
        (draw(POSITIVE, (3,)),),
        (0,),
    ),
]
