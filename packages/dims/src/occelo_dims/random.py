"""Random numbers with named dimensions: draws, and generators whose methods draw, at PyTensor's place.

A draw has the dimensions of its parameters, which are matched by name, behind those of ``extra_dims``, a mapping from new
names to lengths. ``rng`` is a generator, of this module or of `occelo.tensor.random`, or a key of `occelo.tensor.random`:
then the draw is the one of the function there with this key. With ``return_next_rng=True`` the result is a pair of the
next generator and the draw. ``core_dims`` names the dimensions of parameters and draws that are vectors or matrices, such as
the probabilities of `categorical`; a distribution of scalars has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import occelo_random.functions as keyed
from occelo_dims.applying import core_arguments
from occelo_dims.labelled import Dims, Labelled, aligned, check_dims, is_plain, labelled
from occelo_graph import TensorType, Variable
from occelo_graph.errors import explained_by
from occelo_graph.ir import trees
from occelo_random.ops import generators

Lengths = Mapping[str, Any]
_CORE: dict[str, tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]] = {
    "categorical": (((0,),), ()),
    "dirichlet": (((0,),), (0,)),
    "multinomial": (((), (0,)), (0,)),
    "multivariate_normal": (((0,), (0, 1)), (0,)),
}
"""The core dimensions of the parameters and of the draw, as positions in ``core_dims``."""
NAMES = (
    "bernoulli beta betabinom binomial categorical cauchy chisquare dirichlet exponential gamma gengamma geometric gumbel "
    "halfcauchy halfnormal hypergeometric integers invgamma laplace logistic lognormal multinomial multivariate_normal nbinom "
    "negative_binomial normal pareto poisson rayleigh standard_normal t triangular truncexpon uniform vonmises wald weibull"
).split()


@explained_by("dimensions")
def _drawn(
    name: str,
    *params: Any,
    core_dims: Sequence[str] | str | None = None,
    extra_dims: Lengths | None = None,
    rng: Any = None,
    return_next_rng: bool = False,
    **options: Any,
) -> Any:
    """See the module. TypeError without ``rng``; ValueError for other core dimensions, or extra ones that a parameter has."""
    cores, out, batch, tensors, sizes = _parameters(name, params, core_dims)
    extra = dict(extra_dims or {})
    taken = [d for d in check_dims(tuple(extra)) if d in (*batch, *(n for c in cores for n in c))]
    if taken:
        raise ValueError(f"{name}: the extra dimension {taken[0]!r} is one of a parameter already")
    size = None
    if extra or batch:
        lengths = [n.values if isinstance(n, Labelled) else n for n in extra.values()]
        size = [*lengths, *sizes]
    generator = rng.generator if isinstance(rng, XRandomGenerator) else rng
    dims = (*extra, *batch, *out)
    if isinstance(generator, Variable) and not isinstance(generator.type, TensorType):
        following, values = getattr(generator, name)(*tensors, size=size, **options)
        draws = labelled(values, dims)
        return (_like(rng, following), draws) if return_next_rng else draws
    if generator is None:
        raise TypeError(
            f"{name} needs rng: a generator such as shared_rng(seed=1), or a key of occelo.tensor.random"
        )
    if return_next_rng:
        raise TypeError(
            f"{name}: a key has no next generator; occelo.tensor.random.split makes further keys"
        )
    function: Callable[..., Any] = getattr(keyed, name)
    return labelled(function(generator, *tensors, size=size, **options), dims)


def _parameters(
    name: str, params: Sequence[Any], core_dims: Sequence[str] | str | None
) -> tuple[list[Dims], Dims, Dims, list[Any], list[Any]]:
    """The core dimensions of parameters and draw, and the matched dimensions, parameters without names and lengths."""
    inputs, output = _CORE.get(name, (((),) * len(params), ()))
    names = () if core_dims is None else check_dims(core_dims)
    count = 1 + max((i for each in (*inputs, output) for i in each), default=-1)
    if len(names) != count:
        raise ValueError(f"{name} needs {count} core_dims, got {names}")
    if name == "multivariate_normal" and params and isinstance(params[0], Labelled):
        names = names[::-1] if set(names[:1]) - set(params[0].dims) else names
    cores = [tuple(names[i] for i in each) for each in inputs]
    if len(params) > len(cores):
        raise TypeError(f"{name} takes {len(cores)} parameters, got {len(params)}")
    cores = cores[: len(params)]
    numbers = [is_plain(p) and not core for p, core in zip(params, cores, strict=True)]
    named, inner, batch, lengths = core_arguments(
        [p for p, plain in zip(params, numbers, strict=True) if not plain],
        [c for c, plain in zip(cores, numbers, strict=True) if not plain],
        name,
    )
    rest = iter(
        [aligned(x, (*batch, *core), lengths) for x, core in zip(named, inner, strict=True)]
    )
    tensors = [p if plain else next(rest) for p, plain in zip(params, numbers, strict=True)]
    sizes: list[Any] = []
    for dim in batch:
        n = lengths[dim]
        if n is None:
            first = next(x for x in named if dim in x.dims)
            n = first.values.shape[first.dims.index(dim)]
        sizes.append(n)
    return cores, tuple(names[i] for i in output), batch, tensors, sizes


def _like(rng: Any, following: Any) -> Any:
    return XRandomGenerator(following) if isinstance(rng, XRandomGenerator) else following


class XRandomGenerator:
    """A variable whose value is a generator of NumPy, with draws as methods: ``next_rng, x = rng.normal(0, 1, extra_dims={"a": 3})``.

    TypeError if the generator is missing.

    It holds `generator`, the variable of `occelo.tensor.random`; functions and updates take it in the place of that one.
    """

    __slots__ = ("generator",)

    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in NAMES:
            raise AttributeError(f"A generator has no draw {name!r}; there are {', '.join(NAMES)}")
        return partial(_drawn, name, rng=self, return_next_rng=True)

    @property
    def name(self) -> str | None:
        """The name of the variable."""
        return self.generator.name

    def get_value(self, borrow: bool = False) -> Any:
        """The generator of a shared variable, a copy unless ``borrow``."""
        return self.generator.get_value(borrow)

    def set_value(self, new_value: Any = None, *, seed: Any = None, borrow: bool = False) -> None:
        """Replace the generator of a shared variable by ``new_value`` or by a new one of ``seed``. TypeError unless one is given.

        ``borrow``: without a copy.
        """
        self.generator.set_value(shared_rng(new_value, seed=seed).get_value(True), borrow)

    def __repr__(self) -> str:
        return f"<{self.generator} with named dimensions>"


trees.register(
    XRandomGenerator,
    lambda rng: ([rng.generator], None),
    lambda _, parts: XRandomGenerator(parts[0]) if isinstance(parts[0], Variable) else parts[0],
    read=lambda value, _: [value.generator if isinstance(value, XRandomGenerator) else value],
)


def rng(name: str | None = None) -> XRandomGenerator:
    """A generator as an input of functions, named ``name``."""
    return XRandomGenerator(generators.rng(name))


def shared_rng(
    value: Any = None, *, seed: Any = None, name: str | None = None, borrow: bool = False
) -> XRandomGenerator:
    """A shared generator with the value ``value``, a generator of NumPy, or a new one of ``seed``, named ``name``.

    ``borrow``: without a copy of ``value``. TypeError unless exactly one of them is given.
    """
    return XRandomGenerator(generators.shared_rng(value, seed=seed, name=name, borrow=borrow))


def _named(name: str) -> Callable[..., Any]:
    def draw(
        *params: Any,
        core_dims: Sequence[str] | str | None = None,
        extra_dims: Lengths | None = None,
        rng: Any = None,
        return_next_rng: bool = False,
        **options: Any,
    ) -> Any:
        return _drawn(
            name, *params, core_dims=core_dims, extra_dims=extra_dims, rng=rng, return_next_rng=return_next_rng, **options
        )  # fmt: skip

    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = (
        f"Draws as of `occelo.tensor.random.{name}`, with named dimensions.\n\n    ``params`` and ``options`` are the "
        "parameters of that function; ``rng``, ``extra_dims``, ``core_dims`` and ``return_next_rng`` are explained in the module.\n"
        "    TypeError without ``rng``; ValueError for an extra dimension that a parameter has."
    )
    return draw


bernoulli = _named("bernoulli")
beta = _named("beta")
betabinom = _named("betabinom")
binomial = _named("binomial")
categorical = _named("categorical")
cauchy = _named("cauchy")
chisquare = _named("chisquare")
dirichlet = _named("dirichlet")
exponential = _named("exponential")
gamma = _named("gamma")
gengamma = _named("gengamma")
geometric = _named("geometric")
gumbel = _named("gumbel")
halfcauchy = _named("halfcauchy")
halfnormal = _named("halfnormal")
hypergeometric = _named("hypergeometric")
integers = _named("integers")
invgamma = _named("invgamma")
laplace = _named("laplace")
logistic = _named("logistic")
lognormal = _named("lognormal")
multinomial = _named("multinomial")
multivariate_normal = _named("multivariate_normal")
nbinom = _named("nbinom")
negative_binomial = _named("negative_binomial")
normal = _named("normal")
pareto = _named("pareto")
poisson = _named("poisson")
rayleigh = _named("rayleigh")
standard_normal = _named("standard_normal")
t = _named("t")
triangular = _named("triangular")
truncexpon = _named("truncexpon")
uniform = _named("uniform")
vonmises = _named("vonmises")
wald = _named("wald")
weibull = _named("weibull")
