"""Models of the streaming units and of their parts, and theorems about them."""
