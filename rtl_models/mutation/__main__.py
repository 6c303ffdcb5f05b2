"""`python -m rtl_models.mutation` mutates the lanes and units."""

import typer

from rtl_models.mutation.command import mutate

typer.run(mutate)
