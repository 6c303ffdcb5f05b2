"""What makes a failing case small."""
