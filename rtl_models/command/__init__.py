"""The group `lanewise rtl`."""
