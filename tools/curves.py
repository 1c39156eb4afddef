"""Curves over sizes that grow tenfold, drawn as SVG: small panels side by side."""

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
import math
import typing
from xml.sax import saxutils

# Of a panel, in units of the picture: its size, and the place of its axes in it.
WIDTH, HEIGHT = 240, 190
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 34, 34
COLORS = ('#1f6feb', '#d1570a')
# {name of a curve: [(size, value), ...]}
Curves: typing.TypeAlias = Mapping[str, Sequence[tuple[float, float]]]

STYLE = 'font-family="sans-serif" font-size="11" fill="#6e7781"'


def svg(panels: Sequence[tuple[str, Curves]]) -> str:
    """Return a picture.

    panels: [(title, curves), ...], with sizes and values above 0
    """
    made = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {STYLE} '
        f'viewBox="0 0 {WIDTH * len(panels)} {HEIGHT}">'
    ]
    for number, (title, curves) in enumerate(panels):
        made += [f'<g transform="translate({WIDTH * number} 0)">', *_panel(title, curves), '</g>']
    return '\n'.join([*made, '</svg>\n'])


def _panel(title: str, curves: Curves) -> Iterator[str]:
    points = [point for curve in curves.values() for point in curve]
    sizes = sorted({size for size, _value in points})
    most = max(value for _size, value in points)
    across = _scale(math.log10(sizes[0]), math.log10(sizes[-1]), LEFT, WIDTH - RIGHT)
    up = _scale(0, most, HEIGHT - BOTTOM, TOP)
    yield _text(LEFT, 14, title)
    yield (
        f'<path fill="none" stroke="#8c959f" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}"/>'
    )
    for size in sizes:
        yield _text(across(math.log10(size)), HEIGHT - BOTTOM + 16, f'{size:,}', 'middle')
    for value in (0, most):
        yield _text(LEFT - 6, up(value) + 4, f'{value:.3g}', 'end')
    for position, (name, curve) in enumerate(curves.items()):
        color = COLORS[position]
        drawn = [(across(math.log10(size)), up(value)) for size, value in curve]
        path = 'L'.join(f'{x:.1f} {y:.1f}' for x, y in drawn)
        yield f'<path fill="none" stroke="{color}" stroke-width="2" d="M{path}"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in drawn)
        if len(curves) > 1:
            yield _text(LEFT + 8, TOP + 10 + 14 * position, name, color=color)


def _scale(first: float, last: float, start: float, end: float) -> Callable[[float], float]:
    """Return a function from numbers to places. A single number stands in the middle."""
    if first == last:
        return lambda _number: (start + end) / 2
    return lambda number: start + (end - start) * (number - first) / (last - first)


def _text(x: float, y: float, text: str, anchor: str = 'start', *, color: str | None = None) -> str:
    fill = f' fill="{color}"' if color else ''
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{fill}>{saxutils.escape(text)}</text>'
    )
