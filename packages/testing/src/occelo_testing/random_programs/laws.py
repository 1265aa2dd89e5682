"""Laws of random programs: a program has the same results in whatever way it is written, compiled and called.

`LAWS` maps names to laws, among them those of `gradients`, `many_values` and `mistakes`. `judging` checks programs against them, and
the command in `__main__` lists them.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from occelo_compile.mode import Mode, get_mode
from occelo_compile.symbolic_io import In, Out
from occelo_graph import load, save, shared, vectorize_graph
from occelo_graph import tensor as ot
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.interpret import run_node
from occelo_graph.narrowing import is_array
from occelo_graph.ops.control import ifelse
from occelo_testing.programs.program import Input, Program
from occelo_testing.programs.rounding import expected_results
from occelo_testing.random_programs.case import Case, Unsuited, Violation
from occelo_testing.random_programs.gradients import gradient_law
from occelo_testing.random_programs.many_values import aliases_and_swaps, batch_of_values
from occelo_testing.random_programs.mistakes import mistake_law

Random = np.random.Generator
Law = Callable[[Case, Random], None]


def value(case: Case, random: Random) -> None:
    """Two calls in a row both return NumPy's results."""
    f = case.compiled(case.inputs, case.outputs)
    case.compare(case.called(f, case.program.values()))
    case.compare(case.called(f, case.program.values()))


def strict(case: Case, random: Random) -> None:
    """In the strict mode the results are NumPy's. This mode leaves out rules that may hide errors or change NaN and
    infinity.
    """
    mode = Mode(get_mode(case.mode).linker.clone(), "strict")
    f = case.compiled(case.inputs, case.outputs, mode)
    case.compare(case.called(f, case.program.values()))


def without_a_rule(case: Case, random: Random) -> None:
    """The results stay the same if one of the applied rules is left out."""
    first = case.compiled(case.inputs, case.outputs, "vm")
    used = sorted({a.rule for a in first.maker.rewritten.record.applications})
    if not used:
        raise Unsuited
    rule = used[int(random.integers(len(used)))]
    mode = get_mode(case.mode)
    f = case.compiled(case.inputs, case.outputs, mode.excluding(rule))
    if any(a.rule == rule for a in f.maker.rewritten.record.applications):
        raise Violation("law", f"the rule {rule} was left out, and applied")
    try:
        case.compare(case.called(f, case.program.values()))
    except Violation as error:
        raise Violation(error.kind, f"without the rule {rule}: {error.message}") from error


def own_memory(case: Case, random: Random) -> None:
    """In Python, the results of each node share memory with its inputs only as its maps of views say."""
    mode = Mode("py", get_mode(case.mode).provided_optimizer).excluding("inplace")
    fgraph = case.compiled(case.inputs, case.outputs, mode).maker.fgraph
    values: dict[Any, Any] = dict(zip(fgraph.inputs, case.program.values(), strict=True))

    def own(variable: Any) -> Any:
        return values[variable] if variable in values else variable.data

    for node in fgraph.toposort():
        arrays = [own(v) for v in node.inputs]
        with np.errstate(all="ignore"):
            results = run_node(node, arrays)
        for k, result in enumerate(results):
            declared = node.op.view_map.get(k, ())
            for i, array in enumerate(arrays):
                both = is_array(result) and is_array(array)
                if i not in declared and both and np.may_share_memory(result, array):
                    raise Violation("law", f"output {k} of {node.op} is a view of input {i}")
        values.update(zip(node.outputs, results, strict=True))


def permuted_inputs(case: Case, random: Random) -> None:
    """The results do not depend on the order of the inputs."""
    order = random.permutation(len(case.inputs))
    values = case.program.values()
    f = case.compiled([case.inputs[i] for i in order], case.outputs)
    case.compare(case.called(f, [values[i] for i in order]))


def another_output(case: Case, random: Random) -> None:
    """The results stay the same if an intermediate variable is an output, too."""
    rest = [i for i in range(len(case.program.nodes)) if i not in case.program.outputs]
    more = rest[int(random.integers(len(rest)))] if rest else case.program.outputs[0]
    place = int(random.integers(len(case.program.outputs) + 1))
    outputs = list(case.program.outputs)
    outputs.insert(place, more)
    changed = Case(replace(case.program, outputs=tuple(outputs)), case.mode, case.runs)
    value(changed, random)


