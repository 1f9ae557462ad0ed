"""Made-up results are shared with the tests of what is drawn from them."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "render")]
