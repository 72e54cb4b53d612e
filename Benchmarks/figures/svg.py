"""Drawings as text, readable in light and dark."""
import math
from xml.sax.saxutils import escape

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.small { font-size: 11px } .faint { fill: #6e7781 } .end { text-anchor: end } .middle { text-anchor: middle }
.paper { fill: #ffffff } .grid { stroke: #d0d7de; stroke-width: 1 } .frame { stroke: #8c959f; stroke-width: 1 }
.ours { fill: #0969da } .other { fill: #8c959f } .bad { fill: #cf5a2a } .line { stroke: #0969da; stroke-width: 2; fill: none }
.reference { stroke: #8c959f; stroke-dasharray: 4 3; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .paper { fill: #0d1117 } .grid { stroke: #30363d } .frame { stroke: #656c76 }
.ours { fill: #4493f8 } .other { fill: #7d8590 } .bad { fill: #f0883e } .line { stroke: #4493f8 } .reference { stroke: #7d8590 }
}
"""


class Drawing:
    def __init__(self, width: int, height: int, title: str, description: str):
        self.width, self.height, self.parts = width, height, []
        self.head = f"<title>{escape(title)}</title><desc>{escape(description)}</desc>"
        self.text(20, 28, title, "title")
        self.text(20, 48, description, "small faint")

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>')

    def bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 2):.1f}" height="{height}" rx="2" class="{kind}"/>')

    def line(self, x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> None:
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def path(self, points: list[tuple[float, float]], kind: str = "line") -> None:
        self.parts.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" class="{kind}"/>')

    def dot(self, x: float, y: float, kind: str = "ours") -> None:
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" class="{kind}"/>')

    def svg(self) -> str:
        body = "\n".join(self.parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
            f' height="{self.height}" role="img">\n{self.head}\n<style>{STYLE}</style>\n'
            f'<rect class="paper" width="{self.width}" height="{self.height}"/>\n{body}\n</svg>\n')


class LogAxis:
    def __init__(self, low: float, high: float, left: float, right: float):
        self.low, self.left, self.right = low, left, right
        self.scale = (right - left) / math.log10(high / low)
        self.ticks = [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]

    def at(self, value: float) -> float:
        return self.left + math.log10(max(value, self.low) / self.low) * self.scale
