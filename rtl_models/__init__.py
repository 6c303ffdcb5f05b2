"""The lanes as hardware."""
