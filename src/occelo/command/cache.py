"""The command ``occelo cache``. Its subcommands list, check and delete the content of the compile directory."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from contextlib import suppress
from typing import Annotated

import typer

from occelo.cache import (
    Store,
    base_directory,
    compile_directory,
    entry_function,
    force_unlock,
)
from occelo.command.tables import print_table

cache_app = typer.Typer(
    help="Inspect the compile directory, where compiled functions are kept. "
    "Without a command, print its path. Everything in it can be deleted: missing code is "
    "compiled again.",
    invoke_without_command=True,
)


def _store() -> Store:
    return Store(compile_directory() / "cache")


def _size(size: int) -> str:
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.2f} MB"


@cache_app.callback()
def directory(context: typer.Context) -> None:
    """Print the compile directory."""
    if context.invoked_subcommand is None:
        typer.echo(str(compile_directory()))


@cache_app.command("list")
def list_entries(
    count: Annotated[int, typer.Option(min=1, help="How many, the last used first.")] = 50,
) -> None:
    """List the entries, the most recently used first: of a function its name, of an object the code of one."""
    store = _store()
    entries = sorted(store.entries(), key=lambda e: -e.used)
    rows = [
        (
            entry.kind,
            entry_function(store, entry) or "",
            _age(time.time() - entry.used),
            _size(entry.size),
            entry.key[:12],
        )
        for entry in entries[:count]
    ]
    print_table(["kind", "function", "last used", "size", "key"], rows)
    if len(entries) > count:
        typer.echo(f"and {len(entries) - count} more; --count shows more")


def _age(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now" if seconds < 60 else "a minute ago"


@cache_app.command()
def stats() -> None:
    """Show the number and the size of the entries of each kind."""
    numbers: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for entry in _store().entries():
        numbers[entry.kind] += 1
        sizes[entry.kind] += entry.size
    rows = [(kind, str(numbers[kind]), _size(sizes[kind])) for kind in sorted(numbers)]
    rows.append(("all", str(numbers.total()), _size(sizes.total())))
    print_table(["kind", "entries", "size"], rows)


@cache_app.command()
def verify() -> None:
    """Check the digest, the key and the permissions of every entry.

    The exit status is 1 if a check fails. Functions do not use an entry that fails a check.
    """
    whole, broken = _store().verify()
    for path in broken:
        typer.echo(f"not to be used: {path}")
    typer.echo(f"{whole} whole, {len(broken)} not")
    raise typer.Exit(1 if broken else 0)


@cache_app.command()
def clear() -> None:
    """Delete all entries."""
    from rich.progress import track

    store = _store()
    entries = list(store.entries())
    for entry in track(entries, description="deleting", disable=len(entries) < 1000):
        with suppress(OSError):  # another process has deleted the entry, or it can only be read
            entry.path.unlink()
    typer.echo(f"deleted {len(entries)} entries")


@cache_app.command()
def cleanup() -> None:
    """Delete damaged entries, and files that interrupted processes have left."""
    typer.echo(f"deleted {_store().cleanup()} files")


@cache_app.command()
def unlock() -> None:
    """Remove the lock of the compile directory, whoever holds it."""
    force_unlock()
    typer.echo(f"{compile_directory()} is not locked")


@cache_app.command()
def purge(
    everything: Annotated[
        bool, typer.Option("--base", help="All compile directories below the base directory.")
    ] = False,
) -> None:
    """Delete the compile directory itself, with everything in it."""
    if everything:
        folders = [p for p in base_directory().glob("compiledir_*") if p.is_dir()]
    else:
        folders = [compile_directory()]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        typer.echo(f"deleted {folder}")
