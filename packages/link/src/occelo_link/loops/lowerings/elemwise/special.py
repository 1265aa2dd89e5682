"""Lowerings of special functions: loop programs call SciPy's compiled functions by their addresses.

`elemwise.scalar` imports this module, which registers the lowerings in `scalar`.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops

Args = Sequence[Value]

SPECIAL = {
    "beta": "beta",
    "betainc": "__pyx_fuse_0betainc",
    "betaincc": "__pyx_fuse_0betaincc",
    "betainccinv": "__pyx_fuse_0betainccinv",
    "betaincinv": "__pyx_fuse_0betaincinv",
    "betaln": "betaln",
    "erfcinv": "erfcinv",
    "erfcx": "__pyx_fuse_1erfcx",
    "erfinv": "__pyx_fuse_0erfinv",
    "gamma": "__pyx_fuse_1gamma",
    "gammainc": "gammainc",
    "gammaincc": "gammaincc",
    "gammainccinv": "gammainccinv",
    "gammaincinv": "gammaincinv",
    "gammaln": "gammaln",
    "hyp2f1": "__pyx_fuse_1hyp2f1",
    "i0": "i0",
    "i1": "i1",
    "iv": "__pyx_fuse_1iv",
    "ive": "__pyx_fuse_1ive",
    "j0": "j0",
    "j1": "j1",
    "jv": "__pyx_fuse_1jv",
    "kv": "__pyx_fuse_1kv",
    "kve": "__pyx_fuse_1kve",
    "log_ndtr": "__pyx_fuse_1log_ndtr",
    "logit": "__pyx_fuse_0logit",
    "ndtri_exp": "ndtri_exp",
    "owens_t": "owens_t",
    "poch": "poch",
    "psi": "__pyx_fuse_1psi",
    "xlog1py": "__pyx_fuse_1xlog1py",
    "xlogy": "__pyx_fuse_1xlogy",
}
"""Maps the name of a scalar op to the name of its function in ``scipy.special.cython_special``."""


def _register(name: str, function: str) -> None:
    @lowers_scalar_to_loops(name, cost=100)
    def lowering(b: Builder, dtype: str, args: Args) -> Value:
        wide = [b.cast(a, "float64") for a in args]
        # Cython adds a last argument, which says whether to skip the search for overriding methods
        skip = b.const(1, "int32")
        return b.cast(b.call(f"special:{function}", "float64", *wide, skip), dtype)


for _name, _function in SPECIAL.items():
    _register(_name, _function)
