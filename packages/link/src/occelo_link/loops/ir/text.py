"""The textual form of loop programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from occelo_link.loops.ir.program import (
    Alloc,
    Block,
    Buffer,
    Check,
    For,
    Invoke,
    Pointer,
    Program,
    Reference,
    Statement,
    Store,
    Swap,
    Value,
    While,
)
from occelo_link.loops.ir.work import work_memory

__all__ = ["program_text"]


def program_text(program: Program) -> str:
    """The program as text: buffers first, then statements, indented by block.

    A line with ``#`` says for which node of the graph the statements below are.
    """
    nodes = [f"# {k}: {getattr(node, 'op', node)}" for k, node in enumerate(program.nodes)]
    body = _block(program.body, 1, nodes)
    return "\n".join([*_functions(program), *_header(program), *body, ""])


def _functions(program: Program) -> Iterator[str]:
    for function in program.functions.values():
        params = ", ".join(f"%{p.number}: {p.dtype}" for p in function.params)
        yield f"function {function.name}({params})"
        yield from _block(function.body, 1)
        yield f"  return {_use(function.result)}"


def _header(program: Program) -> Iterator[str]:
    inputs = ", ".join(_declared(b) for b in program.inputs)
    outputs = ", ".join(_declared(b) for b in program.outputs)
    yield f"program {program.name}({inputs}) -> ({outputs})"
    needed = [f"{n}" if v is None else f"{n} * {_use(v)}" for n, v in work_memory(program)]
    if needed:
        yield f"  work memory: {' + '.join(needed)} bytes"
    for name, slot in program.table.items():
        yield f"  table {slot}: {name}"


def _declared(buffer: Buffer) -> str:
    dimensions = "[" + ", ".join(":" * buffer.ndim) + "]" if buffer.ndim else ""
    seen = "" if buffer.holds == buffer.dtype else f" as {buffer.dtype}"
    return f"{buffer.name}: {buffer.holds}{dimensions}{seen}"


def _block(block: Block, depth: int, nodes: Sequence[str] = ()) -> Iterator[str]:
    pad = "  " * depth
    last = -1
    for statement in block:
        if statement.node != last and 0 <= statement.node < len(nodes):
            last = statement.node
            yield pad + nodes[last]
        for line in _statement(statement, nodes):
            yield pad + line


def _use(value: Value) -> str:
    if value.op == "const":
        return str(value.args[0]) if value.dtype == "int64" else f"{value.args[0]}:{value.dtype}"
    return f"%{value.number}"


def _value(value: Value) -> str:
    args = value.args
    if value.op == "load":
        right = f"load {args[0]}[{_use(args[1])}]"
    elif value.op in ("length", "stride"):
        right = f"{value.op} {args[0]}, {args[1]}"
    elif value.op in ("call", "apply"):
        right = f"{value.op} {args[0]}({', '.join(_use(a) for a in args[1:])})"
    elif value.op == "rarely":
        called = f"{args[2]}({', '.join(_use(a) for a in args[3:])})"
        right = f"rarely {_use(args[0])} ? {called} : {_use(args[1])}"
    else:
        right = f"{value.op} {', '.join(_use(a) for a in args)}"
    return f"%{value.number}: {value.dtype} = {right}"


def _argument(argument: Value | Pointer | Reference) -> str:
    if isinstance(argument, Pointer):
        return f"&{argument.buffer}[{_use(argument.offset)}]"
    if isinstance(argument, Reference):
        return f"&({_use(argument.value)})"
    return _use(argument)


def _carried(statement: For | While) -> Iterator[str]:
    for each in statement.carried:
        how = f" by {each.combine}" if each.combine else ""
        yield (
            f"  carry %{each.param.number}: {each.param.dtype} = {_use(each.initial)}, "
            f"then {_use(each.following)}{how} -> %{each.result.number}"
        )


def _statement(statement: Statement, nodes: Sequence[str]) -> Iterator[str]:
    if isinstance(statement, Value):
        yield _value(statement)
    elif isinstance(statement, Store):
        yield f"store {statement.buffer}[{_use(statement.offset)}] = {_use(statement.value)}"
    elif isinstance(statement, Check):
        yield f"check {_use(statement.condition)} else {statement.site}"
    elif isinstance(statement, Alloc):
        lengths = f" [{', '.join(_use(n) for n in statement.lengths)}]" if statement.lengths else ""
        verb = "over" if statement.keeps else "reusing"
        reuse = f" {verb} {statement.reuse}" if statement.reuse is not None else ""
        buffer = statement.buffer
        yield f"alloc {buffer}: {buffer.dtype} x {_use(statement.size)}{lengths}{reuse}"
    elif isinstance(statement, Swap):
        yield f"swap {statement.first}, {statement.second}"
    elif isinstance(statement, Invoke):
        args = ", ".join(_argument(a) for a in statement.args)
        left = f"%{statement.result.number} = " if statement.result is not None else ""
        yield f"{left}invoke {statement.entry}({args})"
    else:
        yield from _nested(statement, nodes)


def _nested(statement: Any, nodes: Sequence[str]) -> Iterator[str]:
    if isinstance(statement, For):
        lanes = f" lanes {statement.lanes}" if statement.lanes > 1 else ""
        kind = " parallel" if statement.parallel else ""
        span = f"{_use(statement.start)}..{_use(statement.stop)}"
        yield f"for %{statement.index.number} in {span}{lanes}{kind}"
        yield from _carried(statement)
        yield from _block(statement.body, 1, nodes)
    elif isinstance(statement, While):
        yield "while"
        yield from _carried(statement)
        yield from _block(statement.test, 1, nodes)
        yield f"  holds {_use(statement.condition)}"
        yield from _block(statement.body, 1, nodes)
    else:
        results = [(f"%{r.number}", _use(a), _use(b)) for r, a, b in statement.results]
        names = ", ".join(r for r, _, _ in results)
        yield f"if {_use(statement.condition)}" + (f" -> {names}" if names else "")
        yield from _block(statement.then, 1, nodes)
        if results:
            yield f"  gives {', '.join(a for _, a, _ in results)}"
        yield "else"
        yield from _block(statement.orelse, 1, nodes)
        if results:
            yield f"  gives {', '.join(b for _, _, b in results)}"
