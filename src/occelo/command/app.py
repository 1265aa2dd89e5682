"""The command line ``occelo``: all commands with their options. The other modules of this folder do the work of the
larger commands, and are imported by the commands that need them.

The script ``occelo`` and ``python -m occelo`` call `main`, and the script ``occelo-cache`` calls `cache_main`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated, Any

import typer

import occelo
from occelo.command.cache import cache_app
from occelo.command.dump import dump_app
from occelo.command.tables import print_table

app = typer.Typer(
    help="Occelo compiles symbolic tensor expressions. Start with `occelo demo`.",
    no_args_is_help=True,
    # help with Rich would take as long to import as all of occelo
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.add_typer(cache_app, name="cache")
app.add_typer(dump_app, name="dump")
pytensor_app = typer.Typer(
    help="Models of PyMC on Occelo (the extra occelo[pytensor]).", no_args_is_help=True
)
app.add_typer(pytensor_app, name="pytensor")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(occelo.__version__)
        raise typer.Exit


@app.callback()
def occelo_command(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Occelo compiles symbolic tensor expressions. Start with `occelo demo`."""


@app.command()
def demo(
    mode: Annotated[
        str | None, typer.Option(help="How to compile: a name that `occelo modes` lists.")
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Seed of the split, the start and the minibatches.")
    ] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training images.")] = 40,
    batch: Annotated[int, typer.Option(min=1, help="Images in a minibatch.")] = 64,
    hidden: Annotated[int, typer.Option(min=1, help="Hidden units of the network.")] = 64,
    shuffle_labels: Annotated[
        bool, typer.Option(help="Train on shuffled labels: there is then nothing to learn.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Write the loss curves to this file (PNG, SVG or PDF).")
    ] = None,
    graphs: Annotated[bool, typer.Option(help="Print the graphs before and after.")] = False,
) -> None:
    """Train two classifiers of handwritten digits, and show what compiling them took.

    The images are the 1,797 of 8 by 8 pixels that scikit-learn bundles. A softmax regression and a two-layer network
    are built as graphs and differentiated, and one training step of each is compiled. The time of a step is compared
    with that of the same step written by hand in NumPy.
    """
    from rich.console import Console

    from occelo.command.demo import DemoSettings, run_demo

    settings = DemoSettings(
        mode=mode,
        seed=seed,
        epochs=epochs,
        batch=batch,
        hidden=hidden,
        shuffle_labels=shuffle_labels,
        plot=plot,
        graphs=graphs,
    )
    try:
        run_demo(settings, Console())
    except (ModuleNotFoundError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None


@app.command()
def explain(
    graph: Annotated[
        str,
        typer.Argument(
            help="A file written by occelo.save, or MODULE:NAME or FILE.py:NAME, a variable, a list "
            "of them or a compiled function."
        ),
    ],
    page: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("rewriting.html"),
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
    optimizer: Annotated[
        str, typer.Option(help="Which rewrites: fast_run, fast_compile, strict, ...")
    ] = "fast_run",
    text: Annotated[
        bool, typer.Option(help="Print the rules that led to each node as well.")
    ] = False,
    all_rules: Annotated[
        bool, typer.Option("--all-rules", help="Print the rules that never applied, too.")
    ] = False,
) -> None:
    """Write a page that shows with a slider how a graph is rewritten, step by step, and where the time goes.

    The page is self-contained. Each step shows the rule and its law, your line that made the node,
    and the graph before and after. The arrow keys go from step to step.
    """
    from rich.console import Console

    from occelo.command.explain import explain_graph

    try:
        explain_graph(graph, page, open_page, optimizer, text, all_rules, Console())
    except (OSError, ImportError, ValueError, AttributeError, occelo.OcceloError) as error:
        raise typer.BadParameter(str(error)) from None


@app.command("config")
def config_command(
    name: Annotated[str | None, typer.Argument(help="One option; all of them if left out.")] = None,
) -> None:
    """Show all options: the value of each, where it was set, and what the option means.

    The lines NAME=VALUE are in the form of OCCELO_FLAGS. Set options by OCCELO_FLAGS="name=value,name=value" or in the section [global] of ~/.occelorc.
    """
    options = [o for o in occelo.config.options() if name in (None, o.name)]
    if not options:
        occelo.config.get(str(name))  # raises an error that names the most similar option
    for option in options:
        origin = occelo.config.origin(option.name)
        where = "" if origin == "default" else f"  (from {origin})"
        typer.secho(
            f"{option.name}={_flag(occelo.config.get(option.name))}{where}", bold=bool(where)
        )
        typer.echo(textwrap.fill(option.doc, 80, initial_indent="    ", subsequent_indent="    "))


def _flag(value: object) -> str:
    """The value of an option as OCCELO_FLAGS takes it."""
    return value if isinstance(value, str) else repr(value)


@app.command()
def modes() -> None:
    """List the names that `function(mode=...)` and `occelo demo --mode` take."""
    from occelo_link.capabilities import is_installed
    from occelo_link.libraries import LIBRARIES

    rows: list[tuple[str, ...]] = []
    for name in occelo.available_modes():
        if name in LIBRARIES:  # a linker that imports its library, which takes seconds
            installed = "yes" if is_installed(name) else f"no: {LIBRARIES[name]} is missing"
            rows.append((name, name, "fast_run", installed))
        else:
            mode = occelo.get_mode(name)
            rows.append((name, str(mode.linker), str(mode.provided_optimizer), "yes"))
    print_table(["mode", "linker", "rewrites", "installed"], rows)


@app.command()
def backends(
    graph: Annotated[
        str | None,
        typer.Argument(
            help="A file written by occelo.save, or MODULE:NAME or FILE.py:NAME of a variable or a "
            "list of them; all ops if left out."
        ),
    ] = None,
    write: Annotated[
        Path | None, typer.Option(help="Write the table of all ops to this file, as Markdown.")
    ] = None,
) -> None:
    """Show which ops of a graph each backend does not compile but runs in Python.

    Without a graph, show the share of all ops that each backend compiles, and which it does not.
    """
    from occelo.command.backends import show_backends

    try:
        show_backends(graph, write)
    except (OSError, ImportError, ValueError, AttributeError, occelo.OcceloError) as error:
        raise typer.BadParameter(str(error)) from None


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(occelo.__version__)


@pytensor_app.command("doctor")
def doctor_command(
    model: Annotated[
        str, typer.Argument(help="MODULE:NAME: a model of PyMC, or a function that makes one.")
    ],
) -> None:
    """Show what of a model would run in Python, what has no conversion, and where the time goes."""
    import importlib

    try:
        _ = importlib.import_module("occelo.pytensor").doctor  # names the extra if it is missing
        run: Any = importlib.import_module("occelo_pytensor.command").run_doctor
        typer.echo(run(model))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise typer.BadParameter(str(error)) from None


def main() -> None:
    """Run the command line. For an unknown option in OCCELO_FLAGS, print one line instead of a traceback."""
    _run(app)


def cache_main() -> None:
    """Run ``occelo-cache``, which is the same as ``occelo cache``."""
    _run(cache_app)


def _run(commands: typer.Typer) -> None:
    try:
        commands()
    except AttributeError as error:
        if not isinstance(error, occelo.OcceloError):
            raise
        raise SystemExit(str(error)) from None
