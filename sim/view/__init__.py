"""How results look: tables, pictures."""
