"""What debug information (DWARF) says of a program: types of functions, lines of data, calls of what is inlined."""
