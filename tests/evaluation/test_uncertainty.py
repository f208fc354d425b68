"""How far uncertainties can be trusted: coverage, sparsification, the fit of the constants, and the commands."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy import stats
from typer.testing import CliRunner

import graphsr
from graphsr.cli import app
from graphsr.data.footprints import average
from graphsr.data.pair import Pair
from graphsr.evaluation import calibration
from graphsr.evaluation import uncertainty_report as report
from graphsr.evaluation.calibration import Samples, fit_scale, weighted_quantiles
from graphsr.evaluation.protocols import Case
from graphsr.evaluation.uncertainty import REMOVED, TrustEvaluation, edge_distance, measure_trust, sparsification
from graphsr.models.calibration import Calibration, read_calibration

INTERVALS = {0.5: 0.4, 0.8: 0.9, 0.95: 2.0}


class TestSparsification:
    def test_removes_the_most_uncertain_first(self) -> None:
        error = np.arange(100.0)
        kept = 100 - np.round(100 * REMOVED).astype(int)
        expected = [np.sqrt(np.square(error[:n]).mean()) for n in kept]
        np.testing.assert_allclose(sparsification(error, error), np.array(expected) / expected[0])

    def test_of_what_says_nothing_stays_at_one(self) -> None:
        rng = np.random.default_rng(0)
        found = sparsification(np.abs(rng.normal(size=100_000)), rng.random(100_000))
        np.testing.assert_allclose(found, 1, atol=0.05)

    def test_of_a_perfect_target_is_nothing(self) -> None:
        assert sparsification(np.zeros(50), np.ones(50)).max() == 0


def test_the_distance_to_an_edge_is_counted_in_pixels() -> None:
    guide = np.zeros((40, 60, 3), np.uint8)
    guide[:, 30:] = 200
    found = edge_distance(guide)
    assert found[:, 29:31].max() == 0
    assert found[20, 0] == pytest.approx(27, abs=3)
    assert np.isinf(edge_distance(np.zeros((4, 4), np.uint8))).all()


def test_coverage_counts_errors_within_the_intervals() -> None:
    target = np.ones((20, 50), np.float32)
    pair = Pair("flat", np.zeros((20, 50, 3), np.uint8), target)
    counted = np.ones(pair.size, bool)
    counted[:, 40:] = False
    error = np.full(pair.size, 99.0)
    error[:, :10], error[:, 10:20], error[:, 20:30], error[:, 30:40] = (
        1.01 * multiple for multiple in (0, 0.4, 0.9, 2.0)
    )
    found = measure_trust(Case(pair, average(target, (2, 5)), counted), target + error, np.ones(pair.size), INTERVALS)
    np.testing.assert_allclose(found.coverage, [0.25, 0.5, 0.75])


def drawn_samples(groups: np.ndarray, true: np.ndarray, times: np.ndarray) -> Samples:
    """Errors with long tails whose size is exp(features . true), times one number for each group."""
    rng = np.random.default_rng(0)
    features = np.stack([np.ones(groups.size), rng.normal(size=groups.size), groups % 2], 1)
    errors = np.abs(rng.standard_t(2.5, groups.size)) * np.exp(features @ true) * times[groups]
    return Samples(features, errors, np.ones(groups.size), groups)


def test_the_fit_finds_the_size_that_errors_were_drawn_with() -> None:
    true = np.array([-3.0, 0.7, 0.3])
    samples = drawn_samples(np.arange(40_000) % 2, true, np.ones(2))
    # The standard error of 40,000 draws is 0.01.
    constants, intervals = fit_scale(samples)
    np.testing.assert_allclose(constants, true, atol=0.04)
    # The quantiles of |t| with 2.5 degrees of freedom: 0.79, 1.74, 3.56 within their standard errors.
    np.testing.assert_allclose(intervals, stats.t.ppf([0.75, 0.9, 0.975], 2.5), rtol=0.05)


def test_the_fit_is_right_for_every_data_set_where_features_tell_them_apart() -> None:
    samples = drawn_samples(np.arange(40_000) % 2, np.array([-3.0, 0.7, 0.0]), np.array([1.0, 4.0]))
    assert fit_scale(samples)[0][2] == pytest.approx(np.log(4), abs=0.05)


def test_intervals_hold_alike_in_every_data_set_more_than_by_likelihood_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of the second set have other tails, and a feature that grows with their size only there."""
    rng = np.random.default_rng(0)
    groups = np.arange(40_000) % 2
    feature = rng.normal(size=groups.size)
    errors = np.abs(np.where(groups == 0, rng.normal(size=groups.size), np.exp(feature) * rng.standard_t(1.5, 40_000)))
    samples = Samples(np.stack([np.ones(groups.size), feature, groups], 1), errors, np.ones(groups.size), groups)

    def farthest_off() -> float:
        constants, intervals = fit_scale(samples)
        relative = errors * np.exp(-samples.features @ constants)
        held = [[np.mean(relative[groups == group] <= interval) for interval in intervals] for group in range(2)]
        return float(np.abs(np.array(held) - np.array([0.5, 0.8, 0.95])).max())

    asked = farthest_off()
    monkeypatch.setattr(calibration, "_COVERAGE", 0.0)
    # Measured: 0.028, and 0.038 by the likelihood alone.
    assert asked < 0.8 * farthest_off()


