"""Why a layer's numbers are others: what would make them, and where they were moved from."""
