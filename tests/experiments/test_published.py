"""Published figures are read whole, and stand beside measured ones of the same data, factor, protocol and unit only."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import replace

import pytest

from graphsr.baselines import METHODS
from graphsr.baselines.weights import save
from graphsr.evaluation.protocols import PROTOCOLS
from graphsr.experiments.data_sets import SPECS, DataSet
from graphsr.experiments.paper import successors
from graphsr.experiments.participants import EXTRACTORS, METHODS_AND_MODELS
from graphsr.experiments.published import (
    find_published,
    published_elsewhere,
    published_errors,
    published_parameters,
    published_times,
    shown,
)

PAPER = {"protocol": "patches", "unit": "cm"}


class TestReading:
    def test_every_table_is_there_in_full(self):
        assert Counter(one.table for one in published_errors()) == {
            "table1": 3 * 3 * 10,
            "table2": 2 * 9,
            "table3": 6,
            "successors": 3 * (7 + 4 + 1 + 2),
        }

    def test_no_two_figures_are_of_the_same(self):
        keys = [(one.table, one.method, one.data, one.factor, one.trained_on) for one in published_errors()]
        assert len(set(keys)) == len(keys)

    def test_names_are_those_of_our_methods_and_protocols(self):
        ours = {one.name for one in (*METHODS_AND_MODELS, *EXTRACTORS)}
        others = {one.method for one in published_errors() if one.method not in ours}
        assert others == {"dctnet", "ahmf", "jiif", "suft"}
        assert {one.protocol for one in published_errors()} <= set(PROTOCOLS)
        assert METHODS.keys() >= {"guided-filter", "sd-filter", "pixtransform", "msg-net", "dkn", "fdkn", "pmbanet"}

    def test_each_has_the_errors_of_its_table(self):
        expected = {
            "table1": "mse mae",
            "table2": "mse mae low_resolution_mse",
            "table3": "mse mae",
            "successors": "rmse",
        }
        for one in published_errors():
            errors = ("mse", "mae", "rmse", "low_resolution_mse")
            assert [name for name in errors if getattr(one, name) is not None] == expected[one.table].split()

    @pytest.mark.parametrize(
        ("table", "method", "data", "factor", "error", "value"),
        [
            ("table1", "guided-filter", "middlebury", 4, "mse", 33.3),
            ("table1", "graph", "nyuv2", 8, "mse", 19.6),
            ("table1", "sd-filter", "middlebury", 16, "mse", 511),
            ("table1", "fdsr", "diml", 16, "mae", 1.66),
            ("table2", "graph", "middlebury", 8, "low_resolution_mse", 1.1e-3),
            ("table2", "pixtransform", "diml", 8, "mae", 1.26),
            ("table3", "graph-gdpt", "nyuv2", 8, "mae", 1.54),
            ("successors", "suft", "nyuv2-1000-1448", 16, "rmse", 4.86),
            ("successors", "dctnet", "lu", 8, "rmse", 1.85),
        ],
    )
    def test_some_figures_are_as_published(self, table, method, data, factor, error, value):
        (one,) = (
            one
            for one in published_errors()
            if (one.table, one.method, one.data, one.factor) == (table, method, data, factor)
        )
        assert getattr(one, error) == value

    def test_parameters_and_times(self):
        assert published_parameters("graph-unet-resnet50") == 32_000_000
        assert published_parameters("graph-unet-lite0") is None
        times = published_times()
        assert "graph x16 305 (92)" in times
        assert "fdkn 10, pixtransform more than 120000" in times

    @pytest.mark.parametrize(("value", "text"), [(None, "-"), (1234.5, "1234"), (142.0, "142"), (0.01234, "0.0123")])
    def test_figures_are_short(self, value, text):
        assert shown(value) == text


class TestPairing:
    def test_is_of_the_same_table_method_data_and_factor(self):
        known = find_published("table1", "guided-filter", data="nyuv2", factor=8, **PAPER)
        assert known is not None
        assert (known.mse, known.mae) == (142.0, 4.47)
        assert find_published("table1", "guided-filter", data="nyuv2", factor=2, **PAPER) is None
        assert find_published("table1", "guided-filter", data="", factor=8, **PAPER) is None
        assert find_published("table1", "graph-small", data="nyuv2", factor=8, **PAPER) is None
        assert find_published("comparison", "guided-filter", data="nyuv2", factor=8, **PAPER) is None

    @pytest.mark.parametrize("other", [{"protocol": "successors"}, {"unit": "px"}, {"unit": ""}])
    def test_is_of_the_same_protocol_and_unit(self, other):
        assert find_published("table1", "graph", data="nyuv2", factor=8, **{**PAPER, **other}) is None

    @pytest.mark.parametrize(
        ("method", "trained_on", "mse"),
        [("graph", "nyuv2", 4.95), ("graph", "diml", None), ("graph", "", None), ("guided-filter", "", 34.1)],
    )
    def test_of_table2_is_of_the_same_training_set(self, method, trained_on, mse):
        known = find_published("table2", method, data="diml", factor=8, trained_on=trained_on, **PAPER)
        assert (known and known.mse) == mse

    def test_of_fewer_pairs_than_were_published_is_none(self, labelled):
        spec = next(spec for spec in SPECS if spec.name == "nyuv2")
        found = DataSet(spec, labelled / "NYUv2")
        assert [found.published_name(most) for most in (None, 5, 1, 0)] == ["nyuv2", "nyuv2", "nyuv2", ""]

    def test_only_test_splits_of_the_paper_have_published_figures(self):
        assert {spec.name: spec.split for spec in SPECS if spec.published} == {
            "middlebury": "test", "nyuv2": "test", "diml": "test",
        }  # fmt: skip

    def test_of_later_papers_is_of_their_frames(self):
        (nyuv2,) = (spec for spec in successors.KNOWN if spec.published)
        assert (nyuv2.published, nyuv2.frames) == ("nyuv2-1000-1448", range(1000, 1449))

    def test_others_of_the_same_frames_are_told(self):
        told = published_elsewhere("successors", "nyuv2-1000-1448", {"bicubic", "graph", "fdsr"})
        assert told[0] == "Published: dctnet on nyuv2-1000-1448, RMSE x4 1.59 cm, x8 3.16 cm, x16 5.84 cm"
        assert len(told) == 4
        assert not published_elsewhere("successors", "", set())


def test_reproduce_prints_both_of_the_same_data(reproduce, labelled, tmp_path):
    asked = ("--data", labelled, "--sets", "nyuv2", "--methods", "bicubic,guided-filter", "--factors", "2,8")
    code, told = reproduce("table1", *asked, "-o", tmp_path)
    assert code == 0, told
    (line,) = (line for line in told.splitlines() if line.startswith("guided-filter"))
    assert re.search(r"none needed +[\d.]+ +[\d.]+ +- +[\d.]+ +[\d.]+ +142 / 4\.47$", line.strip())
    rows = list(csv.DictReader((tmp_path / "table1.csv").read_text().splitlines()))
    assert [row["published_mse"] for row in rows if row["method"] == "guided-filter"] == ["", "142.0"]


def test_reproduce_prints_none_beside_other_data_of_the_same_name(reproduce, data, tmp_path):
    asked = ("--data", data, "--sets", "nyuv2-frames", "--methods", "guided-filter", "--factors", "8")
    code, told = reproduce("table1", *asked, "-o", tmp_path)
    assert code == 0, told
    assert "142" not in told


class TestSuccessors:
    """On a labelled file whose frame 2 takes the place of frames 1000 to 1448."""

    @pytest.fixture(autouse=True)
    def _one_frame(self, monkeypatch):
        specs = [replace(spec, frames=range(2, 3)) if spec.frames else spec for spec in successors.KNOWN]
        monkeypatch.setattr(successors, "KNOWN", tuple(specs))

    def run(self, reproduce, labelled, out, *more):
        asked = ("--data", labelled, "--sets", "nyuv2", "--factors", "8", *more)
        code, told = reproduce("successors", *asked, "-o", out)
        assert code == 0, told
        return told

    def test_prints_published_figures_of_the_same_frames(self, reproduce, labelled, tmp_path):
        told = self.run(reproduce, labelled, tmp_path, "--methods", "bicubic,colour")
        assert re.search(r"^bicubic +none needed +[\d.]+ +7\.14$", told, re.MULTILINE)
        assert re.search(r"^colour +none needed +[\d.]+ +-$", told, re.MULTILINE)
        assert "suft on nyuv2-1000-1448, RMSE x4 1.12 cm, x8 2.51 cm" in told

    @pytest.mark.parametrize(("trained_on", "published"), [("hci", "3.18"), ("nyuv2", "-")])
    def test_prints_none_of_weights_that_may_know_the_frames(
        self, reproduce, labelled, tmp_path, trained_on, published
    ):
        save(METHODS["fdsr"].build(None), "fdsr", tmp_path / "mine.safetensors", about={"data": trained_on})
        told = self.run(
            reproduce, labelled, tmp_path, "--methods", "fdsr", "--weights", f"fdsr:{tmp_path / 'mine.safetensors'}"
        )
        assert re.search(rf"^fdsr +file mine.safetensors +\S+ +{published}$", told, re.MULTILINE), told
