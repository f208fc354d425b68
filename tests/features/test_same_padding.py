"""TensorFlow's 'same' padding from the size at hand."""

import pytest
import torch
import torch.nn.functional as F

from graphsr.features.padding import SameConv2d, pad_to_multiple, same_padding


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "expected"),
    [
        (256, 3, 2, (0, 1)),
        (256, 5, 2, (1, 2)),
        (256, 7, 2, (2, 3)),
        (15, 5, 2, (2, 2)),
        (33, 3, 2, (1, 1)),
        (20, 3, 1, (1, 1)),
        (20, 5, 1, (2, 2)),
        (20, 1, 1, (0, 0)),
    ],
)
def test_amounts(size: int, kernel: int, stride: int, expected: tuple[int, int]) -> None:
    assert same_padding(size, kernel, stride) == expected


@pytest.mark.parametrize("size", [(8, 8), (7, 9), (8, 9)])
@pytest.mark.parametrize(("kernel", "stride"), [(3, 1), (3, 2), (5, 2), (1, 1)])
def test_convolution(size: tuple[int, int], kernel: int, stride: int) -> None:
    convolution = SameConv2d(2, 3, kernel, stride)
    x = torch.randn(1, 2, *size)
    (top, bottom), (left, right) = (same_padding(side, kernel, stride) for side in size)
    expected = F.conv2d(F.pad(x, (left, right, top, bottom)), convolution.weight, stride=stride)
    torch.testing.assert_close(convolution(x), expected)
    assert expected.shape[-2:] == tuple(-(-side // stride) for side in size)


def test_multiple_repeats_the_last_row_and_column() -> None:
    x = torch.arange(6.0).view(1, 1, 2, 3)
    expected = torch.tensor([[0.0, 1, 2, 2], [3, 4, 5, 5], [3, 4, 5, 5], [3, 4, 5, 5]])
    assert torch.equal(pad_to_multiple(x, 4)[0, 0], expected)
