"""What each command takes and says of itself: help and wrong options load nothing of what does the work."""
