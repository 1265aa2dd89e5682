"""The command ``occelo dump``. Its subcommands show, compare and run files that `occelo.function_dump` wrote."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, TypeGuard

import click

import occelo
from occelo.command.tables import print_table
from occelo_graph.tensors.sequences import is_sequence

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_trust = click.option(
    "--trust", is_flag=True, help="Load the file even if it is a pickle, which can run any code."
)


@click.group("dump", short_help="Inspect dumps of functions.")
def dump_app() -> None:
    """Inspect dumps of functions, files written by function_dump.

    Loading a dump that is a pickle can run any code, so it needs --trust; dumps written with format='safe' are safe to
    load.
    """


def _arguments(file: Path, trust: bool) -> dict[str, Any]:
    try:
        return occelo.load_dump(file, trust)
    except (ValueError, occelo.OcceloError) as error:
        raise click.BadParameter(str(error)) from None


def _listed(given: object) -> Sequence[Any]:
    if given is None:
        return []
    if _is_mapping(given):
        return list(given.values())
    return given if is_sequence(given) else [given]


def _is_mapping(given: object) -> TypeGuard[Mapping[Any, Any]]:
    return isinstance(given, Mapping)


def _variable(given: Any) -> Any:
    return given.variable if isinstance(given, occelo.In | occelo.Out) else given


def _pairs(given: Any) -> list[tuple[Any, Any]]:
    if given is None:
        return []
    items: Iterable[tuple[Any, Any]] = given.items() if _is_mapping(given) else given
    return list(items)


def _rows(arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Iterate over the arguments, except the outputs. Yields the name and the text of each."""
    for i, entry in enumerate(_listed(arguments["inputs"])):
        variable = _variable(entry)
        extra = f", {entry}" if isinstance(entry, occelo.In) else ""
        yield f"input {i}", f"{variable} {variable.type}{extra}"
    for variable, expression in _pairs(arguments.get("updates")):
        yield f"update of {variable}", str(expression)
    for variable, expression in _pairs(arguments.get("givens")):
        yield f"given for {variable}", str(expression)
    for name, value in arguments.items():
        if name not in ("inputs", "outputs", "updates", "givens") and value not in (None, False):
            yield name, str(value)


def _graph(arguments: dict[str, Any]) -> str:
    shown = [_variable(o) for o in _listed(arguments.get("outputs"))]
    shown += [e for _, e in _pairs(arguments.get("updates")) if isinstance(e, occelo.Variable)]
    if not shown:
        return ""
    text: str = occelo.debugprint(shown, file="str", print_type=True)
    return text


@dump_app.command()
@click.argument("file", type=FILE)
@_trust
def show(file: Path, trust: bool) -> None:
    """Show the arguments and the graph of a dump."""
    arguments = _arguments(file, trust)
    print_table(["argument", "value"], _rows(arguments))
    click.echo(_graph(arguments))


@dump_app.command()
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@_trust
def diff(first: Path, second: Path, trust: bool) -> None:
    """Show the differences between two dumps. The exit status is 1 if they differ."""
    texts: list[list[str]] = []
    for file in (first, second):
        arguments = _arguments(file, trust)
        rows = [f"{name}: {text}" for name, text in _rows(arguments)]
        texts.append([*rows, *_graph(arguments).splitlines()])
    one, other = texts
    changes = list(difflib.unified_diff(one, other, str(first), str(second), lineterm=""))
    for line in changes:
        click.echo(line)
    if not changes:
        click.echo("The dumps are alike")
    click.get_current_context().exit(int(bool(changes)))


@dump_app.command()
@click.argument("file", type=FILE)
@_trust
@click.option("--mode", help="Compile in this mode instead.")
@click.option(
    "--call/--no-call",
    default=True,
    help="Call the function as well, if it can be called without arguments.",
)
def run(file: Path, trust: bool, mode: str | None, call: bool) -> None:
    """Compile the function of a dump, and show how long each step took."""
    arguments = _arguments(file, trust)
    if mode is not None:
        arguments["mode"] = mode
    start = perf_counter()
    compiled: Any = occelo.function
    function: occelo.Function = compiled(**arguments)
    times = function.maker.times
    rows = [(s, f"{1e3 * getattr(times, s):.2f}") for s in ("collect", "rewrite", "link", "wrap")]
    rows.append(("in all", f"{1e3 * (perf_counter() - start):.2f}"))
    needed = [required for required, _, _ in function.defaults if required]
    said = f"{len(needed)} arguments are needed for a call"
    if call and not needed:
        start = perf_counter()
        said = f"result: {function()}"
        rows.append(("first call", f"{1e3 * (perf_counter() - start):.2f}"))
    print_table(["step", "ms"], rows)
    click.echo(said)
