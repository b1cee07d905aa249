"""A few SVG shapes in classes of their own, readable on light and dark pages.

There is no background, and the colours follow the reader's scheme.
"""

from xml.etree import ElementTree as ET

DOT = 4.5

_STYLE = """
svg { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; }
text { fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.panel { font-weight: 600; }
.quiet { fill: #57606a; font-size: 11.5px; }
.ours { fill: #0550ae; font-weight: 600; }
.number { font-variant-numeric: tabular-nums; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.one { stroke: #57606a; stroke-width: 1.25; }
.dot { fill: #6e7781; } .whisker { stroke: #6e7781; stroke-width: 2; }
.dot.ours { fill: #0969da; } .whisker.ours { stroke: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .ours { fill: #79c0ff; }
  .grid { stroke: #3d444d; }
  .one { stroke: #9198a1; }
  .dot { fill: #9198a1; } .whisker { stroke: #9198a1; }
  .dot.ours { fill: #58a6ff; } .whisker.ours { stroke: #58a6ff; }
}
"""


class Canvas:
    """Places are pixels from the upper left corner."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._svg = ET.Element(
            "svg",
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width} {height}",
            width=str(width),
            height=str(height),
            role="img",
        )
        ET.SubElement(self._svg, "title").text = title
        ET.SubElement(self._svg, "style").text = _STYLE

    def text(self, x: float, y: float, text: str, style: str = "") -> None:
        self._text(x, y, text, style, "start")

    def text_before(self, x: float, y: float, text: str, style: str = "") -> None:
        self._text(x, y, text, style, "end")

    def text_around(self, x: float, y: float, text: str, style: str = "") -> None:
        self._text(x, y, text, style, "middle")

    def upright(self, x: float, span: tuple[float, float], style: str) -> None:
        ends = {"x1": x, "x2": x, "y1": span[0], "y2": span[1]}
        self._shape("line", ends, style)

    def level(self, y: float, span: tuple[float, float], style: str) -> None:
        ends = {"x1": span[0], "x2": span[1], "y1": y, "y2": y}
        self._shape("line", ends, style)

    def dot(self, x: float, y: float, style: str) -> None:
        self._shape("circle", {"cx": x, "cy": y, "r": DOT}, style)

    def svg(self) -> str:
        ET.indent(self._svg)
        return ET.tostring(self._svg, encoding="unicode") + "\n"

    def _text(self, x: float, y: float, text: str, style: str, anchor: str) -> None:
        element = self._shape("text", {"x": x, "y": y}, style)
        element.set("text-anchor", anchor)
        element.text = text

    def _shape(self, tag: str, places: dict[str, float], style: str) -> ET.Element:
        told = {name: f"{place:.1f}" for name, place in places.items()}
        return ET.SubElement(self._svg, tag, {**told, "class": style} if style else told)
