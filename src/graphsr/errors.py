"""The errors of this package. The command line prints their message and exits with code 2."""


class GraphSRError(Exception):
    """Base class of every error that this package raises on purpose."""


class InputError(GraphSRError, ValueError):
    """An argument or a file is not valid; the message names it and says what would be right."""


class ConvergenceError(GraphSRError, RuntimeError):
    """A solve did not reach its tolerance; the message says what to try."""


def missing_extra(what: str, extra: str) -> InputError:
    """Return the error to raise where a package is not installed that belongs to an extra.

    Args:
        what: Who needs the package, as the beginning of the message.
        extra: The extra's name in the package's metadata, such as "geo".

    Returns:
        The error, whose message ends in the command that installs the extra, from an index and in a clone alike: pip
        takes the extra's packages from the metadata of what is installed.

    Example:
        >>> str(missing_extra("rasters need rasterio", "geo"))
        "rasters need rasterio: pip install 'graphsr[geo]'"
    """
    return InputError(f"{what}: pip install 'graphsr[{extra}]'")


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error says that memory ran out; torch has no type of its own for that."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))