def test_quantiles_are_weighted() -> None:
    assert weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), (0.2, 0.5, 0.95)) == [1, 2, 3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("guides", "targets"):
        (tmp_path / "pairs" / name).mkdir(parents=True)
    rows, columns = np.mgrid[:256, :256] / 256
    disc = (rows - 0.5) ** 2 + (columns - 0.4) ** 2 < 0.09
    target = (3 + rows - 1.2 * disc + 0.02 * np.sin(40 * columns)).astype(np.float32)
    noise = np.random.default_rng(0).normal(0, 4, (256, 256, 3))
    guide = np.clip(60 + 120 * disc[..., None] + 40 * columns[..., None] + noise, 0, 255).astype(np.uint8)
    Image.fromarray(guide).save(tmp_path / "pairs" / "guides" / "0.png")
    np.save(tmp_path / "pairs" / "targets" / "0.npy", target)
    return tmp_path


class TestCommands:
    def run(self, command: str, folder: Path, *more: object) -> tuple[int, str]:
        base = [command, "--data", folder / "pairs", "--split", "test", "--factor", "8"]
        done = CliRunner().invoke(app, [str(part) for part in (*base, *more)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.output

    def test_evaluate_says_how_far_it_can_be_trusted(self, folder: Path) -> None:
        table, plot, sheet = folder / "table.json", folder / "trust.png", folder / "sheet.png"
        more = ("--model", "colour", "--uncertainty", "-o", table, "--plot", plot, "--sheet", sheet)
        code, out = self.run("evaluate", folder, *more)
        assert code == 0, out
        (row,) = json.loads(table.read_text())
        assert row["model"] == "colour"
        assert 0 < row["coverage_50"] < row["coverage_80"] < row["coverage_95"] <= 1
        assert 0 < row["area_by_error"] < row["area"] < 1
        assert Image.open(plot).size[0] > 800
        assert Image.open(sheet).size[0] > 5 * 256

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (("--model", "bicubic", "--uncertainty"), "has no graph"),
            (("--plot", "trust.png"), "add --uncertainty"),
            (("--uncertainty", "--plot", "trust.svg"), "PNG"),
        ],
    )
    def test_mistakes_are_named(self, folder: Path, more: tuple[str, ...], says: str) -> None:
        code, out = self.run("evaluate", folder, *more)
        assert code == 2
        assert says in out

    def test_calibrate_writes_constants_that_load_finds(self, folder: Path) -> None:
        model = folder / "mine.safetensors"
        graphsr.save(graphsr.load("colour"), model)
        assert graphsr.load(model).calibration is None
        code, out = self.run("calibrate", folder, model)
        assert code == 0, out
        written = read_calibration(folder / "mine.uncertainty.json")
        loaded = graphsr.load(model)
        assert loaded.calibration == written
        assert written.digest == loaded.digest()
        assert "exists already" in self.run("calibrate", folder, model)[1]

    def test_calibrate_needs_a_place_to_write_to(self, folder: Path) -> None:
        code, out = self.run("calibrate", folder, "colour")
        assert code == 2
        assert "say by -o where" in out


def test_a_damaged_calibration_is_named(tmp_path: Path) -> None:
    model = tmp_path / "mine.safetensors"
    graphsr.save(graphsr.load("colour"), model)
    (tmp_path / "mine.uncertainty.json").write_text('{"digest": "", "levle": 1}')
    with pytest.raises(graphsr.InputError, match=r"mine\.uncertainty\.json: unknown key 'levle'; did you mean level"):
        graphsr.load(model)


def test_tables_agree_on_their_columns() -> None:
    pair = Pair("flat", np.zeros((20, 50, 3), np.uint8), np.ones((20, 50), np.float32))
    case = Case(pair, np.ones((2, 5), np.float32), np.ones(pair.size, bool))
    trust = measure_trust(case, pair.target, np.ones(pair.size), INTERVALS)
    row = TrustEvaluation("colour", "mine", "patches", "", 8.0, 1, trust)
    assert len(report.cells(row)) == len(report.HEADINGS)


def test_calibrations_are_plain_numbers() -> None:
    assert all(isinstance(value, float | str) for value in vars(graphsr.load("colour").calibration).values())
    assert isinstance(graphsr.load("colour").calibration, Calibration)
