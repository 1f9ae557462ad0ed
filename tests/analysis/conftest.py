"""Synthetic results are shared with the tests of tables and figures."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "render")]
