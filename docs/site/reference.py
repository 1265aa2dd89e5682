"""Writes the pages of the reference from the public names, with their signatures and docstrings."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import inventory
import mistakes
import namesakes
from inventory import DOORS, Entry
from sphinx.ext.napoleon import Config, NumpyDocstring

FOLDER = Path("reference")
MISTAKES = 3
"""How many mistakes with a function are shown."""
SECTIONS = re.compile(r"^(Parameters|Returns|Raises|Examples?|Notes|See Also)\n-{3,}$", re.M)
QUOTED = re.compile(r"(?<![`:\w])`([A-Za-z_][\w.]*?)(?:\.py)?`(?!`)(\w?)")
NAPOLEON = Config(napoleon_use_rtype=False, napoleon_use_param=True)

TITLES = {
    "occelo_graph.tensors.constructors": "Variables",
    "occelo_graph.tensors.constant": "Constants",
    "occelo_graph.tensors.constant_values": "Constants",
    "occelo_graph.tensors": "Types and variables",
    "occelo_graph.ops.create": "New arrays",
    "occelo_graph.ops.elemwise": "Element by element",
    "occelo_graph.ops.cast": "Element by element",
    "occelo_graph.ops.reduce": "Reductions",
    "occelo_graph.ops.reduction_table": "Reductions",
    "occelo_graph.ops.statistics": "Reductions",
    "occelo_graph.ops.shape": "Shapes",
    "occelo_graph.ops.length_inputs": "Shapes",
    "occelo_graph.ops.index": "Indices",
    "occelo_graph.ops.join": "Joining and repeating",
    "occelo_graph.ops.padding": "Joining and repeating",
    "occelo_graph.ops.blas": "Products",
    "occelo_graph.ops.control": "Branches, checks and facts",
    "occelo_arrays.ops.aliases": "NumPy's other names",
    "occelo_arrays": "NumPy's functions of arrays",
    "occelo_signal": "Windows and convolutions",
    "occelo_sorting": "Sorting, searching, counting",
    "occelo_special": "Special functions",
}
"""Sections of the page of `occelo.tensor`, by the module that defines a name."""

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


def pages() -> dict[Path, str]:
    """The text of each page of the reference, by its place among the sources of the site."""
    made = {FOLDER / f"{door}.rst": page(door) for door in DOORS}
    made[FOLDER / "index.rst"] = index()
    return made


def index() -> str:
    """The first page of the reference, with a line for each door."""
    rows = "".join(
        f"   * - :doc:`{door}`\n     - {summary(importlib.import_module(inventory.DEFINED_BY.get(door, door)).__doc__ or '')}\n"
        for door in DOORS
    )
    contents = "".join(f"   {door}\n" for door in DOORS)
    return (
        f"{heading('Reference', '=')}Every public name, with its signature, docstring, examples and errors. :ref:`genindex` lists "
        "them in one alphabet. In examples and errors, ``oc`` is `occelo` and ``ot`` is `occelo.tensor`. In errors, ``x`` and ``y`` are "
        "vectors, ``m`` a matrix, ``t`` a tensor with three dimensions, ``s`` a scalar, ``i`` an integer, ``n`` a vector of integers, "
        "``b`` one of bools and ``z`` one of complex numbers, and a message is that of the call above it.\n\n.. list-table::\n   :header-rows: 0\n\n"
        f"{rows}\n.. toctree::\n   :hidden:\n\n{contents}"
    )


def page(door: str) -> str:
    """The page of one module."""
    module = importlib.import_module(inventory.DEFINED_BY.get(door, door))
    lines = [heading(door, "="), f".. py:module:: {door}\n\n", text_of(module.__doc__ or ""), "\n"]
    sections: dict[str, list[Entry]] = {}
    for each in inventory.entries():
        if each.door == door:
            sections.setdefault(section(each), []).append(each)
    order = [*FACADE, *dict.fromkeys(TITLES.values())]
    for title in sorted(sections, key=lambda t: (order.index(t) if t in order else len(order), t)):
        lines += [heading(title, "-"), *blocks(sections[title])]
    return "".join(lines)


def section(entry: Entry) -> str:
    """The title of the section in which a name stands."""
    fixed = {
        "module": "Modules",
        "exception": "Exceptions",
        "type": "Types of tensors",
        "op": "Ops",
    }
    if entry.target is not None:
        return "Other names"
    if entry.kind in fixed:
        return fixed[entry.kind]
    if entry.door == "occelo":
        return next((t for t, names in FACADE.items() if entry.name in names.split()), "More")
    if entry.door == "occelo.tensor":
        home = home_of(entry)
        while home:
            if home in TITLES:
                return TITLES[home]
            home = home.rpartition(".")[0]
        return "Constants"
    return {"function": "Functions", "class": "Classes"}.get(entry.kind, "Objects")


def home_of(entry: Entry) -> str:
    """The module that defines a name."""
    if entry.kind == "function" and not inspect.isroutine(entry.value):
        return assignments().get(entry.name, "")
    return getattr(entry.value, "__module__", None) or ""


@functools.cache
def assignments() -> dict[str, str]:
    """The modules that assign the result of a call to a name, as those of elementwise functions do."""
    found: dict[str, str] = {}
    for name, module in sorted(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if not name.startswith("occelo_") or path is None:
            continue
        for node in ast.parse(Path(path).read_text()).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update({t.id: name for t in targets if isinstance(t, ast.Name)})
    return found


def heading(title: str, line: str) -> str:
    """A title with the line below it."""
    return f"\n{title}\n{line * len(title)}\n\n"


def blocks(group: Iterable[Entry]) -> Iterator[str]:
    """The text for the names of one section; those without text of their own are rows of a table."""
    rows: list[str] = []
    for each in group:
        if each.target is not None:
            rows.append(row(each.name, f":py:obj:`{each.target}`"))
        elif each.kind == "type":
            text = each.docstring if inspect.isroutine(each.value) else str(each.value)
            rows.append(row(each.name, f"``{text}``"))
        elif each.kind == "module":
            rows.append(row(each.name, summary(each.docstring)))
        else:
            yield block(each)
    if rows:
        yield ".. list-table::\n   :header-rows: 0\n\n" + "".join(rows) + "\n"


def row(name: str, text: str) -> str:
    """A row of a table with a name."""
    return f"   * - ``{name}``\n     - {text}\n"


def block(entry: Entry) -> str:
    """The directive of one name."""
    directive = {
        "function": "function",
        "class": "class",
        "op": "class",
        "exception": "exception",
        "constant": "data",
    }[entry.kind]
    arguments = "" if entry.signature is None else shown(entry.signature, entry.kind == "function")
    body = text_of(entry.docstring)
    parts = [f".. py:{directive}:: {entry.name}{arguments}\n\n", indented(body)]
    namesake = namesakes.namesake(entry)
    if namesake is not None:
        parts.append(indented("The namesake: `{} <{}>`__.\n".format(*namesake)))
    if entry.examples:
        parts.append(indented(".. rubric:: Examples\n\n" + "\n".join(map(text_of, entry.examples))))
    parts.append(indented(errors(entry)))
    if entry.kind == "class" or (entry.kind == "constant" and methods(type(entry.value))):
        kind = entry.value if isinstance(entry.value, type) else type(entry.value)
        if isinstance(entry.value, type):
            parts += [indented(member(*each)) for each in methods(kind)]
    return "".join(parts) + "\n"


def errors(entry: Entry) -> str:
    """Likely mistakes with a function, and what they raise; of many, the first ones."""
    listed = [*mistakes.by_function().get(entry.full, {}).items()][:MISTAKES]
    if not listed:
        return ""
    text = "\n\n".join(f"{expression}\n{message}" for expression, message in listed)
    return f".. rubric:: Errors\n\n.. code-block:: text\n\n{indented(text)}"


def shown(signature: inspect.Signature, returns: bool) -> str:
    """The text of a signature, without annotations that say nothing."""
    parameters = [
        p.replace(annotation=p.empty) if p.annotation in ("Any", Any, "object") else p
        for p in signature.parameters.values()
    ]
    back: Any = signature.return_annotation
    if not returns or back in ("Any", Any, "object"):
        back = signature.empty
    text = str(signature.replace(parameters=parameters, return_annotation=back))
    # annotations are texts of the sources
    text = re.sub(r"(?<=: |> )'([^']*)'", r"\1", text)
    return re.sub(r"<([^<>]* object|function \S+|class '[^']*') at 0x\w+>", "...", text).replace(
        "\n", " "
    )


def methods(kind: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class that have docstrings, but those of bases with an entry of their own."""
    documented = {each.value for each in inventory.documented() if isinstance(each.value, type)}
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("occelo") and (base is kind or base not in documented):
            found.update({n: v for n, v in vars(base).items() if not n.startswith("_")})
    return [(n, v) for n, v in sorted(found.items()) if _text_of_member(v)]


