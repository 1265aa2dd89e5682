"""Words of other libraries for what Occelo has under another name, and names that are near a misspelt one.

`missing_names` and the methods of variables use them in the errors for names that do not exist. A word is looked up only
then, so a table may hold a name that some version of Occelo has.
"""

from __future__ import annotations

import sys

NAMES = {
    word: target
    for target, words in {
        "occelo.function": "jit compile_function",
        "occelo.config": "set_default_dtype",
        "occelo.vectorize": "vmap pmap",
        "occelo.pushforward": "jvp linearize",
        "occelo.pullback": "vjp",
        "occelo.jacobian": "jacfwd jacrev",
        "occelo.disconnected_grad": "stop_gradient no_grad detach",
        "occelo.grad": "value_and_grad gradients autograd backward",
        "occelo.ifelse": "lazy_cond",
        "occelo.shared": "Parameter Buffer",
        "occelo.tensor.abs": "absolute fabs",
        "occelo.tensor.add": "plus",
        "occelo.tensor.as_tensor": "array asarray from_numpy convert_to_tensor",
        "occelo.tensor.cast": "astype to_dtype",
        "occelo.tensor.clip": "clamp clip_by_value",
        "occelo.tensor.concatenate": "cat concat",
        "occelo.tensor.dimshuffle": "rearrange",
        "occelo.tensor.expand_dims": "unsqueeze",
        "occelo.tensor.gammaln": "lgamma loggamma",
        "occelo.tensor.log1p": "log1plus",
        "occelo.tensor.matmul": "mm bmm",
        "occelo.tensor.maximum": "relu",
        "occelo.tensor.mod": "remainder",
        "occelo.tensor.mul": "multiply times",
        "occelo.tensor.neg": "negative",
        "occelo.tensor.pow": "float_power",
        "occelo.tensor.random.key": "PRNGKey manual_seed",
        "occelo.tensor.random.normal": "randn",
        "occelo.tensor.random.uniform": "rand",
        "occelo.tensor.sub": "subtract minus",
        "occelo.tensor.sum": "reduce_sum",
        "occelo.tensor.mean": "reduce_mean",
        "occelo.tensor.max": "reduce_max amax",
        "occelo.tensor.min": "reduce_min amin",
        "occelo.tensor.take": "index_select",
        "occelo.tensor.take_along_axis": "gather",
        "occelo.tensor.tensor": "placeholder",
        "occelo.tensor.true_div": "divide",
        "occelo.tensor.linalg.norm": "vector_length",
    }.items()
    for word in words.split()
}
"""Maps words of other libraries to Occelo's names."""

METHODS = {
    "at": "write x[index].set(value), or x[index].inc(value) for a sum",
    "append": "use occelo.tensor.concatenate",
    "assign": "a shared variable gets new values by the updates of occelo.function",
    "backward": "use occelo.grad(cost, variables)",
    "clamp": "use clip",
    "cpu": "Occelo computes on the processor; a mode chooses the backend",
    "cuda": "Occelo computes on the processor; a mode chooses the backend",
    "detach": "use occelo.disconnected_grad",
    "device": "Occelo computes on the processor; a mode chooses the backend",
    "double": 'use astype("float64")',
    "expand": "use occelo.tensor.broadcast_to",
    "float": 'use astype("float32")',
    "get_value": "only a shared variable has a value; eval() computes one",
    "grad": "use occelo.grad(cost, x)",
    "int": 'use astype("int64")',
    "item": "a variable has no value until a function runs; use eval()",
    "long": 'use astype("int64")',
    "numpy": "a variable has no value until a function runs; use eval()",
    "permute": "use transpose",
    "requires_grad": "use occelo.grad(cost, x), or occelo.disconnected_grad(x) for none",
    "set_value": "only a shared variable has a value, see occelo.shared",
    "to": "use astype for another dtype",
    "tolist": "a variable has no value until a function runs; use eval()",
    "type_as": "use astype(y.dtype)",
    "unsqueeze": "use occelo.tensor.expand_dims",
    "view": "use reshape",
}
"""Maps words for methods of tensors to what to write instead."""


class MissingNameError(AttributeError):
    """The error for a name that ``owner`` lacks. What to use instead is searched when the message is read.

    So questions such as ``hasattr(x, "name")`` cost no search.
    """

    def __init__(self, text: str, name: str, owner: object) -> None:
        super().__init__(text, name=name)
        self.owner = owner

    def __str__(self) -> str:
        text = str(self.args[0])
        return text if ";" in text else text + suggestion(str(self.name), self.owner)

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


def suggestion(name: str, owner: object) -> str:
    """What to use instead of ``name``, which ``owner`` (a module's name, or a variable) lacks; empty if nothing is near."""
    if name.startswith("_"):
        return ""
    space = sys.modules.get(owner) if isinstance(owner, str) else owner
    if not isinstance(owner, str) and name in METHODS:
        return f"; {METHODS[name]}"
    near = NAMES.get(name) or _elsewhere(name, owner) or _close(name, dir(space))
    if near is None:
        return ""
    return f"; use {near}" if "." in near else f"; did you mean {near}?"


def _close(name: str, names: list[str]) -> str | None:
    import difflib  # here, since only messages need it

    public = {each.lower(): each for each in names if not each.startswith("_") and each != name}
    found = difflib.get_close_matches(name.lower(), public, 1, 0.75)
    return public[found[0]] if found else None


def _elsewhere(name: str, owner: object) -> str | None:
    """Where a name is that a user looks for in the wrong namespace of the facade."""
    for place in ("occelo.tensor", "occelo", "occelo.tensor.linalg", "occelo.tensor.random"):
        if place in sys.modules and place != owner and name in dir(sys.modules[place]):
            return f"{place}.{name}"
    return None
