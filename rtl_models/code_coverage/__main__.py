"""`python -m rtl_models.code_coverage`."""

import sys

from rtl_models.code_coverage.run import main

sys.exit(main(sys.argv[1:]))
