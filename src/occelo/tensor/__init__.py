"""The tensor library that users import: constructors and functions of symbolic tensors.

The names come from `occelo_graph.tensor`.
"""

from typing import TYPE_CHECKING

from numpy import e as e
from numpy import euler_gamma as euler_gamma
from numpy import inf as inf
from numpy import nan as nan
from numpy import newaxis as newaxis
from numpy import pi as pi

from occelo.function_with_names import with_names as _with_names
from occelo_graph.missing_names import missing_name_hints as _missing_name_hints
from occelo_graph.tensor import *
from occelo_graph.tensor import Elemwise as Elemwise
from occelo_graph.tensor import TensorConstant as TensorConstant
from occelo_graph.tensor import TensorLike as TensorLike
from occelo_graph.tensor import TensorSharedVariable as TensorSharedVariable
from occelo_graph.tensor import TensorType as TensorType
from occelo_graph.tensor import TensorVariable as TensorVariable
from occelo_graph.tensor import as_tensor as as_tensor
from occelo_graph.tensor import as_tensor_variable as as_tensor_variable
from occelo_graph.tensor import constant as constant
from occelo_graph.tensor import elementwise as elementwise
from occelo_graph.tensor import shared as shared
from occelo_graph.tensor import vectorize as vectorize
from occelo_graph.tensor import vectorize_graph as vectorize_graph

_MODULES = """
basic blockwise einsum elemwise exceptions extra_ops fft functional linalg math nlinalg optimize pad random sharedvar signal slinalg sort special stats
subtensor type type_other variable
"""
"""Modules that are imported at their first use. Those of `einsum`, `pad` and `sort` are functions (`occelo.places`)."""

_KINDS = """
complex_matrix_types complex_scalar_types complex_types complex_vector_types float_matrix_types float_scalar_types float_types
float_vector_types int_matrix_types int_scalar_types int_types int_vector_types
"""
"""Names of `occelo.tensor.type` that PyTensor has here."""

_ALIASES = "Constant Lop Op Rop Variable grad hessian jacobian pullback pushforward"
"""Names of `occelo` that PyTensor has among those of tensors as well."""

