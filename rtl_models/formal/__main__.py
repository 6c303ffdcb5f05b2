"""`python -m rtl_models.formal` proves the theorems."""

import typer

from rtl_models.formal.command import prove

typer.run(prove)
