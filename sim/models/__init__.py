"""Quantized networks from files: what a layer computes, and which convention made what somebody's runtime gave."""
