"""The linker ``jax``, which compiles a whole graph with ``jax.jit``.

64-bit dtypes are enabled only during a call, so the user's settings of JAX stay unchanged. Shared variables stay on the
device between calls. The arrays of variables that a function updates are donated to XLA (see ``donate``). `registry`
imports this module when a mode names the linker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from occelo_graph import Apply, Variable
from occelo_graph.ir.container import local
from occelo_link.jax.arrays import ARRAY, JaxArrays, to_numpy
from occelo_link.jax.library import jax, jnp
from occelo_link.linker import Scheduler
from occelo_link.traced.linker import Traced, TracedLinker, TracedVM


class JAXLinker(TracedLinker):
    """The linker ``jax``, which compiles with XLA. ``static`` and ``strict`` are explained in `TracedLinker`.

    ValueError for placements without a mesh.

    - ``mesh``: a `jax.sharding.Mesh` of devices that share the work. The devices may belong to several processes.
    - ``placements``: a mapping from inputs and shared variables, or their names, to placements on the mesh. A placement is
      a `jax.sharding.PartitionSpec`, or a tuple with the name of a mesh axis or None for each dimension. Inputs without a
      placement are copied to every device. Updated variables keep their placement.
    - ``donate``: whether XLA may reuse the memory of variables that the function updates. No memory is reused if the
      graph has branches or callbacks, or if a check may fail while the function runs. The interpreter then may replay
      the call, and needs the old values.
    """

    name = "jax"
    array_type = ARRAY

    def __init__(
        self,
        *,
        allow_gc: bool | None = None,
        scheduler: Scheduler | None = None,
        static: Sequence[Any] = (),
        strict: bool = False,
        mesh: Any = None,
        placements: Mapping[Any, Any] | None = None,
        donate: bool = True,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler, static=static, strict=strict)
        if placements and mesh is None:
            raise ValueError("Placements are over a mesh, and there is none")
        self.mesh = mesh
        self.placements = {
            getattr(key, "name", key): spec for key, spec in (placements or {}).items()
        }
        self.donate = donate

    @property
    def divides(self) -> bool:
        # over a mesh the results of the first part would have no placement
        return self.mesh is None

    def controls(self, node: Apply) -> bool:
        # JAX runs a callback in the branch that is taken. An observer may run again in a replay
        return node.op.observes and node.op.has_infer_shape

    def make_arrays(self) -> JaxArrays:
        return JaxArrays()

    def signature(self, values: Sequence[Any]) -> Any:
        # one key is enough, since `jax.jit` itself compiles for each combination of shapes
        return None

    def fetch(self, result: Any) -> Any:
        # copied, since memory that JAX shares with NumPy is read-only
        return to_numpy(result)

    def sharding(self, variable: Variable | None) -> Any:
        """Return the sharding of a variable over the mesh.

        If ``variable`` is None or has no placement, the sharding puts the value on every device.
        """
        placement = None if variable is None else self.placements.get(variable.name)
        spec: Any = jax.sharding.PartitionSpec
        if placement is None:
            parts = spec()
        else:
            parts = spec(*placement) if isinstance(placement, tuple | list) else placement
        return jax.sharding.NamedSharding(self.mesh, parts)

    def compile_traced(
        self, vm: TracedVM, fixed: dict[int, Any], values: Sequence[Any], wanted: Sequence[int]
    ) -> Traced:
        def run(*dynamic: Any) -> Any:
            *results, held = vm.trace(fixed, dynamic, wanted)
            # over a mesh the number of results must be the same for all shapes
            return [*results, jnp.array(True) if held is None and self.mesh is not None else held]

        inputs, updates = vm.fgraph.inputs, vm.fgraph.update_mapping
        order, places = vm.sources(), vm.targets(wanted)
        with jax.enable_x64(True):
            shapes = jax.eval_shape(run, *values)
        # other values are left out, since Python objects may still refer to their parts
        updated = {updates[o] for o in wanted if o in updates and inputs[updates[o]].type.is_array}
        # for other shapes, another branch may be traced, which may contain checks
        branches = any(node.op.lazy for node in vm.fgraph.apply_nodes)
        may_fail = shapes[-1] is not None or vm.falls_back or branches
        donated = [k for k, i in enumerate(order) if self.donate and i in updated and not may_fail]
        options: dict[str, Any] = {"donate_argnums": donated}
        if self.mesh is not None:
            options["in_shardings"] = [self.sharding(inputs[i]) for i in order]
            targets = [updates.get(o) for o in places]
            options["out_shardings"] = [
                *(self.sharding(None if t is None else inputs[t]) for t in targets),
                self.sharding(None),
            ]
        compiled = jax.jit(run, **options)
        # arrays from an earlier call of this function; only these are donated, others are copied first
        own: dict[int, Any] = {}
        shardings = options.get("in_shardings")
        renewed = [k for k, o in enumerate(places) if o in updates]

        def given(values: Sequence[Any]) -> list[Any]:
            placed = list(values)
            if shardings is not None:
                placed = [_placed(v, s) for v, s in zip(placed, shardings, strict=True)]
            for k in donated:
                if id(placed[k]) not in own:
                    placed[k] = jnp.array(placed[k], copy=True)
            return placed

        def call(*dynamic: Any) -> Any:
            with jax.enable_x64(True):
                if not donated and shardings is None:
                    return compiled(*dynamic)
                results = compiled(*given(dynamic))
            own.clear()
            own.update((id(results[k]), results[k]) for k in renewed)
            return results

        def text(*dynamic: Any) -> str:
            with jax.enable_x64(True):
                return str(compiled.lower(*given(dynamic)).compile().as_text())

        traced = Traced(call)
        traced.text = text
        traced.lowered = compiled
        return traced


def _placed(value: Any, sharding: Any) -> Any:
    """Return a value with the given sharding. It is moved only if its sharding differs."""
    if isinstance(value, jax.Array) and value.sharding == sharding:
        return value
    plain = local(value)

    def shard(key: Any) -> Any:
        return plain[key]

    return jax.make_array_from_callback(plain.shape, sharding, shard)
