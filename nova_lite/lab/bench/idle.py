"""The cost of an idle cloud: memory, threads and CPU by kind of daemon."""

import collections
import json

from nova_lite import runtime
from nova_lite.lab.bench import results
from nova_lite.terminal import progress_display

KINDS = ('processes', 'threads', 'rss_mb', 'pss_mb', 'cpu_percent')
MIB = 1024


def measure(directory, also, seconds):
    """Return {kind: {figure: value}} after `seconds` of watching; CPU in percent of one core."""
    pids = results.pids_of(directory, also)
    began, before = runtime.monotonic(), results.cpu_of(pids)
    with progress_display.Count('seconds watched', round(seconds)) as count:
        for _second in range(round(seconds)):
            runtime.sleep(1)
            count.add()
    passed, after = runtime.monotonic() - began, results.cpu_of(pids)
    found = collections.defaultdict(lambda: dict.fromkeys(KINDS, 0))
    children = results.children()
    for name, pid in pids.items():
        figures = found[name.split('.')[0]]
        figures['cpu_percent'] += 100 * (after[name] - before[name]) / passed
        for process in results.tree(pid, children):
            for key, value in _held(process).items():
                figures[key] += value
    return dict(found)


def _held(pid):
    """Return what one process holds; nothing when it has ended."""
    try:
        with open(f'/proc/{pid}/smaps_rollup') as file:
            memory = dict(line.split()[:2] for line in file.readlines()[1:])
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


def show(figures, *, as_json):
    """Print for people or for programs."""
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    print(f'{"":16}{"processes":>10}{"threads":>9}{"RSS MiB":>9}{"PSS MiB":>9}{"CPU %":>8}')
    for kind, found in sorted(figures.items()):
        print(
            f'{kind:16}{found["processes"]:10}{found["threads"]:9}{found["rss_mb"]:9.0f}'
            f'{found["pss_mb"]:9.0f}{found["cpu_percent"]:8.2f}'
        )
