"""Words of other libraries, and names in the wrong place: what to write instead. `occelo_graph.missing_names` asks for a hint."""

from __future__ import annotations

import importlib

from occelo.hints.reasons import REASONS, why_no_module
from occelo.places import SAME_NAMES
from occelo_graph.ir.nodes import Variable
from occelo_graph.ops.index.at import PartAt
from occelo_graph.ops.index.subtensor import indexed
from occelo_random.ops.generator_type import RandomGeneratorType

NAMES = {
    word: target
    for target, words in {
        "occelo.function": "jit compile_function pfunc",
        "occelo.config": "set_default_dtype",
        "occelo.vmap": "pmap xmap",
        "occelo.checkpoint": "remat",
        "occelo.pushforward": "linearize",
        "occelo.pullback": "linear_transpose",
        "occelo.jacobian": "jacfwd jacrev",
        "occelo.hessian_vector_product": "hvp vhp",
        "occelo.disconnected_grad": "no_grad nograd detach",
        "occelo.as_op": "pure_callback io_callback py_func py_function numpy_function",
        "occelo.dprint": "make_jaxpr xla_computation",
        "occelo.OpFromGraph": "named_call closure_convert",
        "occelo.Print": "debug_print",
        "occelo.updates": "optim optimizers optax",
        "occelo.trees": "tree tree_util pytree",
        "occelo.trees.map": "tree_map tree_multimap",
        "occelo.trees.leaves": "tree_leaves",
        "occelo.trees.flatten": "tree_flatten tree_unflatten tree_structure",
        "occelo.trees.register": "register_pytree_node register_pytree_node_class register_dataclass",
        "occelo.node_rewriter": "local_optimizer",
        "occelo.rewrite_graph": "optimize_graph",
        "occelo.vectorize_graph": "vectorize_node",
        "occelo.graph.rewriting.db.RewriteDatabaseQuery": "OptimizationQuery",
        "occelo.graph.rewriting.db.RewriteDatabase": "OptimizationDatabase",
        "occelo.graph.rewriting.db.SequenceDB": "SequenceOptimizationDatabase",
        "occelo.graph.rewriting.basic.PatternNodeRewriter": "PatternSub PatternOptimizer",
        "occelo.graph.rewriting.basic.SubstitutionNodeRewriter": "OpSub",
        "occelo.graph.rewriting.basic.EquilibriumGraphRewriter": "EquilibriumOptimizer",
        "occelo.graph.traversal.applys_between": "list_of_nodes",
        "occelo.graph.traversal.graph_inputs": "inputs",
        "occelo.graph.traversal.toposort": "stack_search",
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
        "occelo.tensor.random.integers": "randint random_integers",
        "occelo.tensor.random.key": "PRNGKey manual_seed seed",
        "occelo.tensor.random.normal": "randn",
        "occelo.tensor.random.truncnorm": "truncated_normal",
        "occelo.tensor.random.uniform": "rand random_sample ranf sample",
        "occelo.tensor.sub": "subtract minus",
        "occelo.tensor.sum": "reduce_sum",
        "occelo.tensor.mean": "reduce_mean",
        "occelo.tensor.max": "reduce_max amax",
        "occelo.tensor.min": "reduce_min amin",
        "occelo.tensor.take": "index_select",
        "occelo.tensor.take_along_axis": "gather",
        "occelo.tensor.tensor": "placeholder",
        "occelo.tensor.true_div": "divide",
        "occelo.tensor.linalg.inv": "inverse matrix_inverse",
        "occelo.tensor.linalg.norm": "vector_length",
        "occelo.tensor.linalg.pinv": "pseudoinverse",
        "occelo.tensor.random.RandomStream": "RandomStreams MRG_RandomStreams",
        "occelo.tensor.random.rng": "RandomState",
        "occelo.tensor.TensorVariable": "Array DeviceArray Tensor",
        **{f"occelo.optimize.{name}": name for name in "root minimize_scalar root_scalar".split()},
        **{
            f"occelo.tensor.signal.{name}": name
            for name in "conv1d conv3d convolve1d convolve2d".split()
        },
        "occelo.tensor.signal.conv2d": "conv2d conv",
    }.items()
    for word in words.split()
}
"""Maps words of other libraries to Occelo's names."""

