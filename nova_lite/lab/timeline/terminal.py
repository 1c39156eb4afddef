"""A story as a table for the terminal: a row for each step, with its bar on the time axis."""

from rich import box
from rich import table
from rich import text

from nova_lite.lab.timeline import axis
from nova_lite.lab.timeline import story as story_module

FULL, LOST, SHORT = '█', '░', '▏'
COLOURS = {'source': 'cyan', 'dest': 'yellow', None: 'green', story_module.LOST: 'red'}
NARROWEST, WIDEST = 12, 60
# Width of the columns of numbers and of the space between columns.
REST = 28


def draw(story: story_module.Story, width: int = 80) -> table.Table:
    """Return a table for rich. width: of the terminal, in characters"""
    names = [_name(bar) for bar in story.bars]
    taken = REST + max(map(len, names), default=0)
    taken += max((len(bar.place) for bar in story.bars), default=0)
    room = max(NARROWEST, min(WIDEST, width - taken))
    shown = table.Table(box=box.SIMPLE_HEAD)
    shown.add_column('#', justify='right')
    shown.add_column('s', justify='right')
    shown.add_column('step')
    shown.add_column('where')
    shown.add_column(f'{story.lasted:.2f} s', width=room, no_wrap=True)
    scale = axis.Axis(story)
    for number, (bar, name) in enumerate(zip(story.bars, names, strict=True), 1):
        lost = bar.is_idle
        colour = COLOURS[story_module.LOST if lost else side(story, bar)]
        shown.add_row(
            str(number),
            f'{bar.begin:.2f}',
            text.Text(name, style='bold red' if lost else ''),
            text.Text(bar.place, style=colour),
            text.Text(_bar(scale, bar, room), style=colour),
        )
    return shown


def side(story: story_module.Story, bar: story_module.Bar) -> str | None:
    """Return 'source', 'dest' or None: the end of the move whose cell a bar is in."""
    if bar.cell is None:
        return None
    return 'source' if bar.cell == story.source else 'dest'


def _name(bar: story_module.Bar) -> str:
    if bar.outcome == story_module.LOST:
        return f'... until {bar.owner} takes over'
    if bar.outcome == story_module.STOPPED:
        return f'... stopped before {bar.step}'
    return bar.step if bar.outcome == 'done' else f'{bar.step} ({bar.outcome})'


def _bar(scale: axis.Axis, bar: story_module.Bar, room: int) -> str:
    begin = min(room - 1, int(scale.at(bar.begin) * room))
    length = round(scale.at(bar.end) * room) - begin
    drawn = LOST if bar.is_idle else FULL
    return ' ' * begin + (drawn * length or SHORT)
