"""`as_torch` turns a compiled function into a function of tensors. PyTorch is imported when `as_torch` is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_link.linker import check_compiled
from occelo_link.traced.calling import traced_function


def as_torch(function: Any) -> Callable[..., Any]:
    """Return a compiled function as a function of tensors that ``torch.autograd`` can differentiate.

    The function that is returned accepts the arguments in order, and returns a single output or a list of outputs. It
    reads the present values of shared variables, updates nothing, and leaves out checks.

    Raises ModuleNotFoundError if PyTorch is not installed, and TypeError if an input or output is not an array.
    """
    check_compiled(function, "as_torch")
    # PyTorch is slow to import, and may not be installed
    from occelo_link.torch.arrays import TorchArrays, on_device

    return traced_function(function, TorchArrays(), on_device, "as_torch")
