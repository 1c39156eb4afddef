"""The results of a study as JSON and CSV."""

import csv
import dataclasses
import importlib.metadata
import json
import os
import typing

from nova_lite.lab.replay import figures

FORMAT = 1
JSON, CSV = 'results.json', 'series.csv'
COLUMNS = (
    'setting',
    *(field.name for field in dataclasses.fields(figures.Sample)),
    'acceptance',
    'stranded',
)
Json = dict[str, typing.Any]


def of(study: Json, runs: list[Json]) -> Json:
    """Return all results. study: from Plan.describe; runs: the results of each setting

    Everything but `times` of the runs depends on the study alone.
    """
    return {
        'format': FORMAT,
        'nova_lite': importlib.metadata.version('nova-lite'),
        'placement': importlib.metadata.version('openstack-placement'),
        'study': study,
        'runs': runs,
    }


def series(samples: list[figures.Sample]) -> list[Json]:
    """Return samples as plain values."""
    return [
        {**dataclasses.asdict(each), 'acceptance': each.acceptance, 'stranded': each.stranded}
        for each in samples
    ]


def write(directory: str, found: Json) -> None:
    """Write the results into a directory."""
    with open(os.path.join(directory, JSON), 'w', encoding='utf-8') as file:
        json.dump(found, file, indent=1)
        file.write('\n')
    with open(os.path.join(directory, CSV), 'w', encoding='utf-8', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator='\n')
        writer.writeheader()
        for run in found['runs']:
            writer.writerows({'setting': run['setting'], **each} for each in run['series'])


def table(found: Json) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return (header, lines) of a summary for the terminal."""
    header: tuple[str, ...] = (
        *('Setting', 'Arrivals', 'Accepted', 'vCPUs', 'Memory', 'Empty hosts', 'Stranded'),
        *('Jain', 'Decisions/s', 'p99 ms'),
    )
    lines: list[tuple[str, ...]] = []
    for run in found['runs']:
        summary, times = run['summary'], run['times']
        end = summary['at_the_end']
        lines.append(
            (
                run['setting'],
                f'{summary["arrivals"]}',
                f'{summary["acceptance"]:.1%}',
                f'{end["vcpus"]:.1%}',
                f'{end["memory"]:.1%}',
                f'{end["empty_hosts"]}',
                f'{end["stranded"]:.1%}',
                f'{end["jain"]:.3f}',
                f'{times["decisions_per_s"]:.0f}',
                f'{1000 * times["decision_p99_s"]:.1f}',
            )
        )
    return header, lines
