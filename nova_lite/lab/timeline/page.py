"""Stories as one HTML page without scripts or external files, for light and dark themes.

The lanes by daemon and cell and the table of steps below show the same data.
"""

import html
import importlib.resources
import typing

from nova_lite import exception
from nova_lite.lab.timeline import axis
from nova_lite.lab.timeline import story as story_module
from nova_lite.moves import places

# A daemon or service, and its cell.
Lane: typing.TypeAlias = tuple[str, str | None]

LOST, STOPPED = story_module.LOST, story_module.STOPPED
SERVICES = tuple(
    place.daemon for place in (places.PLACEMENT, places.IMAGES, places.NETWORK, places.VOLUMES)
)
# A bar with a smaller share of the width has no room for its number.
NARROW = 0.018

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<p class="faint">{about}</p>
{sections}
</body>
</html>
"""
ABOUT = (
    'The steps as recorded in the journal of nova-lite. A step is one effect with its undo. '
    'A super-conductor that takes over a saga repeats the step that was in progress.'
)
SECTION = """<section>
<h2>{title}</h2>
<p class="faint">{summary}</p>
<ul class="legend">{legend}</ul>
<div class="lanes" role="img" aria-label="{label}">
{lanes}
<div class="over">{over}</div>
</div>
<table>
<caption>Step by step</caption>
<thead><tr><th>#</th><th>at, s</th><th>took, ms</th><th>step</th><th>daemon</th>
<th class="owner">run by</th><th class="small"></th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</section>"""


class Unwritable(exception.NovaLiteError):
    msg = 'Cannot write the page to %(path)s: %(reason)s'


def page(title: str, stories: list[story_module.Story]) -> str:
    """Return the HTML text of the page."""
    style = importlib.resources.files(__package__).joinpath('style.css').read_text()
    sections = '\n'.join(_section(number, story) for number, story in enumerate(stories, 1))
    return PAGE.format(title=_text(title), about=_text(ABOUT), style=style, sections=sections)


def write(path: str, title: str, stories: list[story_module.Story]) -> None:
    """Write the page to a file. Raise Unwritable."""
    try:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(page(title, stories))
    except OSError as error:
        raise Unwritable(path=path, reason=error.strerror) from error


def _text(value: object) -> str:
    return html.escape(str(value), quote=True)


def _section(number: int, story: story_module.Story) -> str:
    scale = axis.Axis(story)
    summary = (
        f'Saga {story.uuid}: {story.state} after {story.lasted:.2f} s, '
        f'run by {", then by ".join(story.owners)}.'
    )
    return SECTION.format(
        title=_text(story.title),
        summary=_text(summary),
        legend=_legend(story),
        label=_text(f'Steps of "{story.title}" by daemon and cell, as in the table.'),
        lanes='\n'.join(
            [
                _owners(story, scale),
                *(_lane(number, story, scale, lane) for lane in _lanes(story)),
            ]
        ),
        over=_over(story, scale),
        rows='\n'.join(_row(number, story, scale, index) for index in range(len(story.bars))),
    )


def _legend(story: story_module.Story) -> str:
    entries = [('control', 'no cell'), ('service', 'neighbour services')]
    entries += [('source', f'{story.source} (source)')] if story.source else []
    if story.dest and story.dest != story.source:
        entries.append(('dest', f'{story.dest} (destination)'))
    if any(bar.is_idle for bar in story.bars):
        entries.append(('lost', 'no super-conductor runs the saga (time shortened)'))
    if any(bar.is_pivot for bar in story.bars):
        entries.append(('control pivot', 'pivot: not undone after this step'))
    drawn = [f'<li><i class="{name}"></i>{_text(text)}</li>' for name, text in entries]
    drawn += [f'<li>{_text(text)}</li>' for text in _words(story)]
    return ''.join(drawn)


def _words(story: story_module.Story) -> list[str]:
    """Return explanations of the words in the table."""
    found = ['epoch: number of the ownership of the saga, which increases at each takeover']
    if any(note.startswith('waits') for bar in story.bars for note in bar.notes):
        found.append('waits: the step looks again later whether it can continue')
    return found


def _side(story: story_module.Story, bar: story_module.Bar) -> str:
    """Return the CSS class for the colour of a bar."""
    if bar.is_idle:
        return 'lost'
    if bar.cell is None:
        return 'service' if bar.daemon in SERVICES else 'control'
    return 'source' if bar.cell == story.source else 'dest'


# ---- the lanes ----


def _owners(story: story_module.Story, scale: axis.Axis) -> str:
    """Return the lane of the super-conductors that ran the saga."""
    drawn = []
    for owner in story.owners:
        mine = [bar for bar in story.bars if bar.owner == owner and not bar.is_idle]
        since, until = mine[0].begin, mine[-1].end
        if story.killed is not None and owner == story.owners[0] and len(story.owners) > 1:
            until = max(until, story.killed)
        begin, end = scale.at(since), scale.at(until)
        name = _text(owner)
        drawn.append(
            f'<span class="bar control span" style="left:{begin:.3%};width:{end - begin:.3%}" '
            f'title="{name} runs it, {since:.3f} to {until:.3f} s">{name}</span>'
        )
    return (
        '<div class="lane"><div class="label control"><b>super-conductor</b></div>'
        f'<div class="track">{"".join(drawn)}</div></div>'
    )


def _lanes(story: story_module.Story) -> list[Lane]:
    """Return (daemon, cell) of the lanes: first lanes without a cell, last neighbour services."""
    found = {(bar.daemon, bar.cell) for bar in story.bars}
    order: dict[str | None, int] = {None: 0, story.source: 1, story.dest: 2}

    def key(lane: Lane) -> tuple[int, bool, str]:
        daemon, cell = lane
        return (
            3 if daemon in SERVICES else order.get(cell, 1),
            daemon != places.SCHEDULER.daemon,
            daemon,
        )

    return sorted(found, key=key)


def _lane(number: int, story: story_module.Story, scale: axis.Axis, lane: Lane) -> str:
    daemon, cell = lane
    bars = [(index, bar) for index, bar in enumerate(story.bars) if (bar.daemon, bar.cell) == lane]
    hue = next((_side(story, bar) for _index, bar in bars if not bar.is_idle), 'lost')
    drawn = ''.join(_bar(number, story, scale, index) for index, _bar_ in bars)
    where = f'<small>{_text(cell)}</small>' if cell else ''
    return (
        f'<div class="lane"><div class="label {hue}"><b>{_text(daemon)}</b>{where}</div>'
        f'<div class="track">{drawn}</div></div>'
    )


def _bar(number: int, story: story_module.Story, scale: axis.Axis, index: int) -> str:
    bar = story.bars[index]
    begin, end = scale.at(bar.begin), scale.at(bar.end)
    classes = ['bar', _side(story, bar)]
    classes += ['right'] if begin > 0.7 else ['left'] if end < 0.2 else []
    classes += ['pivot'] if bar.is_pivot else []
    shown = index + 1 if end - begin > NARROW and not bar.is_idle else ''
    return (
        f'<a class="{" ".join(classes)}" href="#s{number}-{index + 1}" '
        f'style="left:{begin:.3%};width:{end - begin:.3%}" aria-label="{_text(_told(bar))}">'
        f'{shown}<span class="tip"><b>{index + 1}. {_text(_name(bar))}</b><br>'
        f'{_text(_told(bar))}</span></a>'
    )


def _name(bar: story_module.Bar) -> str:
    if bar.outcome == LOST:
        return f'{bar.step}: interrupted'
    if bar.outcome == STOPPED:
        return f'stopped before {bar.step}'
    return bar.step if bar.outcome == 'done' else f'{bar.step}: {bar.outcome}'


def _told(bar: story_module.Bar) -> str:
    """Return the tooltip of a bar."""
    parts = [f'{bar.place}; {bar.begin:.3f} s, took {bar.lasted * 1000:.0f} ms']
    parts.append(f'{bar.owner}, epoch {bar.epoch}')
    return '; '.join([*parts, *bar.notes])


def _over(story: story_module.Story, scale: axis.Axis) -> str:
    """Return the ticks, the gaps between owners, and the marks of kill and takeover."""
    drawn = [
        f'<div class="tick" style="left:{scale.at(moment):.3%}"><span>{moment:g} s</span></div>'
        for moment in scale.ticks()
    ]
    for bar in story.bars:
        if not bar.is_idle:
            continue
        since = bar.begin if story.killed is None else max(bar.begin, story.killed)
        begin, end = scale.at(since), scale.at(bar.end)
        died, again = 'killed' if story.killed is not None else 'last event', 'taken over'
        if bar.outcome == STOPPED:
            died, again = STOPPED, 'continued'
        drawn.append(
            f'<div class="gap" style="left:{begin:.3%};width:{end - begin:.3%}">'
            f'<span>not running:<br>{bar.end - since:.1f} s</span></div>'
            f'<div class="mark back" style="left:{begin:.3%}"><span>{died}</span></div>'
            f'<div class="mark" style="left:{end:.3%}"><span>{again}</span></div>'
        )
    return ''.join(drawn)


# ---- the table ----


def _row(number: int, story: story_module.Story, scale: axis.Axis, index: int) -> str:
    bar, side = story.bars[index], _side(story, story.bars[index])
    begin, end = scale.at(bar.begin), scale.at(bar.end)
    notes = ''.join(f'<small>{_text(note)}</small>' for note in bar.notes)
    lost = ' class="lost"' if bar.is_idle else ''
    return (
        f'<tr id="s{number}-{index + 1}"{lost}><td class="number">{index + 1}</td>'
        f'<td class="number">{bar.begin:.3f}</td>'
        f'<td class="number">{bar.lasted * 1000:.0f}</td>'
        f'<td>{_text(_name(bar))}{notes}</td>'
        f'<td class="where {side}">{_text(bar.place)}</td>'
        f'<td class="owner">{_text(bar.owner)}, epoch {bar.epoch}</td>'
        f'<td class="small"><span><b class="{side}" '
        f'style="left:{begin:.3%};width:{end - begin:.3%}"></b></span></td></tr>'
    )
