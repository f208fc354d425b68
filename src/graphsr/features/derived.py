"""What is computed from weights alone, kept until one of them changes."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

T = TypeVar("T")


class _State(NamedTuple):
    """A tensor as it was."""

    tensor: Tensor
    memory: Tensor  # the same numbers, held so that no other tensor can come to lie where they are
    changes: int

    def is_still(self, tensor: Tensor) -> bool:
        """Return whether a tensor is that one, unchanged."""
        same = self.tensor is tensor and self.memory.data_ptr() == tensor.data_ptr()
        return same and self.changes == tensor._version


# Beside the modules and not in them: copies and files of a model have no use for it.
_kept: WeakKeyDictionary[nn.Module, tuple[list[_State], Any]] = WeakKeyDictionary()


def derived(owner: nn.Module, tensors: Sequence[Tensor | None], compute: Callable[[], T]) -> T:
    """Return what `compute` returns, or what it did the last time if no tensor has changed since.

    A tensor has changed if it is another one, or if torch has counted an operation on it in place, as optimisers,
    `load_state_dict` and everything else do but writing to `tensor.data`, which torch's own gradients do not notice
    either.

    Args:
        owner: The module that it is kept for, one thing each.
        tensors: All that `compute` reads.
        compute: Without gradients; it must not refer to the owner by what it returns.
    """
    present = [each for each in tensors if each is not None]
    uncounted = any(each.is_inference() for each in present)
    # Exporters and compilers record what they see computed.
    exported: bool = torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]
    if uncounted or exported or torch.compiler.is_compiling():
        return compute()
    states, kept = _kept.get(owner, ([], None))
    if len(states) == len(present) and all(map(_State.is_still, states, present)):
        last: T = kept
        return last
    found = compute()
    _kept[owner] = [_State(each, each.detach(), each._version) for each in present], found
    return found
