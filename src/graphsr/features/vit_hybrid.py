"""The encoder of DPT-Hybrid: a ResNet-50 of three stages followed by ViT-B, with the names of timm."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.features.encoder import Encoder
from graphsr.features.padding import SameConv2d, pad_same

WIDTH = 768
BLOCKS = 12
HEADS = 12
TAPPED_BLOCKS = (8, 11)
# Side of the token grid of the position embedding: 384 / 16.
GRID = 24


class StandardisedConv2d(SameConv2d):
    """Convolve with 'same' padding and filters that are brought to mean 0 and variance 1 before use."""

    def forward(self, x: Tensor) -> Tensor:
        variance, mean = torch.var_mean(self.weight, dim=(1, 2, 3), keepdim=True, correction=0)
        return self._conv_forward(x, (self.weight - mean) * torch.rsqrt(variance + 1e-8), None)


def _norm(channels: int) -> nn.GroupNorm:
    return nn.GroupNorm(32, channels)


class ConvolutionNorm(nn.Module):
    """Convolve and normalise by groups: (B, C, H, W) -> (B, M, H/stride, W/stride)."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__()
        self.conv = StandardisedConv2d(inputs, outputs, kernel, stride)
        self.norm = _norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.conv(x))
        return x


class Bottleneck(nn.Module):
    """Apply convolutions of 1x1, 3x3 and 1x1 and a shortcut: (B, C, H, W) -> (B, M, H/stride, W/stride)."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        width = outputs // 4
        self.downsample = ConvolutionNorm(inputs, outputs, 1, stride) if inputs != outputs else None
        self.conv1 = StandardisedConv2d(inputs, width, 1)
        self.norm1 = _norm(width)
        self.conv2 = StandardisedConv2d(width, width, 3, stride)
        self.norm2 = _norm(width)
        self.conv3 = StandardisedConv2d(width, outputs, 1)
        self.norm3 = _norm(outputs)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.norm1(self.conv1(x)))
        x = F.relu(self.norm2(self.conv2(x)))
        return F.relu(self.norm3(self.conv3(x)) + shortcut)


class Stage(nn.Module):
    """Apply a run of bottlenecks of one width; only the first has the stride."""

    def __init__(self, inputs: int, outputs: int, repeats: int, stride: int) -> None:
        super().__init__()
        first = Bottleneck(inputs, outputs, stride)
        self.blocks = nn.Sequential(first, *(Bottleneck(outputs, outputs, 1) for _ in range(repeats - 1)))

    def forward(self, x: Tensor) -> Tensor:
        x = self.blocks(x)
        return x


class ResNetStages(nn.Module):
    """Encode (B, C, H, W) to maps at H/4, H/8 and H/16."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.stem = ConvolutionNorm(in_channels, 64, 7, 2)
        self.stages = nn.ModuleList([Stage(64, 256, 3, 1), Stage(256, 512, 4, 2), Stage(512, 1024, 9, 2)])

    def forward(self, x: Tensor) -> list[Tensor]:
        x = F.relu(self.stem(x))
        x = F.max_pool2d(pad_same(x, 3, 2, value=-torch.inf), 3, 2)
        maps = []
        for stage in self.stages:
            x = stage(x)
            maps.append(x)
        return maps


class PatchEmbedding(nn.Module):
    """Hold the convolutional part and the 1x1 convolution that makes tokens of its last map."""

    def __init__(self, in_channels: int) -> None:
        super().__init__()
        self.backbone = ResNetStages(in_channels)
        self.proj = nn.Conv2d(1024, WIDTH, 1)


class Attention(nn.Module):
    """Apply multi-head self-attention: (B, N, 768) -> (B, N, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        batch, tokens, _ = x.shape
        qkv = self.qkv(x).view(batch, tokens, 3, HEADS, WIDTH // HEADS)
        query, key, value = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(query, key, value)
        x = self.proj(mixed.transpose(1, 2).reshape(batch, tokens, WIDTH))
        return x


class MultiLayerPerceptron(nn.Module):
    """Apply two linear layers to every token: (B, N, 768) -> (B, N, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.fc2 = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = self.fc2(F.gelu(self.fc1(x)))
        return x


class TransformerBlock(nn.Module):
    """Apply attention and a perceptron, each added to its input: (B, N, 768) -> (B, N, 768)."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-6)
        self.attn = Attention()
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-6)
        self.mlp = MultiLayerPerceptron()

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class HybridViT(Encoder):
    """Encode (B, C, H, W) to maps (B, 256, H/4, W/4), (B, 512, H/8, W/8) and twice tokens (B, 1 + HW/256, 768).

    The first token is the class token, the others are the grid at H/16 row by row. Weights were trained on
    (v - 0.5) / 0.5 and get (v - mean) / std: the change of scale, 2.2 for every channel, is undone by the
    group normalisation behind the first convolution, and what remains is a slight change of colour.
    """

    first_convolution = "patch_embed.backbone.stem.conv.weight"
    ignored_keys = ("head.", "fc_norm.")

    def __init__(self, in_channels: int) -> None:
        super().__init__(in_channels, (256, 512, WIDTH, WIDTH), "timm's vit_base_r50_s16_384 (a state dict)")
        self.cls_token = nn.Parameter(torch.zeros(1, 1, WIDTH))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + GRID * GRID, WIDTH))
        self.patch_embed = PatchEmbedding(in_channels)
        self.blocks = nn.ModuleList(TransformerBlock() for _ in range(BLOCKS))
        # Never run: the maps leave before it. Part of DPT-Hybrid's state dict and count.
        self.norm = nn.LayerNorm(WIDTH, eps=1e-6)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.normal_(self.cls_token, std=1e-6)
        for module in self.blocks.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def forward(self, x: Tensor) -> list[Tensor]:
        quarter, eighth, sixteenth = self.patch_embed.backbone(x)
        grid = self.patch_embed.proj(sixteenth)
        height, width = grid.shape[-2:]
        tokens = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), grid.flatten(2).transpose(1, 2)], dim=1)
        tokens = tokens + self._position(height, width)
        maps = [quarter, eighth]
        for number, block in enumerate(self.blocks):
            tokens = block(tokens)
            if number in TAPPED_BLOCKS:
                maps.append(tokens)
        return maps

    def _position(self, height: int, width: int) -> Tensor:
        """Return the position embedding resized to the token grid: (1, 1 + height width, 768)."""
        grid = self.pos_embed[:, 1:].transpose(1, 2).reshape(1, WIDTH, GRID, GRID)
        grid = F.interpolate(grid, (height, width), mode="bilinear", align_corners=False)
        return torch.cat([self.pos_embed[:, :1], grid.flatten(2).transpose(1, 2)], dim=1)
