"""A wider network that begins as the same function as a narrower one.

Its new channels read the maps before them as old channels do, through mirrored kernels: they see something else, and
the statistics of their normalisation hold. Nothing reads them yet, as the weights from them are zero. So the wider
network begins where the narrower one ended, and what it gains is what its width brings.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn

from graphsr.features.normalisation import NormalisedConvolution
from graphsr.features.unet import DecoderBlock, UNet
from graphsr.models.graphsr import GraphSR


def is_wider(wide: nn.Module, narrow: nn.Module) -> bool:
    """Return whether a network is another with more channels in the decoder of its U-Net or in its re-weighting."""
    if not (isinstance(wide, GraphSR) and isinstance(narrow, GraphSR)):
        return False
    new, old = wide.architecture, narrow.architecture
    same = replace(old, decoder_channels=new.decoder_channels, reweighting=new.reweighting)
    if new == old or new != same or not isinstance(wide.feature_extractor, UNet):
        return False
    if bool(new.reweighting) != bool(old.reweighting):
        return False
    return all(after >= before for after, before in zip(_widths(wide), _widths(narrow), strict=True))


def widen(narrow: GraphSR, wide: GraphSR) -> None:
    """Give a network the weights with which it does what a narrower one does, see `is_wider`."""
    state, wider = narrow.state_dict(), wide.state_dict()
    wide.load_state_dict(
        {name: value if value.shape == wider[name].shape else wider[name] for name, value in state.items()}
    )
    old, new = narrow.feature_extractor, wide.feature_extractor
    assert isinstance(old, UNet)
    assert isinstance(new, UNet)
    with torch.no_grad():
        for before, after in zip(old.decoder.blocks, new.decoder.blocks, strict=True):
            assert isinstance(before, DecoderBlock)
            assert isinstance(after, DecoderBlock)
            _widen_normalised(before.conv1, after.conv1, before.inputs - before.skip)
            _widen_normalised(before.conv2, after.conv2)
        _widen_convolution(old.segmentation_head[0], new.segmentation_head[0])
        if narrow.architecture.reweighting:
            for one, other in zip(narrow.reweighting.children(), wide.reweighting.children(), strict=True):
                _widen_convolution(one, other)


def _widths(model: GraphSR) -> tuple[int, ...]:
    extractor = model.feature_extractor
    assert isinstance(extractor, UNet)
    return *extractor.decoder_channels, model.architecture.reweighting


def _widen_normalised(old: NormalisedConvolution, new: NormalisedConvolution, first: int | None = None) -> None:
    _widen_convolution(old[0], new[0], first)
    state = old[1].state_dict()
    for name, value in new[1].state_dict().items():  # which shares its memory
        value.copy_(state[name][_parents(len(state[name]), len(value))] if value.ndim else state[name])


def _widen_convolution(old: nn.Module, new: nn.Module, first: int | None = None) -> None:
    """Widen a convolution; new inputs come after the `first` old ones, default after all."""
    assert isinstance(old, nn.Conv2d)
    assert isinstance(new, nn.Conv2d)
    outputs, inputs, *kernel = old.weight.shape
    unread = old.weight.new_zeros(outputs, new.in_channels - inputs, *kernel)
    weight = torch.cat([old.weight[:, :first], unread, *([] if first is None else [old.weight[:, first:]])], 1)
    parents = _parents(outputs, new.out_channels)
    new.weight.copy_(torch.cat([weight, weight[parents[outputs:]].flip(-1)]))
    if old.bias is not None and new.bias is not None:
        new.bias.copy_(old.bias[parents])


def _parents(before: int, after: int) -> Tensor:
    """Return which old channel each of the new ones is made of; the old ones come first."""
    return torch.arange(after) % before
