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
    "a variable is no iterator of Python": "iterable nditer nested_iters ndenumerate ndindex flatiter broadcast",
    "a matter of NumPy, its memory and its settings, not of graphs": """
        info test get_include get_printoptions getbufsize geterr geterrcall printoptions set_printoptions setbufsize seterr
        seterrcall show_config show_runtime errstate little_endian may_share_memory shares_memory require isfortran
        asfortranarray ascontiguousarray asarray_chkfinite as_strided DummyArray byte_bounds""",
    "use NumPy, and as_tensor on its result": """
        from_dlpack frombuffer fromfile fromiter fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez
        savez_compressed""",
    "use NumPy's, for text, dates, records and objects": """
        busday_count busday_offset busdaycalendar datetime_as_string datetime_data is_busday isnat datetime64 timedelta64
        char strings rec recarray record object_ bytes_ str_ void flexible character""",
    "use matrices of two dimensions": "asmatrix bmat",
    "use occelo.vectorize": "frompyfunc",
    "the dtype would follow from the values": "real_if_close min_scalar_type",
    "use result_type": "common_type mintypecode",
    "use the functions of polynomials, such as polyval": "poly1d",
    "dtypes are text or NumPy's: dtype='float32', np.float32": """
        bool bool_ byte ubyte short ushort half intc uintc int_ uint intp uintp long ulong longlong ulonglong single double
        longdouble csingle cdouble clongdouble complex_ float_ complex256 float128 dtype generic number inexact floating
        complexfloating integer signedinteger unsignedinteger ScalarType sctypeDict typecodes False_ True_""",
    "NumPy has no such dtype": """
        bfloat16 float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn
        float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int2 int4 uint1 uint2 uint4""",
    "use TensorVariable": "ndarray",
    "use elementwise, which makes functions of elements": "ufunc",
    "it is NumPy's": "ComplexWarning",
    "for tensors of 8 bits with scales, which Occelo does not have": """
        get_scaled_dot_general_config scaled_dot_general scaled_matmul""",
    "special functions are of real numbers; use dawsn, erfcx and elementwise functions of both parts": "wofz sph_harm_y",
}
REASONS = {name: reason for reason, names in _BY_REASON.items() for name in names.split()}
"""Maps names that NumPy or JAX has to what to use instead, or to why Occelo does not have them."""
PLACES = {
    "numpy": "occelo.tensor",
    "numpy.fft": "occelo.tensor.fft",
    "numpy.lib.stride_tricks": "occelo.tensor",
    "numpy.linalg": "occelo.tensor.linalg",
    "jax.nn": "occelo.nn",
    "jax.nn.initializers": "occelo.nn.initializers",
    "jax.numpy": "occelo.tensor",
    "jax.numpy.fft": "occelo.tensor.fft",
    "jax.numpy.linalg": "occelo.tensor.linalg",
    "jax.ops": "occelo.tensor",
    "jax.scipy.special": "occelo.tensor",
}
"""Maps modules of NumPy and JAX to the modules of Occelo in which their names are."""


def reason(name: str) -> str | None:
    """What to use instead of a name of NumPy or JAX that is missing; None for other names, such as ``load`` of `occelo`."""
    return None if name in dir(occelo) else REASONS.get(name)
