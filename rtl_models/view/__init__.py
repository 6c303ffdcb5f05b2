"""Pictures of the hardware."""
