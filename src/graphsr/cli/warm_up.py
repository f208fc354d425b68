"""graphsr warm-up: compile the kernels now, so that no later command has to."""

from __future__ import annotations

from graphsr.cli.console import say, working


def warm_up() -> None:
    """Compile the kernels now instead of on first use.

    They are cached, so this is worth doing once after an installation: in an image, or before a class.
    """
    import time

    import numpy as np

    import graphsr
    from graphsr.scenes import scene

    began = time.perf_counter()
    with working("compiling kernels"):
        guide = scene(0, (32, 32)).guide
        # A factor that is not whole, exactly: that is solved in double precision.
        for source_size, exact in (((8, 8), False), ((7, 7), True)):
            graphsr.upsample(guide, np.random.default_rng(0).random(source_size), model="colour", exact=exact)
    say("compiled", f"in {time.perf_counter() - began:.0f} s, and cached for all later commands")