_ARRAYS = """
SlidingWindow absolute acos acosh amax amin append apply_along_axis apply_over_axes around array array_equal array_equiv array_split
asanyarray asarray asin asinh astype atan atan2 atanh average bartlett bitwise_count bitwise_invert bitwise_left_shift bitwise_right_shift
block broadcast_shapes c_ can_cast cbrt choose column_stack compress concat concat_with_broadcast copy copysign corrcoef cov cross
cumlogsumexp cummax cummin cumulative_logsumexp cumulative_prod cumulative_sum degrees delete diag_indices diag_indices_from diagflat
divide dsplit dstack ediff1d einsum extract fabs fill_diagonal fill_diagonal_offset finfo fix fliplr flipud float_power floor_divide fmax
fmin fmod frexp fromfunction gcd geomspace gradient heaviside horizontal_stack hsplit hstack hypot identity_like iinfo index_exp indices
inner insert inverse_permutation iscomplex iscomplexobj isdtype isreal isrealobj isscalar issubdtype ix_ lcm ldexp left_shift linspace
logaddexp2 logical_and logical_not logical_or logical_xor logspace mask_indices meshgrid mgrid minmax modf multiply nan_to_num ndim negative nextafter ogrid
pack packbits pad permute_dims permute_row_elements piecewise place poly polyadd polyder polyint polymul polysub polyval positive
promote_types put put_along_axis r_ radians ravel_multi_index remainder resize result_type right_shift rint roll rollaxis rot90 row_stack s_
segment_logsumexp segment_max segment_min segment_prod segment_softmax segment_sum select signbit sinc size sliding_window_view spacing
subtract to_one_hot trapezoid tril_indices tril_indices_from trim_zeros triu_indices triu_indices_from true_divide unpack unpackbits
unravel_index unstack unwrap vander vdot vertical_stack view_as_blocks view_as_windows vsplit vstack
"""
"""The names of `occelo_arrays.functions`, which is imported at the first use of one of them."""
_SORTING = """
ArgSort ArgSortOp LexicographicOrder SearchSorted Sort SortOp argpartition argsort argtopk argwhere bincount count_nonzero digitize histogram histogram2d
histogram_bin_edges histogramdd interp interpolate1d intersect1d isin lexsort median mode nanargmax nanargmin
nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar partition
percentile quantile searchsorted setdiff1d setxor1d sort sort_complex top_k topk topk_and_argtopk union1d unique unique_all unique_counts
unique_inverse unique_values
"""
"""The names of `occelo_sorting.functions`, which is imported at the first use of one of them."""
_SIGNAL = "blackman convolve correlate hamming hanning kaiser polydiv polyfit roots"
"""Names of `occelo_signal.numpy_functions`, which is imported at the first use of one of them."""
_SPECIAL = """
airy bernoulli bessel_jn beta betainc betaincc betainccinv betaincinv betaln binom boxcox boxcox1p chi2sf comb cosm1 dawsn digamma ellipe
ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprd elliprf entr erfcinv erfi erfinv exp1 expi expn exprel factorial
fresnel gamma gammainc gammaincc gammainccinv gammaincinv gammal gammaln gammasgn gammau huber hyp1f1 hyp2f1 i0 i0e i1 i1e
inv_boxcox inv_boxcox1p iv ive j0 j1 jn jv jve k0 k0e k1 k1e kl_div kn kv kve log_expit log_ndtr loggamma logit
multigammaln ndtr ndtri ndtri_exp owens_t perm poch polygamma pseudo_huber psi rel_entr rgamma shichi sici spence
sph_harm_y sph_legendre_p spherical_in spherical_jn spherical_kn spherical_yn tri_gamma wofz xlog1py xlogy y0 y1 yn yv yve zeta zetac
"""
"""The names of `occelo_special.functions`, which is imported at the first use of one of them."""

_DTYPES = """
complex128 complex64 float16 float32 float64 int16 int32 int64 int8 uint16 uint32 uint64 uint8
"""
"""NumPy's dtypes, which the array API has here."""

