"""Without the extras: names are there, and what needs a library that is missing says how to install it."""

from __future__ import annotations

import subprocess
import sys

import pytest

WAYS = {
    "absent": "sys.modules.update(dict.fromkeys(['jax', 'jaxlib', 'numba', 'torch']))",
    "forbidden": """
class Forbid:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] in ("jax", "jaxlib", "numba", "torch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Forbid())
""",
}
"""Two ways in which a library is missing: nothing finds it, and a finder of the user's forbids it."""
CODE = """
import importlib, inspect, pydoc, sys
{missing}
for package in ("occelo", "occelo.tensor", "occelo.tensor.linalg", "occelo.tensor.random", "occelo.tensor.stats",
                "occelo_graph", "occelo_rewrite", "occelo_link", "occelo_compile"):
    module = importlib.import_module(package)
    namespace = {{}}
    exec(f"from {{package}} import *", namespace)
    assert set(getattr(module, "__all__", ())) <= set(namespace)
    members = dict(inspect.getmembers(module))
    assert set(dir(module)) == set(members), package
    assert all(hasattr(module, name) for name in dir(module))
    pydoc.render_doc(module)
assert not {{"jax", "numba", "torch"}} & {{n for n, m in sys.modules.items() if m is not None}}

import occelo as oc, occelo_link, occelo.tensor as ot
from occelo_link import JAXLinker, NumbaLinker, PytorchLinker

x = ot.dvector("x")
f = oc.function([x], x * 2, mode="vm")
assert not isinstance(f.maker.mode.linker, (JAXLinker, NumbaLinker, PytorchLinker))
assert "jax.vmap" in pydoc.render_doc(oc.as_jax)
for library, mode, *needs in (
    ("jax", "JAX", lambda: oc.as_jax(f), JAXLinker, lambda: oc.supports("jax", x * 2)),
    ("numba", "NUMBA", lambda: oc.as_numba(f), NumbaLinker, lambda: oc.supports("numba", x * 2)),
    ("torch", "PYTORCH", lambda: oc.as_torch(f), PytorchLinker, lambda: oc.supports("pytorch", x * 2)),
):
    for need in (*needs, lambda: oc.get_mode(mode), lambda: oc.function([x], x * 2, mode=mode)):
        try:
            need()
        except ModuleNotFoundError as error:
            assert str(error).endswith(
                f"needs {{library}}, which is not installed: pip install 'occelo-link[{{library}}]'"
            ), error
            assert error.name == library
        else:
            raise AssertionError(library, need)
"""


@pytest.mark.parametrize("way", WAYS)
def test_all_names_are_there_and_calls_name_the_extra(way: str) -> None:
    subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", CODE.format(missing=WAYS[way])],
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
