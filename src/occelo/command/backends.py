"""The command ``occelo backends``, which shows what each backend compiles. It also writes the page
``docs/backends.md``.

The table of all ops takes seconds to compute, and needs the examples of all ops. So the package has it as a file,
``backends.json``, which is written with the page.
"""

from __future__ import annotations

import importlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from occelo.command.graph_names import graph_outputs
from occelo.command.tables import print_table
from occelo_graph import Apply, toposort
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.tensors.sequences import is_sequence
from occelo_link.capabilities import (
    BACKENDS,
    GAPS,
    is_installed,
    op_label,
    reason_for_python,
    supports,
)
from occelo_random.ops.generator_type import RandomGeneratorType

Table = dict[str, dict[str, bool | None]]
"""For each op and each backend, whether the backend compiles the op; None for a backend that is not installed."""

LIBRARIES_THAT_TRACE = {"jax": "JAX", "pytorch": "PyTorch"}
STORED = Path(__file__).with_name("backends.json")
"""The number of ops, and for each backend the ops that it does not compile."""


@cache
def _example_nodes() -> dict[str, list[Apply]]:
    """Return a dict from the label of each op to its nodes in the table of examples."""
    from occelo_graph.tensors.type import TensorType

    try:
        examples = importlib.import_module("occelo_testing.examples")
    except ModuleNotFoundError as error:
        text = "The table of all ops is of the examples in occelo-testing: pip install 'occelo[testing]'"
        raise ModuleNotFoundError(text, name=error.name) from None

    nodes: dict[str, list[Apply]] = {}
    for example in examples.EXAMPLES:
        arguments: list[Any] = [
            TensorType(a.dtype.name, [1 if n == 1 else None for n in a.shape]).make_variable()
            for a in example.arguments
        ]
        output: Any = example.function(*arguments)
        outputs = output if is_sequence(output) else [output]
        for node in toposort(outputs):
            nodes.setdefault(op_label(node), []).append(node)
    return nodes


def op_table() -> Table:
    """Return, for each op and each backend, whether the backend compiles the op for at least one dtype.

    The value is None for a backend that is not installed.
    """
    backends = [b for b in BACKENDS if is_installed(b)]
    table: Table = {}
    for label, nodes in sorted(_example_nodes().items()):
        row: dict[str, bool | None] = dict.fromkeys(BACKENDS)
        for backend in backends:
            lacking = {(lack.op, lack.dtypes) for lack in supports(backend, _outputs(nodes))}
            row[backend] = any((label, _dtypes(node)) not in lacking for node in nodes)
        table[label] = row
    return table


def _outputs(nodes: list[Apply]) -> list[Any]:
    return [v for node in nodes for v in node.outputs]


def _dtypes(node: Apply) -> tuple[str, ...]:
    return tuple(v.type.dtype or str(v.type) for v in node.inputs)


def _share(table: Table, backend: str) -> str:
    compiled = [row[backend] for row in table.values()]
    if None in compiled:
        return "not installed"
    return f"{100 * sum(map(bool, compiled)) / len(compiled):.1f} %"


def stored_text(table: Table) -> str:
    """Return the content of the file ``STORED`` for a table of all ops."""
    lacks = {b: [label for label, row in table.items() if row[b] is False] for b in BACKENDS}
    return json.dumps({"ops": len(table), "in_python": lacks}, indent=1) + "\n"


def published(table: Table) -> str:
    """Return the text of the page ``docs/backends.md``, which lists the ops that some backend does not compile."""
    lines = [
        "# Backends",
        "",
        "This page shows which ops each backend compiles. Other ops run in Python, called from the compiled code, "
        "so every op works on every backend. `occelo backends --write docs/backends.md` writes the page, from the "
        "table of examples in `occelo_testing`.",
        "",
        f"There are {len(table)} ops. All backends compile the ops that are not listed below.",
        "",
        "| | " + " | ".join(b.replace("|", "\\|") for b in BACKENDS) + " |",
        "|---|" + "---|" * len(BACKENDS),
        "| compiled | " + " | ".join(_share(table, b) for b in BACKENDS) + " |",
    ]
    for label, row in table.items():
        if not all(row.values()):
            cells = ["yes" if v else "" if v is None else "Python" for v in row.values()]
            lines.append(f"| {label} | " + " | ".join(cells) + " |")
    lines += ["", "Why ops run in Python:", ""]
    lines += [f"- {reason}: {', '.join(labels)}." for reason, labels in _reasons(table).items()]
    lines += ["", "Other differences between backends:", ""]
    lines += [f"- {gap.backend}, {gap.what}: {gap.reason}." for gap in GAPS]
    return "\n".join([*lines, ""])


def _reasons(table: Table) -> dict[str, list[str]]:
    """For each reason why ops run in Python, the ops: first of machine code, then of libraries."""
    reasons: dict[str, list[str]] = {}
    for backend in ("native", *LIBRARIES_THAT_TRACE):
        for label, row in table.items():
            if row[backend] is False:
                for reason in dict.fromkeys(
                    _why(backend, node, bool(row["native"])) for node in _example_nodes()[label]
                ):
                    reasons.setdefault(reason, []).append(label)
    return reasons


def _why(backend: str, node: Apply, has_loops: bool) -> str:
    if backend == "native":
        return f"native, c, numba: {reason_for_python(node)}"
    library = LIBRARIES_THAT_TRACE[backend]
    parts = decomposition(node)
    if any(each.op.loops for each in (node, *(parts.order if parts else ()))):
        return f"{backend}: {library} would unroll a loop with a count"
    if node.op.elementwise:
        return f"{backend}: {library} has no such function, or one that loses digits"
    if isinstance(node.outputs[0].type, RandomGeneratorType):
        return f"{backend}: NumPy draws with its generators, which {library} does not have"
    if not has_loops:
        return f"{backend}: {reason_for_python(node)}"
    return (
        f"{backend}: LAPACK computes it; {library} has no such function, or one for the CPU alone"
    )


def show_backends(graph: str | None, write: Path | None) -> None:
    """Print a table of what each backend compiles, or write the text of `published` to the file ``write``.

    For a graph, the table shows which ops of the graph each backend does not compile. Without a graph, it shows which
    share of all ops each backend compiles, and which ops run in Python. Writing computes the table of all ops; if all
    libraries are installed, it renews the file of the package, too.
    """
    if write is not None:
        table = op_table()
        write.write_text(published(table), encoding="utf-8")
        if all(map(is_installed, BACKENDS)):
            STORED.write_text(stored_text(table), encoding="utf-8")
        print(f"The page is {write}")
    elif graph is None:
        stored = json.loads(STORED.read_text(encoding="utf-8"))
        rows = [
            (b, f"{100 - 100 * len(lacks) / stored['ops']:.1f} %", ", ".join(lacks) or "nothing")
            for b, lacks in stored["in_python"].items()
        ]
        print_table(["backend", "compiled", "in Python"], rows)
    else:
        outputs = graph_outputs(graph)
        print_table(["backend", "in Python"], [(b, _lacks(b, outputs)) for b in BACKENDS])


def _lacks(backend: str, outputs: list[Any]) -> str:
    if not is_installed(backend):
        return "not installed"
    return "\n".join(dict.fromkeys(map(str, supports(backend, outputs)))) or "nothing"
