"""The synthetic scenes: repeatable, exact, and hard in the ways that matter for a guide."""

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.scenes import Scene, scene
from graphsr.scenes.builder import Builder, Frame
from graphsr.scenes.camera import look_at, project
from graphsr.scenes.materials import Material
from graphsr.scenes.render import render
from graphsr.scenes.room import build_room

SEEDS = range(10)
PAINT = Material((0.9, 0.2, 0.2))
EYE = np.array([0.0, 0.5, 1.2])
STEP = 0.004


def seen_by_camera(b: Builder) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Rays with a step of 1 along the optical axis, and the depth rendered there, from EYE."""
    height, width = 36, 48
    view = look_at((0.0, 0.5, 1.2), (0.1, 3.0, 0.6), roll=0.02, focal=0.8)
    projection = project(b.world(), view, height, width)
    x = (np.arange(width) + 0.5 - 0.5 * width) / projection.focal
    y = (np.arange(height) + 0.5 - 0.5 * height) / projection.focal
    rays = view[9:12] + x[None, :, None] * view[3:6] + y[:, None, None] * view[6:9]
    return rays, render(projection, height, width)[1]


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return [scene(seed, (128, 128)) for seed in SEEDS]


def steps(image: NDArray[np.float64]) -> NDArray[np.float64]:
    """Absolute differences of all neighbours, down and right, as one row."""
    down, right = np.abs(np.diff(image, axis=0)), np.abs(np.diff(image, axis=1))
    return np.concatenate([down.reshape(-1, *image.shape[2:]), right.reshape(-1, *image.shape[2:])])


def colour_steps(s: Scene) -> NDArray[np.float64]:
    return steps(s.guide.astype(np.float64)).max(axis=1)


def relative_depth_steps(s: Scene) -> NDArray[np.float64]:
    return steps(np.log(s.depth.astype(np.float64)))


class TestRepeatable:
    def test_same_seed_same_bits(self) -> None:
        first, again = scene(5, (64, 80)), scene(5, (64, 80))
        assert np.array_equal(first.guide, again.guide)
        assert np.array_equal(first.depth, again.depth)

    def test_seeds_differ_also_in_sign(self) -> None:
        depths = [scene(seed, (32, 32)).depth for seed in (-2, -1, 0, 1, 2, 2**70)]
        assert all(not np.array_equal(a, b) for i, a in enumerate(depths) for b in depths[:i])

    def test_numpy_integers_are_seeds_and_sizes(self) -> None:
        a = scene(np.int64(3), (np.int32(16), np.int64(24)))  # type: ignore[arg-type]
        assert np.array_equal(a.guide, scene(3, (16, 24)).guide)


class TestShapes:
    @pytest.mark.parametrize("size", [(1, 1), (1, 40), (17, 5), (33, 97), (121, 64)])
    def test_any_size(self, size: tuple[int, int]) -> None:
        s = scene(8, size)
        assert s.guide.shape == (*size, 3)
        assert s.guide.dtype == np.uint8
        assert s.depth.shape == size
        assert s.depth.dtype == np.float32
        assert np.isfinite(s.depth).all()
        assert s.depth.min() > 0.0

    @pytest.mark.parametrize("size", [(0, 8), (8, -1), (8,), (8, 8, 3), (8.5, 8), "ab", None, 64])
    def test_bad_size_is_named(self, size: object) -> None:
        with pytest.raises(InputError, match="scene: size must be"):
            scene(0, size)  # type: ignore[arg-type]

    def test_bad_seed_is_named(self) -> None:
        with pytest.raises(InputError, match="scene: seed must be"):
            scene(0.5)  # type: ignore[arg-type]


class TestResolutions:
    @pytest.mark.parametrize("seed", [0, 3, 7])
    def test_same_view_at_half_the_size(self, seed: int) -> None:
        large, small = scene(seed, (192, 256)), scene(seed, (96, 128))
        means = large.depth.reshape(96, 2, 128, 2).mean(axis=(1, 3))
        apart = np.abs(means / small.depth - 1.0)
        # Measured over ten seeds: median up to 3.4e-5, at least 92 % of pixels within 2 %.
        assert np.median(apart) < 1e-3
        assert (apart < 0.02).mean() > 0.85
        colours = large.guide.reshape(96, 2, 128, 2, 3).mean(axis=(1, 3))
        # Measured: mean difference up to 5.7 grey levels, most of it noise and edges.
        assert np.abs(colours - small.guide).mean() < 12.0


class TestExactDepth:
    def test_surfaces_are_smooth_to_rounding(self, scenes: list[Scene]) -> None:
        """Planes have an inverse depth linear in the image: no noise, no interpolation."""
        for s in scenes:
            inverse = 1.0 / s.depth.astype(np.float64)
            bend = np.abs(np.diff(inverse, n=2, axis=1)) / inverse[:, 1:-1]
            # Measured: 43 to 93 % of pixels below 1e-6; float32 rounds at 6e-8.
            assert (bend < 1e-6).mean() > 0.3

    @pytest.mark.parametrize("solid", ["box", "ball", "post"])
    def test_a_solid_is_where_it_was_put(self, solid: str) -> None:
        """Against a march along each ray that knows only what is inside a solid."""
        b = Builder(Random(1))
        build_room(b, 4.0, 5.0, 2.5)
        b.lamp((0.0, 1.0, 2.0), (1.0, 1.0, 1.0), 0.1, 2.0)
        place = Frame((0.2, 2.5, 1.0)).yaw(0.5).pitch(0.4).roll(-0.3)
        match solid:
            case "box":
                b.box(place, (0.6, 0.8, 1.0), PAINT)
            case "ball":
                b.ball(place, (0.3, 0.4, 0.5), PAINT)
            case "post":
                b.post(place.at(0.0, 0.0, -0.5), 0.4, 1.0, PAINT, taper=0.4)
        rays, depth = seen_by_camera(b)

        march = np.arange(1.0, 3.0, STEP)
        points = EYE + rays[:, :, None] * march[:, None] - np.array(place.origin)
        x, y, z = (points @ np.array(axis) for axis in (place.x, place.y, place.z))
        inside = {
            "box": (abs(x) < 0.3) & (abs(y) < 0.4) & (abs(z) < 0.5),
            "ball": (x / 0.3) ** 2 + (y / 0.4) ** 2 + (z / 0.5) ** 2 < 1.0,
            "post": (x**2 + y**2 < (0.28 - 0.24 * z) ** 2) & (abs(z) < 0.5),
        }[solid]
        met = inside.any(axis=2)
        late = march[inside.argmax(axis=2)] - depth
        assert met.sum() > 100
        assert late[met].min() > -1e-6
        assert late[met].max() < STEP + 1e-6

    def test_floor_is_where_it_was_put(self) -> None:
        b = Builder(Random(1))
        build_room(b, 4.0, 5.0, 2.5)
        b.ball(Frame((0.0, 0.0, 0.0)), (0.1, 0.1, 0.1), PAINT)
        b.lamp((0.0, 1.0, 2.0), (1.0, 1.0, 1.0), 0.1, 2.0)
        rays, depth = seen_by_camera(b)
        floor = rays[..., 2] < -0.42
        assert floor.sum() > 20
        np.testing.assert_allclose(depth[floor], -EYE[2] / rays[floor, 2], rtol=1e-6)


class TestHardness:
    """The guide must not give the depth away, nor hide it."""

    def test_strong_colour_edges_without_depth_edges(self, scenes: list[Scene]) -> None:
        for s in scenes:
            strong, flat = colour_steps(s) > 30, relative_depth_steps(s) < 0.02
            # Measured: 51 to 76 % of the strong colour edges.
            assert (strong & flat).sum() > 0.3 * strong.sum() > 50

    def test_depth_edges_with_weak_colour_edges(self, scenes: list[Scene]) -> None:
        share = [
            (edge & (colour_steps(s) < 10)).sum() / edge.sum()
            for s in scenes
            for edge in [relative_depth_steps(s) > 0.06]
        ]
        # Measured: 6 to 28 %, on average 14 %.
        assert min(share) > 0.01
        assert np.mean(share) > 0.06

    def test_most_depth_edges_show_in_the_guide(self, scenes: list[Scene]) -> None:
        for s in scenes:
            edge = relative_depth_steps(s) > 0.06
            assert edge.mean() > 0.005
            # Measured: 4.5 to 16 times.
            assert np.median(colour_steps(s)[edge]) > 3.0 * np.median(colour_steps(s)[~edge])

    def test_depths_are_those_of_rooms(self, scenes: list[Scene]) -> None:
        nearest, farthest = [s.depth.min() for s in scenes], [s.depth.max() for s in scenes]
        assert min(nearest) > 0.2
        assert max(farthest) < 12.0
        assert min(farthest) < 3.0 < 4.0 < max(farthest)

    def test_pictures_are_well_exposed(self, scenes: list[Scene]) -> None:
        for s in scenes:
            assert 50 < s.guide.mean() < 200
            assert s.guide.std() > 15
