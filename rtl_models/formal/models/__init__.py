"""The streaming units that are stages of arithmetic, each as registers and what these become."""
