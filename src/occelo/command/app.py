"""The command line ``occelo``: all commands with their options. The other modules of this folder do the work of the
larger commands, and are imported by the commands that need them.

The script ``occelo`` and ``python -m occelo`` call `main`, and the script ``occelo-cache`` calls `cache_main`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

import occelo
from occelo.command.cache import cache_app
from occelo.command.dump import dump_app
from occelo.command.tables import print_table

PATH = click.Path(path_type=Path)


@click.group(context_settings={"show_default": True})
@click.version_option(occelo.__version__, message="%(version)s", help="Print the version.")
def app() -> None:
    """Occelo compiles symbolic tensor expressions. Start with `occelo demo`."""


app.add_command(cache_app)
app.add_command(dump_app)


@app.group("pytensor")
def pytensor_app() -> None:
    """Models of PyMC on Occelo (the extra occelo[pytensor])."""


@app.command(short_help="Train two classifiers of handwritten digits.")
@click.option("--mode", help="How to compile: a name that `occelo modes` lists.")
@click.option("--seed", default=0, help="Seed of the split, the start and the minibatches.")
@click.option(
    "--epochs", type=click.IntRange(1), default=40, help="Passes over the training images."
)
@click.option("--batch", type=click.IntRange(1), default=64, help="Images in a minibatch.")
@click.option("--hidden", type=click.IntRange(1), default=64, help="Hidden units of the network.")
@click.option(
    "--shuffle-labels",
    is_flag=True,
    help="Train on shuffled labels: there is then nothing to learn.",
)
@click.option("--plot", type=PATH, help="Write the loss curves to this file (PNG, SVG or PDF).")
@click.option("--graphs", is_flag=True, help="Print the graphs before and after.")
def demo(**options: Any) -> None:
    """Train two classifiers of handwritten digits, and show what compiling them took.

    The images are the 1,797 of 8 by 8 pixels that scikit-learn bundles. A softmax regression and a two-layer network
    are built as graphs and differentiated, and one training step of each is compiled. The time of a step is compared
    with that of the same step written by hand in NumPy.
    """
    from rich.console import Console

    from occelo.command.demo import DemoSettings, run_demo

    try:
        run_demo(DemoSettings(**options), Console())
    except (ModuleNotFoundError, ValueError) as error:
        raise click.BadParameter(str(error)) from None


@app.command(short_help="Write a page that shows how a graph is rewritten.")
@click.argument("graph")
@click.option("--page", type=PATH, default=Path("rewriting.html"), help="Where to write the page.")
@click.option("--open/--no-open", "open_page", default=True, help="Open the page in a browser.")
@click.option(
    "--optimizer", default="fast_run", help="Which rewrites: fast_run, fast_compile, strict, ..."
)
@click.option("--text", is_flag=True, help="Print the rules that led to each node as well.")
@click.option("--all-rules", is_flag=True, help="Print the rules that never applied, too.")
def explain(**options: Any) -> None:
    """Write a page that shows with a slider how a graph is rewritten, step by step, and where the time goes.

    GRAPH is a file written by occelo.save, or MODULE:NAME or FILE.py:NAME, a variable, a list of them or a compiled
    function.

    The page is self-contained. Each step shows the rule and its law, your line that made the node,
    and the graph before and after. The arrow keys go from step to step.
    """
    from occelo.command.explain import explain_graph

    try:
        explain_graph(**options)
    except BrokenPipeError:  # click ends quietly
        raise
    except (OSError, ImportError, ValueError, AttributeError, occelo.OcceloError) as error:
        raise click.BadParameter(str(error)) from None


@app.command("config", short_help="Show all options and their values.")
@click.argument("name", required=False)
def config_command(name: str | None) -> None:
    """Show all options, or that called NAME: the value of each, where it was set, and what the option means.

    The lines NAME=VALUE are in the form of OCCELO_FLAGS. Set options by OCCELO_FLAGS="name=value,name=value" or in the
    section [global] of ~/.occelorc.
    """
    options = [o for o in occelo.config.options() if name in (None, o.name)]
    if not options:
        occelo.config.get(str(name))  # raises an error that names the most similar option
    for option in options:
        origin = occelo.config.origin(option.name)
        where = "" if origin == "default" else f"  (from {origin})"
        click.secho(
            f"{option.name}={_flag(occelo.config.get(option.name))}{where}", bold=bool(where)
        )
        click.echo(textwrap.fill(option.doc, 80, initial_indent="    ", subsequent_indent="    "))


def _flag(value: object) -> str:
    """The value of an option as OCCELO_FLAGS takes it."""
    return value if isinstance(value, str) else repr(value)


@app.command(short_help="List the modes of compiling.")
def modes() -> None:
    """List the names that `function(mode=...)` and `occelo demo --mode` take."""
    from occelo_link.libraries import LIBRARIES, is_installed

    linkers = occelo.available_linkers()
    rows: list[tuple[str, ...]] = []
    for name in occelo.available_modes():
        if name in linkers:  # making the linker would import its library
            installed = "yes" if is_installed(name) else f"no: {LIBRARIES[name]} is missing"
            rows.append((name, name, "fast_run", installed))
        else:
            mode = occelo.get_mode(name)
            rows.append((name, str(mode.linker), str(mode.provided_optimizer), "yes"))
    print_table(["mode", "linker", "rewrites", "installed"], rows)


@app.command(short_help="Show what each backend compiles.")
@click.argument("graph", required=False)
@click.option(
    "--write",
    type=PATH,
    help="Compute the table of all ops and write it to this file, as Markdown.",
)
def backends(graph: str | None, write: Path | None) -> None:
    """Show which ops of a graph each backend does not compile but runs in Python.

    GRAPH is a file written by occelo.save, or MODULE:NAME or FILE.py:NAME of a variable or a list of them. Without
    it, show the share of all ops that each backend compiles, and which it does not.
    """
    from occelo.command.backends import show_backends

    try:
        show_backends(graph, write)
    except BrokenPipeError:  # click ends quietly
        raise
    except (OSError, ImportError, ValueError, AttributeError, occelo.OcceloError) as error:
        raise click.BadParameter(str(error)) from None


@app.command(short_help="Explain messages of errors.")
@click.argument("word", required=False)
def errors(word: str | None) -> None:
    """Explain the messages that name WORD, or all that contain it; list them without it."""
    from occelo.command.errors import show_errors

    try:
        show_errors(word)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@app.command()
def version() -> None:
    """Print the version."""
    click.echo(occelo.__version__)


@app.command(short_help="Print the script of a shell's completion.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    For bash, put the line eval "$(occelo completion bash)" into ~/.bashrc; for zsh the same into ~/.zshrc. For fish:
    occelo completion fish > ~/.config/fish/completions/occelo.fish
    """
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(app, {}, "occelo", "_OCCELO_COMPLETE").source())


@pytensor_app.command("doctor", short_help="Show how well a model is compiled.")
@click.argument("model")
def doctor_command(model: str) -> None:
    """Show what of a model would run in Python, what has no conversion, and where the time goes.

    MODEL is MODULE:NAME: a model of PyMC, or a function that makes one.
    """
    import importlib

    try:
        _ = importlib.import_module("occelo.pytensor").doctor  # names the extra if it is missing
        run: Any = importlib.import_module("occelo_pytensor.command").run_doctor
        click.echo(run(model))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise click.BadParameter(str(error)) from None


def main() -> None:
    """Run the command line. For an unknown option in OCCELO_FLAGS, print one line instead of a traceback."""
    _run(app, "occelo")


def cache_main() -> None:
    """Run ``occelo-cache``, which is the same as ``occelo cache``."""
    _run(cache_app, "occelo-cache")


def _run(commands: click.Command, name: str) -> None:
    try:
        commands(prog_name=name)
    except AttributeError as error:
        if not isinstance(error, occelo.OcceloError):
            raise
        raise SystemExit(str(error)) from None
