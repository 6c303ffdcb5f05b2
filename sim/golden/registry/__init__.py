"""Every convention by its name: the families, what each declares of itself."""
