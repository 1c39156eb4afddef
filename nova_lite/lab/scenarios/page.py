"""The description of a drill as text for the terminal and as a section of the documentation."""

from collections.abc import Iterator
import string
import textwrap

from nova_lite.lab.scenarios import drill as drills
from nova_lite.lab.scenarios import needs

WIDTH = 100
SERVER = 'drill-{}'


def text(drill: drills.Drill) -> str:
    """Return a drill as text for the terminal."""
    lines = [f'{drill.name}: {drill.title}', '', *textwrap.wrap(drill.purpose, WIDTH), '']
    lines += [f'Cluster: {drill.cluster}', f'Time: about {drill.seconds} s']
    lines += [*([f'Needs: {", ".join(found)}'] if (found := needs.of(drill)) else []), '', 'Steps:']
    for number, (kind, line) in enumerate(_steps(drill), 1):
        lines.append(f'{number:3}. {kind:<7}{line}')
    lines += ['', f'At the end: verify finds the cloud {drill.verify}.', '', 'Look at:']
    lines += [f'  - {each}' for each in drill.look_at]
    return '\n'.join([*lines, *(['', drill.leaves] if drill.leaves else [])])


def section(drill: drills.Drill) -> str:
    """Return a drill as a section in reStructuredText."""
    lines = [f'.. _drill-{drill.name}:', '', drill.name, '=' * len(drill.name), '']
    lines += [f'**{drill.title}.** {drill.purpose}', '']
    lines += [f':Cluster: {drill.cluster}', f':Time: about {drill.seconds} s']
    lines += [f':Needs: {", ".join(found)}'] if (found := needs.of(drill)) else []
    lines += [f':verify: {drill.verify}', *([f':Left: {drill.leaves}'] if drill.leaves else []), '']
    for kind, line in _steps(drill):
        lines.append(f'#. {"*Signal:* " if kind == "signal" else ""}{line}')
    lines += ['', 'Look at:', '', *(f'- {each}' for each in drill.look_at), '']
    lines += [f'Exam: {_named(drill, drill.exam.symptom)} {_named(drill, drill.exam.task)}', '']
    return '\n'.join(lines).replace('`', '``')


def _steps(drill: drills.Drill) -> Iterator[tuple[str, str]]:
    """Yield (do or signal, text) of each step, with the names of servers and roles filled in."""
    for step in drill.steps:
        yield 'signal' if step.is_signal else 'do', _named(drill, step.text)


def _named(drill: drills.Drill, line: str) -> str:
    """Return a text with the names of servers and the roles of hosts."""
    names = {name: SERVER.format(name) for name in drill.servers}
    names |= {name: name for name in (*drill.hosts, *drill.hosts.values())}
    return string.Template(line).safe_substitute(names)
