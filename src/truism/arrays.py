"""Names for the arrays that most modules use."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]  # positions in a table
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]
