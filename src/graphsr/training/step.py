"""The loss of a batch as a module, which is what Lightning Fabric wraps and runs."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor, nn

from graphsr.models.base import whole
from graphsr.models.graphsr import GraphSR
from graphsr.models.restoration import Restored
from graphsr.sampling import Sampling
from graphsr.training.loss import noise_loss, target_loss
from graphsr.training.network import Trainable
from graphsr.training.scene_scale import SceneScale
from graphsr.training.sections import Optimisation


class TrainingStep(nn.Module):
    """Run a network and return its loss."""

    def __init__(self, network: Trainable, how: Optimisation) -> None:
        super().__init__()
        self.network, self.how = network, how

    def forward(
        self, guide: Tensor, source: Tensor, target: Tensor, footprint: str = "box", scene: SceneScale | None = None
    ) -> Tensor:
        """Return the loss ().

        Args:
            guide: (B, 3, H, W).
            source: (B, 1, h, w), NaN = missing.
            target: (B, 1, H, W), the truth; NaN = unknown.
            footprint: what a graph model is told that source pixels average over.
            scene: of the images that the samples are patches of; by default they are whole images.
        """
        unit = None if scene is None else scene.std

        def loss_of(found: Tensor) -> Tensor:
            return target_loss(found, target, source, self.how.loss, self.how.squared_times, unit)

        if not isinstance(self.network, GraphSR):
            return loss_of(self.network(guide, source))
        size, source_size = ((image.shape[-2], image.shape[-1]) for image in (target, source))
        sampling = Sampling(size, source_size, footprint=footprint)
        if self.how.loss == "noise":
            restored = self.network.restored(guide, source, footprint=footprint)
            return noise_loss(restored, target, source, sampling)
        window = whole(guide, source, None, sampling)
        if scene is not None:
            window = replace(window, scale=scene.applied_to(window.scale))
        result = self.network.run(guide, source, window=window)
        loss = loss_of(result.target)
        if self.how.noise_loss and result.noise is not None:
            assert result.problem is not None
            restored = Restored(result.problem.source, result.noise)
            loss = loss + self.how.noise_loss * noise_loss(restored, target, source, sampling, window.scale.source_std)
        return loss
