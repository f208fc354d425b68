"""The methods we are compared with, one a file. A new one is a file and a line here."""

from __future__ import annotations

from graphsr.baselines.method import Method

__all__ = ["METHODS", "Method"]

_ALL: tuple[Method, ...] = ()
METHODS = {method.name: method for method in _ALL}
