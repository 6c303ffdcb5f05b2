"""What `lanewise cycles` times, on what, and what comes of it."""
