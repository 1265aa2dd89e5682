"""Keywords of SciPy's functions of matrices that say nothing about the result: they are accepted with their meaning.

``check_finite=True`` checks the arguments when the graph runs. ``overwrite_a`` and its like allow what rewriting decides
itself, and a ``driver`` chooses a routine of LAPACK, which backends choose themselves, as they do the working memory
``lwork``: these are only checked for typing errors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypedDict

from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import isfinite
from occelo_graph.ops.reduce import all as all_


class ScipyOptions(TypedDict, total=False):
    """The keywords of SciPy that functions of matrices accept."""

    check_finite: bool
    """If true, ValueError where an argument has infinite or NaN elements. By default errors are those of the function."""
    overwrite_a: bool
    overwrite_b: bool
    overwrite_ab: bool
    driver: str | None
    lapack_driver: str | None
    lwork: int | None


DRIVERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "eigh": ("driver", ("ev", "evd", "evr", "evx", "gv", "gvd", "gvx")),
    "lstsq": ("lapack_driver", ("gelsd", "gelss", "gelsy")),
    "svd": ("lapack_driver", ("gesdd", "gesvd")),
    "svdvals": ("lapack_driver", ("gesdd", "gesvd")),
}
"""Maps functions to the keyword by which SciPy chooses a routine, and the routines."""


def checked_options(
    label: str, options: Mapping[str, Any], arrays: Sequence[Any], parameters: Sequence[str] = ()
) -> list[Any]:
    """The ``arrays`` of the function ``label``, with a check if ``check_finite`` is given.

    TypeError for a keyword that the function does not have, which names a similar one of the options or of its other
    ``parameters``. ValueError for an unknown routine.
    """
    keyword, routines = DRIVERS.get(label, ("", ()))
    names = ["check_finite", "overwrite_ab" if "banded" in label else "overwrite_a"]
    names += ["overwrite_b"] if len(arrays) > 1 or label == "eigh" else []
    names += [keyword] if keyword else []
    names += ["lwork"] if label in ("qr", "qz", "schur") else []
    for name in options:
        if name not in names:
            near = get_close_matches(name, [*names, *parameters], 1)
            told = f"; did you mean {near[0]}?" if near else ""
            raise TypeError(f"{label} has no argument {name!r}{told}")
    routine = options.get(keyword)
    if routine is not None and routine not in routines:
        raise ValueError(
            f"{keyword} of {label} is one of {', '.join(routines)}, not {routine!r}; results do not depend on it"
        )
    if not options.get("check_finite", False):
        return list(arrays)
    check = CheckAndRaise(ValueError, f"An argument of {label} has infinite or NaN elements")
    return [check(x, all_(isfinite(x))) for x in arrays]
