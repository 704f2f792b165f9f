"""Results: printed as they are measured, and kept in a table in Markdown."""
import dataclasses, datetime, re, statistics

from harness.machine import available_cores

HEAD = """# Results

The last result of each row of `make bench`, which writes this file. [README.md](README.md) explains the rows.

| Row | What | How | Result | Goal | Figures | Measured |
|---|---|---|---|---|---|---|
"""


@dataclasses.dataclass(frozen=True)
class Goal:
    """A bound for a value: at least (`≥`) or at most (`≤`)."""

    sign: str
    bound: float
    unit: str = ""

    def __str__(self):
        return f"{self.sign} {self.bound:g}{self.unit}"

    def is_met_by(self, value):
        return value >= self.bound if self.sign == "≥" else value <= self.bound


@dataclasses.dataclass(frozen=True)
class Values:
    """The values of some rounds; the result is their median."""

    all: list
    digits: int = 2
    unit: str = ""

    @property
    def median(self):
        return statistics.median(self.all)

    def __str__(self):
        text = f"{self.median:,.{self.digits}f}{self.unit}"
        if len(self.all) > 1:
            text += f" ({min(self.all):,.{self.digits}f} to {max(self.all):,.{self.digits}f})"
        return text


class Report:
    """Collects the lines of the rows, in the order in which the rows are listed. `programs` names what is measured."""

    def __init__(self, path, row_names, programs):
        self.path, self.row_names, self.programs, self.lines = path, row_names, programs, {}

    def add(self, row, what, how, values, goal=None, figures=""):
        """Prints one result. `figures` are the absolute figures behind it."""
        verdict = ""
        if goal:
            is_met = goal.is_met_by(round(values.median, values.digits))
            verdict = f"{goal}" if is_met else f"{goal}: missed"
        print(f"{row:12} {what}, {how}: {values}" + (f"  [{verdict}]" if goal else "")
              + (f"  {figures}" if figures else ""), flush=True)
        measured = f"{datetime.date.today()}, {self.programs}, {len(available_cores())} cores"
        cells = [f"`{row}`", what, how, str(values), verdict, figures, measured]
        self.lines.setdefault(row, []).append("| " + " | ".join(cells) + " |\n")

    def write(self):
        """Replaces the lines of the rows that were measured, and keeps those of the others."""
        lines = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines(keepends=True):
                if found := re.match(r"\| `(\S+)` \|", line):
                    lines.setdefault(found[1], []).append(line)
        lines |= self.lines
        self.path.write_text(HEAD + "".join(line for name in self.row_names for line in lines.get(name, [])))
