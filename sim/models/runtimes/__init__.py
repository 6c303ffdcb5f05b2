"""What runs a network's file as native code of its own."""
