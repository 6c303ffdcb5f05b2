"""`python -m rtl_models.bulk`."""

import sys

from rtl_models.bulk.run import main

sys.exit(main())
