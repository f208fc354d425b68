"""Baselines, one a file, all run like any model. A new one is a file and a line here."""

from __future__ import annotations

from graphsr.baselines import (
    bilateral_solver,
    dada,
    dkn,
    fdkn,
    fdsr,
    guided_filter,
    joint_bilateral,
    msg_net,
    pixtransform,
    pmbanet,
    sd_filter,
)
from graphsr.baselines.base import Method

__all__ = ["METHODS", "Method"]

_ALL: tuple[Method, ...] = (
    joint_bilateral.METHOD,
    guided_filter.METHOD,
    bilateral_solver.METHOD,
    sd_filter.METHOD,
    pixtransform.METHOD,
    msg_net.METHOD,
    dkn.METHOD,
    fdkn.METHOD,
    pmbanet.METHOD,
    fdsr.METHOD,
    dada.METHOD,
    dada.METHOD_COLOUR,
)
METHODS = {method.name: method for method in _ALL}
