"""The results of a study as one HTML page without scripts or other files, and its charts as SVG."""

import html
import importlib.resources
import os
import typing

from nova_lite.lab.replay import charts
from nova_lite.lab.replay import results
from nova_lite.terminal import plurals

NAME, FIGURES = 'report.html', 'figures'
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
<ul class="legend">{legend}</ul>
<div class="scroll"><table>
<thead><tr>{header}</tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
<h2>Over the time of the trace</h2>
<div class="charts">
{over_time}
</div>
<h2>Rejected requests and decisions</h2>
<div class="charts">
{others}
</div>
<h2>To repeat and to cite</h2>
<p>{cite}</p>
<p class="faint">{digests}</p>
</body>
</html>
"""
# (figure, title, whether it is a share)
OVER_TIME = (
    ('acceptance', 'Accepted share of arrivals so far', True),
    ('vcpus', 'Allocated share of vCPUs', True),
    ('memory', 'Allocated share of memory', True),
    ('empty_hosts', 'Hosts without a server', False),
    ('servers', 'Servers', False),
    ('stranded', 'Stranded share of free room', True),
    ('jain', "Jain's index of vCPU shares", False),
    ('variation', 'Coefficient of variation of vCPU shares', False),
)
Json = dict[str, typing.Any]
# {name of a figure: SVG}
Charts = dict[str, str]


def page(found: Json) -> str:
    """Return the HTML text. found: as results.of"""
    study, runs = found['study'], found['runs']
    style = importlib.resources.files(__package__).joinpath('study_page.css').read_text()
    header, lines = results.table(found)
    return PAGE.format(
        title=_text(f'Scheduler study with {study["trace"]}'),
        style=style,
        about=_text(about(found)),
        legend=''.join(_legend(number, run['setting']) for number, run in enumerate(runs)),
        header=''.join(f'<th>{_text(title)}</th>' for title in header),
        rows='\n'.join(
            f'<tr>{"".join(f"<td>{_text(value)}</td>" for value in line)}</tr>' for line in lines
        ),
        over_time='\n'.join(_over_time(study, runs).values()),
        others='\n'.join(_others(runs).values()),
        cite=_text(cite(found)),
        digests='<br>'.join(
            f'{_text(run["setting"])}: <code>{_text(run["summary"]["decisions_sha256"])}</code>'
            for run in runs
        ),
    )


def write(directory: str, found: Json) -> None:
    """Write the page into a directory, and each chart as a separate file."""
    with open(os.path.join(directory, NAME), 'w', encoding='utf-8') as file:
        file.write(page(found))
    os.makedirs(os.path.join(directory, FIGURES), exist_ok=True)
    drawn = _over_time(found['study'], found['runs']) | _others(found['runs'])
    names = [run['setting'] for run in found['runs']]
    for name, chart in drawn.items():
        path = os.path.join(directory, FIGURES, f'{name}.svg')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(charts.alone(chart, names))


def about(found: Json) -> str:
    """Return the conditions of a study in one line."""
    study = found['study']
    return (
        f'{study["arrivals"]:,} requests to {study["hosts"]:,} hosts in '
        f'{plurals.of(study["cells"], "cell")}, profile {study["profile"]}, seed {study["seed"]}; '
        f'nova-lite {found["nova_lite"]}, placement {found["placement"]}'
    )


def cite(found: Json) -> str:
    """Return a sentence for a paper."""
    study = found['study']
    return (
        f'Evaluated with nova-lite {found["nova_lite"]} (nova-lite replay; OpenStack placement '
        f'{found["placement"]}) on {study["trace"]} (SHA-256 {study["digest"][:16]}…, '
        f'{study["arrivals"]:,} requests), {study["hosts"]:,} hosts, seed '
        f'{study["seed"]}.'
    )


def _legend(number: int, name: str) -> str:
    dashed = ' dashed' if number >= charts.COLOURS else ''
    return (
        f'<li><svg viewBox="0 0 26 10"><path class="c s{number % charts.COLOURS}{dashed}" '
        f'd="M0 5H26"/></svg> {_text(name)}</li>'
    )


def _over_time(study: Json, runs: list[Json]) -> Charts:
    """Return {name: chart} of the figures of the samples."""
    found = {}
    for name, title, is_share in OVER_TIME:
        found[name] = charts.curves(
            title,
            [_curve(number, run, name) for number, run in enumerate(runs)],
            form=charts.percent if is_share else charts.number,
            highest=1.0 if is_share or name == 'jain' else None,
        )
    size = 'x'.join(map(str, study['reference']))
    both = [
        _curve(number, run, name, is_bound=name == 'fit_whole')
        for number, run in enumerate(runs)
        for name in ('fit', 'fit_whole')
    ]
    found['fit'] = charts.curves(f'Room for {size}; dotted: without fragments', both)
    return found


def _curve(number: int, run: Json, name: str, *, is_bound: bool = False) -> charts.Curve:
    points = [(sample['at_s'], sample[name]) for sample in run['series']]
    return charts.Curve(number, run['setting'], points, is_bound)


def _others(runs: list[Json]) -> Charts:
    """Return {name: chart} of rejections and times."""
    found = {}
    for name, title in (
        ('rejected_by', 'Rejected requests, by the last stage'),
        ('hosts_refused_by', 'Hosts refused to rejected requests'),
    ):
        found[name] = charts.bars(
            title,
            [
                (number, stage, count)
                for number, run in enumerate(runs)
                for stage, count in run['summary'][name].items()
            ],
        )
    found['decisions'] = charts.curves(
        'Decisions that took at most so long',
        [
            charts.Curve(number, run['setting'], _shares(run['times']['decisions_ms']))
            for number, run in enumerate(runs)
        ],
        form=charts.percent,
        highest=1.0,
        across='ms',
    )
    return found


def _shares(classes: list[list[float]]) -> list[tuple[float, float]]:
    """Return (milliseconds, share of the decisions that took no longer) of a histogram."""
    total = sum(count for _ms, count in classes)
    passed, found = 0.0, []
    for milliseconds, count in classes:
        passed += count
        found.append((milliseconds, passed / total))
    return found


def _text(value: object) -> str:
    return html.escape(str(value), quote=True)
