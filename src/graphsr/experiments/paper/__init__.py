"""The tables and figures of the paper, and the protocol of later papers."""
