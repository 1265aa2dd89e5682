"""Adds bounds checks to a loop program, for loads, stores and calls of BLAS or LAPACK on buffers of known size.

`loops.build` calls `with_bounds_checks` under the option ``check_bounds``, which helps to find errors in lowerings.
Programs with these checks are slow, since their loops are not vectorized.
"""

from __future__ import annotations

import numpy as np

from occelo_link.loops.ir import program as ir
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.extents import extents_of
from occelo_link.loops.ir.operations import OPERATIONS
from occelo_link.loops.ir.visitor import Visitor


def with_bounds_checks(program: ir.Program, builder: Builder) -> ir.Program:
    """Add a check to a program before each load, each store and each call of a library. The program is changed in
    place.

    ``builder`` must be the builder that made the program. For each node with checks, an error site is appended to the
    sites of the program.
    """
    _Checker(program, builder).run()
    return program


class _Checker(Visitor[None]):
    """Fills the blocks of a program again with their statements, and adds checks.

    ``into`` is the block to which statements are appended.
    """

    def __init__(self, program: ir.Program, builder: Builder) -> None:
        self.builder = builder
        self.program = program
        self.sites: dict[int, int] = {}
        self.sizes: dict[ir.Buffer, ir.Value | None] = {}
        self.into = program.body

    def run(self) -> None:
        program, builder = self.program, self.builder
        body = program.body
        before, body.statements = body.statements, []
        body.known.clear()
        builder.stack = [body]
        for buffer in program.inputs:
            lengths = [builder.input_length(buffer, axis) for axis in range(buffer.ndim)]
            each = np.dtype(buffer.holds).itemsize // ir.itemsize(buffer.dtype)
            self.sizes[buffer] = builder.product([*lengths, builder.i64(each)])
        self.block(body, before)

    def block(self, block: ir.Block, statements: list[ir.Statement]) -> None:
        """Append statements, with their checks, to a block."""
        outer, self.into = self.into, block
        block.statements = [*block.statements]
        for statement in statements:
            self.statement(statement)
        self.into = outer

    def add(self, statement: ir.Statement, /) -> None:
        self.into.statements.append(statement)

    def value(self, value: ir.Value) -> None:
        if value.op == "load":
            self.check_access(value.args[0], value.args[1], value.node)
        self.add(value)

    def store(self, statement: ir.Store) -> None:
        self.check_access(statement.buffer, statement.offset, statement.node)
        self.add(statement)

    def invoke(self, statement: ir.Invoke) -> None:
        self.check_call(statement)
        self.add(statement)

    def alloc(self, statement: ir.Alloc) -> None:
        self.add(statement)
        self.sizes[statement.buffer] = statement.size

    def swap(self, statement: ir.Swap) -> None:
        self.add(statement)
        pair = statement.first, statement.second
        sizes = [self.sizes[b] for b in pair]
        self.sizes.update(zip(pair, reversed(sizes), strict=True))

    def branch(self, statement: ir.If | ir.While) -> None:
        self.add(statement)
        for block in statement.blocks:
            self.inner(block)

    check = add
    while_loop = branch

    def inner(self, block: ir.Block) -> None:
        """Copy a block of a branch or of a while loop, with checks.

        It is not known whether the block runs, so the sizes of buffers that it allocates or swaps are unknown afterwards.
        """
        before = dict(self.sizes)
        self.refilled(block)
        changed = (b for b, size in self.sizes.items() if before.get(b) is not size)
        self.sizes = {**before, **dict.fromkeys(changed)}

    def refilled(self, block: ir.Block) -> None:
        statements, block.statements = block.statements, []
        self.block(block, statements)

    def loop(self, loop: ir.For) -> None:
        """Copy a loop, with checks. If the loop swaps buffers, the sizes of these buffers become carried scalars."""
        self.add(loop)
        loop.lanes = 1
        swaps = [s for s in loop.body if isinstance(s, ir.Swap)]
        before = dict(self.sizes)
        carried: dict[ir.Buffer, ir.Carried] = {}
        for buffer in dict.fromkeys(b for s in swaps for b in (s.first, s.second)):
            param = self.builder.fresh("int64", "param", (), loop.body)
            result = self.builder.fresh("int64", "param", (), self.into)
            initial = self.sizes.get(buffer) or self.builder.i64(0)
            carried[buffer] = ir.Carried(param, initial, param, result)
            before[buffer], self.sizes[buffer] = result, param
        loop.carried += carried.values()
        inside = dict(self.sizes)
        self.refilled(loop.body)
        for buffer, each in carried.items():
            each.following = self.sizes[buffer] or each.param
        changed = (b for b, size in self.sizes.items() if inside.get(b) is not size)
        self.sizes = {**before, **dict.fromkeys(b for b in changed if b not in carried)}

    def site(self, node: int) -> int:
        """The number of the error site for all memory accesses of a node."""
        if node not in self.sites:
            sites, nodes = self.program.sites, self.program.nodes
            self.sites[node] = len(sites)
            sites.append(nodes[node] if node >= 0 else None)
        return self.sites[node]

    def size(self, buffer: ir.Buffer) -> ir.Value | None:
        """The number of elements of a buffer, or None if it is not known."""
        if buffer.space == "constant":
            return self.builder.i64(int(self.program.constants[int(buffer.entry[8:])].size))
        return self.sizes.get(buffer)

    def operation(self, name: str, *args: ir.Value, dtype: str | None = None) -> ir.Value:
        """Append an operation to the current block, and return its result."""
        gives = OPERATIONS[name].gives if dtype is None else dtype
        kind = args[-1].dtype if gives == "same" else gives
        value = self.builder.fresh(kind, name, args, self.into)
        self.add(value)
        return value

    def check_access(self, buffer: ir.Buffer, offset: ir.Value, node: int) -> None:
        size, run = self.size(buffer), self.operation
        if size is None:
            return
        inside = run("and", run("le", self.builder.i64(0), offset), run("lt", offset, size))
        self.add(ir.Check(inside, self.site(node), node))

    def check_call(self, call: ir.Invoke) -> None:
        """Check all memory that a call of a library function will access."""
        run, zero = self.operation, self.builder.i64(0)
        for extent in extents_of(call, run, self.builder.i64) or ():
            site = self.site(call.node)
            self.add(ir.Check(extent.valid, site, call.node))
            size, offset = self.size(extent.pointer.buffer), extent.pointer.offset
            if size is None:
                continue
            end = run("add", offset, extent.count)
            inside = run("and", run("le", zero, offset), run("le", end, size))
            fine = run("or", run("eq", extent.count, zero), inside)
            self.add(ir.Check(fine, site, call.node))
