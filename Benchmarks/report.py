"""What the parts of `Benchmarks/run` share: running programs, and holding figures against goals."""
import statistics
import subprocess


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def us(values: list[float]) -> str:
    return f"{statistics.median(values) / 1000:.2f} µs"


class Report:
    """Figures with their goals."""

    def __init__(self) -> None:
        self.results: list[dict] = []

    def report(self, title: str, value: float, goal: str, note: str = "") -> None:
        relation, bound = goal.split()
        isMet = value <= float(bound) if relation == "≤" else value >= float(bound)
        self.results.append({"title": title, "value": round(value, 3), "goal": goal, "isMet": isMet, "note": note})
        print(f"{title:52} {value:9.2f}   goal {goal:9} {'' if isMet else 'MISSED  '}{note}", flush=True)
