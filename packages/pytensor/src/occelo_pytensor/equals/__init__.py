"""The equals of Occelo's ops in PyTensor, one module for each family of ops. Each registers itself when it is imported."""

from __future__ import annotations

from occelo_pytensor.equals import (
    calls as calls,
)
from occelo_pytensor.equals import (
    control as control,
)
from occelo_pytensor.equals import (
    elementwise as elementwise,
)
from occelo_pytensor.equals import (
    indexing as indexing,
)
from occelo_pytensor.equals import (
    linear_algebra as linear_algebra,
)
from occelo_pytensor.equals import (
    loops as loops,
)
from occelo_pytensor.equals import (
    optimization as optimization,
)
from occelo_pytensor.equals import (
    random_variables as random_variables,
)
from occelo_pytensor.equals import (
    reductions as reductions,
)
from occelo_pytensor.equals import (
    shapes as shapes,
)
from occelo_pytensor.equals import (
    signals as signals,
)
from occelo_pytensor.equals import (
    sorting as sorting,
)
from occelo_pytensor.equals import (
    sparse as sparse,
)
