"""Synthetic rooms and still lifes: a guide image and its exact depth from a seed."""

from graphsr.scenes.generate import Scene, scene

__all__ = ["Scene", "scene"]
