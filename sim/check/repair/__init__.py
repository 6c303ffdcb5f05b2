"""Blame by repair: the one change of the executed code after which all lanes are right says where the fault is."""
