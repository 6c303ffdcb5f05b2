"""How cycles look: timelines on the terminal, logs for Konata and Perfetto, a page, pictures."""
