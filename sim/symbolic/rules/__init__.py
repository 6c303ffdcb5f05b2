"""What expressions become when they are simplified: every rule, by the kind of node that it is tried on."""
