"""The two ways to run the iteration: numba kernels on the CPU, and plain torch on any device."""
