"""A session to be looked at in a browser: a page by itself, and a widget of a notebook."""
