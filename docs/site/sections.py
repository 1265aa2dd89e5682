"""In which section of the reference a public name stands, and which sections are pages of their own."""

from __future__ import annotations

import functools

import inventory
import worked_examples
from inventory import Entry

SPLIT = "occelo.tensor"
"""The door with so many names that each of its sections is a page."""

TOPICS = {
    "Variables and dtypes": "variables-and-their-types arrays-dtypes",
    "New tensors": "arrays-creating grids-and-new-tensors",
    "Element by element": "elementwise-arithmetic elementwise-bits elementwise-comparing elementwise-complex "
    "elementwise-exponential elementwise-trigonometric numbers-compared-and-combined",
    "Reductions": "arrays-reducing maxima-means-and-sums reductions-without-nan segments",
    "Shapes": "arrays-shapes shapes-and-order-of-axes",
    "Joining and splitting": "arrays-joining joining-and-splitting",
    "Indices": "arrays-indexing choosing-and-putting",
    "Products and polynomials": "arrays-products products-of-matrices polynomials",
    "Sorting, searching, sets": "sorting orders-and-quantiles arrays-orders sets-of-elements",
    "Special functions": "special-bessel special-elliptic special-errors special-functions-of-the-second-half special-gamma",
    "Checks and facts": "arrays-checks",
    "Constants": "constants",
}
"""Sections of `occelo.tensor`, by the files of worked examples that have a name; of several, the first in this order."""

FACADE = {
    "Functions": "function Function In Out shared SharedVariable Mode get_mode get_default_mode available_modes register_mode "
    "supports config minimize FunctionMaker Container evaluate",
    "Gradients": "grad value_and_grad jacobian hessian hessian_vector_product pullback pushforward Lop Rop vjp jvp subgraph_grad "
    "numeric_grad verify_grad stop_gradient disconnected_grad zero_grad undefined_grad grad_clip grad_scale",
    "Loops, branches and batches": "loop scan fori_loop while_loop associative_scan foldl foldr scan_checkpoints until ifelse "
    "switch_case vectorize vectorize_graph vmap",
    "Printing, saving, reading": "debugprint dprint pp pprint pydotprint to_dot to_python save load digest function_dump load_dump",
    "Looking for errors": "DebugMode NanGuardMode MonitorMode PdbBreakpoint Print Assert CheckAndRaise bisect explain "
    "rewrite_profile view_rewriting ProfileStats",
    "Graphs, ops and rules": "Variable Constant Apply Op Type op as_op wrap_py OpFromGraph FunctionGraph clone_replace "
    "graph_replace collect_new_shareds node_rewriter rewrite_graph optdb register_optimizer Linker WrapLinker available_linkers "
    "register_linker as_jax as_numba as_torch",
}
"""Sections of the page of `occelo`. Exceptions and modules have sections of their own."""

FIXED = {
    "module": "Modules",
    "exception": "Exceptions",
    "type": "Types of tensors",
    "op": "Ops",
}
"""Sections by what a name is, at all doors."""

ORDER = [*FACADE, *TOPICS]
"""Sections that stand before others."""


def section(entry: Entry) -> str:
    """The title of the section in which a name stands."""
    if entry.target is not None:
        return "Other names"
    if entry.kind in FIXED:
        return FIXED[entry.kind]
    if entry.door == "occelo":
        return next((t for t, names in FACADE.items() if entry.name in names.split()), "More")
    if entry.door == SPLIT:
        return _topics().get(entry.full, "Constants")
    return {"function": "Functions", "class": "Classes"}.get(entry.kind, "Objects")


def sections(door: str) -> dict[str, list[Entry]]:
    """The names of a door by their sections, in the order of the page."""
    found: dict[str, list[Entry]] = {}
    for each in inventory.entries():
        if each.door == door:
            found.setdefault(section(each), []).append(each)
    order = sorted(found, key=lambda t: (ORDER.index(t) if t in ORDER else len(ORDER), t))
    return {title: found[title] for title in order}


@functools.cache
def _topics() -> dict[str, str]:
    """The section of each name of `SPLIT` that has a worked example, or whose alias has one; `FIXED` has others."""
    title_of = {stem: title for title, stems in TOPICS.items() for stem in stems.split()}
    targets = {e.full: e.target or e.full for e in inventory.entries()}
    found: dict[str, str] = {}
    for each in worked_examples.sections():
        if each.door == SPLIT and each.path.stem not in ("ops", "exceptions"):
            title = title_of[each.path.stem]
            for name in each.names:
                full = targets.get(f"{SPLIT}.{name}", f"{SPLIT}.{name}")
                found[full] = min(found.get(full, title), title, key=ORDER.index)
    return found
