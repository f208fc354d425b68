"""The errors a user can meet. The command line prints their message and exits with code 2."""


class GraphSRError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(GraphSRError, ValueError):
    """An argument or a file is not what it has to be; the message names it and says what would be right."""


class ConvergenceError(GraphSRError, RuntimeError):
    """A solve did not reach its tolerance; the message says what to try."""
