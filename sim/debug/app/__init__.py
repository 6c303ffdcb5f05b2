"""`lanewise debug` as an application of the terminal: a view of a session, by keys alone."""
