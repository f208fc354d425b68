"""Extractors are built once for all tests of this folder: the large ones take a second each."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest
import torch

from graphsr import features
from graphsr.threads import on_threads

Build = Callable[[str], features.Extractor]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with on_threads(1):
        yield


@pytest.fixture(scope="session")
def built() -> Build:
    """name -> the extractor for an RGB guide, in evaluation mode, with uneven batch statistics."""

    @cache
    @torch.inference_mode(False)  # tests may ask from inside it, and others need gradients
    def build(name: str) -> features.Extractor:
        torch.manual_seed(0)
        net = features.build(name).eval()
        for key, tensor in net.state_dict().items():
            if key.endswith("running_mean"):
                tensor.normal_(0, 0.1)
            elif key.endswith("running_var"):
                tensor.uniform_(0.5, 1.5)
        return net

    return build
