"""Evaluation: the right figures of the right patches, and each protocol by its name."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image
from safetensors.torch import save_file
from typer.testing import CliRunner

from graphsr.baselines import METHODS
from graphsr.cli import app
from graphsr.data.degradation import Degradation
from graphsr.data.footprints import average, downsample
from graphsr.data.pair import Pair
from graphsr.errors import InputError
from graphsr.evaluation import tables
from graphsr.evaluation.evaluate import evaluate
from graphsr.evaluation.metrics import measure, published_means
from graphsr.evaluation.options import Options
from graphsr.evaluation.protocols import Case, cases, make_source, protocol
from graphsr.models.architecture import Architecture
from graphsr.models.graphsr import GraphSR
from graphsr.models.registry import load, save


def a_pair(size=(300, 530), unit="m", seed=0) -> Pair:
    rng = np.random.default_rng(seed)
    target = np.where(np.arange(size[1]) < size[1] // 2, 1.0, 3.0) + 0.1 * rng.random(size)
    return Pair(f"pair {seed}", (255 * rng.random((*size, 3))).astype(np.uint8), target.astype(np.float32), unit)


class TestFigures:
    @pytest.mark.parametrize(("unit", "times"), [("m", 100.0), ("mm", 0.1), ("px", 1.0), ("", 1.0)])
    def test_are_in_centimetres_where_the_unit_is_a_length(self, unit, times):
        pair = a_pair((64, 64), unit)
        case = Case(pair, average(pair.target, (8, 8)), np.ones(pair.size, bool))
        found = measure(case, pair.target + 0.02, 0.5)
        assert found.mae == pytest.approx(0.02 * times, rel=1e-4)
        assert found.mse == pytest.approx((0.02 * times) ** 2, rel=1e-4)
        assert found.rmse == pytest.approx(0.02 * times, rel=1e-4)
        assert found.low_resolution_mse == pytest.approx((0.02 * times) ** 2, rel=1e-3)
        assert found.seconds == 0.5

    def test_count_known_pixels_only(self):
        pair = a_pair((64, 64))
        target = pair.target.copy()
        target[:10] = np.nan
        holed = Pair("holed", pair.guide, target)
        case = Case(holed, average(target, (8, 8)), np.isfinite(target))
        assert measure(case, np.where(np.isfinite(target), target + 1, 99), 0).mse == pytest.approx(1)

    def test_tell_edges_from_the_rest(self):
        target = np.where(np.arange(64) < 32, 1.0, 3.0)[None].repeat(64, 0).astype(np.float32)
        pair = Pair("step", np.zeros((64, 64, 3), np.uint8), target)
        wrong = target.copy()
        wrong[:, 30:34] += 1  # at the edge
        case = Case(pair, average(target, (8, 8)), np.ones((64, 64), bool))
        found = measure(case, wrong, 0)
        assert found.smooth_mse == 0
        assert found.edge_mse == pytest.approx(0.5)  # 4 of the 8 columns within 4 pixels

    def test_are_also_averaged_as_published(self):
        pair = a_pair((64, 64), "")
        case = Case(pair, average(pair.target, (8, 8)), np.ones(pair.size, bool))
        figures = [measure(case, pair.target + n, 0) for n in range(9)]
        first = np.mean([n**2 for n in range(8)])
        assert published_means(figures)[0] == pytest.approx((first + 64) / 2, rel=1e-4)


class TestProtocols:
    def test_patches_lie_on_a_grid_and_are_averaged(self):
        found = list(cases([a_pair()], protocol("patches"), 8, None))
        assert [case.pair.name for case in found] == ["pair 0 at 0, 0", "pair 0 at 0, 256"]
        assert found[0].source.shape == (32, 32)
        np.testing.assert_allclose(found[0].source[0, 0], a_pair().target[:8, :8].mean(), rtol=1e-6)

    def test_successors_take_whole_images_and_leave_out_the_border(self):
        (case,) = cases([a_pair()], protocol("successors"), 8, None)
        assert case.pair.size == (296, 528)
        assert case.source.shape == (37, 66)
        assert not case.counted[:6].any()
        assert case.counted.sum() == 284 * 516

        np.testing.assert_array_equal(case.source, downsample(case.pair.target, (37, 66), "bicubic"))

    def test_successors_do_not_count_unknown_pixels(self):
        pair = a_pair()
        pair.target[100:120, 48:64] = np.nan
        (case,) = cases([pair], protocol("successors"), 8, None)
        assert case.counted.sum() == 284 * 516 - 320
        assert np.isnan(case.source).sum() == 4

    def test_the_figure_of_successors_is_the_mean_of_the_images_rmse(self):
        pairs = [a_pair((64, 64), "", seed) for seed in range(2)]
        pairs[1] = Pair("flat", pairs[1].guide, np.ones((64, 64), np.float32))
        (row,) = evaluate([("bicubic", load("bicubic"))], "mine", pairs, protocol("successors"), [8.0])
        (first,) = evaluate([("bicubic", load("bicubic"))], "mine", pairs[:1], protocol("successors"), [8.0])
        assert row.figures.rmse == pytest.approx(first.figures.rmse / 2, rel=1e-4)

    def test_sources_are_those_of_the_pairs(self):
        pair = a_pair((64, 60))
        given = Pair("given", pair.guide, pair.target, "m", source=np.arange(48, dtype=np.float32).reshape(8, 6))
        (case,) = cases([given], protocol("sources"), 1.0, None)
        np.testing.assert_array_equal(case.source, given.source)
        assert case.factor == 8.0
        assert case.counted.all()
        (row,) = evaluate([("bicubic", load("bicubic"))], "mine", [given], protocol("sources"), [4.0, 2.0])
        assert row.factor == 8.0

    @pytest.mark.parametrize(("how", "says"), [(Degradation(), "has no source"), (Degradation(noise=0.1), "degraded")])
    def test_sources_cannot_be_made_up_or_degraded(self, how, says):
        pair = a_pair((64, 64))
        if how != Degradation():
            pair = Pair("given", pair.guide, pair.target, source=np.ones((8, 8), np.float32))
        with pytest.raises(InputError, match=says):
            list(cases([pair], protocol("sources"), 1.0, None, how))

    def test_most_pairs_are_spread_over_the_set(self):
        pairs = [a_pair((256, 256), seed=n) for n in range(5)]
        found = [case.pair.name.split(" at")[0] for case in cases(pairs, protocol("patches"), 8, 3)]
        assert found == ["pair 0", "pair 2", "pair 4"]


class TestDegradedSources:
    HOW = Degradation(noise=0.03, outliers=0.05, shift=2.0)

    @pytest.mark.parametrize("name", ["patches", "successors"])
    def test_follow_from_the_pair_and_the_factor(self, name):
        pairs = [a_pair((256, 256), seed=n) for n in range(2)]
        pairs[1] = Pair("other", pairs[0].guide, pairs[0].target)
        first, again = ([case.source for case in cases(pairs, protocol(name), 8, None, self.HOW)] for _ in range(2))
        np.testing.assert_array_equal(first, again)
        assert not np.array_equal(first[0], first[1])

    def test_of_successors_are_bicubic_unless_another_footprint_is_named(self):
        (case,) = cases([a_pair()], protocol("successors"), 8, None, Degradation(missing=0.1))
        bicubic = downsample(case.pair.target, (37, 66), "bicubic")
        known = np.isfinite(case.source)
        assert 0.85 < known.mean() < 0.95
        np.testing.assert_array_equal(case.source[known], bicubic[known])
        (case,) = cases([a_pair()], protocol("successors"), 8, None, Degradation(footprint="point"))
        np.testing.assert_array_equal(case.source, downsample(case.pair.target, (37, 66), "point"))

    def test_are_worse_by_what_was_asked(self):
        pair = a_pair((256, 256))
        error = make_source(pair, 8, Degradation(noise=0.03)) - make_source(pair, 8)
        assert error.std() == pytest.approx(0.03 * np.ptp(make_source(pair, 8)), rel=0.1)

    def test_are_measured_against_bicubic_interpolation_of_the_same(self):
        models = [(name, load(name)) for name in ("colour", "bicubic")]
        colour, bicubic = evaluate(
            models, "mine", [a_pair((256, 256))], protocol("patches"), [16.0], degradation=self.HOW
        )
        assert colour.degradation == str(self.HOW) == "shift=2,noise=0.03,outliers=0.05"
        assert bicubic.rmse_against_bicubic == 1
        assert colour.rmse_against_bicubic == pytest.approx(colour.figures.rmse / bicubic.figures.rmse)


def test_a_perfect_source_of_factor_one_has_no_error():
    pairs = [a_pair((256, 256))]
    (row,) = evaluate([("bicubic", load("bicubic"))], "mine", pairs, protocol("patches"), [1.0])
    assert row.figures.mse == 0
    assert row.unit == "cm"


@pytest.fixture
def folder(tmp_path):
    for name in ("guides", "targets"):
        (tmp_path / "pairs" / name).mkdir(parents=True)
    for n in range(2):
        pair = a_pair((256, 256), seed=n)
        Image.fromarray(pair.guide).save(tmp_path / "pairs" / "guides" / f"{n}.png")
        np.save(tmp_path / "pairs" / "targets" / f"{n}.npy", pair.target)
    return tmp_path


class TestOptions:
    def test_graph_models_are_told_of_the_sources_and_others_do_without(self):
        pair = a_pair((256, 256))
        models = [(name, load(name)) for name in ("colour", "bicubic")]
        how, noisy = protocol("patches"), Degradation.parse("noise=0.05")
        plain, told = (
            list(evaluate(models, "x", [pair], how, [4], degradation=noisy, options=options))
            for options in (Options(), Options(noise="auto"))
        )
        assert told[0].figures.rmse < plain[0].figures.rmse
        assert told[1].figures.rmse == plain[1].figures.rmse

    def test_are_part_of_the_models_name(self):
        options = Options(noise="auto", robust=True, footprint="bicubic")
        assert options.label("colour", load("colour")) == "colour (noise auto, robust, footprint bicubic)"
        assert options.label("bicubic", load("bicubic")) == "bicubic"
        assert Options().label("colour", load("colour")) == "colour"

    @pytest.mark.parametrize("wrong", [{"footprint": "bxo"}, {"align": "turn"}, {"noise": -1.0}])
    def test_that_do_not_exist_are_refused(self, wrong):
        with pytest.raises(InputError):
            Options(**wrong)


class TestCommand:
    def run(self, folder, *more):
        base = ["evaluate", "--data", str(folder / "pairs"), "--split", "test", "--factor", "16"]
        return CliRunner().invoke(app, [*base, *more])

    @pytest.mark.parametrize("suffix", [".csv", ".json", ".md"])
    def test_writes_tables(self, folder, suffix):
        path = folder / f"table{suffix}"
        done = self.run(folder, "--model", "colour", "--model", "bicubic", "-o", str(path))
        assert done.exit_code == 0, done.output
        assert "patches" in done.output
        text = path.read_text()
        if suffix == ".csv":
            rows = list(csv.DictReader(text.splitlines()))
            assert [row["model"] for row in rows] == ["colour", "bicubic"]
        elif suffix == ".json":
            assert json.loads(text)[0]["patches"] == 2
        else:
            assert "Protocol: patches" in text
            assert text.count("| x16 |") == 2

    def test_degraded_sources_are_measured_with_bicubic_beside(self, folder):
        done = self.run(folder, "--model", "colour", "--degrade", "noise=0.03,shift=2", "-o", str(folder / "table.csv"))
        assert done.exit_code == 0, done.output
        assert "with shift=2,noise=0.03" in done.output
        rows = list(csv.DictReader((folder / "table.csv").read_text().splitlines()))
        assert [row["model"] for row in rows] == ["colour", "bicubic"]
        assert {row["degradation"] for row in rows} == {"shift=2,noise=0.03"}

    def test_real_sources_are_used_where_there_are_any(self, folder):
        (folder / "pairs" / "sources").mkdir()
        for n in range(2):
            np.save(folder / "pairs" / "sources" / f"{n}.npy", average(a_pair((256, 256), seed=n).target, (64, 64)))
        done = self.run(folder, "--model", "bicubic", "-o", str(folder / "table.json"))
        assert done.exit_code == 0, done.output
        (row,) = json.loads((folder / "table.json").read_text())
        assert (row["protocol"], row["factor"], row["patches"]) == ("sources", 4.0, 2)
        done = self.run(folder, "--model", "bicubic", "--protocol", "patches", "-o", str(folder / "made.json"))
        (row,) = json.loads((folder / "made.json").read_text())
        assert (row["protocol"], row["factor"]) == ("patches", 16.0)

    def test_zeros_that_look_like_holes_are_noted_and_can_be_named(self, folder):
        for file in (folder / "pairs" / "targets").iterdir():
            depth = (1000 * np.load(file)).astype(np.uint16)
            depth[:30, :30] = 0
            np.save(file, depth)
        unaware, aware = (
            self.run(folder, "--model", "bicubic", *more, "-o", str(folder / f"table{len(more)}.json"))
            for more in ([], ["--missing", "0"])
        )
        assert unaware.output.count("if 0 means no measurement") == 1
        assert "0 means" not in aware.output
        (worse,), (better,) = (json.loads((folder / f"table{n}.json").read_text()) for n in (0, 2))
        assert better["mse"] < worse["mse"]
        assert better["pixels"] == worse["pixels"] - 900

    def test_draws_a_sheet(self, folder):
        done = self.run(folder, "--model", "colour", "--sheet", str(folder / "sheet.png"))
        assert done.exit_code == 0, done.output
        assert Image.open(folder / "sheet.png").size[0] > 6 * 256

    def test_models_of_one_stem_are_told_apart_and_a_rival_goes_by_its_method(self, folder):
        for place in ("one", "two"):
            (folder / place).mkdir()
            save(GraphSR(Architecture(extractor="colour", features=4)), folder / place / "a.safetensors")
        save_file(METHODS["fdsr"].build(None).network.state_dict(), folder / "a.safetensors")
        names = [f"{folder / place / 'a.safetensors'}" for place in ("one", "two")] + [f"fdsr:{folder}/a.safetensors"]
        more = [part for name in names for part in ("--model", name)]
        done = self.run(folder, *more, "-o", str(folder / "table.csv"))
        assert done.exit_code == 0, done.output
        rows = csv.DictReader((folder / "table.csv").read_text().splitlines())
        assert [row["model"] for row in rows] == [*names[:2], "fdsr"]

    def test_a_model_named_twice_is_refused(self, folder):
        done = self.run(folder, "--model", "colour", "--model", "colour")
        assert done.exit_code == 2
        assert "named twice" in done.output

    def test_brackets_in_a_name_are_no_markup(self, folder):
        (folder / "pairs").rename(folder / "pairs[bold]")
        command = ["evaluate", "--data", str(folder / "pairs[bold]"), "--split", "test", "--model", "bicubic"]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        assert "pairs[bold]" in done.output

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            (["--protocol", "mine"], "protocol 'mine': unknown"),
            (["--model", "color"], "did you mean colour"),
            (["-o", "table.xls"], "a table is written as"),
            (["--data", "nyuv3:here"], "did you mean nyuv2"),
            (["--degrade", "nose=0.1"], "unknown key 'nose'; did you mean noise"),
            (["--footprint", "bicubc"], "did you mean bicubic"),
            (["--protocol", "sources"], "has no source of its own"),
            (["--data", "diml:here", "--missing", "0"], "say these of 'folder' alone"),
            (["--data", "nowhere"], "nowhere"),
        ],
    )
    def test_mistakes_are_named(self, folder, more, says):
        done = self.run(folder, *more)
        assert done.exit_code == 2
        assert says in done.output


def test_tables_agree_on_their_columns():
    rows = list(evaluate([("bicubic", load("bicubic"))], "mine", [a_pair((256, 256))], protocol("patches"), [4.0]))
    assert len(tables.cells(rows[0])) == len(tables.HEADINGS)
