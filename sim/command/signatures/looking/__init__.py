"""What the commands take that look at one call instruction by instruction."""
