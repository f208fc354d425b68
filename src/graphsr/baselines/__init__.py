"""The methods we are compared with, one a file. A new one is a file and a line here."""

from __future__ import annotations

from graphsr.baselines import (
    bilateral_solver,
    dada,
    dkn,
    fdkn,
    fdsr_method,
    guided_filter,
    joint_bilateral,
    msg_net,
    pixtransform,
    pmbanet,
    sd_filter,
)
from graphsr.baselines.method import Method

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
    fdsr_method.METHOD,
    dada.METHOD,
    dada.METHOD_COLOUR,
)
METHODS = {method.name: method for method in _ALL}
