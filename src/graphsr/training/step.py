"""The loss of a batch as a module, which is what every process of a distributed training wraps and runs."""

from __future__ import annotations

from torch import Tensor, nn

from graphsr.models.base import whole
from graphsr.models.graphsr import GraphSR
from graphsr.sampling import Sampling
from graphsr.training.loss import noise_loss, target_loss
from graphsr.training.network import Trainable
from graphsr.training.sections import Optimisation


class TrainingStep(nn.Module):
    """Run a network and return its loss, so that gradients are averaged over processes whatever the loss is made of."""

    def __init__(self, network: Trainable, how: Optimisation) -> None:
        super().__init__()
        self.network, self.how = network, how

    def forward(self, guide: Tensor, source: Tensor, target: Tensor, footprint: str = "box") -> Tensor:
        """Return the loss ().

        Args:
            guide: (B, 3, H, W).
            source: (B, 1, h, w), NaN = missing.
            target: (B, 1, H, W), the truth; NaN = unknown.
            footprint: what a graph model is told that source pixels average over.
        """
        if not isinstance(self.network, GraphSR):
            return target_loss(self.network(guide, source), target, source, self.how.loss, self.how.squared_times)
        size, source_size = ((image.shape[-2], image.shape[-1]) for image in (target, source))
        sampling = Sampling(size, source_size, footprint=footprint)
        if self.how.loss == "noise":
            return noise_loss(self.network.noise(guide, source, footprint=footprint), target, source, sampling)
        result = self.network.run(guide, source, window=whole(guide, source, None, sampling))
        loss = target_loss(result.target, target, source, self.how.loss, self.how.squared_times)
        if self.how.noise_loss and result.noise is not None:
            loss = loss + self.how.noise_loss * noise_loss(result.noise, target, source, sampling)
        return loss