def known_shapes(case: Case, random: Random) -> None:
    """The results stay the same if all lengths are static."""
    value(Case(case.program.with_static_lengths(), case.mode, case.runs), random)


def constants(case: Case, random: Random) -> None:
    """The results stay the same if some or all inputs are constants."""
    positions = case.program.inputs
    free = [i for i in positions if random.random() < 0.3]
    fixed = {
        i: ot.constant(node.value())
        for i in positions
        if i not in free and isinstance(node := case.program.nodes[i], Input)
    }
    values = [v for i, v in zip(positions, case.program.values(), strict=True) if i in free]
    try:
        variables = case.program.variables(fixed)
    except Exception as error:
        raise Violation(
            "build", f"with constants {sorted(fixed)}: {type(error).__name__}: {error}"
        ) from error
    f = case.compiled([variables[i] for i in free], [variables[i] for i in case.program.outputs])
    case.compare(case.called(f, values))


def batched(case: Case, random: Random) -> None:
    """A program that is vectorized over a batch of copies of its inputs has the same results for each copy."""
    count = int(random.integers(1, 3))
    values = case.program.values()
    # integers are batched less often, since values that decide lengths cannot differ within a batch
    chosen = [
        random.random() < (0.7 if v.dtype.kind in "fc" else 0.3 if v.ndim else 0) for v in values
    ]
    static = count if random.random() < 0.5 or count == 1 else None
    batches = {
        v: v.type.clone(shape=(static, *v.type.shape)).make_variable(f"{v.name}_batch")
        for v, c in zip(case.inputs, chosen, strict=True)
        if c
    }
    if not batches:
        raise Unsuited
    try:
        outputs = vectorize_graph(case.outputs, batches)
    except NotImplementedError as error:
        raise Unsuited from error
    except Exception as error:
        raise Violation("build", f"vectorize_graph: {type(error).__name__}: {error}") from error
    inputs = [batches.get(v, v) for v in case.inputs]
    arguments = [
        np.broadcast_to(v, (count, *np.shape(v))) if c else v
        for v, c in zip(values, chosen, strict=True)
    ]
    results = case.called(case.compiled(inputs, outputs), arguments)
    for k in range(count):
        single = [
            r[k] if b.type.ndim > o.type.ndim else r
            for r, b, o in zip(results, outputs, case.outputs, strict=True)
        ]
        case.compare([np.asarray(s) for s in single])


def saved(case: Case, random: Random) -> None:
    """The results stay the same if the graph is saved and loaded."""
    file = io.BytesIO()
    try:
        save(file, case.outputs, case.inputs)
        file.seek(0)
        graph = load(file)
    except Exception as error:
        raise Violation("build", f"save or load: {type(error).__name__}: {error}") from error
    f = case.compiled(graph.inputs, graph.outputs)
    case.compare(case.called(f, case.program.values()))


def inner_graph(case: Case, random: Random) -> None:
    """The results stay the same if the program is the inner graph of an `OpFromGraph`."""
    try:
        applied: Any = OpFromGraph(case.inputs, case.outputs)(*case.inputs)
    except Exception as error:
        raise Violation("build", f"OpFromGraph: {type(error).__name__}: {error}") from error
    outputs: list[Any] = [applied] if len(case.outputs) == 1 else list(applied)
    f = case.compiled(case.inputs, outputs)
    case.compare(case.called(f, case.program.values()))


def lazy_branch(case: Case, random: Random) -> None:
    """In a branch of `ifelse`, the program has the same results if the branch is taken. Otherwise the results are
    zeros.
    """
    flag = ot.TensorType("bool", ()).make_variable("flag")
    others = [ot.zeros_like(v) for v in case.outputs]
    outputs = (
        [ifelse(flag, v, o) for v, o in zip(case.outputs, others, strict=True)]
        if random.random() < 0.5
        else list(ifelse(flag, list(case.outputs), others))
    )
    f = case.compiled([*case.inputs, flag], outputs)
    case.compare(case.called(f, [*case.program.values(), np.array(True)]))
    for actual, one in zip(
        case.called(f, [*case.program.values(), np.array(False)]), case.expected, strict=True
    ):
        if actual.shape != one.value.shape or actual.dtype != one.value.dtype or actual.any():
            raise Violation("value", f"the branch of zeros gives {actual!r}")


