"""Python source that reproduces a fault. The source runs a program with Occelo and with NumPy, and prints both results.

Reports of faults (`occelo_testing.random_programs.judging`) contain this source.
"""

from __future__ import annotations

from typing import Any

from occelo_testing.programs.numpy_names import imports_of, source_of
from occelo_testing.programs.program import Input, Program


def _array_text(array: Any) -> str:
    if array.size == 0:
        return f"np.zeros({array.shape}, {array.dtype.name!r})"
    text = repr(array.tolist())
    for word in ("nan", "inf"):
        text = text.replace(word, f"np.{word}")
    return f"np.array({text}, {array.dtype.name!r})"


def listing(program: Program, note: str = "", mode: str | None = None) -> str:
    """Source text that runs a program with Occelo and with NumPy, and prints both results.

    ``note`` is a comment for the first lines of the source, and ``mode`` is the mode that compiles the function.
    """
    program = program.pruned()
    names = [program.name(i) for i in range(len(program.nodes))]
    imports = ["import numpy as np", "import occelo as oc", "import occelo.tensor as ot"]
    values: list[str] = []
    variables: list[str] = []
    symbolic: list[str] = []
    numpy: list[str] = []
    helpers: list[str] = []
    for name, node in zip(names, program.nodes, strict=True):
        if isinstance(node, Input):
            values.append(f"{name}_value = {node.view.format(_array_text(node.base))}")
            variables.append(
                f"{name} = ot.TensorType({node.dtype!r}, {node.shape}).make_variable({name!r})"
            )
            numpy.append(f"{name} = {name}_value")
        else:
            args = [names[i] for i in node.args]
            symbolic.append(f"{name} = {node.symbolic.format(*args)}")
            numpy.append(f"{name} = {node.numpy.format(*args)}")
            helpers += [h for h in source_of(node.numpy) if h not in helpers]
            text = f"{node.symbolic} {node.numpy}"
            imports += [line for line in imports_of(text) if line not in imports]
    inputs = ", ".join(names[i] for i in program.inputs)
    arguments = ", ".join(f"{names[i]}_value" for i in program.inputs)
    outputs = ", ".join(names[i] for i in program.outputs)
    chosen = "" if mode is None else f", mode={mode}"
    parts: list[str] = [
        *(f"# {line}" for line in note.splitlines()),
        *imports,
        *(h.rstrip() for h in helpers),
        *values,
        *variables,
        *symbolic,
        f"f = oc.function([{inputs}], [{outputs}], on_unused_input='ignore'{chosen})",
        f"print(*f({arguments}), sep='\\n')",
        "# NumPy:",
        *numpy,
        f"print({outputs}, sep='\\n')",
    ]
    return "\n".join(parts) + "\n"
