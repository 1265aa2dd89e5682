"""The classes of variables and nodes, of which all graphs consist: `Variable`, `Constant` and `Apply`.

All packages use these classes. The classes of tensor variables are in `tensors.variable`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from types import CodeType, GenericAlias, SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from occelo_graph import provenance
from occelo_graph.errors import formula_of, without_address
from occelo_graph.ir.types import Type
from occelo_graph.notebook import Shown
from occelo_graph.provenance import Mark, Source, called_by_user, warn_user
from occelo_graph.upward import debugprint, variable_eval

if TYPE_CHECKING:
    from typing_extensions import TypeIs, TypeVar

    from occelo_graph.ir.op import Op

    OpT = TypeVar("OpT", bound="Op", covariant=True, default="Op")
    VariableT = TypeVar("VariableT", bound="Variable", covariant=True, default="Variable")
else:
    # Python 3.11 has no defaults of type variables
    from typing import TypeVar

    OpT, VariableT = TypeVar("OpT"), TypeVar("VariableT")

_auto_names = itertools.count()
_MOST_SHOWN = 12


def _without_code(state: Any, slot: str, source: Source | None) -> Any:
    """The state of an object for pickling, with ``source`` in the attribute ``slot`` instead of a code object.

    Code objects cannot be pickled.
    """
    shared, slots = state
    return shared, {**slots, slot: source}


def _shallow_copy(value: Any) -> Any:
    state: Any = object.__getstate__(value)
    attributes: dict[str, Any] = state[0] or {}
    slots: dict[str, Any] = state[1]
    copy: Any = object.__new__(value.__class__)
    for name, each in {**slots, **attributes}.items():
        setattr(copy, name, each)
    return copy


def _check_name(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"The name of a variable must be a string, got {name!r}")


def _check_inputs(values: Sequence[object]) -> None:
    for value in values:
        if not isinstance(value, Variable):
            raise TypeError(f"The inputs of a node must be variables, got {value!r}")


class _Tagged:
    """What variables and nodes share: a place for notes about them."""

    __slots__ = ("_tag",)

    _tag: SimpleNamespace | None

    @property
    def tag(self) -> SimpleNamespace:
        """A namespace in which users and rewriters store notes about the variable or the node. It is made at its first use."""
        if self._tag is None:
            self._tag = SimpleNamespace()
        return self._tag

    @tag.setter
    def tag(self, tag: SimpleNamespace) -> None:
        self._tag = tag

    @property
    def has_tag(self) -> bool:
        """Whether `tag` was made."""
        return self._tag is not None


class Variable(_Tagged, Shown):
    """A symbolic value of a graph.

    ``owner`` is the node that computes the variable (None for a root), and ``index`` is its position among the outputs
    of this node. Variables are compared by identity. TypeError if the name is no string.
    """

    __slots__ = ("__weakref__", "_auto_name", "_name", "_where", "index", "owner", "type")

    type: Type
    owner: Apply | None
    index: int | None

    def __eq__(self, other: object) -> bool:
        if type(other) in (int, float, complex) and called_by_user():
            warn_user(
                f"== and != compare variables by identity, so {formula_of(self)} == {other} is False; write eq or neq "
                "(ot.eq, ot.neq) to compare elements"
            )
        return NotImplemented

    __hash__ = object.__hash__

    def __init__(
        self,
        type: Type,
        owner: Apply | None = None,
        index: int | None = None,
        name: str | None = None,
    ) -> None:
        self.type = type
        self.owner = owner
        self.index = index
        self._tag = None
        self._auto_name: str | None = None
        self._where: Mark | Source | None = provenance.here() if owner is None else None
        if name is not None:
            _check_name(name)
        self._name = name

    @property
    def name(self) -> str | None:
        """The name that the user gave to the variable, or None."""
        return self._name

    @name.setter
    def name(self, name: str | None) -> None:
        if name is not None:
            _check_name(name)
        self._name = name

    @property
    def auto_name(self) -> str:
        """A name that no other variable of this process has. It is made at its first use."""
        if self._auto_name is None:
            self._auto_name = f"auto_{next(_auto_names)}"
        return self._auto_name

    @property
    def source(self) -> Source | None:
        """The line of the user's code that made the variable."""
        mark = self._where
        if mark is None and self.owner is not None:
            mark = self.owner.mark
        return provenance.source_of(mark)

    def set_mark(self, mark: Mark | Source | None) -> None:
        """Set the line that `source` returns. Functions that rebuild graphs call this method."""
        self._where = mark

    @property
    def mark(self) -> Mark | Source | None:
        """The mark from which `source` is computed (see `provenance`)."""
        if self._where is None and self.owner is not None:
            return self.owner.mark
        return self._where

    @property
    def owner_op(self) -> Op | None:
        """The op that computes the variable, or None."""
        return None if self.owner is None else self.owner.op

    @property
    def owner_op_and_inputs(self) -> tuple[Op | Variable | None, ...]:
        """The op of the owner, followed by the owner's inputs. ``(None,)`` for a root."""
        return (None,) if self.owner is None else (self.owner.op, *self.owner.inputs)

    def get_parents(self) -> list[Apply]:
        """The node that computes the variable, in a list; an empty list for a root."""
        return [] if self.owner is None else [self.owner]

    def clone(self, name: str | None = None) -> Any:
        """A root variable with the type, name and tag of this one. ``name`` replaces the name."""
        copy = self.type.make_variable(self._name if name is None else name)
        copy.set_mark(self.mark)
        if self._tag is not None:
            copy.tag = SimpleNamespace(**vars(self._tag))
        return copy

    def eval(self, inputs_to_values: dict[Any, Any] | None = None, **options: Any) -> Any:
        """Compute the value of the variable. ``inputs_to_values`` maps variables, or their names, to values.

        `UnusedInputError` for a variable that is not needed, unless the option ``on_unused_input`` is "ignore" or
        "warn".
        """
        return variable_eval(self, inputs_to_values, **options)

    def dprint(self, **options: Any) -> Any:
        """Print the graph of the variable. See `debugprint`."""
        return debugprint(self, **options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self.owner is None or type(self).__reduce__ is not object.__reduce__:
            return super().__reduce_ex__(protocol)
        from occelo_graph.ir.pickling import reduced

        return reduced(self)

    def __copy__(self) -> Any:
        return _shallow_copy(self)

    def __getstate__(self) -> Any:
        return _without_code(super().__getstate__(), "_where", provenance.source_of(self._where))

    def __str__(self) -> str:
        if self._name is not None:
            return self._name
        if self.owner is not None:
            if len(self.owner.outputs) == 1 or self.index == self.owner.op.default_output:
                return f"{self.owner.op}.out"
            return f"{self.owner.op}.{self.index}"
        return f"<{self.type}>"

    def __repr__(self) -> str:
        text = str(self)
        return text if text == f"<{self.type}>" else f"<{text}: {self.type}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self) if cycle else str(debugprint(self, file="str")).rstrip())


class AtomicVariable(Variable):
    """Base class of variables that no node ever computes: constants and inputs of inner graphs. TypeError if the name is no string."""

    __slots__ = ()

    def __init__(self, type: Type, name: str | None = None) -> None:
        super().__init__(type, None, None, name)

    def signature(self) -> tuple[Any, ...]:
        """A hashable key. Variables with equal keys always have the same value."""
        raise NotImplementedError(f"{type(self).__name__} has no signature")

    def equals(self, other: object) -> bool:
        """Whether ``other`` always has the same value as this variable."""
        return isinstance(other, AtomicVariable) and self.signature() == other.signature()

    def clone(self, name: str | None = None) -> Any:
        return self


class Constant(AtomicVariable):
    """A variable with a fixed value, ``data``. The value is never changed in place. TypeError if ``type`` does not accept ``data``."""

    __slots__ = ("data",)

    def __init__(self, type: Type, data: Any, name: str | None = None) -> None:
        super().__init__(type, name)
        self.data = type.accept(data)

    @property
    def value(self) -> Any:
        """Another name of ``data``."""
        return self.data

    def signature(self) -> tuple[Any, ...]:
        """A key of equal constants: the type and the value. For values made of arrays, it has the arrays' bytes."""
        if self.type.parts() is None:
            return (self.type, self.data)
        parts = self.type.to_parts(self.data)
        return (self.type, *((part.shape, part.tobytes()) for part in parts))

    def __str__(self) -> str:
        if self._name is not None:
            return self._name
        data = self.data
        if getattr(data, "size", 0) > 8 and hasattr(data, "flat"):
            # three elements only, since to format a large array takes long
            ends = (str(each) for each in (data.flat[0], data.flat[1], data.flat[data.size - 1]))
            first, second, last = (text[:9] for text in ends)
            return f"[{first} {second} ... {last}]"
        if getattr(data, "shape", None) == ():
            data = data[()]  # NumPy formats a scalar faster than an array without dimensions
        text = without_address(" ".join(str(data).split()))
        return text if len(text) <= 30 else text[:14] + " ... " + text[-10:]


class NominalVariable(AtomicVariable):
    """An input of a frozen graph, which is identified by its position ``id`` and its type.

    There is only one object for each position and type, so equal frozen graphs have the same inputs. The class of the
    object is `Type.nominal_class`, so nominal tensors have the methods of tensors. TypeError without a type.
    """

    __slots__ = ("id",)
    _interned: ClassVar[dict[tuple[int, Type], NominalVariable]] = {}
    id: int

    def __new__(cls, id: int, type: Type) -> NominalVariable:
        nominal = cls._interned.get((id, type))
        if nominal is None:
            own_class: Any = type.nominal_class or cls
            nominal = super().__new__(own_class)
            cls._interned[id, type] = nominal
        return nominal

    def __init__(self, id: int, type: Type) -> None:
        if not hasattr(self, "id"):
            super().__init__(type, f"i{id}")
            self.id = id

    def signature(self) -> tuple[Any, ...]:
        return (self.id, self.type)

    def __reduce__(self) -> tuple[Any, ...]:
        return NominalVariable, (self.id, self.type)


class _Recording(threading.local):
    """The open lists of `nodes_made`, for each thread. Each new node of the thread is added to these lists."""

    lists: tuple[list[AnyApply], ...] = ()


_recording = _Recording()


class nodes_made:  # a class, since derivatives open many, and `contextmanager` takes ten times as long
    """A context manager that returns a list. Nodes that this thread makes in the ``with`` block are added to it."""

    __slots__ = ("_before",)

    def __enter__(self) -> list[AnyApply]:
        nodes: list[AnyApply] = []
        self._before = _recording.lists
        _recording.lists = (*self._before, nodes)
        return nodes

    def __exit__(self, *_: object) -> None:
        _recording.lists = self._before


class Apply(_Tagged, Generic[OpT, VariableT]):
    """A node: one application of an op to inputs, with its outputs.

    The node also records the line of the user's code that made it. ValueError if an output already belongs to another
    node.

    For type checkers the class has two parameters: the class of the op and the class of the variables. So
    ``Apply[Join]`` is a node with a join as its op, and ``Apply`` is a node with any op. `TensorApply` is a node whose
    variables are all tensors.
    """

    __slots__ = ("__weakref__", "_code", "_offset", "inputs", "op", "outputs")

    if not TYPE_CHECKING:
        # ``Generic`` would refuse ``Apply[Join]``, since at run time the type variables have no defaults
        __class_getitem__ = classmethod(GenericAlias)

    op: OpT
    inputs: list[VariableT]
    outputs: list[VariableT]

    def __init__(self, op: OpT, inputs: Sequence[VariableT], outputs: Iterable[VariableT]) -> None:
        self.op = op
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self._tag = None
        # the mark is stored in two slots: a tuple for each node would be another object for the garbage collector
        frame = provenance.user_frame(2)
        self._code: CodeType | Source | None = None if frame is None else frame.f_code
        self._offset = 0 if frame is None else frame.f_lasti
        _check_inputs(self.inputs)
        for index, variable in enumerate(self.outputs):
            if variable.owner is None:
                variable.owner = self
                variable.set_mark(None)  # `source` then returns the line of the node
                variable.index = index
            elif variable.owner is not self or variable.index != index:
                raise ValueError(f"{variable} already is an output of another node")
        for record in _recording.lists:
            record.append(self)

    @classmethod
    def of_types(
        cls: type[Apply], op: Op, inputs: Sequence[Variable], types: Sequence[Type]
    ) -> Apply:
        """Make a node with new outputs of these types, without checks of ``inputs``. `Op.make_node` calls it."""
        node = cls.__new__(cls)
        node.op = op
        node.inputs = list(inputs)
        node._tag = None
        frame = provenance.user_frame(3)
        if frame is None:
            node._code = None
            node._offset = 0
        else:
            node._code = frame.f_code
            node._offset = frame.f_lasti
        node.outputs = [t.make_output(node, i) for i, t in enumerate(types)]
        for record in _recording.lists:
            record.append(node)
        return node

    @property
    def mark(self) -> Mark | Source | None:
        """The mark from which `source` is computed (see `provenance`)."""
        code = self._code
        return code if code is None or isinstance(code, Source) else (code, self._offset)

    @mark.setter
    def mark(self, mark: Mark | Source | None) -> None:
        if mark is None or isinstance(mark, Source):
            self._code = mark
        else:
            self._code, self._offset = mark

    @property
    def source(self) -> Source | None:
        """The line of the user's code that made the node."""
        return provenance.source_of(self.mark)

    @property
    def nin(self) -> int:
        """The number of inputs."""
        return len(self.inputs)

    @property
    def nout(self) -> int:
        """The number of outputs."""
        return len(self.outputs)

    @property
    def out(self) -> VariableT:
        """The default output."""
        return self.default_output()

    def default_output(self) -> VariableT:
        """The output at the position `Op.default_output`, or the only output. ValueError if neither exists."""
        position = self.op.default_output
        if position is None:
            if len(self.outputs) != 1:
                raise ValueError(f"{self.op} has {len(self.outputs)} outputs and no default one")
            position = 0
        return self.outputs[position]

    def get_parents(self) -> list[VariableT]:
        """The inputs, as a list of its own."""
        return list(self.inputs)

    def dprint(self, **options: Any) -> Any:
        """Print the node and what it depends on. See `debugprint`."""
        return debugprint(self, **options)

    def clone(self) -> Apply:
        """A copy of the node, with the same op and inputs, and new outputs."""
        return self.clone_with_new_inputs(self.inputs)

    def clone_with_new_inputs(self, inputs: Sequence[Variable], strict: bool = True) -> Apply:
        """A copy of the node with other inputs. Names, tags and the user's line are copied.

        With ``strict``, the new inputs are converted to the types of the old ones; TypeError if this is impossible.
        Without ``strict``, inputs may have other types, and then the op infers the types of its outputs again.
        """
        inputs = list(inputs)
        rebuild = False
        for position, (old, new) in enumerate(zip(self.inputs, inputs, strict=True)):
            if old.type == new.type:
                continue
            if strict:
                inputs[position] = old.type.filter_variable(new)
            rebuild = rebuild or inputs[position].type != old.type
        if not strict and not rebuild:
            # a static length may follow from the known value of a scalar, such as a number of steps
            pairs = zip(self.inputs, inputs, strict=True)
            rebuild = any(old is not new and old.type.shape == () for old, new in pairs)
        if rebuild or (self.op.types_follow_values and not strict):
            node = self.op.make_node(*inputs)
        else:
            node = Apply.of_types(self.op, inputs, [v.type for v in self.outputs])
        node.mark = self.mark
        if self._tag is not None:
            node.tag.__dict__.update(vars(self._tag))
        for old, new in zip(self.outputs, node.outputs, strict=False):
            if new.name is None and old.name is not None:
                new.name = old.name
            if old.has_tag:
                new.tag.__dict__.update(vars(old.tag))
        return node

    def __reduce__(self) -> Any:
        from occelo_graph.ir.pickling import reduced

        return reduced(self)

    def __copy__(self) -> Apply:
        return _shallow_copy(self)

    @classmethod
    def without_contents(cls, outputs: list[Any]) -> Apply:
        """Make a node whose op and inputs are set later. ``outputs`` are made by ``__new__`` only. For pickles."""
        node = cls.__new__(cls)
        node.outputs = outputs
        node._tag = None
        for index, variable in enumerate(outputs):
            variable.owner, variable.index = node, index
            variable._name = variable._tag = variable._auto_name = variable._where = None
        return node

    def __str__(self) -> str:
        shown = [str(v) for v in self.inputs[:_MOST_SHOWN]]
        if len(self.inputs) > _MOST_SHOWN:
            shown.append(f"... {len(self.inputs)} inputs")
        return f"{self.op}({', '.join(shown)})"

    def __repr__(self) -> str:
        return str(self)


def is_node(value: object) -> TypeIs[Apply]:
    """Whether a value is a node. After ``isinstance`` type checkers would not know the node's type parameters."""
    return isinstance(value, Apply)


AnyApply = Apply[Any, Any]
"""The type of ``node`` in the methods of `Op`. A subclass can declare a narrower type, such as ``Apply[Join]``."""

Type.any_variable = Type.variable_class = Variable
Type.constant_class = Constant
