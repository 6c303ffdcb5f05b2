"""What a device recorded: one picture or several, by itself or beside what a runtime makes of the same inputs."""
