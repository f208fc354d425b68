"""PFM, EXR, NPY and NPZ: the formats of measurements."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from graphsr.errors import InputError
from graphsr.files import read_image, write_image


@given(
    arrays(
        np.float32,
        st.one_of(
            array_shapes(min_dims=2, max_dims=2, max_side=9),
            array_shapes(min_dims=2, max_dims=2, max_side=9).map(lambda shape: (*shape, 3)),
        ),
    )
)
def test_any_float_map_round_trips(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("pfm") / "any.pfm"
    write_image(path, array)
    np.testing.assert_array_equal(read_image(path).array, array)


@pytest.mark.parametrize(("scale", "order"), [("-1.0", "<"), ("1", ">"), ("-0.003922", "<")])
@pytest.mark.parametrize("kind", ["Pf", "PF"])
def test_pfm_rows_run_upwards_in_either_byte_order(tmp_path: Path, scale: str, order: str, kind: str) -> None:
    shape = (2, 3) if kind == "Pf" else (2, 3, 3)
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    pixels = array[::-1].astype(f"{order}f4").tobytes()
    (tmp_path / "map.pfm").write_bytes(f"{kind}\n3 2\n{scale}\n".encode() + pixels)
    image = read_image(tmp_path / "map.pfm")
    assert image.dtype == np.float32
    np.testing.assert_array_equal(image.array, array)


def test_a_pfm_cut_short_says_by_how_much(tmp_path: Path) -> None:
    (tmp_path / "map.pfm").write_bytes(b"Pf\n3 2\n-1.0\n" + bytes(20))
    with pytest.raises(InputError, match=r"map\.pfm: cut short; 24 bytes of pixels needed, 20 found"):
        read_image(tmp_path / "map.pfm")


def test_a_file_of_other_bytes_is_no_pfm(tmp_path: Path) -> None:
    (tmp_path / "map.pfm").write_bytes(b"P5\n3 2\n255\n" + bytes(6))
    with pytest.raises(InputError, match=r"map\.pfm: not a PFM file"):
        read_image(tmp_path / "map.pfm")


def test_npz_holds_exactly_one_array_or_the_error_names_them(tmp_path: Path) -> None:
    np.savez(tmp_path / "pair.npz", depth=np.zeros((2, 2)), mask=np.ones((2, 2)))
    with pytest.raises(InputError, match=r"pair\.npz.*holds 2 \(depth, mask\)"):
        read_image(tmp_path / "pair.npz")
    np.savez(tmp_path / "none.npz")
    with pytest.raises(InputError, match=r"none\.npz.*holds 0"):
        read_image(tmp_path / "none.npz")


@pytest.mark.parametrize("name", ["code.npy", "code.npz"])
def test_pickled_objects_are_never_loaded(tmp_path: Path, name: str) -> None:
    objects = np.array([[{"a": 1}]], dtype=object)
    if name.endswith("y"):
        np.save(tmp_path / name, objects, allow_pickle=True)
    else:
        np.savez(tmp_path / name, objects)
    with pytest.raises(InputError, match=name):
        read_image(tmp_path / name)


@pytest.mark.parametrize(
    ("array", "complaint"),
    [
        (np.zeros(4), r"shape \(4,\)"),
        (np.zeros((1, 2, 3, 4)), r"shape \(1, 2, 3, 4\)"),
        (np.zeros((0, 4)), "no pixels"),
        (np.zeros((2, 2), np.complex64), "complex64"),
        (np.array([["a", "b"]]), "type <U1"),
    ],
)
def test_arrays_that_are_no_images_are_refused(tmp_path: Path, array: np.ndarray, complaint: str) -> None:
    np.save(tmp_path / "odd.npy", array)
    with pytest.raises(InputError, match=rf"odd\.npy.*{complaint}"):
        read_image(tmp_path / "odd.npy")


def test_exr_takes_colour_and_says_what_it_left_out(tmp_path: Path) -> None:
    openexr = pytest.importorskip("OpenEXR")
    planes = {name: np.full((2, 3), i, np.float32) for i, name in enumerate(("R", "G", "B", "A", "Z"))}
    for names, note in (
        (("R", "G", "B", "A"), "alpha channel dropped"),
        (("A", "Z"), "alpha channel dropped"),
    ):
        with openexr.File({}, {name: planes[name] for name in names}) as file:
            file.write(str(tmp_path / "picture.exr"))
        image = read_image(tmp_path / "picture.exr")
        assert image.notes == (note,)
        assert image.array[0, 0].tolist() == ([0, 1, 2] if "R" in names else 4)
    with openexr.File({}, planes) as file:
        file.write(str(tmp_path / "render.exr"))
    assert read_image(tmp_path / "render.exr").notes == ("channels left out: A, Z",)


def test_without_openexr_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "OpenEXR", None)
    path = tmp_path / "depth.exr"
    with pytest.raises(InputError, match=r"depth\.exr.*pip install 'graphsr\[exr\]'"):
        write_image(path, np.ones((2, 2), np.float32))
    path.write_bytes(b"v/1\x01rest")
    with pytest.raises(InputError, match=r"depth\.exr.*pip install 'graphsr\[exr\]'"):
        read_image(path)
