"""`python -m rtl_models.exhaustive`."""

import sys

from rtl_models.exhaustive.run import main

sys.exit(main(sys.argv[1:]))
