"""Training: configuration, the stream of samples, the loop, checkpoints."""
