"""How long instructions take on a named core: the classes, the cores, and the engines that schedule a stream."""
