"""Looking at a pair and its target in a browser: a page served to this machine alone, or written into one file."""

from graphsr.viewer.export import write_page
from graphsr.viewer.pair import ViewedPair, read_viewed_pair
from graphsr.viewer.server import ViewServer
from graphsr.viewer.session import Session

__all__ = ["Session", "ViewServer", "ViewedPair", "read_viewed_pair", "write_page"]
