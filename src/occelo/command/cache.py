"""The command ``occelo cache``. Its subcommands list, check and delete the content of the compile directory."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from contextlib import nullcontext, suppress
from operator import attrgetter

import click

from occelo.cache import (
    Store,
    base_directory,
    compile_directory,
    entry_function,
    force_unlock,
)
from occelo.command.tables import print_table


@click.group(
    "cache",
    invoke_without_command=True,
    context_settings={"show_default": True},
    short_help="Inspect the compile directory.",
)
@click.pass_context
def cache_app(context: click.Context) -> None:
    """Inspect the compile directory, where compiled functions are kept.

    Without a command, print its path. Everything in it can be deleted: missing code is compiled again.
    """
    if context.invoked_subcommand is None:
        click.echo(compile_directory())


def _store() -> Store:
    return Store(compile_directory() / "cache")


def _size(size: int) -> str:
    return f"{size / 1e3:.1f} kB" if size < 1e6 else f"{size / 1e6:.2f} MB"


@cache_app.command("list", short_help="List the entries.")
@click.option("--count", type=click.IntRange(1), default=50, help="How many, the last used first.")
def list_entries(count: int) -> None:
    """List the entries, the most recently used first: of a function its name, of an object the code of one."""
    store = _store()
    entries = sorted(store.entries(), key=attrgetter("used"), reverse=True)
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
        click.echo(f"and {len(entries) - count} more; --count shows more")


def _age(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit} ago"
    return "just now" if seconds < 60 else "a minute ago"


@cache_app.command(short_help="Show numbers and sizes.")
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


@cache_app.command(short_help="Check every entry.")
def verify() -> None:
    """Check the digest, the key and the permissions of every entry.

    The exit status is 1 if a check fails. Functions do not use an entry that fails a check.
    """
    whole, broken = _store().verify()
    for path in broken:
        click.echo(f"not to be used: {path}")
    click.echo(f"{whole} whole, {len(broken)} not")
    click.get_current_context().exit(1 if broken else 0)


@cache_app.command()
def clear() -> None:
    """Delete all entries."""
    entries = list(_store().entries())
    few = len(entries) < 1000
    with nullcontext(entries) if few else click.progressbar(entries, label="deleting") as shown:
        for entry in shown:
            with suppress(OSError):  # another process has deleted the entry, or it can only be read
                os.unlink(entry.file)
    click.echo(f"deleted {len(entries)} entries")


@cache_app.command(short_help="Delete what is damaged or left over.")
def cleanup() -> None:
    """Delete damaged entries, and files that interrupted processes have left."""
    click.echo(f"deleted {_store().cleanup()} files")


@cache_app.command()
def unlock() -> None:
    """Remove the lock of the compile directory, whoever holds it."""
    force_unlock()
    click.echo(f"{compile_directory()} is not locked")


@cache_app.command(short_help="Delete the compile directory.")
@click.option(
    "--base", "everything", is_flag=True, help="All compile directories below the base directory."
)
def purge(everything: bool) -> None:
    """Delete the compile directory itself, with everything in it."""
    if everything:
        folders = [p for p in base_directory().glob("compiledir_*") if p.is_dir()]
    else:
        folders = [compile_directory()]
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        click.echo(f"deleted {folder}")
