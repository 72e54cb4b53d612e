"""The pictures, each of the samples of one row."""
import collections
import math
import statistics

from .recorded import AGAIN, NAMES, lost, medians, ordered_days, samples, short
from .svg import Drawing, LogAxis


def bars(drawing: Drawing, values: dict[str, float], top: float, axis: LogAxis, unit: str, sign: int = 1) -> float:
    """One for each store, on a logarithmic scale, the best first; returns where they end."""
    bottom = top + 26 * len(values)
    for tick in axis.ticks:
        drawing.line(axis.at(tick), top - 6, axis.at(tick), bottom)
        drawing.text(axis.at(tick), bottom + 16, f"{short(tick)} {unit}", "small faint middle")
    for index, (name, value) in enumerate(sorted(values.items(), key=lambda pair: sign * pair[1])):
        y = top + 26 * index
        drawing.text(axis.left - 8, y + 14, NAMES.get(name, name), "end")
        drawing.bar(axis.left, y + 2, axis.at(value) - axis.left, 16, "ours" if name.startswith("TokenVault") else "other")
        drawing.text(axis.at(value) + 6, y + 14, short(value), "small")
    return bottom + 24


def reads() -> Drawing:
    values = {name: time / 1000 for name, time in medians("reads", AGAIN).items()}
    drawing = Drawing(760, 120 + 26 * len(values), "One hot read", "µs, median; logarithmic; shorter is better; of 1 000 logins")
    bars(drawing, values, 76, LogAxis(0.5, 2_000, 270, 690), "µs")
    return drawing


def commits() -> Drawing:
    one = {name: 1e9 / time for name, time in medians("commits", "durable renewal, 1 caller").items()}
    many = {name: 1e9 / time for name, time in medians("commits", "durable renewal, 64 callers").items()}
    drawing = Drawing(
        760, 190 + 26 * (len(one) + len(many)), "Durable renewals a second",
        "changes committed to disk a second, median; logarithmic; longer is better")
    axis = LogAxis(50, 40_000, 270, 690)
    drawing.text(20, 80, "one caller", "title")
    y = bars(drawing, one, 96, axis, "/s", -1)
    drawing.text(20, y + 16, "64 callers at a time", "title")
    bars(drawing, many, y + 32, axis, "/s", -1)
    return drawing


def flight() -> Drawing:
    found = [sample for sample in samples("flight") if sample["processes"] == 8]
    delays = sorted({sample["delay"] for sample in found})
    names = list(dict.fromkeys(sample["name"] for sample in found))
    height = 30 + 24 * len(names)
    drawing = Drawing(
        760, 74 + height * len(delays), "1 000 callers want the token of one expired login",
        "requests that the provider got, from 8 processes; logarithmic. One is right. Orange: the chain was lost")
    axis = LogAxis(0.8, 1_000, 250, 540)
    for row, delay in enumerate(delays):
        top = 78 + row * height
        drawing.text(20, top + 14, f"provider takes {delay:g} s", "small")
        for tick in (1, 10, 100, 1000):
            drawing.line(axis.at(tick), top, axis.at(tick), top + height - 22)
        for index, name in enumerate(names):
            runs = [sample for sample in found if sample["name"] == name and sample["delay"] == delay]
            requests = statistics.median(run["requests"] for run in runs)
            is_lost = any(run["revoked"] for run in runs)
            y = top + 24 * index
            drawing.text(axis.left - 8, y + 14, name, "end")
            kind = "bad" if is_lost else "ours" if name == "TokenVault" else "other"
            drawing.bar(axis.left, y + 3, axis.at(requests) - axis.left, 15, kind)
            failed = sum(statistics.median(run["outcomes"].get(key, 0) for run in runs)
                         for key in {key for run in runs for key in run["outcomes"]} - {"ok"})
            words = [f"{requests:.0f}"] + ["chain lost"] * is_lost
            words += [f"{failed:.0f} {'callers' if failed > 1 else 'caller'} failed"] if failed else []
            drawing.text(axis.at(requests) + 6, y + 15, ", ".join(words), "small")
    return drawing


def growth() -> Drawing:
    units = {
        "read": ("read", "µs"), "open": ("open, first read, close", "µs"), "tick": ("tick, 100 due", "µs"),
        "memory": ("peak memory", "MiB"), "bytes": ("a login on disk", "bytes"), "update": ("durable update", "µs")}
    drawing = Drawing(760, 460, "From a thousand logins to a million", "median; both axes logarithmic; dashed: no growth")
    found = samples("growth")
    for index, (work, (title, unit)) in enumerate(units.items()):
        left, top = 60 + index % 3 * 240, 90 + index // 3 * 190
        values = collections.defaultdict(list)
        for sample in found:
            if sample["name"] == work:
                values[sample["logins"]].append(sample["value"])
        points = [(size, statistics.median(value)) for size, value in sorted(values.items())]
        x = LogAxis(points[0][0], points[-1][0], left, left + 170)
        low = min(value for _, value in points) / 3
        y = LogAxis(low, low * 100 if points[-1][1] < low * 90 else points[-1][1] * 2, top + 120, top)
        drawing.text(left, top - 10, f"{title}, {unit}")
        drawing.line(left, top + 120, left + 170, top + 120, "frame")
        drawing.path([(left, y.at(points[0][1])), (left + 170, y.at(points[0][1]))], "reference")
        drawing.path([(x.at(size), y.at(value)) for size, value in points])
        for size, value in points:
            drawing.dot(x.at(size), y.at(value))
            drawing.text(x.at(size), y.at(value) - 9, short(value), "small middle")
            drawing.text(x.at(size), top + 136, {3: "1 k", 4: "10 k", 5: "100 k", 6: "1 M"}[round(math.log10(size))],
                         "small faint middle")
    return drawing


def day() -> Drawing:
    found = {sample["name"]: sample for sample in ordered_days()}
    panels = (
        ("chains lost per 10 000 renewals, server that forgives for 30 s", lambda s: lost(s, "forgiving"), 1),
        ("chains lost per 10 000 renewals, server that forgives nothing", lambda s: lost(s, "demo"), 1),
        ("99th percentile of a read, ms", lambda s: s["p99_ms"], 1))
    height = 44 + 24 * len(found)
    drawing = Drawing(
        760, 70 + height * len(panels), "A day of work under faults",
        "8 processes, one killed every 2 s; lost replies; slow answers; logarithmic; shorter is better")
    for row, (title, value, low) in enumerate(panels):
        top = 78 + row * height
        drawing.text(20, top + 6, title)
        axis = LogAxis(low / 2, 40_000, 250, 640)
        for tick in axis.ticks:
            drawing.line(axis.at(tick), top + 14, axis.at(tick), top + height - 22)
        for index, (name, sample) in enumerate(found.items()):
            y, number = top + 18 + 24 * index, value(sample)
            drawing.text(axis.left - 8, y + 13, name, "end")
            if number > 0:
                kind = "ours" if name.startswith("TokenVault") else "other"
                drawing.bar(axis.left, y + 1, axis.at(number) - axis.left, 15, kind)
            drawing.text((axis.at(number) if number > 0 else axis.left) + 6, y + 13, short(number), "small")
    return drawing
