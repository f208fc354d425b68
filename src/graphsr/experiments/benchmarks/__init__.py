"""Benchmarks of speed and memory: the solver, rasters in tiles, and memory at its peak."""
