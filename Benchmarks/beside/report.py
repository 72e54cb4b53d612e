"""Samples, figures and goals, on the terminal and as JSON: one file for each row, with what it was measured on."""
import json
import os
import sys

from . import machine


class Report:
    def __init__(self, place: str, records: bool, appends: bool):
        self.place, self.records, self.appends = place, records, appends
        self.samples: dict[str, list[dict]] = {}
        self.figures: dict[str, list[dict]] = {}

    def begin(self, row: str) -> None:
        """With `--append` the samples of earlier runs count, too."""
        earlier = self.read(row) if self.appends else {}
        self.samples[row], self.figures[row] = earlier.get("samples", []), []
        self.facts = machine.facts(self.place)

    def read(self, row: str) -> dict:
        if not os.path.exists(self.path(row)):
            return {}
        with open(self.path(row), encoding="utf-8") as file:
            return json.load(file)

    def path(self, row: str) -> str:
        return os.path.join(machine.RESULTS, self.name(row))

    def name(self, row: str) -> str:
        return f"peers-{row}.json"

    def sample(self, row: str, name: str, values: dict) -> None:
        self.samples[row].append({"name": name} | values)
        print("    ", name, values, file=sys.stderr, flush=True)

    def samples_of(self, row: str) -> list[dict]:
        return self.samples[row]

    def figure(self, row: str, title: str, value: float, goal: str | None = None, note: str = "") -> None:
        is_met = goal is None or meets(value, goal)
        self.figures[row].append(
            {"title": title, "value": round(value, 3), "goal": goal, "isMet": is_met, "note": note})
        print(f"{title:64} {value:12.2f}   {'goal ' + goal if goal else '':12} {'' if is_met else 'MISSED  '}{note}", flush=True)

    def end(self, row: str) -> None:
        if not self.records:
            return
        machine.record(self.name(row), {"row": row}, "Benchmarks/peers", self.facts, {
            "versions": machine.versions(), "figures": self.figures[row], "samples": self.samples[row]})

    @property
    def is_good(self) -> bool:
        return all(figure["isMet"] for figures in self.figures.values() for figure in figures)


def meets(value: float, goal: str) -> bool:
    relation, bound = goal.split()
    number = float(bound)
    return {"≤": value <= number, "≥": value >= number, "=": value == number}[relation]
