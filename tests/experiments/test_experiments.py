"""Every experiment of the paper runs from one command, here with next to no budget."""

from __future__ import annotations

import csv
import re

import pytest
from PIL import Image

from graphsr.experiments import EXPERIMENTS

TINY = ("--pairs", 1, "--patch", 64, "--workers", 0)


def rows(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.mark.slow
def test_table1_has_every_method_asked_for_at_every_factor(reproduce, tmp_path):
    asked = ("--sets", "synthetic", "--methods", "bicubic,guided-filter,fdsr,colour", "--factors", "8,16")
    code, told = reproduce("table1", *asked, "--budget", 2, "-o", tmp_path, *TINY)
    assert code == 0, told
    found = rows(tmp_path / "table1.csv")
    assert [(row["method"], row["factor"]) for row in found] == [
        (method, factor) for method in ("bicubic", "guided-filter", "fdsr", "colour") for factor in ("8", "16")
    ]
    assert {row["weights"] for row in found if row["method"] == "fdsr"} == {
        f"trained on synthetic at x{factor}, 2 samples" for factor in (8, 16)
    }
    errors = {row["method"]: float(row["mse"]) for row in found if row["factor"] == "8"}
    assert errors["colour"] < errors["guided-filter"] < errors["bicubic"]
    for word in ("synthetic", "patches", "2 training samples", "trained on synthetic"):
        assert word in told


@pytest.mark.slow
def test_table2_measures_a_method_on_sets_it_was_not_trained_on(reproduce, data, tmp_path):
    asked = ("--data", data, "--sets", "hci,synthetic", "--methods", "bicubic,fdsr")
    code, told = reproduce("table2", *asked, "--budget", 1, "-o", tmp_path, *TINY)
    assert code == 0, told
    found = {(row["method"], row["trained_on"], row["data"]): row for row in rows(tmp_path / "table2.csv")}
    sets = ("hci", "synthetic")
    assert found.keys() == {("fdsr", a, b) for a in sets for b in sets} | {("bicubic", "-", b) for b in sets}
    assert all(float(row["low_resolution_mse"]) > 0 for row in found.values())
    assert "low-res. MSE" in told


@pytest.mark.slow
def test_table3_compares_extractors_with_their_sizes(reproduce, tmp_path):
    asked = ("--sets", "synthetic", "--methods", "graph-colour,graph-fdsr")
    code, told = reproduce("table3", *asked, "--budget", 1, "-o", tmp_path, *TINY)
    assert code == 0, told
    assert re.search(r"^colour .* 2 +2 ", told, re.MULTILINE)  # lambda and mu, and as published
    assert re.search(
        r"^fdsr .* 619,314 +600,000 .* -$", told, re.MULTILINE
    )  # errors of this data set are not published


def test_timing_needs_no_weights_and_no_data(reproduce, tmp_path):
    asked = ("--methods", "bicubic,fdkn,msg-net", "--factors", "4,3", "--sizes", "40,48", "--no-memory")
    code, told = reproduce("timing", *asked, "-o", tmp_path)
    assert code == 0, told
    found = rows(tmp_path / "timing.csv")
    assert {(row["method"], row["size"], row["factor"]) for row in found} == {
        (method, size, factor)
        for method in ("bicubic", "fdkn", "msg-net")
        for size in ("36", "48")  # both factors divide them
        for factor in ("4", "3")
        if (method, factor) != ("msg-net", "3")
    }
    assert all(float(row["seconds"]) > 0 for row in found)
    assert "36 x 36 pixels" in told
    assert "256 x 256 pixels, RTX 2080 Ti, ms (standard deviation): graph x4 79 (21), graph x8 111 (35)" in told
    assert "skipped msg-net: does not exist at x3" in told


def test_successors_measures_whole_images_with_the_weights_there_are(reproduce, data, tmp_path):
    asked = ("--data", data, "--sets", "synthetic,hci", "--methods", "bicubic,fdsr", "--factors", "8", "--pairs", 1)
    code, told = reproduce("successors", *asked, "--budget", 5, "-o", tmp_path)
    assert code == 0, told
    found = rows(tmp_path / "successors.csv")
    assert [(row["method"], row["data"], row["protocol"]) for row in found] == [
        ("bicubic", data_set, "successors") for data_set in ("synthetic", "hci")
    ]
    assert "skipped fdsr: no weights at x8" in told  # nothing is trained for it
    assert "x8 RMSE" in told


@pytest.mark.slow
def test_figure_weights_shows_the_colour_graph_beside_the_learned_one(reproduce, tmp_path):
    asked = ("--sets", "synthetic", "--methods", "colour,graph-small,bicubic")
    code, told = reproduce("figure-weights", *asked, "--budget", 1, "-o", tmp_path, *TINY)
    assert code == 0, told
    assert Image.open(tmp_path / "weights-synthetic-x8.png").width > 6 * 256
    assert "skipped bicubic: has no graph to show" in told
    assert "![weights-synthetic-x8](weights-synthetic-x8.png)" in (tmp_path / "figure-weights.md").read_text()


def test_figure_errors_draws_error_maps_and_crops(reproduce, data, tmp_path):
    asked = ("--data", data, "--sets", "hci", "--methods", "bicubic,colour")
    code, told = reproduce("figure-errors", *asked, "-o", tmp_path)
    assert code == 0, told
    assert Image.open(tmp_path / "errors-hci-x8.png").width > 5 * 256
    assert Image.open(tmp_path / "crops-hci-x8.png").width > 5 * 160
    assert "bicubic: none needed; colour: none needed" in told


def test_comparison_joins_errors_and_times(reproduce, tmp_path):
    asked = ("--sets", "synthetic", "--methods", "bicubic,colour", "--factors", "8", "--sizes", "64", "--pairs", 1)
    code, told = reproduce("comparison", *asked, "--no-memory", "-o", tmp_path)
    assert code == 0, told
    text = (tmp_path / "comparison.md").read_text()
    assert "x8 low-res. MSE" in text
    assert "64 x 64 pixels" in text
    assert text.count("| colour |") == 2
    assert {row["method"] for row in rows(tmp_path / "comparison.csv")} == {"bicubic", "colour"}
    assert all(float(row["seconds"]) > 0 for row in rows(tmp_path / "comparison-times.csv"))
    errors, times = re.findall(r"\\caption\{(.*?)\}\n", (tmp_path / "comparison.tex").read_text())
    assert "Errors are means" in errors
    assert "Machine" not in errors
    assert "Machine" in times


def test_all_of_them_are_tested_here():
    assert list(EXPERIMENTS) == [
        "table1", "table2", "table3", "timing", "successors", "figure-weights", "figure-errors", "comparison",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("table4",), "did you mean table"),
        (("table1", "--methods", "fdrs"), "did you mean fdsr"),
        (("table1", "--sets", "nyuv3"), "did you mean nyuv2"),
        (("table1", "--factors", "eight"), "--factors: expected whole numbers"),
        (("table1", "--data", "nowhere"), "nowhere: no such folder"),
        (("table1", "--patch", "40"), "multiple of 32"),
        (("table1", "--weights", "fdsr"), "say NAME:FILE"),
        (("table1", "--weights", "fdsr:nowhere.pth"), "no such file"),
        (("table1", "--factors", "512", "--methods", "bicubic"), "factor 512: is more than the patches"),
        (("timing", "--sizes", "8"), "--sizes 8: is less than 16"),
        (("timing", "--factors", "512"), "--sizes 256: is less than 512"),
    ],
)
def test_mistakes_are_named(reproduce, tmp_path, arguments, says):
    code, told = reproduce(*arguments, "-o", tmp_path)
    assert code == 2
    assert says in told


def test_weights_of_nothing_learned_are_refused(reproduce, tmp_path):
    (tmp_path / "a.pth").write_bytes(b"")
    code, told = reproduce("table1", "--weights", f"guided-filter:{tmp_path / 'a.pth'}", "-o", tmp_path)
    assert code == 2
    assert "nothing learned is called 'guided-filter'" in told
