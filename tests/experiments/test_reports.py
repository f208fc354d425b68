"""Every format of a report holds together."""

from __future__ import annotations

import re

from graphsr.evaluation.tables import Table, as_csv
from graphsr.experiments.report import Report, as_latex, as_markdown

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
    def test_markdown_has_all_tables_and_their_conditions(self):
        text = as_markdown(REPORT)
        assert text.count("\n| method |") == 2
        assert "| a\\|b | 1 | - |" in text
        assert "- Data: here\n" in text
        assert "Not measured:\n\n- f: no weights" in text

    def test_csv_has_every_column_of_any_record(self):
        assert as_csv(REPORT.records).splitlines() == ["method,mse,size", "a|b,1.0,", "c & d,,256"]

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
