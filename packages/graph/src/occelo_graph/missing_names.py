"""The ``__getattr__`` of the namespaces of tensor functions, which handles names that are not imported or do not exist.

The namespaces `occelo.tensor` and `occelo_graph.tensor` use it. For a name that only similar libraries have, the error names a
replacement if Occelo has one: a near name, or the name for a word of other libraries. Such a word is looked up only if
the name does not exist, so the tables may hold names that some version of Occelo has.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

AT_TOP = frozenset(
    "Assert CheckAndRaise Function In Lop Mode OpFromGraph Out Print Rop as_op associative_scan checkpoint config "
    "debugprint disconnected_grad dprint evaluate filter foldl foldr fori_loop function function_dump grad "
    "grad_clip grad_scale hessian "
    "hessian_vector_product ifelse jacobian jvp load loop map minimize numeric_grad pp pprint pullback pushforward "
    "pydotprint reduce save scan scan_checkpoints stop_gradient subgraph_grad switch_case to_dot undefined_grad until value_and_grad verify_grad "
    "vjp vmap while_loop "
    "wrap_jax wrap_py zero_grad".split()
)
"""Names in `occelo` that a user may look for in `occelo.tensor`."""

ABSENT = frozenset("optimize root sparse xtensor RandomStreams".split())
"""Names of similar tensor libraries that Occelo does not have yet."""

ELSEWHERE = {
    "conv": "signal.conv2d",
    **{
        name: f"signal.{name}"
        for name in ("conv1d", "conv2d", "conv3d", "convolve1d", "convolve2d")
    },
}
"""Maps names that a user may look for in `occelo.tensor` to their places in its submodules."""

OLD_NAMES = {"matrix_inverse": "inv", "pseudoinverse": "pinv", "inverse": "inv"}
"""Maps older names of functions of linear algebra to Occelo's names."""

_FLAT = frozenset("blas inplace nnet opt raw_random rewriting type_other utils var".split())
"""Names of submodules of similar tensor libraries. In Occelo, their functions are in ``tensor`` itself."""


def missing_name_hints(
    module: str,
    top: str,
    namespaces: Mapping[str, str] = MappingProxyType({}),
    functions: Mapping[str, str] = MappingProxyType({}),
    reasons: str = "",
) -> Callable[[str], object]:
    """The ``__getattr__`` for ``module``, the namespace of tensor functions in the package ``top``.

    It imports the functions in ``functions``, which maps names to modules, and the modules in ``namespaces``. For all other
    names it raises the error of `name_error` with a hint. The module ``reasons`` has further hints: a function ``reason``
    of a name.
    """

    def find(name: str) -> object:
        if name in namespaces:
            return importlib.import_module(namespaces[name])
        if name in functions:
            return getattr(importlib.import_module(functions[name]), name)
        text = f"module {module!r} has no attribute {name!r}"
        if name in AT_TOP:
            text += f"; use {top}.{name}"
        elif ELSEWHERE.get(name, "").partition(".")[0] in namespaces:
            text += f"; use {module}.{ELSEWHERE[name]}"
        elif reasons and (why := importlib.import_module(reasons).reason(name)):
            text += f"; {why}"
        elif name in ABSENT:
            text += "; Occelo does not have it yet"
        elif name in _FLAT:
            text += f"; all functions of tensors are in {module} itself"
        elif not name.startswith("_") and "linalg" in namespaces:
            ours = OLD_NAMES.get(name, name)
            if ours in dir(importlib.import_module(namespaces["linalg"])):
                text += f"; use {module}.linalg.{ours}"
        raise name_error(module, name, text)

    return find


def name_error(module: str, name: str, text: str) -> Exception:
    """The error that the ``__getattr__`` of a module raises for a name that it does not have.

    It is an AttributeError. If ``text`` has no hint, what is after a semicolon, a word of other libraries or a near name
    gives one. If there is a hint and a statement ``from module import name`` asks, it is an ImportError, since Python
    would replace an AttributeError by an error without the hint.
    """
    import inspect  # which most programs need not
    from opcode import opmap

    frame = inspect.currentframe()
    for _ in range(2):  # from here to the ``__getattr__``, and to who asks
        frame = frame.f_back if frame else None
    if frame and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]:
        hinted = text if ";" in text else text + suggestion(name, module)
        if ";" in hinted:
            return ImportError(f"cannot import name {name!r}: {hinted}", name=module)
    return MissingNameError(text, name, module)


NAMES = {
    word: target
    for target, words in {
        "occelo.function": "jit compile_function",
        "occelo.config": "set_default_dtype",
        "occelo.vmap": "pmap",
        "occelo.checkpoint": "remat",
        "occelo.pushforward": "linearize",
        "occelo.jacobian": "jacfwd jacrev",
        "occelo.disconnected_grad": "no_grad detach",
        "occelo.grad": "gradients autograd backward",
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
        **{
            f"occelo.nn.{name}": name
            for name in "relu gelu silu elu selu layer_norm batch_norm one_hot dropout embedding".split()
        },
        "occelo.nn.batch_norm": "batch_normalization",
        "occelo.nn.softmax_cross_entropy": "categorical_crossentropy",
        "occelo.nn.binary_cross_entropy": "binary_crossentropy",
        "occelo.nn.dot_product_attention": "attention",
        "occelo.trees.ravel": "ravel_pytree",
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
    if "occelo" not in sys.modules:
        return None
    for place in _PLACES:
        if place != owner and name in dir(importlib.import_module(place)):
            return f"{place}.{name}"
    return None


_PLACES = (
    "occelo.tensor",
    "occelo",
    "occelo.tensor.linalg",
    "occelo.tensor.random",
    "occelo.nn",
    "occelo.updates",
)
"""Namespaces of the facade in which a name is looked for, in this order."""
