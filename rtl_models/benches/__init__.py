"""Benches that cocotb runs inside the simulator; `rtl_models.run` starts them from outside."""
