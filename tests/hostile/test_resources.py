"""What a file asks for is checked before it is taken: memory, an end, a kind of file."""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

import graphsr
from graphsr import InputError
from graphsr.files import check_output, read_image
from graphsr.files.formats import png
from graphsr.files.points import read_points
from graphsr.memory import total_memory
from graphsr.training.checkpoint import read as read_checkpoint
from graphsr.training.config import read_config


@pytest.fixture
def eight_gigabytes(monkeypatch):
    """A machine with so much memory."""
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 2_000_000, "SC_PAGE_SIZE": 4000}.__getitem__)


def a_png_of_one_bit(path: Path, side: int) -> Path:
    """Black pixels: nearly nothing on the disk."""
    deflate = zlib.compressobj(9)
    row = bytes(1 + side // 8)
    data = b"".join(deflate.compress(row) for _ in range(min(side, 16))) + deflate.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    chunks = [png._chunk(b"IHDR", header), png._chunk(b"IDAT", data), png._chunk(b"IEND", b"")]
    path.write_bytes(png.SIGNATURE + b"".join(chunks))
    return path


@pytest.mark.parametrize("side", [60_000, 400_000])
def test_a_small_file_of_many_pixels(tmp_path, side, eight_gigabytes):
    path = a_png_of_one_bit(tmp_path / "bomb.png", side)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match=rf"bomb.png: {side} x {side} pixels need about .* GB of memory, .* 8.0 GB"):
        read_image(path)


def test_pixels_are_counted_with_what_comes_after(tmp_path, eight_gigabytes):
    path = a_png_of_one_bit(tmp_path / "guide.png", 10_000)
    with pytest.raises(InputError, match=r"guide.png: 10000 x 10000 pixels need about 50.0 GB"):
        read_image(path, bytes_per_pixel=500)


def test_numpy_headers(tmp_path, eight_gigabytes):
    header = str({"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}).ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    (tmp_path / "large.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"large.npy: cut short; its header says"):
        read_image(tmp_path / "large.npy")
    with zipfile.ZipFile(tmp_path / "large.npz", "w") as archive:
        archive.writestr("a.npy", content)
    with pytest.raises(InputError, match=r"large.npz: 1000000 x 1000000 pixels need about"):
        read_image(tmp_path / "large.npz")


@pytest.mark.parametrize("header", [b"Pf\n100000 100000\n-1\n", b"P5\n100000 100000\n255\n", b"P2 100000 100000 9\n"])
def test_float_and_grey_maps(tmp_path, header):
    path = tmp_path / ("map.pfm" if header[1:2] == b"f" else "map.pgm")
    path.write_bytes(header + 50 * b"7 ")
    with pytest.raises(InputError, match=r"map.p.m: cut short; .* needed, .* found"):
        read_image(path)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("big", [False, True])
def test_a_directory_that_leads_back_to_itself(tmp_path, order, big):
    mark = b"II" if order == "<" else b"MM"
    at = 16 if big else 8
    if big:
        content = mark + struct.pack(f"{order}HHHQ", 43, 8, 0, at) + struct.pack(f"{order}Q", 0)
        content += struct.pack(f"{order}Q", at)
    else:
        content = mark + struct.pack(f"{order}HI", 42, at) + struct.pack(f"{order}HI", 0, at)
    (tmp_path / "loop.tif").write_bytes(content)
    with pytest.raises(InputError, match=r"loop.tif: its directory of pages leads back to itself"):
        read_image(tmp_path / "loop.tif")


def test_a_model_that_asks_for_a_million_channels(tmp_path):
    architecture = json.dumps({"extractor": "unet-resnet50", "features": 10**9})
    path = tmp_path / "large.safetensors"
    save_file({"a": torch.zeros(1)}, path, {"format": "graphsr model 1", "architecture": architecture})
    with pytest.raises(InputError, match=r"large.safetensors: does not hold the tensors of unet-resnet50"):
        graphsr.load(path)


@pytest.mark.parametrize("features", [-3, 0, 10**30])
def test_a_model_that_cannot_be_built(tmp_path, features):
    architecture = json.dumps({"extractor": "unet-resnet50", "features": features})
    path = tmp_path / "odd.safetensors"
    save_file({"a": torch.zeros(1)}, path, {"format": "graphsr model 1", "architecture": architecture})
    with pytest.raises(InputError, match=r"odd.safetensors"):
        graphsr.load(path)


def test_nested_metadata(tmp_path):
    path = tmp_path / "nested.safetensors"
    save_file({"a": torch.zeros(1)}, path, {"format": "graphsr model 1", "architecture": "[" * 100_000})
    with pytest.raises(InputError, match=r"nested.safetensors: holds no readable architecture"):
        graphsr.load(path)


def test_nested_configurations(tmp_path):
    path = tmp_path / "nested.toml"
    path.write_text("a = " + "[" * 50_000)
    with pytest.raises(InputError, match=r"nested.toml: cannot be read as TOML: its tables are nested too deeply"):
        read_config(str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
class TestPipesAndDevices:
    @pytest.mark.parametrize("suffix", [".png", ".tif", ".npy", ".pfm"])
    def test_as_images(self, tmp_path, suffix):
        path = tmp_path / f"pipe{suffix}"
        os.mkfifo(path)
        with pytest.raises(InputError, match=rf"pipe{suffix}: is a pipe or a device; give an image file"):
            read_image(path)

    def test_as_models_checkpoints_and_configurations(self, tmp_path):
        path = tmp_path / "pipe.safetensors"
        os.mkfifo(path)
        with pytest.raises(InputError, match=r"model .*: is a pipe or a device; give a model file"):
            graphsr.load(path)
        with pytest.raises(InputError, match=r"is a pipe or a device; give a checkpoint"):
            read_checkpoint(path)
        with pytest.raises(InputError, match=r"is a pipe or a device; give a TOML file"):
            read_config(str(path))
        os.mkfifo(tmp_path / "pipe.csv")
        with pytest.raises(InputError, match=r"pipe.csv: is a pipe or a device; give a text file of points"):
            read_points(tmp_path / "pipe.csv")

    def test_as_outputs(self, tmp_path):
        path = tmp_path / "pipe.tif"
        os.mkfifo(path)
        with pytest.raises(InputError, match=r"pipe.tif: is a pipe or a device, which would be replaced by a file"):
            check_output(path, "float32")


class TestMemory:
    """The limit of a container counts, not only the memory of the machine."""

    def limits(self, root: Path, lines: str, files: dict[str, str]) -> int:
        (root / "proc/self").mkdir(parents=True)
        (root / "proc/self/cgroup").write_text(lines)
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        return total_memory(root)

    def test_version_2(self, tmp_path):
        files = {"sys/fs/cgroup/a/memory.max": "2000000\n", "sys/fs/cgroup/a/b/memory.max": "max\n"}
        assert self.limits(tmp_path, "0::/a/b\n", files) == 2_000_000

    def test_version_1(self, tmp_path):
        files = {"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "3000000\n"}
        assert self.limits(tmp_path, "5:cpu:/\n4:memory:/x\n", files) == 3_000_000

    def test_a_container_that_sees_its_own_group_as_the_top(self, tmp_path):
        assert self.limits(tmp_path, "0::/machine/7\n", {"sys/fs/cgroup/memory.max": "4000000\n"}) == 4_000_000

    def test_no_limit(self, tmp_path):
        plain = total_memory(tmp_path / "nothing")
        files = {"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}
        assert self.limits(tmp_path, "4:memory:/\n", files) == plain
        assert plain > 10**8
