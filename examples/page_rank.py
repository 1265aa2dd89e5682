"""Example: PageRank of the modules of a package by their imports, as a loop and as one sparse equation, with derivatives.

Run it as ``python page_rank.py [picture.png]``; it needs matplotlib.
"""

import ast
import sys
from pathlib import Path

import numpy as np
import scipy
from matplotlib.figure import Figure
from scipy import sparse as sp

import occelo as oc
import occelo.tensor as ot
from occelo import sparse

# Who imports whom among SciPy's modules: an arrow from each module to those that its source names.
root = Path(scipy.__file__).parent
sources = {
    ".".join(("scipy", *path.relative_to(root).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(root.rglob("*.py"))
    if "tests" not in path.parts
}
names = list(sources)
number = {name: i for i, name in enumerate(names)}


def imported(name):
    package = name if sources[name].name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(sources[name].read_text())):
        if isinstance(node, ast.ImportFrom):
            above = (
                package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            )
            base = ".".join([*above, *(node.module or "").split(".")]).strip(".")
            for each in node.names:
                inner = f"{base}.{each.name}"
                yield inner if inner in number else base
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


arrows = {(number[a], number[b]) for a in names for b in imported(a) if b in number and a != b}
source, target = np.array(sorted(arrows)).T
counts = np.bincount(source, minlength=len(names))
links = sp.csr_matrix((1 / counts[source], (target, source)), (len(names),) * 2)
print(f"{len(names)} modules, {len(arrows)} imports")

# A reader follows an import with probability `damping`, else goes anywhere; also from modules that import nothing.
A, damping, start = sparse.csr_matrix("A"), ot.dscalar("damping"), ot.dvector("start")
nowhere = ot.constant((counts == 0).astype(float))


def step(rank, damping, start, *parts):
    matrix = sparse.CSR(*parts, links.shape)
    return damping * (matrix @ rank + (nowhere * rank).sum() * start) + (1 - damping) * start


parts = sparse.csm_properties(A)[:3]
ranks = oc.scan(
    step,
    outputs_info=start,
    non_sequences=[damping, start, *parts],
    n_steps=150,
    return_updates=False,
)
rank = ranks[-1]
power = oc.function(
    [A, damping, start], [rank, *oc.pushforward([rank], [damping], [ot.constant(1.0)])]
)
evenly = np.full(len(names), 1 / len(names))
found, by_damping = power(links, 0.85, evenly)

# The same as one equation. `(I - d A) x = start` gives the ranks up to a factor, since `nowhere` only adds to `start`.
eye = sparse.as_sparse_variable(sp.identity(len(names), format="csc"))
x = sparse.spsolve(eye - damping * sparse.tocsc(A), start)
solve = oc.function([A, damping, start], [x / x.sum(), oc.jacobian((x / x.sum())[:5], damping)])
solved, slope_of_five = solve(links, 0.85, evenly)
np.testing.assert_allclose(found, solved, atol=1e-10)
np.testing.assert_allclose(by_damping[:5], slope_of_five, atol=1e-8)
np.testing.assert_allclose(found.sum(), 1.0)

best = np.argsort(-found)[:12]
for i in best[:6]:
    print(
        f"{found[i]:.3f}  {names[i]}, {(target == i).sum()} importers, by damping {by_damping[i]:+.3f}"
    )

figure = Figure(figsize=(9, 3.8), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[1.5, 1])
left.barh([names[i].removeprefix("scipy.") for i in best][::-1], found[best][::-1], color="#0a7d4f")
left.set(xlabel="rank", title="modules of SciPy that the others rest upon")
right.loglog(
    np.bincount(target, minlength=len(names)) + 0.5, found, ".", color="#0a7d4f", alpha=0.5
)
right.set(xlabel="modules that import it", ylabel="rank")
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "page_rank.png", dpi=100)
