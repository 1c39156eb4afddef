"""Charts as SVG: curves over the time of a trace, and bars of counts.

Colours and fonts come from the style of the page. A curve has the class `s` and the number of its
setting modulo COLOURS; further settings are dashed.
"""

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
import dataclasses
import html
import math
import re

COLOURS = 8
# Width and height of a chart in units of the picture, and its margins.
WIDTH, HEIGHT = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 34, 30
BAR, GAP, LABEL = 16, 6, 150
TICKS = 4
DAY_S = 86400
# (longest span, unit, its seconds)
UNITS = (
    (600, 's', 1.0),
    (4 * 3600, 'min', 60.0),
    (4 * DAY_S, 'h', 3600.0),
    (math.inf, 'd', float(DAY_S)),
)

# Colours of pictures without a page: those of the page's light theme.
PRINTED = (
    *('#2a6fd6', '#d9622b', '#128a63', '#b07800'),
    *('#c4508a', '#5b7d1c', '#5a48b8', '#c83a3a'),
)
STYLE = (
    'text{fill:#656d76;font:11px sans-serif}.title{fill:#1f2328;font-size:13px;font-weight:600}'
    '.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#d8dee4}'
    '.c{fill:none;stroke-width:1.8}.dashed{stroke-dasharray:6 3}'
    '.bound{stroke-dasharray:2 3;stroke-width:1.2}'
)
VIEW = re.compile(r'viewBox="0 0 \d+ ([\d.]+)"')

Point = tuple[float, float]
Format = Callable[[float], str]


@dataclasses.dataclass(frozen=True)
class Curve:
    """A curve of a setting. number: that of the setting; is_bound: it is the bound of another"""

    number: int
    name: str
    points: Sequence[Point]
    is_bound: bool = False


def percent(value: float) -> str:
    """Return a share as text."""
    return f'{100 * value:.3g} %'


def number(value: float) -> str:
    """Return a number as text."""
    return f'{value:,.0f}' if abs(value) >= 100 else f'{value:.3g}'


def curves(
    title: str,
    found: Sequence[Curve],
    *,
    form: Format = number,
    highest: float | None = None,
    across: str = 'time',
) -> str:
    """Return a chart of curves.

        highest: upper end of the scale, None for the highest value
    across: quantity of the horizontal axis: 'time' (seconds), or 'ms' on a logarithmic scale
    """
    values = [y for curve in found for _x, y in curve.points]
    ticks = _ticks(0.0, max(values, default=0.0) if highest is None else highest)
    xs = [x for curve in found for x, _y in curve.points]
    labels, place_x = _time_axis(xs) if across == 'time' else _log_axis(xs)
    top = ticks[-1]

    def place_y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / top

    parts = [_text(0, 16, title, 'title')]
    for tick in ticks:
        y = place_y(tick)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_text(LEFT - 6, y + 4, form(tick), 'end'))
    for text, x in labels:
        parts.append(_text(x, HEIGHT - BOTTOM + 18, text, 'middle'))
    for curve in found:
        path = ' '.join(f'{place_x(x):.1f},{place_y(min(y, top)):.1f}' for x, y in curve.points)
        parts.append(
            f'<polyline class="{_classes(curve)}" points="{path}">'
            f'<title>{_escaped(curve.name)}</title></polyline>'
        )
    return _svg(title, HEIGHT, parts)


def bars(title: str, found: Iterable[tuple[int, str, float]]) -> str:
    """Return a chart of horizontal bars. found: (number of the setting, label, value)"""
    rows = list(found)
    most = max((value for _number, _label, value in rows), default=0.0) or 1.0
    parts = [_text(0, 16, title, 'title')]
    for index, (setting, label, value) in enumerate(rows):
        y = TOP + index * (BAR + GAP)
        width = (WIDTH - LABEL - 60) * value / most
        parts.append(_text(LABEL - 6, y + 12, label, 'end'))
        parts.append(
            f'<rect class="b s{setting % COLOURS}" x="{LABEL}" y="{y}" width="{width:.1f}" '
            f'height="{BAR}" rx="2"/>'
        )
        parts.append(_text(LABEL + width + 6, y + 12, number(value)))
    if not rows:
        parts.append(_text(0, TOP + 12, 'none'))
    return _svg(title, TOP + max(1, len(rows)) * (BAR + GAP) + 6, parts)


def alone(chart: str, names: Sequence[str]) -> str:
    """Return a chart as a picture that needs no page: with colours and the names of settings."""
    rules = [
        f'.c.s{index}{{stroke:{color}}}.b.s{index}{{fill:{color}}}'
        for index, color in enumerate(PRINTED)
    ]
    size = VIEW.search(chart)
    height = float(size[1]) if size else HEIGHT
    legend = []
    for index, name in enumerate(names):
        y = height + 14 + 16 * index
        dashed = ' dashed' if index >= COLOURS else ''
        legend.append(f'<path class="c s{index % COLOURS}{dashed}" d="M{LEFT} {y - 4:g}h24"/>')
        legend.append(_text(LEFT + 30, y, name))
    begin, _, rest = chart.partition('>')
    view = f'viewBox="0 0 {WIDTH} {height + 16 * len(names) + 8:g}"'
    begin = VIEW.sub(view, begin)
    rest = rest.removesuffix('</svg>')
    return f'{begin}><style>{STYLE}{"".join(rules)}</style>{rest}{"".join(legend)}</svg>\n'


def _svg(title: str, height: int, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{_escaped(title)}">{"".join(parts)}</svg>'
    )


def _classes(curve: Curve) -> str:
    dashed = ' dashed' if curve.number >= COLOURS else ''
    bound = ' bound' if curve.is_bound else ''
    return f'c s{curve.number % COLOURS}{dashed}{bound}'


def _text(x: float, y: float, text: str, kind: str = '') -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{_escaped(text)}</text>'


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)


# ---- scales ----


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers from `low` to `high` or a little more."""
    if high <= low:
        high = low + 1.0
    rough = (high - low) / TICKS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= rough * 0.999)
    return [low + step * index for index in range(math.ceil((high - low) / step - 1e-9) + 1)]


def _time_axis(xs: Sequence[float]) -> tuple[list[tuple[str, float]], Callable[[float], float]]:
    begin, end = min(xs, default=0.0), max(xs, default=1.0)
    span = end - begin or 1.0
    _most, unit, seconds = next(each for each in UNITS if span <= each[0])

    def place(x: float) -> float:
        return LEFT + (WIDTH - RIGHT - LEFT) * (x - begin) / span

    marks = [each for each in _ticks(0.0, span / seconds) if each * seconds <= span * 1.001]
    labels = [(f'{each:g}', place(begin + each * seconds)) for each in marks]
    labels[-1] = (f'{labels[-1][0]} {unit}', labels[-1][1] - 4)
    return labels, place


def _log_axis(xs: Sequence[float]) -> tuple[list[tuple[str, float]], Callable[[float], float]]:
    positive = [x for x in xs if x > 0] or [1.0]
    low = math.floor(math.log10(min(positive)))
    high = max(low + 1, math.ceil(math.log10(max(positive))))

    def place(x: float) -> float:
        share = (math.log10(x) - low) / (high - low) if x > 0 else 0.0
        return LEFT + (WIDTH - RIGHT - LEFT) * share

    labels = [(f'{10.0**each:g}', place(10.0**each)) for each in range(low, high + 1)]
    labels[-1] = (f'{labels[-1][0]} ms', labels[-1][1] - 12)
    return labels, place
