"""SciPy's special functions are computed without importing their package, which takes as long as compiling a model."""

from __future__ import annotations

import subprocess
import sys

import pytest

scipy = pytest.importorskip("scipy")
ALONE = pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 14), reason="SciPy has no such module"
)


def _in_a_process(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


@ALONE
def test_constants_are_folded_without_the_package() -> None:
    _in_a_process(
        "import sys, numpy as np, occelo_compile as oc\n"
        "from occelo_graph import tensor as ot; from occelo_special import functions as fs\n"
        "x = ot.dscalar('x'); y = x + fs.gammaln(3.5) + ot.erfcx(0.5) + fs.psi(np.float32(2.5))\n"
        "f = oc.function([x], y); value = f(1.0)\n"
        "assert 'scipy.special' not in sys.modules and 'gammaln' not in f.dprint(file='str')\n"
        "import scipy.special as sp\n"
        "assert abs(value - (1 + sp.gammaln(3.5) + sp.erfcx(0.5) + sp.psi(np.float32(2.5)))) < 1e-15"
    )


@ALONE
def test_they_are_the_functions_of_the_package_which_can_be_imported_after_them() -> None:
    _in_a_process(
        "import sys, numpy as np; from occelo_graph.optional_scipy import special_function\n"
        "x = np.concatenate([np.linspace(-3, 30, 1000), [0.0, np.inf, -np.inf, np.nan]])\n"
        "names = ['gammaln', 'erf', 'erfc', 'erfcx', 'psi', 'gamma', 'i0', 'ndtr', 'expi']\n"
        "alone = {n: special_function(n) for n in names}; assert 'scipy.special' not in sys.modules\n"
        "import scipy.special as sp; assert sp._special_ufuncs.gammaln is sp.gammaln\n"
        "for name, f in alone.items():\n"
        "    assert special_function(name) is getattr(sp, name)\n"
        "    for v in (x, x.astype('float32')):\n"
        "        one, other = f(v), getattr(sp, name)(v)\n"
        "        assert one.dtype == other.dtype and one.tobytes() == other.tobytes(), name"
    )


@ALONE
def test_functions_that_lie_elsewhere_are_those_of_the_package() -> None:
    _in_a_process(
        "import sys; from occelo_graph.optional_scipy import special_function as of\n"
        "of('erf'); f = of('betainc'); assert 'scipy.special' in sys.modules\n"
        "import scipy.special as sp; assert f is sp.betainc and of('spherical_jn') is sp.spherical_jn"
    )


def test_versions_without_the_module_import_the_package() -> None:
    _in_a_process(
        "import sys; from occelo_graph import optional_scipy\n"
        "class Nothing: find_spec = staticmethod(lambda name, path: None)\n"
        "optional_scipy.PathFinder = Nothing\n"
        "assert optional_scipy.special_function('erf')(0.0) == 0.0\n"
        "assert 'scipy.special' in sys.modules"
    )
