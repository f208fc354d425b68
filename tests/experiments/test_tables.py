"""What the tables say beside the measured figures, and that every format holds together."""

from __future__ import annotations

import re

import pytest

from graphsr.experiments.published import figures, published, remarks_on, shown
from graphsr.experiments.report import Report, Table, as_csv, as_latex, as_markdown


def test_published_figures_stand_beside_the_measured_ones(reproduce, data, tmp_path):
    asked = ("--data", data, "--sets", "nyuv2-frames", "--methods", "bicubic,guided-filter", "--factors", "4,8")
    code, told = reproduce("table1", *asked, "-o", tmp_path)
    assert code == 0, told
    (line,) = (line for line in told.splitlines() if line.startswith("guided-filter"))
    assert re.search(r"none needed +[\d.]+ +[\d.]+ +- +[\d.]+ +[\d.]+ +142 / 4\.47$", line.strip())
    assert "published figures are of the test split in full precision" in told


class TestPublished:
    def test_only_what_the_paper_has_of_that_set_and_factor(self):
        known = published("table1", "guided-filter", "nyuv2", 8)
        assert known is not None
        assert (known.mse, known.mae) == (142.0, 4.47)
        assert published("table1", "guided-filter", "nyuv2", 4) is None
        assert published("table1", "guided-filter", "", 8) is None  # a set that the paper does not have
        assert published("table2", "guided-filter", "nyuv2", 8) is None

    def test_what_is_not_known_of_a_figure_is_said(self):
        for figure in figures():
            assert figure.placed or "is not recorded here" in str(figure)
        (told,) = remarks_on("table1", ["sd-filter", "guided-filter"])
        assert told == "Published: sd-filter at x16: MSE 511 (cm), of which the data set is not recorded here"

    @pytest.mark.parametrize(("value", "text"), [(None, "-"), (1234.5, "1234"), (142.0, "142"), (0.01234, "0.0123")])
    def test_figures_are_short(self, value, text):
        assert shown(value) == text


REPORT = Report(
    "table9",
    "A title, 100 % of it",
    (
        Table(
            "one set_of pairs, MSE in cm²", ("method", "x8 MSE", "published"), (("a|b", "1", "-"), ("c & d", "2", "3"))
        ),
        Table("another", ("method", "MSE"), (("e", "4"),)),
    ),
    ("Data: here", "Budget: none"),
    ("f: no weights",),
    ({"method": "a|b", "mse": 1.0}, {"method": "c & d", "size": 256}),
)


class TestFormats:
    def test_markdown_has_all_tables_and_what_made_them(self):
        text = as_markdown(REPORT)
        assert text.count("\n| method |") == 2
        assert "| a\\|b | 1 | - |" in text
        assert "- Data: here\n" in text
        assert "Not measured:\n\n- f: no weights" in text

    def test_csv_has_every_column_of_any_record(self):
        assert as_csv(REPORT).splitlines() == ["method,mse,size", "a|b,1.0,", "c & d,,256"]

    def test_latex_holds_together(self):
        text = as_latex(REPORT)
        for name in ("table", "tabular"):
            assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 2
        text, _, comment = text.partition("\n% ")
        assert comment == "not measured: f: no weights\n"
        assert not re.search(r"(?<!\\)[%#_]", text)
        assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))
        for columns, body in re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, re.DOTALL):
            lines = [line for line in body.splitlines() if line.endswith(r"\\")]
            assert lines
            assert all(len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1 for line in lines)
        assert r"A title, 100 \% of it" in text
        assert r"cm$^2$" in text
        assert r"c \& d" in text
