"""Writes docs/errors/raised/*.md: an entry for each message of a raise statement that no page of docs/errors explains by hand.

``python docs/messages.py`` writes the pages, one for each package; a test compares them with the sources. An entry has the
message with ``...`` for its fields, the exception, the public names from which the raise is reached, what their docstrings
say of this exception, the kind of errors, and the entries that explain cases of it by hand. If one public name reaches it,
the entry shows a worked example of that name, and if a mistake of tests/mistakes/functions raises it, the first one. If there
is none of these, it says what docs/errors/advice.txt has about it.
Exceptions that the packages catch themselves are listed at the end of their page, with the module that catches them.
"""

from __future__ import annotations

import ast
import fnmatch
import functools
import inspect
import itertools
import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent / "site"))
sys.path.insert(0, str(Path(__file__).parent))
import interfaces
import inventory
import mistakes
import worked_examples
from workspace import CLIENTS, MEMBERS, ROOT

from occelo.command.messages import kind_of_package
from occelo.hints.explanations import Entry, entries_by_hand, entry_by_hand
from occelo_graph import Op

FOLDER = ROOT / "docs" / "errors" / "raised"
ADVICE = ROOT / "docs" / "errors" / "advice.txt"
LEAST = 12
"""Fixed letters with which a message says enough to be found; with fewer, it often passes on what something else says."""
PHRASE = re.compile(r"(?:\S*[A-Za-z]\S*\s+){2,}\S*[A-Za-z]")
"""Three words without a field between them say enough, too, if they have `LEAST_OF_PHRASE` letters."""
LEAST_OF_PHRASE = 8
PASSES_ON = ("explained", "at_node", "in_context", "with_arguments", "annotate_error")
"""Functions that return the exception they are given, with more about it."""
KINDS = {
    "IndexError": "Running", "RuntimeError": "Running", "LinAlgError": "Running", "OverflowError": "Running", "MemoryError": "Running",
    "TimeoutError": "Running", "ZeroDivisionError": "Running", "AxisError": "Axes", "AttributeError": "Names", "KeyError": "Names",
    "NotImplementedError": "MethodNotDefined",
}  # fmt: skip
"""The kinds of exceptions that are about one thing. Of others, the function or its package says one, or it is Arguments."""
NEAREST = 3
"""So many public names are listed, of those that are nearest to the raise."""
LONGEST = 8
"""Lines of a worked example that an entry shows."""
FAR = 8
"""A public name with more calls between it and the raise says nothing about it."""


class Raised(NamedTuple):
    """A raise of a message: the exception, the message with ``...`` for its fields, and the unit (`Sources.units`) that raises it."""

    exception: str
    message: str
    unit: tuple[str, str]
    kind: str


class Scope(NamedTuple):
    """Where an expression stands: the module, and the function around it, None outside of functions."""

    module: str
    function: ast.FunctionDef | None


def _product(parts: Iterable[list[str]]) -> list[str]:
    return ["".join(each) for each in itertools.islice(itertools.product(*parts), 8)]


