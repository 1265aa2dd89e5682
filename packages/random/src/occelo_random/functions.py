"""The namespace of random numbers. It collects the functions of `occelo_random.ops`, such as ``normal`` and ``key``.

Users reach it as `occelo.tensor.random`. `missing_names` imports it at its first use.
"""

from typing import Any as _Any

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_graph.gradient.barriers import disconnected_grad as _disconnected_grad
from occelo_graph.tensors.variable import TensorVariable as _TensorVariable
from occelo_random.ops import generators as generators
from occelo_random.ops.choosing import *
from occelo_random.ops.counts import *
from occelo_random.ops.draws import *
from occelo_random.ops.further import *
from occelo_random.ops.further_generator_distributions import *
from occelo_random.ops.gamma import *
from occelo_random.ops.generator_distributions import *
from occelo_random.ops.generator_type import RandomGeneratorType as RandomGeneratorType
from occelo_random.ops.generator_type import random_generator_type as random_generator_type
from occelo_random.ops.generators import default_rng as default_rng
from occelo_random.ops.generators import rng as rng
from occelo_random.ops.generators import shared_rng as shared_rng
from occelo_random.ops.inversion import *
from occelo_random.ops.keys import as_key as _as_key
from occelo_random.ops.keys import bits as bits
from occelo_random.ops.keys import fold_in as fold_in
from occelo_random.ops.keys import key as key
from occelo_random.ops.keys import split as split
from occelo_random.ops.matrices import *
from occelo_random.ops.random_variable import RandomVariable as RandomVariable
from occelo_random.ops.random_variable import normalize_size_param as normalize_size_param
from occelo_random.ops.streams import RandomStream as RandomStream

# what PyTensor's users read of a distribution, such as ``normal.ndims_params``
for _name in generators.DISTRIBUTIONS:
    _op: object = getattr(generators, _name)
    if isinstance(_op, RandomVariable):
        for _field in ("dtype", "name", "ndim_supp", "ndims_params", "rng_fn", "signature"):
            setattr(globals()[_name], _field, getattr(_op, _field))


def reuse(key: _Any) -> _TensorVariable:
    """A copy of a key, for a draw that uses the bits of an earlier draw again on purpose.

    An example is a comparison of two models with common random numbers. `occelo.function` warns if two lines of the
    user's code draw with the same key. But it does not warn about draws with ``reuse(key)``, or with keys that are made
    from ``reuse(key)``.
    """
    return _disconnected_grad(_as_key(key))


_explain_errors(globals(), "arguments")
