"""How many small mistakes in the hardware the benches find, and what proofs say of the rest."""
