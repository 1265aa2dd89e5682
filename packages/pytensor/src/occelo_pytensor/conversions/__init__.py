"""The conversions of PyTensor's ops, one module for each family of ops. Each registers itself when it is imported."""

from __future__ import annotations

from occelo_pytensor.conversions import (
    checks as checks,
)
from occelo_pytensor.conversions import (
    creation as creation,
)
from occelo_pytensor.conversions import (
    elementwise as elementwise,
)
from occelo_pytensor.conversions import (
    indexing as indexing,
)
from occelo_pytensor.conversions import (
    inner_graphs as inner_graphs,
)
from occelo_pytensor.conversions import (
    joins as joins,
)
from occelo_pytensor.conversions import (
    linear_algebra as linear_algebra,
)
from occelo_pytensor.conversions import (
    loops as loops,
)
from occelo_pytensor.conversions import (
    named_dimensions as named_dimensions,
)
from occelo_pytensor.conversions import (
    optimization as optimization,
)
from occelo_pytensor.conversions import (
    products as products,
)
from occelo_pytensor.conversions import (
    random_variables as random_variables,
)
from occelo_pytensor.conversions import (
    reductions as reductions,
)
from occelo_pytensor.conversions import (
    shapes as shapes,
)
from occelo_pytensor.conversions import (
    signals as signals,
)
from occelo_pytensor.conversions import (
    sorting as sorting,
)
