"""`python -m rtl_models.synthesis` synthesizes the units."""

import typer

from rtl_models.synthesis.command import synth

typer.run(synth)
