"""Commands about many jobs, and what came of them."""
