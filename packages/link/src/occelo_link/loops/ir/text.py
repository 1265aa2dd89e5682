"""The textual form of loop programs, for people to read. `dumping` writes it to files, and tests compare it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.cost import work_memory
from occelo_link.loops.ir.visitor import Visitor


def program_text(program: ir.Program) -> str:
    """The program as text: its functions, its inputs, outputs and table, then the statements, indented by block.

    A line with ``#`` names the node of the graph to which the statements below the line belong.
    """
    nodes = [f"# {k}: {getattr(node, 'op', node)}" for k, node in enumerate(program.nodes)]
    body = _Lines(nodes).block(program.body)
    return "\n".join([*_functions(program), *_header(program), *body, ""])


def _functions(program: ir.Program) -> Iterator[str]:
    for function in program.functions.values():
        params = ", ".join(f"%{p.number}: {p.dtype}" for p in function.params)
        yield f"function {function.name}({params})"
        yield from _Lines().block(function.body)
        yield f"  return {_use(function.result)}"


def _header(program: ir.Program) -> Iterator[str]:
    inputs = ", ".join(_declared(b) for b in program.inputs)
    outputs = ", ".join(_declared(b) for b in program.outputs)
    yield f"program {program.name}({inputs}) -> ({outputs})"
    needed = [f"{n}" if v is None else f"{n} * {_use(v)}" for n, v in work_memory(program)]
    if needed:
        yield f"  work memory: {' + '.join(needed)} bytes"
    for name, slot in program.table.items():
        yield f"  table {slot}: {name}"


def _declared(buffer: ir.Buffer) -> str:
    dimensions = "[" + ", ".join(":" * buffer.ndim) + "]" if buffer.ndim else ""
    seen = "" if buffer.holds == buffer.dtype else f" as {buffer.dtype}"
    return f"{buffer.name}: {buffer.holds}{dimensions}{seen}"


def _use(value: ir.Value) -> str:
    if value.op == "const":
        return str(value.args[0]) if value.dtype == "int64" else f"{value.args[0]}:{value.dtype}"
    return f"%{value.number}"


def _argument(argument: ir.Value | ir.Pointer | ir.Reference) -> str:
    if isinstance(argument, ir.Pointer):
        return f"&{argument.buffer}[{_use(argument.offset)}]"
    if isinstance(argument, ir.Reference):
        return f"&({_use(argument.value)})"
    return _use(argument)


def _carried(statement: ir.For | ir.While) -> Iterator[str]:
    for each in statement.carried:
        how = f" by {each.combine}" if each.combine else ""
        yield (
            f"  carry %{each.param.number}: {each.param.dtype} = {_use(each.initial)}, "
            f"then {_use(each.following)}{how} -> %{each.result.number}"
        )


class _Lines(Visitor[Iterable[str]]):
    """Visitor that returns the lines of a statement.

    ``nodes`` has a line of text for each node of the graph.
    """

    def __init__(self, nodes: Sequence[str] = ()) -> None:
        self.nodes = nodes

    def block(self, block: ir.Block) -> Iterator[str]:
        """The lines of a block, indented by one level."""
        last, methods = -1, self.methods
        for statement in block:
            if statement.node != last and 0 <= statement.node < len(self.nodes):
                last = statement.node
                yield f"  {self.nodes[last]}"
            for line in methods[type(statement)](self, statement):
                yield f"  {line}"

    def value(self, value: ir.Value) -> Iterable[str]:
        args = value.args
        if value.op == "load":
            right = f"load {args[0]}[{_use(args[1])}]"
        elif value.op in ("length", "stride"):
            right = f"{value.op} {args[0]}, {args[1]}"
        elif value.op in ("call", "apply"):
            right = f"{value.op} {args[0]}({', '.join(_use(a) for a in args[1:])})"
        elif value.op == "unlikely":
            called = f"{args[2]}({', '.join(_use(a) for a in args[3:])})"
            right = f"unlikely {_use(args[0])} ? {called} : {_use(args[1])}"
        else:
            right = f"{value.op} {', '.join(_use(a) for a in args)}"
        return (f"%{value.number}: {value.dtype} = {right}",)

    def store(self, statement: ir.Store) -> Iterable[str]:
        at = f"{statement.buffer}[{_use(statement.offset)}]"
        return (f"store {at} = {_use(statement.value)}",)

    def check(self, statement: ir.Check) -> Iterable[str]:
        return (f"check {_use(statement.condition)} else {statement.site}",)

    def alloc(self, statement: ir.Alloc) -> Iterable[str]:
        lengths = f" [{', '.join(_use(n) for n in statement.lengths)}]" if statement.lengths else ""
        verb = "over" if statement.keeps else "reusing"
        reuse = f" {verb} {statement.reuse}" if statement.reuse is not None else ""
        buffer = statement.buffer
        return (f"alloc {buffer}: {buffer.dtype} x {_use(statement.size)}{lengths}{reuse}",)

    def swap(self, statement: ir.Swap) -> Iterable[str]:
        return (f"swap {statement.first}, {statement.second}",)

    def invoke(self, statement: ir.Invoke) -> Iterable[str]:
        args = ", ".join(_argument(a) for a in statement.args)
        left = f"%{statement.result.number} = " if statement.result is not None else ""
        return (f"{left}invoke {statement.entry}({args})",)

    def loop(self, loop: ir.For) -> Iterable[str]:
        lanes = f" lanes {loop.lanes}" if loop.lanes > 1 else ""
        kind = " parallel" if loop.parallel else ""
        yield f"for %{loop.index.number} in {_use(loop.start)}..{_use(loop.stop)}{lanes}{kind}"
        yield from _carried(loop)
        yield from self.block(loop.body)

    def while_loop(self, loop: ir.While) -> Iterable[str]:
        yield "while"
        yield from _carried(loop)
        yield from self.block(loop.test)
        yield f"  holds {_use(loop.condition)}"
        yield from self.block(loop.body)

    def branch(self, statement: ir.If) -> Iterable[str]:
        results = [(f"%{r.number}", _use(a), _use(b)) for r, a, b in statement.results]
        names = ", ".join(r for r, _, _ in results)
        yield f"if {_use(statement.condition)}" + (f" -> {names}" if names else "")
        yield from self.block(statement.then)
        if results:
            yield f"  gives {', '.join(a for _, a, _ in results)}"
        yield "else"
        yield from self.block(statement.orelse)
        if results:
            yield f"  gives {', '.join(b for _, _, b in results)}"