_ON_THE_PROCESSOR = "Occelo computes on the processor; a mode chooses the backend"
_PLACES_OF_NUMPY = "most functions of NumPy are in occelo.tensor: import occelo.tensor as ot"
TEXTS = {
    "at": "it is an attribute of variables: x.at[index].set(y)",
    "apply_updates": "occelo.function(inputs, outputs, updates=...) applies them",
    "block_until_ready": "functions return NumPy's arrays when they are computed",
    "cond": "use occelo.ifelse to choose, occelo.tensor.linalg.cond for the condition number",
    "consider_constant": "use zero_grad for a derivative of 0, or disconnected_grad for none",
    "debug": 'use occelo.Print, or mode="DebugMode"',
    "disable_jit": 'use occelo.function(..., mode="FAST_COMPILE"), or eval()',
    "eval_shape": "a variable has its dtype and what is known of its shape: y.type",
    "experimental": "see docs/from-jax.md",
    "gof": "use occelo.graph",
    "lax": (
        "functions of tensors are in occelo.tensor, loops and branches in occelo: loop, scan, fori_loop, while_loop, "
        "associative_scan, ifelse, switch_case"
    ),
    "scipy": "use occelo.tensor, and its linalg, signal, fft and stats, and occelo.optimize",
    **dict.fromkeys(
        "custom_vjp custom_jvp custom_gradient".split(),
        "use occelo.OpFromGraph with a rule: its pullback= or pushforward=",
    ),
    **dict.fromkeys(
        "format_as as_list_or_tuple".split(),
        "occelo.grad returns a list or a tuple as its wrt is one",
    ),
    "Session": "use occelo.function, which returns a function for arrays",
    "ShapeDtypeStruct": "use occelo.tensor.tensor(dtype=, shape=)",
    "TestValueError": "there are no test values: use eval, or occelo.evaluate",
    "get_test_value": "there are no test values: use eval, or occelo.evaluate",
    **dict.fromkeys("jnp numpy np".split(), _PLACES_OF_NUMPY),
    **dict.fromkeys(
        "device_put device_get devices local_devices device_count cuda".split(), _ON_THE_PROCESSOR
    ),
    **dict.fromkeys(
        "Module Linear Dense Layer Sequential Conv2d LSTM GRU Transformer".split(),
        "there are no layers: write them with the functions of occelo.nn and shared variables",
    ),
}
"""Maps words of other libraries to what to write instead, where this is no single name."""
_DRAWS, _FAMILY_OF_DRAWS = "occelo.tensor.random", "occelo_random"
RANDOM_TEXTS = {
    **dict.fromkeys(
        "logseries noncentral_chisquare noncentral_f zipf".split(),
        "make a RandomVariable with this name, which draws by NumPy's method of the name",
    ),
    **dict.fromkeys(
        "standard_cauchy standard_exponential standard_gamma standard_t".split(),
        "use the function without standard_, whose scale is 1",
    ),
    "ball": "use normal, and divide by the norm",
    "maxwell": "it is the norm of three draws of normal",
    "rademacher": "use 2 * bernoulli(key, 0.5) - 1",
    "orthogonal": "use occelo.nn.initializers.orthogonal",
    "random": "use uniform(0, 1)",
}
"""The same of words that are other libraries' distributions, in `occelo.tensor.random`."""

METHODS = {
    "append": "use occelo.tensor.concatenate",
    "assign": "a shared variable gets new values by the updates of occelo.function",
    "backward": "use occelo.grad(cost, variables)",
    "clamp": "use clip",
    "cpu": _ON_THE_PROCESSOR,
    "cuda": _ON_THE_PROCESSOR,
    "detach": "use occelo.disconnected_grad",
    "device": _ON_THE_PROCESSOR,
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

_PLACES = (
    "occelo.tensor",
    "occelo",
    "occelo.tensor.linalg",
    "occelo.tensor.random",
    "occelo.nn",
    "occelo.updates",
)
"""Namespaces of the facade in which a name is looked for, in this order."""


def _is_part(x: object) -> bool:
    """Whether a variable is the result of an index."""
    try:
        return bool(indexed(x))
    except TypeError:
        return False


def hint(name: str, owner: object) -> str:
    """What to write instead of ``name``, which ``owner`` (a module's name, or a variable) lacks; empty if it is not known."""
    if not isinstance(owner, str) and name in METHODS:
        return METHODS[name]
    if isinstance(owner, Variable) and owner.owner is not None and owner.owner.inputs:
        node = owner.owner
        if name == "rng" and isinstance(node.inputs[0].type, RandomGeneratorType):
            return "the generator of a draw rv is rv.owner.inputs[0]"
        if hasattr(PartAt, name) and _is_part(owner):
            return f"use x.at[key].{'multiply' if name == 'mul' else name}(y) to change a part of x"
    if isinstance(owner, str):
        if owner == _FAMILY_OF_DRAWS:
            owner = _DRAWS
        text = RANDOM_TEXTS.get(name) if owner == _DRAWS else None
        if text := text or TEXTS.get(name) or _at_a_place(f"{owner}.{name}"):
            return text
    near = NAMES.get(name)
    for place in _PLACES:
        if near is None and place != owner and name in dir(importlib.import_module(place)):
            near = f"{place}.{name}"
    return REASONS.get(name, "") if near is None else f"use {near}"


def _at_a_place(full: str) -> str | None:
    """What to write for a name of a module of PyTensor, which is another one or none in Occelo; None if it is not known."""
    if full in SAME_NAMES:
        return f"write import {full}"
    place = full.removeprefix("occelo.")
    return None if place == full else why_no_module(place) or REASONS.get(place)