def borrowed_memory(case: Case, random: Random) -> None:
    """The results stay the same if arguments are mutable and results may alias other memory."""
    values = case.program.values()
    fresh = [np.array(v, order="K") for v in values]
    inputs = [In(v, borrow=True, mutable=random.random() < 0.6) for v in case.inputs]
    outputs = [Out(v, borrow=random.random() < 0.5) for v in case.outputs]
    f = case.compiled(inputs, outputs)
    case.compare(case.called(f, fresh, mutable=True))


def only_shapes(case: Case, random: Random) -> None:
    """A function that returns only the shapes of the results returns NumPy's shapes."""
    f = case.compiled(case.inputs, [ot.shape(v) for v in case.outputs])
    for shape, one in zip(case.called(f, case.program.values()), case.expected, strict=True):
        if tuple(shape.tolist()) != one.value.shape:
            raise Violation(
                "value", f"the shape is said to be {shape.tolist()}, NumPy's is {one.value.shape}"
            )


def state(case: Case, random: Random) -> None:
    """If inputs are shared variables with updates, the results and states of two calls are NumPy's."""
    program = case.program
    pairs = _possible_updates(case)
    if not pairs:
        raise Unsuited
    chosen: dict[int, int] = {}
    order: Any = random.permutation(len(pairs))
    for i in order:
        position, source = pairs[int(i)]
        if position not in chosen and len(chosen) < 2:
            chosen[position] = source
    values = dict(zip(program.inputs, program.values(), strict=True))
    states = {
        i: shared(np.array(values[i]), shape=node.shape)
        for i in chosen
        if isinstance(node := program.nodes[i], Input)
    }
    variables = program.variables(states)
    arguments = [i for i in program.inputs if i not in chosen]
    f = case.compiled(
        [variables[i] for i in arguments],
        [variables[i] for i in program.outputs],
        updates=[(states[i], variables[source]) for i, source in chosen.items()],
    )
    for _ in range(2):
        current = [values[i] for i in program.inputs]
        try:
            expected = expected_results(program, case.runs, current)
        except (ValueError, IndexError):
            return  # the new state is an invalid index, or a mask that selects another number of elements
        if not all(np.isfinite(v).all() for v in current if v.dtype.kind in "fc"):
            return  # a state that is not finite; other laws test such values
        case.compare(case.called(f, [values[i] for i in arguments]), expected)
        whole = replace(program, outputs=tuple(chosen.values()))
        news = expected_results(whole, case.runs, current)
        case.compare([states[i].get_value() for i in chosen], news)
        values.update({i: states[i].get_value() for i in chosen})


def _possible_updates(case: Case) -> list[tuple[int, int]]:
    program: Program = case.program
    variables = program.variables()
    values = program.run()
    return [
        (i, j)
        for i in program.inputs
        for j in range(len(program.nodes))
        # integers are left out, since they may be lengths and positions
        if i != j
        and variables[i].type == variables[j].type
        and values[i].shape == values[j].shape
        and np.dtype(variables[i].type.dtype).kind in "fc"
    ]


def _backend(name: str) -> Law:
    def law(case: Case, random: Random) -> None:
        value(Case(case.program, name, case.runs), random)

    law.__doc__ = f"The results of the linker {name} are NumPy's."
    return law


LAWS: dict[str, Law] = {
    "value": value,
    "strict": strict,
    "without a rule": without_a_rule,
    "own memory": own_memory,
    "permuted inputs": permuted_inputs,
    "another output": another_output,
    "known shapes": known_shapes,
    "constants": constants,
    "batched": batched,
    "saved": saved,
    "inner graph": inner_graph,
    "lazy branch": lazy_branch,
    "borrowed memory": borrowed_memory,
    "only shapes": only_shapes,
    "state": state,
    "aliases and swaps": aliases_and_swaps,
    "batch of values": batch_of_values,
    "gradient": gradient_law,
    "mistake": mistake_law,
    **{
        name: _backend(name)
        for name in ("py", "vm", "native", "c", "c|py", "numba", "jax", "pytorch")
    },
}
