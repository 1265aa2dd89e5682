"""Contracts for import-linter about the imports between packages, also those that only type checkers read.

`Doors`: other packages import only the modules that a package's ``interface.txt`` names. Support for tests follows the others,
and may import any module. `LayersOfPackages`: packages import downward only.
"""

from __future__ import annotations

import functools
from pathlib import Path

import grimp
from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.contracts.layers import LayersContract

ROOT = Path(__file__).parents[1]


@functools.cache
def _graph_for_checkers(packages: tuple[str, ...]) -> ImportGraph:
    return grimp.build_graph(*packages, cache_dir=None, exclude_type_checking_imports=False)


def _with_imports_for_checkers(contract: Contract, graph: ImportGraph) -> ImportGraph:
    """The graph with the imports below ``if TYPE_CHECKING``, which inside of a package may lead upward."""
    packages = contract.session_options.get("root_packages")
    return _graph_for_checkers(tuple(packages)) if packages else graph


class LayersOfPackages(LayersContract):
    """The contract for layers, with the imports for type checkers."""

    type_name = "layers_of_packages"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        return super().check(_with_imports_for_checkers(self, graph), verbose)


class Doors(Contract):
    """Imports between packages lead to modules that their interfaces name; ``unbound`` are packages to which this does not apply."""

    type_name = "doors"
    unbound = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        graph = _with_imports_for_checkers(self, graph)
        texts = {
            page.parent.name: page.read_text() for page in ROOT.glob("packages/*/interface.txt")
        }
        doors = {line for text in texts.values() for line in text.splitlines() if line[:1] != " "}
        bound = {f"occelo_{name}" for name in texts} - {*self.unbound}
        around = [
            (importer, module)
            for module in sorted(graph.modules - doors)
            for importer in sorted(graph.find_modules_that_directly_import(module))
            if (package := module.partition(".")[0]) in bound
            and importer.partition(".")[0] not in {package, *self.unbound}
        ]
        return ContractCheck(kept=not around, metadata={"around": around})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, module in check.metadata["around"]:
            output.print_error(f"{importer} imports {module}, which is no door of its package")
        output.print_error("Import another module, or make it one: python docs/interfaces.py")
