"""A unit under random stalls against the goldens, many beats an awaited edge."""
