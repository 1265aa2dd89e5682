"""Lengths that are known to be equal, in a region and in the regions around it."""

from __future__ import annotations

from occelo_link.loops.lowering import Context
from occelo_link.loops.program_state import ProgramState


def test_a_region_knows_its_own_equal_lengths_and_those_around_it() -> None:
    state = ProgramState("f")
    builder = state.builder
    lengths = [builder.param("int64", builder.block) for _ in range(40)]
    contexts: list[Context] = []
    for following, length in zip(lengths[1:], lengths, strict=False):
        context = Context(state, contexts[-1] if contexts else None)
        context.unify(following, length)
        contexts.append(context)
    for _ in range(2):  # the second search takes the shortcuts of the first one
        for depth, context in enumerate(contexts):
            last = lengths[depth + 1]
            assert [context.canonical(n) for n in lengths[: depth + 2]] == [last] * (depth + 2)
            rest = lengths[depth + 2 :]
            assert [context.canonical(n) for n in rest] == rest


def test_lengths_that_become_equal_after_a_search_have_one_representative() -> None:
    state = ProgramState("f")
    builder = state.builder
    a, b, c, d = (builder.param("int64", builder.block) for _ in range(4))
    outer = Context(state)
    outer.unify(b, a)
    inner, other = Context(state, outer), Context(state, outer)
    assert inner.canonical(a) is b
    inner.unify(c, a)
    assert inner.canonical(a) is inner.canonical(b) is c
    assert other.canonical(a) is outer.canonical(a) is b
    outer.unify(d, b)
    assert other.canonical(a) is other.canonical(b) is outer.canonical(a) is d
    assert other.canonical(c) is c


def test_a_search_through_many_regions_is_short_the_second_time() -> None:
    state = ProgramState("f")
    builder = state.builder
    context = Context(state)
    first = length = builder.param("int64", builder.block)
    for _ in range(40):
        following = builder.param("int64", builder.block)
        context.unify(following, length)
        context, length = Context(state, context), following
    context.canonical(first)
    assert context._same[first.number] is length  # pyright: ignore[reportPrivateUsage]  # the shortcut
