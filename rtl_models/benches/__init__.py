"""Benches that cocotb runs inside the simulator; `rtl_models.run` and `rtl_models.unit_run` start them from outside."""
