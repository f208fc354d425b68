"""What is computed from weights is kept as long as they stay as they are, and no longer."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest
import torch
from torch import nn

from graphsr.features.derived import derived


def doubled(module: nn.Linear) -> torch.Tensor:
    with torch.no_grad():
        return derived(module, (module.weight, module.bias), lambda: 2 * module.weight)


def replace_parameter(module: nn.Linear) -> None:
    module.weight = nn.Parameter(module.weight.detach() + 1)


def replace_data(module: nn.Linear) -> None:
    module.weight.data = module.weight.detach() + 1


def train(module: nn.Linear) -> None:
    optimiser = torch.optim.SGD(module.parameters(), lr=0.5)
    module(torch.ones(1, 2)).sum().backward()
    optimiser.step()


def load(module: nn.Linear) -> None:
    module.load_state_dict({name: value + 1 for name, value in module.state_dict().items()})


CHANGES = {
    "in place": lambda module: module.weight.detach().add_(1),
    "an optimiser": train,
    "loaded": load,
    "another parameter": replace_parameter,
    "other data": replace_data,
    "another type": lambda module: module.double(),
}


def test_it_is_computed_once():
    module = nn.Linear(2, 3)
    assert doubled(module) is doubled(module)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_weights_that_change_count_at_once(change):
    module = nn.Linear(2, 3)
    before = doubled(module)
    change(module)
    assert torch.equal(doubled(module), 2 * module.weight)
    assert not torch.equal(doubled(module), before)


def test_a_copy_has_its_own():
    module = nn.Linear(2, 3)
    before = doubled(module)
    other = copy.deepcopy(module)
    other.weight.detach().add_(1)
    assert torch.equal(doubled(other), 2 * other.weight)
    assert doubled(module) is before


def test_it_goes_with_its_module():
    module = nn.Linear(2, 3)
    kept = weakref.ref(doubled(module))
    del module
    gc.collect()
    assert kept() is None


def test_weights_whose_changes_nobody_counts_are_computed_anew():
    with torch.inference_mode():
        module = nn.Linear(2, 3)
        doubled(module)
        module.weight.add_(1)
        assert torch.equal(doubled(module), 2 * module.weight)
