"""Forms and expressions as text that people read."""
