"""The loss of a batch as a module, which is what every process of a distributed training wraps and runs."""

from __future__ import annotations

from torch import Tensor, nn

from graphsr.models.graphsr import GraphSR
from graphsr.training.loss import noise_loss, target_loss
from graphsr.training.network import Trainable
from graphsr.training.sections import Optimisation


class TrainingStep(nn.Module):
    """Run a network and return its loss, so that gradients are averaged over processes whatever the loss is made of."""

    def __init__(self, network: Trainable, how: Optimisation) -> None:
        super().__init__()
        self.network, self.how = network, how

    def forward(self, guide: Tensor, source: Tensor, target: Tensor) -> Tensor:
        """Return the loss () of guide (B, 3, H, W), source (B, 1, h, w) and target (B, 1, H, W)."""
        if not isinstance(self.network, GraphSR):
            return target_loss(self.network(guide, source), target, source, self.how.loss)
        if self.how.loss == "noise":
            return noise_loss(self.network.noise(guide, source), target, source)
        result = self.network.run(guide, source)
        loss = target_loss(result.target, target, source, self.how.loss)
        if self.how.noise_loss and result.noise is not None:
            loss = loss + self.how.noise_loss * noise_loss(result.noise, target, source)
        return loss
