"""Training: configuration, samples, the loop, validation, checkpoints."""
