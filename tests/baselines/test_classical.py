"""The methods without learned weights: any size, holes, constants, edges; and each against its definition."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numba
import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import graphsr
from graphsr import InputError, Sampling
from graphsr.baselines import METHODS
from graphsr.baselines.bilateral_solver import BilateralSolver, bistochastic, build_grid
from graphsr.baselines.guided_filter import GuidedFilter, box_mean, guided_filter
from graphsr.baselines.joint_bilateral import JointBilateral
from graphsr.baselines.pixtransform import STEPS, PixelNetwork, PixTransform, footprints, shuffled
from graphsr.baselines.sd_filter import SDFilter, lab
from graphsr.data.degradation import average
from graphsr.model import Model

# PixTransform trains for every image; a few steps show all but its quality.
MODELS: dict[str, Callable[[], Model]] = {
    "guided-filter": GuidedFilter,
    "joint-bilateral": JointBilateral,
    "bilateral-solver": BilateralSolver,
    "sd-filter": SDFilter,
    "pixtransform": lambda: PixTransform(steps=3),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Such small images take milliseconds on one thread, also when other programs want the cores."""
    before = numba.get_num_threads(), torch.get_num_threads()
    numba.set_num_threads(1)
    torch.set_num_threads(1)
    yield
    numba.set_num_threads(before[0])
    torch.set_num_threads(before[1])


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def a_pair(size=(37, 51), source_size=(9, 8), guide_channels=3, channels=2, seed=0):
    rng = np.random.default_rng(seed)
    guide = rng.integers(0, 256, (*size, guide_channels), np.uint8)
    return guide, 5 + rng.random((*source_size, channels))


def a_step(size=(40, 48), at=21):
    """Two colours and two depths that part inside a source pixel, with a little noise in the colours."""
    rng = np.random.default_rng(0)
    left = np.arange(size[1]) < at
    guide = np.where(left[None, :, None], (30, 60, 90), (200, 190, 80)) + rng.integers(-3, 4, (*size, 3))
    return guide.astype(np.uint8), np.where(left, 1.0, 3.0)[None].repeat(size[0], 0).astype(np.float32)


class TestEveryMethod:
    @every_model
    @pytest.mark.parametrize("guide_channels", [1, 3])
    @pytest.mark.parametrize("sizes", [((37, 51), (9, 8)), ((30, 15), (4, 2)), ((8, 8), (8, 8)), ((5, 4), (1, 1))])
    def test_takes_any_size_and_channels(self, name, guide_channels, sizes):
        guide, source = a_pair(*sizes, guide_channels)
        target = graphsr.upsample(guide, source, model=MODELS[name]()).target
        assert target.shape == (*sizes[0], 2)
        assert np.isfinite(target).all()

    @every_model
    @pytest.mark.parametrize("guide_channels", [2, 5])
    def test_takes_odd_numbers_of_channels(self, name, guide_channels):
        guide, source = a_pair((12, 16), (3, 4), guide_channels, 1)
        assert np.isfinite(graphsr.upsample(guide, source, model=MODELS[name]()).target).all()

    @every_model
    def test_fills_missing_source_pixels(self, name):
        guide, source = a_pair()
        source[2:8, 1:7, 0] = np.nan
        source[0, 0] = np.nan
        target = graphsr.upsample(guide, source, model=MODELS[name]()).target
        assert np.isfinite(target).all()

    @every_model
    def test_keeps_a_constant(self, name):
        guide, source = a_pair()
        source[:] = 5.25
        source[3, 3] = np.nan
        target = graphsr.upsample(guide, source, model=MODELS[name]()).target
        np.testing.assert_allclose(target, 5.25, rtol=1e-6)

    @every_model
    def test_follows_the_units_of_the_source(self, name):
        guide, source = a_pair(channels=1)
        once = graphsr.upsample(guide, source, model=MODELS[name]()).target
        scaled = graphsr.upsample(guide, 1000 * source - 300, model=MODELS[name]()).target
        # Single precision of the larger numbers, and 1e-4 of a standard deviation by the solve.
        np.testing.assert_allclose(scaled, 1000 * once - 300, atol=0.2)

    @pytest.mark.parametrize("name", [name for name in MODELS if name != "pixtransform"])
    def test_is_better_than_bicubic_at_a_step(self, name):
        guide, truth = a_step()
        source = average(truth, (5, 6))
        errors = [np.mean((graphsr.upsample(guide, source, model=m).target - truth) ** 2) for m in (name, "bicubic")]
        # Measured: SD filter 0, joint bilateral 0.50, guided filter 0.71, bilateral solver 0.85 of bicubic.
        assert errors[0] < 0.9 * errors[1]

    @every_model
    def test_is_known_by_name(self, name):
        assert name in graphsr.models()
        assert type(graphsr.load(name)) is type(MODELS[name]())
        assert METHODS[name].year > 2000

    @pytest.mark.parametrize("name", [name for name in MODELS if name != "sd-filter"])
    def test_refuses_to_be_exact_without_a_graph(self, name):
        guide, source = a_pair()
        with pytest.raises(InputError, match="cannot be exact"):
            graphsr.upsample(guide, source, model=MODELS[name](), exact=True)


