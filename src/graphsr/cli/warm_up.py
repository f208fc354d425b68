"""graphsr warm-up: compile the kernels now, so that no later command has to."""

from __future__ import annotations

from graphsr.cli.console import say, spinner


def warm_up() -> None:
    """Compile the kernels now instead of on first use.

    They are cached, so this is worth doing once after an installation: in an image, or before a class.
    """
    import time

    from graphsr.cli.compilation import compile_kernels
    from graphsr.scenes import scene

    began = time.perf_counter()
    with spinner("compiling kernels"):
        for exact in (False, True):  # the latter in double precision
            compile_kernels("colour", exact=exact)
        for footprint in ("bicubic", "gaussian:0.8"):  # which share target pixels, as factors below 2 do
            compile_kernels("colour", exact=False, footprint=footprint)  # the latter in double precision
        compile_kernels("colour", exact=False, channels=16)  # so many share a factorisation
        scene(0, (32, 32))
    say("compiled", f"in {time.perf_counter() - began:.0f} s, and cached for all later commands")