class Sources:
    """The syntax trees of all packages, with what names mean in them."""

    def __init__(self) -> None:
        paths = interfaces.modules()
        self.trees = {m: ast.parse(path.read_text()) for m, path in sorted(paths.items())}
        self.units: dict[tuple[str, str], ast.stmt] = {}
        """The statements at the top of modules that bind a name, by module and name."""
        self.imported: dict[str, dict[str, tuple[str, str]]] = {m: {} for m in self.trees}
        for module, tree in self.trees.items():
            for statement in tree.body:
                for name in _bound(statement):
                    self.units[module, name] = statement
            for node in _statements(tree):
                if isinstance(node, ast.ImportFrom) and node.module:
                    for alias in node.names:
                        self.imported[module][alias.asname or alias.name] = (
                            node.module,
                            alias.name,
                        )

    def unit(self, module: str, name: str) -> tuple[str, str] | None:
        """What a name of a module is, after imports."""
        for _ in range(6):
            if (module, name) in self.units:
                return module, name
            if name not in self.imported.get(module, ()):
                return None
            module, name = self.imported[module][name]
        return None

    def of_call(self, func: ast.expr, module: str) -> tuple[str, str] | None:
        """The unit that is called, by its name or as an attribute of a module."""
        if isinstance(func, ast.Name):
            return self.unit(module, func.id)
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            owner = self.imported[module].get(func.value.id)
            if owner is not None:
                return self.unit(".".join(owner), func.attr)
        return None

    # -------------------------------------------------------------- messages

    def texts(self, node: ast.expr | None, scope: Scope, depth: int = 0) -> list[str]:
        """What an expression for a message may be, with ``...`` for what is not fixed."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return [node.value]
        if isinstance(node, ast.JoinedStr):
            return _product(self.texts(part, scope, 9) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return _product(self.texts(part, scope, depth) for part in (node.left, node.right))
        if isinstance(node, ast.IfExp):
            return [t for part in (node.body, node.orelse) for t in self.texts(part, scope, depth)]
        if isinstance(node, ast.Name) and scope.function is not None and depth < 4:
            values = [v for v in _assigned(scope.function, node.id)]
            return [t for v in values for t in self.texts(v, scope, depth + 1)] or ["..."]
        if isinstance(node, ast.Call) and depth < 4:
            return self._of_call(node, scope, depth)
        return ["..."]

    def _of_call(self, node: ast.Call, scope: Scope, depth: int) -> list[str]:
        if isinstance(node.func, ast.Name) and node.func.id == "lines":
            return self.texts(node.args[-1], scope, depth)  # the cause is the last line
        called = self._function(node.func, scope)
        if called is None:
            return ["..."]
        function, inner = called
        found = [
            text
            for value in _returned(function)
            for text in self.texts(value, Scope(inner, function), depth + 1)
        ]
        return found or ["..."]

    def _function(self, func: ast.expr, scope: Scope) -> tuple[ast.FunctionDef, str] | None:
        """The function of our own that is called, and its module; also a method of any class of the module called on ``self``."""
        if isinstance(func, ast.Attribute) and ast.unparse(func.value) == "self":
            for node in ast.walk(self.trees[scope.module]):
                if isinstance(node, ast.FunctionDef) and node.name == func.attr:
                    return node, scope.module
            return None
        unit = self.of_call(func, scope.module)
        statement = self.units.get(unit) if unit else None
        return (statement, unit[0]) if unit and isinstance(statement, ast.FunctionDef) else None

    def exceptions(
        self, node: ast.expr | None, scope: Scope, depth: int = 0
    ) -> Iterator[tuple[str, str, str]]:
        """The class, the message and the kind ("" if none is said) of each exception that an expression may be."""
        if isinstance(node, ast.IfExp):
            for part in (node.body, node.orelse):
                yield from self.exceptions(part, scope, depth)
        elif isinstance(node, ast.Name) and scope.function is not None and depth < 4:
            for value in _assigned(scope.function, node.id):
                yield from self.exceptions(value, scope, depth + 1)
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            first = node.args[0] if node.args else None
            if name in PASSES_ON:
                kind = node.args[-1] if name == "explained" else None
                said = str(kind.value) if isinstance(kind, ast.Constant) else ""
                for exception, text, inner in self.exceptions(first, scope, depth + 1):
                    yield exception, text, inner or said
            elif name[0].isupper() or name.lstrip("_")[:1].isupper():
                for text in self._of_class(node, scope):
                    yield name, text, ""
            elif depth < 4 and (called := self._function(node.func, scope)):
                function, module = called
                for value in _returned(function):
                    yield from self.exceptions(value, Scope(module, function), depth + 1)

    def _of_class(self, call: ast.Call, scope: Scope) -> list[str]:
        """The messages of an exception: the first argument, unless the class composes its own."""
        given = self.texts(call.args[0] if call.args else None, scope)
        unit = self.of_call(call.func, scope.module)
        statement = self.units.get(unit) if unit else None
        if unit and isinstance(statement, ast.ClassDef):
            for method in statement.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    parameters = {each.arg for each in method.args.args}
                    for node in ast.walk(method):
                        if (
                            isinstance(node, ast.Call)
                            and ast.unparse(node.func) == "super().__init__"
                            and node.args
                        ):
                            own = node.args[0]
                            if isinstance(own, ast.Name) and own.id in parameters:
                                return given
                            return self.texts(own, Scope(unit[0], method))
        return given

    def raised(self) -> Iterator[Raised]:
        """All raises of messages that say enough to be found."""
        for unit, statement in self.units.items():
            for scope, node in _raises(statement, Scope(unit[0], None)):
                for exception, text, kind in self.exceptions(node.exc, scope):
                    line = max(text.split("\n"), key=lambda each: len(each.replace("...", "")))
                    message = re.sub(r"(\.\.\.)+", "...", line.strip())
                    message = message.removeprefix(
                        "...: "
                    )  # an entry fits a message after any such words
                    if _says_enough(message):
                        yield Raised(exception, message, unit, kind or _said(statement))

    # -------------------------------------------------------------- who reaches a raise

    @functools.cached_property
    def used_by(self) -> dict[tuple[str, str], set[tuple[str, str]]]:
        """The units that name a unit."""
        found: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for unit, statement in self.units.items():
            for node in ast.walk(statement):
                if isinstance(node, ast.Name | ast.Attribute):
                    used = self.of_call(node, unit[0])
                    if used is not None and used != unit:
                        found.setdefault(used, set()).add(unit)
        return found

    @functools.cached_property
    def public(self) -> dict[tuple[str, str], inventory.Entry]:
        """The public names by the units that define them."""
        places = {
            id(value): (module, name)
            for module, name in self.units
            if (loaded := sys.modules.get(module)) is not None
            and (value := vars(loaded).get(name)) is not None
        }
        found: dict[tuple[str, str], inventory.Entry] = {}
        for entry in inventory.documented():
            if entry.kind in ("function", "class", "op"):
                value: Any = inspect.unwrap(entry.value) if callable(entry.value) else entry.value
                named = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
                unit = named if named in self.units else places.get(id(entry.value))
                if unit is not None:
                    found.setdefault(unit, entry)
        return found

    def reached_from(self, unit: tuple[str, str]) -> list[inventory.Entry]:
        """The public names with the fewest units between them and a unit."""
        seen, here = {unit}, {unit}
        for _ in range(FAR):
            names = [self.public[each] for each in here if each in self.public]
            if names:
                return sorted(names, key=lambda each: each.full)
            here = {user for each in here for user in self.used_by.get(each, ())} - seen
            seen |= here
        return []

    def is_internal(self, raised: Raised) -> bool:
        """Whether no call of a user ends with this exception."""
        return raised.exception in self.caught

    @functools.cached_property
    def caught(self) -> dict[str, list[str]]:
        """The modules that catch an exception of our own that has no public name, and raise no other for it, by its class."""
        public = {e.name for e in inventory.documented() if e.kind == "exception"}
        found: dict[str, list[str]] = {}
        for module, tree in self.trees.items():
            for node in _statements(tree):
                if not isinstance(node, ast.ExceptHandler) or node.type is None:
                    continue
                if "testing" in module or any(isinstance(n, ast.Raise) for n in _statements(node)):
                    continue
                for each in ast.walk(node.type):
                    own = self.of_call(each, module) if isinstance(each, ast.expr) else None
                    if own and own[1] not in public and isinstance(self.units[own], ast.ClassDef):
                        found.setdefault(own[1], []).append(module)
        return found


def _says_enough(message: str) -> bool:
    phrases = [part for part in message.split("...") if PHRASE.search(part.strip())]
    letters = [sum(map(str.isalpha, part)) for part in phrases]
    return sum(map(str.isalpha, message)) >= LEAST or max(letters, default=0) >= LEAST_OF_PHRASE


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return [statement.name]
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return [each.id for each in targets if isinstance(each, ast.Name)]
    return []


def _inside(node: ast.AST) -> Iterator[ast.AST]:
    """The statements, handlers and cases right inside a node that is no expression."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        yield from getattr(node, part, ())


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all statements inside: without expressions, which are most of a tree."""
    yield node
    for child in _inside(node):
        yield from _statements(child)


def _assigned(function: ast.FunctionDef, name: str) -> list[ast.expr]:
    """The values that a function gives a name."""
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id == name
    ]


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    return [
        n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value is not None
    ]


def _raises(node: ast.AST, scope: Scope) -> Iterator[tuple[Scope, ast.Raise]]:
    """The raise statements of a node, each with the function around it."""
    if isinstance(node, ast.FunctionDef):
        scope = scope._replace(function=node)
    if isinstance(node, ast.Raise) and node.exc is not None:
        yield scope, node
    for child in _inside(node):
        yield from _raises(child, scope)


def _said(statement: ast.stmt) -> str:
    """The kind of errors that a decorator of a function gives all of them."""
    for each in getattr(statement, "decorator_list", ()):
        if isinstance(each, ast.Call) and ast.unparse(each.func) == "explained_by":
            return str(ast.literal_eval(each.args[-1]))
    return ""


def _sentences(docstring: str, exception: str) -> str:
    """What a docstring says of an exception."""
    text = " ".join(docstring.split(">>>")[0].split())
    told = [s for s in re.split(r"(?<=[.:;]) (?=[A-Z])", text) if re.search(rf"\b{exception}\b", s)]
    return told[0] if told else ""


def _title(message: str, module: str, taken: set[str]) -> str:
    """The address of an entry: the first words of its message, as many as no other one begins with."""
    words = re.findall(r"[a-z0-9]+", message.replace("...", " ").replace("'", "").lower())
    for count in range(min(7, len(words)), len(words) + 1):
        if (title := "-".join(words[:count])) not in taken:
            return title
    name = module.rpartition(".")[2].replace("_", "-").strip("-")
    return next(
        t
        for n in itertools.count(1)
        if (t := "-".join([*words, name, *([str(n)] if n > 1 else [])])) not in taken
    )


def _kind(raised: Raised, names: list[inventory.Entry]) -> str:
    """The title of the kind of errors: what the raise says, or the exception, or the public function, or the package."""
    titles = {e.title.lower(): e.title for e in entries_by_hand().values() if not e.message}
    of_names = [str(vars(n.value).get("entry", "")) for n in names if hasattr(n.value, "__dict__")]
    package = kind_of_package(raised.unit[0].partition(".")[0])
    of_exception = KINDS.get(raised.exception, "")
    guesses = [raised.kind, raised.exception, of_exception, *of_names[:1], package, "Arguments"]
    return next(titles[each.lower()] for each in guesses if each and each.lower() in titles)


def _entry(title: str, places: list[Raised], sources: Sources, example: str) -> str:
    first = places[0]
    exceptions = " or ".join(dict.fromkeys(f"`{each.exception}`" for each in places))
    where = ", ".join(dict.fromkeys(f"`{'.'.join(each.unit)}`" for each in places[:NEAREST]))
    names = [name for place in places for name in sources.reached_from(place.unit)]
    names = list({name.full: name for name in names}.values())
    listed = ", ".join(f"`{name.full}`" for name in names[:NEAREST])
    more = " and others" if len(names) > NEAREST else ""
    by = f"{exceptions}, raised by {where}."
    if listed and listed != where:
        use = "uses" if len(names) == 1 else "use"
        by = f"{exceptions}, raised by {where}, which {listed}{more} {use}."
    kind = _kind(first, names)
    told = [
        f"`{name.full}` says: {said}"
        for name in names[:NEAREST]
        if (said := _sentences(name.docstring, first.exception))
    ]
    by_hand = ", ".join(
        f"[{e.title}]({os.path.relpath(e.page, 'errors/raised')}#{e.title})"
        for e in _cases(first.message)
    )
    cases = f"Cases of it are explained in {by_hand}." if by_hand else ""
    of_kind = f"The kind of error: [{kind}](../../errors.md#{kind.lower()})"
    works = _working(names[0].full) if len(names) == 1 else ""
    said = [*filter(None, [*told[:1], example, works, cases])] or [_advised(first)]
    parts = [f"## {title}", f"    {first.message}", by, *said, of_kind]
    return "\n\n".join(filter(None, parts)) + "\n"


@functools.cache
def advice() -> list[tuple[list[str], str]]:
    """The groups of `ADVICE`: their patterns, and what they say."""
    groups: list[tuple[list[str], str]] = []
    for group in ADVICE.read_text().split("\n\n")[1:]:
        lines = group.strip("\n").split("\n")
        patterns = [line for line in lines if not line.startswith(" ")]
        groups.append((patterns, "\n".join(line.strip() for line in lines[len(patterns) :])))
    return groups


def fits(pattern: str, place: Raised) -> bool:
    """Whether a pattern of `ADVICE` is about a raise."""
    words, star, unit = pattern, "...", place.message
    if pattern.startswith("raised by "):
        words, star, unit = pattern.removeprefix("raised by "), "*", ".".join(place.unit)
    parts = (part.replace("[", "[[]").replace("?", "[?]") for part in words.split(star))
    return fnmatch.fnmatchcase(unit, "*".join(parts))


def _advised(place: Raised) -> str:
    """What the first group of `ADVICE` that is about a raise says; ValueError if none is."""
    for patterns, text in advice():
        if any(fits(pattern, place) for pattern in patterns):
            return text
    raise ValueError(
        f"docs/errors/advice.txt must say what helps with {place.message!r}, of {'.'.join(place.unit)}: "
        "no mistake, no docstring and no page by hand does"
    )


def _working(name: str) -> str:
    """The first short worked example of a public name; "" if it has none."""
    short = (t for t in worked_examples.by_name().get(name, ()) if t.count("\n") <= LONGEST)
    text = next(short, "")
    return f"This works:\n\n```pycon\n{text}```" if text else ""


def _cases(message: str) -> list[Entry]:
    """The entries written by hand whose message is a case of a message, which says more of itself than others."""
    longest = max(message.split("..."), key=len)
    entry = Entry("", "", "", message)
    return [
        each
        for each in entries_by_hand().values()
        if each.message
        and longest in each.message
        and entry.fits(each.message.replace("...", "q7"))
    ]


def _examples(by_message: dict[str, list[Raised]]) -> dict[str, tuple[str, str]]:
    """The first mistake with public functions that raises each message, and what it raises; of messages that fit, by the longest.

    A mistake that an entry by hand explains as well is shown, too, where the exception is the same.
    """
    entries = [Entry("", "", "", message) for message in by_message]
    entries.sort(key=lambda each: -each.fixed)
    by_part = [(max(each.parts, key=len), each) for each in entries]
    shown: dict[str, tuple[str, str]] = {}
    for path in mistakes.files():
        for expression, raised in mistakes.read(path).items():
            exception, _, text = raised.partition(": ")
            fitting = (
                each.message
                for part, each in by_part
                if part in text
                and any(exception == place.exception for place in by_message[each.message])
                and each.fits(text)
            )
            if (message := next(fitting, None)) is not None:
                shown.setdefault(message, (expression, raised))
    return shown


def _names_in(expressions: Iterable[str]) -> str:
    """A sentence about the names of mistakes."""
    world = mistakes.world()
    used = {
        n.id for each in expressions for n in ast.walk(ast.parse(each)) if isinstance(n, ast.Name)
    }
    listed = [
        f"`{name}` is `{value.__name__}`"
        if inspect.ismodule(value)
        else f"`{name}` a variable of the type {value.type}"
        for name, value in world.items()
        if name in used
    ]
    return f"In the examples, {', '.join(listed)}." if listed else ""


@functools.cache
def read() -> Sources:
    """The sources as they are now."""
    return Sources()


def pages() -> dict[Path, str]:
    """The text of each page."""
    sources = read()
    order = {f"occelo_{name}": name for name in (*MEMBERS, *CLIENTS)} | {"occelo": "occelo"}
    by_message: dict[str, list[Raised]] = {}
    internal: dict[str, set[str]] = {}
    for each in sources.raised():
        if sources.is_internal(each):
            internal.setdefault(order[each.unit[0].partition(".")[0]], set()).add(each.exception)
        elif entry_by_hand(each.message.replace("...", "q7")) is None:
            by_message.setdefault(each.message, []).append(each)
    taken = {title.lower() for title in entries_by_hand()}
    examples = _examples(by_message)
    texts: dict[str, list[str]] = {}
    expressions: dict[str, list[str]] = {}
    for message, places in by_message.items():
        title = _title(message, places[0].unit[0], taken)
        taken.add(title)
        package = order[places[0].unit[0].partition(".")[0]]
        example = ""
        if message in examples:
            expression, raised = examples[message]
            expressions.setdefault(package, []).append(expression)
            example = f"```python quoted\n{expression}\n```\n\n```text\n{raised}\n```"
        texts.setdefault(package, []).append(_entry(title, places, sources, example))
    return {
        FOLDER / f"{name}.md": _page(
            name,
            _names_in(expressions.get(name, ())),
            texts.get(name, []),
            internal.get(name, set()),
            sources,
        )
        for name in order.values()
        if name in texts or name in internal
    }


@functools.cache
def by_op() -> dict[str, list[str]]:
    """What each public op raises, as a line for each message: those that its class reaches, or a base class but `Op`."""
    sources = read()
    listed: dict[str, dict[str, None]] = {}
    of_class: dict[type, list[str]] = {}
    for each in sources.raised():
        line = f"{each.exception}: {each.message}"
        module = sys.modules.get(each.unit[0])
        raiser: Any = vars(module).get(each.unit[1]) if module else None
        if isinstance(raiser, type):
            of_class.setdefault(raiser, []).append(line)
        for entry in sources.reached_from(each.unit):
            listed.setdefault(entry.full, {})[line] = None
    for entry in inventory.documented():
        if entry.kind == "op":
            for base in entry.value.__mro__[:-1]:
                if base is not Op:
                    listed.setdefault(entry.full, {}).update(dict.fromkeys(of_class.get(base, ())))
    return {name: [*lines] for name, lines in listed.items()}


def _page(name: str, names: str, listed: list[str], internal: set[str], sources: Sources) -> str:
    what = "the facade" if name == "occelo" else f"occelo-{name}"
    text = (
        f"# More messages of {what}\n\nWritten by `python docs/messages.py` from the sources; `...` stands for what "
        f"differs from case to case. {names}".rstrip()
        + "\n\n"
        + "\n".join(listed)
    )
    if internal:
        text += "\n---\n\nNo call of a user ends with these exceptions, so their messages have no entries:\n\n"
    for exception in sorted(internal):
        modules = ", ".join(f"`{m}`" for m in sorted({*sources.caught[exception]})[:NEAREST])
        text += f"- `{exception}`: caught by {modules}\n"
    return text


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    written = pages()
    for path, text in written.items():
        path.write_text(text)
    for old in {*FOLDER.glob("*.md")} - {*written}:
        old.unlink()
