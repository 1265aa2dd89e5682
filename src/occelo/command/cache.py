"""The command ``occelo cache``. Its subcommands list, check and delete the content of the compile directory."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from contextlib import suppress
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from occelo.cache import Store, base_directory, compile_directory, force_unlock

cache_app = typer.Typer(
    help="Inspect the compile directory, where compiled functions are kept. "
    "Without a command, print its path. Everything in it can be deleted: missing code is "
    "compiled again.",
    invoke_without_command=True,
    add_completion=False,
)


def _store() -> Store:
    return Store(compile_directory() / "cache")


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.2f} MB"


@cache_app.callback()
def directory(context: typer.Context) -> None:
    """Print the compile directory."""
    if context.invoked_subcommand is None:
        typer.echo(str(compile_directory()))


@cache_app.command("list")
def list_entries(
    count: Annotated[int, typer.Option(min=1, help="How many, the last used first.")] = 50,
) -> None:
    """List the entries, the most recently used first."""
    table = Table("kind", "key", "size", "last used")
    listed = sorted(_store().entries(), key=lambda e: -e.used)
    for entry in listed[:count]:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
        table.add_row(entry.kind, entry.key, f"{entry.size / 1024:.1f} kB", used)
    Console().print(table)
    if len(listed) > count:
        typer.echo(f"and {len(listed) - count} more")


@cache_app.command()
def stats() -> None:
    """Show the number and the size of the entries of each kind."""
    numbers: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for entry in _store().entries():
        numbers[entry.kind] += 1
        sizes[entry.kind] += entry.size
    table = Table("kind", "entries", "size")
    for kind in sorted(numbers):
        table.add_row(kind, str(numbers[kind]), _megabytes(sizes[kind]))
    table.add_row("all", str(numbers.total()), _megabytes(sizes.total()))
    Console().print(table)


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
