"""Scans, at PyTensor's place. In every order of imports `occelo.scan` is the function; it has the names of this module."""

from typing import TYPE_CHECKING

from occelo.places import stands_at as _stands_at
from occelo.scan import basic as basic
from occelo.scan import checkpoints as checkpoints
from occelo.scan import op as op
from occelo.scan import utils as utils
from occelo.scan import views as views
from occelo_loops.ops.building.classic import filter as filter
from occelo_loops.ops.building.classic import foldl as foldl
from occelo_loops.ops.building.classic import foldr as foldr
from occelo_loops.ops.building.classic import map as map
from occelo_loops.ops.building.classic import reduce as reduce
from occelo_loops.ops.building.classic import scan_checkpoints as scan_checkpoints
from occelo_loops.ops.building.classic import until as until

if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict, overload

    from typing_extensions import Unpack

    from occelo_graph import SharedVariable, TensorVariable
    from occelo_loops.ops.nested import Stepped as _Stepped
    from occelo_loops.ops.nested import StepTo as _StepTo

    _Updates = dict[SharedVariable, Any]
    _Several = tuple[TensorVariable, TensorVariable, *tuple[Any, ...]]

    class _Options(TypedDict, total=False):
        truncate_gradient: int
        go_backwards: bool
        mode: Any
        name: str | None
        profile: bool
        allow_gc: bool | None
        strict: bool
        checkpoint: int | str | None

    class ScanFunction:
        """What type checkers know of the function: how it is called, and its attributes."""

        @overload
        def __call__(
            self,
            fn: _StepTo[TensorVariable | tuple[TensorVariable, until]],
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: Literal[False] = False,
            return_updates: Literal[False],
            **options: Unpack[_Options],
        ) -> TensorVariable: ...
        @overload
        def __call__(
            self,
            fn: _StepTo[_Several],
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: bool = False,
            return_updates: Literal[False],
            **options: Unpack[_Options],
        ) -> list[TensorVariable]: ...
        @overload
        def __call__(
            self,
            fn: _Stepped,
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: Literal[True],
            return_updates: Literal[False],
            **options: Unpack[_Options],
        ) -> list[TensorVariable]: ...
        @overload
        def __call__(
            self,
            fn: _StepTo[TensorVariable | tuple[TensorVariable, until]],
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: Literal[False] = False,
            return_updates: Literal[True] = True,
            **options: Unpack[_Options],
        ) -> tuple[TensorVariable, _Updates]: ...
        @overload
        def __call__(
            self,
            fn: _StepTo[_Several],
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: bool = False,
            return_updates: Literal[True] = True,
            **options: Unpack[_Options],
        ) -> tuple[list[TensorVariable], _Updates]: ...
        @overload
        def __call__(
            self,
            fn: _Stepped,
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: Literal[True],
            return_updates: Literal[True] = True,
            **options: Unpack[_Options],
        ) -> tuple[list[TensorVariable], _Updates]: ...
        @overload
        def __call__(
            self,
            fn: _Stepped,
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: bool = False,
            return_updates: Literal[True] = True,
            **options: Unpack[_Options],
        ) -> tuple[Any, _Updates]: ...
        @overload
        def __call__(
            self,
            fn: _Stepped,
            sequences: Any = None,
            outputs_info: Any = None,
            non_sequences: Any = None,
            n_steps: Any = None,
            *,
            return_list: bool = False,
            return_updates: bool = True,
            **options: Unpack[_Options],
        ) -> Any: ...
        def __call__(self, *args: Any, **options: Any) -> Any: ...

        filter = staticmethod(filter)
        foldl = staticmethod(foldl)
        foldr = staticmethod(foldr)
        map = staticmethod(map)
        reduce = staticmethod(reduce)
        scan_checkpoints = staticmethod(scan_checkpoints)
        until = until

    scan: ScanFunction
else:
    from occelo_loops.ops.building.classic import scan

    _stands_at(__name__, scan)
