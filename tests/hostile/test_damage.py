"""Damage is noticed: no wrong pixels or weights without a word."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import tifffile
import torch
from PIL import Image as PillowImage
from safetensors import safe_open
from safetensors.torch import save_file

import graphsr
from graphsr import InputError
from graphsr.files import read_image, write_image
from graphsr.training import checkpoint as checkpoints
from graphsr.training.checkpoint import Checkpoint

IMAGE = np.random.default_rng(0).integers(0, 60_000, (48, 64)).astype(np.uint16)


@pytest.mark.parametrize("cut", [1, 9, 130])
@pytest.mark.parametrize(
    "how",
    [{}, {"rowsperstrip": 8}, {"tile": (16, 16)}, {"compression": "zlib"}, {"compression": "zlib", "tile": (16, 16)}],
)
def test_a_tiff_cut_short(tmp_path, how, cut):
    path = tmp_path / "cut.tif"
    tifffile.imwrite(path, IMAGE, **how)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(InputError, match=r"cut.tif: "):
        read_image(path)


@pytest.mark.parametrize("compression", [None, "tiff_lzw", "tiff_adobe_deflate"])
@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_tiff_of_pillow_cut_short(tmp_path, compression, cut):
    """Its directory stands at the end, or in front of the pixels."""
    path = tmp_path / "cut.tif"
    PillowImage.fromarray((IMAGE >> 8).astype(np.uint8)).save(path, compression=compression)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(InputError, match=r"cut.tif: "):
        read_image(path)


@pytest.mark.parametrize("array", [IMAGE, np.stack([IMAGE] * 3, -1), (IMAGE >> 8).astype(np.uint8)], ids=str)
def test_flipped_bits_in_a_png(tmp_path, array):
    path = tmp_path / "flipped.png"
    write_image(path, array)
    whole = path.read_bytes()
    for place in np.random.default_rng(1).integers(60, len(whole) - 20, 12):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"flipped.png: cannot be read as PNG; the file may be damaged"):
            read_image(path)


def a_checkpoint(weight: float = 1.0) -> Checkpoint:
    model = {"a.weight": torch.full((50, 50), weight), "a.count": torch.tensor(3)}
    optimiser = {"state": {0: {"exp_avg": torch.ones(50, 50)}}, "param_groups": [{"lr": 0.1, "params": [0]}]}
    return Checkpoint(7, model, {}, optimiser, best=0.5, config={"model": {"features": 8}})


class TestCheckpoints:
    def test_round_trip(self, tmp_path):
        checkpoints.write(tmp_path / "last.ckpt", a_checkpoint())
        assert checkpoints.read(tmp_path / "last.ckpt").step == 7

    def test_flipped_bytes(self, tmp_path):
        path = tmp_path / "last.ckpt"
        checkpoints.write(path, a_checkpoint())
        whole = path.read_bytes()
        begin = whole.index(b"\x00\x00\x80\x3f" * 8)  # ones
        for step in (0, 400, 9000):
            damaged = bytearray(whole)
            damaged[begin + step] ^= 1
            path.write_bytes(damaged)
            with pytest.raises(InputError, match=r"last.ckpt: is damaged"):
                checkpoints.read(path)

    def test_of_nan(self, tmp_path):
        checkpoints.write(tmp_path / "last.ckpt", a_checkpoint(float("nan")))
        with pytest.raises(InputError, match=r"last.ckpt: its weights are not finite \(a.weight holds NaN"):
            checkpoints.read(tmp_path / "last.ckpt")

    def test_of_earlier_versions(self, tmp_path):
        path = tmp_path / "last.ckpt"
        torch.save({name: getattr(a_checkpoint(), name) for name in Checkpoint.__dataclass_fields__}, path)
        assert checkpoints.read(path).step == 7


class TestModels:
    @pytest.fixture
    def path(self, tmp_path) -> Path:
        torch.manual_seed(0)
        model = graphsr.GraphSR(graphsr.Architecture(extractor="colour"))
        graphsr.save(model, tmp_path / "mine.safetensors")
        return tmp_path / "mine.safetensors"

    def rewrite(self, path: Path, change) -> None:
        with safe_open(path, "pt") as file:
            metadata = {name: value for name, value in file.metadata().items() if name != "digest"}
            tensors = {name: change(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
        save_file(tensors, path, metadata)

    def test_a_flipped_byte(self, path):
        whole = bytearray(path.read_bytes())
        whole[-2] ^= 1
        path.write_bytes(whole)
        with pytest.raises(InputError, match=r"mine.safetensors: is damaged: its numbers are not those"):
            graphsr.load(path)

    def test_integers(self, path):
        self.rewrite(path, lambda tensor: tensor.to(torch.int32))
        with pytest.raises(InputError, match=r"mine.safetensors: log_\w+ holds torch.int32, not torch.float32"):
            graphsr.load(path)

    def test_nan(self, path):
        self.rewrite(path, lambda tensor: tensor * float("nan"))
        with pytest.raises(InputError, match=r"mine.safetensors: its weights are not finite"):
            graphsr.load(path)

    def test_files_without_a_digest(self, path):
        self.rewrite(path, lambda tensor: tensor)
        assert graphsr.load(path)(torch.rand(1, 3, 8, 8), torch.rand(1, 1, 2, 2)).shape == (1, 1, 8, 8)

    def test_the_digest_is_written(self, path):
        with safe_open(path, "pt") as file:
            assert len(file.metadata()["digest"]) == 16
            assert json.loads(file.metadata()["architecture"])["extractor"] == "colour"


@pytest.mark.parametrize("cut", [1, 2, 30, 0.5])
@pytest.mark.parametrize(
    "name", ["a.png", "a.jpg", "a.tif", "a.npy", "a.npz", "a.pfm", "a.exr", "a.bmp", "a.webp", "a.pgm", "a.ppm"]
)
def test_no_cut_gives_other_pixels(tmp_path, name, cut):
    path = tmp_path / name
    grey = (IMAGE >> 8).astype(np.uint8)
    grey[-1, 62] = 7  # the last number of the text has one digit, or half of it would be a number too
    if name == "a.exr":
        pytest.importorskip("OpenEXR")
    if name in ("a.pfm", "a.exr"):
        write_image(path, IMAGE.astype(np.float32))
    elif name in ("a.bmp", "a.webp", "a.pgm"):
        PillowImage.fromarray(grey).save(path)
    elif name == "a.ppm":
        path.write_text(f"P3 21 48 255\n{' '.join(map(str, grey[:, :63].ravel()))}\n")
    else:
        write_image(path, grey)
    whole, data = read_image(path).array, path.read_bytes()
    path.write_bytes(data[: len(data) - (cut if isinstance(cut, int) else int(cut * len(data)))])
    try:
        found = read_image(path).array
    except InputError:
        return
    np.testing.assert_array_equal(found, whole)


def test_threads_do_not_hear_of_each_others_damage(tmp_path):
    """Half of the files are damaged; each is judged by itself, and nothing is printed by libraries."""
    for number in range(8):
        path = tmp_path / f"{number}.tif"
        PillowImage.fromarray((IMAGE >> 8).astype(np.uint8)).save(path, compression="tiff_adobe_deflate")
        if number % 2:
            path.write_bytes(path.read_bytes()[:-40])

    def whole(number: int) -> bool:
        try:
            read_image(tmp_path / f"{number % 8}.tif")
        except InputError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(whole, range(40))) == [number % 2 == 0 for number in range(40)]


def test_threads_give_the_standard_output_back(tmp_path, capfd):
    pytest.importorskip("OpenEXR")
    write_image(tmp_path / "a.exr", IMAGE.astype(np.float32))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: read_image(tmp_path / "a.exr"), range(20)))
    os.write(1, b"still here")
    assert capfd.readouterr().out == "still here"
