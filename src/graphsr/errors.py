"""The errors a user can meet. The command line prints their message and exits with code 2."""


class GraphSRError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(GraphSRError, ValueError):
    """An argument or a file is not what it has to be; the message names it and says what would be right."""


class ConvergenceError(GraphSRError, RuntimeError):
    """A solve did not reach its tolerance; the message says what to try."""


def missing_extra(what: str, extra: str) -> InputError:
    """What to raise where a package that only an extra installs is not there; `what` names who needs it."""
    return InputError(f"{what}: pip install -e '.[{extra}]' in the clone of graphsr")


def out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory ran out; torch has no type of its own for that."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
