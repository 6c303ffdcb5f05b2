"""What the operators of each format of files compute, as exact sums with what is left to do with them."""
