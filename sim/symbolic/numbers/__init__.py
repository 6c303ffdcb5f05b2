"""Unknown numbers in the hands of numpy and Python: what a golden reference is run on."""
