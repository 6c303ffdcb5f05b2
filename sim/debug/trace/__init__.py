"""What a call executes, written down for people and for other tools, at constant memory."""
