"""Files of Caffe, written here byte by byte, are read as what they are."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import torch

import graphsr
from graphsr import InputError
from graphsr.baselines import caffe
from graphsr.baselines.msg_net import CAFFE_LAYERS, MSGNet, MSGNetBaseline


def varint(value: int) -> bytes:
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + varint(rest) if rest else bytes([low])


def field(number: int, content: bytes | str | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def blob(values: torch.Tensor, *, old: bool = False) -> bytes:
    if old:  # always four sides
        sides = [1] * (4 - values.ndim) + list(values.shape)
        shape = b"".join(field(number, side) for number, side in zip((1, 2, 3, 4), sides, strict=True))
    else:
        shape = field(7, field(1, b"".join(varint(side) for side in values.shape)))
    return shape + field(5, struct.pack(f"<{values.numel()}f", *values.flatten().tolist()))


def layer(name: str, kind: str, reads: str, writes: str, *blobs: bytes) -> bytes:
    words = field(1, name) + field(2, kind) + field(3, reads) + field(4, writes)
    loss_weight = varint(5 << 3 | 5) + struct.pack("<f", 1.0)  # a field of another kind, which must be skipped
    return field(100, words + loss_weight + b"".join(field(7, content) for content in blobs) + field(10, 1))


@pytest.fixture(params=[False, True], ids=["new shapes", "old shapes"])
def published(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[dict[str, torch.Tensor], Path]:
    """MSG-Net x4 as its authors would have stored it, and the numbers in it by our names."""
    torch.manual_seed(5)
    state = {name: torch.randn_like(value) for name, value in MSGNet(4).state_dict().items()}
    content = field(1, "MSGNet") + layer("data", "Input", "", "data")
    for number, (module, name) in enumerate(CAFFE_LAYERS[4].items()):
        convolution = module if module == "out" else f"{module}.convolution"
        kind = "Deconvolution" if "enlarge" in module else "Convolution"
        parts = (state[f"{convolution}.weight"], state[f"{convolution}.bias"])
        content += layer(name, kind, "data", name, *(blob(part, old=request.param) for part in parts))
        if module != "out":
            slope = blob(state[f"{module}.slope.weight"], old=request.param)
            content += layer(f"relu{number}", "PReLU", name, name, slope)
    path = tmp_path / "MSGNet_x4.caffemodel"
    path.write_bytes(content)
    return state, path


def test_the_published_files_of_msg_net_load(published):
    state, path = published
    model = graphsr.load(f"msg-net-x4:{path}")
    assert isinstance(model, MSGNetBaseline)
    found = model.network.state_dict()
    assert found.keys() == state.keys()
    assert all(torch.equal(found[name], state[name]) for name in state)


@pytest.mark.slow
def test_at_another_factor_they_are_refused(published):
    with pytest.raises(InputError, match="do not fit msg-net-x8"):
        graphsr.load(f"msg-net-x8:{published[1]}")


def test_a_file_that_was_cut_off_is_refused(published):
    path = published[1]
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.raises(InputError, match=r"MSGNet_x4\.caffemodel: cannot be read as a state dict: it ends too early"):
        graphsr.load(f"msg-net-x4:{path}")


@pytest.mark.parametrize("content", [b"", b"no Caffe", bytes(200), b"\xff" * 40, field(1, "empty")])
def test_what_is_no_such_file_is_refused(tmp_path, content):
    path = tmp_path / "a.caffemodel"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"no convolution|protocol buffer|ends too early"):
        caffe.read(path)
    with pytest.raises(InputError, match="cannot be read as a state dict"):
        graphsr.load(f"msg-net-x4:{path}")
