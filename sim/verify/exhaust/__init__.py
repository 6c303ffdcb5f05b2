"""Instructions on all values of their lanes: model against emulator."""