def _text_of_member(value: Any) -> str:
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if isinstance(function, property | functools.cached_property) or inspect.isroutine(function):
        return inspect.cleandoc(function.__doc__ or "")
    return ""


def member(name: str, value: Any) -> str:
    """The directive of a method or property."""
    text = text_of(_text_of_member(value))
    if isinstance(value, property | functools.cached_property):
        return f".. py:property:: {name}\n\n{indented(text)}"
    kind = "staticmethod" if isinstance(value, staticmethod) else "method"
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f".. py:method:: {name}()\n\n{indented(text)}"
    parameters = list(signature.parameters.values())
    if kind == "method" and parameters:
        signature = signature.replace(parameters=parameters[1:])
    return f".. py:{kind}:: {name}{shown(signature, True)}\n\n{indented(text)}"


def text_of(docstring: str) -> str:
    """The text of a docstring for Sphinx: sections of NumPy's style, and links for names in backquotes."""
    text = inspect.cleandoc(docstring)
    if SECTIONS.search(text):
        text = str(NumpyDocstring(text, NAPOLEON))
    paragraphs = re.split(r"(\n[ \t]*\n)", text)
    return "".join(p if p.lstrip().startswith(">>>") else _marked(p) for p in paragraphs) + "\n"


def _marked(paragraph: str) -> str:
    """A paragraph in which only backquotes mean something: bars and stars are those of formulas."""
    pieces = re.split(r"(``.*?``)", paragraph, flags=re.S)
    for i in range(0, len(pieces), 2):
        plain = re.sub(r"\|(?=\S)|(?<=\S)\||\*(?=\S)|(?<=\S)\*", r"\\\g<0>", pieces[i])
        pieces[i] = QUOTED.sub(_linked, plain)
    return "".join(pieces)


def _linked(name: re.Match[str]) -> str:
    target = _targets().get(name[1].rpartition(".")[2])
    # `linalg.solve` is no other `solve`
    if target is None or not target.endswith(name[1]):
        made = f"``{name[1]}``"
    else:
        made = f":py:obj:`{name[1]} <{target}>`"
    # a plural
    return f"{made}\\ {name[2]}" if name[2] else made


@functools.cache
def _targets() -> dict[str, str]:
    """The full name of each documented name; of several with the same last part, the first."""
    found: dict[str, str] = {}
    for each in inventory.entries():
        if each.target is None and each.kind not in ("module", "type"):
            found.setdefault(each.name, each.full)
    return found


def summary(docstring: str) -> str:
    """The first sentence of a docstring, on one line."""
    text = " ".join(inspect.cleandoc(docstring).partition("\n\n")[0].split())
    return QUOTED.sub(r"``\1``\\ \2", re.split(r"(?<=\.) (?=[A-Z`])", text, maxsplit=1)[0])


def indented(text: str) -> str:
    """The text of a directive."""
    return "".join(f"   {line}\n" if line else "\n" for line in text.splitlines()) + "\n"
