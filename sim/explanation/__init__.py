"""Which convention made somebody's output: candidates, the survey of them, and what tells two apart."""
