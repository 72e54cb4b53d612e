"""How our own costs grow with the number of logins: from a thousand to a million, in turns."""
import os
import statistics

from .fleet import output, probe_vault


def run(report, place: str, programs, rounds: int, big: int) -> None:
    sizes = [size for size in (1_000, 10_000, 100_000, 1_000_000) if size <= big]
    vaults = {size: probe_vault(programs, place, size) for size in sizes}
    for vault, _ in vaults.values():
        # Into the system's cache: what is cold depends on what ran before.
        with open(vault, "rb") as file:
            while file.read(1 << 20):
                pass

    def bench(size: int, verb: str, count: int, seed: int) -> float:
        return float(output(programs.bench, verb, *vaults[size], str(size), str(count), str(seed)).split()[0])

    works = {
        "read": lambda size, seed: bench(size, "await-known", 20_000, seed) / 1e3,
        "update": lambda size, seed: bench(size, "update", 100, seed) / 1e3,
        "open": lambda size, seed: bench(size, "open", 20, seed) / 1e3,
        "tick": lambda size, seed: float(output(programs.probe, "tick", *vaults[size], "300").split()[0]) / 1e3,
        "memory": lambda size, seed: bench(size, "memory", 2_000, seed) / 1024,
        "bytes": lambda size, seed: os.path.getsize(vaults[size][0]) / size,
    }
    # Updates come last: they change what is due.
    for group in (works.keys() - {"update"}, {"update"}):
        for number in range(rounds + 1):
            for work in (work for work in works if work in group):
                for size in sizes:
                    value = works[work](size, number + 1)
                    if number > 0:
                        report.sample("growth", work, {"logins": size, "round": number, "value": round(value, 3)})
    units = {"read": "µs", "update": "µs", "open": "µs", "tick": "µs", "memory": "MiB", "bytes": "bytes a login"}
    goals = {"open": "≤ 1.1", "memory": "≤ 1.1", "tick": "≤ 1.1"}
    for work in works:
        medians = [
            statistics.median(
                sample["value"] for sample in report.samples_of("growth")
                if sample["name"] == work and sample["logins"] == size)
            for size in sizes]
        note = " → ".join(f"{value:.4g}" for value in medians) + " " + units[work]
        report.figure("growth", f"{work}: {sizes[-1]} logins over {sizes[0]}", medians[-1] / medians[0], goals.get(work), note)
