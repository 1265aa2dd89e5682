"""Write docs/names-of-numpy-and-jax.md: the public names of NumPy and JAX, and why Occelo lacks those that it lacks.

    python docs/names_of_numpy_and_jax.py collect   where JAX is installed: list the names in names_of_numpy_and_jax.txt
    python docs/names_of_numpy_and_jax.py           where Occelo is installed: write the page
    python docs/names_of_numpy_and_jax.py check     the same, and fail if the page was not up to date

The public names of a module are those that ``dir`` gives and that do not begin with "_", without modules.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

from occelo.hints.array_names import MODULES, PLACES, REASONS

DOCS = Path(__file__).parent
NAMES = DOCS / "names_of_numpy_and_jax.txt"
PAGE = DOCS / "names-of-numpy-and-jax.md"


def collect() -> str:
    """A line for each module: its name and its public names."""
    warnings.simplefilter("ignore")
    lines = [
        f"# {', '.join(f'{n} {importlib.import_module(n).__version__}' for n in ('numpy', 'jax'))}"
    ]
    for place in PLACES:
        module = importlib.import_module(place)
        public = [n for n in dir(module) if n[0] != "_" and not _is_module(module, n)]
        lines.append(f"{place}: {' '.join(sorted(public))}")
    roots = [importlib.import_module(n) for n in ("numpy", "jax.numpy", "jax.nn")]
    modules = [
        f"{r.__name__}.{n}" for r in roots for n in dir(r) if n[0] != "_" and _is_module(r, n)
    ]
    lines.append(f"modules: {' '.join(sorted(modules))}")
    return "\n".join(lines) + "\n"


def _is_module(module: ModuleType, name: str) -> bool:
    return isinstance(getattr(module, name, None), ModuleType)


def read() -> dict[str, list[str]]:
    """The public names by module, as `collect` wrote them."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()[1:]
    return {place: names.split() for place, names in (line.split(":") for line in lines)}


def of_occelo(place: str) -> Any:
    """The namespace at a place, such as ``occelo.nn.initializers``, which is no module that can be imported by this name."""
    first, *rest = place.split(".")
    return reduce(getattr, rest, importlib.import_module(first))


def page() -> str:
    """The text of the page. RuntimeError if a name is missing without a reason, or a reason is of no missing name."""
    table: list[str] = []
    faults: list[str] = []
    used: set[str] = set()
    total = there = 0
    listed_names = read()
    modules = listed_names.pop("modules")
    faults += [f"{m} has no reason" for m in modules if m not in PLACES and m not in MODULES]
    for place, names in listed_names.items():
        module = of_occelo(PLACES[place])
        lacking = [name for name in names if not hasattr(module, name)]
        faults += [f"{place}.{name} has no reason" for name in lacking if name not in REASONS]
        total, there = total + len(names), there + len(names) - len(lacking)
        used |= set(lacking)
        by_reason: dict[str, list[str]] = {}
        for name in lacking:
            by_reason.setdefault(REASONS.get(name, ""), []).append(f"`{name}`")
        text = "; ".join(f"{' '.join(found)}: {reason}" for reason, found in by_reason.items())
        table.append(f"| `{place}` | `{PLACES[place]}` | {len(names)} | {text} |")
    listed = {name for names in listed_names.values() for name in names}
    faults += [f"{name} has a reason, but is there" for name in (set(REASONS) & listed) - used]
    if faults:
        raise RuntimeError("\n".join(sorted(faults)))
    version = NAMES.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return "\n".join(
        [
            "# Public names of NumPy and JAX",
            "",
            "Written by `python docs/names_of_numpy_and_jax.py`. [numpy.md](numpy.md) says what differs from NumPy.",
            "",
            f"The modules of {version} in the table have {total} public names, of which {there} are in the module of "
            "Occelo beside them. For the others the table says what to use, or why they are not.",
            "",
            "| module | in Occelo | names | not in Occelo |",
            "|---|---|---|---|",
            *table,
            "",
            "## Modules that Occelo does not have",
            "",
            "| module | why |",
            "|---|---|",
            *(f"| `{m}` | {MODULES[m]} |" for m in modules if m not in PLACES),
            "",
        ]
    )


def main(command: str) -> None:
    """Run the command."""
    if command == "collect":
        NAMES.write_text(collect(), encoding="utf-8")
        return
    text = page()
    if command == "check" and text != PAGE.read_text(encoding="utf-8"):
        raise SystemExit(f"{PAGE} is not up to date: run python docs/names_of_numpy_and_jax.py")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
