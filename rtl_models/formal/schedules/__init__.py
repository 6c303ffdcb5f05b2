"""What is proved of a stream of anybody's: under every schedule of its two sides, whatever its registers are."""
