"""What goes around units in the project of somebody else."""