@pytest.mark.parametrize(
    "build",
    [
        lambda: GuidedFilter(eps=0),
        lambda: GuidedFilter(radius_cells=-1),
        lambda: JointBilateral(sigma_r=0),
        lambda: BilateralSolver(luma=0),
        lambda: SDFilter(weight=0),
        lambda: SDFilter(steps=0),
        lambda: PixTransform(steps=0),
    ],
)
def test_parameters_without_a_meaning_are_refused(build):
    with pytest.raises(InputError):
        build()


class TestGuidedFilter:
    @pytest.mark.parametrize("channels", [1, 2, 3])
    def test_is_its_definition(self, channels):
        guide, values = noise(1, channels, 7, 6), noise(1, 1, 7, 6, seed=1)
        found = guided_filter(guide, values, (2, 1), 1e-2)
        np.testing.assert_allclose(found[0, 0], self.brute_force(guide[0].numpy(), values[0, 0].numpy()), rtol=1e-10)

    @staticmethod
    def brute_force(guide, values, radii=(2, 1), eps=1e-2):
        channels, height, width = guide.shape

        def window(i, j):
            rows, columns = slice(max(0, i - radii[0]), i + radii[0] + 1), slice(max(0, j - radii[1]), j + radii[1] + 1)
            return rows, columns

        slope, offset = np.empty((channels, height, width)), np.empty((height, width))
        for i, j in np.ndindex(height, width):
            rows, columns = window(i, j)
            colours, inside = guide[:, rows, columns].reshape(channels, -1), values[rows, columns].ravel()
            centred = colours - colours.mean(1, keepdims=True)
            covariance = centred @ centred.T / inside.size + eps * np.eye(channels)
            slope[:, i, j] = np.linalg.solve(covariance, centred @ inside / inside.size)
            offset[i, j] = inside.mean() - slope[:, i, j] @ colours.mean(1)
        result = np.empty((height, width))
        for i, j in np.ndindex(height, width):
            rows, columns = window(i, j)
            mean_slope = slope[:, rows, columns].reshape(channels, -1).mean(1)
            result[i, j] = mean_slope @ guide[:, i, j] + offset[rows, columns].mean()
        return result

    def test_costs_the_same_at_any_radius(self):
        class Recorded(TorchDispatchMode):
            def __init__(self):
                super().__init__()
                self.operations = []

            def __torch_dispatch__(self, function, types, arguments=(), named=None):
                result = function(*arguments, **(named or {}))
                self.operations.append((str(function), getattr(result, "shape", None)))
                return result

        recorded = []
        for radius in (1, 9):
            with Recorded() as record:
                guided_filter(noise(1, 3, 20, 24), noise(1, 1, 20, 24), (radius, radius), 1e-2)
            recorded.append(record.operations)
        assert recorded[0] == recorded[1]

    def test_means_are_of_what_lies_inside(self):
        values = torch.arange(5.0, dtype=torch.float64).reshape(1, 5)
        np.testing.assert_allclose(box_mean(values, (3, 1)), [[0.5, 1, 2, 3, 3.5]])


