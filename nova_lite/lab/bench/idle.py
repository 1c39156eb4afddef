"""The cost of an idle cloud: memory, threads and CPU by kind of daemon."""

import collections
from collections.abc import Mapping
from collections.abc import Sequence
import json
import typing

from nova_lite import runtime
from nova_lite.lab.bench import results
from nova_lite.terminal import progress_display

KINDS = ('processes', 'threads', 'rss_mb', 'pss_mb', 'cpu_percent')
MIB = 1024

# {one of KINDS: value}
Figures: typing.TypeAlias = dict[str, float]


def measure(directory: str, also: Sequence[int], seconds: float) -> dict[str, Figures]:
    """Watch an idle cloud. Return {kind of daemon: figures}, with CPU in percent of one core.

    also: ids of other processes to watch
    """
    pids = results.pids_of(directory, also)
    began, before = runtime.monotonic(), results.cpu_of(pids)
    with progress_display.Count('seconds watched', round(seconds)) as count:
        for _second in range(round(seconds)):
            runtime.sleep(1)
            count.add()
    passed, after = runtime.monotonic() - began, results.cpu_of(pids)
    found: dict[str, Figures] = collections.defaultdict(lambda: dict.fromkeys(KINDS, 0))
    children = results.children()
    for name, pid in pids.items():
        figures = found[name.split('.')[0]]
        figures['cpu_percent'] += 100 * (after[name] - before[name]) / passed
        for process in results.tree(pid, children):
            for key, value in _held(process).items():
                figures[key] += value
    return dict(found)


def _held(pid: int) -> Figures:
    """Return the memory and threads of one process, {} if it has ended."""
    try:
        with open(f'/proc/{pid}/smaps_rollup') as file:
            memory = {words[0]: words[1] for words in map(str.split, file.readlines()[1:])}
        with open(f'/proc/{pid}/status') as file:
            status = dict(line.split(':', 1) for line in file)
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {
        'processes': 1,
        'threads': int(status['Threads']),
        'rss_mb': int(memory['Rss:']) / MIB,
        'pss_mb': int(memory['Pss:']) / MIB,
    }


def show(figures: Mapping[str, Figures], *, as_json: bool) -> None:
    """Print the figures as a table or as JSON."""
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    print(f'{"":16}{"processes":>10}{"threads":>9}{"RSS MiB":>9}{"PSS MiB":>9}{"CPU %":>8}')
    for kind, found in sorted(figures.items()):
        print(
            f'{kind:16}{found["processes"]:10}{found["threads"]:9}{found["rss_mb"]:9.0f}'
            f'{found["pss_mb"]:9.0f}{found["cpu_percent"]:8.2f}'
        )
