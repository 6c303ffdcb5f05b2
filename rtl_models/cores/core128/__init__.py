"""`core128`: an in-order core of 128 bits, whose decoder and arithmetic are written from the instruction table."""