class TestJointBilateral:
    @pytest.mark.parametrize("sizes", [((9, 10), (3, 4)), ((12, 8), (3, 2)), ((15, 7), (2, 3))])
    def test_is_its_definition(self, sizes):
        size, source_size = sizes
        guide, source = noise(1, 3, *size), noise(1, 1, *source_size, seed=1)
        known = torch.ones_like(source, dtype=torch.bool)
        known[0, 0, 1, 1] = False
        found = JointBilateral(0.6, 0.3).estimate(guide, source, torch.zeros(1, 1, *size).double(), known)
        expected = self.brute_force(guide[0].numpy(), source[0, 0].numpy(), known[0, 0].numpy())
        np.testing.assert_allclose(found[0, 0], expected, rtol=1e-10)

    @staticmethod
    def brute_force(guide, source, known, sigma_d=0.6, sigma_r=0.3):
        size, cells = guide.shape[1:], source.shape
        factor = np.array(size) / cells

        def colour_at(place):
            """Bilinear between the pixels around a place, measured in pixels from the first one's centre."""
            low = np.floor(place).astype(int)
            total = 0.0
            for shift in np.ndindex(2, 2):
                weight = np.prod(np.where(shift, place - low, 1 - place + low))
                i, j = np.clip(low + shift, 0, np.array(size) - 1)
                total = total + weight * guide[:, i, j]
            return total

        result = np.empty(size)
        for p in np.ndindex(size):
            centre = (np.array(p) + 0.5) / factor
            weights, values = [], []
            for q in np.ndindex(cells):
                if known[q] and (np.abs(np.floor(centre) - q) <= 2).all():
                    colour = guide[:, p[0], p[1]] - colour_at((np.array(q) + 0.5) * factor - 0.5)
                    distance = np.square(centre - 0.5 - q).sum()
                    weights.append(np.exp(-distance / (2 * sigma_d**2) - colour @ colour / (2 * sigma_r**2)))
                    values.append(source[q])
            result[p] = np.average(values, weights=weights)
        return result

    def test_a_colour_unlike_all_others_gets_the_least_unlike(self):
        guide = torch.zeros(1, 1, 6, 6)
        guide[..., 0, 0] = 1.0
        source = torch.full((1, 1, 2, 2), 0.25)
        found = JointBilateral(0.5, 1e-3).estimate(guide, source, torch.zeros(1, 1, 6, 6), source > 0)
        np.testing.assert_allclose(found, 0.25)


class TestBilateralSolver:
    def test_vertices_are_tied_to_their_neighbours(self):
        coordinates = np.array([[0, 0], [0, 1], [0, 0], [1, 1], [0, 3]])
        grid = build_grid(coordinates)
        vertices = np.unique(coordinates[:, ::-1], axis=0)[:, ::-1]  # as they are numbered
        apart = np.abs(vertices[:, None] - vertices[None]).sum(2)
        np.testing.assert_array_equal(grid.blur.toarray(), np.where(apart == 0, 4, apart == 1))
        np.testing.assert_array_equal(grid.splat.toarray(), (vertices[:, None] == coordinates).all(2))

    def test_is_the_minimiser_on_the_grid(self):
        rng = np.random.default_rng(0)
        grid = build_grid(rng.integers(0, 3, (40, 3)))
        values, confidence = rng.random(40), rng.random(40)
        splat, blur = grid.splat.toarray(), grid.blur.toarray()
        scale, mass = bistochastic(grid.blur, splat.sum(1))
        matrix = 2.0 * (np.diag(mass) - scale[:, None] * blur * scale) + np.diag(splat @ confidence)
        expected = splat.T @ np.linalg.solve(matrix, splat @ (confidence * values))
        # Measured: 2e-6, of a tolerance of 1e-5 for the residual.
        np.testing.assert_allclose(grid.solve(values, confidence, 2.0), expected, atol=1e-4)

    def test_a_missing_source_pixel_has_no_say(self):
        guide, source = np.full((16, 16, 3), 90, np.uint8), np.array([[0.0, 1.0], [1.0, 1.0]])
        with_it = graphsr.upsample(guide, source, model=BilateralSolver(smoothness=512)).target
        source[0, 0] = np.nan
        without = graphsr.upsample(guide, source, model=BilateralSolver(smoothness=512)).target
        assert with_it.mean() < 0.9
        np.testing.assert_allclose(without, 1)


