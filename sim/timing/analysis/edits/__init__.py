"""Changes that a programmer would try, made to executed instructions."""
