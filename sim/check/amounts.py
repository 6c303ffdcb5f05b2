"""How much a check compares."""

SHORT_LANES = 2_000
"""Random output lanes of input sets that are short, of every length; what is wanted beyond comes from long ones."""
USUAL_LANES, USUAL_SETS = 50_000, 300
"""Of a check that is told no number: random output lanes; where input sets have few each, no more sets than that beyond
the short ones, for the time goes by calls."""