class TestSDFilter:
    def dense(self, guide, target, source, weight=0.05, sigma_g=3.0, sigma_u=5.0):
        """One step by dense matrices, from a target (H, W) on: minimise |D y - s|^2 + weight * sum w (y_p - y_q)^2."""
        size = target.shape
        index = np.arange(target.size).reshape(size)
        p = np.concatenate([index[:-1].ravel(), index[:, :-1].ravel()])
        q = np.concatenate([index[1:].ravel(), index[:, 1:].ravel()])

        def tie(image, sigma):
            square = np.square(image.ravel()[p] - image.ravel()[q])
            spread = np.ptp(square)
            square = (square - square.min()) / spread if spread > 0 else square
            return np.exp(-sigma * square) + 1e-5

        steps = np.zeros((p.size, target.size))
        steps[np.arange(p.size), p], steps[np.arange(p.size), q] = 1, -1
        ties = weight * tie(guide, sigma_g) * tie(target, sigma_u)
        units = torch.eye(target.size, dtype=torch.float64).reshape(-1, *size)
        averaging = Sampling(size, source.shape)(units).flatten(1).T.numpy()
        matrix = averaging.T @ averaging + steps.T @ (ties[:, None] * steps)
        return np.linalg.solve(matrix, averaging.T @ source.ravel()).reshape(size)

    @pytest.mark.parametrize("sizes", [((6, 8), (2, 2)), ((7, 5), (3, 2))])
    def test_every_step_is_a_dense_solve(self, sizes):
        guide, source = noise(1, 1, *sizes[0]), 4 + noise(1, 1, *sizes[1], seed=1)
        expected = np.ones(sizes[0])
        for steps in (1, 2, 3):
            expected = self.dense(guide[0, 0].numpy(), expected, source[0, 0].numpy())
            target, edges, report = SDFilter(0.05, 3.0, 5.0, steps).run(guide, source)
            # The solve promises 1e-4 of the source's deviation, 0.3; measured 2e-6.
            np.testing.assert_allclose(target[0, 0], expected, atol=5e-5)
            assert edges is not None
            assert edges.size == sizes[0]
            assert report is not None
            assert report.error <= 1e-4

    def test_can_be_exact(self):
        guide, source = a_pair()
        target = graphsr.upsample(guide, source, model="sd-filter", exact=True).target
        back = Sampling((37, 51), (9, 8))(torch.from_numpy(np.moveaxis(target, 2, 0)).double())
        np.testing.assert_allclose(back, np.moveaxis(source, 2, 0), rtol=1e-6)

    def test_heeds_confidence(self):
        guide, source = a_pair(channels=1)
        confidence = np.ones((9, 8))
        confidence[4, 4] = 0
        wild, holed = source.copy(), source.copy()
        wild[4, 4], holed[4, 4] = 99, np.nan
        targets = [
            graphsr.upsample(guide, wild, model="sd-filter", confidence=confidence).target,
            graphsr.upsample(guide, holed, model="sd-filter").target,
        ]
        np.testing.assert_allclose(targets[0], targets[1], atol=1e-3)

    def test_lab_of_black_grey_and_white(self):
        grey = torch.tensor([0.0, 0.5, 1.0]).view(1, 1, 1, 3).expand(1, 3, 1, 3).double()
        lightness, a, b = lab(grey)[0, :, 0]
        # 0.5 is the linear value ((0.5 + 0.099) / 1.099)^(1 / 0.45) = 0.2597; its cube root 0.638.
        np.testing.assert_allclose(lightness, [0, 58.0, 100], atol=0.05)
        np.testing.assert_allclose(torch.stack([a, b]), 0, atol=0.02)


class TestPixTransform:
    def test_has_the_published_size_and_length(self):
        assert sum(p.numel() for p in PixelNetwork(3).parameters()) == 200_993
        assert PixTransform().steps == STEPS == 32_768

    def test_gives_the_same_each_time_and_leaves_the_global_seed_alone(self):
        guide, source = a_pair((16, 16), (4, 4), channels=1)
        torch.manual_seed(1)
        first = graphsr.upsample(guide, source, model=PixTransform(steps=4)).target
        state = torch.random.get_rng_state()
        torch.manual_seed(2)
        again = graphsr.upsample(guide, source, model=PixTransform(steps=4)).target
        other = graphsr.upsample(guide, source, model=PixTransform(steps=4, seed=1)).target
        np.testing.assert_array_equal(first, again)
        assert np.abs(first - other).max() > 0
        torch.manual_seed(1)
        assert torch.equal(state, torch.random.get_rng_state())

    def test_trains_also_where_gradients_are_off(self):
        guide, source = noise(1, 3, 8, 8).float(), noise(1, 1, 2, 2).float()
        with torch.inference_mode():
            found = PixTransform(steps=4).run(guide, source)[0]
        np.testing.assert_array_equal(found, PixTransform(steps=4).run(guide, source)[0].detach())

    def test_learns_the_step(self):
        guide, truth = a_step((24, 32), at=13)
        source = average(truth, (3, 4))
        model = PixTransform(steps=60)
        error, bicubic = (
            np.mean((graphsr.upsample(guide, source, model=m).target - truth) ** 2) for m in (model, "bicubic")
        )
        assert error < 0.5 * bicubic

    @pytest.mark.parametrize("sizes", [((12, 8), (3, 4)), ((15, 9), (2, 4)), ((5, 5), (4, 4))])
    def test_footprints_average_as_the_source_does(self, sizes):
        values, known = noise(*sizes[0]), noise(*sizes[1], seed=1) > 0.3
        cells = footprints(sizes[0], known)
        means = (values.flatten()[cells.pixels] * cells.shares).sum(1)
        np.testing.assert_allclose(means, Sampling(*sizes)(values)[known], rtol=1e-6)

    def test_every_source_pixel_comes_once_an_epoch(self):
        batches = shuffled(70)
        epoch = [next(batches) for _ in range(3)]
        assert [len(batch) for batch in epoch] == [32, 32, 6]
        assert sorted(torch.cat(epoch).tolist()) == list(range(70))
