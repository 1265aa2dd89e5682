"""Why Occelo lacks names that NumPy and JAX have, or what to use instead.

`occelo.tensor` puts this into errors, and `docs/names_of_numpy_and_jax.py` into the table of docs/names-of-numpy-and-jax.md.
"""

from __future__ import annotations

import occelo

_BY_REASON = {
    "it writes into its argument, and variables never change; use x.at[...] or switch": "copyto putmask",
    "it is text, not an array": """
        array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
        set_string_function typename""",
    "use einsum, which finds the order itself": "einsum_path",
    "a variable is no iterator of Python": "iterable nditer nested_iters ndenumerate ndindex flatiter",
    "use broadcast_shapes and broadcast_arrays": "broadcast",
    "a matter of NumPy, its memory and its settings, not of graphs": """
        info test get_include get_printoptions getbufsize geterr geterrcall printoptions set_printoptions setbufsize seterr
        seterrcall show_config show_runtime errstate little_endian may_share_memory shares_memory require isfortran
        asfortranarray ascontiguousarray DummyArray byte_bounds""",
    "it reads memory beyond the rows of an array; use sliding_window_view": "as_strided",
    "use assert_op with isfinite(x).all(), or the mode NanGuardMode": "asarray_chkfinite",
    "use NumPy, and as_tensor on its result": """
        from_dlpack frombuffer fromfile fromiter fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez
        savez_compressed""",
    "use NumPy's, for text, dates, records and objects": """
        busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday isnat datetime64 timedelta64
        char strings rec recarray record object_ bytes_ str_ void flexible character""",
    "use matrices of two dimensions, and block to join them": "asmatrix bmat",
    "use vectorize for a function that builds graphs, and occelo.wrap_py for one that computes": "frompyfunc",
    "the dtype would follow from the values": "real_if_close min_scalar_type",
    "use result_type, which gives integers for integers": "common_type",
    "use result_type": "mintypecode",
    "use the functions of polynomials, such as polyval": "poly1d",
    "dtypes are text or NumPy's: dtype='float32', np.float32": """
        bool bool_ byte ubyte short ushort half intc uintc int_ uint intp uintp long ulong longlong ulonglong single double
        csingle cdouble complex_ float_ dtype generic number inexact floating
        complexfloating integer signedinteger unsignedinteger ScalarType sctypeDict typecodes""",
    "write np.True_ and np.False_": "True_ False_",
    "tensors have floats of at most 64 bits": "longdouble clongdouble float128 complex256",
    "NumPy has no such dtype": """
        bfloat16 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn
        float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int2 int4 uint1 uint2 uint4""",
    "use TensorVariable": "ndarray",
    "use elementwise, which makes functions of elements": "ufunc",
    "it is NumPy's": "ComplexWarning",
    "use keys, or shared generators; docs/random.md": """
        BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence get_bit_generator set_bit_generator get_state
        set_state""",
    "use occelo.tensor.random.key": "seed",
    "use occelo.tensor.random.rng": "RandomState",
    "use occelo.tensor.random.uniform": "rand random random_sample ranf sample",
    "use occelo.tensor.random.normal": "randn",
    "use occelo.tensor.random.integers": "randint random_integers bytes",
    "use the function without standard_, whose scale is 1": "standard_cauchy standard_exponential standard_gamma standard_t",
    "make a RandomVariable with this name, which draws by NumPy's method of the name": """
        logseries noncentral_chisquare noncentral_f zipf""",
    "for tensors of 8 bits with scales, which Occelo does not have": """
        get_scaled_dot_general_config scaled_dot_general scaled_matmul""",
}
REASONS = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
"""Maps names that NumPy or JAX has to what to use instead, or to why Occelo does not have them."""
PLACES = {
    "numpy": "occelo.tensor",
    "numpy.fft": "occelo.tensor.fft",
    "numpy.lib.stride_tricks": "occelo.tensor",
    "numpy.linalg": "occelo.tensor.linalg",
    "numpy.random": "occelo.tensor.random",
    "jax.nn": "occelo.nn",
    "jax.nn.initializers": "occelo.nn.initializers",
    "jax.numpy": "occelo.tensor",
    "jax.numpy.fft": "occelo.tensor.fft",
    "jax.numpy.linalg": "occelo.tensor.linalg",
    "jax.ops": "occelo.tensor",
    "jax.scipy.special": "occelo.tensor",
}
"""Maps modules of NumPy and JAX to the modules of Occelo in which their names are."""

MODULES = {
    "numpy.char": "for text, as numpy.strings",
    "numpy.core": "a matter of NumPy's own workings",
    "numpy.ctypeslib": "for functions of other languages; use occelo.wrap_py, or an op with a C function",
    "numpy.dtypes": "dtypes are text or NumPy's",
    "numpy.emath": "the dtype of its results follows from the values; make the argument complex, and use the function itself",
    "numpy.exceptions": "those of NumPy's own functions",
    "numpy.f2py": "for functions of other languages; use occelo.wrap_py",
    "numpy.lib": "a matter of NumPy's own workings, but for numpy.lib.stride_tricks above",
    "numpy.ma": "use functions that skip NaN, where= of reductions, and switch",
    "numpy.polynomial": "use the functions of polynomials, such as polyval, polyfit and vander",
    "numpy.rec": "for records, whose elements are of several dtypes",
    "numpy.strings": "for text, and tensors are of numbers",
    "numpy.testing": "use it on the arrays that functions return; occelo.verify_grad checks derivatives",
    "numpy.typing": "use TensorLike of occelo.tensor",
}
"""Maps public modules of NumPy and JAX that Occelo has no namesake of to the reason."""


def reason(name: str) -> str | None:
    """What to use instead of a name of NumPy or JAX that is missing; None for other names, such as ``load`` of `occelo`."""
    return None if name in dir(occelo) else REASONS.get(name)
