"""Machine code compiled for this computer, through C that is generated from the lane expressions."""
