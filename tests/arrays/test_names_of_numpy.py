"""NumPy's public functions: each has a namesake in `occelo.tensor`, or a reason why not."""

from __future__ import annotations

import numpy as np

import occelo.tensor as ot

SIGNALS = "blackman convolve correlate hamming hanning kaiser"
"""What is a matter of signals, see docs/signal.md."""
ABSENT = {
    "writes into its argument, and variables never change": "copyto place put put_along_axis putmask",
    "computes no array": """
        array2string array_repr array_str base_repr binary_repr einsum_path format_float_positional format_float_scientific
        info iterable isscalar mintypecode nested_iters test typename""",
    "of files, buffers and other sources of numbers": """
        from_dlpack frombuffer fromfile fromfunction fromiter fromregex fromstring genfromtxt load loadtxt save savetxt savez
        savez_compressed""",
    "settings of NumPy": """
        get_include get_printoptions getbufsize geterr geterrcall printoptions set_printoptions setbufsize seterr seterrcall
        show_config show_runtime""",
    "of dtypes, which are NumPy's": """
        can_cast common_type isdtype issubdtype min_scalar_type promote_types result_type""",
    "of dates": "busday_count busday_offset datetime_as_string datetime_data is_busday isnat",
    "as_tensor_variable makes variables; their memory is not the user's": """
        array asanyarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix isfortran may_share_memory require
        shares_memory""",
    "calls a function for each row: occelo.vectorize": "apply_along_axis apply_over_axes frompyfunc",
    "the dtype would follow from the values": "real_if_close",
    "the work of linear algebra: lstsq of vander(x, deg + 1), eigvals of a companion matrix": "polyfit roots",
    "older names: block, and sort of complex numbers": "bmat sort_complex",
    "broadcast_shape has shapes of variables": "broadcast_shapes",
    "isclose(a, b).all() is a variable; == compares identity": "array_equal array_equiv",
    "x[condition] and switch": "extract piecewise select",
    "of bits in bytes": "packbits unpackbits",
}


def test_every_function_has_a_namesake_or_a_reason() -> None:
    functions = [
        name
        for name in dir(np)
        if name[0] != "_"
        and callable(getattr(np, name))
        and not isinstance(getattr(np, name), type)
    ]
    missing = {name for name in functions if not hasattr(ot, name)}
    with_reasons = {name for names in ABSENT.values() for name in names.split()}
    assert missing <= with_reasons | set(SIGNALS.split())
    assert not {name for name in with_reasons if hasattr(ot, name)}