if TYPE_CHECKING:
    from numpy import complex64 as complex64
    from numpy import complex128 as complex128
    from numpy import float16 as float16
    from numpy import float32 as float32
    from numpy import float64 as float64
    from numpy import int8 as int8
    from numpy import int16 as int16
    from numpy import int32 as int32
    from numpy import int64 as int64
    from numpy import uint8 as uint8
    from numpy import uint16 as uint16
    from numpy import uint32 as uint32
    from numpy import uint64 as uint64

    from occelo import optimize as optimize
    from occelo.tensor import basic as basic
    from occelo.tensor import blockwise as blockwise
    from occelo.tensor import elemwise as elemwise
    from occelo.tensor import exceptions as exceptions
    from occelo.tensor import extra_ops as extra_ops
    from occelo.tensor import fft as fft
    from occelo.tensor import functional as functional
    from occelo.tensor import linalg as linalg
    from occelo.tensor import math as math
    from occelo.tensor import random as random
    from occelo.tensor import sharedvar as sharedvar
    from occelo.tensor import signal as signal
    from occelo.tensor import slinalg as slinalg
    from occelo.tensor import special as special
    from occelo.tensor import stats as stats
    from occelo.tensor import subtensor as subtensor
    from occelo.tensor import type as type
    from occelo.tensor import type_other as type_other
    from occelo.tensor import variable as variable
    from occelo.tensor.type import complex_matrix_types as complex_matrix_types
    from occelo.tensor.type import complex_scalar_types as complex_scalar_types
    from occelo.tensor.type import complex_types as complex_types
    from occelo.tensor.type import complex_vector_types as complex_vector_types
    from occelo.tensor.type import float_matrix_types as float_matrix_types
    from occelo.tensor.type import float_scalar_types as float_scalar_types
    from occelo.tensor.type import float_types as float_types
    from occelo.tensor.type import float_vector_types as float_vector_types
    from occelo.tensor.type import int_matrix_types as int_matrix_types
    from occelo.tensor.type import int_scalar_types as int_scalar_types
    from occelo.tensor.type import int_types as int_types
    from occelo.tensor.type import int_vector_types as int_vector_types
    from occelo.tensor.type_other import NoneConst as NoneConst
    from occelo.tensor.type_other import as_symbolic as as_symbolic
    from occelo.tensor.type_other import make_slice as make_slice
    from occelo.tensor.type_other import none_type_t as none_type_t
    from occelo.tensor.type_other import slicetype as slicetype
    from occelo_arrays.functions import *
    from occelo_graph import Constant as Constant
    from occelo_graph import Lop as Lop
    from occelo_graph import Op as Op
    from occelo_graph import Rop as Rop
    from occelo_graph import Variable as Variable
    from occelo_graph import grad as grad
    from occelo_graph import hessian as hessian
    from occelo_graph import jacobian as jacobian
    from occelo_graph import pullback as pullback
    from occelo_graph import pushforward as pushforward

    # again, since of a name with one declaration pyright takes the module of this name in files that import it
    from occelo_graph.tensor import shape as shape
    from occelo_linalg.functions import kron as kron
    from occelo_linalg.functions import norm as norm
    from occelo_signal.numpy_functions import blackman as blackman
    from occelo_signal.numpy_functions import convolve as convolve
    from occelo_signal.numpy_functions import correlate as correlate
    from occelo_signal.numpy_functions import hamming as hamming
    from occelo_signal.numpy_functions import hanning as hanning
    from occelo_signal.numpy_functions import kaiser as kaiser
    from occelo_signal.numpy_functions import polydiv as polydiv
    from occelo_signal.numpy_functions import polyfit as polyfit
    from occelo_signal.numpy_functions import roots as roots
    from occelo_sorting.functions import *
    from occelo_sorting.functions import sort as sort
    from occelo_special.functions import *

    nlinalg = linalg
else:  # type checkers know what is here without it
    _LATER = {
        **dict.fromkeys(_ALIASES.split(), "occelo_graph"),
        **dict.fromkeys(_KINDS.split(), "occelo.tensor.type"),
        **dict.fromkeys(
            ("NoneConst", "as_symbolic", "make_slice", "none_type_t", "slicetype"),
            "occelo.tensor.type_other",
        ),
        **dict.fromkeys(("kron", "norm"), "occelo_linalg.functions"),
        **dict.fromkeys(_DTYPES.split(), "numpy"),
        **dict.fromkeys(_ARRAYS.split(), "occelo_arrays.functions"),
        **dict.fromkeys(_SIGNAL.split(), "occelo_signal.numpy_functions"),
        **dict.fromkeys(_SORTING.split(), "occelo_sorting.functions"),
        **dict.fromkeys(_SPECIAL.split(), "occelo_special.functions"),
    }
    __getattr__ = _missing_name_hints(
        "occelo.tensor",
        {name: f"occelo.tensor.{name}" for name in _MODULES.split()},
        _LATER,
        "occelo.hints.array_names",
    )

    for _name in ("reshape", "shape", "var"):  # at places of PyTensor
        globals()[_name] = _with_names(globals()[_name], f"occelo.tensor.{_name}")
    ifelse = _with_names(globals()["ifelse"], "occelo.ifelse")

    def _names() -> set[str]:
        late = (_ARRAYS, _DTYPES, _SIGNAL, _SORTING, _SPECIAL, "make_slice slicetype")
        return {*globals(), *(name for names in late for name in names.split())}

    def __dir__() -> list[str]:
        return sorted({*_names(), *_LATER, *_MODULES.split()})

    __all__ = [name for name in _names() if not name.startswith("_") and name != "TYPE_CHECKING"]
